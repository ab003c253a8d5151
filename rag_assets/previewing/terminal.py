"""A preview as lines for a terminal."""

import statistics
from collections.abc import Iterator, Sequence

from rag_assets.model import Chunk, count_of, show_figures
from rag_assets.previewing.source import ChunkPreview

_SHOWN_CHARACTERS = 240
_FEW_ARTICLES = 3


def render_lines(preview: ChunkPreview, *, whole: bool = False) -> Iterator[str]:
    """Yield the summary, then for each chunk its place, size, section and text.

    Args:
        whole: show chunks whole instead of their beginning.
    """
    document, chunks = preview.document, preview.chunks
    # A line break in a file's name must not begin a line of its own.
    yield " ".join(f"{preview.name}: {document.title or 'no title'}".split())
    yield (
        f"{count_of(len(document.text), 'character')}, "
        f"{count_of(len(document.pages), 'page')}, {count_of(len(document.sections), 'section')}, "
        f"{count_of(len(preview.parents), 'parent')}, {count_of(len(chunks), 'chunk')}"
    )
    if chunks:
        sizes = [chunk.token_count for chunk in chunks]
        yield (
            f"tokens a chunk: {min(sizes)} to {max(sizes)}, median {statistics.median(sizes):g}; "
            f"{sum(chunk.is_cut for chunk in chunks)} hold part of a sentence"
        )
    yield from (f"warning: {' '.join(warning.split())}" for warning in document.warnings)
    for number, chunk in enumerate(chunks):
        yield ""
        yield describe_place(chunk)
        if chunk.section_path:
            yield f"  {' '.join(' > '.join(chunk.section_path).split())}"
        if preview.articles and preview.articles[number]:
            yield f"  {describe_articles(preview.articles[number])}"
        text = show_figures(chunk.text)
        text = text if whole else _beginning(text)
        yield from (f"  | {line}" for line in text.split("\n"))


def describe_articles(shown: Sequence[str]) -> str:
    """Return the articles of a chunk in one line: all of a few, else the first and the last."""
    if len(shown) <= _FEW_ARTICLES:
        return ", ".join(shown)
    return f"{shown[0]} to {shown[-1]} ({len(shown)} articles)"


def describe_place(chunk: Chunk) -> str:
    """Return a chunk's number, place, span, kind and size in one line."""
    place = chunk.parent_label
    if chunk.page_start is not None and chunk.page_end != chunk.page_start:
        place += f" (pages {chunk.page_start} to {chunk.page_end})"
    cut = ", cut inside a sentence" if chunk.is_cut else ""
    return (
        f"[{chunk.order}] {place} · {chunk.char_start}–{chunk.char_end} · {chunk.kind} · "
        f"{chunk.token_count} tokens{cut}"
    )


def _beginning(text: str) -> str:
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    return text[:_SHOWN_CHARACTERS].rstrip() + " …"
