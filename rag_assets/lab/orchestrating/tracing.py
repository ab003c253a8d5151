"""The trace of a run: one JSON object a line, written by the program as things happen."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rag_assets.model import DamagedFileError

SCHEMA = "rag-assets/recipe-run/1"


class TraceWriter:
    """Numbers events and writes each as one line.

    Args:
        sink: is given each line as soon as it is there.
    """

    def __init__(self, sink: Callable[[str], None]) -> None:
        self._sink = sink
        self._count = 0

    @property
    def next_seq(self) -> int:
        """The number that the next event will have, from 1."""
        return self._count + 1

    def add(self, kind: str, **values: Any) -> int:
        """Write an event; return its number. No clock is in it, so that it can be made again."""
        self._count += 1
        event = {"seq": self._count, "kind": kind, **values}
        self._sink(json.dumps(event, ensure_ascii=False, allow_nan=False) + "\n")
        return self._count


def read_trace(path: Path) -> list[dict[str, Any]]:
    """Return the events of a trace.

    Raises:
        DamagedFileError: it is missing, not what was written, or of another schema.
    """
    if not path.is_file():
        raise DamagedFileError(f"{path}: the trace of this run is gone. Run it again.")
    return list(parse_trace(path.read_text(encoding="utf-8"), str(path)))


def parse_trace(text: str, where: str) -> Iterator[dict[str, Any]]:
    """Yield the events of a trace.

    Raises:
        DamagedFileError: as `read_trace`.
    """
    for number, line in enumerate(text.split("\n")[:-1], start=1):
        try:
            event = json.loads(line)
        except ValueError as error:
            raise DamagedFileError(f"{where}: line {number} is no JSON: {error}.") from error
        if not isinstance(event, dict) or event.get("seq") != number:
            raise DamagedFileError(f"{where}: line {number} is not event {number} of a trace.")
        if number == 1 and event.get("schema") != SCHEMA:
            raise DamagedFileError(
                f"{where}: this is no trace of schema {SCHEMA} but of {event.get('schema')!r}: "
                "another version of rag-assets made it."
            )
        yield event
