"""How a run of a Word document looks: raised, lowered, or not to be seen at all."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.parsing.office.docx_styles import Styles
from rag_assets.parsing.office.docx_xml import W, is_on, number_of, value_of
from rag_assets.parsing.office.drawing import A, alpha_of
from rag_assets.parsing.office.numbers import whole_number
from rag_assets.parsing.page_styles import hides_by_style
from rag_assets.parsing.raised import LOWERED, RAISED
from rag_assets.parsing.unseen import LEAST_POINTS, Kind, are_alike

if TYPE_CHECKING:
    from lxml.etree import _Element

_W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_WPS = "{http://schemas.microsoft.com/office/word/2010/wordprocessingShape}"
_WP = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
_V = "{urn:schemas-microsoft-com:vml}"
_WHITE = "ffffff"
# ECMA-376 part 1, 17.18.40.
_HIGHLIGHTS = {
    "white": _WHITE, "black": "000000", "yellow": "ffff00", "green": "00ff00", "cyan": "00ffff",
    "magenta": "ff00ff", "blue": "0000ff", "red": "ff0000", "darkBlue": "000080",
    "darkCyan": "008080", "darkGreen": "008000", "darkMagenta": "800080", "darkRed": "800000",
    "darkYellow": "808000", "darkGray": "808080", "lightGray": "c0c0c0",
}  # fmt: skip
# Styles of tables that give their cells no ground.
_PLAIN_TABLES = frozenset({"TableNormal", "TableGrid", None})
# Raised by hand, in half points.
_LEAST_SHIFT = 4
# Letters narrowed to a few percent of their width.
_LEAST_WIDTH = 10
# Beyond these a frame or paragraph is off the largest usual page (A3), in twips and in EMU.
_TWIPS = (-4000, 24_000)
_EMUS = tuple(635 * limit for limit in _TWIPS)
_OFFSET = re.compile(r"\s*-?\d{1,15}\s*")


@dataclass(frozen=True, slots=True)
class RunLook:
    """How a run is set.

    Args:
        mark: `RAISED`, `LOWERED` or "".
        unseen: why it cannot be seen, None where it can.
    """

    mark: str
    unseen: Kind | None


def look_of_run(
    run: "_Element", properties: "_Element | None", style_id: str | None, styles: Styles
) -> RunLook:
    """Return how a run looks by its own properties and those of its styles, nearest first.

    Args:
        run: `w:r`.
        properties: its `w:rPr`.
        style_id: of its paragraph.
        styles: of the document.
    """
    sources = styles.run_properties(style_id, value_of(properties, "rStyle"))
    if properties is not None:
        sources = [properties, *sources]
    place = _source(sources, "vertAlign")
    kind = value_of(place, "vertAlign")
    if kind not in {"superscript", "subscript"}:
        shift = number_of(_source(sources, "position"), "position") or 0
        kind = "superscript" if shift >= _LEAST_SHIFT else "subscript" * (shift <= -_LEAST_SHIFT)
    mark = {"superscript": RAISED, "subscript": LOWERED}.get(kind or "", "")
    return RunLook(mark, _unseen(run, sources, style_id, styles) if sources else None)


def _source(sources: "Sequence[_Element]", name: str) -> "_Element | None":
    """Return the nearest properties that say something of `name`."""
    return next((source for source in sources if source.find(W + name) is not None), None)


def _unseen(
    run: "_Element", sources: "Sequence[_Element]", style_id: str | None, styles: Styles
) -> Kind | None:
    def says(name: str) -> bool:
        return is_on(_source(sources, name), name)

    # Word sets the page numbers of a table of contents so: they are seen in print.
    is_contents = any(
        link.get(W + "anchor", "").startswith("_Toc") for link in run.iterancestors(W + "hyperlink")
    )
    if says("vanish") or (says("webHidden") and not is_contents):
        return "hidden"
    if says("strike") or says("dstrike"):
        return "struck"
    size = number_of(_source(sources, "sz"), "sz")
    width = number_of(_source(sources, "w"), "w")
    if (size is not None and size < 2 * LEAST_POINTS) or (
        width is not None and width < _LEAST_WIDTH
    ):
        return "size"
    fill = next(
        (s.find(_W14 + "textFill") for s in sources if s.find(_W14 + "textFill") is not None), None
    )
    if fill is not None and (fill.find(_W14 + "noFill") is not None or alpha_of(fill, _W14) == 0):
        return "colour"
    colour = value_of(_source(sources, "color"), "color")
    if colour in {None, "auto"}:
        return None
    return "colour" if are_alike(colour, _ground(run, sources, style_id, styles)) else None


def _ground(
    run: "_Element", sources: "Sequence[_Element]", style_id: str | None, styles: Styles
) -> str | None:
    """Return the colour behind a run, None where it is not known."""
    highlight = value_of(_source(sources, "highlight"), "highlight")
    own = _HIGHLIGHTS.get(highlight or "") or _shade(_source(sources, "shd"))
    own = own or styles.paragraph_shade(style_id)
    painted = (_painted(outer) for outer in run.iterancestors())
    return own or next((colour for colour in painted if colour != ""), _WHITE)


def _painted(outer: "_Element") -> str | None:
    """Return the colour that an element paints, "" for none, None where it is not known."""
    shaded: str | None = _shade(outer.find(W + outer.tag.rpartition("}")[2] + "Pr")) or ""
    if outer.tag == W + "tbl" and value_of(outer, "tblPr/tblStyle") not in _PLAIN_TABLES:
        return shaded or None
    if outer.tag == _WPS + "wsp":
        return _shape_fill(outer)
    if outer.tag.startswith(_V) and outer.get("filled") not in {"f", "false"}:
        return str(outer.get("fillcolor", "")).lstrip("#").partition(" ")[0]
    page = outer.find(W + "background")
    return shaded if page is None else page.get(W + "color", _WHITE)


def _shade(properties: "_Element | None") -> str | None:
    """Return the colour that `w:shd` paints, None without one."""
    shade = None if properties is None else properties.find(W + "shd")
    if shade is None:
        return None
    name = "color" if shade.get(W + "val") == "solid" else "fill"
    value = shade.get(W + name, "auto")
    return None if value == "auto" else value


def _shape_fill(shape: "_Element") -> str | None:
    """Return what fills a shape, "" for nothing, None where only its theme says so."""
    properties = shape.find(_WPS + "spPr")
    if properties is not None:
        plain = properties.find(f"{A}solidFill/{A}srgbClr")
        if plain is not None:
            return str(plain.get("val"))
        if properties.find(A + "noFill") is not None:
            return ""
        if any(child.tag.endswith("Fill") for child in properties):
            return None
    themed = shape.find(f"{_WPS}style/{A}fillRef")
    return "" if themed is None or themed.get("idx") == "0" else None


def is_paragraph_off_page(properties: "_Element | None") -> bool:
    """Tell whether a paragraph stands in a frame, or is indented, off every page."""
    if properties is None:
        return False
    frame, indent = properties.find(W + "framePr"), properties.find(W + "ind")
    places = [] if frame is None else [frame.get(W + "x"), frame.get(W + "y")]
    places += [] if indent is None else [indent.get(W + "left"), indent.get(W + "start")]
    numbers = [whole_number(place) for place in places]
    return any(n is not None and not _TWIPS[0] < n < _TWIPS[1] for n in numbers)


def is_box_unseen(content: "_Element") -> bool:
    """Tell whether the text box around `w:txbxContent` is hidden or off the page."""
    for outer in content.iterancestors():
        if outer.tag == W + "p":
            return False
        if outer.tag in {_WP + "anchor", _WP + "inline"}:
            named = outer.find(_WP + "docPr")
            if named is not None and named.get("hidden") in {"1", "true"}:
                return True
            texts = [element.text or "" for element in outer.iter(_WP + "posOffset")]
            offsets = [int(text) for text in texts if _OFFSET.fullmatch(text)]
            return any(not _EMUS[0] < offset < _EMUS[1] for offset in offsets)
        if outer.tag.startswith(_V) and hides_by_style(outer.get("style", "")):
            return True
    return False
