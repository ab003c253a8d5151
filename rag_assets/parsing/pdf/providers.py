"""Other ways to read a PDF, chosen by `parse.parser`: the cloud's answer, or PyMuPDF4LLM."""

from collections.abc import Mapping
from contextlib import closing
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version

from rag_assets.model import Block, PageSpan, ParsedDocument, ParseFailure
from rag_assets.parsing.cleaning import clean_source
from rag_assets.parsing.contract import ParseHints, Parser
from rag_assets.parsing.language import guess_language
from rag_assets.parsing.mineru import MINERU_VERSION, read_answer
from rag_assets.parsing.pdf.library import load_pymupdf
from rag_assets.workspace.settings import ParseSettings

_MEDIA_TYPE = "application/pdf"
_PAGE_BREAK = "\n\n"
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
            return f"1+{version('pymupdf4llm')}"
        except PackageNotFoundError:
            return "absent"

    def parse(self, data: bytes, hints: ParseHints, settings: ParseSettings) -> ParsedDocument:
        """Return the document as PyMuPDF4LLM sees it; places are pages, without boxes.

        Raises:
            ParseFailure: `missing_extra`, `damaged_file`, `no_text_layer`, `page_limit`,
                `password_required`.
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
        pymupdf = load_pymupdf()
        try:
            with closing(pymupdf.open(stream=data, filetype="pdf")) as document:
                if document.needs_pass and not document.authenticate(hints.password or ""):
                    raise ParseFailure(
                        "password_required",
                        "The file is protected: write `password: …` into <file>.meta.yaml.",
                    )
                if document.page_count > settings.max_pages:
                    raise ParseFailure(
                        "page_limit",
                        f"The document has {document.page_count} pages, parse.max_pages allows "
                        f"{settings.max_pages}: raise the setting or split the document.",
                    )
                title = str((document.metadata or {}).get("title") or "").strip() or None
                pages = pymupdf4llm.to_markdown(document, page_chunks=True)
        except (RuntimeError, ValueError, pymupdf.mupdf.FzErrorBase) as error:
            if isinstance(error, ParseFailure):
                raise
            raise ParseFailure(
                "damaged_file",
                f"PyMuPDF4LLM cannot read the PDF ({str(error).partition(chr(10))[0]}): save it "
                "anew with another program, or use `parser: pymupdf`.",
            ) from error
        return _join_pages([clean_source(page["text"]).strip() for page in pages], title)


def _join_pages(sources: list[str], title: str | None) -> ParsedDocument:
    from rag_assets.parsing.plain.markdown import cut_markdown

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
