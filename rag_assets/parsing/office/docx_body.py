"""The blocks of a Word document: paragraphs, lists, tables, what floats, notes at section ends."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rag_assets.model import BlockKind
from rag_assets.parsing.cleaning import ends_sentence
from rag_assets.parsing.office.docx_inline import InlineReader, Notes
from rag_assets.parsing.office.docx_looks import is_paragraph_off_page
from rag_assets.parsing.office.docx_numbering import Mark, Numbering
from rag_assets.parsing.office.docx_styles import ParagraphStyle, Role, Styles
from rag_assets.parsing.office.docx_tables import TableCell, TableRow, read_rows
from rag_assets.parsing.office.docx_xml import W, number_of, value_of
from rag_assets.parsing.office.drawing import MC, Drawings
from rag_assets.parsing.office.flow import Piece, markdown_table
from rag_assets.parsing.office.math import MATH_TAGS
from rag_assets.parsing.package import OfficePackage
from rag_assets.parsing.unseen import Unseen

if TYPE_CHECKING:
    from lxml.etree import _Element

_SKIPPED = frozenset(
    W + name for name in ("sectPr", "sdtPr", "sdtEndPr", "del", "moveFrom", "tcPr", "pPr")
)
_INLINE = frozenset({W + "r", W + "hyperlink", W + "fldSimple", *MATH_TAGS})
_BODY_LEVEL = 9
_INDENT = 2
# More than a page's column of text in one cell is running text, laid out by a table.
_MAX_CELL_CHARACTERS = 2000
# A title, a header and a row of values.
_TITLED_ROWS = 3
# A longer "heading" is a paragraph whose style was misused.
_MAX_HEADING_CHARACTERS = 300
# An outline level set on a whole sentence, not by a style, comes from pasted web pages.
_MAX_SENTENCE_HEADING = 60
# A title page's style on the list of contents makes it no title.
_CONTENTS = re.compile(
    r"(table of )?contents|inhalt(sverzeichnis)?|sommaire|índice|目\s*[录錄次]"
    r"|оглавление|содержание",
    re.IGNORECASE,
)
_KINDS: dict[Role, BlockKind] = {
    "title": "title",
    "front": "front",
    "author": "front",
    "caption": "caption",
    "code": "code",
    "reference": "reference",
}


@dataclass(slots=True)
class Reading:
    """What the parts of one document share while they are read.

    Args:
        authors: names in paragraphs of the style `Author`.
        abstract: pieces in paragraphs of the style `Abstract`.
        embedded: number of files embedded as another format (altChunk).
    """

    package: OfficePackage
    styles: Styles
    numbering: Numbering
    notes: Notes = field(default_factory=Notes)
    warnings: list[str] = field(default_factory=list)
    authors: list[str] = field(default_factory=list)
    abstract: list[Piece] = field(default_factory=list)
    embedded: int = 0
    unseen: Unseen = field(default_factory=Unseen)


class StoryReader:
    """Reads the blocks of one story: the body, a note, a head.

    Args:
        reading: of the document.
        part: that the story is in.
    """

    def __init__(self, reading: Reading, part: str) -> None:
        self._reading = reading
        self._drawings = Drawings(reading.package, part, reading.warnings)
        self._fields: list[str] = []
        self._joined: list[_Element] = []

    def read(self, container: "_Element") -> list[Piece]:
        """Return the blocks in an element, in order, notes not included."""
        pieces: list[Piece] = []
        loose: list[_Element] = []
        for child in container:
            if child.tag in _INLINE:
                loose.append(child)  # text without a paragraph of its own
                continue
            if loose:
                pieces += self._paragraph(loose)
                loose = []
            if child.tag == W + "tbl":
                pieces += self._rest()
            pieces += self._block(child)
        return [*pieces, *(self._paragraph(loose) if loose else []), *self._rest()]

    def _rest(self) -> list[Piece]:
        """Return the paragraph whose end was deleted although nothing follows it."""
        content, self._joined = self._joined, []
        return self._paragraph(content, content[0].find(W + "pPr")) if content else []

    def _block(self, element: "_Element") -> list[Piece]:
        if element.tag == W + "p":
            return self._marked_paragraph(element)
        if element.tag == W + "tbl":
            return self._table(element)
        if element.tag == W + "altChunk":
            self._reading.embedded += 1
            return []
        if element.tag == MC + "AlternateContent":
            return next(filter(None, map(self.read, element)), [])
        return [] if element.tag in _SKIPPED else self.read(element)

    def _marked_paragraph(self, paragraph: "_Element") -> list[Piece]:
        properties = paragraph.find(W + "pPr")
        if properties is not None and properties.find(f"{W}rPr/{W}del") is not None:
            # Its end was deleted: the next paragraph goes on.
            self._joined.append(paragraph)
            return []
        content = [*self._joined, paragraph]
        self._joined = []
        return self._paragraph(content, content[0].find(W + "pPr"))

    def _paragraph(
        self, content: "Sequence[_Element]", properties: "_Element | None" = None
    ) -> list[Piece]:
        style_id = value_of(properties, "pStyle")
        inline = InlineReader(
            self._drawings,
            self._reading.notes,
            self._reading.styles,
            self._reading.unseen,
            style_id,
            self._fields,
        )
        for element in content:
            # A paragraph is read by its children; text without a paragraph is itself content.
            inline.read(element if element.tag == W + "p" else (element,))
        text = inline.end()
        if is_paragraph_off_page(properties):
            self._reading.unseen.add("place", text)
            text = ""
        style = self._reading.styles.style_of(style_id)
        floats = self._floats(inline.floats)
        floats += [Piece("note", "", note=key) for key in self._reading.notes.take_waiting()]
        is_counted = bool(text) or not floats
        mark = self._mark(properties, style_id, style) if is_counted else None
        if not text:
            return floats
        piece = self._piece(text, inline.formulas, properties, style, mark)
        sizes = {style.size if size is None else size for _, size in inline.looks}
        piece.size = sizes.pop() if len(sizes) == 1 else None
        piece.is_bold = all(
            style.is_bold if is_bold is None else is_bold for is_bold, _ in inline.looks
        )
        return [piece, *floats]

    def _floats(self, floats: "Sequence[Piece | _Element]") -> list[Piece]:
        pieces: list[Piece] = []
        for item in floats:
            pieces += [item] if isinstance(item, Piece) else self.read(item)
        return pieces

    def _piece(
        self,
        text: str,
        formulas: Sequence[str],
        properties: "_Element | None",
        style: ParagraphStyle,
        mark: tuple[Mark, int] | None,
    ) -> Piece:
        role = style.role
        level = _heading_level(properties, style)
        if level is not None and role != "contents" and _is_title(text, style):
            text = " ".join(text.split())
            return Piece("heading", f"{_number(mark)}{text}", level)
        if role == "author":
            self._reading.authors += [line for line in text.split("\n") if line]
        kind = _KINDS.get(role) if role else None
        if kind is not None:
            if kind == "title":
                text = " ".join(text.split())
                kind = "unplaced_heading" if _CONTENTS.fullmatch(text) else kind
            return Piece(kind, text)
        if mark is not None:
            sign, depth = mark
            return Piece("list", f"{sign.text} {text}", depth + 1, indent=_INDENT * depth)
        if formulas and "".join(text.split()) == "".join("".join(formulas).split()):
            return Piece("formula", text)
        piece = Piece("paragraph", text)
        if role == "abstract":
            self._reading.abstract.append(piece)
        return piece

    def _mark(
        self, properties: "_Element | None", style_id: str | None, style: ParagraphStyle
    ) -> tuple[Mark, int] | None:
        """Count the paragraph in its list; its mark and depth, None where it shows none."""
        num_id = number_of(properties, "numPr/numId")
        depth = number_of(properties, "numPr/ilvl")
        if num_id is None:
            num_id = style.num_id
            if num_id is not None and depth is None:
                bound = self._reading.numbering.level_of_style(num_id, style_id)
                depth = style.list_level if bound is None else bound
        if not num_id:
            return None  # 0 takes a paragraph out of its style's list
        depth = depth or 0
        mark = self._reading.numbering.mark(num_id, depth)
        return None if mark is None else (mark, depth)

    def _table(self, table: "_Element") -> list[Piece]:
        """Return a table as Markdown, or its cells one after another where it only lays out.

        A merged cell has its text in its first column and first row, and blanks elsewhere: each
        word stands once, as it is printed, so that a quotation is found once.
        """
        rows = [(row, [self._cell(cell) for cell in row.cells]) for row in read_rows(table)]
        if _is_layout(rows):
            return [piece for _, cells in rows for pieces in cells for piece in pieces]
        apart = [
            piece for _, cells in rows for pieces in cells for piece in pieces if piece.is_apart
        ]
        caption = _merged_title(rows)
        grid = [_row_texts(row, cells) for row, cells in (rows[1:] if caption else rows)]
        text = markdown_table(grid)
        if not text:
            return apart
        if not caption:
            return [Piece("table", text), *apart]
        title = Piece("caption", caption)
        return [title, Piece("table", text, caption=title), *apart]

    def _cell(self, cell: TableCell) -> list[Piece]:
        return [] if cell.continues else self.read(cell.element)

    def note(self, element: "_Element") -> tuple[str, list[tuple[str, str]]]:
        """Return the text of a footnote, endnote or comment, and the notes that it refers to."""
        pieces = self.read(element)
        lines = [_cell_text(piece) for piece in pieces if not piece.is_apart]
        return "\n".join(lines).strip(), [piece.note for piece in pieces if piece.note]


def _is_layout(rows: "Sequence[tuple[TableRow, list[list[Piece]]]]") -> bool:
    """Tell a frame around text, or columns of running text, from a table of values."""
    if all(len(row.cells) <= 1 for row, _ in rows):
        return True
    return any(
        sum(len(piece.text) for piece in pieces) > _MAX_CELL_CHARACTERS
        for _, cells in rows
        for pieces in cells
    )


def _merged_title(rows: "Sequence[tuple[TableRow, list[list[Piece]]]]") -> str:
    """Return the text of a first row that is one cell over a table of several columns."""
    if len(rows) < _TITLED_ROWS or len(rows[0][0].cells) != 1 or rows[0][0].before:
        return ""
    is_wide = rows[0][0].cells[0].span > 1
    return _joined(rows[0][1][0]) if is_wide and len(rows[1][0].cells) > 1 else ""


def _row_texts(row: TableRow, cells: "Sequence[Sequence[Piece]]") -> list[str]:
    """Return the text of every grid column of a row."""
    texts = [""] * row.before
    for cell, pieces in zip(row.cells, cells, strict=True):
        texts += [_joined(pieces), *[""] * (cell.span - 1)]
    return texts


def _joined(pieces: Sequence[Piece]) -> str:
    texts = (_cell_text(piece) for piece in pieces if not piece.is_apart)
    return " ".join(" ".join(texts).split())


def merge_code(pieces: Sequence[Piece]) -> list[Piece]:
    """Return `pieces` with consecutive lines of code as one block."""
    merged: list[Piece] = []
    for piece in pieces:
        if piece.kind == "code" and merged and merged[-1].kind == "code":
            merged[-1] = replace(merged[-1], text=f"{merged[-1].text}\n{piece.text}")
        else:
            merged.append(piece)
    return merged


def _cell_text(piece: Piece) -> str:
    if piece.kind != "table":
        return piece.text
    # A table inside a cell: its cells in their order.
    lines = [line.strip("| ") for line in piece.text.split("\n") if not line.startswith("| ---")]
    return "; ".join(line.replace(" | ", ", ") for line in lines)


def _number(mark: tuple[Mark, int] | None) -> str:
    """Return what stands before a numbered heading, "" for a bullet."""
    return "" if mark is None or mark[0].is_bullet else f"{mark[0].text} "


def _is_title(text: str, style: ParagraphStyle) -> bool:
    """Tell whether a paragraph with an outline level can be a heading."""
    if len(text) > _MAX_HEADING_CHARACTERS:
        return False
    is_styled = style.heading_level is not None
    return is_styled or len(text) <= _MAX_SENTENCE_HEADING or not ends_sentence(text)


def _heading_level(properties: "_Element | None", style: ParagraphStyle) -> int | None:
    own = number_of(properties, "outlineLvl")
    if own is None:
        return style.heading_level
    return own + 1 if 0 <= own < _BODY_LEVEL else None
