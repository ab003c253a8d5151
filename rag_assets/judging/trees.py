"""Boosted trees and a calibration as a readable file, evaluated without the library that fitted."""

import json
import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rag_assets.model import ConfigurationError, hash_fields


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Tree(_Part):
    """A regression tree; the entries of a node stand at its number in each list.

    Args:
        feature: index of what a node asks about; -1 for a leaf.
        at: the left child takes what is at most this.
        left: number of the child; `right` alike.
        missing: whether what could not be measured goes left (1) or right (0).
        value: what a leaf adds to the log-odds.
    """

    feature: list[int]
    at: list[float]
    left: list[int]
    right: list[int]
    missing: list[int]
    value: list[float]


class Calibration(_Part):
    """Points between which the raw probability is made a calibrated one, along straight lines."""

    raw: list[float] = Field(min_length=2)
    probability: list[float] = Field(min_length=2)


class FittedThresholds(_Part):
    """From which probability a claim is OK and WEAK, and how that was chosen."""

    ok: float = Field(ge=0, le=1)
    weak: float = Field(ge=0, le=1)
    chosen: str


class CrossedModel(_Part):
    """A logistic model of claims whose source is in the other language.

    Args:
        weights: of the five measures of nearness, in the order of `near_…`.
    """

    weights: list[float] = Field(min_length=5, max_length=5)
    intercept: float
    thresholds: FittedThresholds


class PairProbe(_Part):
    """A linear reading of the cross-encoder's states (pair_reading.py): log-odds of support.

    Args:
        weights: one a state, in the order of `PairReading.states`, flattened.
    """

    weights: list[float] = Field(min_length=1)
    intercept: float


class SupportFile(_Part):
    """configs/support.json.

    Args:
        provenance: how it was fitted; not looked at, but shown.
        features: names in the order that trees count by.
        probe: gives the feature `pair_reading`.
        scales: by model, centre and spread of the measures of nearness.
        start: log-odds before any tree.
    """

    provenance: dict[str, Any]
    features: list[str]
    probe: PairProbe
    scales: dict[str, list[tuple[float, float]]]
    start: float
    trees: list[Tree]
    calibration: Calibration
    thresholds: FittedThresholds
    crossed: CrossedModel | None = None


@dataclass(frozen=True, slots=True)
class SupportModel:
    """A fitted file, ready to be asked."""

    file: SupportFile
    fingerprint: str

    def probability(self, row: NDArray[np.float64]) -> float:
        """Return the calibrated probability, 0 to 1, that a claim is supported.

        Args:
            row: features in the order of the file; NaN where one could not be measured.
        """
        values = [float(value) for value in row]
        odds = self.file.start + sum(_ask(tree, values) for tree in self.file.trees)
        return self.calibrate(1 / (1 + math.exp(-max(-30.0, min(30.0, odds)))))

    def calibrate(self, raw: float) -> float:
        """Return the calibrated probability of a raw one."""
        points = self.file.calibration
        return interpolate(points.raw, points.probability, raw)


def interpolate(xs: list[float], ys: list[float], x: float) -> float:
    """Return the height at `x` of straight lines through points of rising `xs`; flat outside."""
    if x <= xs[0]:
        return ys[0]
    if x >= xs[-1]:
        return ys[-1]
    i = bisect_right(xs, x)
    share = (x - xs[i - 1]) / (xs[i] - xs[i - 1])
    return ys[i - 1] + share * (ys[i] - ys[i - 1])


def _ask(tree: Tree, values: list[float]) -> float:
    node = 0
    while tree.feature[node] >= 0:
        value = values[tree.feature[node]]
        goes_left = bool(tree.missing[node]) if math.isnan(value) else value <= tree.at[node]
        node = tree.left[node] if goes_left else tree.right[node]
    return tree.value[node]


def read_support_file(path: Path, features: list[str]) -> SupportModel:
    """Return a fitted file; read again only when it changed.

    Raises:
        ConfigurationError: it is missing, damaged, or was fitted on other features.
    """
    if not path.is_file():
        raise ConfigurationError(
            f"{path} is not there; verify.scorer: support needs it. Install rag-assets anew, or "
            "set verify.scorer to similarity."
        )
    return _read(path, path.stat().st_mtime_ns, tuple(features))


@lru_cache(maxsize=2)
def _read(path: Path, _modified: int, features: tuple[str, ...]) -> SupportModel:
    try:
        text = path.read_text(encoding="utf-8")
        file = SupportFile.model_validate(json.loads(text))
    except (json.JSONDecodeError, ValidationError) as error:
        raise ConfigurationError(
            f"{path}: {str(error).splitlines()[0]}. Fit it anew with benchmarks/fit_support.py, or "
            "install rag-assets anew."
        ) from error
    if tuple(file.features) != features:
        raise ConfigurationError(
            f"{path} was fitted on other features than this version measures. Fit it anew with "
            "benchmarks/fit_support.py."
        )
    stated = file.model_dump(mode="json", exclude={"provenance"})
    return SupportModel(file, hash_fields(stated))
