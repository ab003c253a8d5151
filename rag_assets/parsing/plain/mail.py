"""Mails (.eml) and web archives (.mht): the letter, or the page that was saved."""

import contextlib
import email
import email.policy
from dataclasses import replace
from email.message import EmailMessage

from rag_assets.model import Block, ParsedDocument, ParseFailure, count_of
from rag_assets.parsing.contract import ParseHints
from rag_assets.parsing.html.parser import HtmlParser
from rag_assets.parsing.plain.kinds import ARCHIVE_TYPE, MAIL_TYPE
from rag_assets.parsing.plain.plaintext import TextParser
from rag_assets.settings import ParseSettings

PARSER_VERSION = "1"

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
        return f"{PARSER_VERSION}+{_PAGE.version}+{_TEXT.version}"

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
