"""Measured values, their shares, and the sets of products by which feedback is told apart."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag_assets.model import UsageError, shown_value

SIGNATURE_SEPARATOR = "|"


@dataclass(frozen=True, slots=True)
class Measured:
    """One product of a feedback.

    Args:
        product_id: of the catalogue.
        value: as measured, in the unit of the experimenter's sheet; not negative.
        fraction: of the sum of all values of the feedback, 0 to 1.
    """

    product_id: str
    value: float
    fraction: float


def fractions(values: Sequence[float]) -> list[float]:
    """Return the share of each value in their sum; all 0 where the sum is 0.

    Args:
        values: finite, not negative.
    """
    # Beyond the largest float a sum would be infinite, and each share 0.
    largest = max(values, default=0.0)
    if largest == 0:
        return [0.0 for _ in values]
    scaled = [value / largest for value in values]
    whole = math.fsum(scaled)
    return [value / whole for value in scaled]


def measure(
    values: Mapping[str, float], names: Mapping[str, str] | None = None
) -> tuple[Measured, ...]:
    """Return values with their fractions, by product, in the order given.

    Args:
        names: of products by id, for the message.

    Raises:
        UsageError: a value is negative or no number.
    """
    for product, value in values.items():
        if not math.isfinite(value) or value < 0:
            name = (names or {}).get(product, product)
            raise UsageError(
                f"the value of product {name} must be a number from 0, got {shown_value(value)}."
            )
    shares = fractions(list(values.values()))
    return tuple(
        Measured(product, float(value), share)
        for (product, value), share in zip(values.items(), shares, strict=True)
    )


def signature(product_ids: Iterable[str]) -> str:
    """Return what feedback of one set of products has in common: its sorted ids, joined."""
    return SIGNATURE_SEPARATOR.join(sorted(set(product_ids)))
