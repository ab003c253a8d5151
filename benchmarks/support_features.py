"""Features of claims with evidence for the scripts that fit and measure `support`, kept in a file.

What models say of a claim and a text is kept by the hash of both, since it takes most of the time;
what is read from words is computed anew each time.
"""

import os
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_assets.evaluation.claims_rows import evidence_passages
from rag_assets.judging import features
from rag_assets.judging.features import FEATURES, Answer, answer, read_beside
from rag_assets.judging.meaning import Nearness, measure_nearness
from rag_assets.judging.pair_reading import BundledPairReader
from rag_assets.judging.statement import state
from rag_assets.model import hash_fields
from rag_assets.retrieval.reranking.bundled import PairReading
from rag_assets.workspace.settings import ModelSettings

_SAVED_EVERY = 500
_CROSS_ENCODER = list(FEATURES).index("cross_encoder")
Pair = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Measured:
    """What is measured of claims with their evidence.

    Args:
        x: shape (claims, features); the feature `pair_reading` is not measured yet.
        states: of the cross-encoder, shape (claims, states); NaN where it could not read both.
    """

    x: NDArray[np.float64]
    states: NDArray[np.float32]
    answers: list[Answer]


def cache_file() -> Path:
    """Return where the models' answers are kept."""
    default = Path.home() / ".cache" / "rag-assets" / "support"
    return Path(os.environ.get("RAG_SUPPORT_CACHE", default)) / "models.pickle"


class _Kept:
    """Answers of the models by hash; stands in for the pair reader while features are measured."""

    fingerprint = "kept"

    def __init__(self) -> None:
        self._file = cache_file()
        self._values: dict[str, NDArray[np.float32]] = (
            pickle.loads(self._file.read_bytes())  # noqa: S301 - written here
            if self._file.is_file()
            else {}
        )
        self._reader = BundledPairReader()

    def read(self, claim: str, text: str) -> PairReading:
        """Return what the reader makes of a pair, each read once."""

        def compute() -> list[float]:
            reading = self._reader.read(claim, text)
            return [reading.logit, *reading.states.ravel().tolist()]

        logit, *states = self._of(f"pair {claim}\0{text}", compute)
        return PairReading(float(logit), np.array(states, np.float32))

    def nearness(self, claim: str, text: str, model: ModelSettings) -> Nearness:
        """Return what `measure_nearness` returns, computed once."""

        def compute() -> list[float]:
            n = measure_nearness(claim, text, model)
            return [n.whole, n.mean, n.lowest, n.middle_mean, n.middle_lowest]

        return Nearness(*map(float, self._of(f"{model.model} {claim}\0{text}", compute)))

    def _of(self, what: str, compute: Callable[[], list[float]]) -> NDArray[np.float32]:
        key = hash_fields(what)[:24]
        if key not in self._values:
            self._values[key] = np.array(compute(), np.float32)
            if len(self._values) % _SAVED_EVERY == 0:
                self.save()
        return self._values[key]

    def save(self) -> None:
        """Write the file."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.with_suffix(".tmp").write_bytes(pickle.dumps(self._values))
        self._file.with_suffix(".tmp").replace(self._file)


def measure_pairs(pairs: Sequence[Pair]) -> Measured:
    """Return what is measured of each claim with its evidence."""
    kept = _Kept()
    plain = features.measure_nearness
    features.measure_nearness = kept.nearness  # type: ignore[assignment]
    try:
        answers = [answer(state(claim), evidence_passages(evidence)) for claim, evidence in pairs]
        x = np.array([features.measure(found, kept, {}, None) for found in answers])
        read = ~np.isnan(x[:, _CROSS_ENCODER])
        found_states = {
            i: kept.read(found.claim, read_beside(found)).states.ravel()
            for i, found in enumerate(answers)
            if read[i]
        }
    finally:
        features.measure_nearness = plain
        kept.save()
    states = np.full((len(pairs), len(next(iter(found_states.values())))), np.nan, np.float32)
    for i, row in found_states.items():
        states[i] = row
    return Measured(x, states, answers)
