"""The few sentences of one document that decide a statement."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_assets.embedding import WordPieces, load_word_pieces
from rag_assets.finding.nearness import Nearness
from rag_assets.finding.sentences import PassageLike, Sentence, read_sentences
from rag_assets.finding.sizes import text_size
from rag_assets.finding.speakers import without_references
from rag_assets.finding.windows import choose_windows
from rag_assets.model import hash_fields, is_chinese

# Part of what decides a verdict: raise it when the same document may be answered otherwise.
FINDING_VERSION = 4
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
        chosen = choose_windows(whole, parted, self.sentences, self._sizes, most, tokens)
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
