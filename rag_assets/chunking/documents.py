"""A document becomes parents and chunks, as the mode of its settings says; nothing is stored."""

from collections.abc import Iterable

from rag_assets.chunking.chunks import each_chunk
from rag_assets.chunking.modes import mode_of
from rag_assets.chunking.tokenizer import TokenCounter, Tokenizer
from rag_assets.model import Chunk, Parent, ParsedDocument
from rag_assets.settings import ChunkSettings


def chunk_document(
    document: ParsedDocument, settings: ChunkSettings, tokenizer: Tokenizer
) -> tuple[list[Parent], list[Chunk]]:
    """Return the parents and chunks of a document.

    Args:
        document: as parsed.
        settings: sizes in tokens of `tokenizer`.
        tokenizer: the embedding model's own.

    Raises:
        ConfigurationError: the sizes contradict each other.
    """
    outline = mode_of(settings).outline(document)
    parents = list(mode_of(settings).parents(outline, settings, tokenizer.count))
    return parents, list(each_chunk(outline, parents, settings, tokenizer))


def make_parents(
    document: ParsedDocument, settings: ChunkSettings, count: TokenCounter
) -> list[Parent]:
    """Return the parents of a document, in order; see `pages_or_sections` and `MODES`.

    Args:
        document: as parsed; pages partition its text.
        settings: sizes in tokens, as `count` counts them.
        count: counts tokens (`Tokenizer.count`).
    """
    mode = mode_of(settings)
    return list(mode.parents(mode.outline(document), settings, count))


def make_chunks(
    document: ParsedDocument,
    parents: Iterable[Parent],
    settings: ChunkSettings,
    tokenizer: Tokenizer,
) -> list[Chunk]:
    """Return the chunks of a document whose parents are known, in order; see `each_chunk`."""
    return list(each_chunk(mode_of(settings).outline(document), parents, settings, tokenizer))
