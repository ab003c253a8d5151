"""Articles of a statute: which one a citation names, and where each stands."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.auditing.library import CitedDocument, Passage
from rag_assets.law import (
    NUMBER,
    LawNames,
    article_key,
    find_begins,
    find_english_references,
    has_articles,
)

_NAMED = re.compile(
    rf"(?:《(?P<law>[^》]{{2,60}})》[^，。；《》第]{{0,6}})?"
    rf"第\s?(?P<number>{NUMBER})\s?条(?:\s?之\s?(?P<part>{NUMBER}))?"
)


@dataclass(frozen=True, slots=True)
class ArticlePart:
    """What a passage holds of an article: its span in the passage, half-open.

    Args:
        key: as of `ArticleBegin`.
        shown: as the statute writes it.
    """

    key: str
    shown: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Articles:
    """The parts of a document's articles, by passage; empty for what is no statute."""

    by_passage: tuple[tuple[ArticlePart, ...], ...]

    def __bool__(self) -> bool:
        return any(self.by_passage)

    def at(self, passage: int, place: int) -> ArticlePart | None:
        """Return the article that a place of a passage belongs to, None before the first one."""
        parts = self.by_passage[passage] if self.by_passage else ()
        return next((part for part in parts if part.start <= place < part.end), None)

    def parts_of(self, key: str) -> list[tuple[int, ArticlePart]]:
        """Return the parts of an article, each with its passage, in the order of the document."""
        return [
            (number, part)
            for number, parts in enumerate(self.by_passage)
            for part in parts
            if part.key == key
        ]


@lru_cache(maxsize=64)
def _read(texts: tuple[str, ...]) -> Articles:
    by_passage = []
    running: tuple[str, str] | None = None
    count = 0
    for text in texts:
        parts = []
        begins = find_begins(text)
        count += len(begins)
        starts = [0, *(begin.start for begin in begins)]
        named = [running, *((begin.key, begin.shown) for begin in begins)]
        for start, end, article in zip(starts, [*starts[1:], len(text)], named, strict=True):
            if article is not None and end > start:
                parts.append(ArticlePart(*article, start, end))
        running = named[-1]
        by_passage.append(tuple(parts))
    return Articles(tuple(by_passage) if has_articles(count) else ())


def read_articles(document: CitedDocument) -> Articles:
    """Return the articles of a document. A passage goes on with the article before it."""
    passages: Sequence[Passage] = document.passages
    return _read(tuple(passage.text for passage in passages))


def find_article(text: str, title: str | None = None) -> tuple[str, str] | None:
    """Return key and wording of the one article that a text names; None for none or several.

    Args:
        text: a sentence, or what stands behind a key.
        title: of the cited document; an article of another law that the text names is not its.
    """
    found = {
        article_key(match["number"], match["part"]): _shown(match)
        for match in _NAMED.finditer(text)
        if not match["law"] or title is None or _is_same_law(match["law"], title)
    }
    for one in find_english_references(text, LawNames({title: [title]} if title else {}).english):
        is_its = bool(one.documents) or title is None
        # A “section” of a sentence may be one of the draft; capitals may be another name.
        if is_its or (not one.is_plain_word and (one.law is None or not one.is_surely_law)):
            found[one.key] = one.shown
    return next(iter(found.items())) if len(found) == 1 else None


def find_unmentioned(text: str, passage: str) -> str | None:
    """Return the first article that a text names and a passage does not, None where there is none.

    Of a document that is no statute: only what it says of an article can be told to be of it.
    """
    there = {key for key, _ in _mentions(passage)}
    return next((shown for key, shown in _mentions(text) if key not in there), None)


def _mentions(text: str) -> Iterator[tuple[str, str]]:
    for match in _NAMED.finditer(text):
        yield article_key(match["number"], match["part"]), _shown(match)
    for one in find_english_references(text, LawNames({}).english):
        if one.law is not None or not one.is_plain_word:
            yield one.key, one.shown


def _is_same_law(law: str, title: str) -> bool:
    return bool(LawNames({title: [title]}).find(law)[0])


def _shown(match: re.Match[str]) -> str:
    part = f"之{match['part']}" if match["part"] else ""
    return f"第{match['number']}条{part}"
