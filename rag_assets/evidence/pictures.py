"""Pictures of the places that are quoted: the part of a PDF page around them."""

import base64
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any  # Any: documents and pages of PyMuPDF

from rag_assets.evidence.pack import EvidenceItem, PackSource
from rag_assets.model import PageBox, hash_bytes
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.parsing import WorkerProcess

# Of one page; the heaviest page of a hundred scans took two seconds and 300 MB.
_SECONDS, _MEGABYTES = 15.0, 1024
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


class Drawing:
    """Draws pages in a process with limits of time and memory: a page is a program of its author.

    Args:
        workspace: that holds the raw files.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._refused: dict[tuple[object, ...], str] = {}
        self._worker: WorkerProcess | None = None

    def close(self) -> None:
        """End the process."""
        if self._worker is not None:
            self._worker.close()
        self._worker = None

    def draw(
        self,
        namespace: str,
        content_hash: str,
        number: int,
        quote: str = "",
        boxes: Sequence[PageBox] = (),
    ) -> dict[str, Any] | str:
        """Return what `draw_in_worker` does, or a sentence that says why there is no picture.

        Args:
            number: of the page, from 1.
            boxes: of the quote, on all of its pages; of the whole page none.
        """
        from rag_assets.parsing import WorkerDiedError, WorkerTimeoutError, password_of
        from rag_assets.workspace import require_inventory

        key = (namespace, content_hash, number)
        if key in self._refused:
            return self._refused[key]
        place = self._workspace.namespace(namespace)
        living = require_inventory(place).contents.get(content_hash)
        if living is None:
            return "No picture: the file that was read is not in raw/ any more."
        uri = living.first.source_uri
        # By its place below the raw folder: the inventory's own path is that of its last look.
        paths = [place.raw_file(one.source_uri) for one in living.sources]
        arguments = {
            "paths": [str(path) for path in paths if path is not None],
            "content_hash": content_hash, "uri": uri, "password": password_of(living) or "",
            "number": number, "quote": quote, "boxes": [asdict(box) for box in boxes],
        }  # fmt: skip
        try:
            drawn: dict[str, Any] = self.start().call(f"{__name__}:draw_in_worker", arguments)
        except WorkerTimeoutError:
            why = f"it takes longer than {_SECONDS:g} s"
        except WorkerDiedError:
            why = f"it needs more than {_MEGABYTES} MB of memory, or is damaged"
        else:
            return drawn.get("trouble") or drawn
        self._refused[key] = f"No picture: page {number} of {uri} cannot be drawn ({why})."
        return self._refused[key]

    def start(self) -> "WorkerProcess":
        """Return the process, started where it does not run."""
        from rag_assets.parsing import WorkerProcess

        if self._worker is None or not self._worker.is_alive:
            self.close()
            limits = {"seconds_per_document": _SECONDS, "megabytes_of_memory": _MEGABYTES}
            self._worker = WorkerProcess(self._workspace.settings.parse.model_copy(update=limits))
        return self._worker


class PagePictures:
    """Draws the places of items.

    Args:
        workspace: that holds the raw files.

    Use it as a context: a process stays in between.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._drawing = Drawing(workspace)
        self._bytes = 0

    def __enter__(self) -> "PagePictures":
        return self

    def __exit__(self, *_: object) -> None:
        self._drawing.close()

    def draw(self, item: EvidenceItem, source: PackSource) -> tuple[list[Picture], str | None]:
        """Return the pictures of an item, one a page, and why there are none.

        Returns:
            Pictures and None; or no picture and a sentence; or neither for what has no pages.
        """
        pictures: list[Picture] = []
        for number in sorted({box.page for box in item.boxes}):
            if self._bytes > _MAX_TOTAL_BYTES:
                return pictures, "No picture: those before it already make this page large."
            drawn = self._drawing.draw(
                source.namespace, source.content_hash, number, item.exact_quote, item.boxes
            )
            if isinstance(drawn, str):
                return pictures, drawn
            self._bytes += len(drawn["jpeg"])
            pictures.append(
                Picture(
                    number,
                    f"data:image/jpeg;base64,{drawn['jpeg']}",
                    drawn["pixels"][0],
                    drawn["pixels"][1],
                    tuple((x0, y0, width, height) for x0, y0, width, height in drawn["marks"]),
                )
            )
        return pictures, None


def whole_page(drawn: dict[str, Any] | str) -> WholePage | str:
    """Return a page that `Drawing.draw` has drawn without boxes."""
    if isinstance(drawn, str):
        return drawn
    return WholePage(base64.b64decode(drawn["jpeg"]), *drawn["points"])


def draw_in_worker(
    paths: list[str],
    content_hash: str,
    uri: str,
    password: str,
    number: int,
    quote: str,
    boxes: list[dict[str, Any]],
) -> dict[str, Any]:
    """Return a page, or the part of it around a quote; called in the process that draws.

    Returns:
        `jpeg` in base64, its size in `pixels`, that of the page in `points`, and the `marks` of the
        quote as shares of width and height; or `trouble`, a sentence.
    """
    from rag_assets.parsing import load_pymupdf

    pymupdf = load_pymupdf()
    try:
        document = _opened(tuple(paths), content_hash)
        if document is None:
            return {"trouble": f"No picture: {uri} was changed or removed since it was read."}
    except (OSError, RuntimeError, pymupdf.mupdf.FzErrorBase) as error:
        return {"trouble": f"No picture: {uri} cannot be drawn ({error})."}
    if document.needs_pass and not document.authenticate(password):
        return {"trouble": f"No picture: {uri} is protected and its password is gone."}
    try:
        page = document[number - 1]
        pixels, scale = _rendered(document, number)
        if not boxes:
            return _answer(page, pixels, ())
        all_boxes = [PageBox(**box) for box in boxes]
        own = [box for box in all_boxes if box.page == number]
        area = pymupdf.Rect(
            0,
            max(0.0, min(box.y0 for box in own) - _AROUND),
            page.rect.width,
            min(page.rect.height, max(box.y1 for box in own) + _AROUND),
        )
        marks = [
            (
                rect.x0 / area.width,
                (rect.y0 - area.y0) / area.height,
                rect.width / area.width,
                rect.height / area.height,
            )
            for rect in _marked(page, quote, all_boxes, own, pymupdf)
        ]
        cut = pymupdf.IRect(
            0, int(area.y0 * scale), pixels.width, min(pixels.height, int(area.y1 * scale) + 1)
        )
        part = pymupdf.Pixmap(pixels.colorspace, cut, False)
        part.copy(pixels, cut)
        return _answer(page, part, marks)
    except (RuntimeError, ValueError, IndexError, pymupdf.mupdf.FzErrorBase) as error:
        return {"trouble": f"No picture: page {number} cannot be drawn ({error})."}


def _answer(page: Any, part: Any, marks: Sequence[tuple[float, ...]]) -> dict[str, Any]:
    quality = _JPEG_QUALITY
    data: bytes = part.tobytes("jpeg", jpg_quality=quality)
    while len(data) > _MAX_PICTURE_BYTES and quality > 20:
        quality -= 20
        data = part.tobytes("jpeg", jpg_quality=quality)
    return {
        "jpeg": base64.b64encode(data).decode("ascii"),
        "pixels": [part.width, part.height],
        "points": [page.rect.width, page.rect.height],
        "marks": [list(mark) for mark in marks],
    }


@lru_cache(maxsize=2)
def _opened(paths: tuple[str, ...], content_hash: str) -> Any:
    """Return the document of the first file that still holds what was read; None without one."""
    from rag_assets.parsing import load_pymupdf

    for path in map(Path, paths):
        if path.is_file():
            data = path.read_bytes()
            if hash_bytes(data) == content_hash:
                return load_pymupdf().open(stream=data, filetype="pdf")
    return None


@lru_cache(maxsize=4)
def _rendered(document: Any, number: int) -> tuple[Any, float]:
    """Return the pixels of a page, and how many of them a point has."""
    from rag_assets.parsing import load_pymupdf

    page = document[number - 1]
    scale = _DPI / _POINTS_PER_INCH
    pixels = page.rect.width * page.rect.height * scale**2
    if pixels > _MAX_PIXELS:
        scale *= (_MAX_PIXELS / pixels) ** 0.5
    return page.get_pixmap(matrix=load_pymupdf().Matrix(scale, scale), alpha=False), scale


def _marked(
    page: Any, quote: str, all_boxes: Sequence[PageBox], boxes: Sequence[PageBox], pymupdf: Any
) -> list[Any]:
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

    words = quote.split()
    numbers = [box.page for box in all_boxes]
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
