"""Vectors without a model: the hashing trick over words and CJK pairs.

Weinberger et al., "Feature Hashing for Large Scale Multitask Learning" (ICML 2009): each feature
adds plus or minus its weight to one place of the vector; place and sign come from its hash.
Integer counts and square roots only, so that a text has the same bits on every machine.
"""

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from rag_assets.embedding.embedder import Embedder, EmbeddingTokenizer, EncodeProgress
from rag_assets.model import CJK_RANGES, hash_fields
from rag_assets.model.settings import ModelSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HASHING_VERSION = 1
HASHING_DIMENSION = 256

_RUN = re.compile(rf"(?P<cjk>[{CJK_RANGES}]+)|[^\W{CJK_RANGES}]+")
_REMEMBERED_FEATURES = 100_000  # some 20 MB; a library's frequent words fit well


class HashingEmbedder:
    """Deterministic, fast, knows words only: for tests, dry runs and a first look.

    Args:
        dimension: length of its vectors; the fewer, the more words share a place.
    """

    name = "hashing"

    def __init__(self, dimension: int = HASHING_DIMENSION) -> None:
        self.dimension = dimension
        self.fingerprint = hash_fields("hashing", HASHING_VERSION, dimension)

    def encode_passages(
        self, texts: Sequence[str], on_progress: EncodeProgress | None = None
    ) -> "NDArray[np.float32]":
        """Return the vectors, bit for bit the same whatever texts come with a text."""
        vectors = _encode(texts, self.dimension)
        if on_progress:
            on_progress(len(texts), len(texts))
        return vectors

    def encode_queries(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return the vectors of questions, made as those of passages are."""
        return _encode(texts, self.dimension)


def tokenizer(_model: ModelSettings) -> EmbeddingTokenizer:
    """Return what counts words: every word has a hash."""
    return WordTokenizer()


def fingerprint(model: ModelSettings) -> str:
    """Return what decides a vector: the code and the number of places."""
    return HashingEmbedder(dimension(model)).fingerprint


def dimension(model: ModelSettings) -> int:
    """Return the length of the vectors."""
    return model.dimension or HASHING_DIMENSION


def embedder(model: ModelSettings) -> Embedder:
    """Return the embedder; there is nothing to load."""
    return HashingEmbedder(dimension(model))


def _encode(texts: Sequence[str], dimension: int) -> "NDArray[np.float32]":
    import numpy as np

    vectors = np.zeros((len(texts), dimension), np.float32)
    for row, text in enumerate(texts):
        vector = [0.0] * dimension
        for feature, times in sorted(Counter(_features(text)).items()):
            number, sign = _place(feature)
            vector[number % dimension] += sign * math.sqrt(times)
        length = math.sqrt(math.fsum(value * value for value in vector))
        if length == 0.0:  # no feature, or features that cancel out: still a place to stand
            vector[0] = length = 1.0
        vectors[row] = [value / length for value in vector]
    return vectors


def _features(text: str) -> Iterator[str]:
    """Yield lower-case words, and each pair of neighbours in a run of CJK characters."""
    for run in _RUN.finditer(unicodedata.normalize("NFKC", text).lower()):
        characters = run.group()
        if run["cjk"] and len(characters) > 1:
            for index in range(len(characters) - 1):
                yield characters[index : index + 2]
        else:
            yield characters


@lru_cache(maxsize=_REMEMBERED_FEATURES)
def _place(feature: str) -> tuple[int, int]:
    number = int.from_bytes(
        hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
    )
    return number >> 1, 1 if number & 1 else -1


# Words and single CJK characters: the tokens of the model-free embedder.


_WORDS_VERSION = 1
_WORD = re.compile(rf"[{CJK_RANGES}]|[^\W{CJK_RANGES}]+")

# There is no model that could be too small; 2³¹−1 fits every column that may hold it.
_NO_LIMIT = 2**31 - 1


class WordTokenizer:
    """Counts words of letters and digits, and each CJK character by itself."""

    fingerprint = hash_fields("words", _WORDS_VERSION)
    limit = _NO_LIMIT

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of words and CJK characters of each text."""
        return [len(_WORD.findall(text)) for text in texts]

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        """Return the code-point span of each word or CJK character, in order."""
        return [match.span() for match in _WORD.finditer(text)]

    def unknown_share(self, text: str) -> float:  # noqa: ARG002 - the Protocol's signature
        """Return 0.0: every word has a hash."""
        return 0.0
