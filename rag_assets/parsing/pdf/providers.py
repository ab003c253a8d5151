"""Other ways to read a PDF, chosen by `parse.parser`: the cloud's answer, or PyMuPDF4LLM."""

import re
from collections.abc import Mapping
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version

from rag_assets.model import Block, PageSpan, ParsedDocument, ParseFailure
from rag_assets.parsing.cleaning import clean_source
from rag_assets.parsing.contract import ParseHints, Parser
from rag_assets.parsing.language import guess_language
from rag_assets.parsing.mineru import MINERU_VERSION, read_answer
from rag_assets.parsing.pdf.opening import explained, opened_pdf
from rag_assets.settings import ParseSettings

_MEDIA_TYPE = "application/pdf"
_PAGE_BREAK = "\n\n"
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# 10⁵ must not become 105.
_RAISED_DIGITS = re.compile(r"(?<=\d)<sup>([+−-]?\d+)</sup>")
_LINE_BREAK = re.compile(r"<br\s*/?>")
_TAG = re.compile(r"</?(?:u|sup|sub|mark)>")
_INSTALL = "pip install 'rag-assets[pymupdf4llm]'"


class MineruParser:
    """Reads what the service has answered; `convert_documents` has fetched it before."""

    name = "mineru"
    version = MINERU_VERSION
    media_types = (_MEDIA_TYPE,)
    reads_stem = False

    def parse(self, data: bytes, hints: ParseHints, settings: ParseSettings) -> ParsedDocument:  # noqa: ARG002 - the protocol's signature; the answer stands for the bytes
        """Return the document that MinerU's answer describes.

        Raises:
            ParseFailure: `provider_failed` where there is no answer or it cannot be read.
        """
        if hints.answer is None:
            raise ParseFailure(
                "provider_failed",
                "This document has not been sent to MinerU: only a build sends files. Run "
                "`rag parse`, or use `parser: pymupdf` to look at it here.",
                kind="resource",
            )
        return read_answer(hints.answer)


class Pymupdf4llmParser:
    """Reads a PDF through PyMuPDF4LLM's Markdown: slower, with a layout model of its own."""

    name = "pymupdf4llm"
    media_types = (_MEDIA_TYPE,)
    reads_stem = False

    @cached_property
    def version(self) -> str:
        """Version of the library, `absent` where it is not installed."""
        try:
            return f"2+{version('pymupdf4llm')}"
        except PackageNotFoundError:
            return "absent"

    def parse(self, data: bytes, hints: ParseHints, settings: ParseSettings) -> ParsedDocument:
        """Return the document as PyMuPDF4LLM sees it; places are pages, without boxes.

        Raises:
            ParseFailure: `missing_extra`, `damaged_file`, `no_pages`, `no_text_layer`,
                `page_limit`, `password_required`, `password_wrong`.
            MemoryError: MuPDF asked for more memory than the process may have.
        """
        try:
            import pymupdf4llm
        except ImportError as error:
            raise ParseFailure(
                "missing_extra",
                f"`parser: pymupdf4llm` needs a package that is not installed: {_INSTALL}, then "
                "run with --retry.",
                kind="resource",
            ) from error
        with (
            opened_pdf(data, hints.password, settings) as document,
            explained("PyMuPDF4LLM cannot read the PDF (`parser: pymupdf` may)"),
        ):
            title = str((document.metadata or {}).get("title") or "").strip() or None
            pages = pymupdf4llm.to_markdown(document, page_chunks=True)
        return _join_pages([_without_tags(page["text"]) for page in pages], title)


def _without_tags(source: str) -> str:
    """Return a page's Markdown without the HTML that PyMuPDF4LLM writes into it.

    Text found in pictures stands between comments, with `<br>` for its lines.
    """
    source = _COMMENT.sub("", clean_source(source))
    source = _RAISED_DIGITS.sub(r"^\1", source)
    return _TAG.sub("", _LINE_BREAK.sub(" ", source)).strip()


def _join_pages(sources: list[str], title: str | None) -> ParsedDocument:
    from rag_assets.parsing.markdown import cut_markdown

    spans, blocks, parts = [], [], []
    position = 0
    for number, source in enumerate(sources, start=1):
        text = source + _PAGE_BREAK if source and number < len(sources) else source
        for block in cut_markdown(source):
            start, end = position + block.start, position + block.end
            blocks.append(Block(block.kind, start, end, number, None, block.level))
        parts.append(text)
        spans.append(PageSpan(number, position, position + len(text)))
        position += len(text)
    text = "".join(parts)
    if not text.strip():
        raise ParseFailure(
            "no_text_layer",
            f"None of the {len(sources)} pages holds text: run text recognition (OCR) on the file.",
        )
    return ParsedDocument(
        text=text,
        media_type=_MEDIA_TYPE,
        pages=tuple(spans),
        blocks=tuple(blocks),
        title=title,
        language=guess_language(text),
        metadata={"text_format": "markdown"},
    )


PDF_PROVIDERS: Mapping[str, Parser] = {
    parser.name: parser for parser in (MineruParser(), Pymupdf4llmParser())
}
"""Parsers of `application/pdf` beside the default one, by the value of `parse.parser`."""
