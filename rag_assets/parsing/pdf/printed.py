"""What is printed where on a page, and pictures of it."""

import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from rag_assets.model import Attachment, Block, Box, ParsedDocument, ParseFailure, SourceLine
from rag_assets.parsing.pdf.opening import load_pymupdf

# The map from clean text back to the print: which characters of a page became a span, and where.
#
# A line's clean text differs from its printed characters only in ways that can be undone by
# walking both at once: ligatures expanded, white space folded, invisible characters and division
# hyphens dropped, pipes escaped in cells of tables, a caret before an exponent.

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


# Pictures of PDF pages: what the parser found, drawn where it stands.

_Colour = tuple[float, float, float]

_POINTS_PER_INCH = 72
# Beyond this a page of A0 would need gigabytes of pixels.
_MAX_PIXELS = 40_000_000
_COLOURS: dict[str, _Colour] = {
    "title": (0.75, 0.0, 0.45),
    "front": (0.55, 0.35, 0.75),
    "heading": (0.85, 0.1, 0.1),
    "unplaced_heading": (0.95, 0.5, 0.5),
    "paragraph": (0.1, 0.35, 0.8),
    "list": (0.0, 0.6, 0.6),
    "table": (0.1, 0.55, 0.15),
    "code": (0.35, 0.35, 0.35),
    "formula": (0.8, 0.55, 0.0),
    "caption": (0.95, 0.45, 0.0),
    "figure": (0.55, 0.45, 0.1),
    "drawing": (0.7, 0.6, 0.3),
    "reference": (0.35, 0.5, 0.35),
    "footnote": (0.5, 0.25, 0.1),
}
_OTHER_COLOUR: _Colour = (0.4, 0.4, 0.4)
_SPAN_COLOUR: _Colour = (1.0, 0.85, 0.0)
_FILLED_KINDS = ("title", "heading", "unplaced_heading")
_LABEL_POINTS = 6.5


def draw_page(
    data: bytes, document: ParsedDocument, page: int, dpi: int = 110, password: str | None = None
) -> bytes:
    """Return a page with the blocks that were found drawn on it, as PNG.

    Every block has the colour of its kind and a label: its place in the reading order, its kind,
    the level of a heading. Titles and headings are filled lightly; a legend counts the kinds.

    Args:
        data: the PDF.
        document: its parse.
        page: number, from 1.
        dpi: dots per inch of the picture.
        password: of a protected file.

    Raises:
        ParseFailure: the file or the page cannot be drawn.
        ValueError: the document has no such page.
    """
    with _canvas(data, page, dpi, password) as canvas:
        shown = list(_blocks_on(document, page))
        for order, block, boxes in shown:
            colour = _COLOURS.get(block.kind, _OTHER_COLOUR)
            for box in boxes:
                canvas.outline(box, colour, 0.18 if block.kind in _FILLED_KINDS else 0.0)
            level = f" {block.level}" if block.level is not None else ""
            canvas.label(boxes[0], f"{order} {block.kind}{level}", colour)
        for attachment in document.attachments:
            if attachment.page == page and attachment.bbox is not None:
                canvas.outline(attachment.bbox, _COLOURS["figure"], 0.06)
                canvas.label(_bottom(attachment.bbox), attachment.attachment_id, _OTHER_COLOUR)
        canvas.legend(Counter(block.kind for _, block, _ in shown))
        return canvas.png()


def draw_spans(
    data: bytes,
    boxes: Iterable[tuple[int, Box]],
    page: int,
    dpi: int = 110,
    password: str | None = None,
) -> bytes:
    """Return a page with the given places marked, as PNG.

    Args:
        data: the PDF.
        boxes: (page, box), as `boxes_of` returns them; those of other pages are left out.
        page: number, from 1.
        dpi: dots per inch of the picture.
        password: of a protected file.

    Raises:
        ParseFailure: the file or the page cannot be drawn.
        ValueError: the document has no such page.
    """
    with _canvas(data, page, dpi, password) as canvas:
        for number, box in boxes:
            if number == page:
                canvas.outline(box, _SPAN_COLOUR, 0.35)
        return canvas.png()


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


class _Canvas:
    """A picture of a page, on which places are drawn in the coordinates of the page as shown."""

    def __init__(self, sheet: Any, dpi: int) -> None:
        self._sheet = sheet
        self._dpi = dpi
        self._pymupdf = load_pymupdf()

    def outline(self, box: Box, colour: _Colour, fill_opacity: float) -> None:
        rectangle = self._pymupdf.Rect(box)
        if rectangle.is_empty or rectangle.is_infinite:
            return
        fill = {"fill": colour, "fill_opacity": fill_opacity} if fill_opacity else {}
        self._sheet.draw_rect(rectangle, color=colour, width=0.8, **fill)

    def label(self, box: Box, text: str, colour: _Colour) -> None:
        width = self._pymupdf.get_text_length(text, fontsize=_LABEL_POINTS)
        left = max(1.0, min(box[0], self._sheet.rect.width - width - 2))
        top = max(1.0, box[1] - _LABEL_POINTS)
        tag = self._pymupdf.Rect(left, top, left + width + 2, top + _LABEL_POINTS + 1)
        self._sheet.draw_rect(tag, color=None, fill=(1, 1, 1), fill_opacity=0.75)
        self._sheet.insert_text(
            (left + 1, top + _LABEL_POINTS - 0.5), text, fontsize=_LABEL_POINTS, color=colour
        )

    def legend(self, counts: Counter[str]) -> None:
        for row, (kind, count) in enumerate(sorted(counts.items())):
            self.label((2, 10 + 9 * row, 2, 0), f"{count} {kind}", _COLOURS.get(kind, (0, 0, 0)))

    def png(self) -> bytes:
        return bytes(self._sheet.get_pixmap(dpi=self._dpi, alpha=False).tobytes("png"))


@contextmanager
def _canvas(data: bytes, page: int, dpi: int, password: str | None) -> Iterator[_Canvas]:
    pymupdf = load_pymupdf()
    with _opened_page(data, page, password) as source:
        dpi = _allowed_dpi(source.rect, dpi)
        # As a picture on a page of its own, the source's rotation and crop box are gone.
        pixels = source.get_pixmap(dpi=dpi, alpha=False)
        width, height = source.rect.width, source.rect.height
    with closing(pymupdf.open()) as paper:
        sheet = paper.new_page(width=width, height=height)
        sheet.insert_image(sheet.rect, pixmap=pixels)
        yield _Canvas(sheet, dpi)


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
            "anew.",
        ) from error


def _allowed_dpi(area: Any, dpi: int) -> int:
    """Return `dpi`, lowered where the picture would be too large for memory."""
    pixels = area.width * area.height * (dpi / _POINTS_PER_INCH) ** 2
    return dpi if pixels <= _MAX_PIXELS else max(1, int(dpi * (_MAX_PIXELS / pixels) ** 0.5))


def _blocks_on(document: ParsedDocument, page: int) -> Iterator[tuple[int, Block, Sequence[Box]]]:
    """Yield (order in the document, block, its boxes) for the blocks with a place on `page`."""
    for order, block in enumerate(document.blocks):
        if block.page == page and block.bbox is not None:
            yield order, block, [block.bbox]
        elif block.page is not None and block.page < page:
            boxes = [
                box for number, box in boxes_of(document, block.start, block.end) if number == page
            ]
            if boxes:
                yield order, block, boxes


def _bottom(box: Box) -> Box:
    return (box[0], box[3], box[2], box[3])
