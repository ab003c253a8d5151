"""Parents: the pages of a document, its sections, or the document as a whole."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from rag_assets.chunking.outline import HEAD_KINDS, Outline, Span
from rag_assets.chunking.packing import (
    Bounds,
    Unit,
    best_cut,
    pack,
    price_of_end,
    size_of,
)
from rag_assets.chunking.sentences import next_visible
from rag_assets.chunking.tokenizer import TokenCounter
from rag_assets.model import PageSpan, Parent
from rag_assets.settings import ChunkSettings

PARENTS_VERSION = "3"

# Where a section is too long for one parent, its parts are wanted at this share of the upper
# size, which leaves room to end at a paragraph, and not below the other.
_WANTED_SHARE = 0.75
_LEAST_SHARE = 0.25

_PageStarts = tuple[tuple[int, int], ...]


def pages_or_sections(
    outline: Outline, settings: ChunkSettings, count: TokenCounter
) -> list[Parent]:
    """Divide a document into its parents, by `settings.parents`.

    `page`: one parent a page, `p003`. A sentence that runs over a page end stays whole and
    belongs to the page where it begins; a page where none begins gives no parent. Without pages
    as `section`: one parent a section, `s000`; a section above `settings.parent_tokens` becomes
    several. A heading without text of its own joins the section below it. `document`: one
    parent, `d000`, however long.

    Args:
        outline: of a document whose pages partition its text.
        settings: `parents` and `parent_tokens` are read.
        count: counts tokens (`Tokenizer.count`).

    Returns:
        Parents in order. They are slices of the text, disjoint, and together hold every visible
        character.
    """
    if settings.parents == "document":
        sentences = outline.sentences
        spans = iter([(sentences[0][0], sentences[-1][1])] if sentences else [])
        return parents_of_spans(outline, "d", spans)
    if settings.parents == "page" and outline.document.pages:
        return _page_parents(outline)
    return parents_of_spans(outline, "s", _section_spans(outline, settings.parent_tokens, count))


def locate_pages(
    page_starts: Sequence[tuple[int, int]], start: int, end: int
) -> tuple[int | None, int | None]:
    """Return the pages of the first and the last character of a span, None without pages.

    Args:
        page_starts: as in `Parent.page_starts`.
        start: offset of the first character in the document (code points).
        end: offset behind the last character.
    """
    if not page_starts:
        return None, None
    first = bisect_right(page_starts, start, key=_offset) - 1
    last = bisect_right(page_starts, max(start, end - 1), key=_offset) - 1
    return page_starts[max(0, first)][0], page_starts[max(0, last)][0]


def _offset(page_start: tuple[int, int]) -> int:
    return page_start[1]


def _page_parents(outline: Outline) -> list[Parent]:
    document = outline.document
    offsets = [page.start for page in document.pages]
    by_page: dict[int, list[Span]] = {}
    for sentence in outline.sentences:
        # The last page that begins at or before the sentence; empty pages have no characters.
        by_page.setdefault(bisect_right(offsets, sentence[0]) - 1, []).append(sentence)
    return [
        _as_parent(
            outline, f"p{document.pages[index].number:03d}", order, (spans[0][0], spans[-1][1])
        )
        for order, (index, spans) in enumerate(by_page.items())
    ]


def parents_of_spans(outline: Outline, letter: str, spans: Iterator[Span]) -> list[Parent]:
    """Return a parent for each span, `<letter>000` and so on; spans in order and disjoint."""
    return [
        _as_parent(outline, f"{letter}{order:03d}", order, span) for order, span in enumerate(spans)
    ]


def _as_parent(outline: Outline, label: str, order: int, span: Span) -> Parent:
    document = outline.document
    start, end = span
    return Parent(
        label=label,
        order=order,
        char_start=start,
        char_end=end,
        text=document.text[start:end],
        page_starts=_touched(document.text, document.pages, start, end),
        section_path=outline.section_at(_first_below_headings(outline, start, end)).path,
    )


def _first_below_headings(outline: Outline, start: int, end: int) -> int:
    """Return where the text begins below the headings that a span begins with."""
    offset = start
    while (group := outline.group_at(offset)) is not None and group.kind in HEAD_KINDS:
        below = next_visible(outline.document.text, group.end)
        if below >= end:
            break
        offset = below
    return offset


def _touched(text: str, pages: Sequence[PageSpan], start: int, end: int) -> _PageStarts:
    """Return (number, start) of the pages that hold something visible of the span."""
    first = max(0, bisect_right(pages, start, key=lambda page: page.start) - 1)
    behind = bisect_left(pages, end, key=lambda page: page.start)
    return tuple(
        (page.number, page.start)
        for page in pages[first:behind]
        if next_visible(text, max(page.start, start)) < min(page.end, end)
    )


def _section_starts(outline: Outline) -> list[int]:
    """Return where parents of sections begin; a bare heading opens the section below it."""
    starts: list[int] = []
    is_alone = False
    for order, section in enumerate(outline.sections):
        if not is_alone:
            starts.append(section.start)
        is_alone = outline.is_heading_alone(order)
    return starts


def _section_spans(outline: Outline, most: int, count: TokenCounter) -> Iterator[Span]:
    text = outline.document.text
    units = _units(text, list(_pieces(outline)), most, count)
    bounds = Bounds(
        least=max(1, round(most * _LEAST_SHARE)),
        target=max(1, round(most * _WANTED_SHARE)),
        most=most,
    )
    position = 0
    for stop_at in [*_section_starts(outline)[1:], len(text)]:
        stop = bisect_left(units, stop_at, lo=position, key=lambda unit: unit.start)
        for first, behind in _divide(units[position:stop], bounds):
            yield units[position + first].start, units[position + behind - 1].end
        position = stop


_Piece = tuple[int, int, Sequence[Span]]
"""(start, end, parts): what is cut into its parts where it is too long, anywhere without."""


def _pieces(outline: Outline) -> Iterator[_Piece]:
    """Yield sentences, groups, and questions with their answers, in order."""
    pairs = iter(outline.pairs)
    pair = next(pairs, None)
    reached = 0
    for start, end in outline.sentences:
        if start < reached:
            continue
        while pair is not None and pair.end <= start:
            pair = next(pairs, None)
        group = outline.group_at(start)
        if pair is not None and pair.start <= start:
            reached = pair.end
            yield start, reached, ()
        elif group is not None and start == group.start:
            # A question may begin inside a group: it is not swallowed.
            inside = pair is not None and pair.start < group.end
            reached = pair.start if pair is not None and inside else group.end
            yield (
                start,
                group.start + len(outline.document.text[start:reached].rstrip()),
                (() if inside else group.parts),
            )
        else:
            yield start, end, ()


def _divide(units: Sequence[Unit], bounds: Bounds) -> list[Span]:
    """Keep a section whole where it fits into one parent, else pack it."""
    if not units:
        return []
    tokens = units[-1].last_token - units[0].first_token
    if size_of(tokens, units[-1].end - units[0].start) <= bounds.most:
        return [(0, len(units))]
    return pack(units, bounds)


def _units(text: str, pieces: Sequence[_Piece], most: int, count: TokenCounter) -> list[Unit]:
    """Return the pieces, those above `most` tokens cut, with their running token counts."""
    spans: list[Span] = []
    sizes: list[int] = []
    waiting = list(pieces)
    while waiting:
        tokens = count([text[start:end] for start, end, _ in waiting])
        again: list[_Piece] = []
        for (start, end, parts), size in zip(waiting, tokens, strict=True):
            if size_of(size, end - start) <= most:
                spans.append((start, end))
                sizes.append(size)
                continue
            smaller: Sequence[Span] = parts if len(parts) > 1 else ()
            if not smaller:
                smaller = _cut_evenly(text, start, end, size_of(size, end - start), most)
            again += [(first, last, ()) for first, last in smaller]
        waiting = again
    order = sorted(range(len(spans)), key=lambda index: spans[index])
    units: list[Unit] = []
    total = 0
    for place, index in enumerate(order):
        start, end = spans[index]
        following = spans[order[place + 1]][0] if place + 1 < len(order) else len(text)
        price = price_of_end(text, start, end, following)
        units.append(Unit(start, end, total, total + sizes[index], price))
        total += sizes[index]
    return units


def _cut_evenly(text: str, start: int, end: int, size: int, most: int) -> list[Span]:
    """Cut a span of `size` tokens into parts that should be of at most `most`."""
    parts = size // most + 1
    width = max(1, (end - start) // parts)
    spans = []
    while end - start > width:
        stop = best_cut(text, start + width // 2, start + width)
        stop = start + len(text[start:stop].rstrip())
        spans.append((start, stop))
        start = next_visible(text, stop)
    spans.append((start, end))
    return spans
