"""Supported claims, unchanged and with one change each, as rows to fit and to measure."""

import random
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from mutations import KINDS, find_names, mutate
from rapidfuzz import fuzz
from support_sets import Row, read_rows

from rag_assets.evidence.wording import coverage
from rag_assets.judging.terms import is_chinese

# A claim that repeats its source nearly word by word is a copy: easier than what people write.
_COPY_RATIO = 92
_SEED = 12
# Of so many other documents' evidence the one with most words in common is the wrong source.
_SOURCES_TRIED = 12
_TRIES = 4


@dataclass(frozen=True)
class MutatedRow:
    """A claim with the evidence that supported it before the change.

    Args:
        kind: of `KINDS`, or `unchanged`.
    """

    kind: str
    set: str
    claim: str
    original: str
    evidence: tuple[str, ...]
    source_doc: str
    is_han: bool


def is_copy(row: Row) -> bool:
    """Say whether the claim stands in its evidence nearly as it is."""
    text = " ".join(row.evidence)
    return row.claim in text or fuzz.partial_ratio(row.claim, text) >= _COPY_RATIO


def supported_rows(sets: Iterable[str]) -> list[Row]:
    """Return the rows that are supported and no copies, each claim once a document."""
    seen: set[tuple[str, str]] = set()
    rows = []
    for name in sets:
        for row in read_rows(name):
            key = (row.claim, row.source_doc)
            if row.is_supported and key not in seen and not is_copy(row):
                seen.add(key)
                rows.append(row)
    return rows


def mutated_rows(sets: Iterable[str], per_claim: int = 1, seed: int = _SEED) -> list[MutatedRow]:
    """Return for each supported claim the row unchanged and its mutations of every kind.

    Args:
        sets: names.
        per_claim: different changes of a kind to one claim at most.
    """
    rows = supported_rows(sets)
    by_set: dict[str, list[Row]] = defaultdict(list)
    names: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for row in rows:
        by_set[row.set].append(row)
        is_han = is_chinese(row.claim)
        names[row.set, is_han] += find_names(row.claim, is_han)
    made = []
    for row in rows:
        chance = random.Random(f"{seed} {row.set} {row.id}")
        is_han = is_chinese(row.claim)
        made.append(_row("unchanged", row, row.claim, row.evidence, is_han))
        for kind in KINDS:
            if kind == "source":
                other = _other_source(row, by_set[row.set], chance)
                if other is not None:
                    made.append(_row(kind, row, row.claim, other.evidence, is_han))
                continue
            found = {
                mutate(kind, row.claim, is_han, names[row.set, is_han], chance)
                for _ in range(_TRIES * per_claim)
            }
            changed = sorted(claim for claim in found if claim and _differs(claim, row))
            made += [_row(kind, row, claim, row.evidence, is_han) for claim in changed[:per_claim]]
    return made


def _row(kind: str, row: Row, claim: str, evidence: tuple[str, ...], is_han: bool) -> MutatedRow:
    return MutatedRow(kind, row.set, claim, row.claim, evidence, row.source_doc, is_han)


def _differs(claim: str, row: Row) -> bool:
    return re.sub(r"\s", "", claim) != re.sub(r"\s", "", row.claim)


def _other_source(row: Row, rows: list[Row], chance: random.Random) -> Row | None:
    others = [r for r in rows if r.source_doc != row.source_doc and r.claim != row.claim]
    tried = chance.sample(others, min(_SOURCES_TRIED, len(others)))
    return max(tried, key=lambda r: coverage(row.claim, " ".join(r.evidence)), default=None)
