"""What a statement and the sentences of one document have in common, as words and characters."""

import math
import re
import unicodedata
from collections.abc import Hashable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np
import snowballstemmer
from numpy.typing import NDArray

from rag_assets.finding.numbers import read_values
from rag_assets.publishing.content_words import content_sequence

Key = TypeVar("Key", bound=Hashable)
Column = NDArray[np.float64]

_STEMMER = snowballstemmer.stemmer("english")
# Of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
_K1, _B = 1.2, 0.75
_GRAM = 4
_NOT_GRAM = re.compile(r"[\W_]+")
_NAME = re.compile(r"(?<![.!?。]\s)(?<!^)\b(?:[A-Z][\w-]*[A-Za-z0-9]|[A-Z])\b|\b\w*[a-z][A-Z]\w*\b")
_KEPT = 4_096


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    return str(_STEMMER.stemWord(word)) if word.isascii() and word.isalpha() else word


@lru_cache(maxsize=_KEPT)
def read_units(text: str) -> tuple[str, ...]:
    """Return the content words of a text as stems, of Chinese the pairs of characters, in order."""
    return tuple(_stem(unit) for unit in content_sequence(text))


@lru_cache(maxsize=_KEPT)
def read_grams(text: str) -> frozenset[str]:
    """Return runs of four letters, within and over words, and the pairs of Chinese characters."""
    letters = _NOT_GRAM.sub(" ", unicodedata.normalize("NFKC", text).casefold())
    return frozenset(letters[i : i + _GRAM] for i in range(max(0, len(letters) - _GRAM + 1)))


@lru_cache(maxsize=_KEPT)
def read_names(text: str) -> frozenset[str]:
    """Return what is written as a name is: capitals that begin no sentence, or inside a word."""
    return frozenset(match.group().casefold() for match in _NAME.finditer(text))


class DocumentWords:
    """The sentences of one document as words, read once, compared with one statement after another.

    Words weigh by how rare they are among the sentences of the document, so that no other file
    changes what is found.

    Args:
        texts: as `Sentence.read` gives them.
    """

    NAMES = ("covered", "bm25", "pairs", "grams", "cosine", "values", "names", "beyond")

    def __init__(self, texts: Sequence[str]) -> None:
        units = [read_units(text) for text in texts]
        self._size = len(texts)
        self._values = [read_values(text) for text in texts]
        self._folded = [text.casefold() for text in texts]
        self._units = _Postings(units)
        self._pairs = _Postings([list(pairwise(own)) for own in units])
        self._grams = _Postings([sorted(read_grams(text)) for text in texts])
        lengths = np.array([len(own) for own in units], np.float64)
        self._lengths = lengths / max(float(lengths.mean()) if self._size else 1.0, 1.0)
        squares = [sum(self._units.rarity[unit] ** 2 for unit in set(own)) for own in units]
        self._norms = np.sqrt(np.array([square or 1.0 for square in squares], np.float64))

    def compare(self, statement: str) -> NDArray[np.float64]:
        """Return one row a sentence, columns as `NAMES`.

        Args:
            statement: without marks of references.
        """
        units = read_units(statement)
        covered, bm25, cosine, pairs, grams = (np.zeros(self._size) for _ in range(5))
        # What the document never says cannot tell its sentences apart.
        weights = {unit: self._units.rarity[unit] for unit in set(units) & self._units.keys()}
        total = sum(weights[unit] for unit in sorted(weights)) or 1.0
        for unit in sorted(weights):
            places, counts = self._units.at(unit)
            weight = weights[unit] / total
            covered[places] += weight
            longest = _K1 * (1 - _B + _B * self._lengths[places])
            bm25[places] += weight * counts * (_K1 + 1) / (counts + longest)
            cosine[places] += weights[unit] ** 2
        asked = set(pairwise(units))
        for pair in asked & self._pairs.keys():
            pairs[self._pairs.at(pair)[0]] += 1 / len(asked)
        held = sorted(read_grams(statement) & self._grams.keys())
        gram_total = sum(self._grams.rarity[gram] for gram in held) or 1.0
        for gram in held:
            grams[self._grams.at(gram)[0]] += self._grams.rarity[gram] / gram_total
        values, names = read_values(statement), read_names(statement)
        shares = np.array([values.share_in(own) for own in self._values])
        named = [sum(name in text for name in names) / max(len(names), 1) for text in self._folded]
        beyond = (shares == 0.0) & bool(values)
        cosine = cosine / self._norms / math.sqrt(total)
        columns = [covered, bm25, pairs, grams, cosine, shares, np.array(named), beyond]
        return np.stack([np.asarray(column, np.float64) for column in columns], axis=1)


class _Postings(Generic[Key]):
    """In which sentences something stands, how often, and how rare it is."""

    def __init__(self, texts: Sequence[Sequence[Key]]) -> None:
        found: dict[Key, dict[int, int]] = {}
        for index, keys in enumerate(texts):
            for key in keys:
                own = found.setdefault(key, {})
                own[index] = own.get(index, 0) + 1
        longest = math.log(2 * (len(texts) + 1))
        self._found, self._keys = found, set(found)
        self._arrays: dict[Key, tuple[NDArray[np.int64], Column]] = {}
        self.rarity = {
            key: math.log((len(texts) + 1) / (len(own) + 0.5)) / longest
            for key, own in found.items()
        }

    def keys(self) -> set[Key]:
        """Return what stands anywhere."""
        return self._keys

    def at(self, key: Key) -> tuple[NDArray[np.int64], Column]:
        """Return the sentences that hold it, and how often each does."""
        if key not in self._arrays:
            own = self._found[key]
            places = np.fromiter(own, np.int64, len(own))
            self._arrays[key] = places, np.fromiter(own.values(), np.float64, len(own))
        return self._arrays[key]
