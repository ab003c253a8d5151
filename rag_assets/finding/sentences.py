"""The sentences of a document that can state something, read from its passages once.

Passages are cut where chunks and pages end; a sentence is not. So neighbouring passages are put
together again before sentences are split, and each sentence knows which passages hold it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from rag_assets.chunking import split_sentences
from rag_assets.finding.imprint import is_imprint
from rag_assets.finding.table_rows import ROW_LINE, cut_row
from rag_assets.model import FIGURE

# Between two passages that follow each other stands a line break or a blank line.
_WIDEST_GAP = 2
_ROW = re.compile(r"\|.*\|", re.DOTALL)
_RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+\s*")
_ITEM = re.compile(
    r"(?:[-*+•·]|\(?(?:\d{1,3}|[a-zA-Z])[.)]|[（(][一二三四五六七八九十]{1,3}[)）])\s*"
)
_CAPTION = re.compile(
    r"(?:table|tab\.|fig\.|figure|表|图|附表|附图)\s*[\dIVXS一二三四五六七八九十]", re.IGNORECASE
)
_LETTERS = 3
# A header is told before each row, a lead-in before each item: so much of them.
_TOLD_CHARACTERS = 200


class PassageLike(Protocol):
    """What is read of a passage of a document."""

    @property
    def text(self) -> str:
        """Return the words, verbatim."""
        ...

    @property
    def char_start(self) -> int | None:
        """Return where it begins in the clean text, None where that is not known."""
        ...

    @property
    def char_end(self) -> int | None:
        """Return the end, likewise."""
        ...

    @property
    def section_path(self) -> tuple[str, ...]:
        """Return the headings above it."""
        ...


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, a row of a table, an item of a list or a caption.

    Args:
        text: verbatim; over two passages where it goes on in the next.
        parts: where it stands: (index of the passage, start, end), half-open, in order.
        run: sentences of one run follow each other in print.
        told: what has to be known to read it: caption and header of a row, lead-in of an item.
        leads: indexes of the sentences that `told` was taken from.
        kind: `row`, `item`, `caption` or `text`.
    """

    text: str
    parts: tuple[tuple[int, int, int], ...]
    run: int
    told: str = ""
    leads: tuple[int, ...] = ()
    kind: str = "text"

    @property
    def read(self) -> str:
        """What searchers read: what is told, and the sentence."""
        words = self.text
        if self.kind == "row":
            words = " ".join(cell for cell in _cells(self.text) if cell)
        return f"{self.told} {words}" if self.told else words


def read_sentences(passages: Sequence[PassageLike], title: str | None = None) -> list[Sentence]:
    """Return the sentences that state something, in the order of the document.

    Titles and headings, rules of tables, references of pictures and publisher's lines are left out.

    Args:
        passages: of one document in its order, without those that state nothing.
        title: of the document.
    """
    names = {_bare(name) for passage in passages for name in passage.section_path}
    names.add(_bare(title or ""))
    found: list[Sentence] = []
    for run, members in enumerate(_runs(passages)):
        text, places = _joined(passages, members)
        leader = _Leader()
        for start, end, column in _stating(text, names):
            words = text[start:end]
            kind, told, leads = leader.read(words, len(found), column)
            found.append(Sentence(words, _parts(places, start, end), run, told, tuple(leads), kind))
    return found


def shown_sentence(sentences: Sequence[Sentence], index: int) -> str:
    """Return a sentence as the model that reads pairs sees it: itself, then what is around it."""
    own = sentences[index]
    around = [
        sentences[near].text[:_TOLD_CHARACTERS]
        for near in (index - 1, index + 1)
        if 0 <= near < len(sentences) and sentences[near].run == own.run
    ]
    return " | ".join(text for text in (own.text, own.told, " … ".join(around)) if text)


class _Leader:
    """Remembers what stands before rows and items while the sentences of a run go by."""

    def __init__(self) -> None:
        self._caption: tuple[int, str] | None = None
        self._header: tuple[int, str] | None = None
        self._lead: tuple[int, str] | None = None
        self._name: tuple[int, str] | None = None
        self._before = ""

    def read(self, words: str, index: int, column: int | None) -> tuple[str, str, list[int]]:
        """Return kind, what is told, and where it stands.

        Args:
            column: of a part of a row; None of all else.
        """
        kind = self._kind(words) if column is None else "row"
        told: list[tuple[int, str]] = []
        if kind == "row":
            if self._before != "row":
                self._header = None
            if not column:
                self._name = None
            told = [one for one in (self._caption, self._header, self._name) if one is not None]
            if column == 0:
                self._name = self._name or (index, " ".join(_cells(words)))
            elif column is None and self._header is None:
                self._header = (index, " ".join(cell for cell in _cells(words) if cell))
        elif kind == "item":
            told = [self._lead] if self._lead is not None else []
        elif kind == "caption":
            self._caption = (index, words)
        else:
            self._caption = self._caption if self._before == "caption" else None
            self._lead = (index, words) if words.rstrip().endswith((":", "：")) else None
        self._before = kind
        return kind, " ".join(one[:_TOLD_CHARACTERS] for _, one in told), [i for i, _ in told]

    @staticmethod
    def _kind(words: str) -> str:
        if _ROW.fullmatch(words):
            return "row"
        if _CAPTION.match(words):
            return "caption"
        return "item" if _ITEM.match(words) else "text"


def _runs(passages: Sequence[PassageLike]) -> Iterator[list[int]]:
    run: list[int] = []
    for index, passage in enumerate(passages):
        before = passages[run[-1]].char_end if run else None
        follows = (
            before is not None
            and passage.char_start is not None
            and 0 <= passage.char_start - before <= _WIDEST_GAP
        )
        if run and not follows:
            yield run
            run = []
        run.append(index)
    if run:
        yield run


def _joined(
    passages: Sequence[PassageLike], members: Sequence[int]
) -> tuple[str, list[tuple[int, int, int]]]:
    """Return the text of a run, and (start in it, length, index) of each passage."""
    text, places, end = "", [], None
    for index in members:
        passage = passages[index]
        if end is not None and passage.char_start is not None:
            text += "\n" * (passage.char_start - end)
        places.append((len(text), len(passage.text), index))
        text += passage.text
        end = passage.char_end
    return text, places


def _parts(
    places: Sequence[tuple[int, int, int]], start: int, end: int
) -> tuple[tuple[int, int, int], ...]:
    first = max(0, bisect_right(places, start, key=lambda place: place[0]) - 1)
    parts = []
    for begin, length, index in places[first:]:
        if begin >= end:
            break
        low, high = max(start - begin, 0), min(end - begin, length)
        if low < high:
            parts.append((index, low, high))
    return tuple(parts)


def _stating(text: str, names: set[str]) -> Iterator[tuple[int, int, int | None]]:
    """Yield start, end and, of a part of a row, its column."""
    for start, end, column in _cut(text):
        begin = start
        for figure in FIGURE.finditer(text, start, end):
            yield from ((*kept, column) for kept in _kept(text, begin, figure.start(), names))
            begin = figure.end()
        yield from ((*kept, column) for kept in _kept(text, begin, end, names))


def _cut(text: str) -> Iterator[tuple[int, int, int | None]]:
    reached = 0
    for row in ROW_LINE.finditer(text):
        yield from _between(text, reached, row.start())
        yield from cut_row(text, row)
        reached = row.end()
    yield from _between(text, reached, len(text))


def _between(text: str, start: int, end: int) -> Iterator[tuple[int, int, None]]:
    for first, last in split_sentences(text[start:end]):
        yield start + first, start + last, None


def _kept(text: str, start: int, end: int, names: set[str]) -> Iterator[tuple[int, int]]:
    words = text[start:end]
    visible = words.strip()
    start += len(words) - len(words.lstrip())
    if (
        sum(map(str.isalnum, visible)) >= _LETTERS
        and not _RULE.fullmatch(visible)
        and _bare(visible) not in names
        and not is_imprint(visible)
    ):
        yield start, start + len(visible)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def _bare(name: str) -> str:
    return " ".join(name.casefold().split()).strip("#*. ")
