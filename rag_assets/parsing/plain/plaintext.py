"""Plain text: encoding found, paragraphs cut at empty lines."""

import re
from functools import cached_property

from rag_assets.model import Block, ParsedDocument
from rag_assets.parsing.contract import ParseHints
from rag_assets.parsing.language import guess_language
from rag_assets.parsing.plain.encodings import decode_text, decoder_version
from rag_assets.parsing.sniffing import foreign_name_warning
from rag_assets.settings import ParseSettings

PARSER_VERSION = "2"

_PARAGRAPH = re.compile(r"\S(?:.*\S)?(?:\n[^\S\n]*\S(?:.*\S)?)*")


class TextParser:
    """Reads text files that are neither Markdown nor a table nor a page."""

    name = "text"
    media_types = ("text/plain",)
    reads_stem = False

    @cached_property
    def version(self) -> str:
        """Own version and that of the encoding detectors."""
        return decoder_version(PARSER_VERSION)

    def parse(self, data: bytes, hints: ParseHints, _settings: ParseSettings) -> ParsedDocument:
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
            warnings=(*foreign_name_warning(hints.extension, data), *warnings),
        )
