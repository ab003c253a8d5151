"""Numbers of a text as values, so that 45 percent, 0.45 and 四成五 can find one another."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.model import HAN_RANGES

_NUMBER = re.compile(r"(?<![\w.])(?P<digits>\d+(?:,\d{3})*(?:\.\d+)?)(?!\d)")
_WORDS = {
    word: float(value)
    for value, words in enumerate(
        [
            "zero",
            "one",
            "two twice double",
            "three thrice",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
            "twenty",
        ]
    )
    for word in words.split()
}
_WORDS |= {"thirty": 30.0, "forty": 40.0, "fifty": 50.0, "sixty": 60.0, "seventy": 70.0}
_WORDS |= {"eighty": 80.0, "ninety": 90.0, "hundred": 100.0, "half": 0.5, "third": 1 / 3}
_WORDS |= {"quarter": 0.25, "dozen": 12.0}
_WORD = re.compile(
    r"\b(?:" + "|".join(sorted(_WORDS, key=len, reverse=True)) + r")\b", re.IGNORECASE
)
_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_TENS = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "亿": 100_000_000}
_HAN = re.compile(rf"[零〇一二三四五六七八九十百千万亿两]+(?![{HAN_RANGES}]?[、者些样般定])")
_KEPT = 8_192
# Values as near as this are one: a rounding in the third figure.
_NEAR = 0.006
_SMALL = 3.0


@dataclass(frozen=True, slots=True)
class Values:
    """The numbers of a text."""

    values: tuple[float, ...]

    def __bool__(self) -> bool:
        return bool(self.values)

    def share_in(self, other: "Values") -> float:
        """Return the share of these numbers that `other` has too: as they are, rounded, or a
        hundred times as large (percent); small whole numbers count half.
        """
        if not self.values:
            return 0.0
        weights = [0.5 if value <= _SMALL and value == int(value) else 1.0 for value in self.values]
        held = [any(_is_near(value, one) for one in other.values) for value in self.values]
        return sum(w for w, is_held in zip(weights, held, strict=True) if is_held) / sum(weights)


def _is_near(one: float, other: float) -> bool:
    return any(
        abs(one - other * scale) <= _NEAR * max(abs(one), abs(other * scale))
        for scale in (1.0, 100.0, 0.01)
    )


@lru_cache(maxsize=_KEPT)
def read_values(text: str) -> Values:
    """Return the numbers of a text, in digits, in English and in Chinese words, each once."""
    folded = unicodedata.normalize("NFKC", text)
    found = [float(match["digits"].replace(",", "")) for match in _NUMBER.finditer(folded)]
    found += [_WORDS[match.group().casefold()] for match in _WORD.finditer(folded)]
    for match in _HAN.finditer(folded):
        value = _han_value(match.group())
        if value is not None:
            found.append(value)
    return Values(tuple(dict.fromkeys(found)))


def _han_value(text: str) -> float | None:
    total, section, digit = 0, 0, None
    for character in text:
        if character in _DIGITS:
            digit = _DIGITS[character] if digit is None else digit * 10 + _DIGITS[character]
            continue
        unit = _TENS[character]
        if unit >= _TENS["万"]:
            if not (total or section or digit):
                return None
            total = (total + section + (digit or 0)) * unit
            section = 0
        else:
            section += (1 if digit is None else digit) * unit
        digit = None
    return float(total + section + (digit or 0))
