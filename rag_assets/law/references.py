"""Articles that a text names: “《劳动合同法》第三十九条”, “刑法 133条”, “第76条 网络安全法”.

The law may stand behind its article; without one the article of any law is meant.
"""

import re
import unicodedata
from collections.abc import Sequence

from rag_assets.law.articles import ArticleReference, article_key
from rag_assets.law.english_articles import find_english_mentions
from rag_assets.law.english_references import find_english_law, find_english_references
from rag_assets.law.names import LawNames
from rag_assets.law.numbers import NUMBER
from rag_assets.model import HAN_RANGES

_ARTICLE = re.compile(rf"(?P<mark>第?)\s*(?P<number>{NUMBER})\s*条(?:\s*之\s*(?P<part>{NUMBER}))?")
_TITLED_BEFORE = re.compile(r"《(?P<law>[^《》]{2,80})》(?P<book>[^，。；《》第]{0,6})$")
_TITLED_AFTER = re.compile(r"^[\s的]*《(?P<law>[^《》]{2,80})》")
_RUN_BEFORE = re.compile(rf"(?P<run>[{HAN_RANGES}A-Za-z()·]{{2,60}})$")
_RUN_AFTER = re.compile(rf"^\s+(?P<run>[{HAN_RANGES}A-Za-z()·]{{2,60}})")
_LATIN_BEFORE = re.compile(r"(?P<run>[A-Za-z][A-Za-z\d/&'’. -]{0,80})$")
# Between a law and its article: 刑法的第三条, 刑法中 第三条.
_BETWEEN = re.compile(r"(?:的|中|里|规定的|\s|,|,)*$")
# What names of laws end with.
_ENDS = "法典例则定释法办规章程编)"
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
        if not match["mark"] and not running.documents:
            continue
        reached = match.end()
        shown = "".join(match.group().split())
        reference = ArticleReference(
            article_key(match["number"], match["part"]),
            shown if match["mark"] else f"第{shown}",
            running.law, running.documents, running.is_whole,
        )  # fmt: skip
        found.append(reference)
    return list(dict.fromkeys([*found, *find_english_references(text, laws.english)]))


def _before(text: str, laws: LawNames) -> ArticleReference | None:
    text = _BETWEEN.sub("", text)
    titled = _TITLED_BEFORE.search(text)
    if titled is not None:
        law = titled["law"]
        return _reference(law, laws, law + titled["book"].strip()) or ArticleReference("", "", law)
    run = _RUN_BEFORE.search(text)
    if run is None:
        return None
    latin = _LATIN_BEFORE.search(text)
    if latin is not None:
        found = find_english_law(latin["run"], laws.english)
        return ArticleReference("", "", *found) if found else None
    return _first([run["run"][start:] for start in range(len(run["run"]) - _FEWEST + 1)], laws)


def _after(text: str, laws: LawNames) -> ArticleReference | None:
    titled = _TITLED_AFTER.search(text)
    if titled is not None:
        return _reference(titled["law"], laws) or ArticleReference("", "", titled["law"])
    run = _RUN_AFTER.search(text)
    if run is None:
        return None
    return _first([run["run"][:end] for end in range(len(run["run"]), _FEWEST - 1, -1)], laws)


def _first(names: Sequence[str], laws: LawNames) -> ArticleReference | None:
    """Return the longest of these names that is a law's, else that abbreviates one."""
    found = [law for name in names if name[-1] in _ENDS and (law := _reference(name, laws))]
    return next((law for law in found if law.is_whole), found[0] if found else None)


def _reference(name: str, laws: LawNames, longer: str = "") -> ArticleReference | None:
    """Return the law of a name without an article yet."""
    for written in (longer, name):
        documents, is_whole = laws.find(written) if written else ([], False)
        if documents:
            return ArticleReference("", "", name, tuple(documents), is_whole)
    return None
