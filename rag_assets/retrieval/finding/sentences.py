"""The sentences of a document that can state something, read from its passages once."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, zip_longest
from typing import Protocol

from rag_assets.chunking import split_sentences
from rag_assets.model import FIGURE, HAN_RANGES, count_cjk, count_han, show_row

# How long a text is for a language model.

# About what the tokenizers of small language models make of a text.
_LETTERS_A_TOKEN = 4.3
_TOKENS_A_CHARACTER = 0.75


def text_size(text: str) -> float:
    """Return about how many tokens a text has."""
    characters = count_cjk(text)
    return (len(text) - characters) / _LETTERS_A_TOKEN + characters * _TOKENS_A_CHARACTER


# Lines that a publisher prints about a work: who may copy it, where it lies, when it came.
#
# They share words with questions (a year, a journal, “open access”) and state nothing of what the
# work found, so they are no evidence.

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = (
    rf"(?:\d{{1,2}}\s+{_MONTH},?\s+\d{{4}}|{_MONTH}\s+\d{{1,2}},?\s+\d{{4}}|"
    r"\d{4}[-/.]\d\d?[-/.]\d\d?)"
)
# What a sentence of the work's own does not begin with.
_BEGINS = re.compile(
    rf"\W*(?:issn\b|isbn\b|downloaded from|(?:corresponding authors?|correspondence)\b|e-?mail\b|"
    rf"(?:first )?(?:received|revised|accepted|published|submitted|posted|available)(?: online| in "
    rf"(?:original|revised|final) form)*\s*[:;]?\s*(?:on\s+)?{_DATE}|"
    r"received\b[^.]{0,60}accepted|"
    r"(?:first )?(?:published|printed) by\b.{0,60}$|"
    r"(?:preprint|manuscript)\s+(?:submitted|typeset)\b|"
    r"(?:submitted|accepted)\s+(?:to|by|at)\s+(?:the\s+)?"
    r"(?:\d|[A-Z]).{0,80}\b(?:conference|journal|proceedings|workshop|symposium)\b|"
    r"under review (?:by|at|for|as)\b|(?:appear(?:ing|s)|to appear)\s+in\b.{0,40}proceedings|"
    r"(?:in\s+)?proceedings of the\b.{0,160}(?:\bpages?\b|\bpp\b|(?:19|20)\d\d\W*$|,\s*$)|"
    r"how to cite\b|cite this (?:article|paper|work)|citation\s*:|"
    r"(?:(?:academic|handling|associate|guest|section)\s+)?editors?\s*:|"
    r"(?:edited|reviewed|communicated|handled) by\b.{0,80}$|specialty section|"
    r"prepublication history|to view (?:these files|a copy of this licen[cs]e)|"
    r"see rights and permissions|"
    r"pages?\s+\d+\s*[-–]\s*\d+\b|licen[cs]e\W*$|©|c\u20dd|\(c\)\s*(?:19|20)\d\d|"
    r"copyright\s*(?:©|\(c\)|(?:19|20)\d\d|is\s+held|held\s+by|$)|all rights reserved|"
    r"收稿日期|修[回改订]日期|录用日期|基金项目|作者简介|通[讯信]作者|中图分类号|文献标[识志]码|文章编号|"
    r"引用格式|版权所有|网络首发)",
    re.IGNORECASE,
)
# What stands in one wherever it stands.
_HOLDS = re.compile(
    r"creative commons|\bCC[ -]BY\b|attribution licen[cs]e|\d\.\d international licen[cs]e|"
    r"\bopen[ -]access article\b|permission to make digital|unrestricted use, distribution|"
    r"original work is properly (?:cited|credited)|(?:freely|publicly) available online under\b|"
    r"remains neutral with regard to jurisdictional|licensed under CC\b|"
    r"(?:©|\(c\)|c\u20dd)\s*(?:19|20)\d\d|©\s*(?:the )?authors?|\ball rights reserved\W*$|"
    r"reproduced (?:with|by) permission|\borcid\.org/",
    re.IGNORECASE,
)
# By the words that a line may have beside its addresses to be one: a journal, a name, an institute;
# where data lie in the web is told in a few words more.
_ADDRESSES = (
    (
        re.compile(
            r"(?:\bdoi\b[\s:]*|\barxiv:\s?)\S+(?:\s(?=[\w/.-]*[/.]\w)\S+)?|\b10\.\d{4,9}/\S+|"
            r"[\w.+,|{}\[\]-]{0,80}\s?@[\w-]+(?:\.[\w-]+)+",
            re.IGNORECASE,
        ),
        8,
    ),
    (re.compile(r"(?<![A-Za-z])(?:https?://\s?|www\.)\S+(?:\s[\w-]+[/.]\S*)?", re.IGNORECASE), 3),
)
_WORD = re.compile(rf"[^\W\d_]{{2,}}|[{HAN_RANGES}]")
# Whose address ends with that of an author.
_AFFILIATION = re.compile(
    r"\b(?:universit|institut|laborator|departa?ment|faculty|school of|hospital|college|academy|"
    r"lab\b|research cent)",
    re.IGNORECASE,
)
_MAIL = re.compile(r"@[\w-]+(?:\.[\w-]+)+")


def is_imprint(sentence: str) -> bool:
    """Say whether a sentence is a line of licence, copyright, address, date or citation."""
    line = " ".join(sentence.split())
    if _BEGINS.match(line) or _HOLDS.search(line):
        return True
    if _MAIL.search(line) and _AFFILIATION.search(line):
        return True
    return any(
        address.search(line) and len(_WORD.findall(address.sub(" ", line))) <= most
        for address, most in _ADDRESSES
    )


# Who speaks in a sentence: its authors, or others whom they cite.

_YEAR = r"(?:1[89]|20)\d\d[a-z]?"
_NAME = r"(?:[A-Z][\w'’\-]+|[a-z]{2,3}(?=\s[A-Z]))"
_AUTHORS = rf"{_NAME}(?:,?\s+(?:and|&)\s+{_NAME}|\s+et\s+al\.?,?|,\s*{_NAME}){{1,6}}"
_REFERENCES = (
    re.compile(rf"[(（][^()（）]{{0,200}}\b{_YEAR}\b[^()（）]{{0,200}}[)）]"),
    re.compile(r"\[\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\]"),
    re.compile(rf"\b{_AUTHORS}(?:['’]s?)?\s*,?\s*\b{_YEAR}\b"),
)


def without_references(text: str) -> str:
    """Return a text without `(Author, 2002)`, `Author and Other (2003)` and `[12, 13]`.

    A document does not cite itself: as words of a claim they find nothing in it but noise.
    """
    for mark in _REFERENCES:
        text = mark.sub(" ", text)
    return " ".join(text.split())


def cites_others(sentence: str) -> bool:
    """Say whether a sentence refers to the work of others."""
    return any(mark.search(sentence) for mark in _REFERENCES)


# What of a row of a table is one sentence: all of it, or each of its cells that says something.
#
# A row of values is read whole, under its header. Of a row that holds running text the cells are
# read apart: “wages rose” in one and “rents fell” in the next are two statements.

ROW_LINE = re.compile(r"^[^\S\n]*\|[^\n]*\|[^\S\n]*$", re.MULTILINE)
_BAR = re.compile(r"(?<!\\)\|")
_RULE_BELOW = re.compile(r"\n[^\S\n]*\|(?:[^\S\n]*:?-+:?[^\S\n]*\|)+")
# So many words, or characters of Chinese, say something by themselves.
_FEWEST_WORDS = 6
_FEWEST_HAN = 10
_CELL_WORD = re.compile(r"[^\W\d_]+")


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
    return len(_CELL_WORD.findall(cell)) >= _FEWEST_WORDS or count_han(cell) >= _FEWEST_HAN


# The sentences of a document that can state something, read from its passages once.
#
# Passages are cut where chunks and pages end; a sentence is not. So neighbouring passages are put
# together again before sentences are split, and each sentence knows which passages hold it.

# Between two passages that follow each other stands a line break or a blank line.
_WIDEST_GAP = 2
_ROW = re.compile(r"\|.*\|", re.DOTALL)
_RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+\s*")
# A row as sheets are written: `Tray u46: Weight (g) = 12.4; Count = 3`.
SHEET_ROW = re.compile(r"[^\n=;]{1,200}: [^\n=;]{1,100} = [^\n]*")
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

    @property
    def char_start(self) -> int | None:
        """Return where it begins in the clean text, None where that is not known."""

    @property
    def char_end(self) -> int | None:
        """Return the end, likewise."""

    @property
    def section_path(self) -> tuple[str, ...]:
        """Return the headings above it."""

    @property
    def context(self) -> str:
        """Return what was told before it, in the last line the header of its table; "" is none."""


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
        row: of a row of values, as it is shown: `Tray u46: Weight (g) = 12.4; Count = 3`.
    """

    text: str
    parts: tuple[tuple[int, int, int], ...]
    run: int
    told: str = ""
    leads: tuple[int, ...] = ()
    kind: str = "text"
    row: str = ""

    @property
    def shown(self) -> str:
        """As it is shown: a row of values with the names of its columns, all else verbatim."""
        return self.row or self.text

    @property
    def read(self) -> str:
        """What searchers read: what is told, and the sentence."""
        words = self.shown
        if self.kind == "row" and not self.row:
            words = " ".join(filter(None, _row_cells(self.text)))
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
        leader = _Leader(passages[members[0]].context)
        for start, end, column in _stating(text, names):
            words = text[start:end]
            kind, told, leads, row = leader.read(words, len(found), column)
            parts = _parts(places, start, end)
            found.append(Sentence(words, parts, run, told, tuple(leads), kind, row))
    return found


def shown_sentence(sentences: Sequence[Sentence], index: int) -> str:
    """Return a sentence as the model that reads pairs sees it: itself, then what is around it.

    Other rows say nothing of a row of values.
    """
    own = sentences[index]
    around = [
        sentences[near].text[:_TOLD_CHARACTERS]
        for near in (index - 1, index + 1)
        if not own.row and 0 <= near < len(sentences) and sentences[near].run == own.run
    ]
    return " | ".join(text for text in (own.shown, own.told, " … ".join(around)) if text)


class _Leader:
    """Remembers what stands before rows and items while the sentences of a run go by.

    Args:
        context: of the passage that the run begins with; of a table that goes on from an earlier
            one its last line is the header.
    """

    def __init__(self, context: str) -> None:
        self._caption: tuple[int, str] | None = None
        self._header: tuple[int | None, list[str]] | None = None
        self._lead: tuple[int, str] | None = None
        self._name: tuple[int, str] | None = None
        self._before = ""
        told = context.rpartition("\n")[2].strip()
        if _ROW.fullmatch(told):
            self._header, self._before = (None, _row_cells(told)), "row"

    def read(self, words: str, index: int, column: int | None) -> tuple[str, str, list[int], str]:
        """Return kind, lead-in, the places of the lead-in, and how a row of values is shown.

        Args:
            column: of a part of a row; None of all else.
        """
        kind = self._kind(words) if column is None else "row"
        told: list[tuple[int | None, str]] = []
        row = ""
        if kind == "row" and column is None and not words.startswith("|"):
            told, row = [self._caption] if self._caption is not None else [], words
        elif kind == "row":
            if self._before != "row":
                self._header = None
            if not column:
                self._name = None
            told = [one for one in (self._caption, self._name) if one is not None]
            cells = _row_cells(words)
            if self._header is not None:
                place, names = self._header
                # A row of values is shown with the names of its columns.
                shown = "" if column is None else " ".join(filter(None, names))
                told.insert(self._caption is not None, (place, shown))
            if column == 0:
                self._name = self._name or (index, " ".join(cells))
            elif column is None and self._header is None:
                self._header = (index, cells)
            elif column is None and self._header is not None and any(cells):
                named = zip_longest(self._header[1], cells, fillvalue="")
                row = show_row([one for one in named if one[1]], is_named=bool(cells[0]))
        elif kind == "item":
            told = [self._lead] if self._lead is not None else []
        elif kind == "caption":
            self._caption = (index, words)
        else:
            self._caption = self._caption if self._before == "caption" else None
            self._lead = (index, words) if words.rstrip().endswith((":", "：")) else None
        self._before = kind
        lead = " ".join(text[:_TOLD_CHARACTERS] for _, text in told if text)
        return kind, lead, [place for place, _ in told if place is not None], row

    @staticmethod
    def _kind(words: str) -> str:
        if _ROW.fullmatch(words) or SHEET_ROW.fullmatch(words):
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


def _row_cells(row: str) -> list[str]:
    inner = row.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [" ".join(cell.replace("\\|", "|").split()) for cell in _BAR.split(inner)]


def row_names(sentence: Sentence) -> tuple[str, ...]:
    """Return the cells of a row of values, the one that names it first; none of another sentence.

    Before the name the name of its column may stand: `Sample B7`.
    """
    name, _, rest = sentence.row.partition(": ")
    return (name, *(cell.partition(" = ")[2] for cell in rest.split("; "))) if sentence.row else ()


def _bare(name: str) -> str:
    return " ".join(name.casefold().split()).strip("#*. ")


# Questions are no statements: the words that only ask, and sentences that ask.

# What only asks; "many roofs" is no answer to "how many roofs".
_ASKING = re.compile(
    r"\bhow\s+(?:many|much|often|long|far|old|come)\b|"
    r"\b(?:what|which)\s+(?:kinds?|types?|sorts?)\s+of\b|"
    r"\b(?:please|tell|explain|describe|what|which|who|whom|whose|when|where|why|how)\b|"
    r"为什么|什么时候|什么|多少|怎么样?|怎样|如何|哪一?[个种些类年天]|是否|请问|[吗呢]\s*[？?]?\s*$",
    re.IGNORECASE,
)


def without_asking(question: str) -> str:
    """Return the words of a question that an answer may share; all where it only asks."""
    words = " ".join(_ASKING.sub(" ", without_references(question)).split())
    return words if any(map(str.isalnum, words)) else question


def is_question(sentence: Sentence) -> bool:
    """Say whether a sentence asks; what asks answers nothing."""
    return sentence.text.rstrip(" \"'”’」』)）").endswith(("?", "？"))
