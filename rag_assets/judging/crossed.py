"""A claim whose source is in the other language: words in common say nothing, vectors do."""

import math
from collections.abc import Sequence

from rag_assets.judging.contract import PassageText
from rag_assets.judging.features import Answer, answer_with
from rag_assets.judging.meaning import MULTILINGUAL, Nearness, measure_nearness
from rag_assets.judging.selecting import Place, Selection, sentence_text
from rag_assets.judging.terms import is_chinese
from rag_assets.judging.trees import CrossedModel

# Encoding takes 0.05 s a sentence; passages come best first.
_MOST_PASSAGES = 3
_MOST_SENTENCES = 24


def is_crossed(claim: str, passages: Sequence[PassageText]) -> bool:
    """Say whether most passages are in another script than the claim."""
    own = is_chinese(claim)
    other = sum(is_chinese(passage.text) != own for passage in passages)
    return 2 * other > len(passages)


def answer_crossed(claim: str, passages: Sequence[PassageText]) -> tuple[Answer, Nearness]:
    """Return the sentence nearest in meaning, held against the claim, and how near it is.

    Of those in the other script: in one's own a sentence is nearer than any translation.
    """
    own = is_chinese(claim)
    places = [
        Place(p, s)
        for p, passage in enumerate(passages[:_MOST_PASSAGES])
        for s in range(len(passage.sentences))
    ]
    foreign = [p for p in places if is_chinese(sentence_text(passages, p)) != own]
    places = (foreign or places)[:_MOST_SENTENCES]
    near = {
        place: measure_nearness(claim, sentence_text(passages, place), MULTILINGUAL)
        for place in places
    }
    best = max(places, key=lambda place: round(near[place].whole + near[place].mean, 6))
    shares = (0.0, 0.0, 0.0, 0.0)
    selection = Selection(
        best, (best.sentence, best.sentence), (best,), (best,), shares, is_crossed=True
    )
    return answer_with(claim, passages, selection), near[best]


def crossed_probability(near: Nearness, model: CrossedModel) -> float:
    """Return the probability, 0 to 1, that two texts say the same in two languages."""
    measures = (near.whole, near.mean, near.lowest, near.middle_mean, near.middle_lowest)
    odds = model.intercept + sum(w * m for w, m in zip(model.weights, measures, strict=True))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))
