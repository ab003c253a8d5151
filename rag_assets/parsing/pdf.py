"""PDF by PyMuPDF: text in blocks with page and place."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cached_property
from importlib.metadata import version
from typing import Any

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.parsing.cleaning import clean_line
from rag_assets.parsing.contract import ParseHints
from rag_assets.parsing.language import guess_language
from rag_assets.parsing.pdf_flow import flow_text
from rag_assets.parsing.pdf_furniture import remove_furniture
from rag_assets.parsing.pdf_library import load_pymupdf
from rag_assets.parsing.pdf_lines import Page, read_page
from rag_assets.parsing.pdf_title import find_title
from rag_assets.workspace.settings import ParseSettings

PARSER_VERSION = "1"

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
                metadata = document.metadata or {}
                repaired = bool(document.is_repaired)
        pymupdf.TOOLS.store_shrink(100)
        return _build(pages, metadata, repaired, settings)


def _build(
    pages: list[Page], metadata: dict[str, Any], repaired: bool, settings: ParseSettings
) -> ParsedDocument:
    textless = sum(not page.blocks for page in pages)
    if textless == len(pages):
        raise ParseFailure(
            "no_text_layer",
            f"None of the {len(pages)} pages holds text, only pictures: run text recognition "
            "(OCR) on the file and put the result in its place.",
        )
    removed = remove_furniture(pages, settings.repeated_line_share)
    # After the heads are gone: a journal's name above the title is often the larger.
    title = find_title(str(metadata.get("title") or ""), pages[0])
    flow = flow_text(pages)
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
        title=title,
        language=guess_language(flow.text),
        metadata={
            key: value
            for key in _METADATA_KEYS
            if (value := clean_line(str(metadata.get(key) or "")))
        },
        removed_templates=removed,
        warnings=_warnings(flow.text, textless, len(pages), repaired),
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
