"""Numbers with their units, in English and Chinese, as values that can be compared."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.judging.terms import fold
from rag_assets.judging.units import (
    CURRENCIES,
    SCALES,
    Unit,
    read_han_number,
    read_number_words,
    read_unit,
)

_KEPT_TEXTS = 20_000
# A claim may round: 44.8 % is 45 %. One that says "about" may round more (relative).
_APPROXIMATE = 0.1
# "More than 200" is said of 225, not of 400 (relative).
_BEYOND = 0.2
# What has more places counts or measures nothing: it is an identifier.
_MOST_PLACES = 60
_EQUAL = 1e-9
NEAR = 16  # characters before a number in which "more than" or "about" is looked for

# [12], [3, 7-9]: a citation, no number of the sentence.
_MARK = re.compile(r"\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]")
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_HAN_DIGITS = "零〇一二两三四五六七八九十百千"
_FOUND = re.compile(
    rf"(?P<currency>us\$|[$€£¥])?\s?(?P<number>(?<![\w.%)\]])[-−](?:{_NUMBER})|(?<![\d.]){_NUMBER})"
    r"(?P<power>\s?[×x]\s?10\s?\^?\s?[-−]?\d+)?"
    r"|(?P<percent_han>百分之)(?P<percent>[\d.]+|[零〇一二两三四五六七八九十百点]+)"
    rf"|(?P<han>(?:第)?[{_HAN_DIGITS}]+)(?=[万亿个名人次年月日天岁倍成分位家项种篇条元点])"
    r"|(?<![a-z])(?P<words>(?:(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|"
    r"sixty|seventy|eighty|ninety|hundred|thousand|half|third|thirds|quarter|quarters|fourths|fifths|tenths|twice|"
    r"double|doubled|triple|tripled|once)(?:[\s-](?:and\s)?)?)+)(?![a-z])"
)
_BEFORE_NAME = re.compile(r"[a-z]\d*[-_/]?$")
_SCALE = re.compile(r"[\s-]?(thousand|million|billion|trillion|mn|bn|万亿|百万|千万|万|亿|千)")
_IS_LATIN = re.compile(r"[a-z]")
_EXPONENT = re.compile(r"10\s?\^?\s?([-−]?\d{1,6})")
_DECADE = re.compile(r"['’]?s(?![a-z])")
_AGED = re.compile(r"\b(?:aged?|ages)(?:\s\w+){0,2}\s?$")
_AT_LEAST = re.compile(
    r"(more than|over|at least|above|exceed\w*|greater than|higher than|>|≥|after|since"
    r"|超过|逾|至少|不少于|多于|高于)[\s约]*$"
)
_AT_MOST = re.compile(
    r"(less than|under|at most|below|fewer than|lower than|up to|<|≤|before|until"
    r"|不到|低于|少于|不足|不超过|至多)\s*$"
)
_ABOUT = re.compile(
    r"(about|around|approximately|roughly|nearly|almost|some|~|≈|c\.|circa|约|大约|近|将近|大概)\s*$"
)
_AFTER_AT_LEAST = re.compile(r"\s?(or more|or above|以上|多|余|\+)")
_AFTER_AT_MOST = re.compile(r"\s?(or less|or fewer|or below|以下|以内)")
_AGE = Unit("years old", "age", 1)
# Half of them are 50 %, and 51 % may be called so.
_FRACTION = 0.015


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it stands in a text.

    Args:
        value: in the base unit of its kind (grams, metres, seconds, months …).
        raw: as written, before scale and unit.
        unit: what it counts; an empty name where that is not known.
        step: of the last written place, in the same unit: 0.1 for 44.8.
        bound: 1 for "more than", -1 for "less than", 0 for the number itself.
        is_about: whether the text says that it is rounded.
        is_word: written as an English or Chinese word.
        text: as it stands, with the unit.
    """

    value: float
    raw: float
    unit: Unit
    step: float
    bound: int
    is_about: bool
    is_word: bool
    text: str
    start: int
    end: int


@lru_cache(maxsize=_KEPT_TEXTS)
def read_quantities(text: str) -> tuple[Quantity, ...]:
    """Return the numbers of a text in their order.

    Digits inside a name (`COVID-19`, `TiO2`, `p53`) are part of the name and left out, and so are
    citation marks (`[12]`).
    """
    folded = fold(text)
    marks = [match.span() for match in _MARK.finditer(folded)]
    found: list[Quantity] = []
    for match in _FOUND.finditer(folded):
        quantity = _read(folded, text, match)
        is_mark = any(start <= match.start() < end for start, end in marks)
        if quantity is not None and not is_mark:
            found.append(quantity)
    return tuple(found)


def _read(folded: str, text: str, match: re.Match[str]) -> Quantity | None:
    start, is_word = match.start(), not match["number"]
    if match["percent"]:
        value = read_han_number(match["percent"])
        unit = Unit("%", "share", 1)
        return value if value is None else _bounded(
            folded, text, value, value, unit, 1.0, start, match.end(), is_word=True
        )  # fmt: skip
    written = _digits(folded, match) if match["number"] else _words(match)
    if written is None:
        return None
    raw, step, end = written
    if match["number"] and not match["currency"]:
        start = match.start("number")
    scale, behind = _read_scale(folded, end)
    unit, last = _unit(folded, match, raw, behind)
    if not unit.name and not is_word and behind == end and _IS_LATIN.match(folded, end):
        return None  # 3D, 5HT: a name
    factor = scale * unit.factor
    return _bounded(
        folded, text, raw * factor, raw, unit, step * factor, start, last, is_word=is_word
    )


def _digits(folded: str, match: re.Match[str]) -> tuple[float, float, int] | None:
    """Return value, last place and end of a number in digits; None where it is part of a name."""
    if not match["currency"] and _BEFORE_NAME.search(folded[: match.start("number")]):
        return None
    digits = match["number"].replace(",", "").replace("−", "-")
    exponent = _EXPONENT.search(match["power"] or "")
    power_of_ten = int(exponent[1].replace("−", "-")) if exponent else 0
    if max(len(digits), abs(power_of_ten)) > _MOST_PLACES:
        return None
    raw, step = float(digits), 10.0 ** -len(digits.partition(".")[2])
    if exponent:
        power = 10.0**power_of_ten
        raw, step = raw * power, step * power
    return raw, step, match.end()


def _words(match: re.Match[str]) -> tuple[float, float, int] | None:
    """Return value, last place and end of a number in words; None where it is none."""
    if match["han"]:
        # 一种, 一个: an article more often than a number.
        han = match["han"].removeprefix("第")
        value = None if han == "一" else read_han_number(han)
        end = match.end()
    else:
        words = match["words"].rstrip(" -")
        end = match.start() + len(words)
        is_one = words == "one" and _SCALE.match(match.string, end)
        value = 1.0 if is_one else read_number_words(words)
    return None if value is None else (value, 1.0, end)


def _unit(folded: str, match: re.Match[str], raw: float, at: int) -> tuple[Unit, int]:
    """Return the unit at an offset and where it ends; one without a name where there is none."""
    if match["currency"]:
        return CURRENCIES[match["currency"]], at
    decade = _DECADE.match(folded, at)
    if decade and raw % 10 == 0 and (raw >= 1000 or raw < 100):
        return Unit(decade.group(), "decade", 1), decade.end()  # 1990s, not seconds
    unit, last = read_unit(folded, at)
    before = folded[max(0, match.start() - NEAR) : match.start()]
    if unit is not None and unit.name in {"year", "years", "yr", "yrs"} and _AGED.search(before):
        return _AGE, last
    return (unit, last) if unit is not None else (Unit("", "", 1), at)


def _read_scale(folded: str, at: int) -> tuple[float, int]:
    match = _SCALE.match(folded, at)
    if match and not re.match(r"[a-z]", folded[match.end() : match.end() + 1]):
        return SCALES[match[1]], match.end()
    return 1.0, at


def _bounded(
    folded: str, text: str, value: float, raw: float, unit: Unit, step: float,
    start: int, end: int, *, is_word: bool,
) -> Quantity:  # fmt: skip
    before, after = folded[max(0, start - NEAR) : start], folded[end : end + 10]
    is_least = bool(_AT_LEAST.search(before) or _AFTER_AT_LEAST.match(after))
    is_most = bool(_AT_MOST.search(before) or _AFTER_AT_MOST.match(after))
    return Quantity(
        value, raw, unit, step, int(is_least) - int(is_most), bool(_ABOUT.search(before)),
        is_word, text[start:end].strip(), start, end,
    )  # fmt: skip


def is_year(quantity: Quantity) -> bool:
    """Say whether a number looks like a year."""
    return quantity.step == 1 and 1500 <= quantity.raw <= 2100 and "," not in quantity.text


def units_agree(claim: Unit, source: Unit) -> bool:
    """Say whether two units measure the same kind of thing, or one is not known."""
    return not claim.kind or not source.kind or claim.kind == source.kind


def is_equal(claim: Quantity, source: Quantity) -> bool:
    """Say whether the claim's number is what the source says, rounded at most.

    A claim's bound ("more than 200") holds for the same bound and for numbers just beyond it.
    """
    if claim.unit.kind == "decade" and source.unit.kind in {"", "year"}:
        return _is_within(claim, source)
    if _is_fraction(claim, source) or _is_fraction(source, claim):
        return True
    if not units_agree(claim.unit, source.unit):
        return False
    # A number without a unit may stand in the other's own unit: "25 and 30 mg".
    pairs = [(claim.value, source.value, claim.step)]
    if bool(claim.unit.kind) != bool(source.unit.kind):
        factors = claim.unit.factor, source.unit.factor
        pairs.append((claim.value / factors[0], source.value / factors[1], claim.step / factors[0]))
    return any(_is_close(claim, a, b, step) for a, b, step in pairs)


def _is_within(decade: Quantity, year: Quantity) -> bool:
    """Say whether a year lies in the 1960s, the ’60s, or the century that is called the 1900’s."""
    written = year.raw % 100 if decade.raw < 100 else year.raw
    years = 100 if decade.raw >= 1000 and decade.raw % 100 == 0 else 10
    return year.step == 1 and decade.raw <= written < decade.raw + years


def _is_fraction(word: Quantity, share: Quantity) -> bool:
    if not word.is_word or not 0 < word.value < 1 or share.unit.kind != "share":
        return False
    return abs(word.value - share.value / 100) <= _FRACTION or (
        0 < word.bound * (share.value / 100 - word.value) <= _BEYOND
    )


def _is_close(claim: Quantity, a: float, b: float, step: float) -> bool:
    size = max(abs(a), abs(b), 1e-12)
    if abs(a - b) <= _EQUAL * size:
        return True
    if claim.bound and 0 < claim.bound * (b - a) <= _BEYOND * size and not is_year(claim):
        return True
    if claim.unit.kind in {"year", "date"} or claim.is_word:
        return False
    if claim.is_about and abs(a - b) <= _APPROXIMATE * size:
        return True
    # Rounding leaves two significant places at least, or a percentage's whole number.
    return abs(a) >= 10 * step and abs(a - b) <= step / 2 * (1 + 1e-6) and not math.isclose(a, b)


def find_equal(claim: Quantity, source: Sequence[Quantity]) -> Quantity | None:
    """Return the first of the source's numbers that the claim's one repeats."""
    return next((other for other in source if is_equal(claim, other)), None)
