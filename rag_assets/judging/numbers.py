"""The numbers of a statement held against those of the sentences that decide it."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Literal

from rag_assets.judging.quantities import (
    CURRENCIES,
    TIMES,
    Quantity,
    Unit,
    find_unit,
    is_year,
    read_quantities,
)
from rag_assets.judging.words import fold
from rag_assets.model import is_chinese
from rag_assets.publishing.content_words import content_stems

# Whether a claim's number is what its source says: value, unit, scale and direction.

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


# What a reader works out of the numbers of one sentence or table row: 110 − 85 = 25.

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


# The numbers of a statement held against those of the sentences that decide it.

# Where something stands or when it was, in examples of one's own as often as in the source.
_CHANGES = frozenset({"share", "percentage points", "times"})
_SPANS = frozenset({"time", "months", "age", "year", "decade"})
_MONEY = frozenset({unit.kind for unit in CURRENCIES.values()} | {"cents"})
_SHOWN_PLACES = frozenset({"ordinal", "day of month", "month", "date"})
# “(mg/kg)”, “in seconds”: the unit of numbers that stand elsewhere, in the rows below.
_NAMED_UNIT = re.compile(
    r"(?:[(（\[]\s?|\bin\s)(?P<name>[A-Za-zμµΩ%‰°℃]+)(?:\s?/\s?(?P<other>[A-Za-zμµ]+))?"
    r"(?=\s?[)）\],;]|\s|$)"
)
# Share of the words of the likeliest sentence from which another decides, too.
_LIKE_THE_BEST = 1.0
# A sum, of numbers that stand apart as often as not.
_IS_SUM = re.compile(
    r"\b(?:in (?:all|total|sum)|total\w*|altogether|together|combined)\b"
    r"|合计|总[共计]|[一总]共|连同|相加"
)
_CLAUSE_END = re.compile(r"[,;:，；：]\s|[，；：、]|\s(?=(?:and|but|while|whereas)\s)")
# What stands between two items of a list, each with its number.
_PART_END = re.compile(
    r"[,;:]\s|\.\s(?=[A-Z])|[，；：。、]|[和与而比]"
    r"|\s(?=(?:and|but|while|whereas|than|versus|vs\.?|against|compared)\s)"
)
_IN_ORDER = re.compile(r"\brespectively\b|分别")
# Share of a statement's words that the sentence which decides it holds at least.
_ENOUGH = 0.4
_OPENS = re.compile(r"\s?[(（]\s?")
_NOUN = re.compile(r"[\s-]*(?P<noun>[^\d.,;:()（），。；：]{1,40})")


@dataclass(frozen=True, slots=True)
class NumberComparison:
    """How the numbers of a statement compare with the sentences that decide it.

    Args:
        agreeing: each with what says so: the number that it repeats, rounds or converts, or the
            working that leads to it.
        differing: each with the number that the deciding sentence has in its place.
        unconfirmed: those of the statement that nothing shown says, differing ones among them.
    """

    agreeing: tuple[tuple[Quantity, Quantity], ...]
    differing: tuple[tuple[Quantity, Quantity], ...]
    unconfirmed: tuple[Quantity, ...]


# Tray u46: Weight (g) = 12.4; Count = 3
_ROW_NAME = re.compile(r"([^;=]{1,100}): (?=[^;=]* = )")


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence with its numbers.

    Args:
        written: as they are read without the units of headers; `numbers` also with these.
    """

    text: str
    words: frozenset[str]
    written: tuple[Quantity, ...]
    numbers: tuple[Quantity, ...]


_Place = tuple[_Sentence, Quantity]


def compare_numbers(statement: str, sentences: Sequence[str]) -> NumberComparison:
    """Compare each number of a statement with the sentences that decide it.

    Args:
        statement: what is said, without who says it.
        sentences: all that are shown: sentences and table rows with their headers.
    """
    stated = read_quantities(statement)
    shown = _read(sentences)
    given = [{q for q in stated if any(is_equal(q, o) for o in each.numbers)} for each in shown]
    decides = {own: _deciding(statement, own, shown, given) for own in stated if shown}
    agreeing = {own: equal for own, each in decides.items() if (equal := _find_equal(own, [each]))}
    differing = []
    for own, each in decides.items():
        if own in agreeing:
            continue
        taken = [*agreeing.values()]
        slip = _find_slip(own, [each])
        beside = None if slip else _find_equal(own, shown)
        if beside is not None:
            agreeing[own] = beside
            continue
        taken = [*agreeing.values()]
        rival = slip or _find_rival(statement, own, each, taken) or _find_slip(own, shown)
        if rival is not None:
            differing.append((own, rival))
    for own, rival in _exchanged_pairs(statement, decides, agreeing):
        agreeing.pop(own)
        differing.append((own, rival))
    said = _Sentence(statement, _words(statement), stated, stated)
    for own, rival in _misplaced(said, decides, shown):
        if own not in dict(differing):
            agreeing.pop(own, None)
            differing.append((own, rival))
    unconfirmed = tuple(own for own in stated if own not in agreeing)
    return NumberComparison(tuple(agreeing.items()), tuple(differing), unconfirmed)


def _read(sentences: Sequence[str]) -> list[_Sentence]:
    units = dict.fromkeys(unit for text in sentences for unit in named_units(text))
    read = ((text, _written(text)) for text in sentences)
    return [
        _Sentence(text, _words(text), written, (*written, *_in_named_units(text, written, units)))
        for text, written in read
    ]


def _written(text: str) -> tuple[Quantity, ...]:
    folded = fold(text)
    return tuple(q for q in read_quantities(text) if not is_spread(folded, q))


def _in_named_units(
    text: str, read: Sequence[Quantity], units: Sequence[Unit] | dict[Unit, None]
) -> Iterator[Quantity]:
    """Yield the numbers without a unit in each that is named; of a row those of its cells."""
    is_row = _ROW_NAME.match(text) is not None
    bare = [
        q
        for q in read
        if not q.unit.kind
        and not q.is_word
        and not is_year(q)
        and (not is_row or text[: q.start].rstrip("-−+<>≤≥~± ").endswith("="))
    ]
    for q in bare:
        for unit in units:
            yield replace(q, value=q.raw * unit.factor, step=q.step * unit.factor, unit=unit)


def named_units(text: str) -> list[Unit]:
    """Return the units that a header names: “(mg/kg)”, “in seconds”."""
    found = []
    for match in _NAMED_UNIT.finditer(text):
        unit = find_unit(match["name"])
        per = find_unit(match["other"]) if match["other"] else None
        if unit is None or (len(match["name"]) == 1 and not per and match["name"] not in "%‰gK"):
            continue
        if per is not None:
            unit = Unit(f"{unit.name}/{per.name}", f"{unit.kind} per {per.kind}",
                        unit.factor / per.factor, per.factor)  # fmt: skip
        found.append(unit)
    return found


# B7, 2a-Pd, but no 16h.
_CODE = re.compile(
    r"(?<![\w.])(?!\d+[a-z]{1,3}\b)(?=\w*[-./]?\w*\d)(?=[-./\d]*[a-z])[a-z\d]+(?:[-./][a-z\d]+)*"
)


def _words(text: str) -> frozenset[str]:
    words = frozenset(w for w in content_stems(text) if not any(c.isdigit() for c in w))
    # In rows that differ in a code alone it is the code that tells which is meant.
    return words | frozenset(_CODE.findall(text.casefold()))


def _deciding(
    statement: str, own: Quantity, shown: Sequence[_Sentence], given: Sequence[set[Quantity]]
) -> _Sentence:
    """Return the sentence that decides a number: it shares most with the clause of the number, with
    the whole statement and of its other numbers.

    Args:
        given: of each sentence shown, the statement's numbers that it has.
    """
    begin = max((m.end() for m in _CLAUSE_END.finditer(statement, 0, own.start)), default=0)
    after = _CLAUSE_END.search(statement, own.end)
    near = _words(statement[begin : after.start() if after else len(statement)])
    shares = [_shares(words, shown) for words in (near, _words(statement))]
    common = [len(each - {own}) for each in given]

    def rank(place: int) -> tuple[float, bool]:
        is_alike = any(_has_same_kind(own, other) for other in shown[place].numbers)
        return shares[0][place] + shares[1][place] + common[place], is_alike

    return shown[max(range(len(shown)), key=rank)]


def _shares(words: frozenset[str], shown: Sequence[_Sentence]) -> list[float]:
    """Return how much of some words each sentence holds; what all hold counts little."""
    weights = {w: 1 / n for w in words if (n := sum(w in each.words for each in shown))}
    return [sum(weights[w] for w in words & each.words) for each in shown]


def deciding_sentence(statement: str, sentences: Sequence[str]) -> str | None:
    """Return the sentence that shares most with a statement; None where it shares little."""
    words = _words(statement)
    shown = [_Sentence(text, _words(text), (), ()) for text in sentences]
    shares = _shares(words, shown)
    best = max(range(len(shown)), key=shares.__getitem__, default=None)
    if best is None or (len(shown) > 1 and len(words & shown[best].words) < _ENOUGH * len(words)):
        return None
    return sentences[best]


def _find_equal(own: Quantity, sentences: Sequence[_Sentence]) -> Quantity | None:
    found = [q for each in sentences for q in each.numbers if is_equal(own, q)]
    # Of two limits the difference is none: 五日以上十五日以下 allows no 十日以下.
    found = found or [
        q
        for each in sentences
        for q in work_out(each.text)
        if is_equal(own, q) and (q.role != "by" or own.role == "by" or not own.bound)
    ]
    return next((q for q in found if q.unit.kind == own.unit.kind), next(iter(found), None))


def _find_slip(own: Quantity, sentences: Sequence[_Sentence]) -> Quantity | None:
    """Return the number of equal digits that differs in unit, scale, bound or direction."""
    if own.unit.kind in _SHOWN_PLACES or (own.unit.kind and not own.unit.name):
        return None  # of a half the digits say nothing
    for each in sentences:
        made = work_out(each.text) if own.unit.kind in _CHANGES else ()
        for other in (
            *each.numbers,
            *(q for q in made if q.unit.kind in _CHANGES and q.role == "by"),
        ):
            if _has_digits_of(own, other) and _is_slip(own, other):
                return other
    return None


def _find_rival(
    statement: str, own: Quantity, decides: _Sentence, taken: Sequence[Quantity]
) -> Quantity | None:
    """Return the number that the source has where a statement has one that it does not confirm."""
    if own.unit.kind in _SHOWN_PLACES:
        return None
    is_made = own.role == "by" or (
        _IS_SUM.search(statement) is not None and _IS_SUM.search(decides.text) is None
    )
    rivals = [
        other
        for other in (*decides.numbers, *joined(decides.text))
        if _has_same_kind(own, other)
        and not _is_within_limit(own, other)
        and not any(is_equal(other, q) for q in taken)
        and (other.role == "by" or not is_made)
    ]
    if not _is_count(own):
        return next(iter(rivals), None)
    noun = _noun(statement, own)
    named = max(rivals, key=lambda q: len(noun & _noun(decides.text, q)), default=None)
    return named if named is not None and noun & _noun(decides.text, named) else None


def _misplaced(
    said: _Sentence, decides: Mapping[Quantity, _Sentence], shown: Sequence[_Sentence]
) -> Iterator[tuple[Quantity, Quantity]]:
    """Yield the numbers of a statement that are those of another row, group or date, each with the
    one that the source has there.
    """
    places = {
        own: [(each, q) for each in shown for q in each.written if _is_told(own, q)]
        for own in said.written
        if own.unit.kind not in _SHOWN_PLACES and not is_year(own)
    }
    found = dict(_exchanged(said, places))
    told = {q for each in places.values() for _, q in each}
    for own, held in places.items():
        each = decides[own]
        others = [o for o in places if o is not own and _has_same_kind(own, o)]
        gives_others = any(place is each for o in others for place, _ in places[o])
        free = [q for q in each.written if q not in told]
        rival = found.get(own) or _find_rightful(own, said, (each, free), held, gives_others)
        if rival is not None:
            yield own, rival


def _exchanged_pairs(
    statement: str, decides: Mapping[Quantity, _Sentence], agreeing: Mapping[Quantity, Quantity]
) -> Iterator[tuple[Quantity, Quantity]]:
    """Yield numbers in parentheses that the source has behind others: 3 months (12.5 %)."""
    for first, second in _pairs(statement, [*decides]):
        each = decides[first]
        beside = dict(_pairs(each.text, each.numbers))
        there = beside.get(agreeing.get(first, first))
        if second in agreeing and there is not None and not is_equal(second, there):
            yield second, there


def _pairs(text: str, numbers: Sequence[Quantity]) -> Iterator[tuple[Quantity, Quantity]]:
    for first, second in pairwise(numbers):
        if first.end <= second.start and _OPENS.fullmatch(text[first.end : second.start]):
            yield first, second


def _exchanged(
    said: _Sentence, places: Mapping[Quantity, Sequence[_Place]]
) -> Iterator[tuple[Quantity, Quantity]]:
    """Yield neighbouring numbers that the source has the other way round, each with the other:
    A 35 %, B 70 %.
    """
    for place, first in enumerate(said.written):
        second = next((q for q in said.written[place + 1 :] if _has_same_kind(first, q)), None)
        both = [places.get(first), places.get(second)] if second is not None else []
        if second is None or not all(both) or is_equal(first, second):
            continue
        is_listed = not _words(said.text[first.end : second.start])  # 4 or 24 °C
        if is_listed or any(_IN_ORDER.search(s.text) for each in both for s, _ in each or ()):
            continue
        a, b = _apart(_around(said, first), _around(said, second))
        there = (frozenset[str]().union(*(_around(*one) for one in each or ())) for each in both)
        of_first, of_second = _apart(*there)
        crossed = a & of_second, b & of_first
        if all(crossed) and sum(map(len, crossed)) > len(a & of_first) + len(b & of_second):
            yield first, places[second][0][1]
            yield second, places[first][0][1]


def _apart(a: frozenset[str], b: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    return a - b, b - a


def _find_rightful(
    own: Quantity,
    said: _Sentence,
    decides: tuple[_Sentence, Sequence[Quantity]],
    places: Sequence[_Place],
    gives_others: bool,
) -> Quantity | None:
    """Return the number that the deciding sentence has where a statement has another's: it shares
    with the statement all that any place of the number said shares, and more.

    Args:
        decides: with those of its numbers that the statement does not say.
        gives_others: whether it has other numbers of the statement.
    """
    sentence, free = decides
    noun = _noun(said.text, own) if _is_count(own) and own.step == 1 else None
    for rival in free if places else ():
        is_alike = _has_same_kind(own, rival) or not rival.unit.kind
        is_allowed = _is_within_limit(own, rival) or own.bound * (rival.value - own.value) > 0
        if (
            not is_alike
            or is_allowed
            # Lower by 28 % is no level: streets with 50 % and more do not say otherwise.
            or (own.role == "by") != (rival.role == "by")
            or (noun is not None and not noun & _noun(sentence.text, rival))
        ):
            continue
        if all(
            (each is sentence or not gives_others)
            and _is_comparable(q, rival)
            and _says_more(said.words, (sentence, rival), (each, q))
            for each, q in places
        ):
            return rival
    return None


def _says_more(said: frozenset[str], rightful: _Place, place: _Place) -> bool:
    """Say whether what stands around one number has all that a statement shares with what stands
    around another, and more.
    """
    (decides, rival), (each, equal) = rightful, place
    more, less = _around(*rightful) & said, _around(*place) & said
    if not each.words or any(_IN_ORDER.search(s.text) for s in (decides, each)):
        return False
    if each is not decides:
        return less <= more and each.words & said < decides.words & said
    first, second = sorted((rival, equal), key=lambda q: q.start)
    is_apart = _PART_END.search(each.text, first.end, second.start) is not None
    return is_apart and bool(less) and less < more


def _is_told(own: Quantity, other: Quantity) -> bool:
    """Say whether a number is one of a statement, be it in a row whose header has the unit."""
    is_bare = bool(own.unit.kind) and not (other.unit.kind or own.role)
    is_decimal = own.raw % 1 != 0
    return is_equal(own, other) or (is_bare and is_decimal and _has_digits_of(own, other))


def _is_comparable(first: Quantity, second: Quantity) -> bool:
    is_alike = bool(first.unit.kind) or (first.step < 1) == (second.step < 1)
    return is_alike and _has_same_kind(first, second)


def _around(sentence: _Sentence, number: Quantity) -> frozenset[str]:
    """Return the words, and the numbers of other kinds, that stand with a number: of a list those
    of its own item.
    """
    text = sentence.text
    alike = [q for q in sentence.written if q is not number and _is_comparable(number, q)]
    begin = max((q.end for q in alike if q.end <= number.start), default=0)
    end = min((q.start for q in alike if q.start >= number.end), default=len(text))
    if begin and (match := _PART_END.search(text, begin, number.start)):
        begin = match.end()
    if end < len(text) and (match := _PART_END.search(text, number.end, end)):
        end = match.start()
    others = {
        f"{q.value:g} {q.unit.kind}"
        for q in sentence.written
        if begin <= q.start < end and not _has_same_kind(q, number)
    }
    # The name of a row is that of each of its cells.
    name = _ROW_NAME.match(text)
    return _words(text[begin:end]) | others | (_words(name[1]) if name else frozenset())


def _is_count(own: Quantity) -> bool:
    return own.unit.kind in {"", "persons", "occasions"} and not is_year(own)


def _has_digits_of(own: Quantity, other: Quantity) -> bool:
    return math.isclose(own.raw, other.raw, rel_tol=1e-6)


def _is_slip(own: Quantity, other: Quantity) -> bool:
    """Say whether two numbers of equal digits differ in unit, scale, bound or direction."""
    if is_equal(own, other):
        return False
    if not own.unit.kind and not other.unit.kind:
        return own.value != other.value or own.bound * other.bound < 0
    # 0.056 % for .056
    if own.unit.kind == "share" and not other.unit.kind:
        return 0 < other.raw < 1
    kinds = own.unit.kind, other.unit.kind
    return all(kinds) and _family(kinds[0]) == _family(kinds[1])


def _family(kind: str) -> str:
    """Return what a unit may be mistaken in: days and hours, % and points, g/kg and mL/kg."""
    families = {"change": _CHANGES, "time": _SPANS, "money": _MONEY}
    return next((name for name, kinds in families.items() if kind in kinds), "matter")


def _has_same_kind(own: Quantity, other: Quantity) -> bool:
    if is_year(own) and not own.unit.kind:
        return is_year(other) and other.unit.kind in {"", "year"}
    return units_agree(own.unit, other.unit) and not is_year(other)


def _is_within_limit(own: Quantity, other: Quantity) -> bool:
    """Say whether a number is one that a limit allows: of children under 14 one is 13."""
    return not own.bound and other.bound * (own.value - other.value) > 0


def _noun(text: str, number: Quantity) -> frozenset[str]:
    match = _NOUN.match(fold(text), number.end)
    noun = match["noun"].strip() if match else ""
    # Of Chinese, which has no blanks, about one noun.
    return _words(noun[:6] if is_chinese(noun) else " ".join(noun.split()[:3]))
