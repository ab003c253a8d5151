"""How sure a mean over questions is: bootstrap intervals, of figures and of differences.

Efron and Tibshirani, *An Introduction to the Bootstrap* (1993), percentile intervals; the paired
form as in Smucker, Allan, Carterette (CIKM 2007): questions are drawn, not systems.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 4_000
"""Draws; the ends of an interval then vary by about a hundredth of its length."""
SEED = 7
"""Of the draws: the same questions give the same interval."""
_LEVEL = 0.95
# Draws × questions that are held at a time: 32 MB of counts.
_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the ends of its 95 % interval."""

    mean: float
    low: float
    high: float


def mean_interval(values: Sequence[float]) -> Interval:
    """Return the mean of one figure over questions, and how sure it is.

    Raises:
        ValueError: no values.
    """
    return mean_intervals([values])[0]


def mean_intervals(figures: Sequence[Sequence[float]]) -> list[Interval]:
    """Return the interval of each of several figures over the same questions.

    Args:
        figures: one row a figure, one value a question.

    Raises:
        ValueError: no figures, no questions, or rows of unequal length.
    """
    import numpy as np

    matrix = np.asarray(figures, np.float64)
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError("an interval needs at least one figure of at least one question.")
    tail = (1 - _LEVEL) / 2
    drawn = np.concatenate(list(_means(matrix)), axis=1)
    lows, highs = np.quantile(drawn, [tail, 1 - tail], axis=1)
    return [
        Interval(float(mean), float(low), float(high))
        for mean, low, high in zip(matrix.mean(axis=1), lows, highs, strict=True)
    ]


def difference_interval(first: Sequence[float], second: Sequence[float]) -> Interval:
    """Return the mean of first - second over the same questions, and how sure it is.

    The difference is significant where the interval does not hold 0.

    Raises:
        ValueError: unequal lengths or no questions.
    """
    if len(first) != len(second):
        raise ValueError(
            f"a paired difference needs the same questions, got {len(first)} and {len(second)}."
        )
    return mean_interval([one - other for one, other in zip(first, second, strict=True)])


def _means(matrix: "NDArray[np.float64]") -> "Iterator[NDArray[np.float64]]":
    """Yield the means of the figures over questions drawn with replacement, some draws at a time.

    How often each question is drawn is one multinomial: a product gives every figure's mean.
    """
    import numpy as np

    random = np.random.default_rng(SEED)
    questions = matrix.shape[1]
    shares = np.full(questions, 1 / questions)
    at_once = max(1, _AT_ONCE // questions)
    for start in range(0, RESAMPLES, at_once):
        size = min(at_once, RESAMPLES - start)
        counts = random.multinomial(questions, shares, size=size).astype(np.float64)
        yield matrix @ counts.T / questions
