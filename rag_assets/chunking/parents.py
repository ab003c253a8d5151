"""Parents: the pages of a document, its sections, or the document as a whole."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from rag_assets.chunking.dividing import (
    Bounds,
    Unit,
    batches,
    best_cut,
    pack,
    price_of_end,
    size_of,
    unit_columns,
)
from rag_assets.chunking.sentences import HEAD_KINDS, Outline, Span, TokenCounter, next_visible
from rag_assets.model import Columns, PageSpan, Parent
from rag_assets.model.settings import ChunkSettings

PARENTS_VERSION = "4"

# Where a section is too long for one parent, its parts are wanted at this share of the upper
# size, which leaves room to end at a paragraph, and not below the other.
_WANTED_SHARE = 0.75
_LEAST_SHARE = 0.25
# Pieces whose tokens are counted at once: their texts and tokens are held for that long.
_COUNTED_AT_ONCE = 1000

_PageStarts = tuple[tuple[int, int], ...]


def pages_or_sections(
    outline: Outline, settings: ChunkSettings, count: TokenCounter
) -> Iterator[Parent]:
    """Yield the parents of a document, by `settings.parents`.

    `page`: one parent a page, `p003`. A sentence that runs over a page end stays whole and
    belongs to the page where it begins; a page where none begins gives no parent. Without pages
    as `section`: one parent a section, `s000`; a section above `settings.parent_tokens` becomes
    several. A heading without text of its own joins the section below it. `document`: one
    parent, `d000`, however long.

    Args:
        outline: of a document whose pages partition its text.
        settings: `parents` and `parent_tokens` are read.
        count: counts tokens (`Tokenizer.count`).

    Yields:
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


def _page_parents(outline: Outline) -> Iterator[Parent]:
    document = outline.document
    offsets = [page.start for page in document.pages]
    by_page: dict[int, list[Span]] = {}
    for sentence in outline.sentences:
        # The last page that begins at or before the sentence; empty pages have no characters.
        by_page.setdefault(bisect_right(offsets, sentence[0]) - 1, []).append(sentence)
    return (
        _as_parent(
            outline, f"p{document.pages[index].number:03d}", order, (spans[0][0], spans[-1][1])
        )
        for order, (index, spans) in enumerate(by_page.items())
    )


def parents_of_spans(outline: Outline, letter: str, spans: Iterator[Span]) -> Iterator[Parent]:
    """Yield a parent for each span, `<letter>000` and so on; spans in order and disjoint."""
    return (
        _as_parent(outline, f"{letter}{order:03d}", order, span) for order, span in enumerate(spans)
    )


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
    units = _units(text, _pieces(outline), most, count)
    bounds = Bounds(
        least=max(1, round(most * _LEAST_SHARE)),
        target=max(1, round(most * _WANTED_SHARE)),
        most=most,
    )
    position = 0
    for stop_at in [*_section_starts(outline)[1:], len(text)]:
        stop = bisect_left(units.column("start"), stop_at, lo=position)
        for first, behind in _divide(units, range(position, stop), bounds):
            yield units[first].start, units[behind - 1].end
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


def _divide(units: Sequence[Unit], within: range, bounds: Bounds) -> list[Span]:
    """Keep a section whole where it fits into one parent, else pack it."""
    if not within:
        return []
    first, last = units[within[0]], units[within[-1]]
    if size_of(last.last_token - first.first_token, last.end - first.start) <= bounds.most:
        return [(within.start, within.stop)]
    return pack(units, bounds, within)


def _units(text: str, pieces: Iterable[_Piece], most: int, count: TokenCounter) -> Columns[Unit]:
    """Return the pieces, those above `most` tokens cut, with their running token counts."""
    units = unit_columns()
    total = 0
    sized = _sized(text, pieces, most, count)
    current = next(sized, None)
    while current is not None:
        start, end, size = current
        current = next(sized, None)
        following = len(text) if current is None else current[0]
        price = price_of_end(text, start, end, following)
        units.add(start, end, total, total + size, price, False)
        total += size
    return units


def _sized(
    text: str, pieces: Iterable[_Piece], most: int, count: TokenCounter
) -> Iterator[tuple[int, int, int]]:
    """Yield (start, end, tokens) of the pieces in order, of those above `most` their parts."""
    for some in batches(pieces, _COUNTED_AT_ONCE):
        tokens = count([text[start:end] for start, end, _ in some])
        for (start, end, parts), size in zip(some, tokens, strict=True):
            if size_of(size, end - start) <= most:
                yield start, end, size
                continue
            smaller: Sequence[Span] = parts if len(parts) > 1 else ()
            if not smaller:
                smaller = _cut_evenly(text, start, end, size_of(size, end - start), most)
            yield from _sized(text, ((first, last, ()) for first, last in smaller), most, count)


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
