"""Articles of a statute: which one a citation names, and where each stands."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from rag_assets.auditing.library import CitedDocument, Passage
from rag_assets.law import (
    ARTICLE_AND_CLAUSE,
    Clause,
    LawNames,
    article_key,
    find_begins,
    find_clauses,
    find_english_references,
    has_articles,
    is_name_of,
    read_clause,
)

_NAMED = re.compile(rf"(?:《(?P<law>[^》]{{2,60}})》[^，。；《》第]{{0,6}})?{ARTICLE_AND_CLAUSE}")


class NamedArticle(NamedTuple):
    """An article that a citation names, and which clause of it.

    Args:
        key: as of `ArticleBegin`.
        shown: as it is written, with its clause.
        paragraph: 款, from 1; None where none or several are named. `item` (项) likewise.
    """

    key: str
    shown: str
    paragraph: int | None = None
    item: int | None = None

    def is_missed_by(self, clause: Clause | None) -> bool:
        """Say whether another clause is named. Words before the items of a paragraph miss none."""
        if clause is None:
            return False
        if self.paragraph is not None and self.paragraph != clause.paragraph:
            return True
        return self.item is not None and clause.item not in {None, self.item}


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
        return next(
            (part for part in self.parts_in(passage) if part.start <= place < part.end), None
        )

    def parts_in(self, passage: int) -> tuple[ArticlePart, ...]:
        """Return the parts of articles that a passage holds."""
        return self.by_passage[passage] if self.by_passage else ()

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


def clause_at(document: CitedDocument, key: str, passage: int, place: int) -> Clause | None:
    """Return the clause of an article that a place of a passage belongs to, None for none."""
    return next(
        (
            clause
            for number, start, end, clause in clauses_of(document, key)
            if number == passage and start <= place < end
        ),
        None,
    )


def show_article(document: CitedDocument, passage: int, place: int) -> str | None:
    """Return article and clause that a place of a passage belongs to, None outside of all."""
    part = read_articles(document).at(passage, place)
    if part is None:
        return None
    clause = clause_at(document, part.key, passage, place)
    return part.shown + (clause.shown if clause is not None else "")


def spans_of(document: CitedDocument, named: NamedArticle) -> dict[int, tuple[int, int]]:
    """Return where the article that is named stands, by passage; of it the paragraph, where one is
    named or holds the item that is, and the article has it.
    """
    clauses = clauses_of(document, named.key)
    wanted = {
        clause.paragraph
        for *_, clause in clauses
        if named.paragraph == clause.paragraph
        or (named.paragraph is None and named.item is not None and named.item == clause.item)
    }
    spans = [
        (passage, start, end)
        for passage, start, end, clause in clauses
        if clause.paragraph in wanted
    ] or [(i, part.start, part.end) for i, part in read_articles(document).parts_of(named.key)]
    found: dict[int, tuple[int, int]] = {}
    for passage, start, end in spans:
        first, last = found.get(passage, (start, end))
        found[passage] = (min(first, start), max(last, end))
    return found


def clauses_of(document: CitedDocument, key: str) -> list[tuple[int, int, int, Clause]]:
    """Return the clauses of a Chinese article: passage, span in it, clause; one that goes on in the
    next passage is there twice. Empty where none could be counted: passages overlap, or the number
    begins two articles, one of them of an annex.
    """
    parts = [p for p in read_articles(document).parts_of(key) if p[1].shown.startswith("第")]
    article, begins = "", []
    end: int | None = None
    if sum(bool(find_begins(_text_of(document, *part))) for part in parts) > 1:
        return []
    for number, part in parts:
        passage = document.passages[number]
        gap = None if end is None or passage.char_start is None else passage.char_start - end
        if gap is not None and gap < 0:
            return []
        # A passage that begins where the last one ends goes on with its paragraph.
        article += "\n" if article and gap != 0 else ""
        begins.append(len(article))
        article += _text_of(document, number, part)
        end = passage.char_end
    found = []
    for clause in find_clauses(article):
        for (number, part), begin in zip(parts, begins, strict=True):
            first = max(part.start, part.start + clause.start - begin)
            last = min(part.end, part.start + clause.end - begin)
            if first < last:
                found.append((number, first, last, clause))
    return found


def _text_of(document: CitedDocument, passage: int, part: ArticlePart) -> str:
    return document.passages[passage].text[part.start : part.end]


def find_article(text: str, title: str | None = None) -> NamedArticle | None:
    """Return the one article that a text names; None for none or several.

    Args:
        text: a sentence, or what stands behind a key.
        title: of the cited document; an article of another law that the text names is not its.
    """
    found: dict[str, NamedArticle] = {}
    for match in _NAMED.finditer(text):
        if match["law"] and title is not None and not is_name_of(match["law"], title):
            continue
        named = _read_named(match)
        before = found.get(named.key, named)
        found[named.key] = named if before == named else NamedArticle(named.key, _shown(match))
    for one in find_english_references(text, LawNames({title: [title]} if title else {}).english):
        is_its = bool(one.documents) or title is None
        # A “section” of a sentence may be one of the draft; capitals may be another name.
        if is_its or (not one.is_plain_word and (one.law is None or not one.is_surely_law)):
            found[one.key] = NamedArticle(one.key, one.shown)
    return next(iter(found.values())) if len(found) == 1 else None


def _read_named(match: re.Match[str]) -> NamedArticle:
    paragraph, item = read_clause(match)
    shown = _shown(match) + (f"第{match['paragraph']}款" if paragraph else "")
    shown += f"第{match['item']}项" if item else ""
    return NamedArticle(article_key(match["number"], match["part"]), shown, paragraph, item)


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


def _shown(match: re.Match[str]) -> str:
    part = f"之{match['part']}" if match["part"] else ""
    return f"第{match['number']}条{part}"
