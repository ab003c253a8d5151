"""The nouns of parsing and chunking. Offsets are code points, half-open, in the clean text."""

from dataclasses import dataclass, field
from typing import Literal

from rag_assets.model.errors import FailureKind

BlockKind = Literal["heading", "paragraph", "table", "code", "list", "row"]


@dataclass(frozen=True, slots=True)
class PageSpan:
    """The characters of one printed page. `number` counts from 1."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Block:
    """A run of text with its place: `bbox` is (x0, y0, x1, y1) in points, origin top left."""

    kind: BlockKind
    start: int
    end: int
    page: int | None = None
    bbox: tuple[float, float, float, float] | None = None
    level: int | None = None


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What every parser returns (spec 001).

    Args:
        text: the clean text. Every offset below refers to it; blocks and pages are in order.
        media_type: as sniffed, for instance `application/pdf`.
        pages: empty for formats without pages. Page spans partition the text, from 0 to its end.
        blocks: cover all visible text; a table row of a csv is one block of kind `row`.
        title: what the document calls itself, None where it does not say.
        metadata: plain strings found in the document (author, subject, …).
        removed_templates: lines dropped because they repeat on most pages.
        warnings: sentences a person can act on.
    """

    text: str
    media_type: str
    pages: tuple[PageSpan, ...] = ()
    blocks: tuple[Block, ...] = ()
    title: str | None = None
    language: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    removed_templates: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParseReport:
    """How the parse of one content went. A row of the stage `parse_reports`.

    Args:
        status: `ok` or `failed`.
        reason_code: short stable word for a failure, None when ok.
        message: one sentence that says what to do, None when ok.
        kind: of the failure; `resource` failures are tried again.
        parsed_file: name of the immutable parse below the partition's folder, None when failed.
        parsed_digest: SHA-256 of the parse's content; the fingerprint of all later stages.
        doc_id: SHA-256 of the normalised text (spec 001), of the bytes where there is no text.
        attempts: how often a resource failure was tried.
        seconds: wall time of the parse; provenance.
    """

    content_hash: str
    status: Literal["ok", "failed"]
    parser: str
    parser_version: str
    media_type: str
    doc_id: str
    reason_code: str | None = None
    message: str | None = None
    kind: FailureKind | None = None
    parsed_file: str | None = None
    parsed_digest: str | None = None
    title: str | None = None
    language: str | None = None
    pages: int = 0
    characters: int = 0
    blocks: int = 0
    textless_pages: int = 0
    replacement_characters: int = 0
    removed_templates: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    attempts: int = 1
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Parent:
    """A passage that is shown whole: a page, or a section where there are no pages.

    Args:
        label: `p003` (page 3) or `s012`; with the uid it makes the parent_id.
        order: position in the document, from 0.
        char_start: offset of `text` in the document's clean text; `char_end` its end.
        page_starts: (page number, offset where that page begins) for every page the passage
            touches, first page first; empty without pages.
        section_path: headings from the outermost to the nearest.
        breaks: offsets in the document, inside this parent, that end a sentence whatever stands
            there: the bounds of headings, rows, list items, tables and code.
    """

    label: str
    order: int
    char_start: int
    char_end: int
    text: str
    page_starts: tuple[tuple[int, int], ...] = ()
    section_path: tuple[str, ...] = ()
    breaks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage that is searched: sentences of one parent.

    Args:
        order: position in the document, from 0; with the uid it makes the chunk_id.
        parent_label: `Parent.label` of the parent that contains it.
        token_count: by the tokenizer of the namespace's model, without special tokens.
        is_cut: True where a sentence longer than the limit had to be cut inside.
    """

    order: int
    parent_label: str
    char_start: int
    char_end: int
    text: str
    token_count: int
    page_start: int | None = None
    page_end: int | None = None
    section_path: tuple[str, ...] = ()
    is_cut: bool = False
