"""What is known of each sentence of a document for a statement: one row a sentence, by name."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_assets.finding.meanings import DocumentMeanings, Pieces
from rag_assets.finding.sentences import Sentence
from rag_assets.finding.sizes import text_size
from rag_assets.finding.speakers import authors_speak, cites_others
from rag_assets.finding.words import DocumentWords
from rag_assets.model import is_chinese

Matrix = NDArray[np.float64]

COMPARED = (*DocumentWords.NAMES, *DocumentMeanings.NAMES)
# What a neighbour shares with the statement tells of the sentence too.
_NEIGHBOURED = ("covered", "bm25", "grams", "answered", "means")
_FIXED = ("row", "caption", "item", "place", "size", "cites", "own", "opening")
_OPENING = 0.1
# The last bits of a product depend on the rows beside it; a spread over them would be noise.
_DECIMALS = 6
_PLAIN = (
    *COMPARED,
    *(f"{name} in the document" for name in COMPARED),
    *(f"{name} in the document, squared" for name in COMPARED),
    *(f"{name} of the better neighbour" for name in _NEIGHBOURED),
    *(f"{name} of the neighbours" for name in _NEIGHBOURED),
    *_FIXED,
)
# Words tell nothing across languages, and characters tell more in Chinese: those have their own.
FEATURES = (
    *_PLAIN,
    *(f"{name}, across languages" for name in _PLAIN),
    *(f"{name}, in Chinese" for name in _PLAIN),
)


class DocumentFeatures:
    """The sentences of a document, read once, measured for one statement after another.

    Args:
        sentences: of one document, in its order.
        pieces: a vocabulary with vectors.
    """

    def __init__(self, sentences: Sequence[Sentence], pieces: Pieces) -> None:
        texts = [sentence.read for sentence in sentences]
        self._words = DocumentWords(texts)
        self._meanings = DocumentMeanings(pieces, texts)
        self._runs = np.array([sentence.run for sentence in sentences], np.int64)
        self._fixed = _describe(sentences)
        chinese = sum(is_chinese(sentence.text) for sentence in sentences)
        self._is_chinese = 2 * chinese > len(sentences)

    def measure(self, statement: str) -> Matrix:
        """Return the features, shape (sentences, len(FEATURES)).

        Args:
            statement: without marks of references.
        """
        compared = np.concatenate(
            [self._words.compare(statement), self._meanings.compare(statement)], axis=1
        )
        compared = np.round(compared, _DECIMALS)
        spread = _spread(compared)
        columns = [COMPARED.index(name) for name in _NEIGHBOURED]
        plain = np.concatenate(
            [compared, spread, spread**2, *self._beside(spread[:, columns]), self._fixed], axis=1
        )
        is_crossed = is_chinese(statement) != self._is_chinese
        in_chinese = self._is_chinese and not is_crossed
        return np.concatenate([plain, plain * is_crossed, plain * in_chinese], axis=1)

    def _beside(self, values: Matrix) -> tuple[Matrix, Matrix]:
        """Return the larger and the mean of the two neighbours' values; 0 where none is printed."""
        nothing = np.zeros((1, values.shape[1]))
        before = np.vstack([nothing, values[:-1]])
        after = np.vstack([values[1:], nothing])
        ends = self._runs[1:] != self._runs[:-1]
        before[1:][ends] = 0.0
        after[:-1][ends] = 0.0
        return np.maximum(before, after), (before + after) / 2


def _describe(sentences: Sequence[Sentence]) -> Matrix:
    firsts: dict[str, int] = {}
    # What is said again is no likelier further down: of equals the first decides.
    numbers = [firsts.setdefault(each.read, number) for number, each in enumerate(sentences)]
    rows = [
        (
            sentence.kind == "row",
            sentence.kind == "caption",
            sentence.kind == "item",
            number / len(sentences),
            np.log1p(text_size(sentence.text)),
            cites_others(sentence.text),
            authors_speak(sentence.text),
            number / len(sentences) < _OPENING,
        )
        for number, sentence in zip(numbers, sentences, strict=True)
    ]
    return np.array(rows, np.float64).reshape(len(sentences), len(_FIXED))


def _spread(values: Matrix) -> Matrix:
    low, high = values.min(axis=0), values.max(axis=0)
    spread: Matrix = (values - low) / np.where(high > low, high - low, 1.0)
    return spread
