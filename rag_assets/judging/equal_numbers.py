"""Whether a claim's number is what its source says: value, unit, scale and direction."""

import math
import re

from rag_assets.judging.quantities import Quantity, is_year
from rag_assets.judging.units import Unit

# A claim may round: 44.8 % is 45 %. One that says "about" may round more (relative).
_APPROXIMATE = 0.1
# "More than 200" is said of 225, not of 400 (relative).
_BEYOND = 0.2
_EQUAL = 1e-9
# Half of them are 50 %, and 51 % may be called so; "roughly two thirds" are 65 %.
_FRACTION = 1.5
_ROUGH_FRACTION = 3.0
# Seconds of a month, and how far weeks may be from months: 12 weeks are 3 months (relative).
_MONTH = 2_629_746
_OF_A_MONTH = 0.09
_LOST_POWER = re.compile(r"[×x]\s?10\s?\d")
_YEARS = frozenset({"year", "years", "yr", "yrs"})

_TEMPERATURES = frozenset({"celsius", "fahrenheit", "kelvin"})


def units_agree(claim: Unit, source: Unit) -> bool:
    """Say whether two units measure the same kind of thing.

    One that is not known agrees with none that is, but for what counts people: “45 patients”.
    “80 degrees” may be of any scale; 三次 is “three times” in English.
    """
    kinds = {claim.kind, source.kind}
    return (
        len(kinds) == 1
        or kinds in ({"occasions", "times"}, {"", "persons"}, {"", "occasions"})
        or ("degrees" in kinds and bool(kinds & _TEMPERATURES))
    )


def is_equal(claim: Quantity, source: Quantity) -> bool:
    """Say whether the claim's number is what the source says, rounded at most.

    A claim's bound ("more than 200") holds for the same bound and for numbers just beyond it.
    """
    if _is_opposed(claim, source):
        return False
    is_limit = claim.bound == source.bound
    if _is_fraction(claim, source) or _is_fraction(source, claim) or _is_within(claim, source):
        return True
    if _is_proportion(claim, source) or _is_proportion(source, claim):
        return _is_close(claim, *_as_shares(claim, source), is_limit=is_limit)
    if _is_age(claim, source) or _is_age(source, claim) or _are_days(claim, source):
        return claim.raw == source.raw
    if units_agree(claim.unit, source.unit):
        return _is_close(claim, claim.value, source.value, claim.step, is_limit=is_limit)
    return _is_equal_in_other_units(claim, source, is_limit=is_limit)


def _is_opposed(claim: Quantity, source: Quantity) -> bool:
    """Say whether two numbers differ in limit, role or direction, whatever their values are."""
    return (
        claim.bound * source.bound < 0  # 三年以上 is not 三年以下
        or {claim.role, source.role} == {"by", "level"}  # nor is risen by 5 % risen to 5 %
        or claim.trend * source.trend < 0
        # What a source prints as 10⁵ is not 105.
        or bool(_LOST_POWER.search(claim.text) and not _LOST_POWER.search(source.text))
    )


def _is_equal_in_other_units(claim: Quantity, source: Quantity, *, is_limit: bool) -> bool:
    a, b, step = claim.value, source.value, claim.step
    kinds = claim.unit.kind, source.unit.kind
    if is_year(claim) and is_year(source) and set(kinds) == {"", "year"}:
        return claim.raw == source.raw
    if set(kinds) == {"time", "months"}:
        a, b = (q.value * (_MONTH if q.unit.kind == "months" else 1) for q in (claim, source))
        return abs(a - b) <= _OF_A_MONTH * max(a, b)
    # “5 mg of it per day” is 5 mg/day: the second part stands apart.
    if kinds[1] and kinds[0].startswith(f"{kinds[1]} per "):
        a, step = a * claim.unit.per, step * claim.unit.per
    elif kinds[0] and kinds[1].startswith(f"{kinds[0]} per "):
        b *= source.unit.per
    else:
        return False
    return _is_close(claim, a, b, step, is_limit=is_limit)


def _is_within(decade: Quantity, year: Quantity) -> bool:
    """Say whether a year lies in the 1960s, the ’60s, or the century that is called the 1900’s."""
    if decade.unit.kind != "decade" or year.unit.kind not in {"", "year"}:
        return False
    written = year.raw % 100 if decade.raw < 100 else year.raw
    years = 100 if decade.raw >= 1000 and decade.raw % 100 == 0 else 10
    return year.step == 1 and decade.raw <= written < decade.raw + years


def _is_fraction(word: Quantity, share: Quantity) -> bool:
    """Say whether a fraction in words is about a share: half of them, 51 %."""
    if word.unit.name or {word.unit.kind, share.unit.kind} != {"share"}:
        return False
    tolerated = _ROUGH_FRACTION if word.is_about else _FRACTION
    return abs(word.value - share.value) <= tolerated or (
        0 < word.bound * (share.value - word.value) <= 100 * _BEYOND
    )


def _is_proportion(bare: Quantity, share: Quantity) -> bool:
    """Say whether one number may be the other as a share of 1: 0.912 and 91.2 %."""
    return not bare.unit.kind and bare.step < 1 and 0 < bare.raw < 1 and share.unit.kind == "share"


def _as_shares(claim: Quantity, source: Quantity) -> tuple[float, float, float]:
    own = 1.0 if claim.unit.kind == "share" else 100.0
    other = 1.0 if source.unit.kind == "share" else 100.0
    return claim.value * own, source.value * other, claim.step * own


def _is_age(age: Quantity, years: Quantity) -> bool:
    return age.unit.kind == "age" and years.unit.name in _YEARS


def _are_days(claim: Quantity, source: Quantity) -> bool:
    """Say whether both are days, be it 30日 or 30天; of a date and a time the number tells."""
    kinds = {claim.unit.kind, source.unit.kind}
    days = {claim.value / (claim.raw or 1), source.value / (source.raw or 1)}
    return kinds == {"day of month", "time"} and days == {1.0, 86400.0}


def _is_close(claim: Quantity, a: float, b: float, step: float, *, is_limit: bool) -> bool:
    size = max(abs(a), abs(b), 1e-12)
    if abs(a - b) <= _EQUAL * size:
        return True
    # Of a probability only the bound is told: p = 0.003 is below 0.05.
    is_p = claim.unit.kind == "p value"
    beyond = math.inf if is_p else _BEYOND * size
    is_beyond = 0 < claim.bound * (b - a) <= beyond
    # A limit is told as it is: “at most 40” is not what “at most 36” says.
    if is_beyond and not is_year(claim) and (is_p or not is_limit):
        return True
    if claim.unit.kind in {"year", "date"}:
        return False
    if claim.is_about and abs(a - b) <= _APPROXIMATE * size:
        return True
    if claim.is_word:
        return False
    # Rounding leaves two significant places at least, or a percentage's whole number.
    return abs(a) >= 10 * step and abs(a - b) <= step / 2 * (1 + 1e-6) and not math.isclose(a, b)
