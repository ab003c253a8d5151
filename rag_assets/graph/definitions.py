"""Abbreviations where a text defines them: congestive heart failure (CHF)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# The words before are as many as its letters and two more.
_DEFINED = re.compile(r"(?P<before>(?:[\w-]+[ \n]){1,9})\((?P<short>[A-Z][A-Za-z&-]{1,7})s?\)")


@dataclass(frozen=True, slots=True)
class Definition:
    """An abbreviation with its long form; `start` and `end` are its half-open span."""

    short: str
    long: str
    start: int
    end: int


def find_definitions(text: str) -> Iterator[Definition]:
    """Yield the abbreviations that stand in brackets after their long form, in order.

    A long form begins with the abbreviation's letter, and holds its letters in their order, each
    next one at the beginning of a word where there is one (Schwartz and Hearst, PSB 2003).
    """
    for found in _DEFINED.finditer(text):
        short, words = found["short"], found["before"].split()
        long = _long_form(short, words[-(len(short) + 2) :])
        if long:
            yield Definition(short, long, *found.span("short"))


def _long_form(short: str, words: Sequence[str]) -> str:
    letters = [letter.lower() for letter in short if letter.isalnum()]
    text = " ".join(words).lower()
    place = len(text)
    for position in range(len(letters) - 1, -1, -1):
        place -= 1
        while place >= 0 and (
            text[place] != letters[position]
            or (position == 0 and place > 0 and text[place - 1].isalnum())
        ):
            place -= 1
        if place < 0:
            return ""
    return text[place:] if len(text) - place > len(short) else ""
