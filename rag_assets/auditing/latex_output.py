"""Blocks of Markdown that a LaTeX draft becomes, each piece with its place in the source."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from rag_assets.auditing.latex_source import Place
from rag_assets.model import EAST_ASIAN_RANGES

# Text without the marks of LaTeX, piece by piece, as blocks of Markdown.

EAST_ASIAN = re.compile(f"[{EAST_ASIAN_RANGES}]")
# What Markdown or the reader of citations would take for a mark of its own.
_MARKS = re.compile(r"[*`\\_{}@]|<(?=[A-Za-z/!]|$)|==|\[(?=\^)")
_BRACKETS = re.compile(r"[\[\]]")

Run = tuple[str, Place]


@dataclass(slots=True)
class Block:
    """A paragraph, heading or item; code or the head of a table; a row below one."""

    prefix: str = ""
    runs: list[Run] = field(default_factory=list)
    kind: Literal["words", "code", "row"] = "words"


class Output:
    """Collects blocks.

    Args:
        is_plain: text alone is wanted, and nothing in it is escaped.
    """

    def __init__(self, *, is_plain: bool = False) -> None:
        self.blocks: list[Block] = []
        self.prefix = ""  # of quotations
        self.mark = ""  # of the item that begins
        self.waiting: list[Block] = []  # floats, until the paragraph ends
        self.last = ""  # character of the paragraph
        self._is_plain = is_plain
        self._open = False
        self._pending = ""

    def space(self, kind: str = " ") -> None:
        r"""Write a space: `\n` where a line ends, `\u2009` for a thin one."""
        if self._open and self._pending != " ":
            self._pending = kind

    def write(self, text: str, place: Place, *, in_math: bool = False) -> None:
        """Write words, with what is a mark to Markdown escaped."""
        if not self._is_plain:
            text = _MARKS.sub(r"\\\g<0>", text)
            if in_math:
                text = _BRACKETS.sub(r"\\\g<0>", text)
            elif self.last == "]" and not self._pending and text[:1] in {"(", "["}:
                text = f"\\{text}"
        self.write_marked(text, place)

    def write_marked(self, text: str, place: Place) -> None:
        """Write Markdown."""
        text = text if self._open else text.lstrip()
        if not text:
            return
        if not self._open:
            self.blocks.append(Block(self.prefix + self.mark))
            self.mark, self._open = "", True
        gap = " " if self._pending else ""
        if self._pending == "\n" and EAST_ASIAN.match(self.last) and EAST_ASIAN.match(text):
            gap = ""
        elif self._pending == "\u2009" and self.last.isdigit() and text[0].isdigit():
            gap = "\u2009"
        self.blocks[-1].runs += [(gap, place)] * bool(gap) + [(text, place)]
        self._pending, self.last = "", text[-1]

    def write_runs(self, runs: Sequence[Run]) -> None:
        """Write pieces of Markdown."""
        for text, place in runs:
            self.write_marked(text, place)

    def add(self, blocks: Sequence[Block] = ()) -> None:
        """End the paragraph and add blocks behind it."""
        self._open, self._pending, self.last = False, "", ""
        self.blocks += [*self.waiting, *blocks]
        self.waiting = []

    def runs(self) -> list[Run]:
        """Return all blocks as one."""
        found: list[Run] = []
        for block in [*self.blocks, *self.waiting]:
            if found and block.runs:
                found.append((" ", block.runs[0][1]))
            found += block.runs
        return found


@dataclass(slots=True)
class Table:
    """A table while it is read, or a formula of several rows.

    Args:
        outer: what the table is part of.
        cell: that is being read.
        width: columns that it runs over.
    """

    outer: Output
    cell: Output = field(default_factory=Output)
    rows: list[list[list[Run]]] = field(default_factory=list)
    row: list[list[Run]] = field(default_factory=list)
    head_rows: int = 0
    width: int = 1
    is_formula: bool = False


def flat(text: str, without: str) -> str:
    """Return text on one line without the brackets that would end what surrounds it."""
    return " ".join(text.translate(dict.fromkeys(map(ord, without))).split())


def table_row(cells: Sequence[list[Run]], place: Place) -> Block:
    """Return a row of a Markdown table."""
    runs: list[Run] = []
    for cell in cells:
        where = cell[0][1] if cell else (runs[-1][1] if runs else place)
        runs += [("| ", where), *cell, (" ", where)]
    return Block("", [*runs, ("|", runs[-1][1] if runs else place)], "row")


def merge_heads(heads: Sequence[list[list[Run]]]) -> list[list[Run]]:
    """Return the rows of a head as one; a cell over several columns is repeated in each of them."""
    merged = list(heads[-1]) if heads else []
    for row in heads[-2::-1]:
        above: list[Run] = []
        for column, cell in enumerate(row):
            above = cell or above
            if above:
                gap: list[Run] = [(" ", above[0][1])] if merged[column] else []
                merged[column] = [*above, *gap, *merged[column]]
    return merged


_NAMES = {
    "figure": ("figure", "图"), "table": ("table", "表"), "equation": ("equation", "式"),
    "section": ("section", "节"), "chapter": ("chapter", "章"), "appendix": ("appendix", "附录"),
}  # fmt: skip


def name_references(kind: str, numbers: Sequence[str], *, is_capital: bool, is_han: bool) -> str:
    """Return references to things of one kind as LaTeX prints them: `figures 1 and 2`, 图1."""
    english, chinese = _NAMES.get(kind, ("", ""))
    if is_han and chinese:
        numbered = "、".join(numbers)
        return f"第{numbered}{chinese}" if chinese in {"节", "章"} else f"{chinese}{numbered}"
    name = english + "s" * bool(len(numbers) > 1 and english)
    shown = ", ".join(numbers[:-1]) + " and " * (len(numbers) > 1) + numbers[-1]
    return f"{name.capitalize() if is_capital else name} {shown}".strip()
