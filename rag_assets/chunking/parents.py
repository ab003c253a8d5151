"""Parents: the pages of a document, or its sections where it has no pages."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from rag_assets.chunking.packing import Bounds, Unit, best_cut, pack, price_of_end, size_of
from rag_assets.chunking.sentences import breaks_within, next_visible, split_sentences
from rag_assets.chunking.tokenizer import TokenCounter
from rag_assets.model import Block, Parent, ParsedDocument
from rag_assets.workspace.settings import ChunkSettings

PARENTS_VERSION = "1"

# Where a section is too long for one parent, its parts are wanted at this share of the upper
# size, which leaves room to end at a paragraph, and not below the other.
_WANTED_SHARE = 0.75
_LEAST_SHARE = 0.25


def sentence_breaks(document: ParsedDocument) -> list[int]:
    """Return the offsets that end a sentence whatever stands there, ascending.

    They are the bounds of headings, rows, list items, tables and code. Bounds of paragraphs are
    not among them: a parser that joins a paragraph over a column or page end leaves no blank line
    there, and the sentence goes on.
    """
    blocks = [block for block in document.blocks if block.kind != "paragraph"]
    return sorted({offset for block in blocks for offset in (block.start, block.end)})


def _breaks_inside(breaks: Sequence[int], start: int, end: int) -> tuple[int, ...]:
    return tuple(start + offset for offset in breaks_within(breaks, start, end))


def make_parents(
    document: ParsedDocument, settings: ChunkSettings, count: TokenCounter
) -> list[Parent]:
    """Divide a document into its parents.

    With pages: one parent a page, `p003`. A sentence that runs over a page end stays whole and
    belongs to the page where it begins; a page where none begins gives no parent. Without pages:
    one parent a section, `s000`; a section above `settings.parent_tokens` becomes several. A
    heading without text of its own joins the section below it.

    Args:
        document: as parsed; pages partition its text.
        settings: `parent_tokens` is read.
        count: counts tokens (`Tokenizer.count`).

    Returns:
        Parents in order. They are slices of the text, disjoint, and together hold every visible
        character.
    """
    if document.pages:
        return _page_parents(document)
    return _section_parents(document, settings, count)


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
    offsets = [offset for _, offset in page_starts]
    first = bisect_right(offsets, start) - 1
    last = bisect_right(offsets, max(start, end - 1)) - 1
    return page_starts[max(0, first)][0], page_starts[max(0, last)][0]


def _page_parents(document: ParsedDocument) -> list[Parent]:
    text, pages = document.text, document.pages
    offsets = [page.start for page in pages]
    breaks = sentence_breaks(document)
    sentences = split_sentences(text, breaks)
    by_page: dict[int, list[tuple[int, int]]] = {}
    for sentence in sentences:
        # The last page that begins at or before the sentence; empty pages have no characters.
        by_page.setdefault(bisect_right(offsets, sentence[0]) - 1, []).append(sentence)
    headings = _heading_paths(document)
    parents = []
    for order, (index, spans) in enumerate(by_page.items()):
        start, end = spans[0][0], spans[-1][1]
        touched = [
            (page.number, page.start)
            for page in pages[index : bisect_left(offsets, end)]
            if next_visible(text, max(page.start, start)) < min(page.end, end)
        ]
        parents.append(
            Parent(
                label=f"p{pages[index].number:03d}",
                order=order,
                char_start=start,
                char_end=end,
                text=text[start:end],
                page_starts=tuple(touched),
                section_path=_path_at(headings, start),
                breaks=_breaks_inside(breaks, start, end),
            )
        )
    return parents


_Headings = list[tuple[int, tuple[str, ...]]]


def _heading_paths(document: ParsedDocument) -> _Headings:
    """Return (offset, path) for each heading, in order."""
    open_headings: list[tuple[int, str]] = []
    headings: _Headings = []
    for block in document.blocks:
        if block.kind != "heading":
            continue
        level = block.level or 1
        while open_headings and open_headings[-1][0] >= level:
            open_headings.pop()
        title = " ".join(document.text[block.start : block.end].lstrip("#").split())
        if title:
            open_headings.append((level, title))
        headings.append((block.start, tuple(title for _, title in open_headings)))
    return headings


def _path_at(headings: _Headings, offset: int) -> tuple[str, ...]:
    index = bisect_right(headings, offset, key=lambda heading: heading[0]) - 1
    return headings[index][1] if index >= 0 else ()


def _sections(document: ParsedDocument) -> _Headings:
    """Return (offset, path) for each section; a bare heading opens the section below it."""
    blocks = [block for block in document.blocks if block.kind == "heading"]
    sections: _Headings = [(0, ())]
    previous: Block | None = None
    for block, (start, path) in zip(blocks, _heading_paths(document), strict=True):
        is_bare = (
            previous is not None
            and (previous.level or 1) < (block.level or 1)
            and next_visible(document.text, previous.end) >= block.start
        )
        sections.append((sections.pop()[0] if is_bare else start, path))
        previous = block
    return sections


def _section_parents(
    document: ParsedDocument, settings: ChunkSettings, count: TokenCounter
) -> list[Parent]:
    text = document.text
    breaks = sentence_breaks(document)
    units = _units(text, split_sentences(text, breaks), settings.parent_tokens, count)
    bounds = Bounds(
        least=max(1, round(settings.parent_tokens * _LEAST_SHARE)),
        target=max(1, round(settings.parent_tokens * _WANTED_SHARE)),
        most=settings.parent_tokens,
    )
    sections = _sections(document)
    starts = [offset for offset, _ in sections] + [len(text)]
    parents: list[Parent] = []
    position = 0
    for index, (_, path) in enumerate(sections):
        stop = bisect_left(units, starts[index + 1], lo=position, key=lambda unit: unit.start)
        for first, behind in _divide(units[position:stop], bounds):
            start, end = units[position + first].start, units[position + behind - 1].end
            parents.append(
                Parent(
                    label=f"s{len(parents):03d}",
                    order=len(parents),
                    char_start=start,
                    char_end=end,
                    text=text[start:end],
                    section_path=path,
                    breaks=_breaks_inside(breaks, start, end),
                )
            )
        position = stop
    return parents


def _divide(units: Sequence[Unit], bounds: Bounds) -> list[tuple[int, int]]:
    """Keep a section whole where it fits into one parent, else pack it."""
    if not units:
        return []
    tokens = units[-1].last_token - units[0].first_token
    if size_of(tokens, units[-1].end - units[0].start) <= bounds.most:
        return [(0, len(units))]
    return pack(units, bounds)


def _units(
    text: str,
    sentences: Sequence[tuple[int, int]],
    most: int,
    count: TokenCounter,
) -> list[Unit]:
    """Return the sentences, those above `most` tokens cut, with their running token counts."""
    spans: list[tuple[int, int]] = []
    sizes: list[int] = []
    waiting = list(sentences)
    while waiting:
        tokens = count([text[start:end] for start, end in waiting])
        again: list[tuple[int, int]] = []
        for (start, end), size in zip(waiting, tokens, strict=True):
            if size_of(size, end - start) <= most:
                spans.append((start, end))
                sizes.append(size)
            else:
                again += _cut_evenly(text, start, end, size_of(size, end - start), most)
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


def _cut_evenly(text: str, start: int, end: int, size: int, most: int) -> list[tuple[int, int]]:
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
