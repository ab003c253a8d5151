"""Abbreviations that a document defines, “catastrophic forgetting (CF)”, and a claim without them.

What stands for what is found as Schwartz and Hearst do (A simple algorithm for identifying
abbreviation definitions in biomedical text, PSB 2003). In Chinese a definition says that it is one:
长江三角洲（以下简称“长三角”）.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

_DEFINED = re.compile(
    r"(?P<before>(?:[\w'’/-]+\s+){1,14})\((?:(?:i\.e\.|henceforth|hereafter|or),?\s+)?"
    r"[“\"]?(?P<short>[A-Z][A-Za-z0-9-]{1,9})[”\"]?(?:[,;][^()]{0,40})?\)"
)
_DEFINED_IN_CHINESE = re.compile(
    r"(?P<before>《[^《》]{2,60}》|[^，。；：、！？（）()《》\s]{2,40})"
    r"[（(](?:(?:以下|下文|下)?简称|(?:以下|下文|下)称)(?:为|作)?[：:]?\s*"
    r"[“\"《「]?(?P<short>[\w·]{2,10})[”\"》」]?[）)]"
)
# Names of works and people stand in parentheses, too; two capitals are an abbreviation.
_FEWEST_CAPITALS = 2
_CJK = r"\u3400-\u9fff"
_NO_LETTER_BEFORE = rf"(?<![^\W{_CJK}])"
_NO_LETTER_BEHIND = rf"(?![^\W{_CJK}])"
_IS_CJK = re.compile(f"[{_CJK}]")
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
        for one in (*_in_english(text), *_in_chinese(text)):
            found.setdefault(one.short, one)
    return tuple(found.values())


def _in_english(text: str) -> Iterator[Abbreviation]:
    for match in _DEFINED.finditer(text):
        written = match["short"]
        short = _PLURAL.sub("", written)
        if sum(map(str.isupper, short)) < _FEWEST_CAPITALS:
            continue
        long = _long_form(short, " ".join(match["before"].split()[-2 * len(short) :]))
        if long is not None:
            yield Abbreviation(short, long, written if long.endswith("s") else f"{short}s")


def _in_chinese(text: str) -> Iterator[Abbreviation]:
    for match in _DEFINED_IN_CHINESE.finditer(text):
        short, before = match["short"], match["before"]
        is_title = before.startswith("《")
        long = before[1:-1] if is_title else _long_name(short, before)
        if long is not None and long != short:
            yield Abbreviation(short, long, short)


def reword(claim: str, abbreviations: Sequence[Abbreviation]) -> list[str]:
    """Return a claim with what is abbreviated in short, and with abbreviations in full.

    Returns:
        None to two texts, without the claim itself.
    """
    short = claim
    for one in abbreviations:
        short = _spelled(one).sub(partial(_shortened, one), short)
    return list(dict.fromkeys(t for t in (short, spell_out(claim, abbreviations)) if t != claim))


def spell_out(claim: str, abbreviations: Sequence[Abbreviation]) -> str:
    """Return a claim with abbreviations in full, but for those that stand beside their words."""
    full = claim
    for one in abbreviations:
        if not _spelled(one).search(claim):
            plural = "" if _IS_CJK.search(one.short) else "s?"
            abbreviated = _bounded(re.escape(one.short) + plural, one.short)
            full = one.long.join(abbreviated.split(full))
    return full


def _spelled(one: Abbreviation) -> re.Pattern[str]:
    """Return what finds the words of an abbreviation, with it in parentheses behind them or not."""
    if _IS_CJK.search(one.long):
        return re.compile(
            rf"{re.escape(one.long)}(?P<plural>)(?:[（(][^（）()]*{re.escape(one.short)}[”》]?[）)])?"
        )
    words = r"[\s-]+".join(re.escape(word) for word in re.split(r"[\s-]+", one.long))
    return _bounded(
        rf"(?i:{words.removesuffix('s')}(?P<plural>e?s)?)", one.long,
        rf"(?:\s*\({re.escape(one.short)}s?\))?",
    )  # fmt: skip


def _bounded(pattern: str, text: str, behind: str = "") -> re.Pattern[str]:
    """Return a pattern that begins and ends no word of letters, unless `text` is Chinese.

    Chinese beside it is no part of the word: 采用CNN模型.
    """
    if _IS_CJK.search(text):
        return re.compile(pattern + behind)
    return re.compile(f"{_NO_LETTER_BEFORE}{pattern}{_NO_LETTER_BEHIND}{behind}")


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


def _long_name(short: str, words: str) -> str | None:
    """Return the end of a Chinese phrase that begins and goes on with the signs of `short`."""
    place = len(words)
    for sign in reversed(short):
        place = words.rfind(sign, 0, place)
        if place < 0:
            return None
    return words[place:]
