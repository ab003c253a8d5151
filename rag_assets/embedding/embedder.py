"""What the rest of the package knows of an embedding model."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from rag_assets.chunking import Tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Told (texts done, texts in all) while texts are encoded.
EncodeProgress = Callable[[int, int], None]


class QueryEncoder(Protocol):
    """Turns questions into vectors of length 1, to be compared with those of passages."""

    @property
    def name(self) -> str:
        """What a person calls the model."""

    @property
    def fingerprint(self) -> str:
        """`model_fingerprint` of the settings it was loaded from."""

    @property
    def dimension(self) -> int:
        """Length of its vectors."""

    def encode_queries(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one vector a question, shape (len(texts), dimension), each of length 1."""


class Embedder(QueryEncoder, Protocol):
    """Turns texts into vectors of length 1. Every passage that is encoded passes through it."""

    def encode_passages(
        self, texts: Sequence[str], on_progress: EncodeProgress | None = None
    ) -> "NDArray[np.float32]":
        """Return one vector a text, shape (len(texts), dimension), each of length 1."""


class PassageEncoder(Protocol):
    """Turns passages into what the stage `embeddings` keeps: an `Embedder`, or a sparse encoder."""

    def encode_passages(
        self, texts: Sequence[str], on_progress: EncodeProgress | None = None
    ) -> "Iterable[NDArray[np.float32]]":
        """Return the numbers of each text."""


class EmbeddingTokenizer(Tokenizer, Protocol):
    """The tokenizer of an embedding model."""

    def unknown_share(self, text: str) -> float:
        """Return the share, 0 to 1, of the tokens of `text` that the model cannot tell apart."""


# Whether a model can tell a text from others at all.


# Above this share of unknown tokens a model cannot tell one text from another. all-MiniLM knows
# no more than some hundred Chinese characters; English text stays below 0.02.
UNREADABLE_SHARE = 0.2


def can_read(tokenizer: EmbeddingTokenizer, text: str) -> bool:
    """Say whether the model of `tokenizer` knows enough of a text to give it a vector."""
    return tokenizer.unknown_share(text) <= UNREADABLE_SHARE
