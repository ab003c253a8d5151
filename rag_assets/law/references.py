"""Articles that a text names: “《劳动合同法》第三十九条”, “刑法 133条”, “第76条 网络安全法”.

The law may stand behind its article; without one the article of any law is meant.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from rag_assets.law.articles import (
    NUMBER,
    ArticleReference,
    article_key,
    find_english_mentions,
    read_number,
    write_number,
)
from rag_assets.law.names import LAW_NOUNS, EnglishLawNames, LawNames
from rag_assets.model import HAN_RANGES

_PART_OF_NAME = r"(?:\d+/\d+(?:/[A-Z]{2,4})?|\(\w{1,12}\)|[A-Za-z&][\w'’.&-]*|\d{4})"
_AFTER = re.compile(
    rf"^[\s,]*(?P<of>(?:of|in|from|under)\s+)?"
    rf"(?P<run>{_PART_OF_NAME}(?:\s+{_PART_OF_NAME}){{0,13}})"
)
_BEFORE = re.compile(rf"(?P<run>(?:{_PART_OF_NAME}\s+){{0,9}}{_PART_OF_NAME})(?:['’]s)?[\s,:]*$")
# Capitals that no sentence begins with: GDPR, C.F.R.
_INITIALS = re.compile(r"[A-Z](?:\.?[A-Z]){2,7}\.?")
_YEARS = range(1900, 2100)


class _Law(NamedTuple):
    name: str
    documents: tuple[str, ...] = ()
    is_whole: bool = True
    is_full_name: bool = True


def find_english_references(text: str, laws: EnglishLawNames) -> Iterator[ArticleReference]:
    """Yield the articles that a text names, in their order; the law stands behind or before."""
    reached = 0
    for mention in find_english_mentions(text):
        after, before = text[mention.end :], text[reached : mention.start]
        law = _known_after(after, laws) or _known_before(before, laws) or _unknown_after(after)
        reached = mention.end
        for key, shown in mention.articles:
            number = key.rpartition(" ")[2]
            is_year = number.isdecimal() and int(number) in _YEARS
            if (law is None or not law.documents) and (is_year or mention.needs_law):
                continue  # “articles 2010 to 2020”
            bare = ArticleReference(key, shown, is_plain_word=mention.is_plain_word)
            yield bare if law is None else replace(
                bare, law=law.name, documents=law.documents, is_whole=law.is_whole,
                is_surely_law=law.is_full_name,
            )  # fmt: skip


def find_english_law(text: str, laws: EnglishLawNames) -> tuple[str, tuple[str, ...], bool] | None:
    """Return name, documents and whether it is their name of the law that a text ends with."""
    law = _known_before(text, laws)
    return None if law is None else (law.name, law.documents, law.is_whole)


def _known_after(text: str, laws: EnglishLawNames) -> _Law | None:
    match = _AFTER.match(text)
    if match is None:
        return None
    tokens = match["run"].split()
    return _first([" ".join(tokens[:end]) for end in range(len(tokens), 0, -1)], laws)


def _known_before(text: str, laws: EnglishLawNames) -> _Law | None:
    match = _BEFORE.search(text)
    if match is None:
        return None
    tokens = match["run"].split()
    return _first([" ".join(tokens[start:]) for start in range(len(tokens))], laws)


def _first(names: Sequence[str], laws: EnglishLawNames) -> _Law | None:
    """Return the longest of these names that is a law's, else that is taken for one."""
    found = []
    for name in names:
        documents, is_whole = laws.find(name)
        if documents:
            found.append(_Law(_plain(name), tuple(documents), is_whole))
    return next((law for law in found if law.is_whole), found[0] if found else None)


def _unknown_after(text: str) -> _Law | None:
    """Return the law that a text names and the library does not hold."""
    match = _AFTER.match(text)
    if match is None:
        return None
    tokens = match["run"].split()
    if match["of"] is not None:
        for place, token in enumerate(tokens):
            is_law = token.casefold() in LAW_NOUNS and token[0].isupper()
            if is_law and place >= 1 + (tokens[0].casefold() == "the"):
                return _Law(_plain(" ".join(tokens[: place + 1])))
    first = tokens[1] if tokens[0].casefold() == "the" and len(tokens) > 1 else tokens[0]
    if _INITIALS.fullmatch(first):
        return _Law(first, is_full_name=False)
    return None


def _plain(name: str) -> str:
    return re.sub(r"^the\s+|['’]s$", "", name, flags=re.IGNORECASE)


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
_LATIN_BEFORE = re.compile(r"(?P<run>[A-Za-z][A-Za-z\d/&'’. -]{0,80})$")
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


def names_articles(text: str) -> bool:
    """Say whether a text may name an article: worth reading the names of a library's laws."""
    return "条" in text or next(find_english_mentions(text), None) is not None


def find_references(text: str, laws: LawNames) -> list[ArticleReference]:
    """Return the articles that a text names, each with its law, in their order; English ones last.

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
            ArticleReference(key, shown, running.law, running.documents, running.is_whole)
            for key, shown in _articles(match)
        )
    return list(dict.fromkeys([*found, *find_english_references(text, laws.english)]))


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
    latin = _LATIN_BEFORE.search(trimmed)
    if latin is not None:
        found = find_english_law(latin["run"], laws.english)
        return ArticleReference("", "", *found) if found else None
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
