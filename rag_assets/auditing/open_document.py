"""Drafts in OpenDocument (.odt) and rich text (.rtf) as Markdown."""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

from rag_assets.auditing.citation_forms import ANCHOR, PANDOC, STATUTE
from rag_assets.auditing.references import DraftSource
from rag_assets.llm.services import missing_extra
from rag_assets.model import ParseFailure, UsageError, hash_bytes

if TYPE_CHECKING:
    from lxml.etree import _Element

# OpenDocument 1.3, part 3: https://docs.oasis-open.org/office/OpenDocument/v1.3/.

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_BODY = f".//{_OFFICE}body/{_OFFICE}text"
# What was deleted, what a reviewer remarks, and the marks of notes that are written as Markdown.
_LEFT_OUT = frozenset({
    f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_TEXT}note-citation",
    f"{_OFFICE}forms", f"{_TEXT}sequence-decls",
})  # fmt: skip
_MOST_LEVELS = 6
_MARKS = re.compile(r"[*`\\]|(?<!\w)_|_(?!\w)")
_LINE_START = re.compile(r"^(\s*\d*)([#>+\-=|]|(?<=\d)[.)](?=\s)|~~~)")
_CITATION = re.compile(rf"({ANCHOR}|{PANDOC}|{STATUTE})")
_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_DIGITS = re.compile(r"[\d,\s–\-−+]+")


def read_odt(name: str, data: bytes) -> DraftSource:
    """Return an OpenDocument text as Markdown: headings, lists, tables, quotations, footnotes.

    Tracked deletions and remarks are left out.

    Args:
        name: of the file, for messages.

    Raises:
        UsageError: the file is damaged, protected or no OpenDocument text.
    """
    from rag_assets.parsing import OfficePackage
    from rag_assets.workspace import shipped_settings

    try:
        package = OfficePackage(data, shipped_settings().parse)
        content = package.tree("content.xml")
    except ParseFailure as failure:
        raise UsageError(
            f"{name}: the draft cannot be read ({failure.reason_code}). {failure.message} Save it "
            "again as .odt without a password, or as .docx."
        ) from failure
    body = content.find(_BODY)
    if body is None:
        raise UsageError(f"{name}: this is no OpenDocument text. Save the draft as .odt or .docx.")
    text = _Markdown(content).write(body)
    return DraftSource(text, hash_bytes(data), lines=_paragraphs(text))


def _paragraphs(text: str) -> tuple[tuple[int, str, int], ...]:
    """Return the numbers of paragraphs by their offsets: these formats have no lines."""
    starts = [0, *(match.end() for match in re.finditer(r"\n\n+", text))]
    return tuple((start, "", number) for number, start in enumerate(starts, 1))


class _Markdown:
    """Writes the blocks of a document; notes go to the end of their section."""

    def __init__(self, content: "_Element") -> None:
        self._notes: list[str] = []
        self._note_count = 0
        self._raised = {
            str(style.get(f"{_STYLE}name"))
            for style in content.iter(f"{_STYLE}style")
            for properties in style.iter(f"{_STYLE}text-properties")
            if str(properties.get(f"{_STYLE}text-position", "")).startswith(("super", "33%"))
        }
        self._quotes = {
            str(style.get(f"{_STYLE}name"))
            for style in content.iter(f"{_STYLE}style")
            if "Quotation" in str(style.get(f"{_STYLE}parent-style-name", ""))
        } | {"Quotations"}

    def write(self, body: "_Element") -> str:
        """Return the document."""
        blocks = [block for block in self._blocks(body, "") if block.strip()]
        return "\n\n".join([*blocks, *self._flushed_notes()]) + "\n"

    def _flushed_notes(self) -> list[str]:
        notes, self._notes = self._notes, []
        return notes

    def _blocks(self, parent: "_Element", mark: str) -> Iterator[str]:
        for element in parent:
            if element.tag in _LEFT_OUT:
                continue
            if element.tag == f"{_TEXT}h":
                yield from self._flushed_notes()
                level = int(element.get(f"{_TEXT}outline-level") or 1)
                yield f"{'#' * min(level, _MOST_LEVELS)} {self._line(element)}"
            elif element.tag == f"{_TEXT}p":
                is_quoted = element.get(f"{_TEXT}style-name") in self._quotes
                line = self._line(element)
                yield ("> " * is_quoted or mark) + _LINE_START.sub(r"\1\\\2", line) if line else ""
            elif element.tag == f"{_TEXT}list":
                for item in element:
                    yield from self._blocks(item, "- ")
            elif element.tag == f"{_TABLE}table":
                yield self._table(element)
            elif isinstance(element.tag, str):
                yield from self._blocks(element, mark)

    def _table(self, table: "_Element") -> str:
        rows = [
            [
                " ".join(self._blocks(cell, "")).replace("|", "\\|")
                for cell in row
                if cell.tag in {f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"}
            ]
            for row in table.iter(f"{_TABLE}table-row")
        ]
        width = max(map(len, rows), default=0)
        lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in rows]
        return "\n".join([*lines[:1], "|---" * width + "|", *lines[1:]]) if lines else ""

    def _line(self, element: "_Element") -> str:
        text = "".join(self._inline(element, is_raised=False))
        pieces = _CITATION.split(" ".join(text.split()))
        return "".join(
            piece if number % 2 else _MARKS.sub(lambda match: f"\\{match.group()}", piece)
            for number, piece in enumerate(pieces)
        )

    def _inline(self, element: "_Element", *, is_raised: bool) -> Iterator[str]:
        yield _raise(element.text or "") if is_raised else element.text or ""
        for child in element:
            if child.tag == f"{_TEXT}note":
                yield self._note(child)
            elif child.tag in {f"{_TEXT}s", f"{_TEXT}tab", f"{_TEXT}line-break"}:
                yield " "
            elif isinstance(child.tag, str) and child.tag not in _LEFT_OUT:
                raised = is_raised or child.get(f"{_TEXT}style-name") in self._raised
                yield from self._inline(child, is_raised=raised)
            yield _raise(child.tail or "") if is_raised else child.tail or ""

    def _note(self, note: "_Element") -> str:
        self._note_count += 1
        label = f"[^{self._note_count}]"
        body = note.find(f"{_TEXT}note-body")
        said = " ".join(self._blocks(body, "")) if body is not None else ""
        self._notes.append(f"{label}: {said}")
        return label


def _raise(text: str) -> str:
    return text.translate(_RAISED) if _DIGITS.fullmatch(text) else text


# Rich Text Format 1.9.1.

_NOTES = re.compile(r"\\footnote\b")
_DELETED = re.compile(r"\\deleted\b")


def read_rtf(name: str, data: bytes) -> DraftSource:
    """Return what a file in rich text says, as Markdown; a paragraph is a paragraph.

    Args:
        name: of the file, for messages.

    Raises:
        UsageError: it is no rich text.
        ConfigurationError: the extra `office` is missing.
    """
    if find_spec("striprtf") is None:
        raise missing_extra("office", "Reading rich text (.rtf)")
    from striprtf.striprtf import rtf_to_text

    written = data.decode("latin-1")
    if not written.lstrip().startswith("{\\rtf"):
        raise UsageError(f"{name}: this is no rich text. Save the draft as .docx or .odt.")
    lost = [
        what
        for what, pattern in (("footnotes", _NOTES), ("tracked deletions", _DELETED))
        if pattern.search(written)
    ]
    told = (
        f"{name}: the {' and '.join(lost)} of rich text are not read as such. Save the draft as "
        ".docx or .odt to have them read."
    )
    paragraphs = (" ".join(line.split()) for line in rtf_to_text(written).splitlines())  # type: ignore[no-untyped-call]
    text = "\n\n".join(
        _LINE_START.sub(r"\1\\\2", _MARKS.sub(lambda match: f"\\{match.group()}", paragraph))
        for paragraph in paragraphs
        if paragraph
    )
    warnings = (told,) if lost else ()
    return DraftSource(text + "\n", hash_bytes(data), lines=_paragraphs(text), warnings=warnings)
