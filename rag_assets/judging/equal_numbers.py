"""Whether a claim's number is what its source says: rounded, in another unit, or worked out."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from rag_assets.judging.folding import fold
from rag_assets.judging.quantities import TIMES, Quantity, is_year, read_quantities
from rag_assets.judging.units import Unit

_KEPT_TEXTS = 20_000
# A claim may round: 44.8 % is 45 %. One that says "about" may round more (relative).
_APPROXIMATE = 0.1
# "More than 200" is said of 225, not of 400 (relative).
_BEYOND = 0.2
_EQUAL = 1e-9
# Half of them are 50 %, and 51 % may be called so; "roughly two thirds" are 65 %.
_FRACTION = 0.015
_ROUGH_FRACTION = 0.03
_YEARS = frozenset({"year", "years", "yr", "yrs"})

_TEMPERATURES = frozenset({"celsius", "fahrenheit", "kelvin"})

_OF = re.compile(r"\s(?:out\s)?of\s(?:the\s|a\stotal\sof\s|all\s)*|\s?/\s?")
_TO = re.compile(r"\sto\s|\s?[^，。；,.;]{0,8}[至到为]\s?")
_FROM = re.compile(
    r"\bfrom\s(?:(?:an?|the|mean|median|average|about|around|some|of|baseline)\s)*$"
    r"|[从由自][^，。；、]{0,6}$"
)
_MULTIPLIED = {
    "doubled": 2.0, "doubles": 2.0, "doubling": 2.0, "tripled": 3.0, "triples": 3.0,
    "tripling": 3.0, "trebled": 3.0, "quadrupled": 4.0, "halved": 0.5,
    "翻一番": 2.0, "翻了一番": 2.0, "翻两番": 4.0, "翻了两番": 4.0,
}  # fmt: skip
_MULTIPLY = re.compile("|".join(sorted(_MULTIPLIED, key=len, reverse=True)))
# As a number of the claim it would be sought where “a” is meant.
_HAN_ONE = re.compile("(?<![第十百千统唯万])一(?=[次个名人份项种条家本张处期批])")
_SHARE = Unit("%", "share", 1)
_POINTS = Unit("percentage points", "percentage points", 1)


def units_agree(claim: Unit, source: Unit) -> bool:
    """Say whether two units measure the same kind of thing, or one is not known.

    “80 degrees” may be of any scale; 三次 is “three times” in English.
    """
    kinds = {claim.kind, source.kind}
    if kinds == {"occasions", "times"}:
        return True
    if "ordinal" in kinds:
        return len(kinds) == 1
    return "" in kinds or len(kinds) == 1 or ("degrees" in kinds and bool(kinds & _TEMPERATURES))


def is_equal(claim: Quantity, source: Quantity) -> bool:
    """Say whether the claim's number is what the source says, rounded at most.

    A claim's bound ("more than 200") holds for the same bound and for numbers just beyond it.
    """
    if claim.bound * source.bound < 0:
        return False  # 三年以上 is not 三年以下
    is_limit = claim.bound == source.bound
    if _is_fraction(claim, source) or _is_fraction(source, claim) or _is_within(claim, source):
        return True
    if _is_proportion(claim, source) or _is_proportion(source, claim):
        return _is_close(claim, *_as_shares(claim, source), is_limit=is_limit)
    if _is_age(claim, source) or _is_age(source, claim) or _are_days(claim, source):
        return claim.raw == source.raw
    if not units_agree(claim.unit, source.unit):
        return False
    # A number without a unit may stand in the other's own unit: "25 and 30 mg".
    pairs = [(claim.value, source.value, claim.step)]
    if bool(claim.unit.kind) != bool(source.unit.kind):
        factors = claim.unit.factor, source.unit.factor
        pairs.append((claim.value / factors[0], source.value / factors[1], claim.step / factors[0]))
    return any(_is_close(claim, a, b, step, is_limit=is_limit) for a, b, step in pairs)


def _is_within(decade: Quantity, year: Quantity) -> bool:
    """Say whether a year lies in the 1960s, the ’60s, or the century that is called the 1900’s."""
    if decade.unit.kind != "decade" or year.unit.kind not in {"", "year"}:
        return False
    written = year.raw % 100 if decade.raw < 100 else year.raw
    years = 100 if decade.raw >= 1000 and decade.raw % 100 == 0 else 10
    return year.step == 1 and decade.raw <= written < decade.raw + years


def _is_fraction(word: Quantity, share: Quantity) -> bool:
    if not word.is_word or not 0 < word.value < 1 or share.unit.kind != "share":
        return False
    tolerated = _ROUGH_FRACTION if word.is_about else _FRACTION
    return abs(word.value - share.value / 100) <= tolerated or (
        0 < word.bound * (share.value / 100 - word.value) <= _BEYOND
    )


def _is_proportion(bare: Quantity, share: Quantity) -> bool:
    """Say whether one number may be the other as a share of 1: 0.912 and 91.2 %."""
    return not bare.unit.name and bare.step < 1 and 0 < bare.raw < 1 and share.unit.kind == "share"


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


def find_equal(claim: Quantity, source: Sequence[Quantity]) -> Quantity | None:
    """Return the number of the source that the claim's one repeats: of the same unit, the first."""
    found = [other for other in source if is_equal(claim, other)]
    return next((other for other in found if other.unit.kind == claim.unit.kind), None) or next(
        iter(found), None
    )


@lru_cache(maxsize=_KEPT_TEXTS)
def read_derived(text: str) -> tuple[Quantity, ...]:
    """Return what a reader works out from a source: 12 of 15 is 80 %, from 3 to 6 is twofold."""
    folded = fold(text)
    found = [
        quantity
        for first, second in pairwise(read_quantities(text))
        for quantity in _of_two(text, folded, first, second)
    ]
    found += [
        Quantity(1.0, 1.0, Unit("", "", 1), 1.0, 0, False, True, "一", *match.span())
        for match in _HAN_ONE.finditer(folded)
    ]
    for match in _MULTIPLY.finditer(folded):
        (start, end), value = match.span(), _MULTIPLIED[match.group()]
        found.append(
            Quantity(value, value, TIMES, 1.0, 0, False, True, text[start:end], start, end)
        )
    return tuple(found)


def _of_two(text: str, folded: str, first: Quantity, second: Quantity) -> Iterator[Quantity]:
    between = folded[first.end : second.start]
    start, end = first.start, second.end
    whole = replace(
        first, step=0.0, bound=0, is_about=False, is_word=False, text=text[start:end], end=end
    )
    if _OF.fullmatch(between) and not first.unit.name and 0 < first.value < second.value:
        share = 100 * first.value / second.value
        yield replace(whole, value=share, raw=share, unit=_SHARE)
    if not (_TO.fullmatch(between) and _FROM.search(folded, 0, start)):
        return
    unit = second.unit if second.unit.name else first.unit
    change = abs(second.value - first.value)
    if is_year(first) and is_year(second):
        yield replace(whole, value=12 * change, raw=change, unit=Unit("years", "months", 12))
        return
    if not units_agree(first.unit, second.unit) or not change:
        return
    points = _POINTS if unit.kind == "share" else unit
    yield replace(whole, value=change, raw=change / (unit.factor or 1), unit=points)
    if first.value > 0 and second.value > 0:
        times = second.value / first.value
        yield replace(whole, value=times, raw=times, unit=TIMES)
        share = 100 * change / first.value
        yield replace(whole, value=share, raw=share, unit=_SHARE)
