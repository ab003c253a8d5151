"""Articles and sections of statutes in English: “Article 17”, “Sec. 12a”, “§ 230”, “Article IV”."""

import re
from collections.abc import Iterator
from typing import NamedTuple

# 17, 12a, 2-207, 1.401
_NUMERIC = r"\d{1,5}(?:[-.]\d{1,4})*(?:[a-z]{1,2}(?![a-z]))?"
_ROMAN = r"(?-i:[IVXLC]{1,11})(?!\w)"
_ONE = rf"(?:{_NUMERIC}|{_ROMAN})(?:\s?\(\w{{1,4}}\))*"
_AND = r"\s*(?:,\s*(?:and|or)\b|,|\band\b|\bor\b|&|\bto\b|[-–])\s*"
_KINDS = {
    "article": r"(?:Article|ARTICLE|Art\.)",
    "section": r"(?:Section|SECTION|Sec\.|SEC\.|§)",
}
# What follows a number that begins an article; within a sentence it is spoken of.
_HEADED = r"(?:\s*$|\s*[.:)*\]](?:\D|$)|\s*[—–]|\s+-\s|\s+[A-Z“\"'‘(\[*])"
_BEGINS = re.compile(
    rf"(?m)^[#>*_\s\u3000]*(?P<written>(?:{'|'.join(_KINDS.values())})\s*"
    rf"(?P<number>(?i:{_NUMERIC})|{_ROMAN}))(?={_HEADED})"
)
_WORDS = r"articles?|arts?\.?|sections?|secs?\.?|ss?\."
_NUMBERS = rf"{_ONE}(?:{_AND}{_ONE})*"
_NAMED = re.compile(
    rf"(?:\b(?P<word>{_WORDS})\s*|(?P<sign>§{{1,2}})\s*)(?P<numbers>{_NUMBERS})(?![\w%])",
    re.IGNORECASE,
)
# Any mention, to be part of other patterns.
ENGLISH_ADDRESS = rf"(?:(?i:\b(?:{_WORDS})|§{{1,2}})\s*(?i:{_NUMBERS})(?![\w%]))"
_PART = re.compile(rf"(?P<range>\bto\b|[-–])?\s*(?P<number>{_NUMERIC}|{_ROMAN})", re.IGNORECASE)
_PARAGRAPHS = re.compile(r"\(\w{1,4}\)")
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_NUMERALS = ((100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"),
             (4, "IV"), (1, "I"))  # fmt: skip
# Numbers beyond are not written in Roman numerals.
_LARGEST_ROMAN = 399
# “Articles 3 to 40” names more than a person wants to read first.
_LONGEST_RANGE = 10


class NamedEnglish(NamedTuple):
    """A mention of one or several articles.

    Args:
        articles: key and wording of each.
        start: offset of the mention; half-open.
        is_plain_word: whether it is “section”, as chapters of any text are called.
        needs_law: whether it is one only where a law is named: “s. 5”.
    """

    articles: list[tuple[str, str]]
    start: int
    end: int
    is_plain_word: bool
    needs_law: bool


def english_key(kind: str, number: str) -> str:
    """Return the key of an article, `17`, or a section, `section 12a`; Roman as Arabic numerals.

    An article has the same key in every language.
    """
    written = str(_read_roman(number) or number.lower())
    return written if kind == "article" else f"{kind} {written}"


def find_english_begins(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield key, wording and offset of the articles and sections that begin in a text."""
    for match in _BEGINS.finditer(text):
        number = match["number"]
        if number[0].isdigit() or _read_roman(number):
            kind = "article" if match["written"][0] in "Aa" else "section"
            yield english_key(kind, number), match["written"], match.start("written")


def english_beginning(key: str) -> str:
    """Return a regular expression of how an article begins, for Rust's engine, without markup."""
    kind, _, number = key.rpartition(" ")
    forms = [f"(?i:{re.escape(number)})".replace(r"\-", "-")]
    if number.isdecimal() and 0 < int(number) <= _LARGEST_ROMAN:
        forms.append(_write_roman(int(number)))
    return rf"{_KINDS[kind or 'article']}\s*(?:{'|'.join(forms)}){_HEADED}"


def find_english_mentions(text: str) -> Iterator[NamedEnglish]:
    """Yield what a text says of articles and sections: “Articles 13 to 15 and 17(1)”."""
    for match in _NAMED.finditer(text):
        kind = "article" if (match["word"] or "s")[0] in "Aa" else "section"
        articles: dict[str, str] = {}
        last = 0
        numbers = _PARAGRAPHS.sub("", match["numbers"])
        if (match["word"] or "").rstrip(".").endswith("s") or match["sign"] == "§§":
            numbers = numbers.replace("-", "–")  # of several a hyphen leads from one to another
        for part in _PART.finditer(numbers):
            number = part["number"]
            is_numeric = number[0].isdigit()
            value = int(number) if number.isdecimal() else _read_roman(number)
            # “the article I read” is none.
            if not is_numeric and not (value and (match["word"] or "a")[0].isupper()):
                continue
            if part["range"] and value and 0 < value - last <= _LONGEST_RANGE:
                between = range(last + 1, value)
                articles |= {english_key(kind, f"{n}"): f"{kind.capitalize()} {n}" for n in between}
            key = english_key(kind, number)
            articles[key] = f"{kind.capitalize()} {number}"
            last = value or last
        if articles:
            is_plain = kind == "section" and match["sign"] is None
            needs_law = (match["word"] or "").lower() in ("s.", "ss.")
            yield NamedEnglish(list(articles.items()), *match.span(), is_plain, needs_law)


def _read_roman(text: str) -> int:
    """Return the value of a Roman numeral, 0 for what is none."""
    if not text or any(sign not in _VALUES for sign in text):
        return 0
    values = [_VALUES[sign] for sign in text]
    value = sum(
        -one if one < following else one
        for one, following in zip(values, [*values[1:], 0], strict=True)
    )
    return value if _write_roman(value) == text else 0


def _write_roman(value: int) -> str:
    shown = ""
    for size, sign in _NUMERALS:
        count, value = divmod(value, size)
        shown += sign * count
    return shown
