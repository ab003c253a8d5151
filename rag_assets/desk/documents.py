"""A document as it was read: its pages with blocks, sections and chunks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rag_assets.model import PageBox, ParsedDocument, UsageError
from rag_assets.parsing import read_parsed
from rag_assets.retrieval import OpenedLibrary, Reader, Retriever

View = Literal["blocks", "sections", "chunks"]
VIEWS: tuple[View, ...] = ("blocks", "sections", "chunks")
# Of a document without pages so many characters are shown at once.
_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class ShownPart:
    """A block, section or chunk on a page.

    Args:
        kind: of a block or chunk; what a section is about.
        label: what names it: the chunk's id, a section's title.
        text: verbatim.
    """

    kind: str
    label: str
    text: str
    boxes: tuple[PageBox, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """One page of a document, or one stretch of a document without pages.

    Args:
        facts: the catalogue's row.
        page: from 1, of `pages`.
        has_pages: whether the source is printed.
    """

    facts: dict[str, object]
    page: int
    pages: int
    has_pages: bool
    parts: tuple[ShownPart, ...]


def read_document(
    library: OpenedLibrary, namespace: str, uid: str, view: View, page: int
) -> ShownDocument:
    """Return what was read of a published document on one of its pages.

    Args:
        page: from 1.

    Raises:
        UsageError: the publication holds no such document or page.
        PublicationError: nothing is published.
    """
    with Retriever(library, [namespace]) as retriever:
        (reader,) = retriever.readers
        rows = reader.fetch_documents([uid]).to_pylist()
        if not rows:
            raise UsageError(
                f"'{namespace}' has published no document '{uid}'. The library lists what it has, "
                "and why a file is not among it."
            )
        facts = rows[0]
        parsed, _ = read_parsed(library.workspace.root / "data" / facts["content_ref"])
        stretches = [(each.start, each.end) for each in parsed.pages] or [
            (start, start + _CHARACTERS)
            for start in range(0, max(len(parsed.text), 1), _CHARACTERS)
        ]
        if not 1 <= page <= len(stretches):
            raise UsageError(f"'{uid}' has {len(stretches)} pages; {page} is none of them.")
        start, end = stretches[page - 1]
        if view == "blocks":
            parts = _blocks(parsed, start, end)
        elif view == "sections":
            parts = _sections(parsed, start, end)
        else:
            parts = _chunks(reader, uid, start, end, page if parsed.pages else None)
    return ShownDocument(facts, page, len(stretches), bool(parsed.pages), tuple(parts))


def _blocks(parsed: ParsedDocument, start: int, end: int) -> Sequence[ShownPart]:
    return [
        ShownPart(
            block.kind,
            "" if block.level is None else str(block.level),
            parsed.text[block.start : block.end],
            () if block.bbox is None or block.page is None else (PageBox(block.page, *block.bbox),),
        )
        for block in parsed.blocks
        if block.start < end and block.end > start
    ]


def _sections(parsed: ParsedDocument, start: int, end: int) -> Sequence[ShownPart]:
    return [
        ShownPart(
            section.category.name.lower(),
            " › ".join(section.path),
            parsed.text[max(section.start, start) : min(section.end, end)],
        )
        for section in parsed.sections
        if section.start < end and section.end > start
    ]


def _chunks(
    reader: Reader, uid: str, start: int, end: int, page: int | None
) -> Sequence[ShownPart]:
    columns = ["chunk_id", "kind", "text", "char_start", "char_end", "boxes"]
    return [
        ShownPart(
            row["kind"],
            row["chunk_id"],
            row["text"],
            tuple(PageBox(**box) for box in row["boxes"] or () if box["page"] == page),
        )
        for row in reader.fetch_chunks(uid, columns).to_pylist()
        if row["char_start"] < end and row["char_end"] > start
    ]
