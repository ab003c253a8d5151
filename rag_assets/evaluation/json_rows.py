"""Files of known truth: one JSON object a line."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from rag_assets.model import UsageError

Row = TypeVar("Row")


def read_rows(file: Path, read: Callable[[Any], Row], form: str) -> Iterator[tuple[int, Row]]:
    """Yield (number of the line, from 1; its row) for every line that is not blank.

    Args:
        file: UTF-8, its lines ended by line feeds alone: other marks may stand in a text.
        read: makes a row of a line's value; raises ValueError, as pydantic's models do.
        form: what a row is, for the message where a line is none.

    Raises:
        UsageError: the file cannot be read, or names the line that is no row, and why.
    """
    for number, line in enumerate(read_lines(file), 1):
        if not line.strip():
            continue
        try:
            row = read(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{file}, line {number}: {form}: {_told(error)}.") from error
        yield number, row


def read_lines(file: Path) -> list[str]:
    """Return the lines of a UTF-8 text, split at line feeds alone.

    Raises:
        UsageError: the file cannot be read.
    """
    try:
        return file.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}.") from error


def _told(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return str(error).rstrip(".")
    return "; ".join(
        f"{'.'.join(map(str, each['loc'])) or 'the line'}: {each['msg']}" for each in error.errors()
    )
