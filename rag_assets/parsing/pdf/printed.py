"""The map from clean text back to the print: which characters of a page became a span, and where.

A line's clean text differs from its printed characters only in ways that can be undone by
walking both at once: ligatures expanded, white space folded, invisible characters and division
hyphens dropped, pipes escaped in cells of tables, a caret before an exponent.
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator

from rag_assets.model import Box, ParsedDocument, SourceLine

# Lines of one column whose edges differ by less are drawn as one box, in line heights.
_MAX_LINE_GAP = 0.9


def printed_span(line: SourceLine, text: str, start: int, end: int) -> tuple[int, int]:
    """Return the part of a printed line that became the clean characters `start` to `end`.

    Args:
        line: of the document.
        text: the document's clean text.
        start: offset in `text`; what lies outside the line is cut off. `end` likewise.

    Returns:
        (start, end) in `line.printed` (in the line's clean text where `printed` is None); both
        equal where no character of the line is in the span.
    """
    first, last = max(start, line.start) - line.start, min(end, line.end) - line.start
    if first >= last:
        return (0, 0)
    if line.printed is None:
        return first, last
    places = align(text[line.start : line.end], line.printed)
    return places[first][0], places[last - 1][1]


def align(clean: str, printed: str) -> list[tuple[int, int]]:
    """Return for each character of `clean` the half-open span of `printed` that it came from.

    A clean character without counterpart (an escape, a mark of Markdown) gets the empty span at
    its place. The spans never go backwards.
    """
    places: list[tuple[int, int]] = []
    index = 0
    while len(places) < len(clean):
        found = _match(clean, len(places), printed, index)
        if found is None:
            places.append((index, index))
            continue
        index, length, width = found
        places += [(index, index + length)] * width
        index += length
    return places


def _match(clean: str, at: int, printed: str, index: int) -> tuple[int, int, int] | None:
    """Find where in `printed`, from `index` on, the clean character `at` stands.

    Returns:
        (place, printed characters, clean characters) that answer each other; None if nowhere.
    """
    for place in range(index, len(printed)):
        found = _match_here(clean, at, printed, place)
        if found is not None:
            return found
        if clean[at].isspace():
            return None
        if not _is_dropped(printed[place]):
            # Printed characters that the clean text does not have: it goes on behind them.
            later = -1 if clean[at] in "\\|^" else printed.find(clean[at], place)
            return None if later < 0 else (later, 1, 1)
    return None


def _match_here(clean: str, at: int, printed: str, place: int) -> tuple[int, int, int] | None:
    character, other = clean[at], printed[place]
    if character == other:
        return place, 1, 1
    if character.isspace() and _is_blank(other):
        run = place
        while run < len(printed) and _is_blank(printed[run]):
            run += 1
        return place, run - place, 1
    is_hyphen = other == "\xad" and character == "-"
    if is_hyphen or (character == "\ufffd" and "\ud800" <= other <= "\udfff"):
        return place, 1, 1
    expanded = unicodedata.normalize("NFKC", other)
    if expanded != other and not expanded.isspace() and clean.startswith(expanded, at):
        return place, 1, len(expanded)
    return None


def _is_blank(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) == "Cc"


def _is_dropped(character: str) -> bool:
    """Tell whether a printed character may have no counterpart in the clean text."""
    return _is_blank(character) or character in "-\u2010\xad\u200b\u2060\ufeff"


def printed_text(document: ParsedDocument, start: int, end: int) -> str:
    """Return what is printed where the clean text from `start` to `end` stands.

    Printed lines are separated by newlines; running heads and what else is not part of the clean
    text are not in it. Without printed lines (formats without pages) it is the clean text.
    """
    if not document.lines:
        return document.text[start:end]
    parts = []
    for line in _lines_in(document, start, end):
        first, last = printed_span(line, document.text, start, end)
        source = document.text[line.start : line.end] if line.printed is None else line.printed
        if first < last:
            # A dropped division hyphen is printed too.
            if end >= line.end and not source[last:].strip("-\u2010\xad \t"):
                last = len(source.rstrip())
            parts.append(source[first:last])
    return "\n".join(parts)


def boxes_of(document: ParsedDocument, start: int, end: int) -> list[tuple[int, Box]]:
    """Return where on the pages the clean text from `start` to `end` stands.

    Lines that belong to the span in part are drawn whole: how wide a character is, the file does
    not say. Lines that follow each other in one column are merged into one box.

    Returns:
        (page, box), in the order of the text; empty for formats without pages.
    """
    merged: list[tuple[int, Box]] = []
    for line in _lines_in(document, start, end):
        if merged and merged[-1][0] == line.page and _is_run(merged[-1][1], line.bbox):
            merged[-1] = (line.page, _around(merged[-1][1], line.bbox))
        else:
            merged.append((line.page, line.bbox))
    return merged


def _lines_in(document: ParsedDocument, start: int, end: int) -> Iterator[SourceLine]:
    lines = document.lines
    first = bisect_right(lines, start, key=lambda line: line.end)
    for index in range(first, len(lines)):
        if lines[index].start >= end:
            return
        yield lines[index]


def _is_run(box: Box, line: Box) -> bool:
    """Tell whether a line stands right below a box, or beside it in the same row, in one column."""
    height = max(1.0, line[3] - line[1])
    gap = line[1] - box[3]
    overlap = min(box[2], line[2]) - max(box[0], line[0])
    if overlap > 0:
        return -height <= gap <= _MAX_LINE_GAP * height
    beside = abs(line[1] - box[1]) < height / 2 and abs(line[3] - box[3]) < height / 2
    return beside and 0 <= line[0] - box[2] <= 2 * height


def _around(box: Box, line: Box) -> Box:
    return (
        min(box[0], line[0]),
        min(box[1], line[1]),
        max(box[2], line[2]),
        max(box[3], line[3]),
    )
