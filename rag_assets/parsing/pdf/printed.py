"""What is printed where on a page, and pictures of it."""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from rag_assets.model import Attachment, ParsedDocument, ParseFailure, SourceLine
from rag_assets.parsing.pdf.opening import load_pymupdf

# The map from clean text back to the print: which characters of a page became a span, and where.
#
# A line's clean text differs from its printed characters only in ways that can be undone by
# walking both at once: ligatures expanded, white space folded, invisible characters and division
# hyphens dropped, pipes escaped in cells of tables, a caret before an exponent.


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


def _lines_in(document: ParsedDocument, start: int, end: int) -> Iterator[SourceLine]:
    lines = document.lines
    first = bisect_right(lines, start, key=lambda line: line.end)
    for index in range(first, len(lines)):
        if lines[index].start >= end:
            return
        yield lines[index]


# Pictures of the figures of PDF pages.

_POINTS_PER_INCH = 72
# Beyond this a page of A0 would need gigabytes of pixels.
_MAX_PIXELS = 40_000_000


def render_attachment(
    data: bytes, attachment: Attachment, password: str | None = None, dpi: int = 150
) -> bytes:
    """Return the picture of a figure, image or table of a PDF, as PNG.

    Args:
        data: the PDF.
        attachment: with page and bbox.
        password: of a protected file.
        dpi: dots per inch of the picture.

    Raises:
        ParseFailure: the file or the page cannot be drawn.
        ValueError: the attachment has no place, or the document no such page.
    """
    if attachment.page is None or attachment.bbox is None:
        raise ValueError(f"attachment {attachment.attachment_id} has no place on a page")
    pymupdf = load_pymupdf()
    with _opened_page(data, attachment.page, password) as opened:
        clip = pymupdf.Rect(attachment.bbox) & opened.rect
        if clip.is_empty:
            raise ValueError(f"attachment {attachment.attachment_id} lies outside its page")
        pixels = opened.get_pixmap(dpi=_allowed_dpi(clip, dpi), clip=clip, alpha=False)
        return bytes(pixels.tobytes("png"))


@contextmanager
def _opened_page(data: bytes, page: int, password: str | None) -> Iterator[Any]:
    pymupdf = load_pymupdf()
    try:
        with closing(pymupdf.open(stream=data, filetype="pdf")) as document:
            if document.needs_pass and not document.authenticate(password or ""):
                raise ParseFailure(
                    "password_required", "The file is protected: pass the password that opens it."
                )
            if not 1 <= page <= document.page_count:
                raise ValueError(f"page must be from 1 to {document.page_count}, got {page}")
            yield document[page - 1]
    except (RuntimeError, pymupdf.mupdf.FzErrorBase) as error:
        raise ParseFailure(
            "damaged_file",
            f"Page {page} cannot be drawn ({error}): open the file in a PDF program and save it "
            "again.",
        ) from error


def _allowed_dpi(area: Any, dpi: int) -> int:
    """Return `dpi`, lowered where the picture would be too large for memory."""
    pixels = area.width * area.height * (dpi / _POINTS_PER_INCH) ** 2
    return dpi if pixels <= _MAX_PIXELS else max(1, int(dpi * (_MAX_PIXELS / pixels) ** 0.5))
