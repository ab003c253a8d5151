"""The numbers of a statement held against those of the sentences that decide it."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rag_assets.evidence.wording import content_stems
from rag_assets.judging.equal_numbers import is_equal, units_agree
from rag_assets.judging.folding import fold
from rag_assets.judging.quantities import Quantity, is_year, read_quantities
from rag_assets.judging.units import CURRENCIES, Unit, find_unit
from rag_assets.judging.working_out import is_spread, joined, work_out
from rag_assets.model import is_chinese

# Where something stands or when it was, in examples of one's own as often as in the source.
_CHANGES = frozenset({"share", "percentage points", "times"})
_SPANS = frozenset({"time", "months", "age", "year", "decade"})
_MONEY = frozenset({unit.kind for unit in CURRENCIES.values()} | {"cents"})
_PLACED = frozenset({"ordinal", "day of month", "month", "date"})
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
    units = dict.fromkeys(unit for text in sentences for unit in _named_units(text))
    read = ((text, _written(text)) for text in sentences)
    return [
        _Sentence(text, _words(text), written, (*written, *_in_named_units(written, units)))
        for text, written in read
    ]


def _written(text: str) -> tuple[Quantity, ...]:
    folded = fold(text)
    return tuple(q for q in read_quantities(text) if not is_spread(folded, q))


def _in_named_units(
    read: Sequence[Quantity], units: Sequence[Unit] | dict[Unit, None]
) -> Iterator[Quantity]:
    """Yield the numbers without a unit in each that is named."""
    bare = [q for q in read if not q.unit.kind and not q.is_word and not is_year(q)]
    for q in bare:
        for unit in units:
            yield replace(q, value=q.raw * unit.factor, step=q.step * unit.factor, unit=unit)


def _named_units(text: str) -> list[Unit]:
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


def _words(text: str) -> frozenset[str]:
    return frozenset(w for w in content_stems(text) if not any(c.isdigit() for c in w))


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
    if own.unit.kind in _PLACED or (own.unit.kind and not own.unit.name):
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
    statement: str,
    own: Quantity,
    decides: _Sentence,
    taken: Sequence[Quantity],
) -> Quantity | None:
    """Return the number that the source has where a statement has one that it does not confirm."""
    if own.unit.kind in _PLACED:
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
        if own.unit.kind not in _PLACED and not is_year(own)
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
    return _words(text[begin:end]) | others


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
