"""One slide: its title, its shapes in reading order, its feet, the speaker's notes, comments."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag_assets.model import BlockKind, Box
from rag_assets.parsing.office.drawing import DGM, MC, A, C, Drawings, solid_colour
from rag_assets.parsing.office.flow import Piece, clean_inline, markdown_table
from rag_assets.parsing.office.pptx_layout import (
    Frame,
    Layout,
    P,
    box_of,
    frame_of,
    placeholder_of,
    reading_order,
)
from rag_assets.parsing.office.pptx_text import Ground, TextReader, paragraph_text
from rag_assets.parsing.package import OfficePackage, relationship_id
from rag_assets.parsing.unseen import Unseen

if TYPE_CHECKING:
    from lxml.etree import _Element

_TITLES = frozenset({"title", "ctrTitle"})
_FEET = frozenset({"ftr", "hdr", "dt"})
_UNSEEN = frozenset({"sldNum", "sldImg"})
_SHAPES = frozenset(P + name for name in ("sp", "pic", "graphicFrame", "grpSp", "cxnSp"))


@dataclass(slots=True)
class Slide:
    """A slide's blocks in reading order.

    Args:
        pieces: title, body, notes, comments.
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
        authors: names of those who comment, by their id.
        warnings: sentences on what could not be read are added to it.
        size: of the slides in points, None where the presentation does not say it.
        unseen: what was left out so far.
    """

    def __init__(
        self,
        package: OfficePackage,
        authors: dict[str, str],
        warnings: list[str],
        size: tuple[float, float] | None,
        unseen: Unseen,
    ) -> None:
        self._size = size
        self._unseen = unseen
        self._package = package
        self._authors = authors
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
        slide.pieces += [*self._notes(part), *self._comments(part)]
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

    def _comments(self, part: str) -> list[Piece]:
        pieces = []
        for name in self._package.related(part, "comments"):
            for element in self._package.tree(name).iter():
                kind = element.tag.rpartition("}")[2]
                if kind not in {"cm", "reply"}:
                    continue
                author = self._authors.get(element.get("authorId", ""), "unknown")
                own = [
                    child for child in element if child.tag.rpartition("}")[2] in {"text", "txBody"}
                ]
                text = "\n".join(filter(None, map(_comment_text, own)))
                if text:
                    pieces.append(Piece("note", f"Comment by {author}: {text}"))
        return pieces


def _comment_text(element: "_Element") -> str:
    paragraphs = element.findall(A + "p")
    if not paragraphs:
        return clean_inline(element.text or "")
    return "\n".join(filter(None, (paragraph_text(p, Ground())[0] for p in paragraphs)))


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
            is_title = place is not None and place.kind in _TITLES and body is not None
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
        if place is not None and place.kind in _UNSEEN:
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
