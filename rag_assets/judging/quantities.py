"""Numbers with their units, in English and Chinese, as values that can be compared."""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from rag_assets.judging.folding import fold
from rag_assets.judging.numerals import Numeral, read_numerals
from rag_assets.judging.units import CURRENCIES, Unit, read_scale, read_unit

_KEPT_TEXTS = 20_000
NEAR = 16  # characters before a number in which "more than" or "about" is looked for
_NEAR_P = 32
_EXACT_AGE = 120
# Below, 三年 is a time; above, 98日 is one.
_FIRST_YEAR = 1000
_LAST_DAY = 31

# 第二十条第（二）项, 第三章: where it stands, and nothing that it says.
_ADDRESS = re.compile(
    "第[零〇一二两三四五六七八九十百千\\d]+[条款项章节编目](?:之[一二三四五六七八九十]+)?"
    "|第?[（(][一二三四五六七八九十\\d]+[)）]项?"
)
# [12], [3, 7-9]: a citation, no number of the sentence.
_MARK = re.compile(r"\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]")
_BEFORE_NAME = re.compile(r"[a-z]\d*[-_/]?$")
_CURRENCY = re.compile(
    rf"(?<![a-z])(?:{'|'.join(sorted(map(re.escape, CURRENCIES), key=len, reverse=True))})\s?$"
)
# $10^6$ is no sum of money.
_FORMULA = re.compile(r"[^\s$]{0,12}\$")
_IS_LATIN = re.compile(r"[a-z]")
_DECADE = re.compile(r"['’]?s(?![a-z])")
_AGED = re.compile(r"\b(?:aged?|ages)(?:\s\w+){0,2}\s?$")
_P = re.compile(
    r"(?<![a-z])p(?:[\s-]?values?)?(?:\s(?:was|were|is|are|of|at))*\s?"
    r"(?:[=<>≤≥]|(?:less|greater|smaller|larger|lower|higher) than|below|above|under|over)?\s?$"
)
_FACTOR = re.compile(r"\bfactor of\s$")
_AT_LEAST = re.compile(
    r"(more than|over|at least|above|exceed\w*|greater than|higher than|larger than|>|≥|after|since"
    r"|(?<![不能得应可])(?:超过|多于|高于|大于)|逾"
    r"|(?:至少|最[少低短小])(?:可以|可|要|应)?(?:达到|达|为|是)?"
    r"|(?:不|不得|不能|不应|不可)(?:少于|低于|小于|短于|早于))[\s约]*$"
)
_AT_MOST = re.compile(
    r"(less than|under|at most|below|fewer than|lower than|smaller than|up to|<|≤|before|until"
    r"|不到|不足|不满|未满"
    r"|(?:至多|最[多高长大])(?:可以|可|能)?(?:达到|达|为|是)?|(?<![不能得应可])(?:低于|少于|小于)"
    r"|(?:不|不得|不能|不应|不可)(?:超过|多于|高于|大于|长于|晚于))\s*$"
)
_ABOUT = re.compile(
    r"(about|around|approximately|roughly|nearly|almost|some|~|≈|c\.|circa|约|大约|近|将近|大概)\s*$"
)
_AFTER_AT_LEAST = re.compile(r"\s?(or more|or above|以上|多|余|\+)")
_AFTER_AT_MOST = re.compile(r"\s?(or less|or fewer|or below|以下|以内)")
_ODD_HAN = re.compile("[多余](?=[万亿个名人次年月天岁倍家项种篇元克吨米斤公小平立])")
# “5–10 mg”: the unit stands once for both.
_RANGE = re.compile(r"\s?[-–—~～至到]{1,3}\s?|\s(?:to|and)\s")
_BETWEEN = re.compile(r"\b(?:between|from)\s$|[从由在自]$")
_AGE = Unit("years old", "age", 1)
_SHARE = Unit("%", "share", 1)
_ORDINAL = Unit("第", "ordinal", 1)
_P_VALUE = Unit("p", "p value", 1)
TIMES = Unit("times", "times", 1)
_DAYS = frozenset({"日", "号"})
_YEARS = frozenset({"year", "years", "yr", "yrs"})


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
        is_word: written as an English or Chinese word, or as a fraction.
        text: as it stands, with its bound and unit.
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
    marks = [match.span() for p in (_MARK, _ADDRESS) for match in p.finditer(folded)]
    found: list[Quantity] = []
    for numeral in read_numerals(text):
        if any(start <= numeral.start < end for start, end in marks):
            continue
        if found and numeral.start < found[-1].end:
            continue  # part of a unit: m/s2, 百分点
        quantity = _read(folded, text, numeral)
        if quantity is not None:
            found.append(quantity)
    return tuple(_with_shared_units(found, folded))


def _read(folded: str, text: str, numeral: Numeral) -> Quantity | None:
    start, end = numeral.start, numeral.end
    currency = None if numeral.is_word else _CURRENCY.search(folded, 0, start)
    if currency is not None and _FORMULA.match(folded, end):
        currency = None
    if not numeral.is_word and currency is None and _BEFORE_NAME.search(folded[:start]):
        return None
    scale, behind = read_scale(text, folded, end, numeral.value, is_money=currency is not None)
    behind += bool(is_odd := _ODD_HAN.match(folded, behind))
    if currency is not None:
        unit, last = CURRENCIES[currency.group().strip()], behind
        start = currency.start()
    elif numeral.is_share or numeral.is_ordinal:
        unit, last = _SHARE if numeral.is_share else _ORDINAL, behind
    else:
        unit, last = _unit(text, folded, numeral, behind)
    if not unit.name and not numeral.is_word and behind == end and _IS_LATIN.match(folded, end):
        return None  # 3D, 5HT: a name
    before, after = folded[max(0, start - NEAR) : start], folded[last : last + 10]
    least = (_AT_LEAST.search(before), _AFTER_AT_LEAST.match(after))
    most = (_AT_MOST.search(before), _AFTER_AT_MOST.match(after))
    bound = int(bool(is_odd) or any(least)) - int(any(most))
    first = (
        start
        - len(before)
        + min((m.start() for m in (least[0], most[0]) if m), default=len(before))
    )
    last += max((match.end() for match in (least[1], most[1]) if match), default=0)
    factor = scale * unit.factor
    return Quantity(
        numeral.value * factor, numeral.value, unit, numeral.step * factor,
        bound, bool(_ABOUT.search(before)), numeral.is_word,
        text[first:last].strip(), start, last,
    )  # fmt: skip


def _unit(text: str, folded: str, numeral: Numeral, at: int) -> tuple[Unit, int]:
    """Return the unit at an offset and where it ends; one without a name where there is none."""
    raw = numeral.value
    decade = _DECADE.match(folded, at)
    if decade and not numeral.is_word and raw % 10 == 0 and (raw >= 1000 or raw < 100):
        return Unit(decade.group(), "decade", 1), decade.end()  # 1990s, not seconds
    unit, last = read_unit(text, folded, at)
    if unit is None:
        return _unit_before(folded, numeral), at
    if unit.name in _YEARS and raw <= _EXACT_AGE and _AGED.search(_before(folded, numeral, NEAR)):
        unit = _AGE
    elif unit.name == "年" and raw < _FIRST_YEAR:
        unit = Unit("年", "months", 12)
    elif unit.name in _DAYS and raw > _LAST_DAY:
        unit = Unit(unit.name, "time", 86400)
    return unit, last


def _unit_before(folded: str, numeral: Numeral) -> Unit:
    """Return what a number without a unit is by the words before it: aged 63, p = 0.03."""
    before = _before(folded, numeral, NEAR)
    if numeral.value <= _EXACT_AGE and _AGED.search(before):
        return _AGE
    if 0 <= numeral.value <= 1 and _P.search(_before(folded, numeral, _NEAR_P)):
        return _P_VALUE
    return TIMES if _FACTOR.search(before) else Unit("", "", 1)


def _before(folded: str, numeral: Numeral, count: int) -> str:
    return folded[max(0, numeral.start - count) : numeral.start]


def _with_shared_units(found: list[Quantity], folded: str) -> list[Quantity]:
    """Give both ends of a range the unit that stands behind the second: “5–10 mg”."""
    for place, (first, second) in enumerate(pairwise(found)):
        between = folded[first.end : second.start]
        if not _RANGE.fullmatch(between):
            continue
        if first.unit == _AGE and not second.unit.name:
            found[place + 1] = replace(second, unit=_AGE)
        if first.unit.name or is_year(first):
            continue
        if between.strip() == "and" and not _BETWEEN.search(folded, 0, first.start):
            continue
        if second.unit.name and second.raw and second.unit.kind not in {"year", "decade"}:
            factor = second.value / second.raw
            found[place] = replace(
                first, value=first.raw * factor, step=first.step * factor, unit=second.unit,
                text=f"{first.text} {second.unit.name}",
            )  # fmt: skip
    return found


def is_year(quantity: Quantity) -> bool:
    """Say whether a number looks like a year."""
    return quantity.step == 1 and 1500 <= quantity.raw <= 2100 and "," not in quantity.text
