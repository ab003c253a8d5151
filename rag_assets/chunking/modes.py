"""The modes of chunking: what each makes of a document.

A mode is an entry of `MODES`, its name in `settings.ChunkMode`, and its own settings, if
it has any, a section of `ChunkSettings`. Nothing else asks which mode it is.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Protocol

from rag_assets.chunking.context import Part, PartsOf, headings_above, headings_and_header
from rag_assets.chunking.dividing import ParentDivider, Passage, passage_sizes, piece_sizes
from rag_assets.chunking.parents import pages_or_sections, parents_of_spans
from rag_assets.chunking.sentences import (
    Outline,
    Pair,
    Span,
    TokenCounter,
    Tokenizer,
    next_visible,
    read_outline,
    trim,
)
from rag_assets.law.metadata import LAW_FACTS_VERSION, read_facts
from rag_assets.law.structure import (
    FULL_AND_MOST,
    PATH_SEPARATOR,
    Group,
    LawText,
    Unit,
    UnitKind,
    merge_units,
    read_laws,
)
from rag_assets.law.versions import LAWS_KEY
from rag_assets.model import Article, Block, Parent, ParsedDocument, Section, SectionCategory
from rag_assets.model.settings import ChunkMode, ChunkSettings

_MARKS = r"[ \t]*(?:[-*+•>][ \t]+|#{1,6}[ \t]+|\d{1,3}[.)、][ \t]*)?(?:\*\*|__)?"
_NUMBER = r"[ \t]?\d{0,3}(?:\*\*|__)?[ \t]*[:：.、](?:\*\*|__)?[ \t]*"
_QUESTION = re.compile(
    rf"^{_MARKS}(?:Q|Question|问题?|問題?){_NUMBER}(?=\S)", re.IGNORECASE | re.MULTILINE
)
_ANSWER = re.compile(
    rf"^{_MARKS}(?:A|Ans|Answer|答案?|回答){_NUMBER}(?=\S|\n)", re.IGNORECASE | re.MULTILINE
)
_NAMES_OF_QUESTION = frozenset({"q", "question", "questions", "问", "问题", "問題"})
_NAMES_OF_ANSWER = frozenset({"a", "answer", "answers", "答", "答案", "回答"})
_ENDS_QUESTION = re.compile(r"[?？][\"'”’」』）)*_\s]*$")
_CELL_END = re.compile(r"(?<!\\)\|")
_RULE_ROW = re.compile(r"\s*\|?(?:\s*:?-+:?\s*\|?)+\s*")
# Columns of a row as sheets write it: `row: column = value; column = value`. The first may name it.
_COLUMN = r"(?:^|[;；:：])\s*{}[ *_]*="
_ANY_COLUMN = re.compile(_COLUMN.format(r"[^:：;；=\n]{1,40}"))
_QUESTIONS, _ANSWERS = (
    f"(?:{'|'.join(map(re.escape, sorted(names)))})"
    for names in (_NAMES_OF_QUESTION, _NAMES_OF_ANSWER)
)
_COLUMN_OF_QUESTION = re.compile(
    rf"^{_QUESTIONS} (?!=)|{_COLUMN.format(_QUESTIONS)}", re.IGNORECASE
)
_COLUMN_OF_ANSWER = re.compile(_COLUMN.format(_ANSWERS), re.IGNORECASE)


def find_pairs(document: ParsedDocument) -> tuple[Pair, ...]:
    """Return the questions with answers of a document, in order and disjoint.

    They are: text from `Q:` (`Question:`, `问：` …) with an `A:` (`Answer:`, `答：` …) up to the
    next one or the end of its section; a section whose heading ends with a question mark; rows of
    a table or sheet that has a column of questions and one of answers by its header, or of a
    table of two columns whose first cells are questions. What lies in a marked pair is not
    looked at again.
    """
    text = document.text
    bounds = [(section.start, section.end) for section in document.sections] or [(0, len(text))]
    marked = [pair for start, end in bounds for pair in _marked_pairs(text, start, end)]
    tables = [pair for block in document.blocks for pair in _pairs_of_block(text, block)]
    pairs = _without_overlap([*marked, *_free(tables, marked)])
    return tuple(_without_overlap([*pairs, *_free(_asking_sections(document), pairs)]))


def _free(candidates: Sequence[Pair], taken: Sequence[Pair]) -> list[Pair]:
    """Return the candidates that touch none of `taken`, which is in order and disjoint."""
    ends = [pair.end for pair in taken]
    free = []
    for pair in candidates:
        index = bisect_left(ends, pair.start + 1)
        if index == len(taken) or taken[index].start >= pair.end:
            free.append(pair)
    return free


def _without_overlap(pairs: Sequence[Pair]) -> list[Pair]:
    kept: list[Pair] = []
    for pair in sorted(pairs, key=lambda pair: pair.start):
        if not kept or kept[-1].end <= pair.start:
            kept.append(pair)
    return kept


def _marked_pairs(text: str, start: int, end: int) -> Iterator[Pair]:
    marks = list(_QUESTION.finditer(text, start, end))
    for index, mark in enumerate(marks):
        stop = marks[index + 1].start() if index + 1 < len(marks) else end
        answer = _ANSWER.search(text, mark.end(), stop)
        if answer is None or next_visible(text, answer.end()) >= stop:
            continue
        question = _on_one_line(text[mark.end() : answer.start()])
        first, last = trim(text, mark.start(), stop)
        if question:
            yield Pair(first, last, question)


def _asking_sections(document: ParsedDocument) -> list[Pair]:
    text = document.text
    headings = {block.start: block.end for block in document.blocks if block.kind == "heading"}
    pairs = []
    for section in document.sections:
        end = headings.get(section.start)
        if end is None or not _ENDS_QUESTION.search(section.title):
            continue
        if next_visible(text, end) < section.end:
            first, last = trim(text, section.start, section.end)
            pairs.append(Pair(first, last, section.title.strip(" *_")))
    return pairs


def _pairs_of_block(text: str, block: Block) -> list[Pair]:
    if block.kind == "table":
        rows: list[tuple[Span, list[str]]] = []
        start = block.start
        for line in text[block.start : block.end].split("\n"):
            if line.strip():
                rows.append((trim(text, start, start + len(line)), _cells(line)))
            start += len(line) + 1
        has_header = len(rows) > 1 and _RULE_ROW.fullmatch(text[slice(*rows[1][0])]) is not None
        body = [(span, cells) for span, cells in (rows[2:] if has_header else rows) if any(cells)]
        columns = _asking_columns(rows[0][1]) if has_header else None
        if columns is None:
            asking = sum(bool(_ENDS_QUESTION.search(cells[0])) for _, cells in body)
            if any(len(cells) != 2 for _, cells in body) or 2 * asking <= len(body):
                return []
            columns = 0, 1
        question, answer = columns
        # A header row alone answers nothing: it stays with the first pair.
        heads = {body[0][0]: rows[0][0][0]} if body and has_header else {}
        return [
            Pair(heads.get(span, span[0]), span[1], _on_one_line(cells[question]))
            for span, cells in body
            if len(cells) > max(columns) and cells[question] and cells[answer]
        ]
    return _pair_of_row(text, block) if block.kind == "row" else []


def _pair_of_row(text: str, block: Block) -> list[Pair]:
    row = text[block.start : block.end]
    question = _COLUMN_OF_QUESTION.search(row)
    answer = _COLUMN_OF_ANSWER.search(row, question.end()) if question else None
    if question is None or answer is None or not row[answer.end() :].strip():
        return []
    following = _ANY_COLUMN.search(row, question.end(), answer.start())
    asked = _on_one_line(row[question.end() : (following or answer).start()])
    return [Pair(*trim(text, block.start, block.end), asked)] if asked else []


def _asking_columns(header: Sequence[str]) -> tuple[int, int] | None:
    """Return which columns hold the questions and the answers, None where the header says not."""
    names = [name.strip(" *_").lower() for name in header]
    question = next((at for at, name in enumerate(names) if name in _NAMES_OF_QUESTION), None)
    answer = next((at for at, name in enumerate(names) if name in _NAMES_OF_ANSWER), None)
    return None if question is None or answer is None else (question, answer)


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return [cell.replace("\\|", "|").strip() for cell in _CELL_END.split(inner)]


def _on_one_line(text: str) -> str:
    return " ".join(text.strip().strip("*_").split())


_SOURCE_WORTH = 1
# What two texts may have more as one than apart.
_JOINING_TOKENS = 2
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_HEADING_MARKS = "#*_ \t\r\u3000\u200b\ufeff"


def read_law_outline(document: ParsedDocument) -> Outline:
    """Return the outline of a document, its sections those of the laws that it holds."""
    laws = read_laws(document.text)
    sections = tuple(_sections(document.text, laws))
    known = replace(document, sections=sections) if sections else document
    return replace(read_outline(known), laws=laws)


def _sections(text: str, laws: Sequence[LawText]) -> Iterator[Section]:
    """Yield a section for each run of units with one path; level lines begin the next one."""
    order = start = 0
    for law in laws:
        for path, units in groupby(_placed(law), key=lambda one: one[0]):
            end = [unit for _, unit in units][-1].end
            title = path[-1] if path else ""
            level = max(0, len(path) - 1)
            yield Section(order, title, level, path, SectionCategory.OTHER, start, end)
            order, start = order + 1, end
    if start < len(text):
        yield Section(order, "", 0, (), SectionCategory.OTHER, start, len(text))


def _placed(law: LawText) -> Iterator[tuple[tuple[str, ...], Unit]]:
    """Yield each unit with its path; level lines have that of the unit that they lead to."""
    waiting: list[Unit] = []
    for unit in law.units:
        if unit.kind is UnitKind.LEVELS:
            waiting.append(unit)
            continue
        for one in (*waiting, unit):
            yield unit.path, one
        waiting.clear()
    yield from (((), unit) for unit in waiting)


def merged_units(
    outline: Outline, settings: ChunkSettings, count: TokenCounter
) -> Iterator[Parent]:
    """Yield the merged units of a document as its parents, `s000` and so on.

    Args:
        outline: by `read_law_outline`.
        settings: `law`.
        count: not needed: the soft limit counts characters.
    """
    del count
    text = outline.document.text
    spans = (trim(text, group.start, group.end) for group in _groups(outline, settings))
    return parents_of_spans(outline, "s", (span for span in spans if span[0] < span[1]))


def _groups(outline: Outline, settings: ChunkSettings) -> Iterator[Group]:
    text, law = outline.document.text, settings.law
    least, most = law.fallback
    for one in outline.laws:
        yield from merge_units(
            text,
            one.units,
            soft_limit=law.soft_limit,
            fallback=(least, most),
            is_searched=law.search_unit == "merged",
        )


class StatuteDivider:
    """Divides the merged units of a document into what is searched: articles, or as many of them
    as the model reads at once. The header of each passage is counted before.
    """

    def __init__(self, outline: Outline, settings: ChunkSettings, tokenizer: Tokenizer) -> None:
        self._outline, self._settings, self._tokenizer = outline, settings, tokenizer
        self._text = outline.document.text
        self._is_merged = settings.law.search_unit == "merged"
        self._groups = {
            next_visible(self._text, group.start): group for group in _groups(outline, settings)
        }
        self._rooms: dict[str, int] = {}

    def divide(self, parent: Parent) -> Iterator[Passage]:
        """Yield the passages of a parent in order."""
        group = self._groups[parent.char_start]
        is_heading = group.kind is UnitKind.LEVELS or self._is_title(group)
        # The tokens that the model reads of a passage below its header.
        whole = Passage(parent, parent.char_start, parent.char_end, self._tokenizer.limit)
        ((_, _, header),) = law_and_path(self._outline, whole, self._settings)
        if header not in self._rooms:
            counted = self._tokenizer.count([f"{header}\n"])[0] + _JOINING_TOKENS
            limit = self._tokenizer.limit
            # A model that reads less than two headers is not told any: see `tell`.
            self._rooms[header] = limit - counted if 2 * counted <= limit else limit
        room = self._rooms[header]
        for start, end in self._spans(group, room):
            first, last = trim(self._text, start, end)
            if first < last:
                yield Passage(parent, first, last, room, is_heading=is_heading)

    def _spans(self, group: Group, room: int) -> Iterator[Span]:
        units = [(unit.start, unit.end) for unit in group.units]
        if not self._is_merged:
            yield from units
            return
        if self._count([(group.start, group.end)])[0] <= room:
            yield group.start, group.end
            return
        start, held = group.start, 0
        for (first, _), tokens in zip(units, self._count(units), strict=True):
            if held and held + tokens + _JOINING_TOKENS > room:
                yield start, first
                start, held = first, 0
            held += tokens + _JOINING_TOKENS
        yield start, group.end

    def _count(self, spans: Sequence[Span]) -> list[int]:
        return self._tokenizer.count([self._text[start:end].strip() for start, end in spans])

    def _is_title(self, group: Group) -> bool:
        """Say whether a preamble is nothing but headings, or the title of its law, before more."""
        if group.kind is not UnitKind.PREAMBLE:
            return False
        written = _COMMENT.sub("", self._text[group.start : group.end])
        lines = [line for line in written.split("\n") if line.strip(_HEADING_MARKS)]
        if all(line.lstrip().startswith("#") for line in lines):
            return True
        title = _title_at(self._outline.laws, group.start) or ""
        return "".join("".join(lines).split()).strip("#*") == "".join(title.split())


def merging_note(settings: ChunkSettings, tokenizer: Callable[[], Tokenizer]) -> str | None:
    """Return what `search_unit: merged` makes for the models; None where it is not asked for.

    Args:
        settings: of a namespace.
        tokenizer: gives that of the models; not called where nothing is merged.
    """
    law = settings.law
    if mode_of(settings).divider is not StatuteDivider or law.search_unit != "merged":
        return None
    least, most = (round(law.soft_limit * share) for share in FULL_AND_MOST)
    limit = tokenizer().limit
    if limit >= most:
        return f"chunk.law.search_unit: merged makes units of {least:,} to {most:,} characters"
    return (
        f"chunk.law.search_unit: merged makes units of {least:,} to {most:,} characters for models "
        f"that read {most:,} tokens; the models here read {limit:,}, so that a unit holds the "
        "whole articles that fit. Name a model that reads more (BAAI/bge-m3), or set "
        "search_unit: article."
    )


class ArticleFinder:
    """Finds the articles of a document that a passage holds or is a part of.

    In other modes than `law` there are none.
    """

    def __init__(self, outline: Outline) -> None:
        text = outline.document.text
        self._laws = outline.laws
        marks = (unit.article for law in outline.laws for unit in law.units if unit.article)
        self._articles = [
            Article(mark.key, *mark.number, mark.shown, *trim(text, mark.start, mark.end))
            for mark in marks
        ]

    def title_at(self, offset: int) -> str | None:
        """Return the title of the law that a character belongs to, None where it has none."""
        return _title_at(self._laws, offset)

    def find(self, start: int, end: int) -> tuple[Article, ...]:
        """Return the articles that a span touches, in order."""
        first = bisect_right(self._articles, start, key=lambda article: article.char_end)
        last = bisect_left(self._articles, end, key=lambda article: article.char_start)
        return tuple(self._articles[first:last])


def _title_at(laws: Sequence[LawText], offset: int) -> str | None:
    place = bisect_right(laws, offset, key=lambda law: law.start) - 1
    return laws[place].title if place >= 0 else None


def law_facts(outline: Outline) -> dict[str, Any]:
    """Return what the laws of a document say of themselves, for the record's note."""
    text = outline.document.text
    return {LAWS_KEY: [read_facts(text, law).to_record() for law in outline.laws]}


def law_and_path(outline: Outline, passage: Passage, settings: ChunkSettings) -> list[Part]:
    """Return the header of a passage: the law's title and the levels above it."""
    del settings
    title = _title_at(outline.laws, passage.start)
    path = PATH_SEPARATOR.join(passage.parent.section_path)
    return [(_SOURCE_WORTH, 0, f"<<Source: {title or ''} | Path: {path}>>")]


class Divider(Protocol):
    """Divides the parents of one document."""

    def divide(self, parent: Parent) -> Iterator[Passage]:
        """Yield the passages of a parent in order."""
        ...


@dataclass(frozen=True, slots=True)
class Mode:
    """How a document becomes parents and chunks.

    Args:
        outline: what is known of a document before it is divided.
        parents: the passages that are shown whole.
        divider: what divides a parent into the passages that are searched.
        context: what a model is told before a passage, part by part.
        parent_settings: keys of `chunk` that the parents depend on.
        settings: keys of `chunk` that the chunks depend on besides.
        parent_rule: modes of the same rule have the same parents under the same settings.
        facts: what the record of the chunks notes of a document, as values that JSON knows; a
            function of its text, of the version of that code and of nothing else.
        facts_version: of that code; None where nothing is noted.
    """

    outline: Callable[[ParsedDocument], Outline]
    parents: Callable[[Outline, ChunkSettings, TokenCounter], Iterator[Parent]]
    divider: Callable[[Outline, ChunkSettings, Tokenizer], Divider]
    context: PartsOf
    parent_settings: frozenset[str]
    settings: frozenset[str]
    parent_rule: str = "sentences"
    facts: Callable[[Outline], Mapping[str, Any]] = lambda outline: {}
    facts_version: int | None = None


def _of_sentences(outline: Outline, settings: ChunkSettings, tokenizer: Tokenizer) -> ParentDivider:
    return ParentDivider(outline, passage_sizes(settings, tokenizer.limit), tokenizer)


def _of_pieces(outline: Outline, settings: ChunkSettings, tokenizer: Tokenizer) -> ParentDivider:
    general = settings.general
    sizes = piece_sizes(general, tokenizer.limit)
    return ParentDivider(outline, sizes, tokenizer, general.delimiter)


_PARENTS = frozenset({"parents", "parent_tokens"})
_TOLD = frozenset({"context", "preprocess"})
_SIZES = frozenset({"target_tokens", "min_tokens", "max_tokens", "overlap", "parent_tokens"})

MODES: Mapping[ChunkMode, Mode] = {
    # Sentences, and what stays together, packed to a size.
    "parent_child": Mode(
        outline=read_outline,
        parents=pages_or_sections,
        divider=_of_sentences,
        context=headings_and_header,
        parent_settings=_PARENTS,
        settings=_SIZES | _TOLD,
    ),
    # Pieces between delimiters take the place of all these units.
    "general": Mode(
        outline=read_outline,
        parents=pages_or_sections,
        divider=_of_pieces,
        context=headings_and_header,
        parent_settings=_PARENTS,
        settings=_TOLD | {"general"},
    ),
    # A question with its answer is one chunk, up to `parent_tokens`, found by its question.
    "qa": Mode(
        outline=lambda document: read_outline(document, find_pairs(document)),
        parents=pages_or_sections,
        divider=_of_sentences,
        context=headings_above,
        parent_settings=_PARENTS,
        settings=_SIZES | _TOLD,
        parent_rule="questions",
    ),
    # Articles, shown with those of the same chapter around them.
    "law": Mode(
        outline=read_law_outline,
        parents=merged_units,
        divider=StatuteDivider,
        context=law_and_path,
        parent_settings=frozenset({"law"}),
        settings=frozenset({"law", "preprocess"}),
        parent_rule="statutes",
        facts=law_facts,
        facts_version=LAW_FACTS_VERSION,
    ),
}


def mode_of(settings: ChunkSettings) -> Mode:
    """Return the mode that settings name."""
    return MODES[settings.mode]


def parent_key(settings: ChunkSettings) -> list[Any]:
    """Return what of the settings the parents are a function of."""
    mode = mode_of(settings)
    return [mode.parent_rule, settings.model_dump(include=set(mode.parent_settings))]


def chunk_key(settings: ChunkSettings) -> list[Any]:
    """Return what of the settings the chunks are a function of, besides their parents."""
    mode = mode_of(settings)
    noted = [] if mode.facts_version is None else [mode.facts_version]
    return [settings.mode, settings.model_dump(include=set(mode.settings)), *noted]
