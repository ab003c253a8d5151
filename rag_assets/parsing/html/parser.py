"""HTML pages: their content without navigation, with the structure of their own tree."""

from functools import cached_property
from importlib.metadata import version

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.parsing.contract import ParseHints
from rag_assets.parsing.html.content import VOTER_PACKAGES, choose_content
from rag_assets.parsing.html.dom import (
    depth_of,
    parse_page,
    unstructured_pieces,
    visible_pieces,
)
from rag_assets.parsing.html.metadata import PageFacts, read_facts
from rag_assets.parsing.html.visible import leave_unseen
from rag_assets.parsing.html.writing import write_pieces
from rag_assets.parsing.language import guess_language
from rag_assets.parsing.plain.encodings import decode_text, decoder_version
from rag_assets.parsing.raised import apart
from rag_assets.parsing.sniffing import foreign_name_warning
from rag_assets.settings import ParseSettings

PARSER_VERSION = "2"

_TOO_DEEP = (
    "The page's elements are nested too deep to be read as a tree: its text was kept whole, "
    "without headings, lists and tables; save the page anew from a browser."
)


class HtmlParser:
    """Reads HTML and XHTML. Nothing is fetched: images elsewhere are known by name only."""

    name = "html"
    media_types = ("text/html",)
    reads_stem = False

    @cached_property
    def version(self) -> str:
        """Own version with those of the encoding detectors and the extractors."""
        packages = (f"{name}-{version(name)}" for name in VOTER_PACKAGES)
        return "+".join([decoder_version(PARSER_VERSION), *packages])

    def parse(self, data: bytes, hints: ParseHints, _settings: ParseSettings) -> ParsedDocument:
        """Return the page's content, what it says about itself, and its figures.

        Raises:
            ParseFailure: `unknown_encoding`, `empty_file`, `damaged_file`.
        """
        import lxml.html

        page, encoding, warnings = decode_text(data)
        tree = parse_page(page)
        if tree is None:
            content, is_article = unstructured_pieces(page), False
            warnings = (*warnings, _TOO_DEEP)
        else:
            warnings = (*warnings, *leave_unseen(tree).warnings())
            page = apart(lxml.html.tostring(tree, encoding="unicode"))
            content, is_article = choose_content(page, visible_pieces(tree), depth_of(tree))
        text, blocks, attachments = write_pieces(content)
        if not text:
            raise ParseFailure(
                "empty_file",
                "The page shows no text (a frame, or a page that a script fills): open it in a "
                "browser, save it as a complete page and replace it.",
            )
        facts = PageFacts() if tree is None else read_facts(tree, content)
        return ParsedDocument(
            text=text,
            media_type=self.media_types[0],
            blocks=blocks,
            attachments=attachments,
            title=facts.title,
            authors=facts.authors,
            year=facts.year,
            doi=facts.doi,
            language=guess_language(text) or facts.language,
            metadata={
                **facts.metadata,
                "encoding": encoding,
                "extraction": "article" if is_article else "whole page",
            },
            warnings=(*foreign_name_warning(hints.extension, data), *warnings),
        )
