"""Units of measure, scales and number words, in English and Chinese."""

import re
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.judging.lexicon import read_words

_SI_PREFIXES = {
    "": 1.0, "k": 1e3, "h": 1e2, "d": 1e-1, "c": 1e-2, "m": 1e-3, "μ": 1e-6, "µ": 1e-6, "u": 1e-6,
    "n": 1e-9, "p": 1e-12,
}  # fmt: skip
SCALES = {
    "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "mn": 1e6, "bn": 1e9,
    "千": 1e3, "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "万亿": 1e12,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit.

    Args:
        name: as a reader would write it.
        kind: what it measures; two of a kind can be converted. Empty: not known.
        factor: of one unit in the base unit of its kind.
    """

    name: str
    kind: str
    factor: float


CURRENCIES = {
    "$": Unit("$", "dollars", 1), "us$": Unit("$", "dollars", 1), "€": Unit("€", "euros", 1),
    "£": Unit("£", "sterling", 1), "¥": Unit("¥", "yuan", 1),
}  # fmt: skip
# Beside a number these letters are more often a word or a name than a unit.
_NO_UNITS = frozenset({"a", "s", "x"})


@lru_cache(maxsize=1)
def _units() -> dict[str, tuple[str, float]]:
    """Return kind and factor of each name of a unit."""
    words = read_words()
    table: dict[str, tuple[str, float]] = {}
    for row in words["symbols"]:
        for prefix in ("", *row["prefixes"].split()):
            table[prefix + row["symbol"]] = (row["kind"], _SI_PREFIXES[prefix])
    for row in words["units"]:
        for name in row["names"].split():
            table[name.replace("-", " ")] = table[name] = (row["kind"], float(row["factor"]))
    return table


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what finds a unit behind a number, and a Chinese one before other characters."""
    names = sorted(_units(), key=lambda name: (-len(name), name))
    han = "|".join(re.escape(name) for name in names if not name.isascii())
    listed = "|".join(map(re.escape, names))
    # A unit by another: mg/kg, mmol l-1. The second part names the kind, and must be equal.
    by_another = r"(?P<per>/|\sper\s|\s(?=[a-z]{1,3}[-−]1))(?P<other>[a-zμµ]{1,8}[23²³]?)(?:[-−]1)?"
    return (
        re.compile(rf"(?P<gap>[\s-]?)(?P<unit>{listed})(?:{by_another})?(?![a-z])"),
        re.compile(rf"\s?(?P<unit>{han})"),
    )


def read_unit(folded: str, at: int) -> tuple[Unit | None, int]:
    """Return the unit that stands at an offset of a text in lower case, and where it ends."""
    full, han = _patterns()
    match = full.match(folded, at) or han.match(folded, at)
    if match is None:
        return None, at
    groups = match.groupdict()
    name, other = match["unit"], groups.get("other")
    if name in _NO_UNITS and groups.get("gap") and not other:
        return None, at
    kind, factor = _units()[name]
    if other and other not in _units():
        # "45 mg per sample" is 45 mg.
        return Unit(name, kind, factor), match.end("unit")
    if other:
        per, per_factor = _units()[other]
        kind, factor = f"{kind} per {per}", factor / per_factor
    shown = match.group().strip().removeprefix("-")
    return Unit(shown, kind, factor), match.end()


_HAN_VALUES = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}


def read_han_number(text: str) -> float | None:
    """Return the value of Chinese numerals (三十五, 二〇一九) or of digits; None of others."""
    if re.fullmatch(r"[\d.]+", text):
        return float(text) if text.count(".") <= 1 and text != "." else None
    whole, _, part = text.partition("点")
    if not any(c in "十百千" for c in whole):
        digits = [_HAN_VALUES[c] for c in whole if c in _HAN_VALUES]
        value = float("".join(map(str, digits))) if digits else 0.0
    else:
        value, digit = 0.0, 0
        for c in whole:
            if c in _HAN_VALUES:
                digit = _HAN_VALUES[c]
            else:
                value += (digit or 1) * {"十": 10, "百": 100, "千": 1000}[c]
                digit = 0
        value += digit
    decimals = "".join(str(_HAN_VALUES[c]) for c in part if c in _HAN_VALUES)
    return value + (float(f"0.{decimals}") if decimals else 0.0)


_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_NUMBER_WORDS = {word: float(value) for value, word in enumerate(_ONES.split())} | {
    word: 10.0 * value for value, word in enumerate(_TENS.split(), 2)
}
_FRACTIONS = {
    "half": 0.5, "third": 1 / 3, "thirds": 1 / 3, "quarter": 0.25, "quarters": 0.25,
    "fourths": 0.25, "fifths": 0.2, "tenths": 0.1,
    "twice": 2.0, "double": 2.0, "doubled": 2.0, "triple": 3.0, "tripled": 3.0, "once": 1.0,
}  # fmt: skip


def read_number_words(text: str) -> float | None:
    """Return the value of English number words (twenty-five, two hundred); None where unsure.

    "One" alone is more often a pronoun, and "third" or "third quarter" an order.
    """
    words = [w for w in re.split(r"[\s-]+", text.strip()) if w and w != "and"]
    if words == ["one"] or (words != ["half"] and all(word in _FRACTIONS for word in words)):
        return None
    value = 0.0
    for word in words:
        if word in _NUMBER_WORDS:
            value += _NUMBER_WORDS[word]
        elif word == "hundred":
            value = (value or 1) * 100
        elif word == "thousand":
            value = (value or 1) * 1000
        else:
            value = (value or 1) * _FRACTIONS[word]
    return value
