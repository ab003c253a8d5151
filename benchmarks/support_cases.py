"""Cases that the scorer `support` is fitted on: published rows, supported ones changed, and
sentences of the evidence reworded (near_copies.py), as they are and changed.
"""

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from mutated_rows import mutated_rows
from mutations import KINDS, find_names, mutate
from near_copies import near_copies
from numpy.typing import NDArray
from support_sets import FITTING_SETS, read_rows

from rag_assets.judging.terms import is_chinese

Array = NDArray[np.float64]
SEED = 7
_MUTATIONS_OF_KIND = {True: 1000, False: 250}  # of sets that are fitted, and of others
_NEAR_OF_KIND = {True: 400, False: 150}
# Changed claims weigh in all as much as this share of the published ones. Of near copies only the
# Chinese are fitted, of which language there are few rows: English ones come out right without, and
# fitted they cost as many paraphrases. Half of their mass is that of unchanged ones.
MUTATED_MASS = 1.0
NEAR_MASS = 0.1
# A near copy as it is; with one thing changed it is named by the change, as other claims are.
NEAR = "near "
UNCHANGED = "unchanged"
# Left out of all fitting, to see what the rules and trees make of what they were not shown.
UNSEEN = "unit"


@dataclass(frozen=True)
class Case:
    """A claim with evidence to fit or to measure.

    Args:
        kind: of a mutation or `unchanged`, after `near ` of a near copy; `near removed` is one
            whose sentence was taken out of the evidence; `row` of what was published.
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
    random.Random(4).shuffle(mutated)
    counts: dict[tuple[str, bool], int] = defaultdict(int)
    for r in mutated:
        counts[r.kind, r.is_han] += 1
        if counts[r.kind, r.is_han] <= _MUTATIONS_OF_KIND[sets == FITTING_SETS]:
            found.append(
                Case(r.set, r.kind, r.claim, r.evidence, f"{r.set} {r.source_doc}",
                     r.kind == UNCHANGED, r.kind, r.is_han)
            )  # fmt: skip
    return found + _near_cases(sets)


def _near_cases(sets: Sequence[str]) -> list[Case]:
    copies = list(near_copies(sets))
    random.Random(5).shuffle(copies)
    names: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for copy in copies:
        names[copy.set, copy.is_han] += find_names(copy.claim, copy.is_han)
    counts: dict[tuple[str, bool], int] = defaultdict(int)
    found = []
    for copy in copies:
        chance = random.Random(f"{SEED} {copy.claim}")
        made = {UNCHANGED: (copy.claim, copy.evidence), "removed": (copy.claim, copy.rest)}
        for kind in KINDS[:-1]:
            claim = mutate(kind, copy.claim, copy.is_han, names[copy.set, copy.is_han], chance)
            if claim is not None and claim != copy.claim:
                made[kind] = (claim, copy.evidence)
        for kind, (claim, evidence) in made.items():
            counts[kind, copy.is_han] += 1
            if counts[kind, copy.is_han] <= _NEAR_OF_KIND[sets == FITTING_SETS]:
                found.append(
                    Case(copy.set, NEAR + kind, claim, evidence, f"{copy.set} {copy.source_doc}",
                         kind == UNCHANGED, NEAR + kind, copy.is_han)
                )  # fmt: skip
    return found


def is_fitted(case: Case) -> bool:
    """Say whether a case is fitted: no unseen kind, nor what stands among the rows already."""
    if case.kind.startswith(NEAR) and not case.is_han:
        return False
    return case.kind not in {UNCHANGED, UNSEEN, NEAR + UNSEEN}


def is_change(kind: str) -> bool:
    """Say of a kind whether it is a change that the fit has seen."""
    return kind.removeprefix(NEAR) not in {"row", UNCHANGED, UNSEEN}


def weigh(rows: Sequence[Case]) -> Array:
    """Return the weight of each case: sets alike, kinds of change alike."""
    sizes: dict[str, int] = defaultdict(int)
    for case in rows:
        sizes[_weighed_as(case)] += 1
    groups: dict[str, set[str]] = defaultdict(set)
    for case in rows:
        groups[_family(case)].add(_weighed_as(case))
    masses = {
        "row": 1.0, "changed": MUTATED_MASS, "near": NEAR_MASS / 2, "near changed": NEAR_MASS / 2,
    }  # fmt: skip
    weights = [masses[_family(c)] / len(groups[_family(c)]) / sizes[_weighed_as(c)] for c in rows]
    return np.array(weights) * len(rows)


def _family(case: Case) -> str:
    if case.kind == "row":
        return "row"
    if case.kind.startswith(NEAR):
        return "near" if case.is_supported else "near changed"
    return "changed"


def _weighed_as(case: Case) -> str:
    return case.set if case.kind == "row" else f"mutated {case.kind} {case.is_han}"
