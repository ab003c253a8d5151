"""The passages of one document, ranked for one claim by nothing but the two."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rag_assets.auditing.library import CitedDocument
from rag_assets.auditing.standing import standings, without_references
from rag_assets.evidence.wording import content_sequence
from rag_assets.judging import MAX_UNKNOWN_SHARE, cosines, term_weight
from rag_assets.judging.term_weights import stem
from rag_assets.model import ConfigurationError

# Part of what decides a verdict: raise it when the same document may be ranked otherwise.
RANKING_VERSION = 3

# Models find a web address or a heading of one word near to any claim: a passage of fewer content
# words is judged by its words alone.
_FEWEST_UNITS = 4
# Weight of pairs of words; the other parts of a score weigh 1.
_PAIRS = 0.5
Vectors = NDArray[np.float32]


class Encoder(Protocol):
    """What turns text into vectors. Texts go in one batch; rows come in their order."""

    @property
    def fingerprint(self) -> str:
        """Return what identifies the model and its configuration."""
        ...

    def encode_queries(self, texts: list[str]) -> Vectors:
        """Return unit vectors, float32, shape (len(texts), dimension)."""
        ...

    def encode_passages(self, texts: list[str]) -> Vectors:
        """Return unit vectors, float32, shape (len(texts), dimension)."""
        ...

    def unknown_share(self, text: str) -> float:
        """Return the share, 0 to 1, of the tokens of `text` that the model does not know."""
        ...


class RememberingEncoder:
    """An encoder that is asked for each text once: ranking and scoring want the same vectors.

    Args:
        encoder: the model.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._queries: dict[str, Vectors] = {}
        self._passages: dict[str, Vectors] = {}
        self._shares: dict[str, float] = {}

    @property
    def fingerprint(self) -> str:
        """Return what identifies the model and its configuration."""
        return self._encoder.fingerprint

    def encode_queries(self, texts: list[str]) -> Vectors:
        """Return unit vectors, float32, shape (len(texts), dimension)."""
        return _remembered(texts, self._queries, self._encoder.encode_queries)

    def encode_passages(self, texts: list[str]) -> Vectors:
        """Return unit vectors, float32, shape (len(texts), dimension)."""
        return _remembered(texts, self._passages, self._encoder.encode_passages)

    def unknown_share(self, text: str) -> float:
        """Return the share, 0 to 1, of the tokens of `text` that the model does not know."""
        if text not in self._shares:
            self._shares[text] = self._encoder.unknown_share(text)
        return self._shares[text]


def _remembered(
    texts: list[str], known: dict[str, Vectors], encode: Callable[[list[str]], Vectors]
) -> Vectors:
    new = [text for text in dict.fromkeys(texts) if text not in known]
    if new:
        vectors = encode(new)
        if vectors.ndim != 2 or vectors.shape[0] != len(new):
            return vectors  # the caller says what is wrong with it
        known.update(zip(new, vectors, strict=True))
    return np.stack([known[text] for text in texts])


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a document that exists cannot be compared."""

    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Terms:
    """A text as its ranking sees it: content words in their order, English ones as stems."""

    sequence: tuple[str, ...]

    @property
    def units(self) -> frozenset[str]:
        """Return each word once."""
        return frozenset(self.sequence)

    @property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Return the pairs of neighbouring words."""
        return frozenset(pairwise(self.sequence))


def read_terms(text: str) -> Terms:
    """Return the content words of a text; for Chinese the pairs of neighbouring characters."""
    return Terms(tuple(stem(unit) for unit in content_sequence(text)))


class DocumentRanking:
    """Ranks the passages of one document for one claim after another.

    Nothing but the document and the claim decides: words weigh by a frozen table and by how rare
    they are within the document, so that no other file changes an order.

    Args:
        texts: of the passages, in the order of the document.
        vectors: of those by the model's fingerprint, shape (passages, dimension); a row of zeros
            could not be read.
    """

    def __init__(self, texts: Sequence[str], vectors: Mapping[str, Vectors]) -> None:
        self._vectors = vectors
        self._terms = [read_terms(text) for text in texts]
        counts = Counter(unit for terms in self._terms for unit in terms.units)
        longest = math.log(2 * (len(texts) + 1))
        self._rarity = {
            unit: math.log((len(texts) + 1) / (count + 0.5)) / longest
            for unit, count in counts.items()
        }
        self._standings = standings(texts, [len(terms.sequence) for terms in self._terms])
        self._says_something = np.array(
            [len(terms.sequence) >= _FEWEST_UNITS for terms in self._terms], dtype=np.bool_
        )
        self._lengths = [
            math.sqrt(sum(self._weight(unit) ** 2 for unit in sorted(terms.units))) or 1.0
            for terms in self._terms
        ]

    def _weight(self, unit: str) -> float:
        return term_weight(unit) * self._rarity.get(unit, 1.0)

    def score(self, claim: str, queries: Mapping[str, Vectors]) -> NDArray[np.float64]:
        """Return one score for each passage: higher is nearer to the claim.

        The sum of: the weighted share of the claim's words in the passage; the cosine of the two
        as weighted words; half the share of its pairs of words; the cosine of each model; and what
        the passage is, whatever the claim (`standings`). All but the last are spread from 0 to 1
        within the document.

        Args:
            claim: `without_references`.
            queries: vectors of the claim by the model's fingerprint, of those that can read it.
        """
        wanted = read_terms(claim)
        weights = {unit: self._weight(unit) for unit in sorted(wanted.units)}
        total = sum(weights.values()) or 1.0
        held = [sorted(wanted.units & terms.units) for terms in self._terms]
        covered = np.array([sum(weights[u] for u in units) / total for units in held])
        cosine = np.array(
            [
                sum(weights[u] ** 2 for u in units) / length
                for units, length in zip(held, self._lengths, strict=True)
            ]
        )
        pairs = np.array(
            [len(wanted.pairs & terms.pairs) / max(len(wanted.pairs), 1) for terms in self._terms]
        )
        words = _spread(covered) + _spread(cosine) + _PAIRS * _spread(pairs)
        scores: NDArray[np.float64] = np.round(words + self._meaning(queries) + self._standings, 9)
        return scores

    def _meaning(self, queries: Mapping[str, Vectors]) -> NDArray[np.float64]:
        """Return the sum of the models' cosines; a model that cannot read is as the mean.

        A passage that no model reads, or that says next to nothing, has 0.
        """
        known = []
        for fingerprint, query in queries.items():
            if fingerprint in self._vectors:
                rows = self._vectors[fingerprint]
                is_read = rows.any(axis=1) & self._says_something
                known.append(_spread(np.where(is_read, cosines(rows, query), np.nan)))
        if not known:
            return np.zeros(len(self._terms))
        stacked = np.stack(known)
        readers = np.isfinite(stacked).sum(axis=0)
        total = np.where(np.isfinite(stacked), stacked, 0.0).sum(axis=0)
        mean = np.divide(total, readers, out=np.zeros_like(total), where=readers > 0)
        result: NDArray[np.float64] = mean * len(known)
        return result

    def rank(
        self, claim: str, queries: Mapping[str, Vectors], among: Sequence[int], k: int
    ) -> list[int]:
        """Return the best `k` of the passages `among`, best first; equal ones in their order.

        Args:
            claim: without anchors and marks.
            queries: as for `score`.
            among: indexes of passages.
            k: at least 1.
        """
        scores = self.score(without_references(claim), queries)
        return sorted(among, key=lambda index: (-scores[index], index))[:k]


def _spread(values: NDArray[np.float64]) -> NDArray[np.float64]:
    known = values[np.isfinite(values)]
    if not len(known) or known.max() - known.min() <= 0:
        return np.where(np.isfinite(values), np.clip(values, 0.0, 1.0), np.nan)
    result: NDArray[np.float64] = (values - known.min()) / (known.max() - known.min())
    return result


def find_trouble(
    document: CitedDocument, vectors: Mapping[str, Vectors], dimensions: Mapping[str, int]
) -> Trouble | None:
    """Return why the document's vectors cannot be compared with those of the models.

    Args:
        vectors: of the document's passages by the model's fingerprint.
        dimensions: of the models that read the claim.
    """
    for fingerprint, rows in vectors.items():
        wanted = dimensions.get(fingerprint, rows.shape[1])
        if rows.shape[1] != wanted:
            return Trouble(
                "model_mismatch",
                f"The vectors of `{document.doc_uid}` have {rows.shape[1]} numbers, the embedding "
                f"model makes {wanted}: it was indexed with another model. Run `rag index`.",
            )
        finite = np.isfinite(rows).all(axis=1)
        if not finite.all():
            damaged = document.passages[int(np.argmin(finite))].chunk_id
            return Trouble(
                "damaged_vectors",
                f"The vector of `{damaged}` holds a number that is not finite. Run `rag embed`, "
                "then `rag index`.",
            )
    return None


def encode_claims(encoder: Encoder, claims: Sequence[str]) -> dict[str, Vectors]:
    """Return the vectors of those claims that the model can read, in one batch.

    Raises:
        ConfigurationError: the model returned something that cannot be compared.
    """
    readable = [c for c in dict.fromkeys(claims) if encoder.unknown_share(c) <= MAX_UNKNOWN_SHARE]
    if not readable:
        return {}
    vectors = encoder.encode_queries(readable)
    if vectors.ndim != 2 or vectors.shape[0] != len(readable):
        raise ConfigurationError(
            f"The embedding model returned the shape {vectors.shape} for {len(readable)} texts. "
            "`rag doctor` checks the model."
        )
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        raise ConfigurationError(
            "The embedding model returned a number that is not finite for "
            f"{readable[int(np.argmin(finite))]!r}. `rag doctor` checks the model."
        )
    return dict(zip(readable, vectors, strict=True))
