"""HTML pages: their content without navigation, with the structure of their own tree."""

import re
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

# Pages that say nothing but that the document was not given are short.
_MAX_ERROR_CHARACTERS = 800
_ERROR = re.compile(
    r"access (?:is |was |to .{1,80} (?:is|was) )?denied|permission denied|not authori[sz]ed"
    r"|\b(?:401|403|404|410|429|500|502|503|504)\b.{0,3}\s(?:error|forbidden|unauthori[sz]ed|gone"
    r"|(?:page )?not found|too many|internal|bad gateway|service|gateway)"
    r"|(?:page|document|file|requested url) (?:was |is |could |can)?not (?:be )?(?:found|available)"
    r"|captcha|just a moment|attention required|checking your browser|too many requests"
    r"|(?:verify|confirm|prove|checking)\w* (?:that |if )?you(?:'re| are)?(?: a| not a)? "
    r"(?:human|robot)"
    r"|(?:please )?enable (?:javascript|cookies)|please (?:log|sign) ?in|(?:log|sign) ?in to "
    r"(?:continue|view|access|read|your)|subscription required|session (?:has )?expired"
    r"|service (?:is )?(?:temporarily )?unavailable|请先?登[录陆]|登[录陆]后(?:查看|访问|下载|继续)"
    r"|访问被拒绝|拒绝访问|禁止访问|没有(?:访问)?权限|页面不存在|页面未找到|找不到.{0,6}(?:页面|网页)"
    r"|验证码|人机验证|安全验证|访问过于频繁|会话已过期",
    re.IGNORECASE,
)

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
        if len(text) <= _MAX_ERROR_CHARACTERS and (refused := _ERROR.search(text)):
            raise ParseFailure(
                "error_page",
                f"The page is what a site answered in place of the document (“{refused[0]}”): "
                "download the document itself, signed in if needed, and replace the file.",
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
