"""What was measured of a reader: from its score to a probability, and where OK begins."""

import math
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rag_assets.local_models import default_folder
from rag_assets.model import ConfigurationError
from rag_assets.storage import write_text
from rag_assets.workspace import configs_folder

READERS_FILE = "readers.json"
# Mean distance of a probability from the share that is true, on folds by source: above it a score
# orders sentences and is not shown as a probability.
MOST_ERROR = 0.06

_CLOSEST = 1e-6
_FARTHEST = 30.0

Probability = Annotated[float, Field(ge=0, le=1)]


class ReaderFit(BaseModel):
    """A logistic curve over a reader's log-odds, fitted on drafts of known truth.

    Args:
        fingerprint: of the reader that was measured: another model or prompt has no fit.
        data: on what, and how many rows.
        slope: of the curve; `intercept` likewise.
        ok: probability from which a sentence is OK, `weak` from which it is WEAK.
        ok_supported: share of the supported sentences that are OK there, on folds by source;
            `ok_unsupported` of the others; `calibration_error` and `auc` likewise.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    fingerprint: str
    model: str
    data: str
    slope: Annotated[float, Field(gt=0)]
    intercept: float
    ok: Probability
    weak: Probability
    auc: Probability
    ok_supported: Probability
    ok_unsupported: Probability
    calibration_error: Probability

    @property
    def is_calibrated(self) -> bool:
        """Say whether its probabilities may be printed as such."""
        return self.calibration_error <= MOST_ERROR

    def probability(self, logit: float) -> float:
        """Return how probably a sentence of such log-odds is supported."""
        return probability_of(self.slope * logit + self.intercept, None)


def log_odds_of(probability: float) -> float:
    """Return a probability as log-odds, none nearer to 0 or 1 than a millionth."""
    kept = min(max(probability, _CLOSEST), 1 - _CLOSEST)
    return math.log(kept / (1 - kept))


def probability_of(logit: float, fit: ReaderFit | None) -> float:
    """Return the probability that a fit makes of log-odds; without one the log-odds' own."""
    if fit is not None:
        return fit.probability(logit)
    return 1 / (1 + math.exp(-max(-_FARTHEST, min(_FARTHEST, logit))))


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    readers: list[ReaderFit]


def own_fits() -> Path:
    """Return the file of what was measured on this machine; it lies beside its models."""
    return default_folder() / READERS_FILE


def find_fit(fingerprint: str) -> ReaderFit | None:
    """Return what was measured of a reader, None where it was not: own measurements come first.

    Raises:
        ConfigurationError: configs/readers.json is missing or damaged, or the user's is damaged.
    """
    shipped = _read(configs_folder() / READERS_FILE, "Install the package again.")
    return next((fit for fit in (*_own(), *shipped) if fit.fingerprint == fingerprint), None)


def keep_fit(fit: ReaderFit) -> Path:
    """Keep what was measured on this machine, in the place of what was measured before.

    Raises:
        ConfigurationError: the file that is there is damaged.
    """
    others = [each for each in _own() if each.fingerprint != fit.fingerprint]
    text = _File(readers=[*others, fit]).model_dump_json(indent=1)
    own_fits().parent.mkdir(parents=True, exist_ok=True)
    write_text(own_fits(), text + "\n")
    return own_fits()


def _own() -> list[ReaderFit]:
    path = own_fits()
    return _read(path, "Remove it and calibrate the reader again.") if path.exists() else []


def _read(path: Path, mend: str) -> list[ReaderFit]:
    try:
        return _File.model_validate_json(path.read_text(encoding="utf-8")).readers
    except (OSError, ValidationError) as error:
        raise ConfigurationError(f"{path}: is missing or damaged ({error}). {mend}") from error
