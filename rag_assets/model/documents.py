"""The nouns of parsing and chunking. Offsets are code points, half-open, in the clean text."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal

from rag_assets.model.columns import Columns
from rag_assets.model.errors import FailureKind

BlockKind = Literal[
    "title",
    "front",
    "heading",
    "unplaced_heading",
    "paragraph",
    "list",
    "table",
    "row",
    "code",
    "formula",
    "caption",
    "figure",
    "drawing",
    "reference",
    "footnote",
    "note",
]
"""What a block is. `front`: authors, affiliations and dates of a title page. `unplaced_heading`:
looks like a heading but has no place in the section tree. `row`: one row of a sheet or csv.
`figure`: the line that refers to an attachment. `drawing`: the labels inside a diagram. `note`:
a speaker's or reviewer's note."""

Box = tuple[float, float, float, float]
"""(x0, y0, x1, y1) in points as the page is shown (rotation applied), origin top left."""

RECOGNISED = "(text recognised by OCR)"
"""Ends the label of a page whose text was read from its picture, and what is shown of its place."""

SectionSubtype = Literal["references", "appendix", "acknowledgements"]


class SectionCategory(IntEnum):
    """What a section is about (spec 002 §2.1)."""

    ABSTRACT = 0
    INTRODUCTION = 1
    METHOD = 2
    EVALUATION = 3
    CONCLUSION = 4
    OTHER = 5
    RELATED_WORK = 6


@dataclass(frozen=True, slots=True)
class PageSpan:
    """The characters of one printed page. `number` counts from 1."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Block:
    """A run of text with its place.

    Args:
        page: of its first character, from 1; None without pages.
        bbox: around its lines on that page.
        level: of a heading, from 1; of a list item its depth, from 1.
        attachment_id: of the attachment that the block refers to, captions or renders.
    """

    kind: BlockKind
    start: int
    end: int
    page: int | None = None
    bbox: Box | None = None
    level: int | None = None
    attachment_id: str | None = None


def block_columns() -> Columns[Block]:
    """Return columns for the blocks of a document that may have a million, and no pages."""
    seldom = dict.fromkeys(("page", "bbox", "level", "attachment_id"), "seldom")
    return Columns(Block, {"kind": "word", "start": "q", "end": "q", **seldom})


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A printed line and the clean text that it became: the map back to the source.

    Args:
        start: first clean character that comes from this line; `end` behind the last.
        page: from 1.
        bbox: of the line on its page.
        printed: the line's characters as the file has them, None where they equal the clean text.
    """

    start: int
    end: int
    page: int
    bbox: Box
    printed: str | None = None


@dataclass(frozen=True, slots=True)
class Attachment:
    """A figure, image or table beside the text (spec 001).

    Args:
        attachment_id: `fig-001`, `tab-002`, `img-003`: unique in its document, by place.
        kind: `figure` or `table` where a caption or the format says so, else `image`.
        name: as the document calls it (`Figure 3`), or the file's name inside a package.
        caption: text of the caption, None without.
        start: span of its caption or of the reference `![name](attachment:id)` in the clean text.
        page: from 1, None without pages.
        bbox: of the figure or table itself, without its caption.
        media_type: of the content, None where only the place is known (a drawing).
        content_hash: SHA-256 of the content, which is stored beside the parse; None without.
        content: the bytes, only between parser and store.
    """

    attachment_id: str
    kind: Literal["figure", "table", "image"]
    name: str | None = None
    caption: str | None = None
    start: int | None = None
    end: int | None = None
    page: int | None = None
    bbox: Box | None = None
    media_type: str | None = None
    content_hash: str | None = None
    content: bytes | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Section:
    """The text under one heading, up to the next heading of any level.

    Args:
        order: position in the document, from 0. Sections partition the text.
        title: as printed, numbering included; "" before the first heading.
        level: depth in the tree, 0 for a chapter (`hierarchy_level` of spec 002).
        path: titles from the outermost to this one.
        category: own, or inherited from the nearest parent that has one.
        subtype: of the section or of the one that contains it.
        start: offset of the heading, or of the text; `end` where the next section begins.
    """

    order: int
    title: str
    level: int
    path: tuple[str, ...]
    category: SectionCategory
    start: int
    end: int
    subtype: SectionSubtype | None = None

    @property
    def parent_title(self) -> str | None:
        """Title of the section that contains this one, None for a chapter."""
        return self.path[-2] if len(self.path) > 1 else None


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What every parser returns (spec 001).

    Args:
        text: the clean text. Every offset below refers to it; blocks and pages are in order.
        media_type: as sniffed, for instance `application/pdf`.
        pages: empty for formats without pages. Page spans partition the text, from 0 to its end.
        blocks: cover all visible text and do not overlap. A tuple, or `Columns` where there may be
            very many.
        lines: printed lines in the order of the clean text; empty for formats without pages.
        sections: made of the blocks by `make_sections`, never by a parser.
        attachments: figures, images and tables in the order of their place.
        title: what the document calls itself, None where it does not say.
        authors: as printed, in order.
        year: of publication, None where the document does not say.
        doi: without `https://doi.org/`, lower case; None where it is not printed or stated.
        journal: that it is from, or the proceedings, as printed; None where it does not say.
            `volume` and `issue` likewise.
        page_range: its first and last page there (`299-305`), or the number of the article.
        page_labels: the number that each page bears in print (`457`, `xii`), empty where it is not
            known; none at all where they are those of the sheets. `RECOGNISED` ends that of a page
            that was read from its picture.
        abstract: (start, end) of its text, without its heading; None without.
        metadata: plain strings found in the document (author, subject, …).
        removed_templates: lines dropped because they repeat on most pages.
        warnings: sentences a person can act on.
    """

    text: str
    media_type: str
    pages: tuple[PageSpan, ...] = ()
    blocks: Sequence[Block] = ()
    lines: tuple[SourceLine, ...] = ()
    sections: tuple[Section, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    title: str | None = None
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str | None = None
    journal: str | None = None
    volume: str | None = None
    issue: str | None = None
    page_range: str | None = None
    page_labels: tuple[str, ...] = ()
    abstract: tuple[int, int] | None = None
    language: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    removed_templates: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def is_markdown(self) -> bool:
        """Whether the clean text holds Markdown's own marks: a Markdown file, or a converter's."""
        return "markdown" in (
            self.media_type.removeprefix("text/"),
            self.metadata.get("text_format"),
        )

    @property
    def abstract_text(self) -> str | None:
        """The abstract's text, None without."""
        return None if self.abstract is None else self.text[slice(*self.abstract)]


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
        textless_pages: pages without text of their own; with `pages` their share.
        blobs: SHA-256 of every attachment's content, sorted.
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
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str | None = None
    journal: str | None = None
    volume: str | None = None
    issue: str | None = None
    page_range: str | None = None
    page_labels: tuple[str, ...] = ()
    abstract: str | None = None
    pages: int = 0
    characters: int = 0
    blocks: int = 0
    headings: int = 0
    sections: int = 0
    tables: int = 0
    figures: int = 0
    references: int = 0
    attachments: int = 0
    textless_pages: int = 0
    replacement_characters: int = 0
    removed_templates: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    blobs: tuple[str, ...] = ()
    attempts: int = 1
    seconds: float = 0.0


ChunkKind = Literal[
    "text",
    "heading",
    "front",
    "list",
    "table",
    "row",
    "code",
    "formula",
    "figure",
    "drawing",
    "reference",
    "footnote",
    "note",
    "qa",
]
"""What most of a chunk is. `figure`: a figure's line with its caption. `drawing`: labels inside
a diagram, which state nothing by themselves. `qa`: a question with its answer. `heading`: a
heading without text of its own, which stands in the context of the chunks below it."""


@dataclass(frozen=True, slots=True)
class PageBox:
    """A rectangle on a page, as `Box`. `page` counts from 1."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Parent:
    """A passage that is shown whole: a page, a section or the document.

    Args:
        label: `p003` (page 3), `s012` or `d000`; with the uid it makes the parent_id.
        order: position in the document, from 0.
        char_start: offset of `text` in the document's clean text; `char_end` its end.
        page_starts: (page number, offset where that page begins) for every page the passage
            touches, first page first; empty without pages.
        section_path: headings above its first text, from the outermost to the nearest.
    """

    label: str
    order: int
    char_start: int
    char_end: int
    text: str
    page_starts: tuple[tuple[int, int], ...] = ()
    section_path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Article:
    """An article of a law.

    Args:
        key: its number, and for 之一 that behind a hyphen: `20`, `133-1`.
        number: 133; `part` that behind 之, 0 without.
        shown: as the law writes it: 第一百三十三条之一.
        char_start: [char_start, char_end) of the whole article in the document's clean text, also
            where a chunk holds a part of it only.
    """

    key: str
    number: int
    part: int
    shown: str
    char_start: int
    char_end: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage that is searched: a slice of one section in one parent.

    Args:
        order: position in the document, from 0; with the uid it makes the chunk_id.
        parent_label: `Parent.label` of the parent that contains it.
        token_count: of `text` by the tokenizer of the namespace's model, without special tokens.
        input_tokens: of the string that the model is given, counted the same way.
        page_start: page of its first character, from 1; None without pages.
        kind: what most of its characters are.
        section_title: heading of its section as printed, "" before the first heading.
        parent_section: heading of the section that contains that one, None for a chapter.
        hierarchy_level: depth of its section, 0 for a chapter (spec 002 §2.2).
        section_subtype: None for body text.
        context: what the model is told before the text: headings, caption and header row.
        prepared: what is embedded and indexed in place of `text` where `preprocess` changes it.
        question: what is embedded in place of the text, of kind `qa` only.
        boxes: rectangles around its printed lines, a block's column each; empty without pages.
        attachment_ids: figures and tables that it holds or captions.
        is_cut: True where a sentence longer than the limit had to be cut inside.
        law_title: of the law within the file, as its text has it; None outside mode `law`.
        articles: that it holds or is a part of, in order; empty outside mode `law`.
    """

    order: int
    parent_label: str
    char_start: int
    char_end: int
    text: str
    token_count: int
    input_tokens: int = 0
    page_start: int | None = None
    page_end: int | None = None
    kind: ChunkKind = "text"
    section_title: str = ""
    parent_section: str | None = None
    section_path: tuple[str, ...] = ()
    hierarchy_level: int = 0
    section_category: SectionCategory = SectionCategory.OTHER
    section_subtype: SectionSubtype | None = None
    context: str = ""
    prepared: str | None = None
    question: str | None = None
    boxes: tuple[PageBox, ...] = ()
    attachment_ids: tuple[str, ...] = ()
    is_cut: bool = False
    law_title: str | None = None
    articles: tuple[Article, ...] = ()
