"""PowerPoint presentations (pptx, pptm, ppsx): a slide is a page, its title a heading."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, TypeVar

from rag_assets.model import BlockKind, Box, ParsedDocument, ParseFailure
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing.cleaning import guess_language
from rag_assets.parsing.docx_styles import format_number, whole_number
from rag_assets.parsing.flow import (
    DGM,
    MATH_TAGS,
    MC,
    A,
    C,
    Drawings,
    Piece,
    alpha_of,
    clean_inline,
    flow_pieces,
    markdown_table,
    office_formula,
    solid_colour,
)
from rag_assets.parsing.package import (
    OfficePackage,
    read_office_file,
    read_properties,
    relationship_id,
)
from rag_assets.parsing.registry import ParseHints
from rag_assets.parsing.seen import (
    LEAST_POINTS,
    LEVEL,
    LOWERED,
    RAISED,
    Kind,
    Unseen,
    are_alike,
    settle_raised,
)
from rag_assets.parsing.sniffing import PPTX_TYPE

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


_MARKS = ("buNone", "buChar", "buAutoNum", "buBlip")
_INDENT = 2
_LEVELS = 9
_NUMBER_FORMS = (
    ("arabic", "decimal"), ("alphaLc", "lowerLetter"), ("alphaUc", "upperLetter"),
    ("romanLc", "lowerRoman"), ("romanUc", "upperRoman"), ("circle", "decimalEnclosedCircle"),
    ("ea", "chineseCounting"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ground:
    """What the text of a shape stands on.

    Args:
        unseen: what was left out so far.
        colour: behind the text, None where it is not known.
    """

    unseen: Unseen = field(default_factory=Unseen)
    colour: str | None = None


class TextReader:
    """Reads the paragraphs of one shape.

    Args:
        body: `p:txBody` of the shape.
        styles: list styles that decide on bullets, nearest first.
        ground: what the text stands on.
    """

    def __init__(self, body: "_Element", styles: "Sequence[_Element]", ground: Ground) -> None:
        self._ground = ground
        self._body = body
        self._styles = styles
        self._counts: dict[int, tuple[str, int]] = {}

    def pieces(self, kind: BlockKind = "paragraph") -> list[Piece]:
        """Return the paragraphs; those with a bullet or number as list items.

        Args:
            kind: of the paragraphs without one.
        """
        found: list[Piece] = []
        for paragraph in self._body.findall(A + "p"):
            text, is_formula = paragraph_text(paragraph, self._ground)
            if not text:
                continue
            properties = paragraph.find(A + "pPr")
            depth = whole_number(properties.get("lvl")) if properties is not None else None
            depth = max(0, min(depth or 0, _LEVELS - 1))
            mark = self._mark(properties, depth)
            if mark is not None:
                indent = _INDENT * depth
                item = Piece("list", f"{mark} {text}", depth + 1, indent=indent, opens=not found)
                found.append(item)
            else:
                found.append(Piece("formula" if is_formula else kind, text))
        return found

    def _mark(self, properties: "_Element | None", depth: int) -> str | None:
        sources = [properties, *(style.find(f"{A}lvl{depth + 1}pPr") for style in self._styles)]
        for source in sources:
            if source is None:
                continue
            for name in _MARKS:
                found = source.find(A + name)
                if found is not None:
                    return self._render(name, found, depth)
        return None

    def _render(self, name: str, element: "_Element", depth: int) -> str | None:
        for deeper in range(depth + 1, _LEVELS):
            self._counts.pop(deeper, None)
        if name != "buAutoNum":
            self._counts.pop(depth, None)
            return None if name == "buNone" else "-"
        form = element.get("type", "arabicPeriod")
        start = whole_number(element.get("startAt")) or 1
        known, count = self._counts.get(depth, (form, start - 1))
        count = count + 1 if known == form else start
        self._counts[depth] = (form, count)
        number = next(
            (
                format_number(count, ours)
                for prefix, ours in _NUMBER_FORMS
                if form.startswith(prefix)
            ),
            str(count),
        )
        if form.endswith("ParenBoth"):
            return f"({number})"
        return f"{number})" if form.endswith("ParenR") else f"{number}."


def paragraph_text(paragraph: "_Element", ground: Ground) -> tuple[str, bool]:
    """Return a paragraph's clean text, and whether it is a formula and nothing else."""
    parts: list[str] = []
    formulas: list[str] = []
    _collect(paragraph, parts, formulas, ground)
    text = clean_inline(settle_raised("".join(parts)))
    return text, bool(formulas) and "".join(text.split()) == "".join("".join(formulas).split())


def _collect(element: "_Element", parts: list[str], formulas: list[str], ground: Ground) -> None:
    for child in element:
        if child.tag == A + "t":
            parts.append(child.text or "")
        elif child.tag == A + "br":
            parts.append("\n")
        elif child.tag in MATH_TAGS:
            formula = office_formula(child)
            formulas.append(formula)
            parts.append(f" {formula} ")
        elif child.tag == A + "r":
            _collect_run(child, parts, formulas, ground)
        elif child.tag == MC + "AlternateContent":
            before = len(parts)
            for alternative in child:
                _collect(alternative, parts, formulas, ground)
                if len(parts) > before:
                    break
        elif not child.tag.endswith("Pr"):
            _collect(child, parts, formulas, ground)


def _collect_run(run: "_Element", parts: list[str], formulas: list[str], ground: Ground) -> None:
    properties = run.find(A + "rPr")
    kind = None if properties is None else _unseen_run(properties, ground.colour)
    if kind is not None:
        ground.unseen.add(kind, "".join(text.text or "" for text in run.iter(A + "t")))
        return
    shift = 0 if properties is None else whole_number(properties.get("baseline")) or 0
    if shift:
        parts.append(RAISED if shift > 0 else LOWERED)
    _collect(run, parts, formulas, ground)
    if shift:
        parts.append(LEVEL)


def _unseen_run(properties: "_Element", ground: str | None) -> Kind | None:
    """Return why a run cannot be seen, None where it can."""
    if properties.get("strike", "noStrike") != "noStrike":
        return "struck"
    size = whole_number(properties.get("sz"))
    if size is not None and size < 100 * LEAST_POINTS:
        return "size"
    if properties.find(A + "noFill") is not None:
        return "colour"
    fill = properties.find(A + "solidFill")
    if fill is None:
        return None
    is_clear = alpha_of(fill, A) == 0
    return "colour" if is_clear or are_alike(solid_colour(fill), ground) else None


_TITLE_PLACES = frozenset({"title", "ctrTitle"})
_FEET = frozenset({"ftr", "hdr", "dt"})
_UNSEEN_PLACES = frozenset({"sldNum", "sldImg"})
_SHAPES = frozenset(P + name for name in ("sp", "pic", "graphicFrame", "grpSp", "cxnSp"))


@dataclass(slots=True)
class Slide:
    """A slide's blocks in reading order.

    Args:
        pieces: title, body, notes.
        body_end: how many of them belong to the slide itself.
        feet: foot line and date, not among the pieces.
        title: None without one.
        is_hidden: the show leaves it out; it has no pieces.
    """

    pieces: list[Piece] = field(default_factory=list)
    body_end: int = 0
    feet: list[Piece] = field(default_factory=list)
    title: str | None = None
    is_hidden: bool = False


class SlideReader:
    """Reads the slides of a presentation, in their order.

    Args:
        package: of the presentation.
        warnings: sentences on what could not be read are added to it.
        size: of the slides in points, None where the presentation does not say it.
        unseen: what was left out so far.
    """

    def __init__(
        self,
        package: OfficePackage,
        warnings: list[str],
        size: tuple[float, float] | None,
        unseen: Unseen,
    ) -> None:
        self._size = size
        self._unseen = unseen
        self._package = package
        self._warnings = warnings
        self._has_sections = False

    def read(self, part: str, number: int) -> Slide:
        """Return one slide.

        Args:
            part: its name in the package.
            number: from 1.
        """
        root = self._package.tree(part)
        if root.get("show") in {"0", "false"}:
            texts = (text.text or "" for text in root.iter(A + "t"))
            self._unseen.add("hidden", f"slide {number}: {' '.join(texts)}")
            return Slide(is_hidden=True)
        layout = Layout(self._package, part)
        drawings = Drawings(self._package, part, self._warnings)
        shapes = _ShapeReader(layout, drawings, self._unseen, self._size)
        slide = Slide()
        tree = root.find(f"{P}cSld/{P}spTree")
        titles, others = shapes.split(() if tree is None else tree)
        titles = [" ".join(text.split()) for text in titles if text.strip()]
        if titles:
            slide.title = " ".join(titles)
            slide.pieces.append(Piece("heading", slide.title, self._level(layout.kind)))
        slide.pieces += shapes.read(others, Frame())
        slide.body_end = len(slide.pieces)
        slide.feet = shapes.feet
        slide.pieces += self._notes(part)
        for piece in (*slide.pieces, *slide.feet):
            piece.page = number
        return slide

    def _level(self, layout: str) -> int:
        """Return the level of a slide's heading: below the last section header, if any."""
        if layout in {"secHead", "title"}:
            self._has_sections = layout == "secHead"
            return 1
        return 2 if self._has_sections else 1

    def _notes(self, part: str) -> list[Piece]:
        pieces: list[Piece] = []
        for name in self._package.related(part, "notesSlide"):
            tree = self._package.tree(name).find(f"{P}cSld/{P}spTree")
            drawings = Drawings(self._package, name, self._warnings)
            layout = Layout(self._package, name)
            reader = _ShapeReader(layout, drawings, self._unseen, None, "note")
            pieces += reader.read(() if tree is None else tree, Frame())
        return pieces


class _ShapeReader:
    """Reads the shapes of one slide.

    Args:
        layout: of the slide.
        drawings: of the slide.
        unseen: what was left out so far.
        size: of the slide in points, None where nothing is off it.
        kind: of paragraphs and list items where it is not their own: `note` on a notes page.
    """

    def __init__(
        self,
        layout: Layout,
        drawings: Drawings,
        unseen: Unseen,
        size: tuple[float, float] | None,
        kind: BlockKind | None = None,
    ) -> None:
        self._unseen = unseen
        self._size = size
        self.feet: list[Piece] = []
        self._layout = layout
        self._drawings = drawings
        self._kind = kind

    def split(self, tree: "Iterable[_Element]") -> "tuple[list[str], list[_Element]]":
        """Return the texts of the titles, and all other shapes."""
        titles, others = [], []
        for shape in _shapes(tree):
            place = placeholder_of(shape)
            body = shape.find(P + "txBody")
            is_title = place is not None and place.kind in _TITLE_PLACES and body is not None
            if is_title and not self._leave(shape, box_of(self._layout.chain(shape), Frame())):
                ground = self._ground(shape, Frame())
                paragraphs = () if body is None else body.findall(A + "p")
                titles.append(" ".join(paragraph_text(p, ground)[0] for p in paragraphs))
            elif not is_title:
                others.append(shape)
        return titles, others

    def read(self, tree: "Iterable[_Element]", frame: Frame) -> list[Piece]:
        """Return the blocks of shapes, in reading order."""
        entries: list[tuple[Box | None, list[Piece]]] = []
        for shape in _shapes(tree):
            box = box_of(self._layout.chain(shape), frame)
            if self._leave(shape, box):
                continue
            pieces = self._shape(shape, frame)
            for piece in pieces:
                piece.bbox = piece.bbox or box
            entries.append((box, pieces))
        return [piece for pieces in reading_order(entries) for piece in pieces]

    def _leave(self, shape: "_Element", box: Box | None) -> bool:
        """Count the texts of a shape that is hidden or off the slide; False for any other."""
        is_off = box is not None and self._size is not None and _is_off(box, self._size)
        if not is_off and not _is_hidden(shape):
            return False
        texts = (text.text or "" for text in shape.iter(A + "t"))
        self._unseen.add("place" if is_off else "hidden", " ".join(texts))
        return True

    def _ground(self, shape: "_Element", frame: Frame) -> Ground:
        body = shape.find(P + "txBody")
        if body is None or next(body.iter(A + "solidFill"), None) is None:
            return Ground(self._unseen)  # no run has a colour of its own
        box = box_of(self._layout.chain(shape), frame)
        return Ground(self._unseen, self._layout.ground(box, shape))

    def _shape(self, shape: "_Element", frame: Frame) -> list[Piece]:
        place = placeholder_of(shape)
        if place is not None and place.kind in _UNSEEN_PLACES:
            return []
        if shape.tag == P + "grpSp":
            return self.read(shape, frame_of(shape, frame))
        if shape.tag == P + "graphicFrame":
            return self._graphic(shape)
        pieces = self._pictures(shape, _name(shape))
        pieces += self._text(shape, frame)
        if place is not None and place.kind in _FEET:
            self.feet += pieces
            return []
        return pieces

    def _text(self, shape: "_Element", frame: Frame) -> list[Piece]:
        body = shape.find(P + "txBody")
        if body is None:
            return []
        styles = [
            style
            for source in self._layout.chain(shape)
            if (style := source.find(f"{P}txBody/{A}lstStyle")) is not None
        ]
        inherited = self._layout.text_style(shape)
        if inherited is not None:
            styles.append(inherited)
        place = placeholder_of(shape)
        is_front = place is not None and place.kind == "subTitle" and self._layout.kind == "title"
        reader = TextReader(body, styles, self._ground(shape, frame))
        pieces = reader.pieces("front" if is_front else "paragraph")
        if self._kind is not None:
            for piece in pieces:
                piece.kind, piece.level = self._kind, None
        return pieces

    def _pictures(self, shape: "_Element", name: str) -> list[Piece]:
        found = []
        for fill in (shape.find(P + "blipFill"), shape.find(f"{P}spPr/{A}blipFill")):
            blip = None if fill is None else fill.find(A + "blip")
            if blip is None:
                continue
            relationship = relationship_id(blip, "embed") or relationship_id(blip, "link")
            piece = self._drawings.picture(relationship, name)
            if piece is not None:
                found.append(piece)
        if shape.tag == P + "pic" and next(shape.iter(A + "blip"), None) is None:
            self._drawings.picture(None, name)  # told, since it shows nothing
        return found

    def _graphic(self, frame: "_Element") -> list[Piece]:
        data = frame.find(f"{A}graphic/{A}graphicData")
        if data is None:
            return []
        pieces: list[Piece] = []
        for table in data.findall(A + "tbl"):
            text = markdown_table([self._row_texts(row) for row in table.findall(A + "tr")])
            pieces += [Piece("table", text)] if text else []
        for chart in data.findall(C + "chart"):
            pieces += self._drawings.chart(relationship_id(chart))
        for diagram in data.findall(DGM + "relIds"):
            pieces += self._drawings.diagram(relationship_id(diagram, "dm"))
        # An embedded file shows a picture of itself, in each of the alternatives.
        shown = next(data.iter(P + "pic"), None)
        return pieces if shown is None else [*pieces, *self._pictures(shown, _name(frame))]

    def _row_texts(self, row: "_Element") -> list[str]:
        """Return the texts of a table's row; a merged cell has its text once, blanks elsewhere."""
        return [
            ""
            if cell.get("hMerge") in {"1", "true"} or cell.get("vMerge") in {"1", "true"}
            else " ".join(
                paragraph_text(p, Ground(self._unseen, _cell_ground(cell)))[0]
                for p in cell.iter(A + "p")
            )
            for cell in row.findall(A + "tc")
        ]


def _cell_ground(cell: "_Element") -> str | None:
    """Return what fills a cell of a table, None where only the table's style says so."""
    fill = cell.find(f"{A}tcPr/{A}solidFill")
    return None if fill is None else solid_colour(fill)


def _is_off(box: Box, size: tuple[float, float]) -> bool:
    return box[2] <= 0 or box[3] <= 0 or box[0] >= size[0] or box[1] >= size[1]


def _shapes(tree: "Iterable[_Element]") -> "Iterator[_Element]":
    """Return the shapes in a tree or group, one alternative of each choice."""
    for child in tree:
        if child.tag == MC + "AlternateContent":
            yield from next((shapes for option in child if (shapes := list(_shapes(option)))), [])
        elif child.tag in _SHAPES:
            yield child


def _is_hidden(shape: "_Element") -> bool:
    properties = _own_properties(shape)
    return properties is not None and properties.get("hidden") in {"1", "true"}


def _name(shape: "_Element") -> str:
    properties = _own_properties(shape)
    if properties is None:
        return ""
    return properties.get("descr") or properties.get("title") or properties.get("name") or ""


def _own_properties(shape: "_Element") -> "_Element | None":
    for child in shape:
        if child.tag.endswith("Pr"):
            found = child.find(P + "cNvPr")
            if found is not None:
                return found
    return None


PARSER_VERSION = "4"

_USUAL_PART = "ppt/presentation.xml"
# Of a side of a slide in EMU.
_MAX_DIGITS = 10


class PptxParser:
    """Reads presentations: titles, texts in reading order, tables, charts, pictures, notes."""

    name = "pptx"
    media_types = (PPTX_TYPE,)
    reads_stem = False

    @cached_property
    def version(self) -> str:
        """Own version and that of the XML library."""
        return f"{PARSER_VERSION}+lxml-{version('lxml')}"

    def parse(self, data: bytes, hints: ParseHints, settings: ParseSettings) -> ParsedDocument:
        """Return the presentation, a page a slide.

        Raises:
            ParseFailure: `damaged_file`, `hostile_file`, `size_limit`, `page_limit`, `no_pages`,
                `empty_file`.
        """
        return read_office_file(
            lambda package: _read(package, settings), OfficePackage(data, settings), hints
        )


def _read(package: OfficePackage, settings: ParseSettings) -> ParsedDocument:
    warnings: list[str] = []
    parts = _slide_parts(package, settings, warnings)
    unseen = Unseen()
    size = _slide_size(package)
    reader = SlideReader(package, warnings, size, unseen)
    slides = [reader.read(part, number) for number, part in enumerate(parts, 1)]
    removed = _remove_feet(slides, settings.repeated_line_share)
    pieces = [piece for slide in slides for piece in slide.pieces]
    flow = flow_pieces(pieces, len(slides))
    if not flow.text:
        raise ParseFailure(
            "empty_file",
            f"None of the {len(slides)} slides holds text or a picture: remove the file or write "
            "its text.",
        )
    properties = read_properties(package)
    hidden = sum(slide.is_hidden for slide in slides)
    textless = sum(page.start == page.end for page in flow.pages) - hidden
    if all(piece.kind == "figure" for piece in pieces):
        warnings.append(
            "The slides hold pictures only: where they show text, run text recognition (OCR)."
        )
    elif textless:
        warnings.append(f"{textless} of {len(slides)} slides hold no text.")
    return ParsedDocument(
        text=flow.text,
        media_type=PPTX_TYPE,
        pages=flow.pages,
        blocks=flow.blocks,
        attachments=flow.attachments,
        title=slides[0].title or properties.title,
        authors=properties.authors,
        language=guess_language(flow.text),
        metadata=properties.metadata,
        removed_templates=removed,
        warnings=(*warnings, *unseen.warnings()),
    )


def _slide_parts(package: OfficePackage, settings: ParseSettings, warnings: list[str]) -> list[str]:
    """Return the slides in the order of the show."""
    main = package.main_part(_USUAL_PART)
    root = package.tree(main)
    relationships = package.relationships(main)
    parts, missing = [], 0
    for element in root.iter(P + "sldId"):
        found = relationships.get(relationship_id(element) or "")
        if found is None or found.is_external or found.target not in package:
            missing += 1
        else:
            parts.append(found.target)
    if missing:
        warnings.append(
            f"{missing} slides are named by the presentation but missing in the file: open it in "
            "PowerPoint, save it again and replace it."
        )
    if not parts:
        raise ParseFailure(
            "no_pages", "The presentation has no slides: remove it or export it again."
        )
    if len(parts) > settings.max_pages:
        raise ParseFailure(
            "page_limit",
            f"The presentation has {len(parts)} slides, parse.max_pages allows "
            f"{settings.max_pages}: raise the setting in config.yaml or split the document, then "
            "build again.",
        )
    return parts


def _slide_size(package: OfficePackage) -> tuple[float, float] | None:
    """Return width and height of the slides in points, None where nothing says them."""
    size = package.tree(package.main_part(_USUAL_PART)).find(P + "sldSz")
    sides = ("", "") if size is None else (size.get("cx", ""), size.get("cy", ""))
    if not all(side.isdecimal() and len(side) < _MAX_DIGITS for side in sides):
        return None
    return int(sides[0]) / EMU_PER_POINT, int(sides[1]) / EMU_PER_POINT


def _remove_feet(slides: list[Slide], share: float) -> tuple[str, ...]:
    """Take out foot lines that stand on at least `share` of the slides, two at least."""
    counts: dict[str, int] = {}
    for slide in slides:
        for text in {piece.text for piece in slide.feet}:
            counts[text] = counts.get(text, 0) + 1
    removed = {text for text, count in counts.items() if count > 1 and count >= share * len(slides)}
    for slide in slides:
        kept: list[Piece] = [piece for piece in slide.feet if piece.text not in removed]
        slide.pieces[slide.body_end : slide.body_end] = kept
    return tuple(text for text in counts if text in removed)
