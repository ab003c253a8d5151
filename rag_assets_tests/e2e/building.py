"""A build in a process of its own that is killed, or waits, at a chosen point.

`python -m rag_assets_tests.e2e.building ROOT NAMESPACE [kill|wait POINT]`, where POINT is
`rename:<pattern>:<n>` (before the nth rename onto a path of the workspace that fits), `renamed:…`
(just after it), `before:<stage>` or `answered:<n>` (after a parsing worker's nth answer).
A waiting build prints `waiting` and goes on when a line comes from standard input.
"""

import fnmatch
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rag_assets.chunking.editing import refresh_chunk_edits
from rag_assets.chunking.stage import refresh_chunks, refresh_parents
from rag_assets.embedding import embedding_models, joint_tokenizer
from rag_assets.embedding.stage import refresh_embeddings
from rag_assets.parsing.stage import refresh_parse_reports
from rag_assets.parsing.worker_process import WorkerProcess
from rag_assets.publishing import PublishOutcome, publish
from rag_assets.workspace import Namespace, Workspace, take_inventory


def build_from_one_inventory(namespace: Namespace, reach: Callable[[str], None]) -> PublishOutcome:
    """Run every stage on the inventory that was taken first, however old it has become."""
    say: list[str] = []
    keys, embed = namespace.partition_keys, namespace.settings.embed
    tokenizer, models = joint_tokenizer(embed), embedding_models(embed)
    reach("before:inventory")
    inventory = take_inventory(namespace, notify=say.append).inventory
    reach("before:parse_reports")
    refresh_parse_reports(namespace, inventory, keys, say.append)
    reach("before:parents")
    refresh_parents(namespace, inventory, keys, tokenizer, say.append)
    reach("before:chunks")
    refresh_chunks(namespace, inventory, keys, tokenizer, say.append)
    reach("before:chunk_edits")
    refresh_chunk_edits(namespace, inventory, keys, tokenizer, say.append)
    reach("before:embeddings")
    refresh_embeddings(namespace, inventory, keys, models, say.append)
    reach("before:publish")
    return publish(namespace, models, say.append, is_whole=True)


class Point:
    """Acts once, when its place is reached for the nth time."""

    def __init__(self, root: Path, action: str, point: str) -> None:
        self.root, self.action = root, action
        self.kind, _, rest = point.partition(":")
        self.pattern, _, nth = rest.partition(":")
        self.left = int(nth or 1)

    def reach(self, stage: str) -> None:
        if stage == f"{self.kind}:{self.pattern}":
            self._act()

    def reach_path(self, kind: str, target: Path) -> None:
        inside = target.is_relative_to(self.root)
        name = target.relative_to(self.root).as_posix() if inside else ""
        if kind == self.kind and fnmatch.fnmatchcase(name, self.pattern):
            self._count()

    def reach_answer(self) -> None:
        if self.kind == "answered":
            self._count()

    def _count(self) -> None:
        self.left -= 1
        if self.left == 0:
            self._act()

    def _act(self) -> None:
        if self.action == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        sys.stdout.write("waiting\n")
        sys.stdout.flush()
        sys.stdin.readline()


def install(point: Point) -> None:
    """Let every rename of this process, and a worker's answers, pass by the point."""
    real_replace, real_rename = Path.replace, Path.rename
    real_receive = WorkerProcess._receive

    def watched(real: Callable[..., Path]) -> Callable[..., Path]:
        def rename(self: Path, target: Path) -> Path:
            point.reach_path("rename", Path(target))
            moved = real(self, target)
            point.reach_path("renamed", Path(target))
            return moved

        return rename

    def receive(self: WorkerProcess, deadline: float) -> dict[str, Any]:
        message = real_receive(self, deadline)
        point.reach_answer()
        return message

    Path.replace = watched(real_replace)  # type: ignore[method-assign]
    Path.rename = watched(real_rename)  # type: ignore[method-assign]
    WorkerProcess._receive = receive  # type: ignore[method-assign]


def main() -> None:
    root, name, *chosen = sys.argv[1:]
    point = Point(Path(root), *(chosen or ("wait", "never:")))
    install(point)
    outcome = build_from_one_inventory(Workspace.open(root).namespace(name), point.reach)
    sys.stdout.write(f"published {outcome.publication} {outcome.is_new}\n")


if __name__ == "__main__":
    main()
