"""A document without characters that are not seen or act on whoever shows it, its places moved."""

import dataclasses
import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import TypeVar

from rag_assets.model import (
    Block,
    PageSpan,
    ParsedDocument,
    SourceLine,
    drop_controls,
    find_controls,
    has_controls,
)
from rag_assets.parsing.unseen import Unseen, turned_note

_Span = TypeVar("_Span", Block, PageSpan, SourceLine)

# Start, end, and what stands there instead.
_Cut = tuple[int, int, str]
# What shows nothing and would part a word or number that is seen as one: soft hyphens, zero-width
# blanks, invisible operators, tags; joiners, marks of direction and variation selectors where they
# stand beside ASCII, since other scripts and signs need them.
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_JOINERS = "\u200c-\u200f\u061c"
_INVISIBLE = re.compile(
    "[\xad\u034f\u200b\u2060-\u2064\u206a-\u206f\ufeff\U000e0000-\U000e007f]+"
    f"|(?<=[!-~])[{_JOINERS}{_SELECTORS}]+|[{_JOINERS}]+(?=[!-~])"
    f"|(?<=[{_SELECTORS}])[{_SELECTORS}]+"
)
# Tags spell ASCII that nobody sees; behind a black flag they name a country's part.
_TAGS = re.compile("(?<!\U0001f3f4)[\U000e0020-\U000e007e]{2,}")
_TAG_BASE = 0xE0000
# Letters struck out by combining strokes; one stroked sign is a letter or sign of its own: ≠.
_STROKED = r"[^\s\u0335-\u0338][\u0335-\u0338]+"
_STRUCK = re.compile(rf"(?:{_STROKED}(?:\s[\u0335-\u0338]*)?)+{_STROKED}|\d[\u0335-\u0338]+")


class _Places:
    """Where the offsets of a text are once its control characters are dropped."""

    def __init__(self, cuts: Iterable[_Cut]) -> None:
        # Up to a start what was lost before it counts; inside what is dropped all is one place.
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._lost = [0]
        for start, end, stand_in in cuts:
            self._starts.append(start + len(stand_in))
            self._ends.append(end)
            self._lost.append(self._lost[-1] + end - start - len(stand_in))

    def moved(self, offset: int) -> int:
        before = bisect_right(self._starts, offset)
        if before and offset < self._ends[before - 1]:
            return self._starts[before - 1] - self._lost[before - 1]
        return offset - self._lost[before]

    def move(self, span: _Span) -> _Span:
        return dataclasses.replace(span, start=self.moved(span.start), end=self.moved(span.end))


def without_controls(document: ParsedDocument) -> ParsedDocument:
    """Return `document` with every text cleaned by `drop_controls`, and its text as it is seen.

    What is not shown, or struck out by combining strokes, is left out of the text and noted. Text
    whose direction is turned is noted, since it may read otherwise than it is seen. Blocks, pages,
    lines and attachments keep what they hold; a block or line of which nothing is left goes. The
    characters as printed (`SourceLine.printed`) stay as the file has them: they are compared, and
    cleaned where they are shown.
    """
    unseen = Unseen()
    warnings = list(document.warnings)
    if has_controls(document.text):
        warnings += turned_note(document.text)
        document = _cut_text(document, list(find_controls(document.text)))
    for match in _TAGS.finditer(document.text):
        unseen.add("characters", "".join(chr(ord(c) - _TAG_BASE) for c in match[0]))
    if _INVISIBLE.search(document.text):
        cuts = [(*match.span(), "") for match in _INVISIBLE.finditer(document.text)]
        document = _cut_text(document, cuts)
    struck = list(_STRUCK.finditer(document.text))
    for match in struck:
        unseen.add("struck", re.sub("[\u0335-\u0338]", "", match[0]))
    if struck:
        document = _cut_text(document, [(*match.span(), "") for match in struck])
    return dataclasses.replace(
        document,
        attachments=tuple(
            dataclasses.replace(item, name=_text(item.name), caption=_text(item.caption))
            for item in document.attachments
        ),
        title=_text(document.title),
        authors=_texts(document.authors),
        doi=_text(document.doi),
        metadata={drop_controls(k): drop_controls(v) for k, v in document.metadata.items()},
        removed_templates=_texts(document.removed_templates),
        warnings=_texts(tuple(dict.fromkeys([*warnings, *unseen.warnings()]))),
    )


def _cut_text(document: ParsedDocument, cuts: list[_Cut]) -> ParsedDocument:
    """Return a document with other text, or none, in place of some pieces of its text."""
    places, reached = _Places(cuts), 0
    kept: list[str] = []
    for start, end, stand_in in cuts:
        kept += (document.text[reached:start], stand_in)
        reached = end
    text = "".join(kept) + document.text[reached:]
    return dataclasses.replace(
        document,
        text=text,
        pages=tuple(map(places.move, document.pages)),
        blocks=tuple(
            block
            for block in map(places.move, document.blocks)
            if text[block.start : block.end].strip()
        ),
        lines=tuple(line for line in map(places.move, document.lines) if line.start < line.end),
        attachments=tuple(
            item
            if item.start is None or item.end is None
            else dataclasses.replace(
                item, start=places.moved(item.start), end=places.moved(item.end)
            )
            for item in document.attachments
        ),
        abstract=None
        if document.abstract is None
        else (places.moved(document.abstract[0]), places.moved(document.abstract[1])),
    )


def _text(text: str | None) -> str | None:
    return drop_controls(text) or None if text is not None else None


def _texts(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(clean for text in texts if (clean := drop_controls(text)))
