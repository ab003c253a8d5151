"""What of a row of a table is one sentence: all of it, or each of its cells that says something.

A row of values is read whole, under its header. Of a row that holds running text the cells are
read apart: “wages rose” in one and “rents fell” in the next are two statements.
"""

import re
from collections.abc import Iterator
from itertools import groupby, pairwise

from rag_assets.chunking import split_sentences
from rag_assets.model import count_han

ROW_LINE = re.compile(r"^[^\S\n]*\|[^\n]*\|[^\S\n]*$", re.MULTILINE)
_BAR = re.compile(r"(?<!\\)\|")
_RULE_BELOW = re.compile(r"\n[^\S\n]*\|(?:[^\S\n]*:?-+:?[^\S\n]*\|)+")
# So many words, or characters of Chinese, say something by themselves.
_FEWEST_WORDS = 6
_FEWEST_HAN = 10
_WORD = re.compile(r"[^\W\d_]+")


def cut_row(text: str, row: re.Match[str]) -> Iterator[tuple[int, int, int | None]]:
    """Yield the sentences of a row: start and end in `text`, and the column where it begins.

    Args:
        row: found by `ROW_LINE`.

    Returns:
        The row alone, without a column; or its cells of running text sentence by sentence, and
        between them the values that stand beside each other.
    """
    cells = list(_cells(text, *row.span()))
    said = [[(a + start, b + start) for a, b in split_sentences(text[start:end])]
            for start, end in cells]  # fmt: skip
    is_long = [_says_something(text[start:end]) for start, end in cells]
    has_several = any(len(sentences) > 1 for sentences in said)
    is_header = _RULE_BELOW.match(text, row.end()) is not None
    if not has_several and (is_header or sum(is_long) < 2):
        yield *row.span(), None
        return
    is_apart = [long or len(sentences) > 1 for long, sentences in zip(is_long, said, strict=True)]
    for apart, group in groupby(range(len(cells)), is_apart.__getitem__):
        columns = list(group)
        if apart:
            yield from ((*span, column) for column in columns for span in said[column])
        else:
            yield cells[columns[0]][0], cells[columns[-1]][1], columns[0]


def _cells(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    bars = [bar.start() for bar in _BAR.finditer(text, start, end)]
    for left, right in pairwise(bars):
        yield left + 1, right


def _says_something(cell: str) -> bool:
    return len(_WORD.findall(cell)) >= _FEWEST_WORDS or count_han(cell) >= _FEWEST_HAN
