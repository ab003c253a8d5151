"""Where the shapes of a slide stand, and in which order a person reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from rag_assets.model import Box
from rag_assets.parsing.office.drawing import A, solid_colour
from rag_assets.parsing.package import OfficePackage

if TYPE_CHECKING:
    from lxml.etree import _Element

P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
EMU_PER_POINT = 12_700
# Boxes are larger than their text: neighbours that overlap by less stand apart.
_SLACK_POINTS = 6.0
_TITLES = frozenset({"title", "ctrTitle"})
_WHITE = "ffffff"
_PAINTED = (P + "sp", P + "pic")
_FILLS = frozenset(
    A + name for name in ("solidFill", "gradFill", "blipFill", "pattFill", "grpFill")
)
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """Which place of its layout a shape fills.

    Args:
        kind: `title`, `ctrTitle`, `subTitle`, `body`, `obj`, `ftr`, `sldNum`, `dt`, `pic` …
        index: that layout and slide share.
    """

    kind: str
    index: str


@dataclass(frozen=True, slots=True)
class Frame:
    """The coordinates inside a group: `x` there is `x * scale_x + move_x` on the slide."""

    scale_x: float = 1.0
    scale_y: float = 1.0
    move_x: float = 0.0
    move_y: float = 0.0


class Layout:
    """The layout and the master of a slide, from which its shapes inherit.

    Args:
        package: of the presentation.
        slide: name of the slide's part.
    """

    def __init__(self, package: OfficePackage, slide: str) -> None:
        layouts = package.related(slide, "slideLayout")
        masters = package.related(layouts[0], "slideMaster") if layouts else ()
        self._layers = [package.tree(part) for part in (*layouts[:1], *masters[:1])]
        self._master = package.tree(masters[0]) if masters else None
        self.kind = self._layers[0].get("type", "") if layouts else ""
        self._slide = package.tree(slide)
        self._painted: list[tuple[_Element, Box | None]] | None = None

    def ground(self, box: Box | None, shape: "_Element") -> str | None:
        """Return the colour behind the text of a shape, None where it is not known.

        Args:
            box: of the shape.
            shape: on the slide.
        """
        if self._painted is None:
            shapes = (o for layer in (self._slide, *self._layers) for o in layer.iter(*_PAINTED))
            self._painted = [
                (other, box_of([other], Frame())) for other in shapes if _paints(other)
            ]
        if any(other is not shape and _overlap(box, place) for other, place in self._painted):
            return None
        own = shape.find(P + "spPr")
        if own is not None and own.find(A + "solidFill") is not None:
            return solid_colour(own.find(A + "solidFill"))
        if _paints(shape):
            return None
        for layer in (self._slide, *self._layers):
            background = layer.find(f"{P}cSld/{P}bg")
            if background is not None:
                fill = background.find(f"{P}bgPr/{A}solidFill")
                fill = background.find(P + "bgRef") if fill is None else fill
                return None if fill is None else solid_colour(fill)
        return _WHITE

    def chain(self, shape: "_Element") -> "list[_Element]":
        """Return the shape, then the placeholders that it inherits from, nearest first."""
        own = placeholder_of(shape)
        found = [shape]
        if own is None:
            return found
        for layer in self._layers:
            candidates = [
                (candidate, place)
                for candidate in layer.iter(P + "sp")
                if (place := placeholder_of(candidate)) is not None
            ]
            by_index = (item for item, place in candidates if place.index == own.index)
            by_kind = (item for item, place in candidates if _family(place) == _family(own))
            near = by_index if layer is self._layers[0] else by_kind
            inherited = next(near, None)
            if inherited is None:
                inherited = next(by_kind, None)
            if inherited is not None:
                found.append(inherited)
        return found

    def text_style(self, shape: "_Element") -> "_Element | None":
        """Return the master's text style for a shape, None without a master."""
        own = placeholder_of(shape)
        name = "otherStyle"
        if own is not None:
            name = "titleStyle" if own.kind in _TITLES else "bodyStyle"
        return None if self._master is None else self._master.find(f"{P}txStyles/{P}{name}")


def _paints(shape: "_Element") -> bool:
    """Tell whether a shape covers what is behind it, or may."""
    if shape.tag == P + "pic":
        return True
    own = shape.find(P + "spPr")
    if own is not None and any(child.tag in _FILLS for child in own):
        return True
    themed = shape.find(f"{P}style/{A}fillRef")
    is_clear = own is not None and own.find(A + "noFill") is not None
    return not is_clear and themed is not None and themed.get("idx") != "0"


def _overlap(box: Box | None, other: Box | None) -> bool:
    if box is None or other is None:
        return True
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]


def _family(place: Placeholder) -> str:
    """Return the kind of placeholder that a master has for a kind of a layout."""
    if place.kind in _TITLES:
        return "title"
    return place.kind if place.kind in {"dt", "ftr", "sldNum"} else "body"


def placeholder_of(shape: "_Element") -> Placeholder | None:
    """Return the place that a shape, picture or frame fills, None where it stands free."""
    for child in shape:
        if child.tag.endswith("Pr"):
            place = child.find(f"{P}nvPr/{P}ph")
            if place is not None:
                return Placeholder(place.get("type", "obj"), place.get("idx", "0"))
    return None


def box_of(shapes: "Sequence[_Element]", frame: Frame) -> Box | None:
    """Return where a shape stands on its slide in points, None where nothing says so.

    Args:
        shapes: the shape, then those that it inherits from.
        frame: of the group that it is in.
    """
    for shape in shapes:
        transform = _transform(shape)
        numbers = None if transform is None else _numbers(transform, ("off", "ext"))
        if numbers is not None:
            x, y, width, height = numbers
            left, top = x * frame.scale_x + frame.move_x, y * frame.scale_y + frame.move_y
            right, bottom = left + width * frame.scale_x, top + height * frame.scale_y
            return (
                left / EMU_PER_POINT, top / EMU_PER_POINT,
                right / EMU_PER_POINT, bottom / EMU_PER_POINT,
            )  # fmt: skip
    return None


def frame_of(group: "_Element", outer: Frame) -> Frame:
    """Return the coordinates inside a group."""
    transform = group.find(f"{P}grpSpPr/{A}xfrm")
    own = None if transform is None else _numbers(transform, ("off", "ext"))
    inner = None if transform is None else _numbers(transform, ("chOff", "chExt"))
    if own is None or inner is None:
        return outer
    across = own[2] / inner[2] if inner[2] else 1.0
    down = own[3] / inner[3] if inner[3] else 1.0
    return Frame(
        across * outer.scale_x,
        down * outer.scale_y,
        (own[0] - inner[0] * across) * outer.scale_x + outer.move_x,
        (own[1] - inner[1] * down) * outer.scale_y + outer.move_y,
    )


def _transform(shape: "_Element") -> "_Element | None":
    for path in (f"{P}spPr/{A}xfrm", f"{P}grpSpPr/{A}xfrm", f"{P}xfrm"):
        found = shape.find(path)
        if found is not None:
            return found
    return None


def _numbers(
    transform: "_Element", names: tuple[str, str]
) -> tuple[float, float, float, float] | None:
    place, size = (transform.find(A + name) for name in names)
    if place is None or size is None:
        return None
    try:
        values = [place.get("x"), place.get("y"), size.get("cx"), size.get("cy")]
        x, y, width, height = (float(value or "") for value in values)
    except ValueError:
        return None  # a shape without a place
    return x, y, width, height


def reading_order(items: Sequence[tuple[Box | None, _Item]]) -> list[_Item]:
    """Return shapes as a person reads them: cut along the widest gap, again and again.

    Recursive XY cuts (Nagy and Seth 1984): upper before lower, left before right. Shapes without
    a place come first, as the file has them.

    Args:
        items: box in points with the shape.
    """
    placed = [(box, item) for box, item in items if box is not None]
    unplaced = [item for box, item in items if box is None]
    return unplaced + [item for _, item in _cut(placed)]


def _cut(items: "list[tuple[Box, _Item]]") -> "list[tuple[Box, _Item]]":
    # Stack instead of recursion: a slide may hold thousands of shapes in one column.
    ordered: list[tuple[Box, _Item]] = []
    waiting = [items]
    while waiting:
        group = waiting.pop()
        if len(group) <= 1:
            ordered += group
            continue
        down, across = _widest_gap(group, 1), _widest_gap(group, 0)
        if down is None and across is None:
            ordered += sorted(group, key=lambda entry: (entry[0][1], entry[0][0]))
            continue
        axis = 1 if across is None or (down is not None and down[0] >= across[0]) else 0
        gap = down if axis else across
        edge = gap[1] if gap is not None else 0.0
        waiting.append([entry for entry in group if entry[0][axis] >= edge])
        waiting.append([entry for entry in group if entry[0][axis] < edge])
    return ordered


def _widest_gap(items: "list[tuple[Box, _Item]]", axis: int) -> tuple[float, float] | None:
    """Return (width, far edge) of the widest empty stripe across an axis, None without one."""
    spans = sorted((box[axis], box[axis + 2]) for box, _ in items)
    best: tuple[float, float] | None = None
    reached = spans[0][1]
    for start, end in spans[1:]:
        gap = start - reached
        if gap > -_SLACK_POINTS and start > spans[0][0] and (best is None or gap > best[0]):
            best = (gap, start)
        reached = max(reached, end)
    return best
