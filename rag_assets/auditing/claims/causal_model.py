"""Whether an English sentence claims a cause.

A sentence with a word of causing (causal.py) is read by a bundled sentence encoder that was taught
the four strengths of a claim (none, correlation, cause, possible cause) by low-rank changes, by
`benchmarks/fit_causal_wording.py`; the file says on what.
"""

import hashlib
import json
import math
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from rag_assets.auditing.claims.causal import CAUSAL_CUE
from rag_assets.auditing.result_store import ResultStore
from rag_assets.embedding import LowRankChange, load_changed_encoder, model_fingerprint
from rag_assets.model import DamagedFileError, hash_fields
from rag_assets.settings import ModelSettings
from rag_assets.workspace import Workspace, configs_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag_assets.embedding import BertQueryEncoder

    Floats = NDArray[np.float32]

MODEL_FILE = "causal_wording.json"
CHANGES_FILE = "causal_wording.npz"
ENCODER = ModelSettings(kind="bundled", model="bge-small-en")
STRENGTHS = ("NONE", "CORRELATIONAL", "CAUSAL", "CONDITIONAL_CAUSAL")
CAUSAL = (2, 3)  # places in STRENGTHS
# Keeps the logarithm finite.
_SUREST = 1e-4


class CausalEncoder:
    """Reads how strongly a sentence claims, by its meaning.

    Args:
        weight: from the mean of the tokens' states to `STRENGTHS`, shape (4, hidden size).
        bias: shape (4,).
    """

    def __init__(self, encoder: "BertQueryEncoder", weight: "Floats", bias: "Floats") -> None:
        self._encoder = encoder
        self._weight = weight
        self._bias = bias

    def read_meaning(self, sentence: str) -> float:
        """Return the logarithm of the odds that a sentence is causal, -9.2 to 9.2."""
        import numpy as np

        scores = self._weight @ self._encoder.mean_states(sentence) + self._bias
        shares = np.exp(scores - scores.max())
        return log_odds(shares / shares.sum())


def log_odds(shares: "NDArray[Any]") -> float:
    """Return the logarithm of the odds that a sentence is causal.

    Args:
        shares: probability of each of `STRENGTHS`, shape (4,).
    """
    causal = min(max(float(shares[list(CAUSAL)].sum()), _SUREST), 1 - _SUREST)
    return math.log(causal / (1 - causal))


@cache
def load_causal_encoder() -> CausalEncoder:
    """Return the encoder that ships (configs/causal_wording.npz).

    Raises:
        DamagedFileError: the file is not the one that was fitted.
        ConfigurationError: the bundled model that it changes is not on this machine.
    """
    import numpy as np

    path = configs_folder() / CHANGES_FILE
    if hashlib.sha256(path.read_bytes()).hexdigest() != _read_file()["changes_sha256"]:
        raise DamagedFileError(
            f"{path}: not the file that {MODEL_FILE} was fitted with. Install rag-assets anew, or "
            "run benchmarks/fit_causal_wording.py, which writes both."
        )
    with np.load(path) as stored:
        arrays = {name: stored[name].astype(np.float32) for name in stored.files}
    weight, bias = arrays.pop("head.weight"), arrays.pop("head.bias")
    matrices = {name.rsplit(".", 1)[0] for name in arrays}
    changes = {
        name: LowRankChange(arrays[f"{name}.up"], arrays[f"{name}.down"]) for name in matrices
    }
    return CausalEncoder(load_changed_encoder(ENCODER, changes), weight, bias)


@cache
def _read_file() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((configs_folder() / MODEL_FILE).read_text(encoding="utf-8"))
    return loaded


class CauseStore(ResultStore[float]):
    """Log-odds that sentences claim a cause."""

    what: ClassVar[str] = "readings of sentences"
    most: ClassVar[int] = 50_000  # about 8 MB

    @staticmethod
    def to_json(result: float) -> Any:
        """Return a number as JSON knows it."""
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
        workspace.store,
        workspace.key_of(workspace.judgements / "sentence_readings.jsonl"),
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
        # Without any verb or phrase of causing, what tips the scale is the base rate alone.
        if not CAUSAL_CUE.check(sentence):
            return False
        key = hash_fields(sentence, _fingerprint())
        found = self.store.find(key)
        if found is None:
            # Rounded before it decides: what is kept must decide alike.
            found = round(load_causal_encoder().read_meaning(sentence), 4)
            self.store.put([(key, found)])
        return found >= causal_threshold()


@cache
def causal_threshold() -> float:
    """Return the log-odds from which a sentence claims a cause (configs/causal_wording.json)."""
    return float(_read_file()["threshold"])


@cache
def _fingerprint() -> str:
    return hash_fields(_read_file()["changes_sha256"], model_fingerprint(ENCODER))
