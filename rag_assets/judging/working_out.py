"""What a reader works out of the numbers of one sentence or table row: 110 − 85 = 25."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Literal

from rag_assets.judging.equal_numbers import units_agree
from rag_assets.judging.folding import fold
from rag_assets.judging.quantities import TIMES, Quantity, is_year, read_quantities
from rag_assets.judging.units import Unit

_KEPT_TEXTS = 20_000
# Of more numbers only those are taken together that the sentence joins (12 of 15, from 3 to 6): of
# any two of 20 numbers nearly every percentage can be made.
_MOST_OPERANDS = 6
_OF = re.compile(
    r"(?:\s?[(（][^()（）]{0,12}[)）])?\s(?:\w+\s)?(?:out\s)?of\s(?:the\s|a\stotal\sof\s|all\s)*|\s?/\s?|\s?[人例名]?中有?\s?"
)
_TO = re.compile(r"\sto\s|\s?[^，。；,.;]{0,8}[至到为]\s?")
_FROM = re.compile(
    r"\bfrom\s(?:(?:an?|the|mean|median|average|about|around|some|of|baseline)\s)*$"
    r"|[从由自][^，。；、]{0,6}$"
)
_SPREAD = re.compile(r"(?:±|\+/-|\\pm)\s?$")
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
_PLACED = frozenset({"year", "date", "month", "day of month", "ordinal", "decade", "p value", "pH"})


@lru_cache(maxsize=_KEPT_TEXTS)
def work_out(sentence: str) -> tuple[Quantity, ...]:
    """Return what follows from the numbers of one sentence or row, each with its working as text.

    Differences, sums, ratios and shares of two numbers; a change told as from … to …; what is
    doubled. Of many numbers only those that the sentence itself joins.
    """
    folded = fold(sentence)
    read = [q for q in read_quantities(sentence) if not is_spread(folded, q)]
    found = list(joined(sentence))
    if len(read) <= _MOST_OPERANDS:
        # Of a ratio (2:1) neither part is a number to calculate with.
        parts = {q for a, b in pairwise(read) if folded[a.end : b.start].strip() in {":", "："}
                 for q in (a, b)}  # fmt: skip
        free = [q for q in read if q.unit.kind not in _PLACED and not is_year(q) and q not in parts]
        found += [q for pair in combinations(free, 2) for q in _of_any(*pair)]
        found += [_made(q, 100 - q.value, _SHARE, f"100 − {q.raw:g}") for q in free
                  if q.unit.kind == "share" and 0 < q.value < 100]  # fmt: skip
    for kind in dict.fromkeys(q.unit.kind for q in read if q.unit.kind not in _PLACED):
        same = [q for q in read if q.unit.kind == kind and not is_year(q)]
        found += [_sum(same)] if len(same) > 2 else []
    found += [
        Quantity(1.0, 1.0, Unit("", "", 1), 1.0, 0, False, True, "一", *match.span())
        for match in _HAN_ONE.finditer(folded)
    ]
    for match in _MULTIPLY.finditer(folded):
        (start, end), value = match.span(), _MULTIPLIED[match.group()]
        found.append(
            Quantity(value, value, TIMES, 1.0, 0, False, True, sentence[start:end], start, end)
        )
    return tuple(found)


@lru_cache(maxsize=_KEPT_TEXTS)
def joined(sentence: str) -> tuple[Quantity, ...]:
    """Return what follows from two numbers that a sentence joins: 12 of 15, from 3 to 6."""
    folded = fold(sentence)
    read = read_quantities(sentence)
    pairs = [*pairwise(read), *zip(read, read[2:], strict=False)]
    return tuple(q for pair in pairs for q in _of_joined(folded, *pair))


def is_spread(folded: str, number: Quantity) -> bool:
    """Say whether a number is how far another is spread: 3.4 ± 0.2."""
    return _SPREAD.search(folded, 0, number.start) is not None


def _made(
    base: Quantity, value: float, unit: Unit, working: str, role: Literal["", "by"] = ""
) -> Quantity:
    raw = value / (unit.factor or 1)
    shown = f"{working} = {raw:.4g}{'' if unit.name in {'', '%'} else ' '}{unit.name}"
    return replace(
        base, value=value, raw=raw, unit=unit, step=0.0, bound=0, is_about=False, is_word=False,
        text=shown, role=role, trend=0,
    )  # fmt: skip


def _of_joined(folded: str, first: Quantity, second: Quantity) -> Iterator[Quantity]:
    between = folded[first.end : second.start]
    if _OF.fullmatch(between) and not first.unit.name and 0 < first.value < second.value:
        yield _share(first, second)
        return
    if not (_TO.fullmatch(between) and _FROM.search(folded, 0, first.start)):
        return
    if is_year(first) and is_year(second):
        years = second.raw - first.raw
        working = f"{second.raw:g} − {first.raw:g}"
        yield _made(first, 12 * years, Unit("years", "months", 12), working)
        return
    if units_agree(first.unit, second.unit) and first.value != second.value:
        yield from _changes(first, second)


def _changes(first: Quantity, second: Quantity) -> Iterator[Quantity]:
    """Yield by how much, how many times and by what share the second is another."""
    unit = second.unit if second.unit.name else first.unit
    points = _POINTS if unit.kind == "share" else unit
    more, less = (second, first) if second.value > first.value else (first, second)
    factor = unit.factor or 1
    a, b = more.value / factor, less.value / factor
    yield _made(first, more.value - less.value, points, f"{a:g} − {b:g}", "by")
    if first.value > 0 and second.value > 0:
        yield _made(first, more.value / less.value, TIMES, f"{a:g} / {b:g}")
        yield _made(first, less.value / more.value, TIMES, f"{b:g} / {a:g}")
        old = first.value / factor
        change = 100 * (more.value - less.value) / first.value
        yield _made(first, change, _SHARE, f"({a:g} − {b:g}) / {old:g}", "by")


def _of_any(first: Quantity, second: Quantity) -> Iterator[Quantity]:
    if first.unit.kind != second.unit.kind:
        return
    yield _sum([first, second])
    if first.value == second.value:
        return
    yield from _changes(first, second)
    yield from (change for change in _changes(second, first) if change.unit is _SHARE)
    less, more = sorted((first, second), key=lambda q: q.value)
    if not first.unit.kind and less.value > 1:  # so many of each
        yield _made(first, more.value / less.value, first.unit, f"{more.raw:g} / {less.raw:g}")
        yield _made(first, more.value * less.value, first.unit, f"{more.raw:g} × {less.raw:g}")
    if first.value > 0 and second.value > 0:
        yield _share(*sorted((first, second), key=lambda q: q.value))


def _sum(parts: Sequence[Quantity]) -> Quantity:
    factor = parts[0].unit.factor or 1
    working = " + ".join(f"{part.value / factor:g}" for part in parts)
    return _made(parts[0], sum(part.value for part in parts), parts[0].unit, working)


def _share(part: Quantity, whole: Quantity) -> Quantity:
    factor = whole.unit.factor or 1
    working = f"{part.value / factor:g} / {whole.value / factor:g}"
    return _made(part, 100 * part.value / whole.value, _SHARE, working)
