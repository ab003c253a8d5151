"""Jobs that harm who does them, and count how often they were begun: in files, across processes."""

import logging
import os
import signal
import threading
from dataclasses import dataclass, field
from pathlib import Path

from rag_assets.model import ParsedDocument, StorageError
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing.markdown import MarkdownParser
from rag_assets.parsing.registry import ParseHints
from rag_assets.storage.execution import Limits, OnPart

# The memory of a group of processes, as a container has it (version 1 of the interface).
MEMORY = Path("/sys/fs/cgroup/memory")
# Where parsers that are made without arguments write what they do, and read whom to kill.
FOLDER = "RAG_TEST_HARM"
# How much of the memory of its group `fill_memory` takes; with more than 1 the system ends it.
SHARE = "RAG_TEST_SHARE"
_PIECE_BYTES, _MOST_BYTES = 8_000_000, 8_000_000_000


def note(folder: Path, name: str) -> int:
    """Count a beginning; return which one of this name it is."""
    path = folder / f"begun-{name}"
    with path.open("ab") as file:
        file.write(b".")
    return path.stat().st_size


def begun(folder: Path) -> dict[str, int]:
    """Return how often each name was begun."""
    return {
        path.name.removeprefix("begun-"): path.stat().st_size for path in folder.glob("begun-*")
    }


def fill_memory() -> None:
    """Take nearly all memory of the group, and wait to be ended for it."""
    limit = int((MEMORY / "memory.limit_in_bytes").read_text())
    if limit > _MOST_BYTES:
        raise RuntimeError("this process has no group of its own: the machine would be filled")
    held = []
    while int((MEMORY / "memory.usage_in_bytes").read_text()) < limit * float(os.environ[SHARE]):
        held.append(b"x" * _PIECE_BYTES)
    threading.Event().wait()


@dataclass(frozen=True)
class Act:
    """What a job does: `gives`, `fails` (as a value), `troubles`, `dies` or `fills` (memory).

    The last two also with `once`: at the first time.
    """

    number: int
    what: str = "gives"


@dataclass
class Actor:
    folder: Path | None
    stopped: bool = False

    def do(self, job: Act, on_part: OnPart[Act] | None) -> tuple[int, str]:
        times = note(self.folder, str(job.number)) if self.folder else 1
        if self.folder:
            (self.folder / f"actor-{os.getpid()}").touch()
        harm, _, once = job.what.partition(" ")
        if harm == "dies" and (not once or times == 1):
            os.kill(os.getpid(), signal.SIGKILL)
        if harm == "fills" and (not once or times == 1):
            fill_memory()
        logging.getLogger("harm").warning("job %s", job.number)
        if job.what == "troubles":
            raise StorageError(f"job {job.number}: no room")
        if on_part:
            on_part(job, job.number + 1)
        return job.number, "failed" if job.what == "fails" else "done"

    def stop(self) -> None:
        self.stopped = True

    def close(self) -> None:
        if self.folder:
            note(self.folder, "closed")


@dataclass(frozen=True)
class Acts:
    """A kind whose workers count in `folder` where there is one."""

    folder: Path | None = None
    name: str = "act"
    limits: Limits = field(default_factory=lambda: Limits(at_once=2))

    def open_worker(self) -> Actor:
        return Actor(self.folder)

    def claim(self, job: Act) -> Path | None:
        return self.folder / f"{job.number}.lock" if self.folder else None

    def give_up(self, job: Act, trouble: str) -> tuple[int, str]:
        return job.number, "given up"


class Harming(MarkdownParser):
    """Reads Markdown, and kills on its way whom the text names: `worker once`, `worker`, `run`."""

    name = "harming"
    version = "1"

    def parse(self, data: bytes, hints: ParseHints, settings: ParseSettings) -> ParsedDocument:
        folder = Path(os.environ[FOLDER])
        text = data.decode()
        times = note(folder, text.split()[1])
        (folder / f"actor-{os.getppid()}").touch()
        if "kill worker" in text and ("once" not in text or times == 1):
            # The actor that has started this process: what a machine without memory does to it.
            os.kill(os.getppid(), signal.SIGKILL)
            threading.Event().wait()  # this process ends when it sees that nobody waits for it
        if "kill run" in text and times == 1:
            os.kill(int((folder / "run.pid").read_text()), signal.SIGKILL)
        if "fill memory" in text and times == 1:
            fill_memory()
        if "take memory" in text:
            bytearray(settings.megabytes_of_memory * 1_000_000)
        return super().parse(data, hints, settings)
