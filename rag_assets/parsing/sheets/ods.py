"""OpenDocument spreadsheets (ods): cells as they are shown, read from a stream."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal
from xml.parsers.expat import EXPAT_VERSION

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.parsing.contract import ParseHints
from rag_assets.parsing.language import guess_language
from rag_assets.parsing.office.package import OfficePackage
from rag_assets.parsing.sheets.layout import Row
from rag_assets.parsing.sheets.rows import write_tables
from rag_assets.parsing.sheets.text import TextBuilder
from rag_assets.parsing.sheets.xlsx import describe_hidden, name_column, no_filled_cell
from rag_assets.parsing.sheets.xml import column_letters, feed_xml
from rag_assets.settings import ParseSettings

ODS_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
PARSER_VERSION = "1"

_CONTENT, _MANIFEST = "content.xml", "META-INF/manifest.xml"
# Equal neighbours stand once with a count: a few bytes may claim 17 thousand million cells.
_MAX_REPEATED_CELLS = 5_000_000
_SPACES = {"s": " ", "tab": " ", "line-break": " "}

Event = tuple[Literal["sheet", "row", "note", "paragraph"], str, Row]


class OdsParser:
    """Reads OpenDocument spreadsheets. Pictures and charts are not read."""

    name = "ods"
    media_types = (ODS_TYPE,)
    reads_stem = False

    @cached_property
    def version(self) -> str:
        """Own version and that of the XML library."""
        return f"{PARSER_VERSION}+{EXPAT_VERSION}"

    def parse(self, data: bytes, _hints: ParseHints, settings: ParseSettings) -> ParsedDocument:
        """Return each sheet as a heading, its rows, its text boxes and notes.

        Raises:
            ParseFailure: `damaged_file`, `empty_file`, `hostile_file`, `password_required`,
                `size_limit`.
        """
        package = OfficePackage(data, settings)
        if _MANIFEST in package and b"encryption-data" in package.read(_MANIFEST):
            raise ParseFailure(
                "password_required",
                "The spreadsheet is protected by a password, and OpenDocument's encryption cannot "
                "be opened here: save it in its own program without the password, or as xlsx.",
            )
        scan = _Scan()
        builder = TextBuilder()
        names: list[str] = []
        events = scan.events(package)
        event = next(events, None)
        while event is not None:
            kind, name, _ = event
            if kind == "sheet":
                names.append(name)
                builder.open_sheet(name)
            sheet = _SheetRows(events)
            write_tables(sheet, builder, name_column)
            for noted, text in sheet.extras:
                builder.add(noted, text)
            event = sheet.following
        text = builder.text()
        if not text:
            raise no_filled_cell()
        return ParsedDocument(
            text=text,
            media_type=ODS_TYPE,
            blocks=builder.blocks,
            language=guess_language(text),
            metadata={"sheets": "; ".join(names)},
            warnings=tuple(describe_hidden(scan.hidden)),
        )


@dataclass(slots=True)
class _SheetRows:
    """The rows of one sheet; what stands beside them is kept in `extras`."""

    events: Iterator[Event]
    extras: list[tuple[Literal["note", "paragraph"], str]] = field(default_factory=list)
    following: Event | None = None

    def __iter__(self) -> Iterator[Row]:
        for event in self.events:
            kind, text, row = event
            if kind == "sheet":
                self.following = event
                return
            if kind == "row":
                yield row
            else:
                self.extras.append((kind, text))


@dataclass(slots=True)
class _Scan:
    hidden: list[str] = field(default_factory=list)
    _done: list[Event] = field(default_factory=list)
    _hidden_styles: set[str] = field(default_factory=set)
    _style: str = ""
    _row: list[tuple[int, str]] = field(default_factory=list)
    _row_number: int = 0
    _row_repeats: int = 1
    _column: int = 0
    _repeats: int = 1
    _value: str = ""
    _expanded: int = 0
    _paragraphs: list[str] = field(default_factory=list)
    _note: list[str] = field(default_factory=list)
    _inside: list[str] = field(default_factory=list)

    def events(self, package: OfficePackage) -> Iterator[Event]:
        for _ in feed_xml(
            package.pieces(_CONTENT), _CONTENT, self._start, self._end, self._characters
        ):
            yield from self._done
            self._done.clear()

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        own = {key.rpartition(":")[2]: value for key, value in attributes.items()}
        if name == "style":
            self._style = own.get("name", "")
        elif name == "table-properties":
            if own.get("display") == "false":
                self._hidden_styles.add(self._style)
        elif name == "table":
            self._row_number = 0
            title = " ".join(own.get("name", "").split()) or "Sheet"
            self._done.append(("sheet", title, []))
            if own.get("style-name") in self._hidden_styles:
                self.hidden.append(title)
        elif name == "table-row":
            self._row, self._column = [], 0
            self._row_repeats = _count(own.get("number-rows-repeated"))
        elif name in {"table-cell", "covered-table-cell"}:
            self._repeats = _count(own.get("number-columns-repeated"))
            self._value = own.get("date-value", "").replace("T00:00:00", "").replace("T", " ")
            self._paragraphs, self._note = [], []
        elif name in {"annotation", "shapes", "frame", "custom-shape"}:
            self._inside.append(name)
        elif name == "p":
            (self._note if self._is_beside() else self._paragraphs).append("")
            self._inside.append(name)
        elif name in _SPACES:
            self._characters(_SPACES[name])

    def _is_beside(self) -> bool:
        """Tell whether the place is inside a note or a shape, not in the cell itself."""
        return any(name != "p" for name in self._inside)

    def _characters(self, text: str) -> None:
        if self._inside and self._inside[-1] == "p":
            (self._note if self._is_beside() else self._paragraphs)[-1] += text

    def _end(self, name: str) -> None:
        if self._inside and name == self._inside[-1]:
            self._inside.pop()
            if name != "p" and not self._is_beside():
                self._end_extra(name)
        elif name in {"table-cell", "covered-table-cell"}:
            shown = self._value or " ".join(" ".join(self._paragraphs).split())
            if shown:
                self._expand(self._repeats)
                self._row += [(self._column + step, shown) for step in range(self._repeats)]
            self._column += self._repeats
        elif name == "table-row":
            repeats = self._row_repeats if self._row else 1
            self._expand((repeats - 1) * len(self._row))
            self._done += [("row", "", self._row)] * repeats
            self._row_number += self._row_repeats

    def _end_extra(self, name: str) -> None:
        text = " ".join(" ".join(self._note).split())
        self._note = []
        if text and name == "annotation":
            reference = f"{column_letters(self._column)}{self._row_number + 1}"
            self._done.append(("note", f"{reference}: {text}", []))
        elif text:
            self._done.append(("paragraph", text, []))

    def _expand(self, cells: int) -> None:
        self._expanded += cells
        if self._expanded > _MAX_REPEATED_CELLS:
            raise ParseFailure(
                "hostile_file",
                f"The spreadsheet repeats cells to more than {_MAX_REPEATED_CELLS} filled ones: "
                "delete the filled cells outside of its tables, then save it anew.",
            )


def _count(text: str | None) -> int:
    return max(int(text), 1) if text and text.isdecimal() else 1
