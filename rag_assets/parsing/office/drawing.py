"""What Word and PowerPoint share in drawings: pictures, charts, diagrams."""

import posixpath
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag_assets.model import ParseFailure
from rag_assets.parsing.office.flow import Picture, Piece, clean_inline, markdown_table
from rag_assets.parsing.package import OfficePackage

if TYPE_CHECKING:
    from lxml.etree import _Element

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
DGM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_IMAGE_TYPES = {
    "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
    "bmp": "image/bmp", "tif": "image/tiff", "tiff": "image/tiff", "emf": "image/x-emf",
    "wmf": "image/x-wmf", "svg": "image/svg+xml", "webp": "image/webp",
}  # fmt: skip
# Columns of a chart's table; a sheet has at most 16,384, a chart shows 255 series.
_MAX_SERIES = 255
# Cached points beyond this are a data set, not a figure to be read.
_MAX_POINTS = 2000


class Drawings:
    """Reads the pictures, charts and diagrams that one part of a package refers to.

    Args:
        package: that holds them.
        part: whose relationships name them.
        warnings: sentences on what could not be read are added to it.
    """

    def __init__(self, package: OfficePackage, part: str, warnings: list[str]) -> None:
        self._package = package
        self._relationships = package.relationships(part)
        self._warnings = warnings

    def target(self, relationship: str | None) -> str | None:
        """Return the part that a relationship names, None where the package does not hold it."""
        found = self._relationships.get(relationship or "")
        is_inside = found is not None and not found.is_external and found.target in self._package
        return found.target if found is not None and is_inside else None

    def picture(self, relationship: str | None, name: str) -> Piece | None:
        """Return a picture as a piece; None where the relationship names nothing.

        Args:
            relationship: id of the image.
            name: its description in the document, "" without.
        """
        found = self._relationships.get(relationship or "")
        if found is None:
            self._warn(f"The picture {name!r} refers to nothing in the file: insert it again.")
            return None
        # A picture pasted from a page may have its address for a name.
        name = " ".join((posixpath.basename(name) if "://" in name else name).split())
        name = name or posixpath.basename(found.target)
        if found.is_external:
            self._warn(f"The picture {name!r} lies outside the file and was not fetched.")
            return Piece("figure", "", picture=Picture(name))
        if found.target not in self._package:
            self._warn(f"The picture {name!r} is missing in the file: insert it again.")
            return Piece("figure", "", picture=Picture(name))
        # Listings of parts may lie: a picture is of a picture's type.
        stated = self._package.media_type(found.target) or ""
        extension = found.target.rpartition(".")[2].casefold()
        media_type = stated if stated.startswith("image/") else _IMAGE_TYPES.get(extension)
        content = self._read(found.target, name)
        return Piece("figure", "", picture=Picture(name, media_type, content))

    def chart(self, relationship: str | None) -> list[Piece]:
        """Return a chart's title as caption and its values as a table."""
        part = self.target(relationship)
        return [] if part is None else chart_pieces(self._package.tree(part))

    def diagram(self, relationship: str | None) -> list[Piece]:
        """Return the texts of a SmartArt diagram as a list."""
        part = self.target(relationship)
        if part is None:
            return []
        pieces = []
        for text in self._package.tree(part).iter(DGM + "t"):
            content = clean_inline(paragraphs_text(text)).replace("\n", " ")
            if content:
                pieces.append(Piece("list", f"- {content}", level=1))
        return pieces

    def _read(self, part: str, name: str) -> bytes | None:
        try:
            return self._package.read(part)
        except ParseFailure as failure:
            # One broken picture harms nothing else.
            self._warn(f"The picture {name!r} was left out: {failure.message}")
            return None

    def _warn(self, sentence: str) -> None:
        if sentence not in self._warnings:
            self._warnings.append(sentence)


def alpha_of(fill: "_Element", namespace: str) -> float:
    """Return how opaque a solid fill is, from 0 to 1.

    Args:
        fill: the element that holds `solidFill`.
        namespace: of its elements; in Word's own alpha is what shines through.
    """
    alpha = next(fill.iter(namespace + "alpha"), None)
    if alpha is None:
        return 1.0
    value = alpha.get("val") or alpha.get(namespace + "val") or ""
    share = int(value) / 100_000 if value.isdecimal() and len(value) < 8 else 1.0
    return share if namespace == A else 1.0 - share


def solid_colour(fill: "_Element") -> str | None:
    """Return the colour of `a:solidFill`, None where its theme would have to say it.

    The first ground of a theme is taken for white, and its first text for black, as in nearly all.
    """
    plain = fill.find(A + "srgbClr")
    if plain is not None:
        return str(plain.get("val"))
    themed = fill.find(A + "schemeClr")
    if themed is None or len(themed):
        return None
    return {"bg1": "ffffff", "lt1": "ffffff", "tx1": "000000", "dk1": "000000"}.get(
        themed.get("val", "")
    )


def paragraphs_text(element: "_Element") -> str:
    """Return the text of DrawingML paragraphs below `element`, a line each."""
    return "\n".join(
        "".join(run.text or "" for run in paragraph.iter(A + "t"))
        for paragraph in element.iter(A + "p")
    )


def chart_pieces(root: "_Element") -> list[Piece]:
    """Return title, axis titles and values of a chart part, values as the file has cached them."""
    chart = root.find(C + "chart")
    chart = root if chart is None else chart
    titles = [_title(element) for element in chart.iter(C + "title")]
    own = chart.find(C + "title")
    caption = _title(own) if own is not None else ""
    axes = [title for title in titles if title and title != caption]
    series = list(chart.iter(C + "ser"))[:_MAX_SERIES]
    table = markdown_table(_series_rows(series, axes))
    title = [Piece("caption", caption)] if caption else []
    if not table:
        return title
    return [*title, Piece("table", table, caption=title[0] if title else None)]


def _title(element: "_Element") -> str:
    rich = clean_inline(paragraphs_text(element)).replace("\n", " ")
    return rich or " ".join(_points(element).values())


def _series_rows(series: "Sequence[_Element]", axes: Sequence[str]) -> list[list[str]]:
    if not series:
        return [[axis] for axis in axes]
    names, labels, columns = [], {}, []
    for element in series:
        names.append(" ".join(_points(element.find(C + "tx")).values()))
        found = element.find(C + "cat")
        found = element.find(C + "xVal") if found is None else found
        labels.update(_points(found))
        values = element.find(C + "val")
        columns.append(_points(element.find(C + "yVal") if values is None else values))
    places = sorted({*labels, *(place for column in columns for place in column)})
    rows = [[" / ".join(axes), *names]]
    rows += [
        [labels.get(place, ""), *(column.get(place, "") for column in columns)]
        for place in places[:_MAX_POINTS]
    ]
    return rows


def _points(element: "_Element | None") -> dict[int, str]:
    """Return the cached values below `element` by their index; levels of a category joined."""
    found: dict[int, str] = {}
    if element is None:
        return found
    for point in element.iter(C + "pt"):
        index, value = point.get("idx", ""), point.findtext(C + "v") or ""
        if index.isdecimal() and len(index) < 8:
            place = int(index)
            found[place] = f"{value} {found[place]}" if place in found else value
    if not found:
        value = element.findtext(C + "v")
        if value:
            found[0] = value
    return found
