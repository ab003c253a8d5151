"""The running text of a Word paragraph: runs, fields, notes' marks, what floats beside it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag_assets.parsing.office.docx_looks import is_box_unseen, look_of_run
from rag_assets.parsing.office.docx_styles import Styles
from rag_assets.parsing.office.docx_xml import W, is_on, number_of
from rag_assets.parsing.office.drawing import DGM, MC, A, C, Drawings
from rag_assets.parsing.office.flow import Piece, clean_inline
from rag_assets.parsing.office.math import MATH_TAGS, linear_math
from rag_assets.parsing.office.numbers import format_number
from rag_assets.parsing.office.symbols import is_symbol_font, symbol_text
from rag_assets.parsing.package import relationship_id
from rag_assets.parsing.raised import LEVEL, settle_raised
from rag_assets.parsing.unseen import Kind, Unseen

if TYPE_CHECKING:
    from lxml.etree import _Element

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
        drawings: of the part that the paragraph is in.
        notes: of the document.
        styles: of the document.
        unseen: what was left out of the document so far.
        style_id: of the paragraph.
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
        text = linear_math(element)
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
