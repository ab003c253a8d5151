"""What a vault of statutes costs: building by stage, memory, resuming, one edited law, searching.

    python benchmarks/law_vault.py VAULT [--model e5] [--shares 0.25 1] [--json OUT] [--keep DIR]

VAULT is a folder of laws, or a .tar.xz of one. Each stage runs in a process of its own, so that
its seconds and its peak of memory are its own; shares of the vault are every fourth file and so on.
The last share is also killed while it encodes, resumed, edited and asked. Without `--model e5` the
vectors are of words, which says all but the seconds of encoding.
"""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

from processes import RAG, Cost, run, run_json

STAGES = ("parse", "chunk", "embed")
_MODELS = {
    "words": "{kind: hashing, model: words}",
    "e5": "{kind: bundled, model: multilingual-e5-small, dtype: int8}",
}
_PLACES = 'raw: [raw]\nplaces:\n  "": {source_type: evidence, citable: true}\n'
_ADDED = "\n\n第九百九十九条 本条由测量程序添加。\n"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("vault", type=Path, help="folder of laws, or a .tar.xz of one")
    parser.add_argument("--model", choices=sorted(_MODELS), default="words")
    parser.add_argument("--shares", type=float, nargs="+", default=[0.25, 1.0])
    parser.add_argument("--questions", type=Path, help="JSON lines with `text`: what is asked")
    parser.add_argument("--names", type=Path, help="JSON lines with `query`: articles by name")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--keep", type=Path, help="make the workspaces here and leave them there")
    return parser.parse_args()


def _files(vault: Path, folder: Path) -> list[tuple[Path, Path]]:
    """Return the vault's files with their paths in it, in an order that mixes its folders."""
    if vault.is_file():
        with tarfile.open(vault) as archive:
            archive.extractall(folder / "vault", filter="data")
        vault = folder / "vault"
    found = [(path, path.relative_to(vault)) for path in vault.rglob("*.md")]
    return sorted(found, key=lambda pair: (pair[1].name, pair[1]))


def _prepare(workspace: Path, files: list[tuple[Path, Path]], share: float, model: str) -> int:
    run([RAG, "init", workspace, "--template", "law"])
    settings = workspace / "namespaces" / "law.yaml"
    head, _, tail = settings.read_text(encoding="utf-8").partition("  models:\n")
    rest = "".join(line for line in tail.splitlines(keepends=True) if not line.startswith("    - "))
    settings.write_text(f"{head}  models:\n    - {_MODELS[model]}\n{rest}", encoding="utf-8")
    step = round(1 / share)
    chosen = files[::step]
    for path, relative in chosen:
        copy = workspace / "raw" / relative
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    return len(chosen)


def _stage(workspace: Path, stage: str) -> tuple[Cost, dict[str, Any]]:
    cost = run([RAG, "--workspace", workspace, stage, "--json"])
    return cost, json.loads(cost.output)["law"]["stages"]


def _kill_while_encoding(workspace: Path) -> float:
    """Start encoding and kill all of it in the middle; return the seconds that it had."""
    begun = time.monotonic()
    child = subprocess.Popen(
        [RAG, "--workspace", workspace, "embed"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert child.stderr is not None
    for line in child.stderr:
        told = line.decode("utf-8", "replace")
        # Half of the work, by its own account.
        if "encoding passages" in told:
            done, _, whole = told.partition("encoding passages: ")[2].partition(" of ")
            if int(done) * 2 > int(whole.partition(",")[0]):
                break
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    return time.monotonic() - begun


def _measure(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    files = _files(given.vault, folder)
    result: dict[str, Any] = {"files": len(files), "model": given.model, "shares": {}}
    for share in given.shares:
        workspace = folder / f"share-{share:g}"
        count = _prepare(workspace, files, share, given.model)
        stages: dict[str, Any] = {}
        for stage in STAGES:
            if share == given.shares[-1] and stage == "embed":
                result["killed_after_s"] = round(_kill_while_encoding(workspace), 1)
            cost, told = _stage(workspace, stage)
            stages[stage] = {**cost.to_json(), "told": told}
        result["shares"][f"{share:g}"] = {"files": count, "stages": stages}
    result["unchanged"] = run([RAG, "--workspace", workspace, "ingest"]).to_json()
    edited = max((workspace / "raw").rglob("*.md"), key=lambda path: path.stat().st_size)
    with edited.open("a", encoding="utf-8") as text:
        text.write(_ADDED)
    cost = run([RAG, "--workspace", workspace, "ingest", "--json"])
    result["one_edited"] = {**cost.to_json(), "told": json.loads(cost.output)["law"]["stages"]}
    arguments: list[str | Path] = [workspace]
    for option, path in (("--questions", given.questions), ("--names", given.names)):
        arguments += [option, path] if path else []
    result["asked"], cost = run_json("law_questions.py", *arguments)
    result["asked"]["peak_mb"] = cost.to_json()["peak_tree_mb"]
    return result


def _print(result: dict[str, Any]) -> None:
    for share, figures in result["shares"].items():
        print(f"{figures['files']} files (share {share})")
        for stage, cost in figures["stages"].items():
            print(
                f"  {stage:8s} {cost['wall_s']:8.1f} s  {cost['user_plus_sys_s']:8.1f} cpu s  "
                f"{cost['peak_tree_mb']:7.0f} MB"
            )
    print(f"killed after {result['killed_after_s']} s of encoding; then resumed, as above")
    for name in ("unchanged", "one_edited"):
        print(f"{name:10s} {result[name]['wall_s']:8.1f} s  {result[name]['peak_tree_mb']:7.0f} MB")
    for name, figure in result["asked"].items():
        print(f"{name:24s} {figure}")


def main() -> None:
    """Build, kill, resume, edit, ask, print."""
    given = _arguments()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory(prefix="rag-law-") as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        result = _measure(given, folder)
    result["questions_median_ms"] = statistics.median(result["asked"]["question_ms"] or [0.0])
    if given.json:
        given.json.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    _print(result)


if __name__ == "__main__":
    main()
