"""Numbers that headings begin with: 1, 1.2, I., A.1, (a), Chapter 1, 第一章, 一、, （一）."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

Scheme = Literal[
    "part", "chapter", "decimal", "roman", "letter", "appendix", "han", "han_bracket", "bracket"
]

_HAN_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九十", start=0)}
_HAN = "一二三四五六七八九十"
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_ROMAN = re.compile(r"(?:X{0,3})(?:IX|IV|V?I{0,3})")
# Single letters that are roman numbers too: which they are, their neighbours say.
_MORE_OFTEN_ROMAN = "IVX"
_WORDS_FOR_PART = r"part|partie|teil|parte|часть"
_WORDS_FOR_CHAPTER = r"chapter|section|chapitre|kapitel|cap[íi]tulo|capitolo|глава|раздел|hoofdstuk"
_WORDS_FOR_APPENDIX = (
    r"appendix|annex(?:e|o)?|anhang|ap[êe]ndice|приложение|supplement(?:ary)?(?: note)?"
)
_COUNTED = {
    word: value
    for value, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=1
    )
}
# A number is followed by a blank, a bar (`1 | Introduction`) or a character of Chinese.
_BREAK = r"(?:\s*[|│]\s*|\s+|(?=[\u2e80-\u9fff（《“]))"
_PATTERNS: tuple[tuple[Scheme, re.Pattern[str]], ...] = (
    (
        "part",
        re.compile(
            rf"(?:{_WORDS_FOR_PART})\s+([IVX]+|\d+)\b[.:]?\s*|第\s*([{_HAN}\d]+)\s*[篇编]\s*",
            re.IGNORECASE,
        ),
    ),
    (
        "chapter",
        re.compile(
            rf"(?:{_WORDS_FOR_CHAPTER})\s+(\d+|[IVXLC]+|{'|'.join(_COUNTED)})\b[.:]?(?:\s*[-–—|]\s|\s*)"
            rf"|第\s*([{_HAN}\d]+)\s*[章]\s*",
            re.IGNORECASE,
        ),
    ),
    (
        "appendix",
        re.compile(
            rf"(?:{_WORDS_FOR_APPENDIX})(?:\s+([A-Z]|\d+|[IVX]+))?(?:[.:]\s*|\s+|$)|附\s*录\s*([A-Z{_HAN}\d]?)[.:：、]?\s*",
            re.IGNORECASE,
        ),
    ),
    (
        "decimal",
        re.compile(
            rf"§?\s*(\d{{1,3}}(?:\s?[.．]\s?\d{{1,3}}){{1,4}})(?:[.．、:]\s*|{_BREAK})(?!\d)"
        ),
    ),
    ("decimal", re.compile(rf"§?\s*(\d{{1,2}})(?:[.．、:]\s*(?=[^\W\d_])|[.:]?{_BREAK})(?!\d)")),
    ("appendix", re.compile(rf"([A-Z](?:\.\d{{1,2}}){{1,4}})(?:[.:]\s*|{_BREAK})(?!\d)")),
    (
        "roman",
        re.compile(r"([IVX]{1,6})(?:[.:．、]\s*(?=\S)|\s*[|–—-]\s+|\s+(?=[A-Z\u4e00-\u9fff]))"),
    ),
    ("letter", re.compile(r"([A-Z])(?:[.:．、]\s+(?=\S)|\)\s*|\s*[|–—]\s+|\s+(?=[A-Z]))")),
    ("han", re.compile(rf"([{_HAN}]{{1,3}})[、.．，,\s]\s*")),
    ("han_bracket", re.compile(rf"[（(]([{_HAN}]{{1,3}})[)）]\s*")),
    ("han", re.compile(rf"第\s*([{_HAN}\d]+)\s*(?:节|節|部分)\s*")),
    ("bracket", re.compile(r"[（(]?([a-z]|\d{1,2}|[ivx]{1,4})[)）]\s*")),
)
_SECTION_OF_CHAPTER = re.compile(r"第\s*\S+\s*[节節]")


@dataclass(frozen=True, slots=True)
class Number:
    """What a heading begins with.

    Args:
        values: one for each part: `2.3.1` has three.
        depth: the level that the number alone would give, from 1; 0 for a part of a book.
        end: where the title begins.
    """

    scheme: Scheme
    values: tuple[int, ...]
    depth: int
    end: int

    def follows(self, before: "Number | None") -> bool:
        """Tell whether this number is the next after `before`, or the first of its kind."""
        if before is None or before.scheme != self.scheme:
            return self.values[-1] <= 1
        shared = len(self.values) - 1
        if self.values[:shared] != before.values[:shared]:
            return self.values[-1] <= 1
        if len(before.values) <= shared:
            return self.values[-1] <= 1
        return 0 < self.values[-1] - before.values[shared] <= 1


@lru_cache(maxsize=8192)
def parse_number(text: str) -> Number | None:
    """Return the number that `text` begins with, None where it begins otherwise.

    A roman number of one letter that may be a letter (`C.`) is read as what it more often is;
    `settle_letters` decides from the sequence.
    """
    first = text[:1]
    if not (
        first.isupper()
        or first.isdigit()
        or first in "§(（第附ivxabcdefghij"
        or first in _HAN
        or first in "чрпг"
    ):
        return None
    if first.islower() and not (text[1:2] in (")", "）") or text[:4].isalpha()):
        return None
    for scheme, pattern in _PATTERNS:
        found = pattern.match(text)
        if found is None:
            continue
        printed = next((group for group in found.groups() if group), "")
        if scheme == "roman" and (not _ROMAN.fullmatch(printed) or _is_letter_rather(printed)):
            continue
        values = _values(printed, scheme)
        if values is None:
            continue
        return Number(scheme, values, _depth(scheme, values, text), found.end())
    return None


def _is_letter_rather(printed: str) -> bool:
    return len(printed) == 1 and printed not in _MORE_OFTEN_ROMAN


def _values(printed: str, scheme: Scheme) -> tuple[int, ...] | None:
    if not printed:
        return (0,)
    if scheme == "decimal":
        values = tuple(int(part) for part in re.split(r"\s?[.．]\s?", printed))
        return values if values[0] > 0 or len(values) > 1 else None
    if scheme == "appendix" and "." in printed:
        head, *rest = printed.split(".")
        return (ord(head) - ord("A") + 1, *(int(part) for part in rest))
    return (_counted(printed),)


def _counted(printed: str) -> int:
    if printed.isdigit():
        return int(printed)
    if printed.lower() in _COUNTED:
        return _COUNTED[printed.lower()]
    if printed[0] in _HAN_DIGITS:
        return _han_value(printed)
    if len(printed) > 1 or printed in _MORE_OFTEN_ROMAN:
        return roman_value(printed.upper())
    return ord(printed.upper()) - ord("A") + 1


def roman_value(printed: str) -> int:
    """Return the value of a roman number in capitals."""
    values = [_ROMAN_VALUES.get(letter, 0) for letter in printed]
    return sum(
        -value if index + 1 < len(values) and value < values[index + 1] else value
        for index, value in enumerate(values)
    )


def _han_value(printed: str) -> int:
    if "十" not in printed:
        return sum(_HAN_DIGITS.get(digit, 0) for digit in printed)
    tens, _, ones = printed.partition("十")
    return 10 * _HAN_DIGITS.get(tens, 1) + _HAN_DIGITS.get(ones, 0)


def _depth(scheme: Scheme, values: Sequence[int], text: str) -> int:
    if scheme == "part":
        return 0
    if scheme in ("decimal", "appendix"):
        return len(values)
    if scheme == "han":
        return 2 if _SECTION_OF_CHAPTER.match(text) else 1
    return {"chapter": 1, "roman": 1, "letter": 2, "han_bracket": 2}.get(scheme, 3)


def settle_letters(
    numbers: Sequence[tuple[int, Number]], text_of: Callable[[int], str]
) -> dict[int, Number]:
    """Return the numbers with single letters read as roman or as letters, as their order says.

    `H.`, `I.` are letters, `IV.`, `V.` are roman numbers; `C.` and `D.` are always letters.

    Args:
        numbers: with the index of their heading, in order.
        text_of: returns the text of the heading at an index.
    """
    settled: dict[int, Number] = {}
    last_letter = 0
    for index, number in numbers:
        current = number
        letter = text_of(index)[:1]
        if number.scheme == "roman" and _is_one_letter(text_of(index)):
            value = ord(letter) - ord("A") + 1
            if value == last_letter + 1:
                current = replace(number, scheme="letter", values=(value,), depth=2)
        if current.scheme == "letter":
            last_letter = current.values[0]
        elif current.scheme == "roman" or (
            current.scheme in ("decimal", "chapter") and current.depth == 1
        ):
            last_letter = 0
        settled[index] = current
    return settled


def _is_one_letter(text: str) -> bool:
    return len(text) > 1 and not text[1].isalpha()
