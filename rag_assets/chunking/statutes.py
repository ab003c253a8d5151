"""Statutes: articles are searched, merged units of one path are shown (`mode: law`).

The levels of the law take the place of the document's own sections, so that everything that tells
where a passage stands tells chapter and section; what is told to a model is
`<<Source: title | Path: levels>>`.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from rag_assets.chunking.context import Part
from rag_assets.chunking.dividing import Passage
from rag_assets.chunking.outline import Outline, read_outline
from rag_assets.chunking.parents import parents_of_spans
from rag_assets.chunking.sentences import next_visible
from rag_assets.chunking.tokenizer import TokenCounter, Tokenizer
from rag_assets.law.metadata import read_facts
from rag_assets.law.structure import (
    PATH_SEPARATOR,
    Group,
    LawText,
    Unit,
    UnitKind,
    merge_units,
    read_laws,
)
from rag_assets.law.versions import LAWS_KEY
from rag_assets.model import Article, Parent, ParsedDocument, Section, SectionCategory
from rag_assets.settings import ChunkSettings

_SOURCE_WORTH = 1


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
    spans = ((group.start, group.end) for group in _groups(outline, settings))
    text = outline.document.text
    visible = (
        (next_visible(text, start), start + len(text[start:end].rstrip())) for start, end in spans
    )
    return parents_of_spans(outline, "s", (span for span in visible if span[0] < span[1]))


def _groups(outline: Outline, settings: ChunkSettings) -> Iterator[Group]:
    text, law = outline.document.text, settings.law
    least, most = law.fallback
    for one in outline.laws:
        yield from merge_units(text, one.units, soft_limit=law.soft_limit, fallback=(least, most))


class StatuteDivider:
    """Divides the merged units of a document into what is searched: articles, or nothing more."""

    def __init__(self, outline: Outline, settings: ChunkSettings, tokenizer: Tokenizer) -> None:
        self._text = outline.document.text
        self._limit = tokenizer.limit
        self._is_merged = settings.law.search_unit == "merged"
        self._groups = {
            next_visible(self._text, group.start): group for group in _groups(outline, settings)
        }

    def divide(self, parent: Parent) -> Iterator[Passage]:
        """Yield the passages of a parent in order."""
        group = self._groups[parent.char_start]
        units = [(group.start, group.end)] if self._is_merged else [
            (unit.start, unit.end) for unit in group.units
        ]  # fmt: skip
        for start, end in units:
            first = next_visible(self._text, start)
            last = start + len(self._text[start:end].rstrip())
            if first < last:
                is_heading = group.kind is UnitKind.LEVELS
                yield Passage(parent, first, last, self._limit, is_heading=is_heading)


class ArticleFinder:
    """Finds the articles of a document that a passage holds or is a part of.

    In other modes than `law` there are none.
    """

    def __init__(self, outline: Outline) -> None:
        text = outline.document.text
        self._laws = outline.laws
        marks = (unit.article for law in outline.laws for unit in law.units if unit.article)
        self._articles = [
            Article(
                mark.key,
                *mark.number,
                mark.shown,
                next_visible(text, mark.start),
                mark.start + len(text[mark.start : mark.end].rstrip()),
            )
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
