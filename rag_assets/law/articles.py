"""Articles of Chinese statutes in a text: where each begins."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_assets.model import HAN_RANGES, hash_text

NUMBER = r"[〇零一二两三四五六七八九十百千\d]{1,10}"
_DIGITS = "零一二三四五六七八九"
_UNITS = {"十": 10, "百": 100, "千": 1000}
_LARGEST = 9999


def read_number(text: str) -> int:
    """Return the value of a number that `NUMBER` matches."""
    value, digits = 0, ""
    for character in unicodedata.normalize("NFKC", text).replace("〇", "零").replace("两", "二"):
        if character in _UNITS:
            value += int(digits or 1) * _UNITS[character]
            digits = ""
        else:
            digits += character if character.isdecimal() else str(_DIGITS.index(character))
    return value + int(digits or 0)


def write_number(value: int) -> str:
    """Return 1234 as statutes write it, 一千二百三十四; beyond 1 to 9999 in digits."""
    if not 0 < value <= _LARGEST:
        return str(value)
    shown, is_gap = "", False
    for character, size in reversed(_UNITS.items()):
        digit, value = divmod(value, size)
        if digit:
            shown += ("零" if is_gap else "") + _DIGITS[digit] + character
        is_gap = bool(shown) and not digit
    if value:
        shown += ("零" if is_gap else "") + _DIGITS[value]
    return shown.removeprefix("一") if shown.startswith("一十") else shown


# 17, 12a, 2-207, 1.401
_NUMERIC = r"\d{1,5}(?:[-.]\d{1,4})*(?:[a-z]{1,2}(?![a-z]))?"
_ROMAN = r"(?-i:[IVXLC]{1,11})(?!\w)"
_ONE = rf"(?:{_NUMERIC}|{_ROMAN})(?:\s?\(\w{{1,4}}\))*"
_AND = r"\s*(?:,\s*(?:and|or)\b|,|\band\b|\bor\b|&|\bto\b|[-–])\s*"
_WORDS = r"articles?|arts?\.?|sections?|secs?\.?|ss?\."
_NUMBERS = rf"{_ONE}(?:{_AND}{_ONE})*"
# A mention of articles of a law in English, to be part of other patterns.
ENGLISH_ADDRESS = rf"(?:(?i:\b(?:{_WORDS})|§{{1,2}})\s*(?i:{_NUMBERS})(?![\w%]))"
# At the beginning of a paragraph; within one, another article is spoken of. So it is where the
# paragraph goes on with what is said about the article.
_MARKUP = r"[#>*_\s\x{3000}]*"
_PROSE = "之的规和与及至或、，,项款第所中"
# Fewer make no statute: “第一条” begins a list, too.
_FEWEST = 3
_BEGINS = re.compile(
    rf"(?m)^[#>*\s\u3000]*第\s?(?P<number>{NUMBER})\s?条(?:\s?之\s?(?P<part>{NUMBER}))?"
    rf"(?=[^{_PROSE}]|$)"
)


@dataclass(frozen=True, slots=True)
class ArticleBegin:
    """The beginning of an article.

    Args:
        key: number, and for 之一 that behind a hyphen: `20`, `276-1`.
        shown: as the statute writes it.
        start: offset of its first character.
    """

    key: str
    shown: str
    start: int


def article_key(number: str, part: str | None) -> str:
    """Return the key of an article from its numbers as they are written."""
    return f"{read_number(number)}" + (f"-{read_number(part)}" if part else "")


def find_begins(text: str) -> list[ArticleBegin]:
    """Return the beginnings of articles in a text, in their order."""
    return [
        ArticleBegin(
            article_key(match["number"], match["part"]),
            f"第{match['number']}条" + (f"之{match['part']}" if match["part"] else ""),
            match.start() + match.group().index("第"),
        )
        for match in _BEGINS.finditer(text)
    ]


# Chinese characters: enough to know an article by, and too few to.
_MOST_WORDING, _LEAST_WORDING = 60, 12
_OTHERS = re.compile(f"[^{HAN_RANGES}]+")


def wording_keys(text: str) -> list[int]:
    """Return a number for each article that begins in a text, made of how its wording begins.

    White space, marks and the article's own number do not count, nor what comes later: a wording
    is the same out of any file. Shorter ones than a dozen characters have no number.
    """
    begins = find_begins(text)
    found = []
    for place, one in enumerate(begins, start=1):
        end = begins[place].start if place < len(begins) else len(text)
        first = one.start + len(one.shown)
        part = text[first : min(end, first + 4 * _MOST_WORDING)]
        wording = _OTHERS.sub("", part)[:_MOST_WORDING]
        if len(wording) >= _LEAST_WORDING:
            found.append(int(hash_text(wording)[:15], 16))
    return found


def has_articles(count: int) -> bool:
    """Say whether a document with so many beginnings of articles is a statute."""
    return count >= _FEWEST


def article_pattern(key: str) -> str:
    """Return a regular expression that finds the beginning of an article in any numerals.

    For Rust's engine, which looks neither ahead nor behind.
    """
    number, _, part = key.partition("-")
    told = rf"第\s?{_either(number)}\s?条" + (rf"\s?之\s?{_either(part)}" if part else "")
    return rf"(?m)^{_MARKUP}{told}(?:[^{_PROSE}]|$)"


def _either(number: str) -> str:
    return rf"(?:{number}|{write_number(int(number))})"


_DATE_DIGITS = str.maketrans("〇○零一二三四五六七八九", "000123456789", " ")
_DATE = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\s?\d\s?\d|[一二][〇○零一二三四五六七八九]{3})\s*年\s*"
    r"[\d一二三四五六七八九十]{1,3}\s*月(?:\s*[\d一二三四五六七八九十]{1,3}\s*日)?"
)
# What makes a statute, or this wording of it.
_MADE = re.compile(r"通过|公布|发布|颁布|修订|修正|修改|批准|印发")
_IN_FORCE = re.compile(r"^[^。；;\n]{0,12}(?:施行|实施|生效)")
# The head ends with the first article; it names each amendment, and may hold the contents.
_HEAD = 4000
# Between a date and what happened then: the name of the meeting, and of the decision.
_REACH = 120


def find_statute_year(text: str) -> int | None:
    """Return the year of a Chinese statute's wording.

    That of the last date in its head on which it was passed, promulgated or amended; else of a
    bare date there, as below an order; else of the day from which it holds.

    Args:
        text: of a document.

    Returns:
        None where it is no Chinese statute, or gives no date.
    """
    begins = find_begins(text)
    if not has_articles(len(begins)):
        return None
    head = list(_dated(text[: min(begins[0].start, _HEAD)]))
    made = [year for year, after in head if _MADE.search(after)]
    bare = [year for year, after in head if not _IN_FORCE.search(after)]
    force = [year for year, _ in head]
    # “本法自2021年1月1日起施行。” stands in the last article.
    last = [year for year, after in _dated(text[begins[-1].start :]) if _IN_FORCE.search(after)]
    found = made or bare or force or last
    return max(found) if found else None


def _dated(text: str) -> Iterator[tuple[int, str]]:
    """Yield each date's year, and the text from it to the next date."""
    dates = list(_DATE.finditer(text))
    ends = [*(date.start() for date in dates[1:]), len(text)]
    for date, end in zip(dates, ends, strict=False):
        after = text[date.end() : min(end, date.end() + _REACH)]
        yield int(date["year"].translate(_DATE_DIGITS)), after


_ITEM = re.compile(rf"[#>*_\s\u3000]*[(（]\s?(?P<number>{NUMBER})\s?[)）]")
_SUBITEM = re.compile(r"[#>*_\s\u3000]*(?:\d{1,2}\s?[.、．]|[⒈-⒛①-⑳])")
# What stands between two articles.
_HEADING = re.compile(rf"\s*#|[*_\s\u3000]*第\s?{NUMBER}\s?(?:编|分编|章|节)(?:[\s\u3000]|$)")
_LINE = re.compile(r"[^\r\n]+")
# A line that ends otherwise goes on in the next one.
_ENDS = tuple("。；;：:！？!?”』」）)")


@dataclass(frozen=True, slots=True)
class Clause:
    """A paragraph without its items, or one item of it.

    Args:
        paragraph: from 1.
        item: as it is numbered; None for the words that are no item.
        shown: as it is cited behind its article; empty where the article has no other clause.
        start: offset of its first character in the article; `end` that behind its last.
    """

    paragraph: int
    item: int | None
    shown: str
    start: int
    end: int


def find_clauses(article: str) -> list[Clause]:
    """Return the clauses of an article, in their order.

    Args:
        article: its text, from its 第…条 on.
    """
    found: list[tuple[int, int | None, int, int]] = []
    paragraph, is_open = 0, False
    for match in _LINE.finditer(article):
        line = match.group().rstrip()
        if not line.strip():
            continue
        if found and _HEADING.match(line):
            break
        item = _ITEM.match(line)
        if item is not None and paragraph:
            found.append((paragraph, read_number(item["number"]), *match.span()))
        elif found and (is_open or _SUBITEM.match(line)):
            found[-1] = (*found[-1][:3], match.end())
        else:
            paragraph += 1
            found.append((paragraph, None, *match.span()))
        is_open = not line.endswith(_ENDS)
    return [
        Clause(of, number, _shown(of, number, paragraph), start, end)
        for of, number, start, end in found
    ]


def pick_clause(
    clauses: Sequence[Clause],
    paragraph: int | None,
    item: int | None,
    *,
    is_bracketed: bool = False,
) -> Clause | None:
    """Return the clause that is named, None where nothing is named or the article has it not.

    An item without a paragraph is the first of its number.

    Args:
        is_bracketed: whether the paragraph is written (2): the item where there is no paragraph.
    """
    if paragraph is None and item is None:
        return None
    named = [(paragraph, item), (None, paragraph)] if is_bracketed else [(paragraph, item)]
    return next(
        (
            clause
            for paragraph, item in named
            for clause in clauses
            if paragraph in {None, clause.paragraph} and clause.item == item
        ),
        None,
    )


def describe_missing(
    shown: str,
    clauses: Sequence[Clause],
    paragraph: int | None,
    item: int | None,
    *,
    is_bracketed: bool = False,
) -> str | None:
    """Return what clauses an article has where one is named that it has not; else None.

    Args:
        shown: the article as it is cited; the others as of `pick_clause`.
    """
    picked = pick_clause(clauses, paragraph, item, is_bracketed=is_bracketed)
    if picked is not None or not clauses or (paragraph is None and item is None):
        return None
    paragraphs = clauses[-1].paragraph
    if paragraph is not None and paragraph > paragraphs:
        said = "1 paragraph (款)" if paragraphs == 1 else f"{paragraphs} paragraphs (款)"
        return f"{shown} has {said}, no 第{write_number(paragraph)}款"
    items = [one for one in clauses if one.item is not None and paragraph in {None, one.paragraph}]
    where = shown if paragraph is None else f"第{write_number(paragraph)}款 of {shown}"
    last = max((one.item or 0 for one in items), default=0)
    said = f"has items (项) up to 第{write_number(last)}项" if last else "has no items (项)"
    return f"{where} {said}, no 第{write_number(item or 0)}项"


def _shown(paragraph: int, item: int | None, paragraphs: int) -> str:
    told = f"第{write_number(paragraph)}款" if paragraphs > 1 else ""
    return told + (f"第{write_number(item)}项" if item is not None else "")
