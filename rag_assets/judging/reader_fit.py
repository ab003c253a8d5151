"""What was measured of a reader: from its score to a probability, and where OK begins."""

import math
from functools import cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rag_assets.model import ConfigurationError
from rag_assets.workspace.configuration import configs_folder

READERS_FILE = "readers.json"
# Mean distance of a probability from the share that is true, on folds by source: above it a score
# orders sentences and is not shown as a probability.
MOST_ERROR = 0.08

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
        value = max(-30.0, min(30.0, self.slope * logit + self.intercept))
        return 1 / (1 + math.exp(-value))


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    readers: list[ReaderFit]


@cache
def _file() -> _File:
    path = configs_folder() / READERS_FILE
    try:
        return _File.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise ConfigurationError(
            f"{path}: is missing or damaged ({error}). Install the package again."
        ) from error


def find_fit(fingerprint: str) -> ReaderFit | None:
    """Return what was measured of a reader, None where it was not.

    Raises:
        ConfigurationError: configs/readers.json is missing or damaged.
    """
    return next((fit for fit in _file().readers if fit.fingerprint == fingerprint), None)
