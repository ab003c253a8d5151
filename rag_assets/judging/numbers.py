"""The numbers of a statement held against those of the sentences that decide it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_assets.evidence.wording import content_stems
from rag_assets.judging.equal_numbers import is_equal, units_agree
from rag_assets.judging.folding import fold
from rag_assets.judging.quantities import Quantity, is_year, read_quantities
from rag_assets.judging.units import Unit, find_unit
from rag_assets.judging.working_out import is_spread, work_out

# Where something stands or when it was, in examples of one's own as often as in the source.
_PLACED = frozenset({"ordinal", "day of month", "month", "date"})
# “(mg/kg)”, “in seconds”: the unit of numbers that stand elsewhere, in the rows below.
_NAMED_UNIT = re.compile(
    r"(?:[(（\[]\s?|\bin\s)(?P<name>[A-Za-zμµΩ%‰°℃]+)(?:\s?/\s?(?P<other>[A-Za-zμµ]+))?"
    r"(?=\s?[)）\],;]|\s|$)"
)
# Share of the words of the likeliest sentence from which another decides, too.
_LIKE_THE_BEST = 0.5
# A sum, of numbers that stand apart as often as not.
_IS_SUM = re.compile(r"\b(?:in (?:all|total|sum)|total\w*|altogether|together|combined)\b|合计|总[共计]|[一总]共|连同|相加")
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
    text: str
    words: frozenset[str]
    numbers: tuple[Quantity, ...]


def compare_numbers(statement: str, sentences: Sequence[str]) -> NumberComparison:
    """Compare each number of a statement with the sentences that decide it.

    Args:
        statement: what is said, without who says it.
        sentences: all that are shown: sentences and table rows with their headers.
    """
    stated = read_quantities(statement)
    shown = _read(sentences)
    deciding = _deciding(statement, stated, shown)
    beside = [each for each in shown if each not in deciding]
    agreeing = {own: equal for own in stated if (equal := _find_equal(own, deciding))}
    differing = []
    for own in stated:
        if own in agreeing:
            continue
        rival = _find_rival(statement, own, deciding, [*agreeing.values()])
        # What another sentence says is not what is said here, where this one has a number of it.
        elsewhere = None if rival else _find_equal(own, beside)
        if elsewhere is not None:
            agreeing[own] = elsewhere
        elif rival is not None:
            differing.append((own, rival))
    unconfirmed = tuple(own for own in stated if own not in agreeing)
    return NumberComparison(tuple(agreeing.items()), tuple(differing), unconfirmed)


def _read(sentences: Sequence[str]) -> list[_Sentence]:
    units = dict.fromkeys(unit for text in sentences for unit in _named_units(text))
    return [_Sentence(text, _words(text), _with_named_units(text, units)) for text in sentences]


def _with_named_units(text: str, units: Sequence[Unit] | dict[Unit, None]) -> tuple[Quantity, ...]:
    """Return the numbers of a text; those without a unit once more in each that is named."""
    folded = fold(text)
    read = [q for q in read_quantities(text) if not is_spread(folded, q)]
    bare = [q for q in read if not q.unit.kind and not q.is_word and not is_year(q)]
    return *read, *(
        replace(q, value=q.raw * unit.factor, step=q.step * unit.factor, unit=unit)
        for q in bare
        for unit in units
    )


def _named_units(text: str) -> list[Unit]:
    found = []
    for match in _NAMED_UNIT.finditer(text):
        unit = find_unit(match["name"])
        per = find_unit(match["other"]) if match["other"] else None
        if unit is None or len(match["name"]) == 1 and not per and match["name"] not in "%‰gK":
            continue
        if per is not None:
            unit = Unit(f"{unit.name}/{per.name}", f"{unit.kind} per {per.kind}",
                        unit.factor / per.factor, per.factor)  # fmt: skip
        found.append(unit)
    return found


def _words(text: str) -> frozenset[str]:
    return frozenset(w for w in content_stems(text) if not any(c.isdigit() for c in w))


def _deciding(
    statement: str, stated: Sequence[Quantity], shown: Sequence[_Sentence]
) -> list[_Sentence]:
    """Return the sentences that decide a statement, the likeliest first: each holds words of it
    that those before have not. Where the languages differ all do, by the numbers in common.
    """
    words = _words(statement)
    weights = {w: 1 / n for w in words if (n := sum(w in each.words for each in shown))}

    def rank(each: _Sentence) -> tuple[float, int]:
        common = sum(any(is_equal(own, q) for q in each.numbers) for own in stated)
        return sum(weights[w] for w in words & each.words), common

    ranked = sorted(((rank(each), each) for each in shown), key=lambda of: of[0], reverse=True)
    if not weights:
        return [each for _, each in ranked]
    least, left, found = _LIKE_THE_BEST * ranked[0][0][0], set(weights), []
    for (share, _), each in ranked:
        if share >= least or each.words & left:
            found.append(each)
            left -= each.words
    return found


def _find_equal(own: Quantity, deciding: Sequence[_Sentence]) -> Quantity | None:
    for numbers in ([e.numbers for e in deciding], [work_out(e.text) for e in deciding]):
        found = [q for each in numbers for q in each if is_equal(own, q)]
        if found:
            return next((q for q in found if q.unit.kind == own.unit.kind), found[0])
    return None


def _find_rival(
    statement: str, own: Quantity, deciding: Sequence[_Sentence], taken: Sequence[Quantity]
) -> Quantity | None:
    """Return the number that the source has where a statement has one that it does not confirm."""
    if own.unit.kind in _PLACED:
        return None
    if own.unit.name or not own.unit.kind:  # of a half the digits say nothing
        for each in deciding:
            for other in each.numbers:
                if other.raw == own.raw and _is_slip(own, other):
                    return other
    noun = _noun(statement, own)
    is_made = own.role == "by" or _IS_SUM.search(statement) is not None
    for each in deciding:
        for other in each.numbers:
            if (
                _has_same_kind(own, other)
                and not _is_within_limit(own, other)
                and not any(is_equal(other, q) for q in taken)
                and (other.role == "by" or not is_made)
                and (not _is_count(own) or noun & _noun(each.text, other))
            ):
                return other
    return None


def _is_count(own: Quantity) -> bool:
    return own.unit.kind in {"", "persons", "occasions"} and not is_year(own)


def _is_slip(own: Quantity, other: Quantity) -> bool:
    """Say whether two numbers of equal digits differ in unit, scale, bound or direction."""
    if not own.unit.kind and not other.unit.kind:
        return own.value != other.value or own.bound * other.bound < 0
    return bool(own.unit.kind and other.unit.kind)


def _has_same_kind(own: Quantity, other: Quantity) -> bool:
    if is_year(own) and not own.unit.kind:
        return is_year(other) and other.unit.kind in {"", "year"}
    return units_agree(own.unit, other.unit) and not is_year(other)


def _is_within_limit(own: Quantity, other: Quantity) -> bool:
    """Say whether a number is one that a limit allows: of children under 14 one is 13."""
    return not own.bound and other.bound * (own.value - other.value) > 0


def _noun(text: str, number: Quantity) -> frozenset[str]:
    match = _NOUN.match(fold(text), number.end)
    words = match["noun"].split()[:3] if match else []
    return _words(" ".join(words))
