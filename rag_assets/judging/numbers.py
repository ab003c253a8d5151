"""The numbers of a statement held against those of its evidence, and what can be worked out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from rag_assets.judging.equal_numbers import find_equal, read_derived
from rag_assets.judging.quantities import Quantity, read_quantities

# Numbers of the evidence of which others are worked out, two by two: a table has more, and of two
# numbers out of hundreds almost any can be made.
_MOST_OPERANDS = 60
_MOST_ADDENDS = 24
# Where something stands or when it was, in examples of one's own as often as in the source.
_POINTS = frozenset({"ordinal", "day of month", "month", "date"})
# “About 60” for 63 is what a writer may say (relative).
_ROUGHLY = 0.1
_EQUAL = 1e-6


@dataclass(frozen=True, slots=True)
class NumberComparison:
    """How the numbers of a statement compare with its evidence.

    Args:
        agreeing: each with the number of the evidence that it repeats, rounds or converts.
        differing: each with a number of the evidence of the same kind of unit, where it neither
            stands nor can be worked out.
    """

    agreeing: tuple[tuple[Quantity, Quantity], ...]
    differing: tuple[tuple[Quantity, Quantity], ...]


def compare_numbers(statement: str, passages: Sequence[str]) -> NumberComparison:
    """Compare each number of a statement with all that its evidence says.

    A number that is merely not there says nothing: it may stand in a part of the source that is
    not shown, and words for small numbers come and go in every paraphrase.
    """
    text = "\n".join(passages)
    there = read_quantities(text)
    derived = read_derived(text)
    stated = read_quantities(statement)
    agreeing, differing = [], []
    for own in stated:
        if own.unit.kind in _POINTS:
            continue
        equal = find_equal(own, [*there, *derived])
        if equal is not None:
            agreeing.append((own, equal))
            continue
        rival = next((q for q in there if own.unit.kind and q.unit.kind == own.unit.kind), None)
        if rival is None:
            continue
        # A writer's example takes numbers of its own: of 10 the threefold is 30.
        beside = [q for q in stated if q.value != own.value]
        if not any(_may_be(own, value) for value in _worked_out([*beside, *there])):
            differing.append((own, rival))
    return NumberComparison(tuple(agreeing), tuple(differing))


def _worked_out(there: Sequence[Quantity]) -> Iterator[float]:
    """Yield the numbers, and sums, differences, products, ratios and shares of two of them; sums of
    three of one kind too.
    """
    values = list(dict.fromkeys(v for q in there for v in (q.value, q.raw)))[:_MOST_OPERANDS]
    for value in values:
        yield from (value, 2 * value, 100 - value, 1 - value, value * 100, value / 100)
    for one, other in permutations(values, 2):
        yield from (one - other, one + other, one * other)
        if other:
            yield from (one / other, 100 * one / other, 100 * (one - other) / other)
    for parts in combinations(list(there)[:_MOST_ADDENDS], 3):
        if len({part.unit.kind for part in parts}) == 1:
            yield sum(part.value for part in parts)


def _may_be(own: Quantity, value: float) -> bool:
    is_rough = own.is_about or own.bound
    # The step is that of the base unit; as written it is smaller by the unit's factor.
    scale = own.raw / own.value if own.value else 1.0
    return any(
        abs(mine - value)
        <= max(step / 2 * (1 + _EQUAL), abs(mine) * (_ROUGHLY if is_rough else _EQUAL))
        for mine, step in ((own.value, own.step), (own.raw, own.step * scale))
    )
