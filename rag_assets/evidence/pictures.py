"""Pictures of the places that are quoted: the part of a PDF page around them."""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any  # Any: documents and pages of PyMuPDF

from rag_assets.evidence.pack import EvidenceItem, PackSource
from rag_assets.model import PageBox, hash_bytes
from rag_assets.workspace import LivingContent, Namespace, Workspace

# Dots an inch: text of ten points can be read without making the page heavy.
_DPI = 120
_POINTS_PER_INCH = 72
# Printed lines above and below the quote that are shown with it, in points.
_AROUND = 72.0
_JPEG_QUALITY = 70
# A page of a poster would need gigabytes of pixels; one picture of a scan can be megabytes.
_MAX_PIXELS = 20_000_000
_MAX_PICTURE_BYTES = 600_000
# All pictures of a page together: what a browser and a mailbox still take.
_MAX_TOTAL_BYTES = 20_000_000


@dataclass(frozen=True, slots=True)
class Picture:
    """A part of a page.

    Args:
        page: from 1.
        data_uri: the JPEG itself.
        width: in pixels; `height` likewise.
        marks: rectangles over the quote as shares of width and height: left, top, width, height.
    """

    page: int
    data_uri: str
    width: int
    height: int
    marks: tuple[tuple[float, float, float, float], ...]


@dataclass(frozen=True, slots=True)
class WholePage:
    """A page as a picture.

    Args:
        jpeg: its bytes.
        width: of the page in points, in which boxes are given; `height` likewise.
    """

    jpeg: bytes
    width: float
    height: float


class PagePictures:
    """Draws the places of items; each page is rendered once.

    Args:
        workspace: that holds the raw files.

    Use it as a context: files stay open in between.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._documents: dict[tuple[str, str], Any] = {}
        self._pages: dict[tuple[str, str, int], tuple[Any, float]] = {}
        self._bytes = 0

    def __enter__(self) -> "PagePictures":
        return self

    def __exit__(self, *_: object) -> None:
        for document in self._documents.values():
            if not isinstance(document, str):
                document.close()
        self._documents.clear()
        self._pages.clear()

    def draw(self, item: EvidenceItem, source: PackSource) -> tuple[list[Picture], str | None]:
        """Return the pictures of an item, one a page, and why there are none.

        Returns:
            Pictures and None; or no picture and a sentence; or neither for what has no pages.
        """
        if not item.boxes:
            return [], None
        document = self._open(source)
        if isinstance(document, str):
            return [], document
        pictures: list[Picture] = []
        for number in sorted({box.page for box in item.boxes}):
            if self._bytes > _MAX_TOTAL_BYTES:
                return pictures, "No picture: those before it already make this page large."
            picture = self._draw_page(document, source, item, number)
            if isinstance(picture, str):
                return pictures, picture
            pictures.append(picture)
        return pictures, None

    def _open(self, source: PackSource) -> Any:
        """Return the open document, or a sentence that says why it cannot be shown."""
        key = (source.namespace, source.content_hash)
        if key not in self._documents:
            self._documents[key] = _opened(self._workspace, source.namespace, source.content_hash)
        return self._documents[key]

    def _draw_page(
        self, document: Any, source: PackSource, item: EvidenceItem, number: int
    ) -> Picture | str:
        from rag_assets.parsing import load_pymupdf

        pymupdf = load_pymupdf()
        boxes = [box for box in item.boxes if box.page == number]
        try:
            page = document[number - 1]
            pixels, scale = self._render(page, source, number)
            area = pymupdf.Rect(
                0,
                max(0.0, min(box.y0 for box in boxes) - _AROUND),
                page.rect.width,
                min(page.rect.height, max(box.y1 for box in boxes) + _AROUND),
            )
            marks = _marked(page, item, boxes, pymupdf)
            cut = pymupdf.IRect(
                0, int(area.y0 * scale), pixels.width, min(pixels.height, int(area.y1 * scale) + 1)
            )
            part = pymupdf.Pixmap(pixels.colorspace, cut, False)
            part.copy(pixels, cut)
            data = _compressed(part)
        except (RuntimeError, ValueError, IndexError, pymupdf.mupdf.FzErrorBase) as error:
            return f"No picture: page {number} cannot be drawn ({error})."
        self._bytes += len(data)
        return Picture(
            number,
            f"data:image/jpeg;base64,{base64.b64encode(data).decode('ascii')}",
            part.width,
            part.height,
            tuple(
                (
                    rect.x0 / area.width,
                    (rect.y0 - area.y0) / area.height,
                    rect.width / area.width,
                    rect.height / area.height,
                )
                for rect in marks
            ),
        )

    def _render(self, page: Any, source: PackSource, number: int) -> tuple[Any, float]:
        key = (source.namespace, source.content_hash, number)
        if key not in self._pages:
            self._pages[key] = _rendered(page)
        return self._pages[key]


def draw_page(
    workspace: Workspace, namespace: str, content_hash: str, number: int
) -> "WholePage | str":
    """Return a page of a printed document as a picture, or a sentence that says why there is none.

    Args:
        number: of the page, from 1.
    """
    from rag_assets.parsing import load_pymupdf

    document = _opened(workspace, namespace, content_hash)
    if isinstance(document, str):
        return document
    failures = (RuntimeError, ValueError, IndexError, load_pymupdf().mupdf.FzErrorBase)
    with document:
        try:
            page = document[number - 1]
            pixels, _ = _rendered(page)
            return WholePage(_compressed(pixels), page.rect.width, page.rect.height)
        except failures as error:
            return f"No picture: page {number} cannot be drawn ({error})."


def _rendered(page: Any) -> tuple[Any, float]:
    """Return the pixels of a page, and how many of them a point has."""
    from rag_assets.parsing import load_pymupdf

    scale = _DPI / _POINTS_PER_INCH
    pixels = page.rect.width * page.rect.height * scale**2
    if pixels > _MAX_PIXELS:
        scale *= (_MAX_PIXELS / pixels) ** 0.5
    matrix = load_pymupdf().Matrix(scale, scale)
    return page.get_pixmap(matrix=matrix, alpha=False), scale


def _opened(workspace: Workspace, name: str, content_hash: str) -> Any:
    """Return an open document, or a sentence that says why it cannot be shown."""
    from rag_assets.parsing import load_pymupdf, password_of
    from rag_assets.workspace import require_inventory

    namespace = workspace.namespace(name)
    living = require_inventory(namespace).contents.get(content_hash)
    if living is None:
        return "No picture: the file that was read is not in raw/ any more."
    uri = living.first.source_uri
    data = _read_raw(namespace, living)
    if data is None:
        return f"No picture: {uri} was changed or removed since it was read."
    pymupdf = load_pymupdf()
    try:
        document = pymupdf.open(stream=data, filetype="pdf")
    except (RuntimeError, pymupdf.mupdf.FzErrorBase) as error:
        return f"No picture: {uri} cannot be drawn ({error})."
    if document.needs_pass and not document.authenticate(password_of(living) or ""):
        document.close()
        return f"No picture: {uri} is protected and its password is gone."
    return document


def _read_raw(namespace: Namespace, living: LivingContent) -> bytes | None:
    """Return the bytes that were read, from the first of their files that still holds them."""
    for one in living.sources:
        # By its place below the raw folder: the inventory's own path is that of its last look.
        place = namespace.raw_file(one.source_uri)
        if place is not None and place.is_file():
            data = place.read_bytes()
            if hash_bytes(data) == living.content_hash:
                return data
    return None


def _marked(page: Any, item: EvidenceItem, boxes: Sequence[PageBox], pymupdf: Any) -> list[Any]:
    """Return the rectangles of the quoted words; of their whole lines where they are not found."""
    lines = [pymupdf.Rect(box.x0, box.y0, box.x1, box.y1) for box in boxes]
    around = pymupdf.Rect(lines[0])
    for line in lines[1:]:
        around |= line
    if page.rotation:
        return lines
    flags = pymupdf.TEXTFLAGS_SEARCH & ~pymupdf.TEXT_PRESERVE_LIGATURES
    text = page.get_textpage(clip=around, flags=flags)

    def find(words: Sequence[str]) -> list[Any]:
        found = page.search_for(" ".join(words), textpage=text)
        # The words can stand elsewhere between the lines, in the next column.
        return [rect for rect in found if any(rect.intersects(line) for line in lines)]

    words = item.exact_quote.split()
    numbers = [box.page for box in item.boxes]
    if boxes[-1].page < max(numbers):  # it goes on: as many of its first words as stand here
        return find(words[: _longest(len(words), lambda count: find(words[:count]))]) or lines
    if boxes[0].page > min(numbers):  # its last words
        return find(words[-_longest(len(words), lambda count: find(words[-count:])) :]) or lines
    return find(words) or lines


def _longest(most: int, is_found: Callable[[int], object]) -> int:
    """Return the highest count, at least 1, up to which everything is found."""
    low, high = 1, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if is_found(middle) else (low, middle - 1)
    return low


def _compressed(part: Any) -> bytes:
    quality = _JPEG_QUALITY
    data: bytes = part.tobytes("jpeg", jpg_quality=quality)
    while len(data) > _MAX_PICTURE_BYTES and quality > 20:
        quality -= 20
        data = part.tobytes("jpeg", jpg_quality=quality)
    return data
