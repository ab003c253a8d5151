"""The front matter of a paper: title, authors, year and DOI, and the paragraphs that hold them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_assets.parsing.cleaning import ends_sentence
from rag_assets.parsing.pdf.front.abstract import Abstract, find_abstract
from rag_assets.parsing.pdf.front.authors import find_authors, is_name_line
from rag_assets.parsing.pdf.front.dates import find_doi, find_year
from rag_assets.parsing.pdf.front.title import Title, find_title
from rag_assets.parsing.pdf.front.words import (
    ABSTRACT_HEAD,
    ARTICLE_TYPE,
    CORRESPONDENCE,
    DATE,
    EMAIL,
    FIRST_SECTION,
    INSTITUTION,
    KEYWORDS,
    NOTICE,
    RECEIVED,
    REFERENCES_HEAD,
    SERIAL,
    word_count,
)
from rag_assets.parsing.pdf.lines import Line, Page
from rag_assets.parsing.pdf.paragraphs import Paragraph, make_paragraph

__all__ = ["Abstract", "FrontMatter", "find_abstract", "first_page_lines", "mark_front_matter"]

_AFFILIATION = re.compile(r"\W*(?:\d{1,2}|[a-z]|\W)\s?[A-ZÀ-Þ]")
# A paragraph of so many words is prose, unless its words are those of a notice or an address.
_PROSE_WORDS = 25
# A cover has no paragraph of prose and fewer words than a page of text (some 400).
_MAX_COVER_WORDS = 220
# Licences, correspondence and the histories of a manuscript are shorter than so many words.
_MAX_NOTICE_WORDS = 130
# Between title and abstract stand names, addresses and dates: more paragraphs are body text.
_MAX_FRONT_PARAGRAPHS = 60
# Abstracts of papers begin on the first page, seldom behind a cover.
_CUT_PAGES = 3


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a document says of itself."""

    title: str | None
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str | None = None


def first_page_lines(pages: Sequence[Page]) -> tuple[Line, ...]:
    """Return the lines of the first page, to be kept before heads and feet are taken out.

    A journal prints its year and the DOI there.
    """
    return tuple(line for block in pages[0].blocks for line in block) if pages else ()


def mark_front_matter(
    paragraphs: list[Paragraph],
    pages: Sequence[Page],
    metadata: Mapping[str, Any],
    first_page: Sequence[Line] = (),
    running_heads: Sequence[str] = (),
) -> FrontMatter:
    """Find the front matter and give its paragraphs the kinds `title` and `front`, in place.

    Args:
        paragraphs: of the whole document, in reading order; one that holds a title and something
            else is cut in place.
        pages: heads and feet removed.
        metadata: the PDF's document information.
        first_page: the first page's lines with heads and feet.
        running_heads: the heads and feet that were removed.
    """
    title = find_title(str(metadata.get("title") or ""), pages, running_heads)
    own_lines = _before_references(first_page)
    year, doi = find_year(own_lines, metadata), find_doi(own_lines, metadata)
    if title is None or not title.lines:
        return FrontMatter(title.text if title else None, (), year, doi)
    _cut_at_heads(paragraphs)
    index = _mark_title(paragraphs, title)
    if index is None:
        return FrontMatter(title.text, (), year, doi)
    end = _front_end(paragraphs, index)
    authors = _authors_of(paragraphs, index, end)
    _mark_front(paragraphs, index, end)
    return FrontMatter(title.text, authors, year, doi)


def _before_references(lines: Sequence[Line]) -> Sequence[Line]:
    for index, line in enumerate(lines):
        if REFERENCES_HEAD.fullmatch(line.text):
            return lines[:index]
    return lines


def _mark_title(paragraphs: list[Paragraph], title: Title) -> int | None:
    """Mark the paragraphs of the title; return the index of the last, None without any."""
    wanted = {id(line) for line in title.lines}
    last = None
    index = 0
    while index < len(paragraphs):
        paragraph = paragraphs[index]
        flags = [id(line) in wanted for line in paragraph.lines]
        if any(flags):
            if not all(flags):
                pieces = _cut(paragraph, flags)
                paragraphs[index : index + 1] = pieces
                continue
            if last is not None and last == index - 1:
                whole = make_paragraph([*paragraphs[last].lines, *paragraph.lines], paragraph.page)
                whole.kind = "title"
                paragraphs[last : index + 1] = [whole]
                continue
            paragraph.kind, paragraph.level = "title", None
            last = index
        elif last is not None and paragraph.page > paragraphs[last].page:
            break
        index += 1
    return last


def _cut_at_heads(paragraphs: list[Paragraph]) -> None:
    """Cut paragraphs of the first pages where a line is the head of an abstract or of keywords."""
    index = 0
    while index < len(paragraphs) and paragraphs[index].page <= _CUT_PAGES:
        paragraph = paragraphs[index]
        lines = paragraph.lines
        for number in range(1, len(lines)):
            line, before = lines[number], lines[number - 1]
            is_head = _is_head(line.text) and not before.shares_row(line)
            if (
                is_head
                or _is_head(before.text)
                or (
                    KEYWORDS.match(line.text)
                    and (ends_sentence(before.text) or before.bold != line.bold)
                )
            ):
                pieces = _cut(paragraph, [place >= number for place in range(len(lines))])
                paragraphs[index : index + 1] = pieces
                break
        index += 1


def _is_head(text: str) -> bool:
    match = ABSTRACT_HEAD.match(text)
    return match is not None and not text[match.end() :].strip(" .:：-—–*")


def _cut(paragraph: Paragraph, flags: Sequence[bool]) -> list[Paragraph]:
    groups: list[list[Line]] = []
    before: bool | None = None
    for line, flag in zip(paragraph.lines, flags, strict=True):
        if flag != before:
            groups.append([])
        groups[-1].append(line)
        before = flag
    return [make_paragraph(group, paragraph.page) for group in groups]


def _front_end(paragraphs: Sequence[Paragraph], title: int) -> int:
    """Return the index behind the last paragraph of the front matter that follows the title."""
    page = paragraphs[title].page
    limit = min(len(paragraphs), title + 1 + _MAX_FRONT_PARAGRAPHS)
    end = title + 1
    while end < limit and paragraphs[end].page == page:
        if _begins_text(paragraphs[end]):
            return end
        end += 1
    on_page = [item for item in paragraphs if item.page == page]
    words = sum(word_count(item.text) for item in on_page)
    if end < limit and words <= _MAX_COVER_WORDS and not any(_is_prose(item) for item in on_page):
        return end
    # No abstract and no first heading: only what looks like front matter.
    end = title + 1
    while end < limit and paragraphs[end].page == page and _looks_like_front(paragraphs[end]):
        end += 1
    return end


def _begins_text(paragraph: Paragraph) -> bool:
    text = paragraph.text
    return bool(
        ABSTRACT_HEAD.match(text)
        or KEYWORDS.match(text)
        or FIRST_SECTION.fullmatch(text)
        or _is_prose(paragraph)
    )


def _is_prose(paragraph: Paragraph) -> bool:
    return word_count(paragraph.text) >= _PROSE_WORDS and not _looks_like_front(paragraph)


def _looks_like_front(paragraph: Paragraph) -> bool:
    text = paragraph.text
    words = word_count(text)
    if words > _MAX_NOTICE_WORDS:
        return False
    institutions = len(INSTITUTION.findall(text))
    return bool(
        (RECEIVED.search(text) and words < _PROSE_WORDS)
        or CORRESPONDENCE.match(text)
        or ARTICLE_TYPE.fullmatch(text)
        or (DATE.search(text) and words < _PROSE_WORDS)
        or (NOTICE.search(text) is not None and not text[0].islower())
        or (EMAIL.search(text) is not None and words < 2 * _PROSE_WORDS)
        or institutions * _PROSE_WORDS >= words > 0
        or is_name_line(text)
        or all(is_name_line(line.text) for line in paragraph.lines)
        or (SERIAL.search(text) and words < _PROSE_WORDS)
    )


def _authors_of(paragraphs: Sequence[Paragraph], title: int, end: int) -> tuple[str, ...]:
    """Return the names below the title, else those above it on its page (covers of theses)."""
    below = [line for item in paragraphs[title + 1 : end] for line in item.lines]
    names, _ = find_authors(below)
    if names:
        return names
    page = paragraphs[title].page
    above = [
        line
        for item in paragraphs[:title]
        if item.page == page and item.kind != "title"
        for line in item.lines
    ]
    return find_authors(above)[0]


def _mark_front(paragraphs: Sequence[Paragraph], title: int, end: int) -> None:
    page = paragraphs[title].page
    for index, paragraph in enumerate(paragraphs):
        if paragraph.page > page:
            break
        if paragraph.kind != "paragraph":
            continue
        is_above_text = index < end and not (index < title and _is_prose(paragraph))
        if is_above_text or _is_notice(paragraph):
            paragraph.kind = "front"


def _is_notice(paragraph: Paragraph) -> bool:
    """Tell whether a paragraph beside the text is about the paper: history, address, licence."""
    text = paragraph.text
    if word_count(text) > _MAX_NOTICE_WORDS or KEYWORDS.match(text):
        return False
    opening = text[:60]
    return bool(
        CORRESPONDENCE.match(text)
        or RECEIVED.match(text)
        or (NOTICE.search(opening) and not text[0].islower())
        or len(NOTICE.findall(text)) > 1
        or (_AFFILIATION.match(text) and len(INSTITUTION.findall(text)) > 1)
    )
