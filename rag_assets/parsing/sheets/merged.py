"""Cells merged over several rows: each row gets the value that is printed beside it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rag_assets.parsing.sheets.xml import SparseRow, column_index

# The list of merged cells stands behind the cells it is about: it is looked for in the bytes, so
# that the sheet can be read as a stream afterwards.
_MERGED = re.compile(
    rb"""<(?:\w+:)?mergeCell\s[^>]*?ref\s*=\s*["']([A-Za-z]+)(\d+):[A-Za-z]+(\d+)["']"""
)
_LONGEST_TAG = 200
_MAX_MERGED = 100_000
# A label is repeated, a text is not: it would stand in the document a thousand times.
_MAX_LABEL_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class MergedLabel:
    """A cell that reaches over the rows `first` to `last` (from 1)."""

    column: int
    first: int
    last: int


def find_merged(pieces: Iterable[bytes]) -> dict[int, list[MergedLabel]]:
    """Return the cells that reach over several rows, by their first row.

    Args:
        pieces: the bytes of the sheet's part. In UTF-16 none is found.
    """
    found: dict[int, list[MergedLabel]] = {}
    count = 0
    rest = b""
    for piece in pieces:
        window = rest + piece
        used = 0
        for match in _MERGED.finditer(window):
            used = match.end()
            first, last = int(match[2]), int(match[3])
            if last > first and count < _MAX_MERGED:
                label = MergedLabel(column_index(match[1].decode()), first, last)
                found.setdefault(first, []).append(label)
                count += 1
        rest = window[max(used, len(window) - _LONGEST_TAG) :]
    return found


def fill_merged(
    rows: Iterable[tuple[int, SparseRow]], merged: dict[int, list[MergedLabel]]
) -> Iterator[tuple[int, SparseRow]]:
    """Yield the rows with labels repeated in each filled row beside them."""
    open_labels: dict[int, tuple[int, str]] = {}
    for number, row in rows:
        cells = dict(row)
        if open_labels:
            for column, (last, value) in list(open_labels.items()):
                if number > last:
                    del open_labels[column]
                else:
                    cells.setdefault(column, value)
        for label in merged.get(number, ()):
            value = cells.get(label.column, "")
            if value and len(value) <= _MAX_LABEL_CHARACTERS:
                open_labels[label.column] = (label.last, value)
        yield number, row if len(cells) == len(row) else sorted(cells.items())
