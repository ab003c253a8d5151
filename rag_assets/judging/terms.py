"""The content words of a text, with their places: English by stem, Chinese by pairs."""

import re
from collections.abc import Container
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rag_assets.evidence.wording import content_units
from rag_assets.judging.folding import fold, spell
from rag_assets.judging.numerals import read_numerals
from rag_assets.judging.term_weights import stem, term_weight

_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u30ff"
_TOKEN = re.compile(
    rf"(?P<number>\d+(?:[.,]\d+)*)|(?P<han>[{_HAN}]+)|(?P<word>(?:(?![{_HAN}\d_])\w)+(?:['’]\w+)?\d*)"
)
# That a number is not exact says every writer in another word.
_ABOUT = re.compile(r"\b(?:about|around|approximately|approx\.?|roughly|circa|ca\.?)\s+[$€£¥]?$")
_ABOUT_LENGTH = 20
# A unit is compared with its number.
_PERCENT = re.compile(r"\s?(?:per\s?cent|pct)\b")
# Characters that bind and carry no content; a run of characters ends at them.
_HAN_FUNCTION = re.compile("[的了是在和与及也都就而]")
_KEPT_TEXTS = 20_000
# An English sentence has as many letters as three times a Chinese one.
_LETTERS_OF_A_CHARACTER = 3

TermKind = Literal["word", "han"]


@dataclass(frozen=True, slots=True)
class Term:
    """A content word or a pair of Chinese characters.

    Args:
        unit: stem or pair, compared with those of other texts.
        start: offset in the text; `end` is behind it.
        weight: how much it tells, 0 to 1.
    """

    unit: str
    start: int
    end: int
    weight: float
    kind: TermKind


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a text in their order, the weight of each unit, and the digits."""

    items: tuple[Term, ...]
    weights: dict[str, float]
    numbers: frozenset[str]

    @property
    def total(self) -> float:
        """Return the summed weight of the units."""
        return sum(self.weights.values())


def is_chinese(text: str) -> bool:
    """Say whether a text is mainly Chinese, whatever Latin names stand in it."""
    letters = [c for c in text if c.isalpha()]
    han = sum("\u3400" <= c <= "\u9fff" for c in letters)
    return _LETTERS_OF_A_CHARACTER * han > len(letters) - han


@lru_cache(maxsize=_KEPT_TEXTS)
def read_terms(text: str) -> Terms:
    """Return the content terms of a text; numbers are no terms, in digits or in words."""
    items: list[Term] = []
    numbers: set[str] = set()
    folded = fold(text)
    for numeral in read_numerals(text):
        if numeral.is_word:
            numbers.add(f"{numeral.value:g}")
            folded = _blanked(folded, numeral.start, numeral.end)
        percent = _PERCENT.match(folded, numeral.end)
        if percent is not None:
            folded = _blanked(folded, *percent.span())
        first = max(0, numeral.start - _ABOUT_LENGTH)
        about = _ABOUT.search(folded[first : numeral.start])
        if about is not None:
            folded = _blanked(folded, first + about.start(), numeral.start)
    for match in _TOKEN.finditer(folded):
        if match.lastgroup == "word":
            items += _word(match)
        elif match.lastgroup == "han":
            items += _pairs(match)
        else:
            numbers.add(match.group().replace(",", "").rstrip("."))
    return Terms(tuple(items), {item.unit: item.weight for item in items}, frozenset(numbers))


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def _word(match: re.Match[str]) -> list[Term]:
    word = match.group()
    if not _is_content(word):
        return []
    # `x's` is about x.
    bare = word.split("'")[0].split("’")[0]
    unit = stem(spell(bare))
    return [Term(unit, match.start(), match.end(), term_weight(stem(bare)), "word")]


@lru_cache(maxsize=_KEPT_TEXTS)
def _is_content(word: str) -> bool:
    return bool(content_units(word))


def _pairs(match: re.Match[str]) -> list[Term]:
    found: list[Term] = []
    run, start = match.group(), match.start()
    for piece in re.finditer(rf"[^{_HAN_FUNCTION.pattern[1:-1]}]+", run):
        text, at = piece.group(), start + piece.start()
        if len(text) == 1:
            found.append(Term(text, at, at + 1, term_weight(text), "han"))
        for i in range(len(text) - 1):
            pair = text[i : i + 2]
            found.append(Term(pair, at + i, at + i + 2, term_weight(pair), "han"))
    return found


def weighted_share(claim: Terms, units: Container[str]) -> float:
    """Return the share, 0 to 1, of the claim's weight that stands in `units`; 0 of nothing."""
    total = claim.total
    return sum(w for unit, w in claim.weights.items() if unit in units) / total if total else 0.0
