"""Lines that repeat headings: tables of contents, and running heads that follow the chapters."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from rag_assets.parsing.pdf.headings.words import fold_title, is_contents_title
from rag_assets.parsing.pdf.paragraphs import Paragraph
from rag_assets.parsing.pdf.styles import BodyStyle, half_points

_LEADERS = re.compile(r"(?:[.·…]\s?){4,}")
_PAGE_AT_END = re.compile(r"(?:(?:^|[\s.·…])(\d{1,4})|[\s.·…][ivxlc]{1,6})$")
_MAX_ENTRY_CHARACTERS = 200
# Entries without a page number (parts, long titles whose end stands apart) between the others.
_MAX_GAP = 3
_MIN_ENTRIES = 3
_MIN_HEADS, _MAX_DISTINCT_SHARE = 4, 0.6
_ROW_POINTS, _SAME_SIZE_POINTS = 4.0, 0.6


def find_contents(paragraphs: Sequence[Paragraph]) -> set[int]:
    """Return the indexes of the paragraphs that a table of contents is made of.

    Args:
        paragraphs: of the whole document, in reading order.
    """
    contents: set[int] = set()
    index = 0
    while index < len(paragraphs):
        titled = is_contents_title(paragraphs[index].text[:40])
        if not titled and not _LEADERS.search(paragraphs[index].text):
            index += 1
            continue
        start = index + 1 if titled else index
        entries, end = _run_of_entries(paragraphs, start)
        if entries >= (1 if titled else _MIN_ENTRIES):
            contents.update(range(start, end))
        index = max(end, index + 1)
    return contents


def _run_of_entries(paragraphs: Sequence[Paragraph], start: int) -> tuple[int, int]:
    """Return how many entries stand from `start` on, and the index after the last.

    The page numbers of the entries never fall: the number of the page itself is none of them.
    """
    entries, end, page = 0, start, 0
    for position in range(start, len(paragraphs)):
        text = paragraphs[position].text
        leaders = len(_LEADERS.findall(text))
        found = _PAGE_AT_END.search(text) if len(text) <= _MAX_ENTRY_CHARACTERS else None
        number = int(found[1]) if found is not None and found[1] else page
        if leaders or (found is not None and number >= page):
            entries += max(leaders, 1)
            end, page = position + 1, number
        elif position - end >= _MAX_GAP or len(text) > _MAX_ENTRY_CHARACTERS:
            break
    return entries, end


def find_running_heads(paragraphs: Sequence[Paragraph], body: BodyStyle) -> set[int]:
    """Return the indexes of lines that name the chapter at the top of its pages.

    They stand highest on many pages, at one height, no larger than the text, and most of them
    more than once or with the words of a heading; heads of most pages are gone already.
    """
    titles = Counter(
        fold_title(paragraph.text)
        for paragraph in paragraphs
        if len(paragraph.text) <= _MAX_ENTRY_CHARACTERS
    )
    top: dict[int, int] = {}
    for index, paragraph in enumerate(paragraphs):
        highest = top.get(paragraph.page)
        if paragraph.upright and (highest is None or paragraph.box[1] < paragraphs[highest].box[1]):
            top[paragraph.page] = index
    rows: dict[tuple[float, int], list[int]] = defaultdict(list)
    for index in top.values():
        paragraph = paragraphs[index]
        if paragraph.size <= body.size + _SAME_SIZE_POINTS and paragraph.kind == "paragraph":
            rows[half_points(paragraph.size), round(paragraph.box[1] / _ROW_POINTS)].append(index)
    heads: set[int] = set()
    for row in rows.values():
        texts = Counter(fold_title(paragraphs[index].text) for index in row)
        repeated = sum(titles[text] > count for text, count in texts.items() if text)
        if len(row) >= _MIN_HEADS and (
            len(texts) <= _MAX_DISTINCT_SHARE * len(row) or 2 * repeated > len(texts)
        ):
            heads.update(row)
    return heads
