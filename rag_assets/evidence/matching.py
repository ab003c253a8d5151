"""Whether a library answers a question at all, by its own words and the best of what was found."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_assets.evidence.answer_weights import MATCH_FEATURES, load_answer_weights
from rag_assets.evidence.answering import ReadParents, score_sentences
from rag_assets.evidence.pack import PackMatch
from rag_assets.finding import FEATURES, KINDS, read_units, without_asking
from rag_assets.model import is_chinese

# Sentences on each side that say what a sentence speaks of.
_BESIDE = 1
_COLUMNS = {
    name: FEATURES.index(name) for name in ("answered", "clearly", "same", "similar", "means")
}
_NUMBER = len(FEATURES) + KINDS.index("number")

_SENTENCES = {
    False: "No good match: nothing in this library seems to answer the question. The passages "
    "below are the nearest ones; read them as leads, ask in other words, or add sources.",
    True: "没有好的匹配：资料库中似乎没有内容能回答这个问题。下面只是最接近的段落，仅供参考；"
    "请换一种问法，或补充资料。",
}


def measure_match(
    question: str, read: ReadParents, scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the features of a question and what was found, in the order of MATCH_FEATURES.

    Args:
        question: as it was asked.
        read: its sentences, at least one.
        scores: of the sentences by the fitted weights.
    """
    asked = without_asking(question)
    units = [frozenset(read_units(sentence.read)) for sentence in read.sentences]
    wanted = list(dict.fromkeys(read_units(asked)))
    counts = {unit: sum(unit in own for own in units) for unit in wanted}
    longest = math.log(2 * (len(units) + 1))
    rarity = {u: math.log((len(units) + 1) / (n + 0.5)) / longest for u, n in counts.items()}
    total = sum(rarity[unit] for unit in wanted) or 1.0
    best = int(np.argmax(scores))

    def share(held: Sequence[frozenset[str]]) -> float:
        return sum(rarity[u] for u in wanted if any(u in own for own in held)) / total

    around = [
        units[max(0, i - _BESIDE) : i + _BESIDE + 1] if wanted else [] for i in range(len(units))
    ]
    likely = np.exp(scores - scores.max())
    is_crossed = is_chinese(question) != is_chinese(read.sentences[best].text)
    plain = {name: float(read.features[best, column]) for name, column in _COLUMNS.items()}
    top = {
        f"best {name}": float(read.features[:, column].max()) for name, column in _COLUMNS.items()
    }
    values = {
        "across languages": float(is_crossed),
        "in Chinese": float(is_chinese(question) and not is_crossed),
        "unknown": sum(rarity[u] for u in wanted if not counts[u]) / total,
        "covered": share([units[best]]),
        "beside": share(around[best]),
        "together": max(map(share, around)),
        **plain,
        **top,
        "kind": float(read.features[best, _NUMBER]),
        "likelihood": float(likely[best] / likely.sum()),
        "score": float(scores[best]),
        "words": math.log1p(len(wanted)),
    }
    return np.array([values[name] for name in MATCH_FEATURES])


def judge_match(question: str, read: ReadParents, *, is_named: bool) -> PackMatch:
    """Return whether what was found seems to answer a question.

    Args:
        question: as it was asked.
        read: the sentences of what was found; none where nothing was.
        is_named: the question names an article of a law that is there.
    """
    weights = load_answer_weights()
    likelihood = 0.0
    if read.sentences:
        values = measure_match(question, read, score_sentences(read, weights))
        likelihood = round(1 / (1 + math.exp(-(float(values @ weights.match) + weights.bias))), 6)
    is_good = is_named or likelihood >= weights.threshold
    return PackMatch(
        is_good=is_good,
        likelihood=likelihood,
        threshold=weights.threshold,
        weights=weights.fingerprint,
        sentence=None if is_good else _SENTENCES[is_chinese(question)],
    )
