"""A document becomes parents and chunks, as the mode of its settings says; nothing is stored."""

from rag_assets.chunking.chunks import make_chunks
from rag_assets.chunking.modes import mode_of
from rag_assets.chunking.outline import Outline
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
    parents = make_parents(document, settings, tokenizer.count, outline)
    return parents, make_chunks(document, parents, settings, tokenizer, outline)


def make_parents(
    document: ParsedDocument,
    settings: ChunkSettings,
    count: TokenCounter,
    outline: Outline | None = None,
) -> list[Parent]:
    """Return the parents of a document, in order; see `pages_or_sections` and `MODES`.

    Args:
        document: as parsed; pages partition its text.
        settings: sizes in tokens, as `count` counts them.
        count: counts tokens (`Tokenizer.count`).
        outline: of the same document and settings, where it is known.
    """
    mode = mode_of(settings)
    known = mode.outline(document) if outline is None else outline
    return mode.parents(known, settings, count)
