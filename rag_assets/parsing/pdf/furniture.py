"""Running heads, feet and page numbers: what repeats from page to page beside the text."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from statistics import median_low

from rag_assets.parsing.pdf.lines import Line, Page

# Two pages that share a line prove nothing.
MIN_PAGES = 3
# Heads and feet of the usual templates stand in the outer 4 to 14 % of the page.
_REGION_SHARE = 0.15
# A head keeps its height to within a line on all pages; a row of a table does not.
_MAX_DRIFT_POINTS = 10.0
# Heads of left and right pages differ: a template of one side is hardly ever on the other.
_MAX_OTHER_SIDE_SHARE = 0.1
# Heads that change by chapter or by side keep font and height; most of them occur again.
_SLOT_BUCKET_POINTS = 3.0
_MIN_REPEATED_SHARE = 0.7
# White space between a head and the text, in the size of the head's font.
_MIN_HEAD_GAP_EMS = 0.6

_DIGITS = re.compile(r"\d+")
_ROMAN_PAGE_NUMBER = re.compile(r"[\W_]*[ivxlc]{1,7}[\W_]*", re.IGNORECASE)
# The stamp of a preprint server on the first page's margin.
_STAMP = re.compile(r"arXiv:\s?(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})")

_Seen = dict[int, Line]


def line_template(text: str) -> str:
    """Return `text` with every run of digits (or a roman page number) folded to `#`."""
    if _ROMAN_PAGE_NUMBER.fullmatch(text):
        return "#"
    return _DIGITS.sub("#", text)


def remove_furniture(pages: Sequence[Page], repeated_line_share: float) -> tuple[str, ...]:
    """Take running heads, feet and page numbers out of `pages`, in place.

    A line goes when its template stands at the same height in the top or bottom region (sideways
    lines: anywhere) of at least the given share of the pages, or of the left or the right pages
    while the other side has hardly any (spec 000: threshold 0.6, templates recorded). So do the
    heads that change (by chapter, by side) where the outermost line of so many pages has one font
    and height and most of its templates occur again; and a preprint server's stamp.

    Args:
        pages: all pages of the document.
        repeated_line_share: from 0 to 1.

    Returns:
        The templates that were removed, sorted.
    """
    removed: set[str] = set()
    doomed: list[set[int]] = [set() for _ in pages]
    _mark_stamps(pages, removed, doomed)
    if len(pages) >= MIN_PAGES:
        _mark_templates(pages, repeated_line_share, removed, doomed)
        _mark_changing_heads(pages, repeated_line_share, removed, doomed)
        _mark_turned_heads(pages, removed, doomed)
    for page, ids in zip(pages, doomed, strict=True):
        if ids:
            kept = [[line for line in block if id(line) not in ids] for block in page.blocks]
            page.blocks = [block for block in kept if block]
    return tuple(sorted(removed))


def _mark_templates(
    pages: Sequence[Page], share: float, removed: set[str], doomed: Sequence[set[int]]
) -> None:
    found: dict[tuple[str, str], _Seen] = defaultdict(dict)
    for index, page in enumerate(pages):
        for region, line in _candidates(page):
            if id(line) in doomed[index]:
                continue
            seen = found[region, line_template(line.text)]
            other = seen.get(index)
            if other is None or _is_further_out(region, line, other):
                seen[index] = line
    for (_, template), seen in found.items():
        steady = _at_one_height(seen)
        if _repeats(steady, len(pages), share):
            removed.add(template)
            for index, line in steady.items():
                doomed[index].add(id(line))


def _is_further_out(region: str, line: Line, other: Line) -> bool:
    if region == "bottom":
        return line.box[1] > other.box[1]
    return region == "top" and line.box[1] < other.box[1]


def _candidates(page: Page) -> Iterator[tuple[str, Line]]:
    top = _REGION_SHARE * page.height
    bottom = page.height - top
    for block in page.blocks:
        for line in block:
            if not line.upright:
                yield "side", line
            elif line.box[3] <= top:
                yield "top", line
            elif line.box[1] >= bottom:
                yield "bottom", line


def _at_one_height(seen: _Seen) -> _Seen:
    height = median_low([line.box[1] for line in seen.values()])
    return {
        index: line
        for index, line in seen.items()
        if abs(line.box[1] - height) <= _MAX_DRIFT_POINTS
    }


def _repeats(seen: _Seen, page_count: int, share: float) -> bool:
    if len(seen) < MIN_PAGES:
        return False
    if len(seen) >= share * page_count:
        return True
    right_count, left_count = (page_count + 1) // 2, page_count // 2
    right = sum(index % 2 == 0 for index in seen)
    left = len(seen) - right
    for here, here_count, there, there_count in (
        (right, right_count, left, left_count),
        (left, left_count, right, right_count),
    ):
        if here >= max(MIN_PAGES, share * here_count):
            return there <= _MAX_OTHER_SIDE_SHARE * there_count
    return False


def _mark_changing_heads(
    pages: Sequence[Page], share: float, removed: set[str], doomed: Sequence[set[int]]
) -> None:
    """Mark heads and feet whose text changes, but neither their place nor their font."""
    slots: dict[tuple[str, str, float, int], _Seen] = defaultdict(dict)
    for index, page in enumerate(pages):
        for region, line in _outermost(page, doomed[index]):
            height = round(line.box[1] / _SLOT_BUCKET_POINTS)
            slots[region, line.font, round(line.size, 1), height][index] = line
    for key in sorted(slots):
        region, font, size, height = key
        seen = {**slots.get((region, font, size, height + 1), {}), **slots[key]}
        # The first page of many templates has no head.
        is_wide = len(seen) >= max(MIN_PAGES, share * (len(pages) - 1))
        if not is_wide and not _repeats(seen, len(pages), share):
            continue
        counts = Counter(line_template(line.text) for line in seen.values())
        repeated = sum(count for count in counts.values() if count > 1)
        if repeated < max(MIN_PAGES, _MIN_REPEATED_SHARE * len(seen)):
            continue
        for index, line in seen.items():
            removed.add(line_template(line.text))
            doomed[index].add(id(line))


def _outermost(page: Page, doomed: set[int]) -> Iterator[tuple[str, Line]]:
    """Yield the lines of the outermost rows that white space sets apart from the text."""
    lines = [
        line for block in page.blocks for line in block if line.upright and id(line) not in doomed
    ]
    if not lines:
        return
    first = min(lines, key=lambda line: line.box[1])
    last = max(lines, key=lambda line: line.box[3])
    for region, edge in (("top", first), ("bottom", last)):
        row = [line for line in lines if edge.shares_row(line)]
        rest = [line for line in lines if not edge.shares_row(line)]
        top = min(line.box[1] for line in row)
        bottom = max(line.box[3] for line in row)
        if region == "top":
            inside = bottom <= _REGION_SHARE * page.height
            gap = min((line.box[1] for line in rest), default=page.height) - bottom
        else:
            inside = top >= (1 - _REGION_SHARE) * page.height
            gap = top - max((line.box[3] for line in rest), default=0.0)
        if inside and gap >= _MIN_HEAD_GAP_EMS * edge.size:
            for line in row:
                yield region, line


def _mark_turned_heads(
    pages: Sequence[Page], removed: set[str], doomed: Sequence[set[int]]
) -> None:
    """Mark the heads of pages that are printed sideways: their text is known from the others."""
    known = {template for template in removed if template != "#"}
    for index, page in enumerate(pages):
        for block in page.blocks:
            for line in block:
                if not line.upright and line_template(line.text) in known:
                    doomed[index].add(id(line))


def _mark_stamps(pages: Sequence[Page], removed: set[str], doomed: Sequence[set[int]]) -> None:
    for block in pages[0].blocks if pages else []:
        for line in block:
            if not line.upright and _STAMP.search(line.text):
                removed.add(line_template(line.text))
                doomed[0].add(id(line))
