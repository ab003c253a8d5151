"""The laws of a library by name: their wordings, which of them holds, and their articles."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from itertools import pairwise

from rag_assets.chunking import split_sentences
from rag_assets.law import (
    Clause,
    describe_missing,
    find_clauses,
    find_references,
    mark_name,
    pick_clause,
    write_number,
)
from rag_assets.law.citing import StatuteCitation, citation_of, is_below, write_citation
from rag_assets.law.metadata import LawLevel
from rag_assets.law.versions import Judged, Standing, Wording
from rag_assets.model import HAN, HAN_RANGES, Article, UsageError
from rag_assets.parsing import read_parsed
from rag_assets.retrieval import (
    HeldLaw,
    HeldLaws,
    Hit,
    OpenedLibrary,
    ParentHit,
    Publications,
    Reader,
    Retriever,
    SearchFilters,
    cite_article,
    find_articles,
    nearest_article,
)


class UnknownLawError(UsageError):
    """No law of the library has the name."""


@dataclass(frozen=True, slots=True)
class LawVersion:
    """One wording of a law, as one document of the library holds it.

    Args:
        wording: what is known of it, each fact with its origin.
        judged: how it stands on the day that was asked for.
    """

    law: HeldLaw
    wording: Wording
    judged: Judged

    @property
    def title(self) -> str:
        """Its title, else its document's, else its file's name."""
        return self.law.shown_title

    @property
    def version_date(self) -> date | None:
        """The day of this wording, by its text or by the file's name, the later of the two."""
        return self.wording.version_date

    @property
    def standing(self) -> Standing:
        """How it stands on the day that was asked for."""
        return self.judged.standing

    @property
    def is_stated(self) -> bool:
        """Whether a text says since when this wording holds."""
        return self.judged.is_stated

    @property
    def holds_from(self) -> date | None:
        """Since when it holds, by what is known."""
        return self.judged.holds_from

    @property
    def shown_standing(self) -> str:
        """How it stands in words, what is not in force in capitals, with what repeals it."""
        shown = self.standing.replace("_", " ")
        marked = shown if self.standing == "in_force" else shown.upper()
        since = "" if self.is_stated else "; the text does not say since when it holds"
        repeal = f"; {self.judged.repeal.shown}" if self.judged.repeal is not None else ""
        day = self.version_date or "a day that is not known"
        return f"{marked}, wording of {day}{since}{repeal}"


@dataclass(frozen=True, slots=True)
class FoundArticle:
    """An article, cut out exactly.

    Args:
        text: the slice [start, end) of the document's clean text.
        clause: the paragraph or item that was asked for, 第一款第二项; the text is its own then.
        citation: that leads back to it.
        lead: where the words stand that lead to an item; None where no item was asked for.
        whole: the whole article.
    """

    version: LawVersion
    law_title: str
    path: tuple[str, ...]
    shown: str
    clause: str
    text: str
    start: int
    end: int
    citation: str
    lead: tuple[int, int] | None = None
    whole: str = ""


class LawShelf:
    """The laws of publications that are held.

    Args:
        held: publications, as `OpenedLibrary.hold` gives them.
        as_of: the day on which a wording has to hold.
    """

    def __init__(self, held: Publications, as_of: date) -> None:
        self._held, self._as_of = held, as_of

    @cached_property
    def _laws(self) -> HeldLaws:
        return HeldLaws([reader.laws for reader in self._held.readers.values()])

    @property
    def holds_statutes(self) -> bool:
        """Whether any of the publications holds a statute."""
        return self._laws.holds_statutes

    def require_statutes(self) -> None:
        """Look whether any of the publications holds a statute.

        Raises:
            UsageError: none does.
        """
        if not self.holds_statutes:
            raise UsageError(
                "no namespace that was asked holds statutes. Set `chunk.mode: law` in one (`rag "
                "namespace add NAME --template law` makes one of that kind) and run `rag ingest`."
            )

    def level_of(self, hit: Hit) -> LawLevel | None:
        """Return the rank of the law that a passage is of; None where it is not known."""
        law = self._laws.of_passage(hit.namespace, hit.doc_uid, hit.law_title)
        return law.wording.law_level if law is not None and law.wording is not None else None

    def version_at(self, namespace: str, doc_uid: str) -> LawVersion | None:
        """Return the wording of a document; None where it is no statute, or holds several."""
        law = self._laws.of_passage(namespace, doc_uid, None)
        if law is None or law.wording is None:
            return None
        return LawVersion(law, law.wording, self._laws.judge(law, self._as_of))

    def likest(self, version: LawVersion, text: str, least: float) -> FoundArticle | None:
        """Return the article of a wording whose text is most like another; numbers may differ.

        Args:
            least: likeness, 0 to 100 (rapidfuzz ratio); what is less like is not returned.
        """
        from rapidfuzz import process
        from rapidfuzz.fuzz import ratio

        rows = self._articles(version)
        hits = self._reader(version).fetch_hits([chunk_id for chunk_id, _ in rows])
        articles = {
            article: hits[chunk_id] for chunk_id, held in reversed(rows) for article in held
        }
        texts = {one: self._text_of(version, one, hit) for one, hit in articles.items()}
        found = process.extractOne(text, texts, scorer=ratio, score_cutoff=least)
        if found is None:
            return None
        return self._found(version, found[2], articles[found[2]])

    def versions(self, name: str) -> list[LawVersion]:
        """Return the wordings of a law, the newest first.

        Of those that hold on the day the newest is in force, unless it was repealed; older ones
        are superseded. The books of one code, which lie in files of their own, are each in force.

        Raises:
            UnknownLawError: no document has that name.
            UsageError: none of that name is read as a statute.
        """
        laws = self._named(name)
        found = [
            LawVersion(law, law.wording, self._laws.judge(law, self._as_of))
            for law in laws
            if law.wording is not None
        ]
        inside = [mark_name(one.shown_title) for law in laws for one in self._laws.within(law)]
        if not found and inside:
            raise UsageError(
                f"{mark_name(laws[0].shown_title)} holds several laws: {', '.join(inside)}. Name "
                "one of them."
            )
        if not found:
            raise UsageError(
                f"{mark_name(laws[0].shown_title)} is not read as a statute in namespace "
                f"'{laws[0].namespace}'. Set `chunk.mode: law` there (`rag namespace add NAME "
                "--template law` makes a namespace of that kind) and run `rag ingest`."
            )
        return sorted(found, key=_newest_first)

    def _named(self, name: str) -> list[HeldLaw]:
        """Return the wordings of the one law that a name means."""
        keys = self._laws.names.find(name)
        if not keys:
            near = ", ".join(map(mark_name, self._laws.names.nearest(name)))
            raise UnknownLawError(
                f"{mark_name(name)} is not in this vault. "
                + (f"The nearest names are {near}. " if near else "")
                + "Give the title, or a short title in common use; `rag documents` lists the "
                "documents."
            )
        return [self._laws[key] for key in keys]

    def articles(self, written: str, *, is_whole: bool = False) -> list[FoundArticle]:
        """Return the articles that a text names, in any spelling: 刑法133之一, 劳动合同法第5至7条.

        Args:
            is_whole: return the article where a paragraph or item of it is named.

        Raises:
            UsageError: it names none with its law, or one of them is not there.
        """
        found = find_references(written, self._laws.names)
        without = [one.shown for one in found if one.law is None]
        if not found or without:
            near = ", ".join(map(mark_name, self._laws.names.nearest(written)))
            raise UsageError(
                f"'{written}' names no {'law' if without else 'article of a law that is here'}. "
                "Give law and article, for instance 刑法133之一, Criminal Law art. 264 or "
                "[刑法 > 第二编 分则 > 第一百三十三条之一]."
                + (f" The nearest names are {near}." if near else "")
            )
        if is_whole:
            found = [replace(one, paragraph=None, item=None) for one in found]
        return [self.article(citation_of(one)) for one in found]

    def article(self, citation: StatuteCitation | str) -> FoundArticle:
        """Return the article, or the clause of it, that a citation or another spelling names.

        The wording is the one that is named, else the one in force, else the one that was repealed,
        else the only one that there is, whatever its standing: that is told.

        Raises:
            UsageError: there is no such law, wording, article or clause; what is near is named.
                Several articles are named.
        """
        if isinstance(citation, str):
            several = self.articles(citation)
            if len(several) > 1:
                named = ", ".join(one.citation for one in several)
                raise UsageError(f"'{citation}' names several articles: {named}. Name one of them.")
            return several[0]
        chosen = self._chosen(citation)
        for version in chosen:
            found = self._cut_out(version, citation)
            if found is not None:
                return found
        raise UsageError(self._nearest(chosen, citation))

    def _chosen(self, asked: StatuteCitation) -> list[LawVersion]:
        """Return the wordings that a citation may mean, the first one first.

        Raises:
            UsageError: there is no such law or wording.
        """
        versions = self.versions(asked.law)
        if asked.version is not None:
            chosen = [one for one in versions if str(one.version_date).startswith(asked.version)]
        else:
            chosen = [one for one in versions if one.standing == "in_force"] or [
                one for one in versions if one.standing == "repealed"
            ]
            if len({one.version_date for one in versions}) == 1:
                chosen = chosen or versions
        if not chosen:
            days = ", ".join(f"{one.version_date} ({one.standing})" for one in versions)
            raise UsageError(
                f"{mark_name(asked.law)} has no wording "
                + (f"of {asked.version}" if asked.version else f"in force on {self._as_of}")
                + f". There are: {days}."
            )
        return chosen

    def cited(self, hit: Hit, article: Article) -> FoundArticle:
        """Return an article of a passage by the citation that leads back to it.

        Of a file with several laws it is the same article of the file that holds this wording
        alone, where there is one.

        Raises:
            UsageError: no citation leads back to it; the text says why.
        """
        law = self._laws.of_passage(hit.namespace, hit.doc_uid, hit.law_title)
        if law is not None and law.is_in_compilation and law.wording is not None:
            version = LawVersion(law, law.wording, self._laws.judge(law, self._as_of))
            text = self._text_of(version, article, hit)
            for other in self._laws.wordings_of(law):
                found = self._same(other, article.key, text) if _may_be(law, other) else None
                if found is not None:
                    return found
        citation = hit.law.cite(hit.section_path, article) if hit.law is not None else None
        if citation is None:
            raise UsageError(f"{article.shown}: the day of its wording is not known")
        named = [one for one in find_references(citation, self._laws.names) if one.path is not None]
        if len(named) != 1:
            raise UsageError(f"{citation} is not read back as one article")
        asked = citation_of(named[0])
        first = self._chosen(asked)[0]
        if law is not None and first.law == law and self._is_unique(first, article):
            return self._found(first, article, hit)
        found = self.article(asked)
        if (found.version.law.doc_uid, found.start) != (hit.doc_uid, article.char_start):
            raise UsageError(f"{citation} leads to {found.version.law.file}")
        return found

    def _is_unique(self, version: LawVersion, article: Article) -> bool:
        """Say whether no other article of a law has the number of one."""
        known = self._reader(version).laws.repeated
        if version.law.key not in known:
            starts = {
                (one.key, one.char_start) for _, held in self._articles(version) for one in held
            }
            counted = Counter(key for key, _ in starts)
            known[version.law.key] = frozenset(key for key, n in counted.items() if n > 1)
        return article.key not in known[version.law.key]

    def _same(self, law: HeldLaw, key: str, text: str) -> FoundArticle | None:
        """Return the article of a law that has a number and, white space aside, a text."""
        if law.wording is None:
            return None
        version = LawVersion(law, law.wording, self._laws.judge(law, self._as_of))
        for article, hit in self._places(version, key):
            if "".join(self._text_of(version, article, hit).split()) == "".join(text.split()):
                return self._found(version, article, hit)
        return None

    def _reader(self, version: LawVersion) -> Reader:
        return self._held.readers[version.law.namespace]

    def _articles(
        self, version: LawVersion, key: str | None = None
    ) -> Sequence[tuple[str, tuple[Article, ...]]]:
        """Return the id of each chunk, or each that holds an article, with its articles."""
        return find_articles(self._reader(version), version.law, key) or ()

    def _places(self, version: LawVersion, key: str) -> Iterator[tuple[Article, Hit]]:
        """Yield each article of a number with the chunk in which it begins."""
        chunks: dict[Article, str] = {}
        for chunk_id, articles in self._articles(version, key):
            for article in articles:
                if article.key == key:
                    chunks.setdefault(article, chunk_id)
        hits = self._reader(version).fetch_hits(chunks.values())
        for article, chunk_id in chunks.items():
            yield article, hits[chunk_id]

    def _cut_out(self, version: LawVersion, asked: StatuteCitation) -> FoundArticle | None:
        for article, hit in self._places(version, asked.key):
            if not is_below(hit.section_path, asked.path):
                continue
            start, end = article.char_start, article.char_end
            text = self._text_of(version, article, hit)
            clause, lead = "", None
            if asked.paragraph is not None or asked.item is not None:
                clauses = find_clauses(text)
                picked = pick_clause(
                    clauses, asked.paragraph, asked.item, is_bracketed=asked.is_bracketed
                )
                if picked is None:
                    return None
                first, last = _span_of(picked, clauses)
                above = pick_clause(clauses, picked.paragraph, None)
                if picked.item is not None and above is not None:
                    lead = start + above.start, start + above.end
                clause, text = picked.shown, text[first:last]
                start, end = start + first, start + last
            whole = self._found(version, article, hit)
            citation = self._cite(version, article, hit, clause)
            return replace(
                whole, clause=clause, text=text, start=start, end=end, citation=citation, lead=lead
            )
        return None

    def _cite(self, version: LawVersion, article: Article, hit: Hit, clause: str = "") -> str:
        day = str(version.version_date) if self._laws.is_one_of_several(version.law) else ""
        return write_citation(version.title, hit.section_path, article.shown, clause, day)

    def _found(self, version: LawVersion, article: Article, hit: Hit) -> FoundArticle:
        text = self._text_of(version, article, hit)
        return FoundArticle(
            version, version.title, hit.section_path, article.shown, "", text,
            article.char_start, article.char_end, self._cite(version, article, hit), whole=text,
        )  # fmt: skip

    def _text_of(self, version: LawVersion, article: Article, hit: Hit) -> str:
        """Return the text of an article; one that no chunk holds whole is cut out of the parse."""
        if hit.char_start <= article.char_start and article.char_end <= hit.char_end:
            return hit.text[article.char_start - hit.char_start : article.char_end - hit.char_start]
        (row,) = self._reader(version).fetch_documents([version.law.doc_uid]).to_pylist()
        document, _ = read_parsed(self._held.workspace.root / "data" / row["content_ref"])
        return document.text[article.char_start : article.char_end]

    def _nearest(self, versions: Sequence[LawVersion], asked: StatuteCitation) -> str:
        """Return what to say of an article that is not there."""
        day = asked.version or ""
        places = [(one, *place) for one in versions for place in self._places(one, asked.key)]
        below = [one for one in places if is_below(one[2].section_path, asked.path)]
        for version, article, hit in below:
            clauses = find_clauses(self._text_of(version, article, hit))
            missing = describe_missing(article.shown, clauses, asked.paragraph, asked.item)
            if missing is not None:
                whole = cite_article(version.law, article, hit, day)
                return f"{mark_name(version.title)}: {missing}. The whole article is {whole}."
        if places:
            version, article, hit = places[0]
            return (
                f"{article.shown} of {mark_name(version.title)} is not below "
                f"{' > '.join(asked.path)}. It is {cite_article(version.law, article, hit, day)}."
            )
        laws = self._laws.with_books([one.law for one in versions])
        nearest = nearest_article([*self._held.readers.values()], laws, asked.key)
        if nearest is None:
            return f"{mark_name(versions[0].title)} has no articles."
        is_there = nearest[1].key == asked.key
        return (
            f"{mark_name(asked.law)} has no {_shown_of(asked.key)}. "
            + ("It is in another book: " if is_there else f"The nearest is {nearest[1].shown}: ")
            + f"{cite_article(*nearest, day)}."
        )


def _shown_of(key: str) -> str:
    number, _, part = key.partition("-")
    return f"第{write_number(int(number))}条" + (f"之{write_number(int(part))}" if part else "")


def _newest_first(version: LawVersion) -> tuple[int, bool]:
    """Sort the newest wording first; of one day that in a file of its own."""
    return -(version.version_date or date.min).toordinal(), version.law.is_in_compilation


def _span_of(picked: Clause, clauses: Sequence[Clause]) -> tuple[int, int]:
    """Return where a clause stands in its article; a paragraph with its items."""
    if picked.item is not None:
        return picked.start, picked.end
    return picked.start, max(one.end for one in clauses if one.paragraph == picked.paragraph)


# Questions to the statutes of a library: articles that were found, whole, each with its citation.
#
# Nothing is written in the words of anybody but the law: what is returned are articles as printed.


@dataclass(frozen=True, slots=True)
class FoundStatute:
    """A passage of a statute that was found.

    Args:
        rank: from 1.
        source: `<<Source: title | Path: levels>>`, as the passage was embedded.
        articles: that it holds, each cut out whole by its citation.
        level: of its law; None where it is not known.
        unit: the merged unit around it: articles of the same path; the passage's own text where
            none was asked for.
        unresolved: citations of it that lead to nothing, or elsewhere, with the reason.
    """

    rank: int
    hit: Hit
    source: str
    articles: tuple[FoundArticle, ...]
    level: LawLevel | None
    unit: str
    unresolved: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The articles as printed, else the passage: a preamble, a list, an annex."""
        return "\n\n".join(article.text for article in self.articles) or self.hit.text


@dataclass(frozen=True, slots=True)
class StatuteSearch:
    """What was found for a question, best first, and what a person should know about it."""

    as_of: date
    found: tuple[FoundStatute, ...]
    filters: tuple[str, ...]
    warnings: tuple[str, ...]


def search_statutes(
    library: OpenedLibrary,
    question: str,
    as_of: date,
    *,
    namespaces: Sequence[str] = (),
    top_k: int | None = None,
    all_versions: bool = False,
) -> StatuteSearch:
    """Search the statutes of a library.

    Args:
        as_of: the day on which wordings have to hold.
        namespaces: names; without any, all that are published.
        top_k: passages at most; else `retrieve.top_k`.
        all_versions: find wordings, too, in whose place another one is in force.

    Raises:
        UsageError: no text to ask, or none of the namespaces holds a statute.
        PublicationError: none of them has a publication.
    """
    with library.hold(namespaces) as held, Retriever(library, namespaces) as retriever:
        return search_shelf(
            retriever, LawShelf(held, as_of), question, as_of, top_k=top_k,
            all_versions=all_versions, with_units=True,
        )  # fmt: skip


def search_shelf(
    retriever: Retriever,
    shelf: LawShelf,
    question: str,
    as_of: date,
    *,
    top_k: int | None = None,
    all_versions: bool = False,
    filters: SearchFilters | None = None,
    with_units: bool = False,
) -> StatuteSearch:
    """Search statutes by a retriever that is entered; see `search_statutes`.

    Args:
        shelf: of the retriever's publications, for the same day.
        filters: what is searched besides.
        with_units: read the merged units around what is found; takes 0.02 s more.
    """
    shelf.require_statutes()
    settings = retriever.settings
    wanted = top_k or settings.top_k
    # What cannot be cited takes no place: more is looked at than is shown.
    most = max(wanted, settings.rerank_k)
    for looked_at in dict.fromkeys((min(2 * wanted, most), most)):
        found = _search(
            retriever, shelf, question, as_of, wanted, looked_at, filters,
            all_versions=all_versions, with_units=with_units,
        )  # fmt: skip
        if len(found.found) == wanted:
            break
    return found


def _search(
    retriever: Retriever,
    shelf: LawShelf,
    question: str,
    as_of: date,
    wanted: int,
    looked_at: int,
    filters: SearchFilters | None,
    *,
    all_versions: bool,
    with_units: bool,
) -> StatuteSearch:
    """Return at most so many passages that can be cited, of the first `looked_at` hits."""
    found = retriever.retrieve(
        question, top_k=looked_at, as_of=as_of, all_versions=all_versions, filters=filters,
        with_parents=with_units,
    )  # fmt: skip
    units = {(parent.best.namespace, parent.parent.parent_id): parent for parent in found.parents}
    statutes: list[FoundStatute] = []
    unresolved: list[str] = []
    shown: set[tuple[str, ...]] = set()
    for hit in found.hits:
        if hit.law is None or len(statutes) == wanted:
            continue
        one = _found(len(statutes) + 1, hit, shelf, units)
        citations = tuple(article.citation for article in one.articles)
        if hit.articles and not citations:
            unresolved += one.unresolved
        elif not citations or citations not in shown:
            statutes.append(one)
            shown.add(citations)
    told = [f"found, but not cited: {reason}" for reason in dict.fromkeys(unresolved)]
    return StatuteSearch(as_of, tuple(statutes), found.filters, (*found.warnings, *told))


def _found(
    rank: int, hit: Hit, shelf: LawShelf, units: dict[tuple[str, str], ParentHit]
) -> FoundStatute:
    articles, unresolved = [], []
    for article in hit.articles:
        try:
            articles.append(shelf.cited(hit, article))
        except UsageError as error:
            unresolved.append(str(error))
    unit = units.get((hit.namespace, hit.parent_id))
    return FoundStatute(
        rank,
        hit,
        hit.context,
        tuple(articles),
        shelf.level_of(hit),
        unit.parent.text if unit is not None else hit.text,
        tuple(unresolved),
    )


def _may_be(law: HeldLaw, other: HeldLaw) -> bool:
    """Say whether a file of its own may hold the wording that a compilation holds."""
    if other.is_in_compilation or law.wording is None or other.wording is None:
        return False
    return law.wording.version_date in {None, other.wording.version_date}


# What limits the words of an article: what it excepts (但书, 除外, 另有规定) and what leads to it.
#
# Who leaves an exception out says more than the law does; who puts an item below the lead of
# another paragraph says something else.


EXCEPTION = re.compile(
    r"(?<!不)但(?!凡|愿|书)|除外|(?<![拆解免排清删消扣废撤])除[^。；，]{1,40}外|"
    r"另有(?:规定|约定)|不在此限|不适用|例外|"
    r"不受[^。；，]{1,20}限制|\b(?:except|unless|does not apply|do not apply)\b",
    re.IGNORECASE,
)
"""Words by which a Chinese or an English provision excepts something.

Of 50 sentences with one, drawn from the 1,108 articles that have one among 17,306 of a vault, 44
except or limit something; the others join two facts (风力没有达到五级但是超过抗风浪等级).
"""
# Of 285 labelled sentences on statutes four have one of these where the article has none and leave
# a condition of it unnamed: all four are false.
_ALWAYS = re.compile("只要|即可|便可|一律|一概|任何|不论|无论|不管")
# 未取得许可的，…; 在确保安全的前提下，…; 经批准，…; of 下列情形之一 any one suffices.
_CONDITION = re.compile(
    r"(?:^|(?<=[，；。：]))(?P<condition>(?:[^，；。：]{4,}(?<!情形之一)的"
    r"|在[^，；。：]{2,}(?:前提下|情况下|情形下|条件下)|[未须]?经[^，；。：]{2,}))(?=，)"
)
# Share of a condition's pairs of characters that a sentence has which names it.
_NAMED = 0.15
_BEGINS = re.compile(r"但|除|However|Except|Unless")


def excepts(text: str) -> bool:
    """Say whether a text excepts something."""
    return EXCEPTION.search(text) is not None


def exceptions_around(article: str, start: int, end: int) -> str | None:
    """Return the exception that belongs to the words at [start, end) of an article, else None.

    It stands in the same sentence, or in the next one where that begins with 但 or 除.
    """
    spans = list(split_sentences(article))
    touched = [place for place, (first, last) in enumerate(spans) if first < end and start < last]
    told = [article[slice(*spans[place])] for place in touched]
    if touched and touched[-1] + 1 < len(spans):
        following = article[slice(*spans[touched[-1] + 1])]
        if _BEGINS.match(following):
            told.append(following)
    return next((_clause(one) for one in told if excepts(one)), None)


def dropped_limit(article: str, start: int, end: int, said: str) -> str | None:
    """Return the exception or condition of the words at [start, end) of an article that a sentence
    leaves out.

    Of exceptions None where the sentence excepts something itself, or what it says is what the
    exception says rather than the words that it limits. A condition is left out by a Chinese
    sentence that says of a rule that it always holds, or what suffices for it (一律, 只要).
    """
    left = None if excepts(said) else exceptions_around(article, start, end)
    if HAN.search(said) is None:
        return left
    # Where the sentences begin and end that [start, end) touches.
    spans = [span for span in split_sentences(article) if span[0] < end and start < span[1]]
    first, last = (spans[0][0], spans[-1][1]) if spans else (start, end)
    ruled = "".join(article[first:last].split())
    if left is not None:
        rule = _pairs(ruled.replace("".join(left.split()), ""))
        told, excepted = _pairs(said), _pairs(left)
        if len(told & (rule - excepted)) > len(told & (excepted - rule)):
            return left
    return _dropped_condition(ruled, said)


def _dropped_condition(ruled: str, said: str) -> str | None:
    always = set(_ALWAYS.findall(said)) - set(_ALWAYS.findall(ruled))
    conditions = [found["condition"] for found in _CONDITION.finditer(ruled)] if always else []
    told = _pairs(said)
    return next((one for one in conditions if len(_pairs(one) & told) < _NAMED * len(one)), None)


def exception_end(text: str, end: int) -> int:
    """Return where the exception ends that follows the words before `end`, `end` without one."""
    following = next((span for span in split_sentences(text) if span[0] >= end), None)
    return following[1] if following and _BEGINS.match(text[slice(*following)].lstrip()) else end


def exceptions_of(article: str) -> tuple[str, ...]:
    """Return the sentences of an article that except something, in order."""
    sentences = (article[start:end] for start, end in split_sentences(article))
    return tuple(" ".join(one.split()) for one in sentences if excepts(one))


def _clause(sentence: str) -> str:
    """Return a sentence from the part on that excepts; all of it where it begins so."""
    found = EXCEPTION.search(sentence)
    start = 0 if found is None else max(sentence.rfind(m, 0, found.start()) + 1 for m in "，；,;")
    return " ".join(sentence[start:].split())


# Share of an item's pairs of characters that a sentence has which speaks of it.
_SPEAKS_OF = 0.6


def misplaced_lead(article: str, said: str) -> tuple[str, str] | None:
    """Return the words that lead to the item that a sentence speaks of, where it says those of
    another paragraph instead: 为假药, and the sentence says 为劣药.

    Args:
        article: whole, with its number.
        said: the sentence.

    Returns:
        The item's own lead and the one that is said; None where nothing is misplaced, or the item
        stands below both.
    """
    clauses = find_clauses(article)
    leads = {
        one.paragraph: article[one.start : one.end].strip() for one in clauses if one.item is None
    }
    told = _pairs(said)
    best: dict[int, float] = {}
    for one in clauses:
        pairs = _pairs(article[one.start : one.end])
        if one.item is not None and pairs:
            best[one.paragraph] = max(best.get(one.paragraph, 0.0), len(pairs & told) / len(pairs))
    ranked = sorted(best, key=lambda paragraph: -best[paragraph])
    if len(ranked) < 2 or best[ranked[0]] < _SPEAKS_OF or best[ranked[0]] == best[ranked[1]]:
        return None
    own = leads[ranked[0]]
    for other in ranked[1:]:
        if told & _only_in(leads[other], own) and not told & _only_in(own, leads[other]):
            return own, leads[other]
    return None


def _only_in(lead: str, other: str) -> set[str]:
    return _pairs(lead) - _pairs(other)


def _pairs(text: str) -> set[str]:
    """Return the pairs of Chinese characters that stand side by side in a text."""
    return {
        pair for run in re.findall(f"[{HAN_RANGES}]+", text) for pair in map("".join, pairwise(run))
    }
