"""What an attack is, and the library that it attacks: small, published, of the hashing model."""

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.attacks.forked import CLI, BrokeError, Limits, start
from rag_assets.retrieval import Reader
from rag_assets.storage import current_folder
from rag_assets.workspace import Namespace, Workspace
from rag_assets_tests.e2e.workspaces import (
    NOTES,
    SETTINGS,
    published_state,
    whole_publication,
)
from rag_assets_tests.libraries import build, make_workspace, write_raw

ADDED = "# Ponds\n\nA pond cools the air beside it by one degree at night.\n"
DRAFT = "A green roof was 7 degrees cooler than bitumen at noon {#roofs}.\n"


class NotTriedError(Exception):
    """The machine lacks what an attack needs."""


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack.

    Args:
        kind: of `kills`, `machine`, `processes`, `contents`, `sidecars`, `injections`,
            `frames`, `doors`, `lies`.
        holds: what must hold, in words.
        run: attacks a library in the folder that it is given; raises `BrokeError`, or
            `NotTriedError`.
    """

    kind: str
    name: str
    holds: str
    run: Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Library:
    """A published workspace whose raw/ has one file more, and what a build of that publishes."""

    root: Path
    before: dict[str, object]
    after: dict[str, object]

    def copy_to(self, folder: Path) -> Path:
        """Copy the workspace; returns its root."""
        shutil.copytree(self.root, folder / "library")
        return folder / "library"


def make_library(folder: Path) -> Library:
    """Build the library and, in a copy, what must be published after the change."""
    root = folder / "library"
    workspace = make_workspace(root, NOTES, SETTINGS)
    (root / "drafts").mkdir(exist_ok=True)
    (root / "drafts" / "draft.md").write_text(DRAFT, "utf-8")
    build(workspace.namespace("thesis"))
    before = published_state(workspace.namespace("thesis"))
    write_raw(workspace, "evidence/ponds.md", ADDED)
    shutil.copytree(root, folder / "undisturbed")
    undisturbed = namespace_of(folder / "undisturbed")
    build(undisturbed)
    return Library(root, before, published_state(undisturbed))


def namespace_of(root: Path) -> Namespace:
    """Open the library's namespace with what stands on disk now."""
    return Workspace.open(root).namespace("thesis")


def run_limited(
    *arguments: str | Path,
    scratch: Path,
    before: Callable[[], None] | None = None,
    limits: Limits | None = None,
    module: str = CLI,
) -> subprocess.CompletedProcess[str]:
    """Run a `main()` under limits of memory and open files.

    Raises:
        BrokeError: it hangs.
    """
    return start(*arguments, before=before, limits=limits, module=module, folder=scratch).end()


def rag(root: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command on a library, with the usual limits."""
    return run_limited("--workspace", root, *arguments, scratch=root.parent)


def require(held: bool, seen: str) -> None:
    """Raise with what was seen where something did not hold."""
    if not held:
        raise BrokeError(seen)


def last_line(ran: subprocess.CompletedProcess[str]) -> str:
    """Return the end of what a process said."""
    lines = (ran.stderr + ran.stdout).strip().splitlines()
    return lines[-1][-150:] if lines else "said nothing"


def require_sentence(ran: subprocess.CompletedProcess[str]) -> None:
    """An error may end a command; a traceback or a signal may not."""
    require(ran.returncode >= 0, f"ended by signal {-ran.returncode}")
    is_trace = "Traceback (most recent call last)" in ran.stderr + ran.stdout
    require(not is_trace, f"a traceback: {last_line(ran)}")


def require_state(root: Path, expected: dict[str, object]) -> None:
    """What is published equals a clean build, and is whole."""
    require(published_state(namespace_of(root)) == expected, "not what a clean build publishes")
    whole_publication(namespace_of(root))


def ingest(root: Path) -> subprocess.CompletedProcess[str]:
    """Run all stages on a library in a process of its own, without an orchestrator."""
    module = "rag_assets_tests.e2e.building"
    return run_limited(root, "thesis", module=module, scratch=root.parent)


def documents(root: Path) -> list[dict[str, object]]:
    """Return the published documents."""
    namespace = namespace_of(root)
    folder = current_folder(namespace.publications, namespace.name)
    with Reader(folder, namespace.name, folder.name) as reader:
        rows: list[dict[str, object]] = reader.documents().to_pylist()
    return rows


def require_good_is_published(root: Path, ran: subprocess.CompletedProcess[str]) -> None:
    """One bad file harms one file: the build ends well and the others are there."""
    require(ran.returncode == 0, f"the build ends with {ran.returncode}: {last_line(ran)}")
    uids = {str(row["doc_uid"]) for row in documents(root)}
    missing = {"roofs", "streets", "树荫", "ponds"} - uids
    require(not missing, f"not published any more: {json.dumps(sorted(missing))}")
    whole_publication(namespace_of(root))
