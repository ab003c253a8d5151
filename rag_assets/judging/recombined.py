"""A clause of a claim that is put together from two clauses of its source.

“In cities the number of doctors fell” holds no word but those of “in rural districts the number of
doctors fell, while in cities it remained unchanged”. Each clause of a source speaks of its own
subject; what it leaves out, the one before it says, so that a clause that is taken over whole may
be filled up from others.
"""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import dropwhile

from rag_assets.judging.clauses import FINITE, TELLING_WEIGHT, group_pieces
from rag_assets.judging.contract import Sign
from rag_assets.judging.lexicon import lexicon
from rag_assets.judging.selecting import claim_weights
from rag_assets.judging.term_weights import stem
from rag_assets.judging.terms import is_chinese, read_terms

# Share of a piece's weight that makes it one that is taken over whole.
_WHOLE = 0.85


def find_recombined(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield the words of two clauses of a sentence that one clause of a claim joins.

    English only: what stands before a Chinese comma may be a clause, or what the next one is about.
    """
    clauses = [] if is_chinese(sentence) else group_pieces(sentence)
    if len(clauses) < 2:
        return
    times = Counter(unit for clause in clauses for unit in _weights(" ".join(clause)))
    for own in group_pieces(claim):
        wanted = _weights(" ".join(own))
        taken = []
        for clause in clauses:
            every = _weights(" ".join(clause))
            telling = {u: w for u, w in every.items() if times[u] == 1 and u in wanted}
            if sum(telling.values()) >= TELLING_WEIGHT:
                taken.append((clause, telling))
        if len(taken) < 2 or any(
            _is_whole(piece, wanted, telling)
            for clause, telling in taken
            # What stands before the verb (“In mice”) says nothing by itself.
            for piece in dropwhile(lambda piece: not FINITE.search(piece.lower()), clause)
        ):
            continue
        first, second = (_shown(clause, telling) for clause, telling in taken[:2])
        told = f"The source says “{first}” and “{second}” in different clauses"
        yield Sign("words", first, second, f"{told}; see which goes with which.")


def _is_whole(piece: str, wanted: dict[str, float], telling: dict[str, float]) -> bool:
    """Say whether a claim takes a piece over whole, with something that only this clause has."""
    every = _weights(piece)
    total = sum(every.values())
    held = sum(weight for unit, weight in every.items() if unit in wanted)
    return bool(every.keys() & telling.keys()) and held >= _WHOLE * total


def _weights(text: str) -> dict[str, float]:
    weights = claim_weights(read_terms(text))
    return {unit: weight for unit, weight in weights.items() if unit not in _saying()}


@lru_cache(maxsize=1)
def _saying() -> frozenset[str]:
    """Return the units of verbs that say who says it, and nothing of the matter."""
    return frozenset(map(stem, lexicon().frames.verbs_en))


def _shown(clause: list[str], telling: dict[str, float]) -> str:
    """Return the word of a clause that tells most."""
    unit = max(telling, key=lambda u: telling[u])
    for piece in clause:
        for item in read_terms(piece).items:
            if item.unit == unit:
                return piece[item.start : item.end]
    return unit.removeprefix("#")
