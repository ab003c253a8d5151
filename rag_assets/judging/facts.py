"""What a program can check of a statement by itself, as a register of rules.

A rule that speaks against a statement has to earn its place: `benchmarks/rules_ledger.py` counts
how often each fires on sentences of known truth and how often it is right, and one that is right
in less than four fifths of its firings goes (docs/judging.md).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rag_assets.judging.contract import Judgement, PassageText, Sign
from rag_assets.judging.directions import limits_of, trend_of
from rag_assets.judging.folding import fold
from rag_assets.judging.numbers import compare_numbers, deciding_sentence

Bearing = Literal["for", "against"]


@dataclass(frozen=True, slots=True)
class FactRule:
    """One check.

    Args:
        id: stable name, as the ledger and the docs call it.
        bearing: whether it speaks for or against the statement where it fires.
        languages: in which it reads.
        says: what it says where it fires.
        fires: a statement and a sentence of which it fires; `silent` of which it does not.
        check: the signs that it finds in a statement and the sentences shown beside it.
    """

    id: str
    bearing: Bearing
    languages: tuple[str, ...]
    says: str
    fires: tuple[str, str]
    silent: tuple[str, str]
    check: Callable[[str, Sequence[str]], tuple[Sign, ...]]


def _number_differs(statement: str, sentences: Sequence[str]) -> tuple[Sign, ...]:
    signs = []
    for own, other in compare_numbers(statement, sentences).differing:
        said, there = own.text, other.text
        if said == there:
            said, there = (f"{q.text}{_SAID_AS[q.role, q.trend]}" for q in (own, other))
        text = f"The statement says {said}; the deciding sentence has {there}."
        signs.append(Sign("number", own.text, other.text, text))
    return tuple(signs)


_SAID_AS = {
    (role, trend): said + way
    for role, said in (("", ""), ("by", " as a difference"), ("level", " as a level"))
    for trend, way in ((0, ""), (1, ", upwards"), (-1, ", downwards"))
}


def _direction_differs(statement: str, sentences: Sequence[str]) -> tuple[Sign, ...]:
    decides = deciding_sentence(statement, sentences)
    if decides is None:
        return ()
    if trend_of(fold(statement)) * trend_of(fold(decides)) < 0:
        said = "rises or is higher" if trend_of(fold(statement)) > 0 else "falls or is lower"
        text = f"The statement says that something {said}; the deciding sentence says the opposite."
        return (Sign("words", statement, decides, text),)
    there = limits_of(decides)
    return tuple(
        Sign(
            "words", symbol, symbol,
            f"The statement says at {'least' if side > 0 else 'most'} {symbol}; the deciding "
            f"sentence says at {'most' if side > 0 else 'least'} {symbol}.",
        )
        for symbol, side in limits_of(statement).items()
        if side * there.get(symbol, 0) < 0
    )  # fmt: skip


def _number_agrees(statement: str, sentences: Sequence[str]) -> tuple[Sign, ...]:
    signs = []
    for own, other in compare_numbers(statement, sentences).agreeing:
        said = f"is {other.text} there"
        if own.text == other.text:
            said = "is in the passages"
        elif " = " in other.text:
            said = f"follows from it: {other.text}"
        signs.append(Sign("number", own.text, other.text, f"{own.text} {said}."))
    return tuple(signs)


RULES = (
    FactRule(
        id="number-differs",
        bearing="against",
        languages=("en", "zh"),
        says="The deciding sentence has another number of the same kind in its place, or the same "
        "digits with another unit, scale, bound or direction.",
        fires=("Yields fell by 45 kg.", "Yields fell by 54 kg in the dry year."),
        silent=("Yields fell by 20 kg.", "Yields fell from 74 kg to 54 kg."),
        check=_number_differs,
    ),
    FactRule(
        id="direction-differs",
        bearing="against",
        languages=("en", "zh"),
        says="The deciding sentence says that it falls where the statement says that it rises, or "
        "limits it from the other side.",
        fires=("Yields rose after the drought.", "After the drought yields declined."),
        silent=("Yields rose after the drought.", "Yields did not decline after the drought."),
        check=_direction_differs,
    ),
    FactRule(
        id="number-agrees",
        bearing="for",
        languages=("en", "zh"),
        says="The passages give the same number.",
        fires=("Nearly 45 % agreed.", "Of those asked, 44.8 % agreed."),
        silent=("Nearly 45 % agreed.", "Of those asked, most agreed."),
        check=_number_agrees,
    ),
)


def hold_against_facts(
    judgement: Judgement, statement: str, passages: Sequence[PassageText]
) -> Judgement:
    """Return a judgement with what a program sees; no scorer overrules it.

    A statement with a number or direction that the deciding sentence has otherwise is WEAK and says
    so, also where a reader finds nothing. One with a number that nothing shown confirms is never
    OK.
    """
    sentences = sentences_of(passages)
    agreeing = check_facts(statement, sentences, "for")
    differing = check_facts(statement, sentences, "against")
    judgement = replace(
        judgement,
        speaks_for=(*agreeing, *judgement.speaks_for),
        speaks_against=(*differing, *judgement.speaks_against),
    )
    if differing and judgement.reason_code != "contradicted":
        reason = f"{differing[0].text} Correct it, or cite the place that says so. "
        return replace(
            judgement, status="WEAK", reason_code="facts_differ",
            reason=reason + judgement.reason,
        )  # fmt: skip
    unconfirmed = compare_numbers(statement, sentences).unconfirmed
    if judgement.status == "OK" and unconfirmed:
        named = ", ".join(dict.fromkeys(own.text for own in unconfirmed))
        reason = f"No sentence shown confirms {named}: look it up yourself. "
        return replace(
            judgement, status="WEAK", reason_code="weakly_supported",
            reason=reason + judgement.reason,
        )  # fmt: skip
    return judgement


def sentences_of(passages: Sequence[PassageText]) -> list[str]:
    """Return the sentences and table rows of some passages, as facts are held against them."""
    return [passage.text[slice(*span)] for passage in passages for span in passage.sentences]


def check_facts(statement: str, sentences: Sequence[str], bearing: Bearing) -> tuple[Sign, ...]:
    """Return what the rules of one bearing find, each sign once.

    Args:
        statement: what is said, without who says it.
        sentences: verbatim, all that are shown beside it; one of them decides.
    """
    found = [
        sign
        for rule in RULES
        if rule.bearing == bearing
        for sign in rule.check(statement, sentences)
    ]
    return tuple(dict.fromkeys(found))
