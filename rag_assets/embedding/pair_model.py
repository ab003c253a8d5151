"""The model that reads pairs: does a source say it, does a sentence answer, is a passage relevant.

A cross-encoder (Nogueira and Cho, "Passage Re-ranking with BERT", 2019) on the layers of the
bundled multilingual-e5-small (`taught.py`), with a head of five outputs.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from rag_assets.embedding.bert_onnx import OnnxBertEmbedder
from rag_assets.embedding.bert_parts import PlainBert
from rag_assets.embedding.bundled import bundled_vocabulary
from rag_assets.embedding.taught import TAUGHT, read_taught
from rag_assets.model import hash_fields, usable_processors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# Of the statement or question, and of both with their marks.
MOST_OF_ONE, MOST_TOKENS = 96, 288
_BEGIN, _END = 0, 2
# Pairs that are remembered, some 1 KB each.
_MOST_KNOWN = 4_096
# Counts as code: raise it when the same pair comes to another score.
_VERSION = 1


class PairScores(NamedTuple):
    """What the model makes of a pair, as log-odds.

    Args:
        supports: that the second text says what the first one states; `contradicts` that it says
            otherwise.
        answers: that the second text answers the question that the first one asks.
        relevant: that the second is about what the first one states or asks.
    """

    supports: float
    contradicts: float
    answers: float
    relevant: float


class PairModel:
    """Reads pairs one by one, as many at a time as there are processors.

    Args:
        bert: the encoder.
        head: shape (5, hidden size): supported, contradicted, not stated; answers; relevant.
        bias: shape (5,).
        fingerprint: SHA-256 of all that decides a score.
    """

    def __init__(self, bert: PlainBert, head: "Floats", bias: "Floats", fingerprint: str) -> None:
        self._encoder = OnnxBertEmbedder(bert, TAUGHT)
        self._head, self._bias = head, bias
        self._known: dict[tuple[str, str], PairScores] = {}
        self.fingerprint = fingerprint

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[PairScores]:
        """Return the scores of (statement or question, text), in their order.

        A pair that was read before is not read again. What is too long is cut at MOST_TOKENS.
        """
        import numpy as np

        known = self._known
        wanted = [pair for pair in dict.fromkeys(pairs) if pair not in known]
        if not wanted:
            return [known[pair] for pair in pairs]
        with ThreadPoolExecutor(usable_processors()) as workers:
            states = list(workers.map(self._encoder.pool, pair_ids(wanted)))
        logits = np.round(np.stack(states) @ self._head.T + self._bias, 4).astype(float)
        if len(known) + len(wanted) > _MOST_KNOWN:
            known = {pair: known[pair] for pair in pairs if pair in known}
        known = known | dict(zip(wanted, map(_scores, logits.tolist()), strict=True))
        self._known = known
        return [known[pair] for pair in pairs]


def _scores(logits: Sequence[float]) -> PairScores:
    import numpy as np

    supported, contradicted, not_stated, answers, relevant = logits
    return PairScores(
        supported - float(np.logaddexp(contradicted, not_stated)),
        contradicted - float(np.logaddexp(supported, not_stated)),
        answers,
        relevant,
    )


def pair_ids(pairs: Sequence[tuple[str, str]]) -> list[list[int]]:
    """Return the token ids of pairs: `<s> one </s></s> other </s>`, cut to MOST_TOKENS."""
    vocabulary, _ = bundled_vocabulary()
    ones = vocabulary.ids([one for one, _ in pairs])
    others = vocabulary.ids([other for _, other in pairs])
    packed = []
    for one, other in zip(ones, others, strict=True):
        head = [_BEGIN, *one[:MOST_OF_ONE], _END, _END]
        packed.append([*head, *other[: MOST_TOKENS - len(head) - 1], _END])
    return packed


@lru_cache(maxsize=1)
def load_pair_model() -> PairModel:
    """Return the shipped model.

    Raises:
        DamagedFileError: its file is not what its card says.
    """
    bert, taught = read_taught("reader")
    fingerprint = hash_fields("pair", _VERSION, bert.fingerprint)
    return PairModel(bert, taught["head.weight"], taught["head.bias"], fingerprint)
