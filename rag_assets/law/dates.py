"""When a Chinese statute was made: the dates of its head, and the one from which it holds."""

import re
from collections.abc import Iterator

from rag_assets.law.articles import find_begins, has_articles

_DIGITS = str.maketrans("〇○零一二三四五六七八九", "000123456789", " ")
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
    if not has_articles(len(begins)) or not begins[0].shown.startswith("第"):
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
        yield int(date["year"].translate(_DIGITS)), after
