"""Cases that the scorer `support` is fitted on: published rows, and supported ones changed."""

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from mutated_rows import mutated_rows
from numpy.typing import NDArray
from support_sets import FITTING_SETS, read_rows

from rag_assets.judging.terms import is_chinese

Array = NDArray[np.float64]
SEED = 7
_MUTATIONS_OF_KIND = {True: 1000, False: 250}  # of sets that are fitted, and of others
# A changed claim weighs in all as much as this share of the unchanged ones.
MUTATED_MASS = 1.0


@dataclass(frozen=True)
class Case:
    """A claim with evidence to fit or to measure.

    Args:
        kind: of a mutation; `row` of what was published.
    """

    set: str
    kind: str
    claim: str
    evidence: tuple[str, ...]
    group: str
    is_supported: bool
    label: str
    is_han: bool


def cases(sets: Sequence[str]) -> list[Case]:
    """Return published rows, then mutations of the supported ones among them."""
    rows = [row for name in sets for row in read_rows(name)]
    found = [
        Case(r.set, "row", r.claim, r.evidence, f"{r.set} {r.source_doc}", r.is_supported, r.label,
             is_chinese(r.claim))
        for r in rows
    ]  # fmt: skip
    mutated = mutated_rows(sets)
    random.Random(4).shuffle(mutated)  # noqa: S311 - a drawing, not a secret
    counts: dict[tuple[str, bool], int] = defaultdict(int)
    for r in mutated:
        counts[r.kind, r.is_han] += 1
        if counts[r.kind, r.is_han] <= _MUTATIONS_OF_KIND[sets == FITTING_SETS]:
            found.append(
                Case(r.set, r.kind, r.claim, r.evidence, f"{r.set} {r.source_doc}",
                     r.kind == "unchanged", r.kind, r.is_han)
            )  # fmt: skip
    return found


def weigh(rows: Sequence[Case]) -> Array:
    """Return the weight of each case: sets alike, kinds of change alike."""
    sizes: dict[str, int] = defaultdict(int)
    for case in rows:
        sizes[_weighed_as(case)] += 1
    published = {_weighed_as(c) for c in rows if c.kind == "row"}
    changed = {_weighed_as(c) for c in rows} - published
    weights = [
        (1 / len(published) if c.kind == "row" else MUTATED_MASS / max(1, len(changed)))
        / sizes[_weighed_as(c)]
        for c in rows
    ]
    return np.array(weights) * len(rows)


def _weighed_as(case: Case) -> str:
    return case.set if case.kind == "row" else f"mutated {case.kind} {case.is_han}"
