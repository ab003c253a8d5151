"""Which sentences of the passages a claim is compared with."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.judging.contract import PassageText
from rag_assets.judging.terms import Terms, read_terms

# A number in common tells as much as a middling word.
_NUMBER_WEIGHT = 0.7
# Neighbouring sentences that may support a claim together, and such from the whole passage.
WINDOW = 2
GATHERED = 3


@dataclass(frozen=True, slots=True)
class Place:
    """A sentence: its passage and its number in it."""

    passage: int
    sentence: int


@dataclass(frozen=True, slots=True)
class Selection:
    """The sentences that answer a claim best.

    Args:
        best: the one that, with its neighbour, holds most of the claim.
        window: span of the best neighbouring sentences, in the passage of `best`.
        gathered: up to three sentences of that passage that together hold most of the claim;
            the first is `best`.
        ranked: the sentences from the best on.
        shares: weighted share of the claim that `best`, `window`, all `gathered` and the whole
            passage hold, 0 to 1.
        is_crossed: found by meaning, in another language; the shares say nothing.
    """

    best: Place
    window: tuple[int, int]
    gathered: tuple[Place, ...]
    ranked: tuple[Place, ...]
    shares: tuple[float, float, float, float]
    is_crossed: bool = False


def sentence_text(passages: Sequence[PassageText], place: Place) -> str:
    """Return the sentence at a place."""
    passage = passages[place.passage]
    return passage.text[slice(*passage.sentences[place.sentence])]


def claim_weights(claim: Terms) -> dict[str, float]:
    """Return the weight of each unit and number of a claim."""
    return claim.weights | {f"#{number}": _NUMBER_WEIGHT for number in claim.numbers}


def held_units(text: str) -> frozenset[str]:
    """Return the units and numbers of a text as `claim_weights` names them."""
    terms = read_terms(text)
    return frozenset(terms.weights) | {f"#{number}" for number in terms.numbers}


def select(claim: Terms, passages: Sequence[PassageText]) -> Selection:
    """Return the sentences that hold most of the claim's words and numbers.

    Args:
        passages: at least one; the first of equals wins.
    """
    weights = claim_weights(claim)
    total = sum(weights.values()) or 1.0
    held = {
        Place(p, s): _held(weights, sentence)
        for p, passage in enumerate(passages)
        for s, sentence in enumerate(_sentences(passage))
    }

    def share(units: frozenset[str]) -> float:
        return sum(weights[unit] for unit in sorted(units)) / total

    def units_of(passage: int, window: tuple[int, int]) -> frozenset[str]:
        return frozenset().union(
            *(held[Place(passage, s)] for s in range(window[0], window[1] + 1))
        )

    def best_window(place: Place) -> tuple[int, int]:
        windows = _windows(place.sentence, len(passages[place.passage].sentences))
        return max(windows, key=lambda window: share(units_of(place.passage, window)))

    def rank_of(place: Place) -> float:
        return -share(held[place]) - share(units_of(place.passage, windows[place]))

    windows = {place: best_window(place) for place in held}
    # What a sentence leaves open its neighbour often says. Python sorts stably: equal ones stay
    # in the order of the passages.
    ranked = sorted(held, key=rank_of)
    best = ranked[0]
    # From this passage alone: a number in another one would answer any claim.
    beside = [place for place in ranked if place.passage == best.passage]
    gathered, covered = [best], held[best]
    for _ in range(GATHERED - 1):
        further = max(beside, key=lambda place: share(covered | held[place]))
        if share(covered | held[further]) <= share(covered):
            break
        gathered.append(further)
        covered |= held[further]
    whole = frozenset().union(*(held[place] for place in beside))
    return Selection(
        best,
        windows[best],
        tuple(gathered),
        tuple(ranked),
        (
            share(held[best]),
            share(units_of(best.passage, windows[best])),
            share(covered),
            share(whole),
        ),
    )


def _windows(sentence: int, count: int) -> list[tuple[int, int]]:
    """Return the first and last sentence of each run of neighbours that holds a sentence."""
    return [
        (first, min(first + WINDOW, count) - 1)
        for first in range(max(0, sentence - WINDOW + 1), sentence + 1)
    ]


def _sentences(passage: PassageText) -> list[str]:
    return [passage.text[slice(*span)] for span in passage.sentences]


def _held(weights: dict[str, float], sentence: str) -> frozenset[str]:
    return held_units(sentence) & weights.keys()
