"""The printed words of a document, freed of what a printer adds, for comparing letter by letter."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_assets.auditing.library import CitedDocument, Passage
from rag_assets.model import CJK_RANGES

# What changes a statement and is no letter.
# Not the caret: 10⁵ is printed without.
_SIGNS = frozenset("%‰±<>=≤≥×+°$€£¥&@#*/~≈∞√∑µ")
_MINUS = frozenset("-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d")
# Points and commas of numbers, full-width ones as what they stand for.
_POINTS = {".": ".", ",": ",", "\uff0e": ".", "\uff0c": ","}
_SLASHED = str.maketrans({"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "ı": "i"})
_LATIN = re.compile(rf"(?![{CJK_RANGES}])[^\W\d_]")
_FOLDED: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Letters:
    """A text reduced to what a reader compares: letters, digits, signs that mean something.

    Ligatures, full-width forms and accents are resolved; white space, hyphens, quotation marks
    and punctuation are left out, but for what stands inside a number and before it.

    Args:
        text: the letters; `places` says for each where it stood.
    """

    text: str
    places: tuple[int, ...]


def read_letters(text: str) -> Letters:
    """Return the letters of `text`."""
    letters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        folded = _FOLDED.get(character)
        if folded is None:
            folded = _FOLDED[character] = _fold(character)
        if not folded and (character in _POINTS or character in _MINUS):
            folded = _inside_number(text, place, _POINTS.get(character, character))
        for letter in folded:
            letters.append(letter)
            places.append(place)
    return Letters("".join(letters), tuple(places))


def _fold(character: str) -> str:
    parts = unicodedata.normalize("NFKD", character).translate(_SLASHED)
    return "".join(part for part in parts if part.isalnum() or part in _SIGNS)


def _inside_number(text: str, place: int, character: str) -> str:
    """Return the point of 3.5, the comma of 3,5, the minus of -3 and of 3-5; else nothing."""
    after = text[place + 1 : place + 2]
    before = text[place - 1 : place] if place else ""
    if not after.isdigit():
        return ""
    if character in _MINUS:
        return "" if before.isalpha() else "-"
    if not before.isdigit():
        return ""
    is_thousands = character == "," and re.match(r"\d{3}(?!\d)", text[place + 1 :][:4])
    return "" if is_thousands else character


def are_spaced_alike(ours: str, mine: Sequence[int], theirs: str, places: Sequence[int]) -> bool:
    """Say whether two texts of the same letters end their words alike: “notable” is not “not able”.

    A hyphen may stand for either, and between Chinese characters nothing is written.

    Args:
        mine: where the letters stand in `ours`; `places` in `theirs`.
    """
    for (a, b), (c, d) in zip(pairwise(mine), pairwise(places), strict=True):
        gaps = ours[a + 1 : b], theirs[c + 1 : d]
        is_apart = bool(gaps[0]) != bool(gaps[1]) and (gaps[0] or gaps[1]).isspace()
        if is_apart and _LATIN.match(theirs, c) and _LATIN.match(theirs, d):
            return False
    return True


class PrintedText:
    """All text of a document in its order, as letters that know their passage.

    Args:
        document: with all its passages, those that state nothing too.
    """

    def __init__(self, document: CitedDocument) -> None:
        self.passages: list[Passage] = sorted(
            (*document.passages, *document.unsaid),
            key=lambda passage: (passage.char_start is None, passage.char_start or 0),
        )
        pieces: list[str] = []
        self._starts: list[int] = []
        self._skipped: list[int] = []
        reached, length = 0, 0
        for passage in self.passages:
            # Where chunks overlap, what stood in the one before is not read again.
            overlap = max(reached - passage.char_start, 0) if passage.char_start is not None else 0
            piece = passage.text[overlap:]
            self._starts.append(length)
            self._skipped.append(min(overlap, len(passage.text)))
            pieces.append(piece)
            length += len(piece) + 1
            reached = max(reached, passage.char_end or 0)
        self.text = "\n".join(pieces)
        self.letters = read_letters(self.text)
        self.folded = self.letters.text.casefold()
        if len(self.folded) != len(self.letters.text):
            # A letter that folds to two would shift all behind it.
            self.folded = "".join(
                letter.casefold() if len(letter.casefold()) == 1 else letter
                for letter in self.letters.text
            )

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where the letters from `start` to `end` (exclusive) stand in `text`."""
        return self.letters.places[start], self.letters.places[end - 1] + 1

    def place(self, start: int) -> tuple[Passage, int]:
        """Return the passage in which a character of `text` stands, and its offset there."""
        index = bisect_right(self._starts, start) - 1
        return self.passages[index], start - self._starts[index] + self._skipped[index]
