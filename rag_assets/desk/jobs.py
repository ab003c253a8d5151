"""Work that goes on behind a page: a thread each, and what it says as a stream.

Nothing here outlives the process; what work makes is kept by the functions that it calls.
"""

import threading
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Literal

import anyio

from rag_assets.model import RagError, hide_credentials

JobState = Literal["running", "done", "failed", "cancelled"]
_MOST_KEPT = 200
_POLL_SECONDS = 0.1


class CancelledError(Exception):
    """A person has cancelled the work. No fault of ours, so that nothing handles it as one."""


@dataclass
class Job:
    """A piece of work.

    Args:
        kind: what it does, as the pages name it.
        result: where its result is to be seen, a path of this desk; empty while there is none.
        trouble: the sentence for a person where it failed.
    """

    key: str
    kind: str
    told: list[str] = field(default_factory=list)
    state: JobState = "running"
    result: str = ""
    trouble: str = ""
    _cancelled: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)

    def tell(self, sentence: str) -> None:
        """Say a sentence to who looks; ends the work where it was cancelled.

        Raises:
            CancelledError: the work is not wanted any more.
        """
        if self._cancelled.is_set():
            raise CancelledError("cancelled by a person.")
        self.told.append(sentence)

    def cancel(self) -> None:
        """Ask the work to end; it does so with the next sentence that it says."""
        self._cancelled.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end; False where it did not come."""
        return self._ended.wait(seconds)

    def run(self, work: "Callable[[Job], str]") -> None:
        """Do the work; what it returns is where its result is to be seen."""
        try:
            self.result = work(self)
            self.state = "done"
        except CancelledError as error:
            self.state, self.trouble = "cancelled", str(error)
        except RagError as error:
            self.state, self.trouble = "failed", hide_credentials(str(error))
        except BaseException as error:
            self.state = "failed"
            self.trouble = hide_credentials(f"{type(error).__name__}: {error}")
            raise
        finally:
            self._ended.set()

    async def follow(self, after: int = 0) -> AsyncIterator[tuple[int, str]]:
        """Give (number, sentence) from the one after `after`, as they come, until the end."""
        number = after
        while True:
            ended = self._ended.is_set()
            for sentence in self.told[number:]:
                number += 1
                yield number, sentence
            if ended:
                return
            await anyio.sleep(_POLL_SECONDS)


class Jobs:
    """The work of one desk, oldest first; what has ended is forgotten after the last 200."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(self, kind: str, work: Callable[[Job], str]) -> Job:
        """Begin a piece of work in a thread of its own."""
        job = Job(uuid.uuid4().hex, kind)
        with self._lock:
            self._jobs[job.key] = job
            ended = [key for key, each in self._jobs.items() if each.state != "running"]
            for key in ended[: max(0, len(self._jobs) - _MOST_KEPT)]:
                del self._jobs[key]
        threading.Thread(target=job.run, args=(work,), name=f"desk {kind}", daemon=True).start()
        return job

    def get(self, key: str) -> Job | None:
        """Return the work of a key, None where there is none (any more)."""
        return self._jobs.get(key)

    def running(self, kind: str | None = None) -> list[Job]:
        """Return what goes on, of one kind or of all."""
        with self._lock:
            jobs = list(self._jobs.values())
        return [job for job in jobs if job.state == "running" and kind in (None, job.kind)]

    def close(self) -> None:
        """Ask all work to end."""
        for job in self.running():
            job.cancel()
