"""Whether what was changed in a quotation changes what it says."""

import re
from collections.abc import Sequence

from rag_assets.judging.numerals import read_numerals
from rag_assets.judging.quantities import read_quantities

NEGATION = re.compile(
    r"\b(?:not|no|never|none|nor|neither|without|hardly|cannot)\b|n['’]t\b|[不没沒未无無非莫勿]",
    re.IGNORECASE,
)
_AMOUNT = re.compile(r"\b(?:all|some|most|few|many|twice|double|triple)\b", re.IGNORECASE)
_HAN_NUMERAL = re.compile("[〇零一二两三四五六七八九十百千万亿]+")
# What is no numeral by itself, but is a number or part of one beside other words.
_PART_OF_NUMERAL = re.compile(
    rf"\d|{_HAN_NUMERAL.pattern}|\b(?:one|dozen|hundred|thousand|million|billion|trillion|half|"
    r"third|quarter)s?\b",
    re.IGNORECASE,
)
# Words that differ by nothing else say the opposite.
_DENYING = re.compile(r"(?:un|in|im|il|ir|dis|non|a|mis)-?", re.IGNORECASE)


def changes_meaning(quotation: str, source: str, changes: Sequence[tuple[str, str]]) -> bool:
    """Say whether a number, an amount or a negation is among the changes.

    Args:
        quotation: as the draft has it; `source` as it is printed.
        changes: (words of the draft, words of the source) that differ.
    """
    sides = [f"{before} {after}" for before, after in changes]
    return (
        any(NEGATION.search(side) or _AMOUNT.search(side) for side in sides)
        or any(_denies(a, b) or _denies(b, a) for a, b in changes)
        or (any(map(_has_number, sides)) and _values(quotation) != _values(source))
        or any(_HAN_NUMERAL.fullmatch(a) and _HAN_NUMERAL.fullmatch(b) for a, b in changes)
    )


def _has_number(side: str) -> bool:
    return _PART_OF_NUMERAL.search(side) is not None or bool(read_numerals(side))


def _values(text: str) -> list[tuple[float, str]]:
    return sorted((q.value, q.unit.kind) for q in read_quantities(text))


def _denies(word: str, other: str) -> bool:
    prefix = word[: len(word) - len(other)]
    return bool(other) and word.endswith(other) and _DENYING.fullmatch(prefix) is not None
