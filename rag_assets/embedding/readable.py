"""Whether a model can tell a text from others at all."""

from rag_assets.embedding.embedder import EmbeddingTokenizer

# Above this share of unknown tokens a model cannot tell one text from another. all-MiniLM knows
# no more than some hundred Chinese characters; English text stays below 0.02.
UNREADABLE_SHARE = 0.2


def can_read(tokenizer: EmbeddingTokenizer, text: str) -> bool:
    """Say whether the model of `tokenizer` knows enough of a text to give it a vector."""
    return tokenizer.unknown_share(text) <= UNREADABLE_SHARE
