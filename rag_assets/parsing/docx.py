"""Word documents (docx, docm, dotx), walked through by their XML.

mammoth and python-docx drop what is needed here: the numbers of headings and clauses that Word
computes, the text of simple fields, formulas, boxes of text, which text is hidden, and where a note
is referred to.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING

from rag_assets.model import BlockKind, ParsedDocument, ParseFailure
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing.cleaning import ends_sentence, guess_language
from rag_assets.parsing.docx_styles import (
    Mark,
    Numbering,
    ParagraphStyle,
    Role,
    Styles,
    W,
    format_number,
    is_box_unseen,
    is_on,
    is_paragraph_off_page,
    is_symbol_font,
    look_of_run,
    mark_unstyled_headings,
    number_of,
    symbol_text,
    value_of,
)
from rag_assets.parsing.flow import (
    DGM,
    MATH_TAGS,
    MC,
    A,
    C,
    Drawings,
    Flow,
    Piece,
    clean_inline,
    flow_pieces,
    markdown_table,
    office_formula,
)
from rag_assets.parsing.package import (
    OfficePackage,
    read_office_file,
    read_properties,
    relationship_id,
)
from rag_assets.parsing.registry import ParseHints
from rag_assets.parsing.seen import LEVEL, Kind, Unseen, settle_raised
from rag_assets.parsing.sniffing import DOCX_TYPE

if TYPE_CHECKING:
    from lxml.etree import _Element

# Word's own limit of columns.
_MAX_COLUMNS = 63


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell as it stands in its row.

    Args:
        element: `w:tc`.
        span: grid columns that it covers, at least 1.
        continues: True where it is the lower or right part of a merged cell.
    """

    element: "_Element"
    span: int
    continues: bool


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row: the columns left empty before it, and its cells."""

    before: int
    cells: tuple[TableCell, ...]


def read_rows(table: "_Element") -> list[TableRow]:
    """Return the rows of a table that are not deleted by a tracked change."""
    rows = []
    for row in _contents(table, W + "tr"):
        properties = row.find(W + "trPr")
        if properties is not None and properties.find(W + "del") is not None:
            continue
        cells = tuple(
            _cell(cell)
            for cell in _contents(row, W + "tc")
            if cell.find(f"{W}tcPr/{W}cellDel") is None
        )
        rows.append(TableRow(_bounded(number_of(properties, "gridBefore") or 0, 0), cells))
    return rows


def _contents(container: "_Element", tag: str) -> "Iterator[_Element]":
    """Return the rows of a table or cells of a row, those inside content controls too."""
    for child in container:
        if child.tag == tag:
            yield child
        elif child.tag in _TRANSPARENT:
            yield from _contents(child, tag)


_TRANSPARENT = frozenset(
    W + name for name in ("sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo")
)


def _cell(cell: "_Element") -> TableCell:
    properties = cell.find(W + "tcPr")
    span = _bounded(number_of(properties, "gridSpan") or 1, 1)
    return TableCell(
        cell, span, _continues(properties, "vMerge") or _continues(properties, "hMerge")
    )


def _continues(properties: "_Element | None", name: str) -> bool:
    # The element without a value continues the cell before (ECMA-376 part 1, 17.4.84).
    merged = None if properties is None else properties.find(W + name)
    return merged is not None and merged.get(W + "val", "continue") != "restart"


def _bounded(count: int, least: int) -> int:
    return max(least, min(count, _MAX_COLUMNS))


_V = "{urn:schemas-microsoft-com:vml}"
_WP = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
_NOTE_TAGS = {
    W + "footnoteReference": "footnote",
    W + "endnoteReference": "endnote",
    W + "commentReference": "comment",
}
# What a reader does not see: deletions, instructions of fields, properties, a note's own mark.
_UNSEEN = frozenset(
    W + name
    for name in (
        "moveFrom", "delText", "instrText", "delInstrText", "pPr", "rPr", "sdtPr",
        "sdtEndPr", "rt", "rubyPr", "footnoteRef", "endnoteRef", "annotationRef", "tblPr",
        "txbxContent",
    )
)  # fmt: skip
_FIXED = {
    W + "tab": " ", W + "ptab": " ", W + "br": "\n", W + "cr": "\n", W + "noBreakHyphen": "-",
}  # fmt: skip


@dataclass(slots=True)
class Notes:
    """Footnotes, endnotes and comments in the order of their reference.

    Args:
        marks: what stands in the text, by kind and id.
        waiting: notes that were referred to and not yet placed.
    """

    marks: dict[tuple[str, str], str] = field(default_factory=dict)
    waiting: list[tuple[str, str]] = field(default_factory=list)

    def refer(self, kind: str, note_id: str, custom: str | None = None) -> str:
        """Remember a reference and return its mark in the text.

        Args:
            custom: None where Word numbers the note, "" where the mark stands in the next run.
        """
        key = (kind, note_id)
        if key not in self.marks:
            number = sum(known == kind for known, _ in self.marks) + 1
            plain = "" if kind == "comment" else f"[{format_number(number, 'lowerRoman')}]"
            self.marks[key] = f"[{number}]" if kind == "footnote" else plain
            self.waiting.append(key)
        return self.marks[key] if custom is None else custom

    def take_waiting(self) -> list[tuple[str, str]]:
        """Return the notes referred to since the last call, in order."""
        taken, self.waiting = self.waiting, []
        return taken


class InlineReader:
    """Reads the content of one paragraph.

    Args:
        fields: states of the fields that are open, `code` or `result`, outermost first; lives as
            long as its story.
    """

    def __init__(
        self,
        drawings: Drawings,
        notes: Notes,
        styles: Styles,
        unseen: Unseen,
        style_id: str | None,
        fields: list[str],
    ) -> None:
        self.floats: list[Piece | _Element] = []
        self.formulas: list[str] = []
        # Characters by (bold, size in half points), None where the paragraph's style decides.
        self.looks: dict[tuple[bool | None, int | None], int] = {}
        self._drawings = drawings
        self._notes = notes
        self._fields = fields
        self._styles = styles
        self._unseen = unseen
        self._style_id = style_id
        self._text: list[str] = []
        self._lost: list[tuple[Kind, str]] = []
        self._name = ""
        self._font: str | None = None
        self._hidden: Kind | None = None
        self._handlers: dict[str, Callable[[_Element], None]] = {
            W + "r": self._read_run,
            W + "t": self._read_text,
            W + "sym": self._read_symbol,
            W + "fldChar": self._read_field_character,
            W + "footnoteReference": self._read_reference,
            W + "endnoteReference": self._read_reference,
            W + "commentReference": self._read_reference,
            MC + "AlternateContent": self._read_alternatives,
            _WP + "docPr": self._read_name,
            _V + "shape": self._read_shape,
            _V + "imagedata": self._read_picture,
            _V + "textpath": self._read_word_art,
            A + "blip": self._read_picture,
            C + "chart": self._read_chart,
            DGM + "relIds": self._read_diagram,
        }

    def read(self, content: "Iterable[_Element]") -> None:
        """Add the content of an element's children, or of other elements in a row."""
        for child in content:
            tag = child.tag
            if tag == W + "txbxContent":
                if is_box_unseen(child):
                    self._unseen.add("place", "".join(t.text or "" for t in child.iter(W + "t")))
                else:
                    self.floats.append(child)
            elif tag == W + "del":
                self._lose("struck", "".join(t.text or "" for t in child.iter(W + "delText")))
            elif tag in _UNSEEN:
                continue
            elif tag in MATH_TAGS:
                self._read_math(child)
            elif tag in _FIXED:
                self._add(_FIXED[tag])
            elif tag in self._handlers:
                self._handlers[tag](child)
            else:
                self.read(child)

    def end(self) -> str:
        """Close the paragraph and return its clean text, with its line breaks.

        The instructions of a field do not outlive it.
        """
        while self._fields and self._fields[-1] == "code":
            self._fields.pop()
        self._tell_lost()
        return clean_inline(settle_raised("".join(self._text)))

    def _add(self, text: str) -> None:
        if "code" in self._fields:
            return
        if self._hidden is not None:
            self._lose(self._hidden, text)
        else:
            if text.strip():
                self._tell_lost()
            self._text.append(text)

    def _lose(self, kind: Kind, text: str) -> None:
        if self._lost and self._lost[-1][0] != kind:
            self._tell_lost()
        self._lost.append((kind, text))

    def _tell_lost(self) -> None:
        """Count what was lost since the last text that is seen: programs cut a text into runs."""
        if self._lost:
            self._unseen.add(self._lost[0][0], "".join(text for _, text in self._lost))
            self._lost.clear()

    def _read_run(self, run: "_Element") -> None:
        properties = run.find(W + "rPr")
        fonts = None if properties is None else properties.find(W + "rFonts")
        self._font = None if fonts is None else fonts.get(W + "ascii")
        look = look_of_run(run, properties, self._style_id, self._styles)
        self._hidden = look.unseen
        before = len(self._text)
        self.read(run)
        self._hidden = None
        self._weigh("".join(self._text[before:]), properties)
        if look.mark and len(self._text) > before:
            self._text.insert(before, look.mark)
            self._text.append(LEVEL)

    def _weigh(self, text: str, properties: "_Element | None") -> None:
        """Count a run's characters by how they are set."""
        length = len("".join(text.split()))
        if length:
            says = properties is not None and properties.find(W + "b") is not None
            look = (is_on(properties, "b") if says else None, number_of(properties, "sz"))
            self.looks[look] = self.looks.get(look, 0) + length

    def _read_text(self, element: "_Element") -> None:
        text = element.text or ""
        if is_symbol_font(self._font):
            text = "".join(
                symbol_text(self._font, ord(character)) if character != " " else " "
                for character in text
            )
        self._add(text)

    def _read_symbol(self, element: "_Element") -> None:
        try:
            code = int(element.get(W + "char", ""), 16)
        except ValueError:
            return  # a symbol without a code shows nothing
        self._add(symbol_text(element.get(W + "font"), code))

    def _read_field_character(self, element: "_Element") -> None:
        kind = element.get(W + "fldCharType")
        if kind == "begin":
            checkbox = element.find(f"{W}ffData/{W}checkBox")
            if checkbox is not None:
                is_checked = is_on(checkbox, "checked") or (
                    checkbox.find(W + "checked") is None and is_on(checkbox, "default")
                )
                self._add("☒" if is_checked else "☐")
            self._fields.append("code")
        elif kind == "separate" and self._fields:
            self._fields[-1] = "result"
        elif kind == "end" and self._fields:
            self._fields.pop()

    def _read_reference(self, element: "_Element") -> None:
        if "code" in self._fields:
            return
        follows = element.get(W + "customMarkFollows", "0") not in {"0", "false", "off"}
        note_id = element.get(W + "id", "")
        kind = _NOTE_TAGS[element.tag]
        self._add(self._notes.refer(kind, note_id, "" if follows else None))

    def _read_math(self, element: "_Element") -> None:
        text = office_formula(element)
        if text:
            self.formulas.append(text)
            is_apart = bool(self._text) and not self._text[-1][-1:].isspace()
            self._add(f" {text} " if is_apart and self._text[-1][-1:].isalnum() else f"{text} ")

    def _read_alternatives(self, element: "_Element") -> None:
        """Read the first alternative that shows something: the same content stands in each."""
        for alternative in element:
            before = len(self._text), len(self.floats), len(self.formulas)
            self.read(alternative)
            if (len(self._text), len(self.floats), len(self.formulas)) != before:
                return

    def _read_name(self, element: "_Element") -> None:
        self._name = element.get("descr") or element.get("title") or element.get("name") or ""

    def _read_shape(self, element: "_Element") -> None:
        self._name = element.get("alt") or ""
        self.read(element)

    def _read_picture(self, element: "_Element") -> None:
        relationship = relationship_id(element, "embed") or relationship_id(element)
        piece = self._drawings.picture(relationship or relationship_id(element, "link"), self._name)
        if piece is not None and self._hidden is None:
            self.floats.append(piece)

    def _read_word_art(self, element: "_Element") -> None:
        self._add(element.get("string") or "")

    def _read_chart(self, element: "_Element") -> None:
        self.floats.extend(self._drawings.chart(relationship_id(element)))

    def _read_diagram(self, element: "_Element") -> None:
        self.floats.extend(self._drawings.diagram(relationship_id(element, "dm")))


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


PARSER_VERSION = "4"

_USUAL_PART = "word/document.xml"
# Pieces in which a title is looked for: a title page.
_BEGINNING = 12
_NOTE_PARTS = (("footnotes", "footnote"), ("endnotes", "endnote"), ("comments", "comment"))


class DocxParser:
    """Reads Word documents.

    Notes stand at the end of the section that refers to them, their mark in the text. Heads and
    feet are listed as removed: they belong to no place in the text.
    """

    name = "docx"
    media_types = (DOCX_TYPE,)
    reads_stem = False

    @cached_property
    def version(self) -> str:
        """Own version and that of the XML library."""
        return f"{PARSER_VERSION}+lxml-{version('lxml')}"

    def parse(self, data: bytes, hints: ParseHints, settings: ParseSettings) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailure: `damaged_file`, `hostile_file`, `size_limit`, `empty_file`.
        """
        return read_office_file(_read, OfficePackage(data, settings), hints)


def _read(package: OfficePackage) -> ParsedDocument:
    part = package.main_part(_USUAL_PART)
    root = package.tree(part)
    reading = Reading(
        package,
        Styles(_related_tree(package, part, "styles")),
        Numbering(_related_tree(package, part, "numbering")),
    )
    body = root.find(W + "body")
    if body is None:
        raise ParseFailure(
            "damaged_file",
            f"The document's part {part} has no body: open it in Word, save it again and replace "
            "it.",
        )
    written = merge_code(StoryReader(reading, part).read(body))
    mark_unstyled_headings(written)
    pieces = _with_notes(written, reading, part)
    flow = flow_pieces(pieces)
    if not flow.text:
        raise ParseFailure(
            "empty_file", "The document holds no text and no picture: remove it or write its text."
        )
    properties = read_properties(package)
    titles = [piece.text for piece in pieces if piece.kind == "title"]
    return ParsedDocument(
        text=flow.text,
        media_type=DOCX_TYPE,
        blocks=flow.blocks,
        attachments=flow.attachments,
        title=_title(titles, properties.title, pieces),
        authors=tuple(reading.authors) or properties.authors,
        abstract=_styled_abstract(reading, pieces, flow) or flow.abstract,
        language=guess_language(flow.text),
        metadata=properties.metadata,
        removed_templates=_heads_and_feet(reading, part),
        warnings=_warnings(reading, part, pieces),
    )


def _related_tree(package: OfficePackage, part: str, kind: str) -> "_Element | None":
    found = package.related(part, kind)
    return package.tree(found[0]) if found else None


def _with_notes(written: Sequence[Piece], reading: Reading, part: str) -> list[Piece]:
    """Return the pieces with each section's notes at its end, in the order of their marks."""
    notes = _Notes(reading, part)
    placed: list[Piece] = []
    waiting: list[tuple[str, str]] = []
    for piece in written:
        if piece.note is not None:
            waiting.append(piece.note)
            continue
        if piece.kind == "heading":
            placed += notes.take(waiting)
            waiting = []
        placed.append(piece)
    return [*placed, *notes.take(waiting)]


class _Notes:
    """The footnotes, endnotes and comments of a document by kind and id."""

    def __init__(self, reading: Reading, part: str) -> None:
        self._reading = reading
        self._readers: dict[str, StoryReader] = {}
        self._elements: dict[tuple[str, str], _Element] = {}
        for relation, kind in _NOTE_PARTS:
            for name in reading.package.related(part, relation):
                self._readers[kind] = StoryReader(reading, name)
                for element in reading.package.tree(name).findall(W + kind):
                    self._elements[kind, element.get(W + "id", "")] = element

    def take(self, keys: Sequence[tuple[str, str]]) -> list[Piece]:
        """Return the notes `keys` as pieces, each followed by those that it refers to."""
        pieces: list[Piece] = []
        queue = list(keys)
        while queue:
            kind, note_id = queue.pop(0)
            element = self._elements.pop((kind, note_id), None)
            if element is None:
                continue
            text, further = self._readers[kind].note(element)
            queue = [*further, *queue]
            if not text:
                continue
            if kind == "comment":
                author = element.get(W + "author", "").strip()
                pieces.append(Piece("note", f"Comment by {author or 'unknown'}: {text}"))
            else:
                mark = self._reading.notes.marks[kind, note_id]
                pieces.append(Piece("footnote", f"{mark} {text}"))
        return pieces


def _title(titles: Sequence[str], stated: str | None, pieces: Sequence[Piece]) -> str | None:
    """Return the document's title: styled as one, stated and printed, its only chapter, stated."""
    if titles:
        return " ".join(_leading_titles(pieces)) or titles[0]
    beginning = " ".join(piece.text for piece in pieces[:_BEGINNING]).casefold()
    if stated is not None and stated.casefold() in beginning:
        return stated
    levels = [piece.level or 1 for piece in pieces if piece.kind == "heading"]
    first = pieces[0] if pieces else None
    if (
        first is not None
        and first.kind == "heading"
        and levels[0] == min(levels)
        and levels.count(levels[0]) == 1
    ):
        return first.text
    return stated


def _leading_titles(pieces: Sequence[Piece]) -> list[str]:
    """Return the lines of a title that runs over several paragraphs of its style."""
    lines: list[str] = []
    for piece in pieces:
        if piece.kind == "title":
            lines.append(piece.text)
        elif lines:
            break
    return lines


def _styled_abstract(
    reading: Reading, pieces: Sequence[Piece], flow: Flow
) -> tuple[int, int] | None:
    """Return the span of the paragraphs in the style `Abstract`, None without."""
    kept = [piece for piece in pieces if piece.text or piece.picture]
    wanted = {id(piece) for piece in reading.abstract}
    spans = [
        (block.start, block.end)
        for piece, block in zip(kept, flow.blocks, strict=True)
        if id(piece) in wanted
    ]
    return (spans[0][0], spans[-1][1]) if spans else None


def _heads_and_feet(reading: Reading, part: str) -> tuple[str, ...]:
    """Return the texts of heads and feet, each once; page numbers are none."""
    lines: dict[str, None] = {}
    for kind in ("header", "footer"):
        for name in reading.package.related(part, kind):
            reader = StoryReader(
                replace(reading, warnings=[], authors=[], abstract=[], unseen=Unseen()), name
            )
            for piece in reader.read(reading.package.tree(name)):
                text = " ".join(piece.text.split())
                if any(character.isalpha() for character in text):
                    lines[text] = None
    return tuple(lines)


def _warnings(reading: Reading, part: str, pieces: Sequence[Piece]) -> tuple[str, ...]:
    warnings = list(reading.warnings)
    if reading.embedded:
        warnings.append(
            f"{reading.embedded} parts are embedded in another format and were not read: open the "
            "document in Word and save it again."
        )
    objects = sum(len(reading.package.related(part, kind)) for kind in ("oleObject", "package"))
    warnings += reading.unseen.warnings()
    if objects:
        warnings.append(
            f"{objects} embedded files were not read: save them beside the document where they "
            "matter."
        )
    if all(piece.kind == "figure" for piece in pieces):
        warnings.append(
            "The document holds pictures only: where they show text, run text recognition (OCR)."
        )
    return tuple(warnings)
