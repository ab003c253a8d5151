"""Where a draft contradicts itself: its tables, its abstract, and references that point nowhere."""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Generic, Literal, TypeVar

from rapidfuzz.distance import OSA

from rag_assets.auditing.draft import Draft, DraftSentence
from rag_assets.judging import read_quantities
from rag_assets.judging.numbers import is_equal, is_spread, named_units, work_out
from rag_assets.judging.quantities import Quantity, Unit, is_year
from rag_assets.judging.words import fold
from rag_assets.model import HAN
from rag_assets.publishing.content_words import content_stems

T = TypeVar("T")
InconsistencyKind = Literal["table", "abstract", "reference"]


@dataclass(frozen=True, slots=True)
class Inconsistency:
    """A place where a draft contradicts itself or points to nothing.

    Args:
        kind: “table”: a number that its own table has otherwise; “abstract”: a number that the
            text has otherwise; “reference”: what is pointed to is not there.
        line: of the sentence, from 1; [start, end) in the draft's text.
        says: the number or reference as it stands.
        other: the number at the other place; empty for a reference. `other_line` is its line,
            `row` and `column` name the cell of a table, `words` are the sentence or row there.
        reason: a sentence for the writer.
        file: of the line, where a draft includes others; `other_file` that of `other_line`.
    """

    kind: InconsistencyKind
    line: int
    start: int
    end: int
    sentence: str
    says: str
    other: str
    other_line: int | None
    row: str
    column: str
    words: str
    reason: str
    file: str = ""
    other_file: str = ""


def find_inconsistencies(draft: Draft) -> tuple[Inconsistency, ...]:
    """Return where a draft contradicts itself or points to nothing, in its order."""
    parts = _Parts(draft)
    found: dict[tuple[int, str], Inconsistency] = {}
    for one in (*_against_tables(parts), *_against_body(parts), *_dangling(parts)):
        # What is not there is said where it is first pointed to.
        place = -1 if one.kind == "reference" else one.start
        found.setdefault((place, one.says), one)
    return tuple(sorted(found.values(), key=lambda one: (one.start, one.says)))


# The parts of a draft: its abstract, its tables with their captions, the numbers of its text.

_ABSTRACT = re.compile(r"\s*(?:abstract|summary|摘\s*要|内容提要)\s*[.:：]?\s*", re.IGNORECASE)
_ABSTRACT_OPENS = re.compile(
    r"(?:(?i:abstract)\s?[.:—–-]|ABSTRACT\b|Abstract\s(?=[A-Z])|摘\s*要\s*[:：])"
)
_ABSTRACT_ENDS = re.compile(r"\s*(?:key\s?words|index terms|关键词|关键字)", re.IGNORECASE)
_FIRST_SENTENCES = 150  # among which an abstract is looked for
_NUMBER = r"\d{1,3}(?:[.-]\d{1,2}){0,2}"
_CAPTION = re.compile(
    rf"\s*(?:(?P<table>tables?|tab\.|表)|figures?|figs?\.?|图)\s*(?P<number>{_NUMBER})(?![\d%])",
    re.IGNORECASE,
)
# “Tables 2 and 3”, 表2、图3; 代表3个 and 地图2 are words.
_POINTER = re.compile(
    r"(?:(?P<table>(?<![A-Za-z])(?:tables?|tab\.)|(?<![代列发图报年])表)"
    r"|(?<![A-Za-z])(?:figures?|figs?\.?)|(?<![地意插])图)\s*"
    rf"(?P<numbers>{_NUMBER}(?:[a-z]\b)?(?:\s?(?:,|、|，|and|&|和|与|及)\s?{_NUMBER}(?!\.?\d|%))*)"
    r"(?!\.?\d|%)",
    re.IGNORECASE,
)
_ONE_NUMBER = re.compile(_NUMBER)
_IN_PARENTHESES = re.compile(r"[(（\[][^()（）\[\]]*[)）\]]")
_TOKEN = re.compile(r"[^\W_]+")
# Where something is numbered, and no quantity.
_PLACE_BEFORE = re.compile(
    r"(?:\b(?:tables?|tab|figures?|figs?|sections?|sect?|chapters?|equations?|eqs?|refs?|no|pp?|vol"
    r"|appendix|algorithm|theorem|lemma|version|page)\.?\s?(?:\d[\d.]*\s?(?:,|and|-|–)\s?)?[(]?"
    r"|[表图式第])$",
    re.IGNORECASE,
)
# More numbers than that, or less than two words a number, are a table that lost its lines.
_MOST_NUMBERS = 15
_NOT_COMPARED = frozenset({"year", "date", "month", "day of month", "ordinal", "decade", "p value"})


def _numbers(text: str) -> list[Quantity]:
    """Return the numbers of a sentence that measure or count something."""
    return [
        q
        for q in read_quantities(text)
        if q.unit.kind not in _NOT_COMPARED
        and not is_year(q)
        and not _PLACE_BEFORE.search(text[max(0, q.start - 20) : q.start])
    ]


def _is_data(text: str) -> bool:
    """Say whether a paragraph is a table that lost its lines."""
    numbers = read_quantities(text)
    return len(numbers) > _MOST_NUMBERS or len(content_stems(text)) < 2 * len(numbers)


def _same(own: Quantity, other: Quantity) -> bool:
    """Say whether two numbers of one draft are one, rounded or in another unit."""
    if is_equal(own, other) or is_equal(other, own):
        return True
    if own.unit.kind and other.unit.kind:
        return False
    # A cell has its unit in the head of its column, or nowhere.
    a, b = (replace(q, unit=_BARE, value=q.raw, step=q.step * q.raw / (q.value or 1), bound=0,
                    role="", trend=0) for q in (own, other))  # fmt: skip
    return is_equal(a, b) or is_equal(b, a)


_BARE = Unit("", "", 1)
# How far two numbers may be apart that are one: rounded to two places, or called about so.
_ROUNDED = 0.06
_FAR = 0.25


@dataclass(frozen=True, slots=True)
class _Cell:
    table: str
    row: str
    column: str
    place: int
    number: Quantity
    units: tuple[Unit, ...]  # that its row and column name
    is_spread: bool
    line: int
    file: str
    words: str


@dataclass(frozen=True, slots=True)
class _Table:
    number: str
    cells: tuple[_Cell, ...]


class _Parts:
    """A draft by its parts."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.abstract = _find_abstract(draft)
        starts = {sentence.start for sentence in self.abstract}
        self.prose = [s for s in draft.all_sentences if s.kind == "paragraph" and not s.is_listed]
        self.body = [s for s in self.prose if s.start not in starts]

    @cached_property
    def captions(self) -> Mapping[str, Mapping[str, DraftSentence]]:
        """Return what begins with “Table 2”, by kind and number."""
        found: dict[str, dict[str, DraftSentence]] = {"table": {}, "figure": {}}
        last = -1
        for sentence in self.draft.all_sentences:
            is_first, last = sentence.block != last, sentence.block
            if is_first and (match := _CAPTION.match(sentence.claim or sentence.text)):
                kind = "table" if match["table"] else "figure"
                found[kind].setdefault(match["number"].replace("-", "."), sentence)
        return found

    @cached_property
    def tables(self) -> tuple[_Table, ...]:
        """Return the tables, each with the number of the caption above or below it."""
        every = self.draft.all_sentences
        by_block = {s.block: number for number, s in self.captions["table"].items()}
        rows: list[list[DraftSentence]] = []
        for sentence in every:
            if sentence.kind == "row":
                if not rows or sentence.block > rows[-1][-1].block + 1:
                    rows.append([])
                rows[-1].append(sentence)
        tables = []
        for place, table in enumerate(rows, start=1):
            near = (table[0].block - 1, table[-1].block + 1, table[0].block - 2)
            number = next((by_block[b] for b in near if b in by_block), "")
            number = number or ("" if by_block else str(place))
            tables.append(_Table(number, tuple(_cells(number, table))))
        return tuple(tables)

    def tables_of(self, sentence: DraftSentence) -> tuple[list[_Table], bool]:
        """Return the tables that a sentence points to, or else the one before in its paragraph,
        and whether it is the sentence itself that does.
        """
        near = [s for s in self.prose if s.block == sentence.block and s.start <= sentence.start]
        for one in reversed(near):
            numbers = {number for kind, number, _ in _pointers(one.claim) if kind == "table"}
            if numbers:
                return [t for t in self.tables if t.number in numbers], one is sentence
        return [], False

    @cached_property
    def cells(self) -> "_Values[_Cell]":
        """Return the cells of all tables by their numbers."""
        return _Values([(c.number, c) for table in self.tables for c in table.cells])

    @cached_property
    def numbers(self) -> list[tuple[DraftSentence, Quantity]]:
        """Return the numbers of the body's sentences."""
        return [(s, q) for s in self.body if not _is_data(s.claim) for q in _numbers(s.claim)]

    @cached_property
    def stated(self) -> "_Values[str]":
        """Return everything but the abstract by its numbers."""
        others = [s for s in self.draft.all_sentences if s.kind != "paragraph"]
        return _Values([(q, s.claim) for s in (*self.body, *others)
                        for q in read_quantities(s.claim)])  # fmt: skip

    def says(self, text: str, own: Quantity) -> bool:
        """Say whether the body has a number of the abstract, of the same thing as it seems."""
        near, whole = _around(text, own), content_stems(text)
        return any(
            not near or near & words or len(whole & words) >= _FEWEST_SHARED
            for words in map(content_stems, self.stated.equal_to(own))
        )


class _Values(Generic[T]):
    """Things by their numbers: finds those that a number of the same draft repeats."""

    def __init__(self, items: Sequence[tuple[Quantity, T]]) -> None:
        self._items = items
        # As written, as a share of one where percent are meant, and in the base unit.
        keys = [
            (abs(value), place)
            for place, (q, _) in enumerate(items)
            for value in {q.raw, q.raw * 100, q.raw / 100, q.value}
        ]
        self._keys = sorted(keys)

    def equal_to(self, own: Quantity) -> list[T]:
        """Return what has this number, rounded or converted at most."""
        far = _FAR if own.bound or own.is_about else _ROUNDED
        places = {
            place
            for value in {abs(own.raw), abs(own.value)}
            for _, place in self._keys[
                bisect_left(self._keys, (value * (1 - far), -1)) : bisect_right(
                    self._keys, (value * (1 + far), len(self._items))
                )
            ]
        }
        return [self._items[p][1] for p in sorted(places) if _same(own, self._items[p][0])]


def _find_abstract(draft: Draft) -> list[DraftSentence]:
    """Return what stands below the heading “Abstract”, or the paragraph that begins so."""
    found: list[DraftSentence] = []
    level, block = 0, -1
    for sentence in draft.all_sentences[:_FIRST_SENTENCES]:
        is_heading = sentence.kind == "heading"
        if level and is_heading and _level(draft, sentence) > level:
            continue  # “Background”, “Results”: its parts
        if not level and is_heading and _ABSTRACT.fullmatch(sentence.claim):
            level = _level(draft, sentence)
        elif not (found or level or is_heading) and _ABSTRACT_OPENS.match(sentence.claim):
            block = sentence.block
            found.append(sentence)
        elif sentence.kind == "paragraph" and not _ABSTRACT_ENDS.match(sentence.claim):
            if level or sentence.block == block:
                found.append(sentence)
        elif found:
            break
    return found


def _level(draft: Draft, heading: DraftSentence) -> int:
    line = draft.text.rfind("\n", 0, heading.start) + 1
    return draft.text.count("#", line, heading.start) or 1


_LETTERS = re.compile(r"[^\W\d_]{2}")


def _cells(table: str, rows: Sequence[DraftSentence]) -> Iterator[_Cell]:
    head = [cell.strip() for cell in rows[0].text.strip().strip("|").split("|")]
    for row in rows[1:]:
        cells = [cell.strip() for cell in row.text.strip().strip("|").split("|")]
        # Of “3 | Camphor | 25.1” the name is the second cell.
        name = next((cell for cell in cells if _LETTERS.search(cell)), cells[0])
        for place, cell in enumerate(cells[1:], start=1):
            column = head[place] if place < len(head) else ""
            units = tuple(named_units(f"{column} {cells[0]}"))
            folded = fold(cell)
            for number in read_quantities(cell):
                spread = is_spread(folded, number)
                yield _Cell(
                    table, name, column, place, number, units, spread, row.line, row.file,
                    row.claim,
                )  # fmt: skip


@lru_cache(maxsize=20_000)
def _flat(text: str) -> str:
    return f" {' '.join(_TOKEN.findall(fold(text)))} "


def _names(text: str, name: str) -> bool:
    """Say whether a sentence names a row or column; digits and single letters name nothing."""
    words = _flat(_IN_PARENTHESES.sub(" ", name))
    if HAN.search(words):
        return len(words) > len(" 中 ") and words.replace(" ", "") in _flat(text).replace(" ", "")
    return len(words.strip()) > 1 and any(map(str.isalpha, words)) and words in _flat(text)


# A number that the draft's own table has otherwise.

# A digit more, less, other or exchanged says something from three digits on.
_FEWEST_DIGITS = 3
# How far a number may be from the cell that it should repeat, where the cell is named (relative).
_NEAR = 0.2
# What speaks for a cell: two each for its row and its column that are named, one each for other
# numbers of its row, of its column, and for the table that is pointed to.
_ENOUGH = 3
_ENOUGH_WITH_DECIMALS = 2
_ENOUGH_NEAR = 4
_EQUALS = re.compile(r"[=<>≤≥]\s*$")


def _against_tables(parts: _Parts) -> Iterator[Inconsistency]:
    for sentence in parts.prose:
        text = sentence.claim
        numbers = [q for q in _numbers(text) if not is_spread(fold(text), q)]
        pointed, is_own = parts.tables_of(sentence)
        if not numbers or _is_data(text) or (sentence.citations and not is_own):
            continue
        same = {q: parts.cells.equal_to(q) for q in numbers}
        told = [cell for q, cells in same.items() if _digits(q) >= 2 for cell in cells]
        plain = _POINTER.sub(" ", text)
        for own in numbers:
            if same[own] or own.bound or _EQUALS.search(text[: own.start]):
                continue
            cell = _rival_cell(text, own, told, pointed or parts.tables, is_own + bool(pointed))
            if cell is None:
                continue
            # From the other numbers of the sentence or of the row it may follow.
            made = (*work_out(plain.replace(own.text, " ")), *work_out(cell.words))
            if not any(_same(own, q) for q in made):
                table = f"Table {cell.table}" if cell.table else "the table"
                where = f"“{cell.row}”" + (f", “{cell.column}”" if cell.column else "")
                yield Inconsistency(
                    "table", sentence.line, sentence.start, sentence.end, sentence.text,
                    own.text, cell.number.text, cell.line, cell.row, cell.column, cell.words,
                    f"The sentence says {own.text}; {table} has {cell.number.text} for {where}.",
                    sentence.file, cell.file,
                )  # fmt: skip


def _rival_cell(
    text: str,
    own: Quantity,
    told: Sequence[_Cell],
    tables: Sequence[_Table],
    pointed: int,
) -> _Cell | None:
    """Return the cell that a number of a sentence should repeat; None where that is not clear.

    Its row and column are named, or its row is, or other numbers are those of its row, and it
    differs by one digit.

    Args:
        told: the cells that other numbers of the sentence repeat.
        tables: those that are pointed to, or all.
    """
    found = []
    for table in tables:
        here = [cell for cell in told if cell.table == table.number]
        rows, columns = {cell.line for cell in here}, {cell.place for cell in here}
        for cell in table.cells:
            if cell in told or cell.is_spread or not _is_alike(own, cell):
                continue
            is_slip, is_near = _is_slip(own, cell.number), _is_near(own, cell.number)
            if not (is_slip or is_near):
                continue
            row, column = _names(text, cell.row), _names(text, cell.column)
            is_beside, is_below = cell.line in rows, cell.place in columns
            weight = 2 * row + 2 * column + is_beside + is_below + pointed
            enough = _ENOUGH_WITH_DECIMALS if _places(own) else _ENOUGH
            enough = enough if is_slip else _ENOUGH_NEAR
            if (row or is_beside or pointed > 1) and weight >= enough:
                found.append((is_slip, weight, cell))
    best = max((each[:2] for each in found), default=None)
    named = {cell.number.raw: cell for *rank, cell in found if tuple(rank) == best}
    return next(iter(named.values())) if len(named) == 1 else None


def _is_alike(own: Quantity, cell: _Cell) -> bool:
    """Say whether a cell may hold what a number measures, by its unit and its decimals."""
    kinds = {cell.number.unit.kind} - {""} or {unit.kind for unit in cell.units}
    is_unit = not own.unit.kind or not kinds or own.unit.kind in kinds
    is_bare = not kinds and own.unit.kind not in {"", "share", "persons"}
    return is_unit and not is_bare and _places(own) <= _places(cell.number)


def _is_near(own: Quantity, other: Quantity) -> bool:
    return _digits(own) >= 2 and abs(own.raw - other.raw) <= _NEAR * abs(other.raw)


def _digits(number: Quantity) -> int:
    return sum(c.isdigit() for c in f"{number.raw:.{_places(number)}f}".lstrip("0."))


def _places(number: Quantity) -> int:
    """Return how many decimals a number has."""
    step = number.step * (number.raw / number.value if number.value else 1)
    return max(0, -math.floor(math.log10(abs(step)) + 1e-9)) if step else 0


def _is_slip(own: Quantity, other: Quantity) -> bool:
    """Say whether two numbers differ by one digit that is another, missing, added or exchanged."""
    places = _places(own)
    if bool(places) != bool(_places(other)):
        return False
    a, b = (f"{q.raw:.{places}f}".replace(".", "") for q in (own, other))
    return _digits(own) >= _FEWEST_DIGITS and OSA.distance(a, b) == 1


# A number of the abstract that the text has otherwise.

# Of the words around the number, as many as both places have at least, and their share.
_FEWEST_SHARED = 3
_SHARED = 0.6
# Fewer will do where the sentences are alike: so many words, and half of the shorter one's.
_FEWEST_IN_ALL = 5
_HALF = 0.5
_NEARLY_ALL = 0.8
_ROUND = 50  # 1000 and 250 are chosen, not measured


def _against_body(parts: _Parts) -> Iterator[Inconsistency]:
    if not parts.body:
        return
    said = _Values([(q, q) for s in parts.abstract for q in read_quantities(s.claim)])
    for sentence in parts.abstract:
        for own in _numbers(sentence.claim):
            if sentence.citations or parts.says(sentence.claim, own):
                continue
            rivals = [
                (likeness, -place, one, other)
                for place, (one, other) in enumerate(parts.numbers)
                if (own.unit.kind, own.bound) == (other.unit.kind, other.bound)
                and (_places(own) > 0) == (_places(other) > 0)
                and (likeness := _likeness(sentence.claim, own, one.claim, other))
                and not said.equal_to(other)
            ]
            if rivals:
                _, _, one, other = max(rivals, key=lambda each: each[:2])
                yield Inconsistency(
                    "abstract", sentence.line, sentence.start, sentence.end, sentence.text,
                    own.text, other.text, one.line, "", "", one.text,
                    f"The abstract says {own.text}; the text never does, but has {other.text}.",
                    sentence.file, one.file,
                )  # fmt: skip


def _likeness(text: str, own: Quantity, other_text: str, other: Quantity) -> float:
    """Return how surely two numbers are of one thing; 0 where they are not.

    The words around them are the same; or the sentences are, word for word or by their other
    numbers.
    """
    is_slip = _is_slip(own, other)
    near, other_near = _around(text, own), _around(other_text, other)
    whole, other_whole = content_stems(text), content_stems(other_text)
    shared, shared_in_all = len(near & other_near), len(whole & other_whole)
    least = min(len(whole), len(other_whole))
    likeness = is_slip + shared_in_all / max(len(whole | other_whole), 1)
    if is_slip and _distinct(text, own) & _distinct(other_text, other):
        return likeness
    if not shared or shared < _SHARED * min(len(near), len(other_near)):
        return 0.0
    if shared_in_all >= max(_FEWEST_IN_ALL, _NEARLY_ALL * max(len(whole), len(other_whole))):
        return 1 + likeness
    is_told = shared >= _FEWEST_SHARED or shared_in_all >= max(_FEWEST_IN_ALL, _HALF * least)
    return likeness if is_told and (is_slip or _is_near(own, other)) else 0.0


def _distinct(text: str, number: Quantity) -> frozenset[float]:
    """Return the other numbers of a sentence that hardly stand elsewhere by chance."""
    others = (q for q in _numbers(text) if q != number and _digits(q) >= _FEWEST_DIGITS)
    return frozenset(abs(q.raw) for q in others if q.raw % _ROUND)


@lru_cache(maxsize=20_000)
def _around(text: str, number: Quantity) -> frozenset[str]:
    """Return the words of the clause of a number, up to its neighbours of the same kind."""
    others = [q for q in read_quantities(text) if q.unit.kind == number.unit.kind]
    start = max((q.end for q in others if q.end <= number.start), default=0)
    end = min((q.start for q in others if q.start >= number.end), default=len(text))
    words = content_stems(f"{text[start : number.start]} {text[number.end : end]}")
    return frozenset(w for w in words if not any(c.isdigit() for c in w))


# References that point to nothing.

_REF = re.compile(
    r"\\(?:[cC]|auto|page|name|eq|v)?ref\*?\{(?P<keys>[^{}]+)\}|\\@ref\((?P<key>[^()\s]+)\)"
)
_LABEL = re.compile(
    r"\\label\{([^{}]+)\}|\{#([\w:.-]+)|#\|\s*label:\s*([\w:.-]+)|\(\\?#([\w:.-]+)\)"
    r"|```\{\w+[ ,]+([\w:-]+)|\blabel\s*=\s*[\"']?([\w:.-]+)|\bid=[\"']([\w:.-]+)"
)
_MENTION = re.compile(
    r"(?<![\w\\])@(?P<key>(?:fig|tbl|tab|eq|sec|lst|thm|lem|def|alg)[:-][\w:-]*\w)", re.IGNORECASE
)
_UNKNOWN = re.compile(
    r"(?:\b(?:tables?|figures?|figs?\.|sections?|chapters?|equations?|eqs?\.|appendix|algorithms?"
    r"|theorems?|lemmas?)\s?|[表图式第])\(?\?\?+",
    re.IGNORECASE,
)
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_ELSEWHERE = re.compile(
    r"\s*(?:[a-z]\b)?\)?,?\s*(?:(?:of|in|from|by)\b|\[|\(?[A-Z][a-z]+ et al|中的)",
    re.IGNORECASE,
)
_NOT_OURS = re.compile(
    r"(?:supplement\w*|supporting information|online|extended data|their|his|her|additional"
    r"|appendix|ESM|SI|附录?)\s*$",
    re.IGNORECASE,
)
_SECTION = re.compile(
    r"(?<![A-Za-z])(?:sections?|sect?\.|§)\s?(?P<number>[1-9]\d?(?:\.\d{1,2}){0,3})(?!\.?\d|%)"
    r"|第?\s?(?P<zh>[1-9]\d?(?:\.\d{1,2}){1,3})\s?小?节",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"\s*(?:section|chapter|第)?\s*(\d{1,2}(?:\.\d{1,2}){0,3})(?:[.、章节]|\s|$)", re.IGNORECASE
)
_FEWEST_NUMBERED = 3
_MOST_LISTED = 12


def _dangling(parts: _Parts) -> Iterator[Inconsistency]:
    text = parts.draft.text
    labels = {name for match in _LABEL.finditer(text) for name in match.groups() if name}
    headings = [s.claim for s in parts.draft.all_sentences if s.kind == "heading"]
    numbered = frozenset(match[1] for one in headings if (match := _HEADING.match(one)))
    for sentence in parts.prose:
        written = _INLINE_CODE.sub(" ", text[sentence.start : sentence.end])
        for match in (*_REF.finditer(written), *_MENTION.finditer(written)):
            for key in map(str.strip, match[match.lastindex or 0].split(",")):
                if key not in labels:
                    what = f"The draft has no label “{key}”"
                    yield _points_nowhere(sentence, match.group(), what)
        for match in _UNKNOWN.finditer(written):
            yield _points_nowhere(sentence, match.group(), "The label behind “??” was not found")
        yield from _without_caption(sentence, parts)
        if not any(sentence.claim.startswith(heading) for heading in headings):  # of its contents
            yield from _without_heading(sentence, numbered)


def _points_nowhere(sentence: DraftSentence, says: str, what: str) -> Inconsistency:
    return Inconsistency(
        "reference", sentence.line, sentence.start, sentence.end, sentence.text, says, "", None,
        "", "", "", f"{what}.", sentence.file,
    )  # fmt: skip


def _without_caption(sentence: DraftSentence, parts: _Parts) -> Iterator[Inconsistency]:
    for kind, number, match in _pointers(sentence.claim):
        captions = parts.captions[kind]
        # Where captions count by chapters, another number counts something else.
        is_alike = {one.count(".") for one in captions} == {number.count(".")}
        if is_alike and number not in captions and not _is_elsewhere(sentence.claim, match):
            there = ", ".join([*captions][:_MOST_LISTED])
            what = f"No caption says {kind} {number}; the draft has {there}"
            yield _points_nowhere(sentence, match.group(), what)


def _pointers(text: str) -> Iterator[tuple[str, str, re.Match[str]]]:
    for match in _POINTER.finditer(text):
        kind = "table" if match["table"] else "figure"
        for one in _ONE_NUMBER.findall(match["numbers"]):
            yield kind, one.replace("-", "."), match


def _is_elsewhere(text: str, match: re.Match[str]) -> bool:
    """Say whether a table or section is one of another document."""
    return bool(_ELSEWHERE.match(text, match.end()) or _NOT_OURS.search(text[: match.start()]))


def _key(number: str) -> tuple[int, ...]:
    return tuple(map(int, number.split(".")))


def _without_heading(sentence: DraftSentence, numbered: frozenset[str]) -> Iterator[Inconsistency]:
    for match in _SECTION.finditer(sentence.claim):
        number = match["number"] or match["zh"]
        parent, _, _ = number.rpartition(".")
        siblings = [n for n in numbered if n.rpartition(".")[0] == parent]
        if (
            number in numbered
            or len(numbered) < _FEWEST_NUMBERED
            or len(siblings) < 2
            or _key(number) < max(map(_key, siblings))  # of a heading in between the number is lost
            or (parent and parent not in numbered)
            or _is_elsewhere(sentence.claim, match)
        ):
            continue
        yield _points_nowhere(sentence, match.group(), f"No heading has the number {number}")
