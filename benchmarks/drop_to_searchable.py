"""One PDF dropped into raw/evidence, with `rag ui` running: seconds until it can be found.

    python benchmarks/drop_to_searchable.py [--papers DIR] [--json OUT] [--times 5]

A workspace of the sample documents is built, the UI and its daemon are started, and PDFs are
dropped one after another, each once the one before can be found. The seconds are split by the
times that Dagster stores: until the sensor asks for a run (tick and rest), until the run begins
(queue, process, imports), its steps, and what is between and behind them.
"""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
from processes import RAG, run
from run_events import step_seconds

from rag_assets.storage import read_pointer
from rag_assets.workspace import Workspace

_PORT = 3977
# A bound against waiting for ever; the target is 45 s, the stretch 30.
_MOST_SECONDS = 300.0
_POLL_SECONDS = 0.1


def main() -> None:
    """Measure, print a table, write JSON where asked."""
    arguments = _read_arguments()
    papers = sorted(arguments.papers.glob("*.pdf"))[: arguments.times]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "library"
        workspace = _sample_workspace(root)
        environment = {k: v for k, v in os.environ.items() if k != "RAG_WORKSPACE"}
        server = subprocess.Popen(
            [str(RAG), "--workspace", str(root), "ui", "--sensors", "--port", str(_PORT)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        try:
            begun = time.time()
            _wait(_answers, "the UI")
            up = time.time() - begun
            drops = [_drop(workspace, paper) for paper in papers]
        finally:
            # The code server looks at the instance while it ends: the folder must outlive it.
            family = psutil.Process(server.pid).children(recursive=True)
            server.send_signal(signal.SIGINT)
            server.wait(60)
            psutil.wait_procs(family, timeout=60)
    median = statistics.median(drop["total_s"] for drop in drops)
    found = {"ui_up_s": round(up, 1), "median_s": round(median, 1), "drops": drops}
    for drop in drops:
        print(json.dumps(drop))
    print(f"median {median:.1f} s of {len(drops)} drops (target 45, stretch 30)")
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


def _read_arguments() -> argparse.Namespace:
    shared = Path(os.environ.get("RAG_SHARED_DATA", "../shared/data"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=Path, default=shared / "papers")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--times", type=int, default=5)
    return parser.parse_args()


def _sample_workspace(root: Path) -> Workspace:
    run([RAG, "init", root])
    shutil.copytree("samples/raw", root / "raw", dirs_exist_ok=True)
    run([RAG, "--workspace", root, "ingest"])
    return Workspace.open(root)


def _drop(workspace: Workspace, paper: Path) -> dict[str, Any]:
    """Copy a PDF in and wait until a publication holds it."""
    from rag_assets.publishing.catalogue import catalogue_name, open_catalogue

    folder = workspace.namespace("thesis").publications
    dropped = time.time()
    shutil.copyfile(paper, workspace.root / "raw/evidence" / paper.name)

    def is_searchable() -> bool:
        pointer = read_pointer(folder)
        if pointer is None:
            return False
        with open_catalogue(folder / pointer.current / catalogue_name(pointer.current)) as found:
            row = found.execute(
                "SELECT count(*) FROM chunks WHERE doc_uid IN (SELECT doc_uid FROM sources "
                "WHERE name = ?)",
                [paper.name],
            ).fetchone()
        return bool(row and row[0])

    _wait(is_searchable, paper.name)
    searchable = time.time()
    return _split(workspace, dropped, searchable) | {"file": paper.name}


def _split(workspace: Workspace, dropped: float, searchable: float) -> dict[str, Any]:
    os.environ["DAGSTER_HOME"] = str(workspace.dagster_home)
    import dagster as dg

    with dg.DagsterInstance.get() as instance:
        record = instance.get_run_records(limit=1)[0]
        _wait_for_end(instance, record.dagster_run.run_id)
    created = record.create_timestamp.timestamp()
    events = step_seconds(workspace.dagster_home, record.dagster_run.run_id)
    return {
        "total_s": round(searchable - dropped, 1),
        "tick_and_rest_s": round(created - dropped, 1),
        "queue_process_imports_s": round(events["begin"] - created, 1),
        "steps_until_published_s": round(searchable - events["begin"], 1),
        "steps_s": events["steps_s"],
        "checks_and_end_s": round(max(0.0, events["end"] - searchable), 1),
    }


def _wait_for_end(instance: Any, run_id: str) -> None:
    _wait(lambda: bool(instance.get_run_by_id(run_id).is_finished), "the end of the run")


def _answers() -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{_PORT}/server_info", timeout=5):
            return True
    except OSError:
        return False


def _wait(is_there: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + _MOST_SECONDS
    while not is_there():
        if time.monotonic() > end:
            sys.exit(f"{what} did not come in {_MOST_SECONDS:.0f} s")
        time.sleep(_POLL_SECONDS)


if __name__ == "__main__":
    main()
