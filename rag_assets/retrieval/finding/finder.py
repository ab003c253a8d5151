"""The few sentences of one document that decide a statement."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
import snowballstemmer
from numpy.typing import NDArray

from rag_assets.embedding.taught import WordPieces, load_word_pieces
from rag_assets.model import hash_fields, is_chinese
from rag_assets.publishing.content_words import content_sequence
from rag_assets.retrieval.finding.sentences import (
    PassageLike,
    Sentence,
    read_sentences,
    row_names,
    text_size,
    without_references,
)

# How near each sentence of a document is to a statement or question, by words and their meanings.
#
# Three measures, each brought to 0 to 1 over the document's sentences and added up:
# - BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) over stems and
#   pairs of Chinese characters, with frequencies of this document alone, so that no other file
#   changes it;
# - how near each word piece of the statement is to its nearest piece of the sentence, weighted, as
#   Zhang et al., "BERTScore" (ICLR 2020) compare states. The pieces' vectors are those of the
#   multilingual encoder's table, where translations are near (temperature, 温度);
# - the cosine of the weighted means of both. A neighbour that is near counts in part. It is the
#   first pass: a model reads the few that are first.

Floats = NDArray[np.float64]

_STEMMER = snowballstemmer.stemmer("english")
_K1, _B = 1.2, 0.75
# What the document never says is about as rare as what stands in it once.
_UNSAID = 0.9
# Of the better neighbour's sum. On 384 drafted sentences and 62 questions with marked sentences
# the first is one of them in 0.65 and 0.19; 171 fitted features gave 0.64 and 0.23, and over the
# first 16 0.92 and 0.69 for 0.92 and 0.65.
_NEIGHBOUR = 0.3
# What a row has for being named, beside measures that are 1 at most each.
_NAMED = 2.0
# The last bits of a product depend on the rows beside it.
_DECIMALS = 6


class Pieces(Protocol):
    """A vocabulary with vectors."""

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the pieces of each text, without marks."""

    def vectors(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Return one centred unit vector a piece."""

    def weights(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Return how much each piece tells: from 0, of what stands in every text, to 1."""


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    return str(_STEMMER.stemWord(word)) if word.isascii() and word.isalpha() else word


# u46, B7, 2a-Pd, P-001: letters with digits, parts joined by marks.
_CODE = re.compile(
    r"(?<![A-Za-z0-9])(?=[^\W_]*[-./_]?[A-Za-z0-9]*\d)(?=[-./_0-9]*[A-Za-z])"
    r"[A-Za-z0-9]+(?:[-./_][A-Za-z0-9]+)*"
)


def read_units(text: str) -> tuple[str, ...]:
    """Return the content words of a text as stems, of Chinese the pairs of characters, in order;
    then its codes, whole: u46 is more than u and 46.
    """
    codes = (code.casefold() for code in _CODE.findall(text))
    return (*(_stem(unit) for unit in content_sequence(text)), *codes)


def _name_units(text: str) -> frozenset[str]:
    """Return what names something: content words and whole codes."""
    codes = (code.casefold() for code in _CODE.findall(text))
    return frozenset((*codes, *map(_stem, content_sequence(_CODE.sub(" ", text)))))


class Nearness:
    """The sentences of one document, read once, compared with one text after another."""

    def __init__(self, sentences: Sequence[Sentence], pieces: Pieces) -> None:
        self._pieces = pieces
        texts = [sentence.read for sentence in sentences]
        self._runs = np.array([sentence.run for sentence in sentences], np.int64)
        counted = [Counter(read_units(text)) for text in texts]
        self._held: dict[str, list[tuple[int, int]]] = {}
        for number, counts in enumerate(counted):
            for unit, count in counts.items():
                self._held.setdefault(unit, []).append((number, count))
        self._names = {
            number: [_name_units(cell) for cell in cells]
            for number, sentence in enumerate(sentences)
            if (cells := row_names(sentence))
        }
        self._titles = {
            number: sentences[number].row.partition(": ")[0].split() for number in self._names
        }  # fmt: skip
        lengths = np.array([counts.total() for counts in counted], np.float64)
        self._lengths = lengths / max(float(lengths.mean()), 1.0)
        ids = [own or [0] for own in pieces.ids(texts)]
        self._bounds = np.cumsum([0, *map(len, ids)])[:-1]
        self._known, self._places = np.unique(np.concatenate(ids), return_inverse=True)
        self._vectors = pieces.vectors(self._known.tolist())
        spread = Counter(piece for own in ids for piece in set(own))
        self._rarity = {piece: self._rare(count) for piece, count in spread.items()}
        rarity = np.array([self._rarity[piece] for piece in self._known.tolist()])
        own = (pieces.weights(self._known.tolist()) * rarity)[self._places, None]
        self._means = _unit(
            np.add.reduceat(self._vectors[self._places] * own, self._bounds, axis=0)
        )

    def _rare(self, count: int) -> float:
        size = len(self._runs) + 1
        return math.log(size / (count + 0.5)) / math.log(2 * size)

    def measure(self, text: str) -> Floats:
        """Return the nearness of each sentence, shape (sentences,); at most 5.9.

        Args:
            text: without marks of references.
        """
        found = np.zeros(len(self._runs))
        for unit in sorted(set(read_units(text)) & self._held.keys()):
            held = np.array(self._held[unit])
            places, counts = held[:, 0], held[:, 1]
            longest = _K1 * (1 - _B + _B * self._lengths[places])
            found[places] += self._rare(len(held)) * counts * (_K1 + 1) / (counts + longest)
        columns = np.stack([found, *self._meanings(text)], axis=1)
        columns = np.round(columns, _DECIMALS)
        low, high = columns.min(axis=0), columns.max(axis=0)
        total = ((columns - low) / np.where(high > low, high - low, 1.0)).sum(axis=1)
        before, after = np.append(0.0, total[:-1]), np.append(total[1:], 0.0)
        ends = self._runs[1:] != self._runs[:-1]
        before[1:][ends], after[:-1][ends] = 0.0, 0.0
        total = total + _NEIGHBOUR * np.maximum(before, after) + _NAMED * self.named(text)
        near: Floats = np.round(total, _DECIMALS)
        return near

    def named(self, text: str) -> Floats:
        """Return how far a text names each row of values, shape (sentences,), 0 to 1.

        Of all that the text says and any sentence holds, the rarer the more: the cells of the row
        that are whole in the text, and the last words of its name that are.
        """
        found = np.zeros(len(self._runs))
        asked = _name_units(text)
        if not self._names or not asked:
            return found
        told: dict[int, set[str]] = {}
        for number, cells in self._names.items():
            held = set[str]().union(*(units for units in cells[1:] if units <= asked))
            words = self._titles[number]
            names = (_name_units(" ".join(words[first:])) for first in range(len(words)))
            told[number] = held | next(
                (units for units in names if units and units <= asked), set()
            )
        rare = {unit: self._rare(len(self._held[unit])) for unit in asked if unit in self._held}
        whole = sum(rare[unit] for unit in sorted(rare))
        for number, units in told.items():
            found[number] = sum(rare.get(unit, 0.0) for unit in sorted(units)) / max(whole, 1e-6)
        return np.round(found, _DECIMALS)

    def _meanings(self, text: str) -> tuple[Floats, Floats]:
        asked = list(dict.fromkeys(self._pieces.ids([text])[0])) or [0]
        vectors = self._pieces.vectors(asked)
        rarity = np.array([self._rarity.get(piece, _UNSAID) for piece in asked])
        weights = self._pieces.weights(asked) * rarity
        weights = weights / max(float(weights.sum()), 1e-6)
        near = (vectors @ self._vectors.T)[:, self._places]
        best = np.maximum.reduceat(near, self._bounds, axis=1)  # (asked, sentences)
        mean = _unit((vectors * weights[:, None]).sum(axis=0, keepdims=True))[0]
        return weights @ best, self._means @ mean


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = vectors / np.maximum(lengths, 1e-6)
    return unit


# Short runs of neighbouring sentences that hold most of what may decide a statement.

# Sentences of a window at most, and the share for which one more is not worth reading.
_MOST_SENTENCES = 12
_LEAST_GAIN = 1e-4


# The few sentences of one document that decide a statement.

# Part of what decides a verdict: raise it when the same document may be answered otherwise.
FINDING_VERSION = 5
# Passages that are shown, and about how long each may be.
MOST_WINDOWS = 3
WINDOW_TOKENS = 200
# From nearness to the likelihood that a sentence decides: the factor that makes the sentences which
# decide 384 drafted sentences likeliest.
_SHARPNESS = 4.0
# How much the facts of a statement count beside the whole, from the second window on. With them
# three windows hold all of what decides 0.888 of 240 drafted sentences, without 0.879.
_FACTS = 0.6
_BETWEEN_FACTS = re.compile(
    r",\s+(?:and|but|while|whereas|although|which|with)\s+|;\s+|\s+(?:while|whereas|but)\s+|[，；]"
)
# Shorter pieces are adverbials, not facts.
_LEAST_OF_FACT = {False: 25, True: 8}
_MOST_FACTS = 3


@dataclass(frozen=True, slots=True)
class EvidenceWindow:
    """Neighbouring sentences of a document; before a row its caption and header.

    Args:
        sentences: in the order of the document.
        decisive: index in `sentences` of the likeliest.
        share: of the likelihood to decide that the document's sentences have, 0 to 1; it is no
            probability that the statement is supported.
        shares: the same of each sentence; 0.0 of a caption or header that stands before a row.
        leads: of each sentence the indices of those without which it cannot be read.
    """

    sentences: tuple[Sentence, ...]
    decisive: int
    share: float
    shares: tuple[float, ...]
    leads: tuple[tuple[int, ...], ...]

    @property
    def text(self) -> str:
        """The sentences, verbatim; rows and items on lines of their own."""
        return self._laid_out()[0]

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Where each of the sentences stands in `text`, half-open."""
        return self._laid_out()[1]

    def _laid_out(self) -> tuple[str, tuple[tuple[int, int], ...]]:
        words, spans = "", []
        for sentence in self.sentences:
            own_line = sentence.kind != "text" or "\n" in words
            words += ("\n" if own_line else " ") * bool(words)
            spans.append((len(words), len(words) + len(sentence.text)))
            words += sentence.text
        return words, tuple(spans)

    @property
    def parts(self) -> tuple[tuple[int, int, int], ...]:
        """Where they stand: (index of the passage, start, end in it), half-open, in order."""
        return tuple(part for sentence in self.sentences for part in sentence.parts)


class EvidenceFinder:
    """Finds in documents; a function of statement and document alone, fit for verdicts.

    Args:
        pieces: a vocabulary with vectors; the bundled one where None.
    """

    def __init__(self, pieces: WordPieces | None = None) -> None:
        self._pieces = pieces or load_word_pieces()
        self.fingerprint: str = hash_fields(FINDING_VERSION, self._pieces.fingerprint)

    def open(self, passages: Sequence[PassageLike], title: str | None = None) -> "OpenDocument":
        """Return a document that was read once, to be asked for many statements.

        Args:
            passages: what can support a statement, in the order of the document.
            title: of the document; where it stands in the text, it states nothing.
        """
        return OpenDocument(read_sentences(passages, title), self._pieces)


class OpenDocument:
    """A document whose sentences are read and looked up."""

    def __init__(self, sentences: Sequence[Sentence], pieces: WordPieces) -> None:
        self.sentences = tuple(sentences)
        self._sizes = [text_size(sentence.text) for sentence in sentences]
        self._nearness = Nearness(sentences, pieces) if sentences else None

    def find(
        self, statement: str, most: int = MOST_WINDOWS, tokens: float = WINDOW_TOKENS
    ) -> tuple[EvidenceWindow, ...]:
        """Return the windows that hold the sentences which decide a statement, best first.

        Args:
            statement: as a draft has it, without anchors; references in it are not searched for.
            most: windows, from 1.
            tokens: of a window, about; one long sentence may have more.

        Returns:
            Nothing where the document states nothing.
        """
        asked = without_references(statement)
        whole = self._shares(asked)
        parted = whole
        if facts := split_facts(asked):
            of_facts = np.mean([self._shares(fact) for fact in facts], axis=0)
            parted = np.round((1 - _FACTS) * whole + _FACTS * of_facts, 9)
        # The first window is of the whole; those after it look for what each fact needs.
        # Each is the best of what those before left over, of equals the first; none overlap. A
        # sentence of more than `tokens` is a run by itself.
        taken = np.zeros(len(self.sentences), np.bool_)
        chosen: list[tuple[int, int]] = []
        for _ in range(most):
            shares = parted if chosen else whole
            best: tuple[float, int, int] | None = None
            for first in range(len(self.sentences)):
                if taken[first] or (best is not None and shares[first] < _LEAST_GAIN):
                    continue
                size, held = 0.0, 0.0
                for last in range(first, min(len(self.sentences), first + _MOST_SENTENCES)):
                    size += self._sizes[last]
                    is_apart = self.sentences[last].run != self.sentences[first].run
                    if taken[last] or is_apart or (size > tokens and last > first):
                        break
                    held += float(shares[last])
                    gain = held - _LEAST_GAIN * (last - first)
                    if best is None or gain > best[0]:
                        best = gain, first, last
            if best is None:
                break
            taken[best[1] : best[2] + 1] = True
            chosen.append((best[1], best[2]))
        return tuple(self._window(parted.tolist(), *bounds) for bounds in chosen)

    def rank(self, statement: str) -> tuple[int, ...]:
        """Return the indices of `sentences`, the likeliest to decide a statement first."""
        shares = self._shares(without_references(statement))
        return tuple(sorted(range(len(shares)), key=lambda index: (-shares[index], index)))

    def _shares(self, text: str) -> NDArray[np.float64]:
        if self._nearness is None:
            return np.zeros(0)
        near = self._nearness.measure(text)
        likely = np.exp(_SHARPNESS * (near - near.max()))
        shares: NDArray[np.float64] = np.round(likely / likely.sum(), 9)
        return shares

    def _window(self, shares: Sequence[float], first: int, last: int) -> EvidenceWindow:
        inside = range(first, last + 1)
        leads = {lead for index in inside for lead in self.sentences[index].leads}
        shown = sorted(leads | set(inside))
        best = max(inside, key=lambda index: (shares[index], -index))
        return EvidenceWindow(
            tuple(self.sentences[index] for index in shown),
            shown.index(best),
            min(1.0, round(sum(shares[index] for index in inside), 6)),
            tuple(round(shares[index], 6) if index in inside else 0.0 for index in shown),
            tuple(
                tuple(shown.index(lead) for lead in self.sentences[index].leads if lead in shown)
                for index in shown
            ),
        )


def split_facts(statement: str) -> list[str]:
    """Return two or three parts of a statement that assert something of their own, in order.

    Nothing where the statement is one fact.
    """
    least = _LEAST_OF_FACT[is_chinese(statement)]
    pieces = (piece.strip() for piece in _BETWEEN_FACTS.split(statement))
    kept = [piece for piece in pieces if len(piece) >= least]
    if len(kept) > _MOST_FACTS:
        middle = len(kept) // 2
        return [" ".join(kept[:middle]), " ".join(kept[middle:])]
    return kept if len(kept) > 1 else []
