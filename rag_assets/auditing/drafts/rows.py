"""What a row of a table states: each cell under the head of its column, behind the row's name.

“| BERT | 93.2 |” says nothing without the head “F1”; “BERT: F1 93.2” does. A citation in a column
of its own, or beside the row's name, speaks for the whole row; one beside a value for that value.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from rag_assets.model import HAN, count_han

# A cell of so many words (or Chinese characters) says by itself what it says.
_FEWEST_WORDS = 6
_FEWEST_HAN = 10
# “Smith et al.” is none.
_FEWEST_IN_SENTENCE = 4
_WORD = re.compile(r"[^\W_]+")
# A place where a value is missing.
_NO_VALUE = re.compile(r"\W*(?:n/?a)?\W*", re.IGNORECASE)


def cut_cells(line: str, bars: Sequence[int]) -> list[tuple[int, int]]:
    """Return the spans of a row's cells.

    Args:
        line: of the row; `bars` where its columns are parted, ascending.
    """
    edges = [-1, *bars, len(line)]
    cells = [(a + 1, b) for a, b in pairwise(edges)]
    if bars and not line[: bars[0]].strip():
        cells = cells[1:]
    if bars and not line[bars[-1] + 1 :].strip():
        cells = cells[:-1]
    return cells


def state_row(cells: Sequence[str], head: Sequence[str], only: int | None = None) -> str:
    """Return a row as a statement; empty where it says nothing.

    Args:
        cells: their words, without citations and marks.
        head: of their columns, likewise; empty for the head itself.
        only: the cell that is asked for, beside the row's name; None for all.
    """
    if not head:
        return " ".join(filter(None, cells))
    name = cells[0] if cells else ""
    if only == 0 and not _is_value(name):
        return ""
    values = [
        (head[number] if number < len(head) else "", cell)
        for number, cell in enumerate(cells)
        if number and _is_value(cell) and only in {None, 0, number}
    ]
    if not values:
        return name
    stated = [_under(column, cell) for column, cell in values]
    is_han = bool(HAN.search("".join([name, *stated])))
    comma, colon = ("，", "：") if is_han else (", ", ": ")
    text = (" " if any(map(_is_sentence, stated)) else comma).join(stated)
    return f"{name}{' ' if _is_sentence(name) else colon}{text}" if name else text


def text_columns(cells: Sequence[str], sentences: Sequence[int]) -> dict[int, str]:
    """Return the columns of a row that state something each for itself, and what names the row.

    Args:
        cells: their words.
        sentences: how many each of them holds.

    Returns:
        Nothing where the row is one statement: of values, or of one sentence and its name.
    """
    apart = [_says_itself(cell) or many > 1 for cell, many in zip(cells, sentences, strict=True)]
    if sum(apart) < 2 and max(sentences, default=0) < 2:
        return {}
    name = "" if not cells or apart[0] else cells[0]
    return {column: name for column, is_apart in enumerate(apart) if is_apart}


def name_cell(name: str, claim: str) -> str:
    """Return what a sentence of a cell states, behind the name of its row."""
    colon = "：" if HAN.search(name + claim) else ": "
    return f"{name}{colon}{claim}" if name and claim else claim


def _under(column: str, cell: str) -> str:
    if not column or _says_itself(cell):
        return cell
    is_joined = HAN.search(column[-1:]) and (HAN.search(cell[:1]) or cell[:1].isdigit())
    return f"{column}{'' if is_joined else ' '}{cell}"


def _is_value(cell: str) -> bool:
    return not _NO_VALUE.fullmatch(cell)


def _says_itself(cell: str) -> bool:
    is_long = len(_WORD.findall(cell)) >= _FEWEST_WORDS or count_han(cell) >= _FEWEST_HAN
    return is_long or _is_sentence(cell)


def _is_sentence(cell: str) -> bool:
    if HAN.search(cell):
        return cell.endswith(("。", "！", "？", "；"))
    return cell.endswith((".", "!", "?")) and len(_WORD.findall(cell)) >= _FEWEST_IN_SENTENCE
