"""The laws that publications hold: by name, and how each wording stands on a day."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from itertools import combinations
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from rag_assets.law import (
    NUMBER,
    ArticleReference,
    LawNames,
    article_pattern,
    describe_missing,
    find_clauses,
    find_references,
    mark_name,
    own_name,
)
from rag_assets.law.citing import write_citation
from rag_assets.law.metadata import StatedRepeal
from rag_assets.law.structure import is_amendment
from rag_assets.law.versions import LAWS_KEY, Judged, Standing, Wording, judge_wordings
from rag_assets.model import Article
from rag_assets.retrieval.candidates import fetch_hits
from rag_assets.retrieval.filters import SearchFilters
from rag_assets.retrieval.hits import LAW_COLUMNS, Hit, LawMark, articles_of

if TYPE_CHECKING:
    import pyarrow as pa

    from rag_assets.retrieval.reader import Reader


@dataclass(frozen=True, slots=True)
class HeldLaw:
    """A law of a document, or a document of which no law is known, by the names that it has.

    Args:
        key: `namespace::doc_uid`; of a file with several laws with `::1` and so on behind it.
        file: of the document.
        chunks: how many the document has.
        title: of the document; its law's own is `wording.title`.
        wording: what is known of it; None where the document is not read as statutes.
        own_titles: what tells that two documents hold wordings of one law, as `own_name` has it;
            none of what is no statute.
    """

    key: str
    namespace: str
    doc_uid: str
    content_hash: str
    file: str
    chunks: int
    title: str
    wording: Wording | None
    own_titles: frozenset[str] = frozenset()

    @property
    def shown_title(self) -> str:
        """The law's title, else the document's, else the file's name."""
        own = self.wording.title if self.wording is not None else None
        return own or self.title or PurePosixPath(self.file).stem

    @property
    def is_in_compilation(self) -> bool:
        """Whether its file holds several laws."""
        return self.key.count("::") > 1

    @property
    def version_day(self) -> date:
        """The day of its wording, the first of all where that is not known."""
        known = self.wording.version_date if self.wording is not None else None
        return known or date.min

    @property
    def law_title(self) -> str | None:
        """The title by which the chunks of this law are told from others of the file."""
        return self.wording.title if self.wording is not None else None


class PublishedLaws:
    """The laws of one publication.

    Args:
        namespace: that published it.
        documents: the catalogue's rows.
    """

    def __init__(self, namespace: str, documents: "pa.Table") -> None:
        columns = ["doc_uid", "title", "source_uri", "content_hash", "chunks", "metadata"]
        self.by_key: dict[str, HeldLaw] = {}
        self._by_title: dict[str, list[str]] = {}
        self._repeals: dict[str, list[tuple[Wording, StatedRepeal]]] = {}
        # Numbers that several articles of a law have, by the law's key; filled when first asked.
        self.repeated: dict[str, frozenset[str]] = {}
        names: dict[str, Sequence[str]] = {}
        for row in documents.select(columns).to_pylist():
            for law, called in _laws_of(namespace, row):
                self.by_key[law.key] = law
                names[law.key] = called
                for title in law.own_titles:
                    self._by_title.setdefault(title, []).append(law.key)
                if law.wording is not None:
                    for repeal in law.wording.repeals:
                        said = law.wording, repeal
                        self._repeals.setdefault(own_name(repeal.law), []).append(said)
        self.names = LawNames(names)

    @cached_property
    def holds_statutes(self) -> bool:
        """Whether any document was read as statutes and is one."""
        return any(law.wording and law.wording.is_statute for law in self.by_key.values())

    @cached_property
    def titles_of_several(self) -> frozenset[str]:
        """The titles that more than one law has."""
        return frozenset(title for title, keys in self._by_title.items() if len(keys) > 1)

    @property
    def titles(self) -> AbstractSet[str]:
        """The titles of all laws, as `own_name` has them."""
        return self._by_title.keys()

    def called(self, title: str) -> Sequence[str]:
        """Return the keys of the laws with a title, as `own_name` has it."""
        return self._by_title.get(title, ())

    def repeals_of(self, title: str) -> Sequence[tuple[Wording, StatedRepeal]]:
        """Return what its laws say to repeal a title, as `own_name` has it."""
        return self._repeals.get(title, ())


def _laws_of(namespace: str, row: Mapping[str, Any]) -> Iterable[tuple[HeldLaw, Sequence[str]]]:
    """Yield the laws of a document, each with its names."""
    key, title, file = f"{namespace}::{row['doc_uid']}", row["title"] or "", row["source_uri"] or ""
    stem = PurePosixPath(file).stem
    wordings = [
        Wording.from_record(one) for one in json.loads(row["metadata"] or "{}").get(LAWS_KEY, ())
    ]
    place = (namespace, row["doc_uid"], row["content_hash"], file, row["chunks"], title)
    if len(wordings) == 1:
        (wording,) = wordings
        own = _own_titles(wording, title, wording.title)
        yield HeldLaw(key, *place, wording, own), (title, stem, wording.title or "")
        return
    own_titles = [wording.title or "" for wording in wordings]
    # A file of several laws often has the first one's title.
    yield HeldLaw(key, *place, None), [one for one in (title, stem) if one not in own_titles]
    for number, wording in enumerate(wordings, start=1):
        own = _own_titles(wording, wording.title)
        if own_titles.count(wording.title or "") > 1 and is_amendment(wording.title or ""):
            # Two decisions of one title behind a law: neither is a wording of the other.
            own = frozenset(f"{name} {wording.version_date}" for name in own)
        yield HeldLaw(f"{key}::{number}", *place, wording, own), (wording.title or "",)


def _own_titles(wording: Wording, *titles: str | None) -> frozenset[str]:
    if not wording.is_statute:
        return frozenset()
    return frozenset(name for title in titles if (name := own_name(title or "")))


class HeldLaws:
    """The laws of several publications.

    Args:
        published: one a namespace.
    """

    def __init__(self, published: Sequence[PublishedLaws]) -> None:
        self._published = published
        self.names = LawNames.joined([one.names for one in published])
        self._judged: dict[date, dict[str, Judged]] = {}

    @property
    def holds_statutes(self) -> bool:
        """Whether any of the publications holds a statute."""
        return any(one.holds_statutes for one in self._published)

    def __getitem__(self, key: str) -> HeldLaw:
        return next(one.by_key[key] for one in self._published if key in one.by_key)

    def find(self, key: str) -> HeldLaw | None:
        """Return a law by its key, None where there is none."""
        return next((one.by_key[key] for one in self._published if key in one.by_key), None)

    def with_books(self, laws: "Sequence[HeldLaw]") -> list[HeldLaw]:
        """Return some laws, and of a book of a code the others: 民法典 lies in several files."""
        beside = (key for law in laws for key in self.names.books_beside(law.shown_title))
        return [self[key] for key in dict.fromkeys([*(law.key for law in laws), *beside])]

    def wordings_in(self, question: str) -> list[str]:
        """Return the uids of the wordings that a question names by their day: 公司法(2018)第3条."""
        return [
            law.doc_uid
            for one in find_references(question, self.names)
            for law in map(self.__getitem__, one.documents)
            if one.version is not None and str(law.version_day).startswith(one.version)
        ]

    def within(self, law: HeldLaw) -> list[HeldLaw]:
        """Return the laws that a document of several holds; none for any other."""
        found: list[HeldLaw] = []
        while (one := self.find(f"{law.key}::{len(found) + 1}")) is not None:
            found.append(one)
        return found

    def of_passage(self, namespace: str, doc_uid: str, law_title: str | None) -> HeldLaw | None:
        """Return the law that a passage belongs to, None where its document holds no statute."""
        law = self.find(f"{namespace}::{doc_uid}")
        if law is not None and law.wording is None:
            law = next((one for one in self.within(law) if one.law_title == law_title), None)
        is_statute = law is not None and law.wording is not None and law.wording.is_statute
        return law if is_statute else None

    def judge(self, law: HeldLaw, day: date) -> Judged:
        """Return how a wording stands on a day, beside all wordings of the same law."""
        judged = self._judged.setdefault(day, {})
        if law.key not in judged:
            group = self.wordings_of(law)
            wordings = [one.wording for one in group if one.wording is not None]
            own = {title for one in group for title in one.own_titles}
            stated = [
                said
                for published in self._published
                for title in sorted(own)
                for said in published.repeals_of(title)
                # A new wording of a law supersedes the former one.
                if own_name(said[0].title or "") not in own
            ]
            found = judge_wordings(wordings, day, stated)
            judged |= {one.key: how for one, how in zip(group, found, strict=True)}
        return judged[law.key]

    def is_one_of_several(self, law: HeldLaw) -> bool:
        """Say whether there are wordings of a law of other days, or of none that is known."""
        days = {one.wording.version_date for one in self.wordings_of(law) if one.wording}
        return len(days) > 1

    def not_holding(self, day: date) -> dict[str, HeldLaw]:
        """Return the wordings in whose place another wording of the same law is in force.

        By key: those that are superseded or not yet in force on the day.
        """
        titles: set[str] = set().union(*(one.titles_of_several for one in self._published))
        for one, other in combinations(self._published, 2):
            titles |= one.titles & other.titles
        found: dict[str, HeldLaw] = {}
        called = (one.called(title) for one in self._published for title in titles)
        for key in dict.fromkeys(key for keys in called for key in keys):
            law = self[key]
            if self.judge(law, day).standing not in {"superseded", "not_yet_in_force"}:
                continue
            others = self.wordings_of(law)
            if any(self.judge(other, day).standing == "in_force" for other in others):
                found[key] = law
        return found

    def mark(self, hit: Hit, day: date) -> Hit:
        """Return a hit with the wording that it is of, and how it stands on a day."""
        law = self.of_passage(hit.namespace, hit.doc_uid, hit.law_title)
        if law is None or law.wording is None:
            return hit
        judged = self.judge(law, day)
        mark = LawMark(
            law.shown_title,
            judged.standing,
            law.wording.version_date,
            judged.holds_from,
            judged.is_stated,
            self.is_one_of_several(law),
            judged.repeal.shown if judged.repeal is not None else None,
        )
        return replace(hit, law=mark)

    def wordings_of(self, law: HeldLaw) -> list[HeldLaw]:
        """Return all wordings of a law, itself among them; none where none is known of it."""
        if law.wording is None:
            return []
        found = {law.key: law}
        waiting = [law]
        while waiting:
            for title in waiting.pop().own_titles:
                for published in self._published:
                    for key in published.called(title):
                        if key not in found:
                            found[key] = published.by_key[key]
                            waiting.append(found[key])
        return list(found.values())


def find_articles(
    reader: "Reader", law: HeldLaw, key: str | None = None
) -> list[tuple[str, tuple[Article, ...]]] | None:
    """Return the id of each chunk of a law with the articles that it holds, in order.

    None where the publication knows no articles of its chunks: it is older, or the document is no
    Chinese statute.

    Args:
        key: of the article that a chunk has to hold, `133-1`; None for all chunks.
    """
    if law.wording is None or not law.wording.articles:
        return None
    if not reader.knows_articles:
        return None
    ids = [f"{law.doc_uid}:{index}" for index in range(law.chunks)]
    table = reader.fetch_rows(ids, ("chunk_id", *LAW_COLUMNS))
    if key is not None:
        import pyarrow.compute as pc

        # A law has up to a thousand chunks: only those of the article become Python's.
        articles = table["articles"].combine_chunks()
        keys = pc.struct_field(pc.list_flatten(articles), "key")
        table = table.take(pc.unique(pc.list_parent_indices(articles).filter(pc.equal(keys, key))))
    return [
        (row["chunk_id"], articles_of(row))
        for row in table.to_pylist()
        if row["law_title"] == law.law_title
    ]


@dataclass(frozen=True, slots=True)
class AskedDay:
    """The day for which laws are asked, and what of them is searched.

    Args:
        laws: of the publications that are asked.
        has_all_versions: whether wordings in whose place another is in force are found too.
        named: uids of documents that are asked for: these are found, whatever they hold.
    """

    laws: HeldLaws
    day: date
    has_all_versions: bool = False
    named: Sequence[str] = ()
    left_out: Mapping[str, HeldLaw] = field(init=False)

    def __post_init__(self) -> None:
        found = {} if self.has_all_versions else self.laws.not_holding(self.day)
        left_out = {key: law for key, law in found.items() if law.doc_uid not in self.named}
        object.__setattr__(self, "left_out", left_out)

    @property
    def documents(self) -> tuple[str, ...]:
        """`namespace:doc_uid` of the documents that are left out whole, sorted."""
        whole = (law for law in self.left_out.values() if not law.is_in_compilation)
        return tuple(sorted(f"{law.namespace}:{law.doc_uid}" for law in whole))

    @property
    def shown(self) -> str:
        """What of laws is searched, in words."""
        if self.has_all_versions:
            return f"all wordings of laws, judged on {self.day}"
        return f"laws in force on {self.day}"

    def mark(self, hit: Hit) -> Hit:
        """Return a hit with the wording that it is of, and how it stands on the day."""
        return self.laws.mark(hit, self.day)

    def is_in_compilation(self, hit: Hit) -> bool:
        """Say whether a hit is of a file with several laws."""
        law = self.laws.of_passage(hit.namespace, hit.doc_uid, hit.law_title)
        return law is not None and law.is_in_compilation

    def finds(self, hit: Hit) -> bool:
        """Say whether a hit is of no wording that is left out."""
        law = self.laws.of_passage(hit.namespace, hit.doc_uid, hit.law_title)
        return law is None or law.key not in self.left_out

    def chosen(self, laws: Sequence[HeldLaw]) -> list[HeldLaw]:
        """Return what of some laws is found, those in force first, then the newest first, then
        those in files of their own.
        """
        found = [law for law in laws if law.key not in self.left_out]
        found.sort(key=lambda law: (-law.version_day.toordinal(), law.is_in_compilation))
        return sorted(found, key=lambda law: self._standing(law) != "in_force")

    def in_force(self, laws: Sequence[HeldLaw]) -> list[HeldLaw]:
        """Return those of some laws that are in force on the day."""
        return [law for law in laws if self._standing(law) == "in_force"]

    def _standing(self, law: HeldLaw) -> Standing | None:
        return self.laws.judge(law, self.day).standing if law.wording is not None else None


# Articles of laws that a question names stand first: they are looked up, not searched.


@dataclass(frozen=True, slots=True)
class _Found:
    """What a reference led to: keys of chunks, the article's beginning first."""

    reference: ArticleReference
    keys: tuple[str, ...]


_HAS_NUMBER = re.compile(rf"\d|{NUMBER}|\b[IVXLC]+\b")


def put_articles_first(
    readers: "Sequence[Reader]",
    text: str,
    hits: Sequence[Hit],
    filters: SearchFilters,
    day: AskedDay | None = None,
) -> tuple[list[Hit], list[str]]:
    """Return hits with the articles that a question names before all others.

    Of a law that is named the wording whose day is named, else the one in force on the day that is
    asked for, without a day the newest that holds the article; where no law is named the article of
    each document, in the order of the search.

    Args:
        readers: one a namespace.
        text: of the question.
        hits: as searched, best first.
        filters: hold for articles too.
        day: on which a wording has to hold.

    Returns:
        The hits, those that were put first with `named_article` in their explanations and the best
        hit's score; and what a person should know: a law or article that is not there.
    """
    # Without a number nothing is named, and no catalogue is read for the names of its laws.
    if not _HAS_NUMBER.search(text):
        return list(hits), []
    laws = day.laws if day is not None else HeldLaws([reader.laws for reader in readers])
    references = find_references(text, laws.names)
    if not references:
        return list(hits), []
    found = [_look_up(readers, laws, reference, filters, day) for reference in references]
    order = {hit.chunk_key: place for place, hit in enumerate(hits)}
    named: dict[str, str] = {}
    for one in found:
        keys = one.keys
        if _is_of_any(one.reference):
            keys = tuple(sorted(keys, key=lambda key: order.get(key, len(order))))
        for key in keys:
            named.setdefault(key, one.reference.shown)
    known = {hit.chunk_key: hit for hit in hits}
    known |= fetch_hits(readers, [key for key in named if key not in known])
    warnings = [text for one in found for text in _warnings(one, laws, readers, known, day)]
    best = hits[0].score if hits else 1.0
    first = [
        replace(
            known[key], score=best, explanation={**known[key].explanation, "named_article": shown}
        )
        for key, shown in named.items()
        if day is None or day.finds(known[key])
    ]
    return [*first, *(hit for hit in hits if hit.chunk_key not in named)], warnings


def _is_of_any(reference: ArticleReference) -> bool:
    """Say whether the article of each document is meant: no law is named."""
    return not reference.documents and reference.law is None


def _look_up(
    readers: "Sequence[Reader]",
    laws: HeldLaws,
    reference: ArticleReference,
    filters: SearchFilters,
    day: AskedDay | None,
) -> _Found:
    pattern = article_pattern(reference.key)
    if _is_of_any(reference):
        keys = tuple(
            f"{reader.namespace}::{chunk_id}"
            for reader in readers
            for chunk_id in reader.find_pattern(pattern, filters)
        )
        return _Found(reference, keys)
    by_name = {reader.namespace: reader for reader in readers}
    meant = [laws[key] for key in reference.documents]
    for law in day.chosen(meant) if day is not None else meant:
        reader = by_name[law.namespace]
        held = find_articles(reader, law, reference.key)
        if held is None:
            ids = reader.find_pattern(pattern, filters, law.doc_uid)
        else:
            ids = reader.passing([chunk_id for chunk_id, _ in held], filters)
        if ids:
            return _Found(reference, tuple(f"{law.namespace}::{one}" for one in ids))
    return _Found(reference, ())


def _warnings(
    found: _Found,
    laws: HeldLaws,
    readers: "Sequence[Reader]",
    hits: Mapping[str, Hit],
    day: AskedDay | None,
) -> Iterator[str]:
    reference = found.reference
    if _is_of_any(reference):
        if not found.keys:
            yield f"no passage searched begins with {reference.shown}"
        return
    if not reference.documents:
        near = ", ".join(map(mark_name, laws.names.nearest(reference.law or "")))
        yield (
            f"{mark_name(reference.law or '')} is not the name of a document searched: "
            f"{reference.shown} of it cannot be shown"
            + (f"; the nearest names are {near}" if near else "")
        )
        return
    meant = mark_name(reference.law or "")
    days = [str(laws[key].version_day) for key in reference.documents]
    if reference.version and not any(one.startswith(reference.version) for one in days):
        yield f"{meant} has no wording of {reference.version} here, but of {', '.join(days)}"
    if not found.keys:
        held = [laws[key] for key in reference.documents]
        if day is not None:
            held = day.in_force(held) or held
        nearest = nearest_article(readers, laws.with_books(held), reference.key)
        near = f"; the nearest is {cite_article(*nearest)}" if nearest is not None else ""
        yield f"{meant} has no {reference.shown} among the passages searched{near}"
        return
    hit = hits[found.keys[0]]
    for article in hit.articles:
        is_whole = hit.char_start <= article.char_start and article.char_end <= hit.char_end
        if article.key == reference.key and is_whole:
            own = hit.text[article.char_start - hit.char_start : article.char_end - hit.char_start]
            missing = describe_missing(
                article.shown, find_clauses(own), reference.paragraph, reference.item,
                is_bracketed=reference.is_bracketed,
            )  # fmt: skip
            if missing is not None:
                yield f"{meant}: {missing}"


def nearest_article(
    readers: "Sequence[Reader]", laws: Sequence[HeldLaw], key: str
) -> tuple[HeldLaw, Article, Hit] | None:
    """Return the article of some laws whose number is nearest, with its law and the chunk in which
    it begins; None where they have no articles.
    """
    number, _, part = key.partition("-")
    by_name = {reader.namespace: reader for reader in readers}
    held = [
        (abs(one.number - int(number)), abs(one.part - int(part or 0)), place, one, chunk_id)
        for place, law in enumerate(laws)
        for chunk_id, articles in find_articles(by_name[law.namespace], law) or ()
        for one in articles
    ]
    if not held:
        return None
    _, _, place, article, chunk_id = min(held, key=lambda one: one[:3])
    return laws[place], article, by_name[laws[place].namespace].fetch_hits([chunk_id])[chunk_id]


def cite_article(law: HeldLaw, article: Article, hit: Hit, day: str = "") -> str:
    """Return the citation of an article of a law, with the day of its wording where it is given."""
    return write_citation(law.shown_title, hit.section_path, article.shown, version=day)
