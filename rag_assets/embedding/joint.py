"""One tokenizer for all models of a namespace: a chunk that it lets pass fits each of them."""

import unicodedata
from collections.abc import Sequence

from rag_assets.embedding.embedder import EmbeddingTokenizer
from rag_assets.embedding.loading import load_tokenizer
from rag_assets.model import hash_fields
from rag_assets.settings import EmbedSettings

# Counts as code: raise it when the same models count a text otherwise.
_JOINT_VERSION = 1


def joint_tokenizer(embed: EmbedSettings) -> EmbeddingTokenizer:
    """Return the tokenizer that chunks are cut by: of the first model, within all models' limits.

    Raises:
        ConfigurationError: a model is not on this machine.
    """
    first, *others = (load_tokenizer(model) for model in embed.models)
    return JointTokenizer(first, others) if others else first


class JointTokenizer:
    """Counts as the first model does, and never lets pass what another one would cut off.

    `limit` is the smallest limit. A text that is too long for one of the other models counts as
    many tokens as that model's own count says, put into proportion, hence more than `limit`; every
    other text counts its tokens of the first model.

    Args:
        first: its tokens are what sizes are given in.
        others: asked only about texts that could be too long for them.
    """

    def __init__(self, first: EmbeddingTokenizer, others: Sequence[EmbeddingTokenizer]) -> None:
        self._first = first
        self._others = tuple(others)
        self.limit: int = min(each.limit for each in (first, *others))
        # Which of the others comes first decides nothing.
        self.fingerprint: str = hash_fields(
            "joint", _JOINT_VERSION, first.fingerprint, sorted(e.fingerprint for e in others)
        )

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text; above `limit` where a model cannot hold it."""
        counts = list(self._first.count(texts))
        most = [_most_tokens(text) for text in texts]
        for other in self._others:
            asked = [index for index, bound in enumerate(most) if bound > other.limit]
            found = other.count([texts[index] for index in asked])
            for index, size in zip(asked, found, strict=True):
                if size > other.limit:
                    scaled = -(-size * self.limit // other.limit)
                    counts[index] = max(counts[index], scaled)
        return counts

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        """Return the code-point span of each token of the first model, in order."""
        return self._first.token_spans(text)

    def unknown_share(self, text: str) -> float:
        """Return the smallest share of unknown tokens: that of the model that reads it best."""
        return min(each.unknown_share(text) for each in (self._first, *self._others))


def _most_tokens(text: str) -> int:
    """Return more tokens than any tokenizer makes of a text, without asking one.

    No token is shorter than a byte of the text as normalised; one more may open each text.
    """
    if text.isascii():
        return len(text) + 1
    raw, spread = (len(t.encode("utf-8", "replace")) for t in (text, _decomposed(text)))
    return max(raw, spread) + 1


def _decomposed(text: str) -> str:
    return unicodedata.normalize("NFKD", text)
