"""Articles that a text names: “《劳动合同法》第三十九条”, “刑法 133条”, “第76条 网络安全法”.

The law may stand behind its article; without one the article of any law is meant.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from rag_assets.law.articles import (
    NUMBER,
    ArticleReference,
    article_key,
    read_number,
    write_number,
)
from rag_assets.law.names import LawNames
from rag_assets.model import HAN_RANGES

# 第十条至第十二条, 第10-12条, 133条之一.
_ARTICLE = re.compile(
    rf"(?:(?P<first_mark>第?)\s*(?P<first>{NUMBER})\s*条?\s*[至到~—–-]+\s*)?"
    rf"(?P<mark>第?)\s*(?P<number>{NUMBER})\s*条(?:\s*之\s*(?P<part>{NUMBER}))?"
)
_LONGEST_RANGE = 30
# Title marks stand in title marks: 《上海市实施《水法》办法》.
_TITLE = r"《(?P<law>(?:[^《》]|《[^《》]{2,80}》){2,120})》"
_TITLED_BEFORE = re.compile(rf"{_TITLE}(?P<book>[^，。；《》第]{{0,6}})$")
_TITLED_AFTER = re.compile(rf"^[\s的]*{_TITLE}")
_RUN = rf"(?P<run>[{HAN_RANGES}A-Za-z()·《》、“”,]{{2,120}})"
_RUN_BEFORE = re.compile(rf"{_RUN}$")
_RUN_AFTER = re.compile(rf"^\s+{_RUN}")
# Between a law and its article: 刑法的第三条, 刑法中 第三条.
_BETWEEN = re.compile(r"(?:的|中|里|规定的|\s|,|,)*$")
# What names of laws end with.
_ENDS = "法典例则定释办规章程编)案排范见知复答要"
# Words that a name without title marks may stand behind. Behind others it may be the end of a
# longer one: 劳动合同法 is not 合同法, 上海市某条例 not the 某条例 of another place.
_LEADS_TO_NAME = re.compile(
    r"(?:[^\w]|[A-Za-z\d]|请问|一下|看看|查看|查询|根据|依据|依照|按照|遵照|参照|违反|适用|引用|触犯|符合|"
    r"关于|对于|由于|以及|我国|中国|现行|修订后|修正后|比如|例如|知道|了解|规定|其中|"
    r"[按照依据查看问在与和及或跟同的是为由从以于对即新旧原])$"
)
# A name that goes on so is another law's.
_GOES_ON = re.compile(r"(?:的?(?:实施|施行))?(?:办法|条例|细则|规则|解释)")
# 《水法》办法 is not 《水法》; 《水法》规定 is.
_OF_ANOTHER = re.compile(r"(?:办法|条例|细则|规则|解释|意见|批复|答复|通知|规定)(?:\([^()]+\))?$")
# What is called so is a law, known or not; 本法 and 依法 name none.
_UNKNOWN = re.compile(
    rf"[{HAN_RANGES}]+[{HAN_RANGES}](?<![本该此依照据按])"
    r"(?:法|法典|条例|细则|规则|规程|规定|办法|解释)(?:\([^()]+\))?$"
)
# Between two names: 合同法、劳动法.
_APART = re.compile("[、,“”《》]")
_FEWEST = 2


def find_references(text: str, laws: LawNames) -> list[ArticleReference]:
    """Return the articles that a text names, each with its law, in their order.

    A law stands before its articles, in title marks or not, or right behind the article; for
    further articles it holds on. Without 第 a number is an article only with a law that is known.
    """
    text = unicodedata.normalize("NFKC", text)
    found: list[ArticleReference] = []
    reached = 0
    running = ArticleReference("", "")
    for match in _ARTICLE.finditer(text):
        before, after = text[reached : match.start()], text[match.end() :]
        law = _before(before, laws) or _after(after, laws)
        if law is not None:
            running = law
        if not (match["mark"] or match["first_mark"]) and not running.documents:
            continue
        reached = match.end()
        found += (
            ArticleReference(key, shown, running.law, running.documents)
            for key, shown in _articles(match)
        )
    return list(dict.fromkeys(found))


def _articles(match: re.Match[str]) -> Iterator[tuple[str, str]]:
    """Yield key and name of each article that is named: of a range also those between its ends."""
    if match["first"]:
        first, last = read_number(match["first"]), read_number(match["number"])
        inner = range(first, last) if last - first <= _LONGEST_RANGE else [first]
        for number in inner:
            yield str(number), f"第{write_number(number)}条"
    shown = f"第{match['number']}条" + (f"之{match['part']}" if match["part"] else "")
    yield article_key(match["number"], match["part"]), shown


def _before(text: str, laws: LawNames) -> ArticleReference | None:
    trimmed = _BETWEEN.sub("", text)
    # 关于审理…若干规定的第三条: 规定 is the name's, not a word between.
    for whole in dict.fromkeys([text.rstrip().removesuffix("的"), trimmed]):
        run = _RUN_BEFORE.search(whole)
        if run is not None and (law := _whole(_suffixes(run["run"]), laws)) is not None:
            return law
    titled = _TITLED_BEFORE.search(trimmed)
    if titled is not None:
        name, book = titled["law"], titled["book"].strip()
        if book != "规定" and _OF_ANOTHER.search(book):
            return ArticleReference("", "", f"《{name}》{book}")
        return _reference(name, laws, name + book) or ArticleReference("", "", name)
    run = _RUN_BEFORE.search(trimmed)
    if run is None:
        return None
    last = _APART.split(run["run"])[-1]
    return _unknown(last)


def _after(text: str, laws: LawNames) -> ArticleReference | None:
    titled = _TITLED_AFTER.search(text)
    if titled is not None:
        return _reference(titled["law"], laws) or ArticleReference("", "", titled["law"])
    run = _RUN_AFTER.search(text)
    if run is None:
        return None
    prefixes = [run["run"][:end] for end in range(len(run["run"]), _FEWEST - 1, -1)]
    law = _whole(prefixes, laws)
    if law is not None:
        return law
    apart = len(_APART.split(run["run"])[0])
    return next(filter(None, (_unknown(name) for name in prefixes if len(name) <= apart)), None)


def _suffixes(run: str) -> list[str]:
    return [run[start:] for start in range(len(run) - _FEWEST + 1)]


def _whole(names: Sequence[str], laws: LawNames) -> ArticleReference | None:
    """Return the longest of these names that is a law's own, and no part of a longer name."""
    longest = names[0] if names else ""
    for name in names:
        if name[-1] not in _ENDS or not (documents := laws.find(name)):
            continue
        if longest.startswith(name):
            goes_on = _GOES_ON.match(longest, len(name))
            return ArticleReference("", "", longest[: goes_on.end()]) if goes_on else (
                ArticleReference("", "", name, tuple(documents))
            )  # fmt: skip
        before = longest.removesuffix(name)
        if _LEADS_TO_NAME.search(before):
            return ArticleReference("", "", name, tuple(documents))
        return ArticleReference("", "", _APART.split(longest)[-1])
    return None


def _unknown(name: str) -> ArticleReference | None:
    """Return a law that no document is, where a name is called as laws are."""
    return ArticleReference("", "", name) if _UNKNOWN.fullmatch(name) else None


def _reference(name: str, laws: LawNames, longer: str = "") -> ArticleReference | None:
    """Return the law of a name without an article yet."""
    for written in (longer, name):
        if written and (documents := laws.find(written)):
            return ArticleReference("", "", name, tuple(documents))
    return None
