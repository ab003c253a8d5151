"""What the tests of whole workspaces share: run `rag`, start builds, look at what readers see."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
from click.testing import Result

from rag_assets.publishing.catalogue import catalogue_name, open_catalogue
from rag_assets.retrieval import Reader
from rag_assets.storage import current_folder, read_manifest
from rag_assets.workspace import Namespace, Workspace

# One worker and small passages: a test wants many stages, not much text.
SETTINGS: Mapping[str, object] = {
    "embed": {"kind": "hashing", "model": "words"},
    "chunk": {"target_tokens": 24, "min_tokens": 8, "max_tokens": 48, "parent_tokens": 96},
    "parse": {"workers": 1},
}
NOTES = {
    "evidence/roofs.md": "# Roofs\n\nA green roof was 7 degrees cooler than bitumen at noon. "
    "It held half of the rain.\n",
    "evidence/streets.md": "# Streets\n\nTrees along a street lower the radiant temperature. "
    "Pale asphalt glares.\n",
    "evidence/树荫.md": "# 树荫\n\n行道树使行人感到凉爽。正午的地面温度下降了九度。\n",
    "instruction/guidance/rubric.md": "# Rubric\n\nEvery claim cites a source.\n",
}
# Marks the processes of one test in their environment.
MARK = "RAG_TEST_MARK"
_TIMEOUT_SECONDS = 300


def saved_by(ran: Result) -> Path:
    """Return the file that a command says on standard error it wrote."""
    (line,) = [one for one in ran.stderr.splitlines() if one.startswith("saved: ")]
    return Path(line.removeprefix("saved: "))


def outside_environment(**more: str) -> dict[str, str]:
    """Return an environment in which no workspace is named."""
    return {
        key: value
        for key, value in os.environ.items()
        if key not in {"RAG_WORKSPACE", "DAGSTER_HOME"}
    } | more


def run_rag(
    *arguments: str | Path, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the installed command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", "from rag_assets.cli import main; main()", *map(str, arguments)],
        cwd=cwd,
        env=outside_environment(**environment),
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_SECONDS,
        check=False,
    )


def start_build(namespace: Namespace, *point: str, mark: str = "") -> "subprocess.Popen[str]":
    """Start `rag_assets_tests.e2e.building` on a namespace."""
    module = [sys.executable, "-m", "rag_assets_tests.e2e.building"]
    return subprocess.Popen(
        [*module, str(namespace.workspace.root), namespace.name, *point],
        env=outside_environment(**({MARK: mark} if mark else {})),
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def until_waiting(process: "subprocess.Popen[str]") -> None:
    """Return once a build waits at its point."""
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n", "the build ended before its point"


def let_go(process: "subprocess.Popen[str]") -> str:
    """Let a waiting build go on; returns the last line that it prints."""
    printed, _ = process.communicate("\n", timeout=_TIMEOUT_SECONDS)
    assert process.returncode == 0, printed
    return printed.splitlines()[-1]


def marked_processes(mark: str) -> list[psutil.Process]:
    """Return living processes that carry a mark in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def published_state(namespace: Namespace) -> dict[str, Any]:
    """Return what readers see now, without what a clock wrote."""
    manifest = read_manifest(current_folder(namespace.publications, namespace.name))
    return {key: manifest[key] for key in ("publication", "stages", "tables", "counts")}


def whole_publication(namespace: Namespace) -> str:
    """Read the current publication with both stores; returns its name.

    Asserts that search table, catalogue and manifest speak of the same rows.
    """
    folder = current_folder(namespace.publications, namespace.name)
    counts = read_manifest(folder)["counts"]
    with (
        Reader(folder, namespace.name, folder.name) as reader,
        open_catalogue(folder / catalogue_name(folder.name)) as catalogue,
    ):
        found = {
            table: catalogue.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # type: ignore[index]
            for table in counts
        }
        assert found == counts
        assert reader.rows == counts["chunks"]
        uids = reader.documents()["doc_uid"].to_pylist()
        assert sum(len(reader.fetch_chunks(uid)) for uid in uids) == counts["chunks"]
        for model in reader.models:
            query = [1.0] + [0.0] * (model.dimension - 1)
            found_by_model = reader.rank_vectors(model.fingerprint, query, counts["chunks"])
            assert len(found_by_model) == counts["chunks"]
    return folder.name


def all_bytes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file below a folder, by path."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def partition_text(namespace: Namespace, partition: str, words: str) -> str:
    """Return a text with `words` in it whose content lies in a partition."""
    for number in range(100_000):
        text = f"{words} Note number {number}.\n"
        if namespace.partition_of(hashlib.sha256(text.encode()).hexdigest()) == partition:
            return text
    raise AssertionError(partition)


def open_namespace(root: Path, name: str = "thesis") -> Namespace:
    """Return a namespace with the settings that stand on disk now."""
    return Workspace.open(root).namespace(name)
