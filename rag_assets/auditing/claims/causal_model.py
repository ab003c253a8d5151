"""Whether an English sentence claims a cause: its wording and its meaning, weighed together.

A linear model over the features of causal.py and over the states of a bundled sentence encoder,
each the mean over the sentence's tokens: the middle layers of BERT hold most of what its syntax and
roles are (Tenney, Das and Pavlick, "BERT Rediscovers the Classical NLP Pipeline", ACL 2019). Fitted
by `benchmarks/fit_causal_wording.py`; the file says on what.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from rag_assets.auditing.claims.causal import causal_features, has_causal_cue, names_a_reason
from rag_assets.auditing.result_store import ResultStore
from rag_assets.embedding import load_query_encoder, model_fingerprint
from rag_assets.model import hash_fields
from rag_assets.workspace import Workspace, configs_folder
from rag_assets.workspace.settings import ModelSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

MODEL_FILE = "causal_wording.json"
ENCODER = ModelSettings(kind="bundled", model="bge-small-en")
LAYERS = (6, 8)


@dataclass(frozen=True, slots=True)
class CausalModel:
    """Weights by feature and by state. `probability` from `threshold` on is a causal sentence.

    Args:
        states: for `mean_states`, as long as they are.
    """

    weights: Mapping[str, float]
    states: "Floats"
    intercept: float
    threshold: float
    fingerprint: str

    def probability(self, features: frozenset[str], states: "Floats") -> float:
        """Return how probable it is, 0 to 1, that a sentence with these features is causal."""
        total = self.intercept + sum(self.weights.get(name, 0.0) for name in features)
        return 1 / (1 + math.exp(-total - float(self.states @ states)))


@cache
def load_causal_model() -> CausalModel:
    """Return the model that ships (configs/causal_wording.json)."""
    import numpy as np

    path = configs_folder() / MODEL_FILE
    loaded = json.loads(path.read_text(encoding="utf-8"))
    return CausalModel(
        loaded["weights"],
        np.asarray(loaded["states"], np.float32),
        loaded["intercept"],
        loaded["threshold"],
        loaded["fingerprint"],
    )


def mean_states(sentence: str) -> "Floats":
    """Return the means of the tokens' states, one layer of `LAYERS` after the other."""
    import numpy as np

    encoder: Any = load_query_encoder(ENCODER)
    layers = encoder.encode_tokens(sentence, LAYERS)
    return np.concatenate([states.mean(axis=0) for states in layers])


class CauseStore(ResultStore[float]):
    """Probabilities that sentences claim a cause."""

    what: ClassVar[str] = "readings of sentences"
    most: ClassVar[int] = 50_000  # about 8 MB

    @staticmethod
    def to_json(result: float) -> Any:
        """Return a probability as JSON knows it."""
        return result

    @staticmethod
    def from_json(stored: Any) -> float:
        """Return what `to_json` made.

        Raises:
            TypeError, ValueError: it is no number.
        """
        return float(stored)


def open_causes(workspace: Workspace) -> CauseStore:
    """Return the readings that a workspace keeps."""
    return CauseStore(
        workspace.judgements / "sentence_readings.jsonl",
        workspace.locks / "sentence_readings.lock",
    )


@dataclass(slots=True)
class CausalReader:
    """Says which English sentences claim a cause. Those with a cue alone are encoded.

    Args:
        store: what was read before.
    """

    store: CauseStore = field(default_factory=CauseStore)

    def is_causal(self, sentence: str) -> bool:
        """Say whether a sentence claims that something brings something about."""
        if names_a_reason(sentence):
            return True
        features = causal_features(sentence)
        # Without any verb or phrase of causing, what tips the scale is the base rate alone.
        if not has_causal_cue(features):
            return False
        model = load_causal_model()
        key = hash_fields(sentence, sorted(features), _fingerprint())
        found = self.store.find(key)
        if found is None:
            # Rounded before it decides: what is kept must decide alike.
            found = round(model.probability(features, mean_states(sentence)), 4)
            self.store.put([(key, found)])
        return found >= model.threshold


@cache
def _fingerprint() -> str:
    return hash_fields(load_causal_model().fingerprint, model_fingerprint(ENCODER))
