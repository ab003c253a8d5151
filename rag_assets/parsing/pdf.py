"""PDF by PyMuPDF: text in blocks with page and place."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from typing import Any

from rag_assets.model import Attachment, Block, ParsedDocument, ParseFailure
from rag_assets.parsing.cleaning import clean_line
from rag_assets.parsing.contract import ParseHints
from rag_assets.parsing.language import guess_language
from rag_assets.parsing.pdf_figures import place_attachments
from rag_assets.parsing.pdf_flow import Flow, flow_text
from rag_assets.parsing.pdf_front import find_abstract, mark_front_matter
from rag_assets.parsing.pdf_furniture import remove_furniture
from rag_assets.parsing.pdf_headings import Bookmark, mark_headings
from rag_assets.parsing.pdf_library import load_pymupdf
from rag_assets.parsing.pdf_lines import Page, read_page
from rag_assets.parsing.pdf_outline import read_bookmarks
from rag_assets.parsing.pdf_paragraphs import Paragraph, page_paragraphs
from rag_assets.parsing.pdf_references import split_references
from rag_assets.workspace.settings import ParseSettings

PARSER_VERSION = "2"

_MEDIA_TYPE = "application/pdf"
_METADATA_KEYS = ("author", "subject", "keywords", "creator", "producer", "creationDate", "modDate")
# More than a stray symbol: so many characters without a Unicode value make a text hard to find.
_MAX_UNMAPPED_SHARE = 0.01


class PdfParser:
    """Reads PDF files (spec 000 §4: division hyphens, white space, repeated heads and feet)."""

    name = "pdf"
    media_types = (_MEDIA_TYPE,)
    reads_stem = False

    @cached_property
    def version(self) -> str:
        """Own version and that of PyMuPDF, whose order of text decides the offsets."""
        return f"{PARSER_VERSION}+pymupdf-{version('pymupdf')}"

    def parse(self, data: bytes, hints: ParseHints, settings: ParseSettings) -> ParsedDocument:
        """Return the text of a PDF with pages, blocks and title.

        Raises:
            ParseFailure: `damaged_file`, `no_pages`, `no_text_layer`, `page_limit`,
                `password_required`, `password_wrong`.
            MemoryError: MuPDF asked for more memory than the process may have.
        """
        pymupdf = load_pymupdf()
        with _explained("The PDF cannot be opened"):
            document = pymupdf.open(stream=data, filetype="pdf")
        with closing(document):
            _unlock(document, hints.password)
            pages = _read_pages(document, settings.max_pages)
            with _explained("The document information cannot be read"):
                source = _Source(
                    document.metadata or {}, bool(document.is_repaired), read_bookmarks(document)
                )
        pymupdf.TOOLS.store_shrink(100)
        return _build(pages, source, settings)


@dataclass(frozen=True, slots=True)
class _Source:
    """What the file says beside its pages."""

    metadata: dict[str, Any]
    repaired: bool
    bookmarks: Sequence[Bookmark]


def _build(pages: list[Page], source: _Source, settings: ParseSettings) -> ParsedDocument:
    textless = sum(not page.blocks for page in pages)
    if textless == len(pages):
        raise ParseFailure(
            "no_text_layer",
            f"None of the {len(pages)} pages holds text, only pictures: run text recognition "
            "(OCR) on the file and put the result in its place.",
        )
    removed = remove_furniture(pages, settings.repeated_line_share)
    paragraphs = [paragraph for page in pages for paragraph in page_paragraphs(page)]
    # After the heads are gone: a journal's name above the title is often the larger.
    front = mark_front_matter(paragraphs, pages, source.metadata)
    paragraphs, attachments = place_attachments(paragraphs, pages)
    mark_headings(paragraphs, source.bookmarks)
    paragraphs = split_references(paragraphs)
    abstract = find_abstract(paragraphs)
    flow = flow_text(paragraphs, [page.number for page in pages])
    if not flow.text:
        raise ParseFailure(
            "no_text_layer",
            f"The {len(pages)} pages hold only running heads and page numbers: run text "
            "recognition (OCR) on the file and put the result in its place.",
        )
    return ParsedDocument(
        text=flow.text,
        media_type=_MEDIA_TYPE,
        pages=flow.pages,
        blocks=flow.blocks,
        lines=flow.lines,
        attachments=_located(attachments, flow.blocks),
        title=front.title,
        authors=front.authors,
        year=front.year,
        doi=front.doi,
        abstract=_span_of(abstract, flow),
        language=guess_language(flow.text),
        metadata={
            key: value
            for key in _METADATA_KEYS
            if (value := clean_line(str(source.metadata.get(key) or "")))
        },
        removed_templates=removed,
        warnings=_warnings(flow.text, textless, len(pages), source.repaired),
    )


def _span_of(paragraphs: Sequence[Paragraph], flow: Flow) -> tuple[int, int] | None:
    """Return the span from the first to the last of `paragraphs` that stand together."""
    if not paragraphs:
        return None
    spans = sorted(flow.spans[id(paragraph)] for paragraph in paragraphs)
    return spans[0][0], spans[-1][1]


def _located(attachments: Sequence[Attachment], blocks: Sequence[Block]) -> tuple[Attachment, ...]:
    """Give each attachment the span of the first block that names it."""
    spans: dict[str | None, tuple[int, int]] = {}
    for block in blocks:
        spans.setdefault(block.attachment_id, (block.start, block.end))
    return tuple(
        replace(item, start=spans[item.attachment_id][0], end=spans[item.attachment_id][1])
        if item.attachment_id in spans
        else item
        for item in attachments
    )


def _warnings(text: str, textless: int, page_count: int, repaired: bool) -> tuple[str, ...]:
    warnings = []
    if repaired:
        warnings.append(
            "The file was damaged and MuPDF repaired it: text may be missing; compare it with "
            "the original or save it anew."
        )
    if textless:
        warnings.append(
            f"{textless} of {page_count} pages hold no text: where they are scans, run text "
            "recognition (OCR) on the file."
        )
    unmapped = text.count("\ufffd")
    if unmapped > _MAX_UNMAPPED_SHARE * len(text):
        warnings.append(
            f"{unmapped} of {len(text)} characters have no Unicode value in the file: search "
            "will miss them; look for another edition or run text recognition (OCR)."
        )
    return tuple(warnings)


def _unlock(document: Any, password: str | None) -> None:
    with _explained("The encryption cannot be read"):
        if not document.needs_pass:
            return
        opened = bool(password) and document.authenticate(password)
    if opened:
        return
    if password:
        raise ParseFailure(
            "password_wrong",
            "The password in the sidecar does not open the file: correct `password:` in "
            "<file>.meta.yaml.",
        )
    raise ParseFailure(
        "password_required",
        "The file is protected: write `password: …` into <file>.meta.yaml beside it.",
    )


def _read_pages(document: Any, max_pages: int) -> list[Page]:
    with _explained("The list of pages cannot be read"):
        page_count = document.page_count
    if page_count == 0:
        raise ParseFailure("no_pages", "The PDF has no pages: export it again from its source.")
    if page_count > max_pages:
        raise ParseFailure(
            "page_limit",
            f"The document has {page_count} pages, parse.max_pages allows {max_pages}: raise "
            "the setting in config.yaml or split the document, then build again.",
        )
    pages = []
    for index in range(page_count):
        with _explained(f"Page {index + 1} cannot be read"):
            pages.append(read_page(document[index]))
    return pages


@contextmanager
def _explained(what: str) -> Iterator[None]:
    """Turn what PyMuPDF raises into a reason code; memory is the worker's affair."""
    pymupdf = load_pymupdf()
    try:
        yield
    except (RuntimeError, ValueError, IndexError, TypeError, pymupdf.mupdf.FzErrorBase) as error:
        if "alloc" in str(error):
            raise MemoryError(str(error)) from error
        raise ParseFailure(
            "damaged_file",
            f"{what} ({_first_line(error)}): open the file in a PDF program, save it anew and "
            "replace it.",
        ) from error


def _first_line(error: BaseException) -> str:
    return clean_line(str(error).partition("\n")[0]) or type(error).__name__
