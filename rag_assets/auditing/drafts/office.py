"""A draft written in Word: its paragraphs, lists, tables and footnotes as Markdown."""

import re
from collections.abc import Iterator

from rag_assets.auditing.drafts.anchors import ANCHOR, PANDOC, STATUTE
from rag_assets.model import Block, ParsedDocument, ParseFailure, UsageError

OFFICE_SUFFIXES = (".docx",)
# A zip package, or what Word makes of one with a password.
_CONTAINERS = (b"PK\x03\x04", b"PK\x05\x06", b"\xd0\xcf\x11\xe0")

# The mark before a footnote's own text, and the same mark where the text points to it.
_NOTE_MARK = re.compile(r"\[(\d{1,4})\]\s*")
_LIST_MARK = re.compile(r"(?:[•◦▪‣·–*+-]|(?P<number>\d{1,4})[.)]|[A-Za-z]{1,4}[.)])\s+")
# Words that Markdown would take for its own marks at the start of a line.
_LINE_START = re.compile(r"(?m)^(\s*\d*)([#>+\-=]|(?<=\d)[.)](?=\s)|~~~)")
_INLINE = re.compile(r"[*`\\]|(?<!\w)_|_(?!\w)")
_ANCHOR = re.compile(rf"({ANCHOR}|{PANDOC}|{STATUTE})")
# Neither the words of a picture nor a reviewer's remark is what the writer says.
_LEFT_OUT = frozenset({"figure", "drawing", "note"})
_MOST_LEVELS = 6


def unit_of(draft_name: str) -> str:
    """Return what a place in a draft is counted in: a Word document has paragraphs, no lines."""
    return "paragraph" if draft_name.lower().endswith(OFFICE_SUFFIXES) else "line"


def read_office_text(name: str, data: bytes) -> str:
    """Return what a Word document says, as Markdown.

    Headings, list items, tables and footnotes are marked as such; citations stay as typed. Lines
    are those of this text: Word knows none.

    Args:
        name: of the file, for messages.

    Raises:
        UsageError: the file is damaged, protected or no Word document.
    """
    from rag_assets.parsing import ParseHints, parse_document
    from rag_assets.workspace import shipped_settings

    # Other bytes would be told to be text and read as a draft that cites nothing.
    if not data.startswith(_CONTAINERS):
        raise UsageError(
            f"{name}: the draft cannot be read (damaged_file). It is no Word document: it begins "
            "with other bytes than one. Save it in Word again as .docx, or give it the suffix .md "
            "or .txt if it is text."
        )
    try:
        document = parse_document(data, ParseHints(extension="docx"), shipped_settings().parse)
    except ParseFailure as failure:
        raise UsageError(
            f"{name}: the draft cannot be read ({failure.reason_code}). {failure.message}"
        ) from failure
    return "\n\n".join(_paragraphs(document)) + "\n"


def _paragraphs(document: ParsedDocument) -> Iterator[str]:
    notes = {
        match[1]
        for block in document.blocks
        if block.kind == "footnote"
        and (match := _NOTE_MARK.match(document.text[block.start : block.end]))
    }

    def point_to_notes(text: str) -> str:
        return _NOTE_MARK.sub(
            lambda match: match.group().replace("[", "[^") if match[1] in notes else match.group(),
            text,
        )

    for block in document.blocks:
        text = document.text[block.start : block.end].strip()
        if text and block.kind not in _LEFT_OUT:
            yield _written(block, text, point_to_notes(_escape(text)), notes)


def _written(block: Block, text: str, escaped: str, notes: set[str]) -> str:
    """Return one block as Markdown.

    Args:
        text: as the parser returns it; `escaped` without what Markdown would misread.
    """
    if block.kind in {"heading", "title", "unplaced_heading"}:
        level = min(block.level or 1, _MOST_LEVELS)
        return f"{'#' * level} {' '.join(escaped.split())}"
    if block.kind == "code":
        return f"~~~\n{text}\n~~~"
    if block.kind == "table":
        return text
    if block.kind == "footnote" and (match := _NOTE_MARK.match(text)) and match[1] in notes:
        return f"[^{match[1]}]: {_escape(text[match.end() :])}"
    if block.kind == "list" and (match := _LIST_MARK.match(text)):
        mark = f"{match['number']}." if match["number"] else "-"
        return f"{mark} {' '.join(_escape(text[match.end() :]).split())}"
    return _LINE_START.sub(r"\1\\\2", escaped)


def _escape(text: str) -> str:
    """Return `text` with a backslash before what Markdown would read as marks; not in citations."""
    return "".join(
        part if number % 2 else _INLINE.sub(lambda match: "\\" + match.group(), part)
        for number, part in enumerate(_ANCHOR.split(text))
    )
