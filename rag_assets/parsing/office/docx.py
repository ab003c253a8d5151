"""Word documents (docx, docm, dotx), walked through by their XML.

The libraries drop text: python-docx has no footnotes, text boxes or fields' results and refuses
macro-enabled and strict files; mammoth keeps neither numbers nor comments by place. So lxml reads
the parts, and the rules stand here.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.parsing.contract import ParseHints
from rag_assets.parsing.language import guess_language
from rag_assets.parsing.office.dde import field_dde_warning
from rag_assets.parsing.office.docx_body import Reading, StoryReader, merge_code
from rag_assets.parsing.office.docx_headings import mark_unstyled_headings
from rag_assets.parsing.office.docx_numbering import Numbering
from rag_assets.parsing.office.docx_styles import Styles
from rag_assets.parsing.office.docx_xml import W
from rag_assets.parsing.office.flow import Flow, Piece, flow_pieces
from rag_assets.parsing.package import OfficePackage, read_office_file, read_properties
from rag_assets.parsing.sniffing import DOCX_TYPE
from rag_assets.parsing.unseen import Unseen
from rag_assets.settings import ParseSettings

if TYPE_CHECKING:
    from lxml.etree import _Element

PARSER_VERSION = "3"

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
            f"The document's part {part} has no body: open it in Word, save it anew and replace "
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
        warnings=(*_warnings(reading, part, pieces), *field_dde_warning(root)),
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
            "document in Word and save it anew."
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
