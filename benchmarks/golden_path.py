"""Measure the golden path: ingest against its bare work, second build, sensor, query, memory.

    python benchmarks/golden_path.py [--papers DIR] [--json OUT] [--quick]

Everything in one run on one machine: what is compared was measured within minutes of each other.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from processes import RAG, Cost, run, run_json
from run_events import step_seconds

_PACKAGES = ("dagster", "duckdb", "pylance", "pymupdf", "sentence-transformers", "torch")
_QUICK_PAPERS = 6
_QUESTION = "How were the results of study {number} obtained?"


def _arguments() -> argparse.Namespace:
    shared = Path(os.environ.get("RAG_SHARED_DATA", "../shared/data"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--papers", type=Path, default=shared / "papers", help="folder of PDFs")
    parser.add_argument("--json", type=Path, help="write all figures, raw values too, to this file")
    parser.add_argument("--quick", action="store_true", help="six papers, 500 files, few repeats")
    parser.add_argument("--keep", type=Path, help="make the workspace here and leave it there")
    return parser.parse_args()


def _prepare(papers: Path, folder: Path, quick: bool) -> tuple[Path, list[Path]]:
    files = sorted(papers.glob("*.pdf"), key=lambda path: path.stat().st_size)
    if not files:
        raise SystemExit(f"{papers}: no PDF files; give a folder of them with --papers.")
    if quick:
        middle = len(files) // 2
        files = files[middle : middle + _QUICK_PAPERS]
    workspace = folder / "workspace"
    run([RAG, "init", workspace, "--template", "papers"])
    for path in files:
        shutil.copyfile(path, workspace / "raw" / "evidence" / path.name)
    return workspace, files


def _ingest(workspace: Path) -> tuple[Cost, dict[str, Any]]:
    cost = run([RAG, "--workspace", workspace, "ingest", "--json"])
    report = json.loads(cost.output)["papers"]
    if not report["success"]:
        raise SystemExit(f"the ingest failed: {report['errors']} {report['checks']}")
    events = step_seconds(workspace / "meta" / "dagster", report["run_id"])
    imports = events["begin"] - cost.started
    parts = {"start, imports, definitions": round(imports, 3), **events["steps_s"]}
    parts["Dagster between steps"] = events["between_steps_s"]
    parts["after the run"] = round(cost.started + cost.wall - events["end"], 3)
    return cost, {
        **cost.to_json(),
        "parts_s": parts,
        "events": events["events"],
        "stages": report["stages"],
    }


def _against_bare(ingest: dict[str, Any], bare: dict[str, Any], bare_cost: Cost) -> dict[str, Any]:
    """Return the ratio with imports and model loading on both sides, and without on both."""

    def bare_sum(*names: str, kind: str = "wall_s") -> float:
        return sum(float(bare[name][kind]) for name in names)

    imports = bare_sum("import pymupdf", "import sentence_transformers", "load the model")
    work = bare_sum("get_text", "encode")
    processor = bare_sum("get_text", "encode", kind="user_plus_sys_s")
    parts = ingest["parts_s"]
    # What the ingest imports inside its steps (torch, the model) is taken as what it costs bare.
    own_imports = parts["start, imports, definitions"] + bare_sum(
        "import sentence_transformers", "load the model"
    )
    return {
        "bare_work_s": round(work, 3),
        "bare_with_imports_s": round(work + imports, 3),
        "bare_process_wall_s": round(bare_cost.wall, 3),
        "ratio_with_imports": round(ingest["wall_s"] / (work + imports), 3),
        "ratio_whole_ingest_to_bare_work": round(ingest["wall_s"] / work, 3),
        "ratio_without_imports": round((ingest["wall_s"] - own_imports) / work, 3),
        "ratio_user_plus_sys": round(
            ingest["user_plus_sys_s"]
            / (
                processor
                + bare_sum(
                    "import pymupdf",
                    "import sentence_transformers",
                    "load the model",
                    kind="user_plus_sys_s",
                )
            ),
            3,
        ),
    }


def _second(workspace: Path) -> dict[str, Any]:
    cost, figures = _ingest(workspace)
    counted, _ = run_json("second_build.py", workspace)
    alone = counted["stages_and_checks_without_dagster_s"]
    work = sum(seconds for name, seconds in alone.items() if name != "findings")
    return {
        "command": {name: figures[name] for name in ("wall_s", "user_plus_sys_s", "parts_s")},
        **counted,
        "work_without_dagster_s": round(work, 3),
        "dagster_s": round(counted["in_process_again_s"] - work, 3),
        "computed": sum(int(stage.get("computed", 0)) for stage in figures["stages"].values()),
        "command_seconds": round(cost.wall, 3),
    }


def _query(workspace: Path, repeats: int, warm: int) -> dict[str, Any]:
    printed, ended, processor = [], [], []
    for number in range(repeats):
        cost = run([RAG, "--workspace", workspace, "query", _QUESTION.format(number=number)])
        printed.append(round(cost.first_output or cost.wall, 3))
        ended.append(round(cost.wall, 3))
        processor.append(round(cost.processor, 3))
    split, _ = run_json("one_question.py", workspace, str(warm))
    return {
        "cold_to_printed_pack_s": statistics.median(printed),
        "cold_to_end_s": statistics.median(ended),
        "cold_user_plus_sys_s": statistics.median(processor),
        "raw_printed_s": printed,
        "raw_ended_s": ended,
        **split,
    }


def _help(repeats: int) -> dict[str, Any]:
    raw = [round(run([RAG, "--help"]).wall, 3) for _ in range(repeats)]
    return {"median_s": statistics.median(raw), "raw_s": raw}


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _disk(workspace: Path) -> dict[str, Any]:
    sizes = {name: _size(workspace / name) for name in ("raw", "data", "index", "meta")}
    derived = sizes["data"] + sizes["index"] + sizes["meta"]
    return {
        **{f"{name}_mb": round(size / 1e6, 2) for name, size in sizes.items()},
        "ratio_to_raw": round(derived / sizes["raw"], 3),
    }


def _machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "processor": platform.processor() or platform.machine(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load_before": os.getloadavg()[0],
        **{name: importlib.metadata.version(name) for name in _PACKAGES},
    }


def _median_tick(ticks: list[dict[str, Any]]) -> float:
    return statistics.median(tick["wall_s"] for tick in ticks)


def _table(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return (what, measured, target) lines."""
    bare, second, query = result["against_bare"], result["second_build"], result["query"]
    sensor, ingest, disk = result["sensor"], result["ingest"], result["disk"]
    rows = [
        ("ingest, wall", f"{ingest['wall_s']:.1f} s", ""),
        ("bare PyMuPDF + encode, with imports", f"{bare['bare_with_imports_s']:.1f} s", ""),
        ("ratio, imports on both sides", f"{bare['ratio_with_imports']:.2f}", "<= 1.25"),
        ("ratio, imports on neither side", f"{bare['ratio_without_imports']:.2f}", ""),
        ("ratio of processor seconds", f"{bare['ratio_user_plus_sys']:.2f}", ""),
        *((f"  {name}", f"{seconds:.2f} s", "") for name, seconds in ingest["parts_s"].items()),
        ("peak memory, tree / one process",
         f"{ingest['peak_tree_mb']:.0f} / {ingest['peak_process_mb']:.0f} MB", ""),
        ("derived files / raw", f"{disk['ratio_to_raw']:.2f}", ""),
        ("second build, command", f"{second['command_seconds']:.1f} s", ""),
        ("second build, in process, warm", f"{second['in_process_again_s']:.2f} s", ""),
        ("  of it Dagster's runs and events", f"{second['dagster_s']:.2f} s", ""),
        ("  parse / encode calls", f"{second['parse_calls']} / {second['encode_calls']}", "0 / 0"),
        (f"sensor tick, {sensor['files']} unchanged",
         f"{_median_tick(sensor['unchanged']):.2f} s", "< 0.5 s"),
    ]  # fmt: skip
    for name, ticks in sensor.items():
        if name.startswith("new"):
            rows.append(
                (f"sensor, {sensor['files']} {name.replace('_', ' ')}",
                 f"{len(ticks)} x {_median_tick(ticks):.2f} s", "")
            )  # fmt: skip
    rows += [
        ("rag query, cold, to the printed pack", f"{query['cold_to_printed_pack_s']:.2f} s", ""),
        ("rag query, cold, to its end", f"{query['cold_to_end_s']:.2f} s", ""),
        *((f"  {name}", f"{seconds:.2f} s", "") for name, seconds in query["parts_s"].items()),
        ("retrieval, warm, p50 / p95",
         f"{query['warm_p50_s'] * 1000:.0f} / {query['warm_p95_s'] * 1000:.0f} ms", ""),
        ("rag --help", f"{result['help']['median_s']:.2f} s", "< 0.3 s"),
    ]  # fmt: skip
    return rows


def _measure(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    def say(text: str) -> None:
        print(f"… {text}", file=sys.stderr, flush=True)

    quick = arguments.quick
    result: dict[str, Any] = {"machine": _machine(), "quick": quick}
    workspace, files = _prepare(arguments.papers, folder, quick)
    result["papers"] = len(files)
    say("rag --help")
    result["help"] = _help(3 if quick else 10)
    say(f"ingest of {len(files)} papers")
    _, result["ingest"] = _ingest(workspace)
    result["disk"] = _disk(workspace)
    say("the same work, bare")
    bare, bare_cost = run_json("bare.py", workspace / "raw", workspace / "data" / "papers")
    result["bare"] = {**bare, "process": bare_cost.to_json()}
    result["against_bare"] = _against_bare(result["ingest"], bare, bare_cost)
    say("second build")
    result["second_build"] = _second(workspace)
    say("questions")
    result["query"] = _query(workspace, 2 if quick else 5, 5 if quick else 30)
    say("ticks of the sensor")
    count = "500" if quick else "5000"
    result["sensor"], _ = run_json("sensor_ticks.py", folder / "many", count)
    result["machine"]["load_after"] = os.getloadavg()[0]
    return result


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="rag-benchmark-") as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        result = _measure(arguments, folder)
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    machine = result["machine"]
    print(f"{result['papers']} papers, {machine['cores']} cores, load {machine['load_before']:.1f}")
    for what, measured, target in _table(result):
        print(f"{what:45s} {measured:>18s}  {target}")


if __name__ == "__main__":
    main()
