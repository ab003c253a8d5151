"""Notebooks, mails and web archives: files that hold Markdown, a text or a page."""

import contextlib
import email
import email.policy
import json
from collections.abc import Iterator
from dataclasses import replace
from email.message import EmailMessage
from typing import Any

from rag_assets.model import Block, ParsedDocument, ParseFailure, count_of
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing.cleaning import guess_language
from rag_assets.parsing.html import HtmlParser
from rag_assets.parsing.markdown import MarkdownParser, read_markdown
from rag_assets.parsing.registry import ParseHints
from rag_assets.parsing.sniffing import ARCHIVE_TYPE, MAIL_TYPE, NOTEBOOK_TYPE
from rag_assets.parsing.text import TextParser, decode_text

_NOTEBOOK_VERSION = "1"

_MARKDOWN = MarkdownParser()

# Longer than any fence inside of a cell.
_FENCE = "`" * 6


class NotebookParser:
    """Reads notebooks of nbformat 3 and later. Pictures that code drew are not read."""

    name = "notebook"
    media_types = (NOTEBOOK_TYPE,)
    reads_stem = False

    @property
    def version(self) -> str:
        """Own version and that of the parser of Markdown."""
        return f"{_NOTEBOOK_VERSION}+{_MARKDOWN.version}"

    def parse(self, data: bytes, _hints: ParseHints, _settings: ParseSettings) -> ParsedDocument:
        """Return the cells in their order: Markdown as it is, code and outputs as code.

        Raises:
            ParseFailure: `damaged_file`, `empty_file`, `unknown_encoding`.
        """
        source, _, _ = decode_text(data)
        try:
            notebook = json.loads(source)
            cells = notebook.get("cells") or notebook["worksheets"][0]["cells"]
            parts = [part for cell in cells for part in _parts(cell)]
        except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
            raise ParseFailure(
                "damaged_file",
                f"The file is no notebook that can be read ({type(error).__name__}): open it in "
                "Jupyter, save it again and replace it.",
            ) from error
        text = "\n\n".join(part for part in parts if part.strip())
        if not text:
            raise ParseFailure(
                "empty_file", "The notebook has no cell with text: remove it or write its text."
            )
        document = read_markdown(text, NOTEBOOK_TYPE)
        pictures = sum(
            key.startswith("image/")
            for cell in cells
            for output in cell.get("outputs", ())
            for key in output.get("data", {})
        )
        note = (
            f"{pictures} pictures that the notebook's code drew were not read: describe in its "
            "Markdown what matters in them."
        )
        return ParsedDocument(
            text=document.text,
            media_type=NOTEBOOK_TYPE,
            blocks=document.blocks,
            attachments=document.attachments,
            title=document.title,
            language=guess_language(document.text),
            metadata={"text_format": "markdown"},
            warnings=(*document.warnings, *([note] if pictures else [])),
        )


def _parts(cell: dict[str, Any]) -> Iterator[str]:
    """Yield the source of a cell and the texts that it put out."""
    source = _text(cell.get("source", cell.get("input", "")))
    kind = cell["cell_type"]
    if kind == "heading":
        yield f"{'#' * int(cell.get('level', 1))} {source}"
    elif kind != "code":
        yield source
    elif source.strip():
        yield _fenced(source)
    for output in cell.get("outputs", ()):
        shown = _text(output.get("text", output.get("data", {}).get("text/plain", "")))
        if output.get("output_type") in {"error", "pyerr"}:
            shown = f"{output.get('ename', '')}: {output.get('evalue', '')}"
        if shown.strip():
            yield _fenced(shown)


def _fenced(text: str) -> str:
    return f"{_FENCE}\n{text.rstrip()}\n{_FENCE}"


def _text(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)


_MAIL_VERSION = "1"

_SHOWN_HEADERS = ("From", "To", "Cc", "Date")
_PAGE = HtmlParser()
_TEXT = TextParser()


class MailParser:
    """Reads a mail's subject, who wrote it when to whom, and its body; attachments by name."""

    name = "mail"
    media_types = (MAIL_TYPE, ARCHIVE_TYPE)
    reads_stem = False

    @property
    def version(self) -> str:
        """Own version with those of the parsers that read the body."""
        return f"{_MAIL_VERSION}+{_PAGE.version}+{_TEXT.version}"

    def parse(self, data: bytes, _hints: ParseHints, settings: ParseSettings) -> ParsedDocument:
        """Return the mail, or the page of a web archive.

        Raises:
            ParseFailure: `empty_file`, and what the parser of the body raises.
        """
        message = email.message_from_bytes(data, policy=email.policy.default)
        if not isinstance(message, EmailMessage):
            raise TypeError("the policy makes mails of this class")
        body = message.get_body(("related", "html", "plain") if _is_page(message) else _BODIES)
        if body is not None and body.get_content_maintype() == "multipart":
            body = body.get_body(("html", "plain"))
        if body is None:
            raise ParseFailure(
                "empty_file",
                "The mail has no body that can be read: save what is attached to it as files of "
                "their own.",
            )
        content = body.get_payload(decode=True)
        content = content if isinstance(content, bytes) else b""
        charset = body.get_content_charset()
        # Of a charset that nobody knows the bytes are looked at themselves.
        with contextlib.suppress(LookupError):
            content = content.decode(charset, "replace").encode() if charset else content
        is_html = body.get_content_subtype() == "html"
        hints = ParseHints(".html" if is_html else ".txt")
        read = (_PAGE if is_html else _TEXT).parse(content, hints, settings)
        if _is_page(message):
            return replace(read, media_type=ARCHIVE_TYPE, title=read.title or _subject(message))
        return _with_head(read, message)


_BODIES = ("plain", "html")


def _is_page(message: EmailMessage) -> bool:
    return message.get_content_type() == ARCHIVE_TYPE


def _subject(message: EmailMessage) -> str | None:
    return " ".join(str(message.get("Subject", "")).split()) or None


def _with_head(read: ParsedDocument, message: EmailMessage) -> ParsedDocument:
    """Return the body below the mail's subject and the lines that say who wrote it."""
    subject = _subject(message)
    lines = [
        f"{name}: {' '.join(str(value).split())}"
        for name in _SHOWN_HEADERS
        if (value := message.get(name))
    ]
    head: list[Block] = []
    text = ""
    for kind, part in (("title", subject or ""), ("front", "\n".join(lines))):
        if part:
            head.append(
                Block("title" if kind == "title" else "front", len(text), len(text) + len(part))
            )
            text += f"{part}\n\n"
    shift = len(text)
    names = [part.get_filename() or "without name" for part in message.iter_attachments()]
    note = (
        f"{count_of(len(names), 'attachment')} of the mail were not read ({', '.join(names)}): "
        "save them as files beside it."
    )
    return replace(
        read,
        text=text + read.text,
        media_type=MAIL_TYPE,
        title=subject,
        blocks=(
            *head,
            *(replace(b, start=b.start + shift, end=b.end + shift) for b in read.blocks),
        ),
        attachments=tuple(
            item
            if item.start is None or item.end is None
            else replace(item, start=item.start + shift, end=item.end + shift)
            for item in read.attachments
        ),
        warnings=(*read.warnings, *([note] if names else [])),
    )
