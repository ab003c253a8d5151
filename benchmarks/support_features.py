"""Features of claims with evidence for the scripts that fit and measure `support`, kept in a file.

What models say of a (claim, window) pair is kept by the pair's hash, since it takes most of the
time; what is read from words is computed anew each time.
"""

import os
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_assets.evaluation.claims_rows import evidence_passages
from rag_assets.judging import features
from rag_assets.judging.features import Answer, answer
from rag_assets.judging.meaning import Nearness, measure_nearness
from rag_assets.model import hash_fields
from rag_assets.retrieval.reranking import load_reranker
from rag_assets.workspace import shipped_settings
from rag_assets.workspace.settings import ModelSettings

_SAVED_EVERY = 200
Pair = tuple[str, tuple[str, ...]]


def cache_file() -> Path:
    """Return where the models' answers are kept."""
    default = Path.home() / ".cache" / "rag-assets" / "support"
    return Path(os.environ.get("RAG_SUPPORT_CACHE", default)) / "models.pickle"


class _Kept:
    """Answers of the models by hash; stands in for the reranker while features are measured."""

    def __init__(self) -> None:
        self._file = cache_file()
        self.values: dict[str, list[float]] = (
            pickle.loads(self._file.read_bytes())  # noqa: S301 - written here
            if self._file.is_file()
            else {}
        )
        self._reranker = load_reranker(
            shipped_settings(None).retrieve.rerank.model_copy(update={"mode": "model"})
        )
        self.name = "kept"
        self.fingerprint = "kept"

    def can_read(self, text: str) -> bool:
        """Say what the reranker says."""
        return self._reranker.can_read(text)

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return the reranker's scores, each computed once."""
        return [self._score(query, passage) for passage in passages]

    def _score(self, query: str, passage: str) -> float:
        return self._of(f"ce {query}\0{passage}", lambda: self._reranker.score(query, [passage]))[0]

    def nearness(self, claim: str, text: str, model: ModelSettings) -> Nearness:
        """Return what `measure_nearness` returns, computed once."""

        def compute() -> list[float]:
            n = measure_nearness(claim, text, model)
            return [n.whole, n.mean, n.lowest, n.middle_mean, n.middle_lowest]

        return Nearness(*self._of(f"{model.model} {claim}\0{text}", compute))

    def _of(self, what: str, compute: Callable[[], list[float]]) -> list[float]:
        key = hash_fields(what)[:24]
        if key not in self.values:
            self.values[key] = compute()
            if len(self.values) % _SAVED_EVERY == 0:
                self.save()
        return self.values[key]

    def save(self) -> None:
        """Write the file."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.with_suffix(".tmp").write_bytes(pickle.dumps(self.values))
        self._file.with_suffix(".tmp").replace(self._file)


def measure_pairs(
    pairs: Sequence[Pair],
) -> tuple[NDArray[np.float64], list[Answer]]:
    """Return the features of each claim with its evidence, shape (pairs, features), and answers."""
    kept = _Kept()
    plain = features.measure_nearness
    features.measure_nearness = kept.nearness  # type: ignore[assignment]
    try:
        answers = [answer(claim, evidence_passages(evidence)) for claim, evidence in pairs]
        rows = [features.measure(found, kept, {}) for found in answers]
    finally:
        features.measure_nearness = plain
        kept.save()
    return np.array(rows), answers
