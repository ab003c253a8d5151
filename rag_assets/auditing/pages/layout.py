"""A draft cut into the pieces of a page: its blocks, and in each the sentences with notes."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rag_assets.auditing.drafts.anchors import ANCHOR
from rag_assets.auditing.drafts.blocks import ProseBlock, find_prose
from rag_assets.auditing.drafts.draft import FRONT_MATTER, Draft

BlockKind = Literal["heading", "paragraph", "item", "quotation", "row", "code"]

_NOT_A_LINE_END = re.compile(r"[^\r\n]")
_BULLET = re.compile(r"(?:^|[>\s])([-*+]|\d{1,9}[.)])[ \t]+$")
_QUOTED = re.compile(r"^\s*>")
# Shown smaller than the words: anchors, keys of Pandoc and LaTeX.
_CITATION = re.compile(
    rf"{ANCHOR}|[\[［【]-?[@＠][^\[\]［］【】\n]*[\]］】]|\\[a-z]*cite[a-z]*\*?(?:\[[^\]\n]*\])*\{{[^{{}}]*\}}"
)
_MARK = re.compile(r"\*\*\*?|(?<!\w)__?(?=\S)|(?<=\S)__?(?!\w)|(?<![\d\s])\*(?!\d)|(?<!\d)\*(?=\S)")
_MOST_LEVELS = 6


@dataclass(frozen=True, slots=True)
class Span:
    """Where a note belongs: half-open offsets of its sentence, and its number on the page."""

    start: int
    end: int
    number: int


@dataclass(frozen=True, slots=True)
class Piece:
    """Words of a block. `note` is the number of the note on them, None without one.

    Args:
        text: as it stands, `is_citation` where it is an anchor and not words.
        is_first: where a note's sentence begins: there the note can be opened.
    """

    parts: tuple[tuple[str, bool], ...]
    note: int | None
    is_first: bool


@dataclass(frozen=True, slots=True)
class LaidBlock:
    """A block of the page.

    Args:
        level: of a heading, from 1; how deep an item is nested, from 0.
        marker: of a list item, as it stands.
    """

    kind: BlockKind
    level: int
    marker: str
    pieces: tuple[Piece, ...]


def lay_out(draft: Draft, spans: Sequence[Span]) -> list[LaidBlock]:
    """Return the blocks of a draft in order, its front matter left out.

    Args:
        spans: sentences with notes, in order, none inside another.
    """
    body = FRONT_MATTER.sub(lambda match: _NOT_A_LINE_END.sub(" ", match.group()), draft.text)
    laid: list[LaidBlock] = []
    begun: set[int] = set()
    end, has_code = 0, False
    for block in find_prose(body, draft.is_markdown):
        if block is None:
            has_code = True
            continue
        if not block.offsets:
            continue
        start = block.offsets[0]
        line = body.rfind("\n", 0, start) + 1
        if has_code:
            laid.extend(_code(body[end : max(line, end)]))
        laid.append(_lay(block, body, line, spans, begun))
        end, has_code = block.offsets[-1] + 1, False
    if has_code:
        laid.extend(_code(body[end:]))
    return laid


def _code(gap: str) -> Iterator[LaidBlock]:
    lines = [line for line in gap.splitlines() if not re.match(r"\s*(```|~~~)", line)]
    text = "\n".join(lines).strip("\n")
    if text.strip():
        yield LaidBlock("code", 0, "", (Piece(((text, False),), None, is_first=False),))


def _lay(
    block: ProseBlock, body: str, line: int, spans: Sequence[Span], begun: set[int]
) -> LaidBlock:
    prefix = body[line : block.offsets[0]]
    pieces = tuple(_pieces(block, body, spans, begun))
    if block.kind == "heading":
        # A heading underlined with `===` or `---` has no marks before it.
        level = prefix.count("#") or (1 if "=" in body[block.offsets[-1] + 1 :][:3] else 2)
        return LaidBlock("heading", min(level, _MOST_LEVELS), "", pieces)
    if block.kind == "row":
        return LaidBlock("row", 0, "", pieces)
    bullet = _BULLET.search(prefix)
    depth = (len(prefix.expandtabs(4)) - len(prefix.expandtabs(4).lstrip(" >"))) // 2
    if bullet:
        return LaidBlock("item", min(depth, _MOST_LEVELS), bullet[1], pieces)
    if _QUOTED.match(prefix):
        return LaidBlock("quotation", 0, "", pieces)
    return LaidBlock("paragraph", 0, "", pieces)


def _pieces(
    block: ProseBlock, body: str, spans: Sequence[Span], begun: set[int]
) -> Iterator[Piece]:
    """Cut a block where sentences with notes begin and end."""
    place = 0
    for span in spans:
        if span.end <= block.offsets[0] or span.start > block.offsets[-1]:
            continue
        inside = [n for n, offset in enumerate(block.offsets) if span.start <= offset < span.end]
        if not inside or inside[0] < place:
            continue
        first, last = inside[0], inside[-1] + 1
        if first > place:
            yield _piece(block, body, place, first, None, is_first=False)
        yield _piece(block, body, first, last, span.number, is_first=span.number not in begun)
        begun.add(span.number)
        place = last
    if place < len(block.offsets):
        yield _piece(block, body, place, len(block.offsets), None, is_first=False)


def _piece(
    block: ProseBlock, body: str, first: int, last: int, note: int | None, *, is_first: bool
) -> Piece:
    # Cells of a row are parted by blanks in the block; the draft's own `|` is more to look at.
    text = "".join(body[block.offsets[n]] for n in range(first, last))
    parts: list[tuple[str, bool]] = []
    place = 0
    for match in _CITATION.finditer(text):
        parts.append((_MARK.sub("", text[place : match.start()]), False))
        parts.append((match.group(), True))
        place = match.end()
    parts.append((_MARK.sub("", text[place:]), False))
    return Piece(tuple(part for part in parts if part[0]), note, is_first)
