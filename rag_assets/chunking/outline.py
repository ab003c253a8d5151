"""What chunking knows of a document before it divides it: sentences and what stays together."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from itertools import chain, groupby

from rag_assets.chunking.sentences import next_visible, split_sentences
from rag_assets.law.structure import LawText
from rag_assets.model import Block, BlockKind, Columns, ParsedDocument, Section, SectionCategory

# What begins a passage and never ends one.
HEAD_KINDS = frozenset({"heading", "unplaced_heading"})

_BY_LINE = frozenset({"table", "code", "formula", "drawing"})
_ALONE = frozenset(
    {"heading", "unplaced_heading", "code", "formula", "drawing", "reference", "row"}
)
_PICTURED = frozenset({"table", "figure"})
_RULE_ROW = re.compile(r"\s*\|?(?:\s*:?-{1,}:?\s*\|)+(?:\s*:?-{1,}:?\s*)?\s*")
_LINE = re.compile(r"[^\n]*\S[^\n]*")

Span = tuple[int, int]
"""(start, end) in code points of the document's clean text, half-open."""


@dataclass(frozen=True, slots=True)
class Group:
    """Text that stays whole where it fits, else falls into its parts.

    Args:
        kind: of its blocks; `table` and `figure` include their caption.
        parts: lines of a table, code or formula, items of a list; in order, not empty.
        body: where the rows below a table's header begin; None without a header.
        header: the header row as it stands in the text; "" without.
        caption: of a table or figure, on one line; "" without.
    """

    kind: BlockKind
    start: int
    end: int
    parts: tuple[Span, ...]
    body: int | None = None
    header: str = ""
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """A question with its answer. The question stands on one line."""

    start: int
    end: int
    question: str


@dataclass(frozen=True, slots=True)
class Outline:
    """A document with its sentences and groups, all in order and disjoint.

    Args:
        sentences: spans that begin and end visibly and hold all visible text.
        sections: of the document, at least one; they partition the text.
        pairs: empty in modes that look for none.
        laws: likewise.
    """

    document: ParsedDocument
    sentences: Columns[Span]
    groups: Columns[Group]
    sections: Sequence[Section]
    pairs: Sequence[Pair] = ()
    laws: Sequence[LawText] = ()

    def section_at(self, offset: int) -> Section:
        """Return the section that holds a character."""
        return self.sections[bisect_right(self.sections, offset, key=lambda s: s.start) - 1]

    def groups_within(self, start: int, end: int) -> Sequence[Group]:
        """Return the groups that the span touches."""
        low = bisect_right(self.groups.column("end"), start)
        return self.groups[low : bisect_left(self.groups.column("start"), end)]

    def group_at(self, offset: int) -> Group | None:
        """Return the group that holds a character."""
        index = bisect_right(self.groups.column("start"), offset) - 1
        held = index >= 0 and offset < self.groups.column("end")[index]
        return self.groups[index] if held else None

    def is_heading_alone(self, order: int) -> bool:
        """Say whether a section is nothing but the heading of those below it."""
        if not 0 <= order < len(self.sections) - 1 or not self.sections[order].title:
            return False
        section, text = self.sections[order], self.document.text
        heading = self.group_at(next_visible(text, section.start))
        return (
            heading is not None
            and self.sections[order + 1].level > section.level
            and next_visible(text, heading.end) >= section.end
        )

    def before_heads(self, offset: int) -> int:
        """Return where headings of the same section begin that stand directly before `offset`."""
        index = bisect_left(self.groups.column("start"), offset) - 1
        while index >= 0:
            group = self.groups[index]
            if group.kind not in HEAD_KINDS:
                break
            if next_visible(self.document.text, group.end) < offset:
                break
            offset = group.start
            if group.kind == "heading":
                break
            index -= 1
        return offset


def read_outline(document: ParsedDocument, pairs: Sequence[Pair] = ()) -> Outline:
    """Return the outline of a document.

    Args:
        document: as parsed.
        pairs: questions with answers, in order and disjoint; their bounds end sentences.
    """
    text = document.text
    sections = document.sections or (Section(0, "", 0, (), SectionCategory.OTHER, 0, len(text)),)
    breaks = merge(
        chain.from_iterable((pair.start, pair.end) for pair in pairs),
        (section.start for section in sections),
        sentence_breaks(document),
    )
    return Outline(
        document,
        split_sentences(text, breaks),
        _groups(text, document.blocks),
        sections,
        pairs,
    )


def sentence_breaks(document: ParsedDocument) -> Iterator[int]:
    """Yield the offsets that end a sentence whatever stands there, ascending; some come twice.

    They are the bounds of all blocks but paragraphs, and the line ends of tables, code and
    formulas. Bounds of paragraphs are not among them: a parser that joins a paragraph over a
    column or page end leaves no blank line there, and the sentence goes on.
    """
    for block in document.blocks:
        if block.kind == "paragraph":
            continue
        yield block.start
        if block.kind in _BY_LINE:
            yield from (start for start, _ in _lines(document.text, block.start, block.end))
        yield block.end


def _lines(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the spans of the lines that are not blank, without the white space around them."""
    for line in _LINE.finditer(text, start, end):
        first = next_visible(text, line.start())
        yield first, first + len(text[first : line.end()].rstrip())


def _groups(text: str, blocks: Sequence[Block]) -> Columns[Group]:
    found = Columns(_group_of, {"kind": "word", "start": "q", "end": "q", "details": "seldom"})
    for members in _together(text, blocks):
        spans = [span for block in members if (span := _visible(text, block))]
        if not spans:
            continue
        kind: BlockKind = next((b.kind for b in members if b.kind != "caption"), "caption")
        parts = [part for block in members for part in _parts(text, block)]
        group = Group(kind, spans[0][0], spans[-1][1], tuple(parts))
        if kind in _PICTURED:
            group = _with_header(text, group, members)
        details = (group.parts, group.body, group.header, group.caption)
        # A row of a sheet, like most groups of a very long document, is its only part.
        is_plain = details == (((group.start, group.end),), None, "", "")
        found.add(kind, group.start, group.end, None if is_plain else details)
    return found


def _group_of(
    kind: BlockKind,
    start: int,
    end: int,
    details: tuple[tuple[Span, ...], int | None, str, str] | None,
) -> Group:
    return Group(kind, start, end, *(details or (((start, end),),)))


def _together(text: str, blocks: Sequence[Block]) -> Iterator[Sequence[Block]]:
    """Yield blocks that belong together: a list's items, a figure or table with its caption."""
    position = 0
    while position < len(blocks):
        block = blocks[position]
        behind = position + 1
        if block.kind == "list":
            while behind < len(blocks) and _follows(text, blocks, behind, "list"):
                behind += 1
        elif block.kind == "caption":
            behind += _is_captioned(text, blocks, position, behind)
        elif block.kind in _PICTURED:
            behind += _is_captioned(text, blocks, position, behind) and not (
                # The caption may be the next table's: tables bear theirs above.
                blocks[behind].attachment_id is None
                and _is_captioned(text, blocks, behind, behind + 1)
                and blocks[behind + 1].kind == "table"
            )
        elif block.kind not in _ALONE:
            position = behind
            continue
        yield [blocks[place] for place in range(position, behind)]
        position = behind


def _follows(text: str, blocks: Sequence[Block], index: int, kind: BlockKind) -> bool:
    adjoins = next_visible(text, blocks[index - 1].end) >= blocks[index].start
    return blocks[index].kind == kind and adjoins


def _is_captioned(text: str, blocks: Sequence[Block], first: int, second: int) -> bool:
    """Say whether two neighbours are a caption and what it names, in either order."""
    if second >= len(blocks):
        return False
    one, other = blocks[first], blocks[second]
    kinds = {one.kind, other.kind}
    if "caption" not in kinds or not kinds & _PICTURED:
        return False
    ids = {one.attachment_id, other.attachment_id} - {None}
    return len(ids) < 2 and _follows(text, blocks, second, other.kind)


def _visible(text: str, block: Block) -> Span | None:
    start = next_visible(text, block.start)
    end = start + len(text[start : block.end].rstrip())
    return (start, end) if start < end else None


def _parts(text: str, block: Block) -> Iterable[Span]:
    if block.kind in _BY_LINE:
        return _lines(text, block.start, block.end)
    span = _visible(text, block)
    return [span] if span else []


def _with_header(text: str, group: Group, members: Sequence[Block]) -> Group:
    caption = " ".join(
        " ".join(text[b.start : b.end].split()) for b in members if b.kind == "caption"
    )
    table = next((block for block in members if block.kind == "table"), None)
    rows = [] if table is None else [part for part in group.parts if part[0] >= table.start]
    if len(rows) < 2 or not _RULE_ROW.fullmatch(text[slice(*rows[1])]):
        return replace(group, caption=caption)
    header = text[slice(*rows[0])]
    if len(rows) == 2:
        return replace(group, caption=caption, header=header, body=rows[1][1])
    # The header goes with the first row, and a caption above it with both.
    behind = group.parts.index(rows[2]) + 1
    parts = ((group.start, rows[2][1]), *group.parts[behind:])
    return replace(group, caption=caption, header=header, body=rows[2][0], parts=parts)


def reference_bounds(document: ParsedDocument) -> list[int]:
    """Return where runs of reference entries begin and end, ascending."""
    bounds = []
    for kind, run in groupby(document.blocks, key=lambda block: block.kind):
        if kind == "reference":
            entries = list(run)
            bounds += [entries[0].start, entries[-1].end]
    return bounds
