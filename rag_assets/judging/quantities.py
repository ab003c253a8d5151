"""Numbers with their units, in English and Chinese, as values that can be compared."""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from rag_assets.judging.directions import AT_LEAST, AT_MOST, LESS, MORE, trend_of
from rag_assets.judging.folding import fold
from rag_assets.judging.numerals import Numeral, read_numerals
from rag_assets.judging.units import CURRENCIES, Unit, read_scale, read_unit

_KEPT_TEXTS = 20_000
NEAR = 30  # characters before a number in which "no more than about" is looked for
_CLAUSE = 60  # and those in which “rose … to” is
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
_NAMED = re.compile(
    r"\b(?P<what>day|week|grade|stage|phase|step|level|order)s?\s(?:\d+\s(?:and|or|to)\s)?$"
)
_PH = re.compile(r"\bph\b[^.;,]{0,25}$")
_P = re.compile(
    r"(?<![a-z])p(?:[\s-]?values?)?(?:\s(?:was|were|is|are|of|at))*\s?"
    r"(?:[=<>≤≥]|(?:less|greater|smaller|larger|lower|higher) than|below|above|under|over)?\s?$"
)
_FACTOR = re.compile(r"\bfactor of\s$")
_ROUGHLY = r"(?:about|approximately|around|roughly|some|[~≈约])"
_ABOUT = re.compile(
    r"(about|around|approximately|roughly|nearly|almost|some|~|≈|c\.|circa|约|大约|近|将近|大概)[占为达有]?\s*$"
)
_AFTER_AT_LEAST = re.compile(
    r"\s?((?:or|and)\s(?:more|above|over|greater|higher|longer|older|later)|以上|多|余|\+)"
)
_AFTER_AT_MOST = re.compile(
    r"\s?((?:or|and)\s(?:less|fewer|below|under|lower|shorter|younger|earlier)"
    r"|以下|[以之]?内(?![容部科蒙心]))"
)
_SINCE = re.compile(r"\b(?:after|since)\s*$")
_UNTIL = re.compile(r"\b(?:before|until)\s*$")
# By how much something changed or differs, to what, and of what a share is one.
_BY = re.compile(
    rf"(?:\bby|\b(?:increase|decrease|reduction|rise|drop|decline|fall|gain|growth)\sof)\s"
    rf"(?:an?\s|only\s|average\sof\s|as\s\w+\sas\s|{_ROUGHLY}\s|(?:at\sleast|at\smost|{MORE}\sthan|up\sto)\s)*$"
    r"|(?:提高|增加|增长|上升|下降|降低|减少|缩短|延长|升高|上涨|下跌|[高低多少])[了出]?[近约]?\s?$"
)
_AFTER_BY = re.compile(
    rf"\s(?:{MORE}|{LESS}|faster|slower|better|worse|warmer|cooler|heavier|lighter|apart|increase|decrease|reduction|rise|drop|decline)\b"
)
_CHANGED = (
    r"(?:rose|rises?|rising|risen|f[ae]ll\w*|grew|grows?|grown|increas\w+|decreas\w+|declin\w+|"
    r"dropp?\w*|reduc\w+|rais\w+|lower\w*|climb\w+|improv\w+|went|up|down)"
)
_LEVEL = re.compile(
    rf"\b{_CHANGED}\b[^.;,]*\b(?:to|from)\s(?:{_ROUGHLY}\s)?$"
    r"|(?:提高|增加|增长|上升|下降|降低|减少|上涨|下跌|[升增降减])[到至为]了?[近约]?$"
)
_AFTER_LEVEL = re.compile(r"(?:\s?±\s?[\d.]+)?\sof\b")
_CLAUSE_END = re.compile(r"[.;,:()，。；：（）]\s?")
_IS_SPAN = re.compile("(?:以上|以下|[以之]?内|届满|期满|之?[后前]|的|起|拘留|行政)")
_ODD_HAN = re.compile("[多余](?=[万亿个名人次年月天岁倍家项种篇元克吨米斤公小平立])")
# “5–10 mg”, “3.4 ± 0.2 mg”, “5, 7 and 9 mg”: the unit stands once for all.
_RANGE = re.compile(r"\s?[-–—~～至到]{1,3}\s?|\sto\s")
_LISTED = re.compile(
    r"\s?(?:±|\+/-|\\pm)\s?|,\s|[、/]|,?\s(?:and|or|versus|vs\.?)\s|\s?[和与及或]\s?"
)
_AGE = Unit("years old", "age", 1)
_SHARE = Unit("%", "share", 1)
_ORDINAL = Unit("第", "ordinal", 1)
_P_VALUE = Unit("p", "p value", 1)
_PH_VALUE = Unit("pH", "pH", 1)
_FRACTION = Unit("", "share", 1)
TIMES = Unit("times", "times", 1)
# “Two and three times” may be two of something else.
_UNSHARED = frozenset({"persons", "occasions", "times", "ordinal", "p value", "pH", "month"})
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
        role: “by” (rose by 5), “level” (rose to 5, 5 % of), or empty where neither is said.
        trend: 1 for what rose or is higher by it, -1 for what fell, 0 where that is not said.
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
    role: Literal["", "by", "level"] = ""
    trend: int = 0


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
    # From and to when, and no limit of how long something takes.
    is_date = unit.kind not in {"time", "months"}
    least = (AT_LEAST.search(before) or (is_date and _SINCE.search(before)) or None,
             _AFTER_AT_LEAST.match(after))  # fmt: skip
    most = (AT_MOST.search(before) or (is_date and _UNTIL.search(before)) or None,
            _AFTER_AT_MOST.match(after))  # fmt: skip
    bound = int(bool(is_odd) or any(least)) - int(any(most))
    first = (
        start
        - len(before)
        + min((m.start() for m in (least[0], most[0]) if m), default=len(before))
    )
    role, trend = _role(folded, first, start, last)
    last += max((match.end() for match in (least[1], most[1]) if match), default=0)
    factor = scale * unit.factor
    value = numeral.value
    if not unit.name and numeral.is_word and 0 < value < 1 and factor == 1:
        unit, value = _FRACTION, 100 * value  # a third of them
    return Quantity(
        value * factor, value, unit, numeral.step * factor,
        bound, bool(_ABOUT.search(before)), numeral.is_word,
        text[first:last].strip(), start, last, role, trend,
    )  # fmt: skip


def _role(folded: str, first: int, start: int, end: int) -> tuple[Literal["", "by", "level"], int]:
    """Return whether a number says by how much something changed, and whether upwards."""
    before, after = folded[max(0, start - _CLAUSE) : start], folded[end : end + 12]
    is_by = _BY.search(before) or _BY.search(folded[:first]) or _AFTER_BY.match(after)
    if not is_by:
        is_level = (
            _LEVEL.search(before) or _LEVEL.search(folded[:first]) or _AFTER_LEVEL.match(after)
        )
        return ("level" if is_level else ""), 0
    clause = _CLAUSE_END.split(before)[-1] + folded[start:end]
    clause += _CLAUSE_END.split(folded[end : end + NEAR])[0]
    return "by", trend_of(clause)


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
    elif unit.name in _DAYS and _is_span_of_days(folded, numeral, last):
        unit = Unit(unit.name, "time", 86400)
    return unit, last


def _is_span_of_days(folded: str, numeral: Numeral, end: int) -> bool:
    """Say whether 五日 is how long something takes, and no day of a month."""
    if numeral.value > _LAST_DAY:
        return True
    is_date = folded.endswith(("月", "月的"), 0, numeral.start) or folded[end - 1] == "号"
    return not is_date and (numeral.is_word or _IS_SPAN.match(folded, end) is not None)


def _unit_before(folded: str, numeral: Numeral) -> Unit:
    """Return what a number without a unit is by the words before it: aged 63, p = 0.03."""
    before = _before(folded, numeral, NEAR)
    if numeral.value <= _EXACT_AGE and _AGED.search(before):
        return _AGE
    if 0 <= numeral.value <= 1 and _P.search(_before(folded, numeral, _NEAR_P)):
        return _P_VALUE
    if _PH.search(before):
        return _PH_VALUE
    if named := _NAMED.search(before):
        return Unit("", f"number of a {named['what']}", 1)
    return TIMES if _FACTOR.search(before) else Unit("", "", 1)


def _before(folded: str, numeral: Numeral, count: int) -> str:
    return folded[max(0, numeral.start - count) : numeral.start]


def _with_shared_units(found: list[Quantity], folded: str) -> list[Quantity]:
    """Give all numbers of a range or list the unit that stands behind the last: “5–10 mg”."""
    for place in range(len(found) - 2, -1, -1):
        first, second = found[place : place + 2]
        between = folded[first.end : second.start]
        is_range = _RANGE.fullmatch(between) is not None
        if not is_range and not _LISTED.fullmatch(between):
            continue
        if is_range and not second.role:
            found[place + 1] = replace(second, role=first.role, trend=first.trend)
        if is_range and first.unit == _AGE and not second.unit.name:
            found[place + 1] = replace(second, unit=_AGE)
        if first.unit.name or is_year(first) or first.unit.kind:
            continue
        if second.unit.name and second.raw and second.unit.kind not in {"year", "decade"}:
            if not is_range and second.unit.kind in _UNSHARED:
                continue
            factor = second.value / second.raw
            found[place] = replace(
                first, value=first.raw * factor, step=first.step * factor, unit=second.unit,
                text=f"{first.text} {second.unit.name}",
            )  # fmt: skip
    return found


def is_year(quantity: Quantity) -> bool:
    """Say whether a number looks like a year."""
    return (
        quantity.unit.kind in {"", "year"}
        and quantity.step == 1
        and 1500 <= quantity.raw <= 2100
        and "," not in quantity.text
    )
