"""The fitted weights: how likely a sentence is one of those that decide a statement."""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_assets.finding.features import FEATURES
from rag_assets.model import ConfigurationError, hash_fields
from rag_assets.workspace import configs_folder

WEIGHTS_FILE = "finding.json"


@dataclass(frozen=True, slots=True)
class FindingWeights:
    """One weight a feature, and where they come from.

    Args:
        fingerprint: SHA-256 of the names and weights.
    """

    weights: NDArray[np.float64]
    provenance: dict[str, Any]
    fingerprint: str

    def shares(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return each sentence's share of the likelihood to decide; they sum to 1.

        Args:
            features: shape (sentences, len(FEATURES)).
        """
        scores = features @ self.weights
        likely = np.exp(scores - scores.max())
        shares: NDArray[np.float64] = np.round(likely / likely.sum(), 9)
        return shares


@lru_cache(maxsize=1)
def load_weights() -> FindingWeights:
    """Return the shipped weights.

    Raises:
        ConfigurationError: they were fitted for other features than the code measures.
    """
    path = configs_folder() / WEIGHTS_FILE
    stored = json.loads(path.read_text(encoding="utf-8"))
    if set(stored["weights"]) != set(FEATURES):
        raise ConfigurationError(
            f"{path}: fitted for other features than this version measures. Run "
            "`python benchmarks/fit_finding.py`, or restore the file that came with this version."
        )
    weights = [float(stored["weights"][name]) for name in FEATURES]
    return FindingWeights(
        np.array(weights), stored["provenance"], hash_fields([*FEATURES], [*map(repr, weights)])
    )
