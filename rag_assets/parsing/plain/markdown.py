"""Markdown by markdown-it-py: the source text, with blocks cut from it."""

from dataclasses import replace
from functools import cached_property
from importlib.metadata import version

from rag_assets.model import Block, ParsedDocument, ParseFailure
from rag_assets.parsing.contract import ParseHints
from rag_assets.parsing.language import guess_language
from rag_assets.parsing.plain.encodings import decode_text, decoder_version
from rag_assets.parsing.plain.markdown_blocks import cut_blocks, first_title_span
from rag_assets.parsing.plain.markdown_front_matter import read_front_matter
from rag_assets.parsing.plain.markdown_syntax import plain_title
from rag_assets.parsing.plain.markdown_unseen import leave_titles, leave_unseen
from rag_assets.settings import ParseSettings

PARSER_VERSION = "5"
_PACKAGES = ("markdown-it-py", "mdit-py-plugins")


def cut_markdown(text: str) -> tuple[Block, ...]:
    """Return the blocks of a Markdown text, as `MarkdownParser` cuts them."""
    return cut_blocks(text)[0]


class MarkdownParser:
    """Reads CommonMark with tables, footnotes, definition lists, math and front matter."""

    name = "markdown"
    media_types = ("text/markdown",)
    reads_stem = False

    @cached_property
    def version(self) -> str:
        """Own version with those of the Markdown parser and the encoding detectors."""
        packages = (f"{name}-{version(name)}" for name in _PACKAGES)
        return "+".join([decoder_version(PARSER_VERSION), *packages])

    def parse(self, data: bytes, _hints: ParseHints, _settings: ParseSettings) -> ParsedDocument:
        """Return the source below the front matter, its blocks and its images' references.

        What a reader does not see (comments, hidden HTML, struck text, titles of links, texts in
        place of images) is not in the text.

        Raises:
            ParseFailure: `unknown_encoding`, `empty_file`.
        """
        source, encoding, warnings = decode_text(data)
        document = read_markdown(source, self.media_types[0])
        return replace(
            document,
            metadata={**document.metadata, "encoding": encoding},
            warnings=(*warnings, *document.warnings),
        )


def read_markdown(source: str, media_type: str) -> ParsedDocument:
    """Return the document that a Markdown text is.

    Raises:
        ParseFailure: `empty_file`.
    """
    front = read_front_matter(source)
    text, unseen = leave_unseen(source[front.length :])
    if not text.strip():
        raise ParseFailure("empty_file", "The file holds front matter but no text: write its text.")
    blocks, attachments = cut_blocks(text)
    text = leave_titles(text, blocks, unseen)
    heading = first_title_span(blocks)
    first = plain_title(text[heading.start : heading.end]) if heading else None
    return ParsedDocument(
        text=text,
        media_type=media_type,
        blocks=blocks,
        attachments=attachments,
        title=front.title or first or None,
        authors=front.authors,
        year=front.year,
        doi=front.doi,
        language=guess_language(text) or front.language,
        metadata=front.metadata,
        warnings=(*front.warnings, *unseen.warnings()),
    )
