"""PDF by PyMuPDF: text in blocks with page and place."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from typing import Any

from rag_assets.model import (
    RECOGNISED,
    Attachment,
    Block,
    ParsedDocument,
    ParseFailure,
    count_of,
)
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing.cleaning import clean_line, guess_language, is_garbled_page
from rag_assets.parsing.pdf.figures import place_attachments
from rag_assets.parsing.pdf.front import (
    Abstract,
    find_abstract,
    first_page_blocks,
    mark_front_matter,
)
from rag_assets.parsing.pdf.headings import Bookmark, mark_headings, read_bookmarks
from rag_assets.parsing.pdf.imprint import Imprint
from rag_assets.parsing.pdf.lines import (
    Page,
    find_body_style,
    read_page,
    remove_line_numbers,
)
from rag_assets.parsing.pdf.lists import mark_footnotes, merge_formulas, split_lists
from rag_assets.parsing.pdf.opening import explained, load_pymupdf, opened_pdf
from rag_assets.parsing.pdf.order import order_page, remove_furniture
from rag_assets.parsing.pdf.page_numbers import page_labels, read_numbers
from rag_assets.parsing.pdf.paragraphs import (
    Flow,
    flow_text,
    merge_wide_lines,
    page_paragraphs,
    place_drop_caps,
    settle_hyphens,
)
from rag_assets.parsing.pdf.recognition import MOST_STAMP_CHARACTERS, is_scan, read_scan
from rag_assets.parsing.pdf.references import split_references
from rag_assets.parsing.pdf.vertical import turn_back, turn_vertical
from rag_assets.parsing.registry import ParseHints, ask_for_seconds

PARSER_VERSION = "14"

_MEDIA_TYPE = "application/pdf"
_METADATA_KEYS = ("author", "subject", "keywords", "creator", "producer", "creationDate", "modDate")
# More than a stray symbol: so many characters without a Unicode value make a text hard to find.
_MAX_UNMAPPED_SHARE = 0.01
_MOST_HIDDEN_SHOWN = 80
_OCR_ADVICE = (
    "set `ocr: auto` below `parse:` in config.yaml, or run text recognition (OCR) on the file "
    "and put the result in its place"
)


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
            ParseFailure: `damaged_file`, `empty_file`, `no_pages`, `no_text_layer`, `page_limit`,
                `password_required`, `password_wrong`.
            MemoryError: MuPDF asked for more memory than the process may have.
        """
        with opened_pdf(data, hints.password, settings) as document:
            pages = _read_pages(document, settings)
            with explained("The document information cannot be read"):
                is_thin = _characters(pages) <= MOST_STAMP_CHARACTERS * len(pages)
                source = _Source(
                    document.metadata or {},
                    bool(document.is_repaired),
                    is_thin and any(sheet.get_images() for sheet in document),
                    read_bookmarks(document),
                    [sheet.get_label() for sheet in document] if document.get_page_labels() else (),
                )
        load_pymupdf().TOOLS.store_shrink(100)
        return _build(pages, source, settings)


@dataclass(frozen=True, slots=True)
class _Source:
    """What the file says beside its pages. `has_pictures` is looked for where text is scarce.
    `labels` are those of its pages, one each.
    """

    metadata: dict[str, Any]
    repaired: bool
    has_pictures: bool
    bookmarks: Sequence[Bookmark]
    labels: Sequence[str] = ()


def _build(pages: list[Page], source: _Source, settings: ParseSettings) -> ParsedDocument:
    textless = sum(not page.blocks for page in pages)
    if textless == len(pages) and not source.has_pictures:
        raise _without_text(pages, source)
    if textless == len(pages):
        raise ParseFailure(
            "no_text_layer",
            f"None of the {len(pages)} pages holds text, only pictures: {_OCR_ADVICE}.",
        )
    garbled = _withhold_garbled(pages)
    for page in pages:
        place_drop_caps(page)
    first_page, numbers = first_page_blocks(pages), read_numbers(pages)
    removed = _remove_templates(pages, source.has_pictures, settings)
    for page in pages:
        order_page(page)
    settle_hyphens(pages)
    body = find_body_style(pages)
    paragraphs = [paragraph for page in pages for paragraph in page_paragraphs(page, body)]
    # After the heads are gone: a journal's name above the title is often the larger.
    front = mark_front_matter(paragraphs, pages, source.metadata, first_page, removed)
    paragraphs, attachments = place_attachments(paragraphs, pages)
    paragraphs = merge_formulas(paragraphs)
    mark_footnotes(paragraphs, {page.number: page.height for page in pages})
    paragraphs = mark_headings(paragraphs, source.bookmarks, body, front.title)
    paragraphs = merge_wide_lines(split_lists(split_references(paragraphs)))
    abstract = find_abstract(paragraphs)
    flow = flow_text(paragraphs, [page.number for page in pages])
    flow, attachments = turn_back(flow, attachments, pages)
    labels = page_labels(len(pages), numbers, source.labels, front.imprint.page_range)
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
        journal=front.imprint.journal or None,
        volume=front.imprint.volume or None,
        issue=front.imprint.issue or None,
        page_range=front.imprint.pages or _page_range(front.imprint, labels),
        page_labels=_marked(labels, pages),
        abstract=_span_of(abstract, flow),
        language=guess_language(flow.text),
        metadata={
            key: value
            for key in _METADATA_KEYS
            if (value := clean_line(str(source.metadata.get(key) or "")))
        },
        removed_templates=removed,
        warnings=(
            *_warnings(flow.text, pages, textless, source.repaired),
            *_garbled_warning(garbled),
        ),
    )


def _withhold_garbled(pages: Sequence[Page]) -> list[int]:
    """Take the text off the pages whose letters stand for others, unless no other page is left.

    Returns:
        The numbers of these pages.
    """
    garbled = [
        page
        for page in pages
        if is_garbled_page(" ".join([line.text for block in page.blocks for line in block]))
    ]
    if len(garbled) >= sum(bool(page.blocks) for page in pages):
        return []
    for page in garbled:
        page.blocks = []
    return [page.number for page in garbled]


def _garbled_warning(numbers: Sequence[int]) -> tuple[str, ...]:
    if not numbers:
        return ()
    listed = ", ".join(map(str, numbers))
    warning = (
        f"Text was left out: the text layer of page{'s' if len(numbers) > 1 else ''} {listed} is "
        "not what is shown there. Run text recognition (OCR) on the pages as pictures and replace "
        "the file."
    )
    return (warning,)


def _page_range(imprint: Imprint, labels: Sequence[str]) -> str | None:
    """Return the pages of a paper in its volume by the numbers that all of them bear."""
    if not imprint.volume or not labels or not all(labels):
        return None
    return f"{labels[0]}-{labels[-1]}"


def _remove_templates(
    pages: Sequence[Page], has_pictures: bool, settings: ParseSettings
) -> tuple[str, ...]:
    """Take line numbers, heads and feet out of the pages, unless they are all that is there.

    Raises:
        ParseFailure: `no_text_layer`: beside them the pages hold only pictures.
    """
    before = [[list(block) for block in page.blocks] for page in pages]
    removed = remove_line_numbers(pages) + remove_furniture(pages, settings.repeated_line_share)
    if any(page.blocks for page in pages):
        return removed
    if has_pictures:
        raise ParseFailure(
            "no_text_layer",
            f"The {len(pages)} pages hold only running heads and page numbers: {_OCR_ADVICE}.",
        )
    for page, blocks in zip(pages, before, strict=True):
        page.blocks = blocks
    return ()


def _marked(labels: Sequence[str], pages: Sequence[Page]) -> tuple[str, ...]:
    """Return the labels of pages, marked where the text was read from a picture."""
    if not any(page.recognised_by for page in pages):
        return tuple(labels)
    return tuple(
        f"{label} {RECOGNISED}".strip() if page.recognised_by else label
        for page, label in zip(pages, labels or [""] * len(pages), strict=True)
    )


def _characters(pages: Sequence[Page]) -> int:
    return sum(len(line.text) for page in pages for block in page.blocks for line in block)


def _span_of(abstract: Abstract, flow: Flow) -> tuple[int, int] | None:
    """Return the span of the abstract, whose paragraphs stand together, without its heading."""
    if not abstract.paragraphs:
        return None
    spans = sorted(flow.spans[id(paragraph)] for paragraph in abstract.paragraphs)
    return spans[0][0] + abstract.skip, spans[-1][1]


def _located(attachments: Sequence[Attachment], blocks: Sequence[Block]) -> tuple[Attachment, ...]:
    """Give each attachment the span of the first block that names it."""
    spans: dict[str | None, tuple[int, int]] = {}
    for block in blocks:
        if block.kind != "drawing":
            spans.setdefault(block.attachment_id, (block.start, block.end))
    return tuple(
        replace(item, start=spans[item.attachment_id][0], end=spans[item.attachment_id][1])
        if item.attachment_id in spans
        else item
        for item in attachments
    )


def _without_text(pages: Sequence[Page], source: _Source) -> ParseFailure:
    """Return the failure of pages that hold neither text nor pictures."""
    if source.repaired:
        return ParseFailure(
            "damaged_file",
            f"The file is cut off or damaged: nothing is left on its {len(pages)} pages. Fetch it "
            "again from where it came.",
        )
    return ParseFailure(
        "empty_file",
        f"None of the {len(pages)} pages holds text or a picture, only blank paper or drawings: "
        "look whether it is the right file, and remove it.",
    )


def _warnings(text: str, pages: Sequence[Page], textless: int, repaired: bool) -> tuple[str, ...]:
    warnings = []
    page_count = len(pages)
    if repaired:
        warnings.append(
            "The file was damaged and MuPDF repaired it: text may be missing; compare it with "
            "the original or save it again."
        )
    if textless:
        warnings.append(
            f"{textless} of {page_count} pages hold no text: where they are scans, {_OCR_ADVICE}."
        )
    for program, count in Counter(page.recognised_by for page in pages).items():
        if program:
            warnings.append(
                f"{count} of {page_count} pages were read from their pictures by {program}: look "
                "at the page before you quote it."
            )
    hidden = [(page.number, found) for page in pages for found in page.hidden if found]
    if hidden:
        shown = hidden[0][1][:_MOST_HIDDEN_SHOWN]
        numbers = ", ".join(map(str, dict.fromkeys(number for number, _ in hidden)))
        warnings.append(
            f"Hidden text was left out: {count_of(len(hidden), 'run')} of text on "
            f"page{'s' if ',' in numbers else ''} {numbers} that nobody sees there (invisible, in "
            "the colour of its ground, covered, too small, struck, or other than its glyphs), "
            f"for instance “{shown}”. Look at the page, and at where the file comes from."
        )
    unmapped = text.count("\ufffd")
    if unmapped > _MAX_UNMAPPED_SHARE * len(text):
        warnings.append(
            f"{unmapped} of {len(text)} characters have no Unicode value in the file: search "
            "will miss them; look for another edition or run text recognition (OCR)."
        )
    return tuple(warnings)


def _read_pages(document: Any, settings: ParseSettings) -> list[Page]:
    pages: list[Page] = []
    for index in range(document.page_count):
        with explained(f"Page {index + 1} cannot be read"):
            sheet = document[index]
            page = read_page(sheet)
            if settings.ocr != "none" and is_scan(sheet, page):
                ask_for_seconds(settings.ocr_seconds_per_page)
                page = read_scan(sheet, settings)
            pages.append(turn_vertical(page))
    return pages
