"""What the scorer `support` weighs: numbers between a claim and its sentences, each with a name."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rag_assets.judging.comparing import Comparison, compare
from rag_assets.judging.contract import PassageText
from rag_assets.judging.cues import of_kind, read_cues
from rag_assets.judging.meaning import (
    ENGLISH,
    MOST_CHARACTERS,
    MULTILINGUAL,
    Nearness,
    can_read_english,
    measure_nearness,
)
from rag_assets.judging.pair_reading import PairReader
from rag_assets.judging.selecting import Selection, claim_weights, held_units, select, sentence_text
from rag_assets.judging.terms import Terms, is_chinese, read_terms
from rag_assets.judging.trees import PairProbe

# Name → how the probability may move with it: 1 up, -1 down, 0 either way. A reader expects a
# missing number never to help; a model of few rows does not know that by itself.
FEATURES: dict[str, int] = {
    "share_best": 1,
    "share_window": 1,
    "share_gathered": 1,
    "share_passage": 1,
    "missing_heaviest": -1,
    "missing_terms": -1,
    "share_back": 0,
    "pairs_kept": 1,
    "order_kept": 1,
    "claim_terms": 0,
    "best_terms": 0,
    "numbers": 0,
    "numbers_missing": -1,
    "numbers_elsewhere": -1,
    "numbers_rival": -1,
    "units_other": -1,
    "names": 0,
    "names_missing": -1,
    "names_unsure_missing": -1,
    "names_elsewhere": -1,
    "directions_same": 1,
    "directions_opposite": -1,
    "directions_unanswered": -1,
    "negation_mismatch": -1,
    "negations_unanswered": -1,
    "negations_claim": 0,
    "negations_source": 0,
    "causes_loose": -1,
    "hedges_claim": 0,
    "hedges_source": 0,
    "extremes_missing": -1,
    "near_whole": 1,
    "near_mean": 1,
    "near_lowest": 1,
    "near_middle_mean": 1,
    "near_middle_lowest": 1,
    "cross_encoder": 1,
    "pair_reading": 1,
    "is_chinese": 0,
}
_NEARNESS = [name for name in FEATURES if name.startswith("near_")]
# Vectors of the two models lie differently: centre and spread of each measure of nearness, over
# supported claims of the fitting sets, by the model's name.
Scales = Mapping[str, Sequence[tuple[float, float]]]
# Sentences that a claim is held against: the best, those beside it, those gathered.
_TEXT_SENTENCES = 5


@dataclass(frozen=True, slots=True)
class Answer:
    """A claim with the sentences that answer it and what was found between them.

    Args:
        title: that of the document and headings, where they name something of the claim that the
            sentences do not; else empty. The models read it before the sentences.
    """

    claim: str
    selection: Selection
    sentences: tuple[str, ...]
    window: str
    comparison: Comparison
    title: str = ""


def answer(claim: str, passages: Sequence[PassageText]) -> Answer:
    """Select sentences by words in common and hold the claim against them."""
    return answer_with(claim, passages, select(read_terms(claim), passages))


def answer_with(claim: str, passages: Sequence[PassageText], selection: Selection) -> Answer:
    """Hold a claim against the selected sentences: the best, those beside it, those gathered."""
    passage = passages[selection.best.passage]
    first, last = selection.window
    beside = [passage.text[slice(*span)] for span in passage.sentences[first : last + 1]]
    gathered = [sentence_text(passages, place) for place in selection.gathered]
    sentences = tuple(dict.fromkeys([gathered[0], *beside, *gathered]))[:_TEXT_SENTENCES]
    window = passage.text[passage.sentences[first][0] : passage.sentences[last][1]]
    comparison = compare(claim, sentences, passage.context)
    is_needed = any(name.is_in_title for name in comparison.names)
    title = f"{passage.context}. " if is_needed else ""
    return Answer(claim, selection, sentences, window, comparison, title)


def measure(
    found: Answer, reader: PairReader, scales: Scales, probe: PairProbe | None
) -> NDArray[np.float64]:
    """Return the features in the order of `FEATURES`; NaN where one could not be measured.

    Args:
        scales: of the two models, by name; what has none is left as it is.
        probe: None while it is not fitted yet.
    """
    values = _words(found) | _facts(found)
    is_english = can_read_english(found.claim) and can_read_english(found.window)
    model = ENGLISH if is_english else MULTILINGUAL
    near = measure_nearness(found.claim, found.title + found.window, model)
    values |= dict(zip(_NEARNESS, _scaled(near, scales.get(model.model)), strict=True))
    if is_english:  # the cross-encoder reads no other language
        reading = reader.read(found.claim, read_beside(found))
        values["cross_encoder"] = reading.logit
        if probe is not None:
            weights = np.asarray(probe.weights, np.float32)
            values["pair_reading"] = probe.intercept + float(weights @ reading.states.ravel())
    values["is_chinese"] = float(is_chinese(found.claim))
    return np.array([values.get(name, math.nan) for name in FEATURES], np.float64)


def read_beside(found: Answer) -> str:
    """Return what the cross-encoder reads beside the claim: the sentences that answer it."""
    return (found.title + " ".join(found.sentences))[:MOST_CHARACTERS]


def _scaled(near: Nearness, scale: Sequence[tuple[float, float]] | None) -> list[float]:
    raw = (near.whole, near.mean, near.lowest, near.middle_mean, near.middle_lowest)
    if scale is None:
        return list(raw)
    return [(value - centre) / spread for value, (centre, spread) in zip(raw, scale, strict=True)]


def _words(found: Answer) -> dict[str, float]:
    claim = read_terms(found.claim)
    weights = claim_weights(claim)
    names = [name.claim.text for name in found.comparison.names if name.is_in_title]
    titled = held_units(" ".join(names)) & weights.keys()
    held = frozenset().union(titled, *map(held_units, found.sentences))
    best = read_terms(found.sentences[0])
    missing = [weight for unit, weight in weights.items() if unit not in held]
    common = sum(weight for unit, weight in best.weights.items() if unit in weights)
    added = sum(weights[unit] for unit in sorted(titled)) / (sum(weights.values()) or 1.0)
    shares = [min(1.0, share + added) for share in found.selection.shares]
    share_best, share_window, share_gathered, share_passage = shares
    return {
        "share_best": share_best,
        "share_window": share_window,
        "share_gathered": share_gathered,
        "share_passage": share_passage,
        "missing_heaviest": max(missing, default=0.0),
        "missing_terms": float(len(missing)),
        "share_back": common / best.total if best.total else 0.0,
        "pairs_kept": _pairs_kept(claim, found.sentences),
        "order_kept": _order_kept(claim, best),
        "claim_terms": float(len(weights)),
        "best_terms": float(len(best.weights)),
    }


def _pairs_kept(claim: Terms, sentences: Sequence[str]) -> float:
    own = _neighbours(claim)
    other = {pair for sentence in sentences for pair in _neighbours(read_terms(sentence))}
    return len(own & other) / len(own) if own else 0.0


def _neighbours(terms: Terms) -> set[tuple[str, str]]:
    units = [item.unit for item in terms.items]
    return set(pairwise(units))


def _order_kept(claim: Terms, best: Terms) -> float:
    """Return the share of the claim's common units that follow each other in the source too."""
    places = {item.unit: item.start for item in reversed(best.items)}
    common = [places[u] for u in dict.fromkeys(i.unit for i in claim.items) if u in places]
    steps = list(pairwise(common))
    return sum(a < b for a, b in steps) / len(steps) if steps else 0.5


def _facts(found: Answer) -> dict[str, float]:
    c = found.comparison
    own, best = read_cues(found.claim), read_cues(found.sentences[0])
    sure = [name for name in c.names if name.claim.is_sure]
    opposite = [fact.subject for fact in c.directions if fact.agreement < 0]
    mismatch = [fact.subject for fact in c.negations if fact.agreement < 0]
    return {
        "numbers": float(len(c.numbers)),
        "numbers_missing": float(sum(n.equal is None for n in c.numbers)),
        "numbers_elsewhere": float(
            sum(n.equal is not None and not n.is_in_best for n in c.numbers)
        ),
        "numbers_rival": float(sum(n.rival is not None for n in c.numbers)),
        "units_other": float(sum(n.other_unit is not None for n in c.numbers)),
        "names": float(len(c.names)),
        "names_missing": float(sum(not n.is_found for n in sure)),
        "names_unsure_missing": float(sum(not n.is_found and not n.claim.is_sure for n in c.names)),
        "names_elsewhere": float(sum(n.is_found and not n.is_in_best for n in c.names)),
        "directions_same": float(sum(fact.agreement > 0 for fact in c.directions)),
        "directions_opposite": max(opposite, default=0.0),
        "directions_unanswered": float(sum(fact.agreement == 0 for fact in c.directions)),
        "negation_mismatch": max(mismatch, default=0.0),
        "negations_unanswered": float(
            sum(bool(fact.claim) and fact.agreement <= 0 for fact in c.negations)
        ),
        "negations_claim": float(len(of_kind(own, "negation"))),
        "negations_source": float(len(of_kind(best, "negation"))),
        "causes_loose": float(any(fact.agreement < 0 for fact in c.causes)),
        "hedges_claim": float(len(of_kind(own, "hedge"))),
        "hedges_source": float(len(of_kind(best, "hedge"))),
        "extremes_missing": float(sum(fact.agreement == 0 for fact in c.extremes)),
    }
