"""Plain text: encoding found, paragraphs cut at empty lines."""

import codecs
import re
from functools import cached_property
from importlib.metadata import version

from rag_assets.model import Block, ParsedDocument, ParseFailure
from rag_assets.parsing.cleaning import clean_source
from rag_assets.parsing.contract import ParseHints
from rag_assets.parsing.language import guess_language
from rag_assets.workspace.settings import ParseSettings

PARSER_VERSION = "1"

# The longer mark first: UTF-32's begins with UTF-16's.
_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_PARAGRAPH = re.compile(r"\S(?:.*\S)?(?:\n[^\S\n]*\S(?:.*\S)?)*")


class TextParser:
    """Reads text files that are neither Markdown nor a table."""

    name = "text"
    media_types = ("text/plain",)
    reads_stem = False

    @cached_property
    def version(self) -> str:
        """Own version and that of the encoding detector."""
        return decoder_version(PARSER_VERSION)

    def parse(self, data: bytes, _hints: ParseHints, _settings: ParseSettings) -> ParsedDocument:
        """Return the text as it stands, one block a paragraph.

        Raises:
            ParseFailure: `unknown_encoding`, `empty_file`.
        """
        text, encoding, warnings = decode_text(data)
        blocks = tuple(
            Block("paragraph", match.start(), match.end()) for match in _PARAGRAPH.finditer(text)
        )
        return ParsedDocument(
            text=text,
            media_type=self.media_types[0],
            blocks=blocks,
            language=guess_language(text),
            metadata={"encoding": encoding},
            warnings=warnings,
        )


def decoder_version(own_version: str) -> str:
    """Return a parser's version, joined with that of the encoding detector."""
    return f"{own_version}+charset-normalizer-{version('charset-normalizer')}"


def decode_text(data: bytes) -> tuple[str, str, tuple[str, ...]]:
    """Return (clean text, name of the encoding, warnings) of a text file.

    A byte order mark decides, then UTF-8, then charset-normalizer's best guess (with a warning).

    Raises:
        ParseFailure: `unknown_encoding` where nothing fits, `empty_file` where only white space
            is left.
    """
    warnings: tuple[str, ...] = ()
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding != "utf-8":
            raise ParseFailure(
                "unknown_encoding",
                f"The file begins with the mark of {encoding.upper()}, but byte {error.start} does "
                "not fit: save the text as UTF-8.",
            ) from error
        text, encoding = _guess(data)
        guessed = (
            f"The text is not UTF-8; it was read as {encoding}, a guess: where characters look "
            "wrong, save the file as UTF-8."
        )
        warnings = (guessed,)
    text = clean_source(text)
    if not text.strip():
        raise ParseFailure(
            "empty_file", "The file holds only white space: remove it or write its text."
        )
    return text, encoding, warnings


def _guess(data: bytes) -> tuple[str, str]:
    from charset_normalizer import from_bytes

    best = from_bytes(data).best()
    if best is None:
        raise ParseFailure(
            "unknown_encoding",
            "The encoding of the text cannot be recognised: save the file as UTF-8.",
        )
    return str(best), best.encoding
