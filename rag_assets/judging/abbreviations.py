"""Abbreviations that a document defines, “catastrophic forgetting (CF)”, and a claim without them.

What stands for what is found as Schwartz and Hearst do (A simple algorithm for identifying
abbreviation definitions in biomedical text, PSB 2003).
"""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

_DEFINED = re.compile(
    r"(?P<before>(?:[\w'’/-]+\s+){1,14})\((?:(?:i\.e\.|henceforth|hereafter|or),?\s+)?"
    r"[“\"]?(?P<short>[A-Z][A-Za-z0-9-]{1,9})[”\"]?(?:[,;][^()]{0,40})?\)"
)
# Names of works and people stand in parentheses, too; two capitals are an abbreviation.
_FEWEST_CAPITALS = 2
_PLURAL = re.compile(r"(?<=[A-Z0-9])s$")


class Abbreviation(NamedTuple):
    """What a document abbreviates.

    Args:
        short: without the s of its plural.
        long: what it stands for, as it is defined.
        plural: how `long` is abbreviated in the plural: SD or SDs.
    """

    short: str
    long: str
    plural: str


def find_abbreviations(texts: Iterable[str]) -> tuple[Abbreviation, ...]:
    """Return the abbreviations that texts define, each by its first definition."""
    found: dict[str, Abbreviation] = {}
    for text in texts:
        for match in _DEFINED.finditer(text):
            written = match["short"]
            short = _PLURAL.sub("", written)
            if sum(map(str.isupper, short)) < _FEWEST_CAPITALS or short in found:
                continue
            long = _long_form(short, " ".join(match["before"].split()[-2 * len(short) :]))
            if long is not None:
                plural = written if long.endswith("s") else f"{short}s"
                found[short] = Abbreviation(short, long, plural)
    return tuple(found.values())


def reword(claim: str, abbreviations: Sequence[Abbreviation]) -> list[str]:
    """Return a claim with what is abbreviated in short, and with abbreviations in full.

    Returns:
        None to two texts, without the claim itself.
    """
    short, full = claim, claim
    for one in abbreviations:
        words = r"[\s-]+".join(re.escape(word) for word in re.split(r"[\s-]+", one.long))
        spelled = re.compile(
            rf"\b{words.removesuffix('s')}(?P<plural>e?s)?\b(?:\s*\({re.escape(one.short)}s?\))?",
            re.IGNORECASE,
        )
        if spelled.search(claim):
            short = spelled.sub(partial(_shortened, one), short)
        else:
            full = re.sub(rf"\b{re.escape(one.short)}s?\b", one.long, full)
    return list(dict.fromkeys(text for text in (short, full) if text != claim))


def _shortened(one: Abbreviation, match: re.Match[str]) -> str:
    return one.plural if match["plural"] else one.short


def _long_form(short: str, words: str) -> str | None:
    """Return the end of some words that an abbreviation stands for, None where it does not.

    From behind, each of its letters is found in the words, the first at the beginning of one.
    """
    place = len(words)
    for position in range(len(short) - 1, -1, -1):
        sign = short[position].lower()
        if not sign.isalnum():
            continue
        place -= 1
        while place >= 0 and (
            words[place].lower() != sign
            or (position == 0 and place > 0 and words[place - 1].isalnum())
        ):
            place -= 1
        if place < 0:
            return None
    long = words[place:].strip()
    return long if len(long.split()) > 1 and short.lower() not in long.lower().split() else None
