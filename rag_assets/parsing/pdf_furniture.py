"""Running heads, feet and page numbers: lines that repeat from page to page."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median_low

from rag_assets.parsing.pdf_lines import Line, Page

# Two pages that share a line prove nothing.
MIN_PAGES = 3
# Heads and feet of the usual templates stand in the outer 4 to 10 % of the page.
_REGION_SHARE = 0.12
# A head keeps its height to within a line on all pages; a row of a table does not.
_MAX_DRIFT_POINTS = 10.0
# Heads of left and right pages differ: a template of one side is hardly ever on the other.
_MAX_OTHER_SIDE_SHARE = 0.1

_DIGITS = re.compile(r"\d+")
_ROMAN_PAGE_NUMBER = re.compile(r"[\W_]*[ivxlc]{1,7}[\W_]*", re.IGNORECASE)

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
    while the other side has hardly any (spec 000: threshold 0.6, templates recorded).

    Args:
        pages: all pages of the document.
        repeated_line_share: from 0 to 1.

    Returns:
        The templates that were removed, sorted.
    """
    if len(pages) < MIN_PAGES:
        return ()
    found: dict[tuple[str, str], _Seen] = defaultdict(dict)
    for index, page in enumerate(pages):
        for region, line in _candidates(page):
            found[region, line_template(line.text)].setdefault(index, line)
    removed: set[str] = set()
    doomed: list[set[int]] = [set() for _ in pages]
    for (_, template), seen in found.items():
        steady = _at_one_height(seen)
        if _repeats(steady, len(pages), repeated_line_share):
            removed.add(template)
            for index, line in steady.items():
                doomed[index].add(id(line))
    for page, ids in zip(pages, doomed, strict=True):
        if ids:
            kept = [[line for line in block if id(line) not in ids] for block in page.blocks]
            page.blocks = [block for block in kept if block]
    return tuple(sorted(removed))


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
