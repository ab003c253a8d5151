"""Bytes to document: the one call that every parse goes through."""

import dataclasses
import re

from rag_assets.law import find_statute_year
from rag_assets.model import (
    ParsedDocument,
    ParseFailure,
    describe_standing,
    hash_bytes,
    size_problem,
    with_standing,
)
from rag_assets.parsing.contract import ParseHints, Parser
from rag_assets.parsing.controls import without_controls
from rag_assets.parsing.markdown import plain_title
from rag_assets.parsing.no_document import check_is_document
from rag_assets.parsing.registry import parser_for, types_by_extension
from rag_assets.parsing.sections import make_sections
from rag_assets.parsing.sniffing import (
    BINARY_MEDIA_TYPE,
    TEXT_EXTENSIONS,
    bare_extension,
    sniff_media_type,
)
from rag_assets.parsing.standing import find_standing
from rag_assets.parsing.text_kinds import TEXT_ADVICE
from rag_assets.settings import ParseSettings

# What is taken for a broken PDF where the name promises one. A web page under that name is not:
# it is what a site answered in place of the file, and its text says so.
_NO_PDF = ("text/plain", "text/csv", BINARY_MEDIA_TYPE)
# A few words under a PDF's name are what a failed download left.
_PROSE_WINDOW = 4096
_MIN_PROSE_LETTERS = 200
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def check_size(size: int, settings: ParseSettings) -> None:
    """Refuse a file that is too large.

    Args:
        size: in bytes.
        settings: `max_megabytes` is in 10⁶ bytes.

    Raises:
        ParseFailure: `size_limit`.
    """
    problem = size_problem(size, settings.max_megabytes)
    if problem:
        raise ParseFailure("size_limit", problem)


def media_type_of(data: bytes, hints: ParseHints) -> str:
    """Return the media type of a file, which decides who reads it.

    Raises:
        ParseFailure: `empty_file`, `damaged_file`.
    """
    media_type = sniff_media_type(data, hints.extension)
    extension = bare_extension(hints.extension)
    is_open = media_type in TEXT_ADVICE or media_type == BINARY_MEDIA_TYPE
    if is_open or media_type.startswith("text/"):
        media_type = types_by_extension().get(extension, media_type)
    if extension == "pdf" and media_type in _NO_PDF and data.strip() and not _is_prose(data):
        raise ParseFailure(
            "damaged_file",
            "The file is named .pdf but holds no PDF: fetch it again from where it came, or give "
            "it its true extension.",
        )
    return media_type


def choose_parser(media_type: str, hints: ParseHints, settings: ParseSettings) -> Parser:
    """Return the parser of a media type.

    Raises:
        ParseFailure: `unsupported_format`.
    """
    extension = bare_extension(hints.extension)
    try:
        return parser_for(media_type, settings.parser)
    except ParseFailure as failure:
        if extension in TEXT_EXTENSIONS:
            raise ParseFailure(
                failure.reason_code,
                f"The file is named .{extension} but holds binary data ({media_type}), not text: "
                "give it its true extension, or save the text that it should hold. "
                f"{failure.message}",
            ) from failure
        raise


def _is_prose(data: bytes) -> bool:
    """Tell whether a file that is no PDF holds a text worth reading, not a rest or garbage."""
    letters = sum(
        character.isalpha() for character in data[:_PROSE_WINDOW].decode("utf-8", "ignore")
    )
    return letters >= _MIN_PROSE_LETTERS and b"\x00" not in data[:_PROSE_WINDOW]


def parse_document(data: bytes, hints: ParseHints, settings: ParseSettings) -> ParsedDocument:
    """Return the document that `data` holds, parsed in this process, without time limit.

    Args:
        data: the whole file.
        hints: what is known besides.
        settings: size and page limits, rules.

    Raises:
        ParseFailure: with a reason code of `PARSE_REASONS`.
        MemoryError: the document needs more memory than the process has.
        ValueError: the parser broke its contract.
    """
    check_size(len(data), settings)
    parser = choose_parser(media_type_of(data, hints), hints, settings)
    return finish_document(parser.parse(data, hints, settings), parser)


def finish_document(document: ParsedDocument, parser: Parser) -> ParsedDocument:
    """Return `document` checked, without control characters, with section tree, year, the hashes of
    its attachments, and in its title whether it was retracted or corrected.

    Raises:
        ParseFailure: `empty_file`: it has no text; `error_page`, `unreadable_text`.
        ValueError: page spans do not partition the text, a block or line lies outside it, blocks
            overlap, or the text holds a NUL or a lone surrogate.
    """
    _check_document(document, parser)
    check_is_document(document)
    document = without_controls(document)
    if not document.text.strip():
        raise ParseFailure(
            "empty_file",
            f"The parser {parser.name} found no text in it: look whether it is the right file, and "
            "remove it or write its text.",
        )
    attachments = tuple(
        item
        if item.content is None
        else dataclasses.replace(item, content_hash=hash_bytes(item.content))
        for item in document.attachments
    )
    # Markdown keeps its marks in the clean text; its titles are shown without them.
    title_of = plain_title if document.is_markdown else None
    sections = make_sections(
        document.text,
        document.blocks,
        document.abstract,
        title_of=title_of,
        document_title=document.title,
    )
    return dataclasses.replace(
        _with_standing(document),
        attachments=attachments,
        sections=sections,
        year=_year_of(document),
    )


def _with_standing(document: ParsedDocument) -> ParsedDocument:
    """Return `document` with what its publisher says of it in its title and among the warnings."""
    standing = find_standing(document)
    if standing is None:
        return document
    title = with_standing(document.title or "", standing)
    warning = describe_standing(title)
    return dataclasses.replace(
        document, title=title, warnings=(*document.warnings, *filter(None, [warning]))
    )


def _year_of(document: ParsedDocument) -> int | None:
    """Return the year of a document; that of a statute is said by its head.

    A page only prints years, and of several dates a statute's head says which is which; what front
    matter or metadata state is taken.
    """
    if document.year is not None and not document.pages:
        return document.year
    return find_statute_year(document.text) or document.year


def _check_document(document: ParsedDocument, parser: Parser) -> None:
    length = len(document.text)
    edges = [0, *(page.end for page in document.pages)]
    starts = [*(page.start for page in document.pages), length]
    if document.pages and (edges != starts or edges != sorted(edges)):
        raise ValueError(f"parser {parser.name}: page spans do not partition the text")
    reached = 0
    for block in document.blocks:
        if not reached <= block.start < block.end <= length:
            raise ValueError(f"parser {parser.name}: block {block} overlaps or lies outside")
        reached = block.end
    for line in document.lines:
        if not 0 <= line.start < line.end <= length:
            raise ValueError(f"parser {parser.name}: line {line} lies outside the text")
    if _UNSTORABLE.search(document.text):
        raise ValueError(f"parser {parser.name}: the text holds a NUL or a lone surrogate")
