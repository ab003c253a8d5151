"""Cited documents, the articles of statutes, and which of them a citation means."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache
from typing import Literal, NamedTuple, Protocol

from rapidfuzz import fuzz, process

from rag_assets.auditing.citation_forms import Citation
from rag_assets.auditing.pairing import Known, Pairing, is_same_work, pair
from rag_assets.auditing.references import Entry
from rag_assets.law import (
    Clause,
    find_begins,
    find_clauses,
    find_references,
    has_articles,
    is_name_of,
)
from rag_assets.law.citing import StatuteCitation, read_citation
from rag_assets.model import Box, PageBox, UsageError, hash_fields
from rag_assets.retrieval.statutes import FoundArticle, LawVersion, UnknownLawError

# What a cited document is, and where it is looked up.


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk of a cited document.

    Args:
        text: verbatim, `[char_start, char_end)` of the document's clean text.
        page_start: first page, from 1; None for formats without pages. `page_end` likewise.
        char_start: code points, None where it is not known. `char_end` likewise.
        content_hash: SHA-256 of `text`.
        citation_id: outlives edits, `kb:<namespace>__chunk-<hash16>`.
        boxes: around its lines on their pages; empty where the format has none.
        context: what was told before it: headings, in the last line the header of its table.
    """

    chunk_id: str
    parent_id: str
    text: str
    page_start: int | None
    page_end: int | None
    char_start: int | None
    char_end: int | None
    section_path: tuple[str, ...]
    content_hash: str
    citation_id: str
    boxes: tuple[PageBox, ...] = ()
    context: str = ""


@dataclass(frozen=True, slots=True)
class CitedArticle:
    """The one article of a statute that a citation names, or the paragraph or item of it.

    Args:
        article: as the law writes it; `clause` the paragraph and item, 第一款第二项, where named.
        spans: of its text in the document's clean text, half-open, in order; an item has the words
            that lead to it before it.
        mark: a sentence on its wording where that is not in force; empty where it is.
        whole: the whole article.
    """

    article: str
    clause: str
    spans: tuple[tuple[int, int], ...]
    mark: str = ""
    whole: str = ""

    @property
    def shown(self) -> str:
        """Return article and clause as they are cited."""
        return self.article + self.clause


@dataclass(frozen=True, slots=True)
class CitedDocumentRef:
    """A document that a citation may mean.

    Args:
        article: where the citation names no more of it than that.
        withheld_reason: why it is not published; None where it is.
        is_removed: no file holds it any more, as `withheld_reason` says in a sentence.
        repeal: of a statute by what it is repealed on the day that was asked for; empty where it is
            not, or no day was.
        pairing: the entry of the reference list that means it, and why; empty where the citation
            names the document itself.
    """

    namespace: str
    doc_uid: str
    title: str | None
    citable: bool
    withheld_reason: str | None = None
    is_removed: bool = False
    article: CitedArticle | None = None
    repeal: str = ""
    pairing: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class CitedDocument:
    """A document with its passages, in the order of its chunks.

    Args:
        passages: what can support a sentence.
        unsaid: passages that state nothing: entries of a bibliography, acknowledgements, labels
            of a diagram, what a person has disabled. A quotation may stand in them, support may
            not come from them.
        content_version: SHA-256 of the raw file; empty where it is not known.
        page_labels: the number that each page bears in print, empty where it is not known; none
            where they are those of the file.
    """

    namespace: str
    doc_uid: str
    title: str | None
    citable: bool
    passages: Sequence[Passage]
    unsaid: Sequence[Passage] = ()
    content_version: str = ""
    page_labels: tuple[str, ...] = ()

    @property
    def pages(self) -> int:
        """The last page that a passage stands on, 0 without pages."""
        every = (*self.passages, *self.unsaid)
        return max((passage.page_end or 0 for passage in every), default=0)


def digest_document(document: CitedDocument) -> str:
    """Return the SHA-256 of all in a document that a verdict rests on: title, text, cuts, places.

    Neither the uid nor the publication is part of it: a renamed file keeps its verdicts.
    """
    return hash_fields(
        document.title,
        [_passage_fields(passage) for passage in document.passages],
        [_passage_fields(passage) for passage in document.unsaid],
        *([document.page_labels] if document.page_labels else []),
    )


def _passage_fields(passage: Passage) -> list[object]:
    boxes: list[tuple[int, Box]] = [(b.page, (b.x0, b.y0, b.x1, b.y1)) for b in passage.boxes]
    return [
        passage.content_hash,
        [passage.char_start, passage.char_end, passage.page_start, passage.page_end],
        list(passage.section_path),
        boxes,
    ]


class Library(Protocol):
    """The published documents, one publication a namespace."""

    @property
    def publications(self) -> Mapping[str, str]:
        """Return the publication's name for every namespace that has one."""

    def find(self, doc_uid: str, namespace: str | None) -> list[CitedDocumentRef]:
        """Return the documents called `doc_uid`, in one namespace or, for None, in all; where there
        is none, those that were removed.
        """

    def find_key(self, citation_key: str, namespace: str | None) -> list[CitedDocumentRef]:
        """Return the documents with this key of the writer's bibliography, likewise."""

    def find_article(
        self, citation: StatuteCitation, namespaces: Sequence[str], as_of: date | None = None
    ) -> CitedDocumentRef:
        """Return the document with the article that is cited, in the wording that is named, else in
        the one in force.

        Args:
            namespaces: that are asked; empty means all.
            as_of: another day than the library's.

        Raises:
            UnknownLawError: no law is called so.
            UsageError: the law has no such wording, article or clause.
        """

    def load(self, ref: CitedDocumentRef) -> CitedDocument:
        """Return the document with all its passages, in the order of its chunks."""

    def find_boxes(
        self, ref: CitedDocumentRef, spans: Sequence[tuple[int, int]]
    ) -> list[tuple[PageBox, ...]]:
        """Return the rectangles around the printed lines of spans of the clean text.

        Empty for each where the document has no pages or its lines are not kept.
        """

    def uids(self) -> Iterable[tuple[str, str]]:
        """Return (namespace, doc_uid) of every document."""

    def keys(self) -> Iterable[tuple[str, str]]:
        """Return (namespace, citation_key) of every document that has one."""

    def known(self, namespaces: Sequence[str]) -> Sequence[Known]:
        """Return what is known of the documents of some namespaces, of all for none, to recognise
        them in a reference list.
        """

    def settled(self, entry: Entry) -> tuple[str, str] | Literal["open"] | None:
        """Return the document, namespace and uid, that a person has said an entry means; None for
        one that is not in the library, `open` where nobody has decided.
        """

    def bibliography(self) -> Sequence[Entry]:
        """Return the entries of the bibliography files that were imported into the workspace."""


class NoReferences:
    """Part of a `Library` whose documents are cited by uid alone."""

    def known(self, namespaces: Sequence[str]) -> Sequence[Known]:
        """Return nothing."""
        del namespaces
        return ()

    def settled(self, entry: Entry) -> tuple[str, str] | Literal["open"] | None:
        """Return `open`: nobody has decided anything."""
        del entry
        return "open"

    def bibliography(self) -> Sequence[Entry]:
        """Return nothing."""
        return ()


# Articles of a statute: which one a citation names, and where each stands.


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
    parts = list(read_articles(document).parts_of(key))
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
    for one in find_references(text):
        if one.form != "words" and title is not None and not is_name_of(one.law or "", title):
            continue
        named = NamedArticle(one.key, one.shown + one.clause, one.paragraph, one.item)
        before = found.get(named.key, named)
        found[named.key] = named if before == named else NamedArticle(named.key, one.shown)
    return next(iter(found.values())) if len(found) == 1 else None


def find_unmentioned(text: str, passage: str) -> str | None:
    """Return the first article that a text names and a passage does not, None where there is none.

    Of a document that is no statute: only what it says of an article can be told to be of it.
    """
    there = {one.key for one in find_references(passage)}
    return next((one.shown for one in find_references(text) if one.key not in there), None)


# Citations `[law > chapter > article]` in drafts: what they mean, and the text that they name.

_MARKS = {
    "superseded": "The wording of {day} that is cited is superseded by a newer one.",
    "repealed": "The wording of {day} that is cited is {repeal}.",
    "not_yet_in_force": "The wording of {day} that is cited holds from {since} on only.",
}


def statute_of(citation: Citation) -> StatuteCitation | None:
    """Return what a citation of a statute names, None for one of another form."""
    return read_citation(citation.label) if citation.form in {"statute", "words"} else None


def statute_of_label(label: str) -> StatuteCitation | None:
    """Return what a label of an audit names, None where it is a uid or a key."""
    try:
        return read_citation(label)
    except UsageError:
        return None


def find_statute(
    asked: StatuteCitation, library: Library, namespaces: Sequence[str], as_of: date | None = None
) -> CitedDocumentRef | tuple[bool, str]:
    """Return the document with the article that is cited.

    Args:
        as_of: another day than the library's.

    Returns:
        Else whether the law is known, and a sentence on what is not there and what is nearest.
    """
    try:
        return library.find_article(asked, namespaces, as_of)
    except UnknownLawError as error:
        return False, _sentence(error)
    except UsageError as error:
        return True, _sentence(error)


def shown_repeal(version: LawVersion) -> str:
    """Return by what a wording is repealed, in words; empty where by nothing."""
    return version.judged.repeal.shown if version.judged.repeal is not None else ""


def cited_article(found: FoundArticle) -> CitedArticle:
    """Return a found article as audits know it; a wording that is not in force is marked."""
    version = found.version
    mark = _MARKS.get(version.standing, "").format(
        day=version.version_date, since=version.holds_from, repeal=shown_repeal(version)
    )
    spans = ((found.start, found.end),) if found.lead is None else (
        found.lead, (found.start, found.end),
    )  # fmt: skip
    return CitedArticle(found.shown, found.clause, spans, mark, found.whole)


def cut_to_article(document: CitedDocument, article: CitedArticle) -> CitedDocument:
    """Return a document with no more of it than the article, paragraph or item that is cited."""
    return replace(
        document,
        passages=tuple(_cut(document.passages, article)),
        unsaid=tuple(_cut(document.unsaid, article)),
    )


def digest_cut(document: CitedDocument, article: CitedArticle) -> str:
    """Return the SHA-256 of all that a verdict on an article rests on, as `digest_document`.

    Args:
        document: as `cut_to_article` returns it.
    """
    return hash_fields(digest_document(document), [list(span) for span in article.spans])


def _cut(passages: Sequence[Passage], article: CitedArticle) -> Iterator[Passage]:
    reached, end = article.spans[0][0], article.spans[-1][1]
    for passage in passages:
        if passage.char_start is None:
            continue
        # Where passages overlap, what stood in the one before is not read again.
        first = max(reached, passage.char_start)
        last = min(end, passage.char_start + len(passage.text))
        held = passage.text[first - passage.char_start : max(first, last) - passage.char_start]
        text = _only(held, first, article)
        if text.strip():
            reached = last
            # The hash stays that of the passage, by which a verdict is traced to it.
            yield replace(passage, text=text, char_start=first, char_end=last)


def _only(text: str, start: int, article: CitedArticle) -> str:
    """Return a text in which line ends stand for what is not cited: places stay what they are, and
    an item stays one with the words that lead to it.
    """
    return "".join(
        character if any(first <= place < end for first, end in article.spans) else "\n"
        for place, character in enumerate(text, start)
    )


def _sentence(error: UsageError) -> str:
    told = str(error)
    return told[:1].upper() + told[1:]


# Which document a citation means, or what is wrong with it.

CitationFault = Literal[
    "unknown_uid", "unknown_article", "removed", "ambiguous_uid", "not_citable", "withheld",
    "no_entry", "unsure_entry", "not_in_library",
]  # fmt: skip

# What word processors make of a hyphen, and letters without width that come with copied text.
_HYPHENS = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe58\ufe63\uff0d", "-"))
_SOFT_HYPHEN = "\u00ad"

_SHOWN_ENTRY = 80
# Below it two keys have little in common (rapidfuzz ratio, 0 to 100).
_SIMILAR_KEY = 75.0
# Below it a name has nothing in common with another that a person would see (rapidfuzz WRatio,
# 0 to 100; its documentation calls 60 the usual lower bound of "similar").
_SIMILAR_NAME = 60.0


_SAID_ABSENT = "You said that this work is not in the library."


@dataclass(frozen=True, slots=True)
class FaultyCitation:
    """Why a citation cannot be judged.

    Args:
        nearest: what may have been meant, as it is written between the braces, best first.
    """

    code: CitationFault
    reason: str
    nearest: tuple[str, ...] = ()


class References:
    """The reference list of a draft, each entry with the document that it means.

    Args:
        entries: of the draft, as `Citation.entries` counts them.
        library: where they are looked up; `namespaces` of the draft, empty for all.
    """

    def __init__(
        self, entries: Sequence[Entry], library: Library, namespaces: Sequence[str] = ()
    ) -> None:
        self.entries = (*entries, *library.bibliography())
        self._library, self._namespaces = library, namespaces
        self._known: Sequence[Known] | None = None
        self._pairings: dict[int, Pairing] = {}
        self._by_label: dict[str, list[int]] = {}
        for number, entry in enumerate(self.entries):
            if entry.label and not entry.label.isdigit():
                held = self._by_label.setdefault(entry.label, [])
                # The file beside the draft counts before one that was imported into the workspace.
                is_beaten = bool(held) and held[0] < len(entries) <= number
                if not is_beaten and not any(
                    is_same_work(entry, self.entries[each]) for each in held
                ):
                    held.append(number)

    def pairing(self, number: int) -> Pairing:
        """Return which document an entry means; what a person has settled comes first."""
        if number not in self._pairings:
            entry = self.entries[number]
            settled = self._library.settled(entry)
            if settled == "open":
                if self._known is None:
                    self._known = self._library.known(self._namespaces)
                self._pairings[number] = pair(entry, self._known)
            elif settled is None:
                self._pairings[number] = Pairing("unpaired", None, 1.0, _SAID_ABSENT)
            else:
                self._pairings[number] = Pairing("paired", settled, 1.0, "you settled it")
        return self._pairings[number]

    @property
    def has_keys(self) -> bool:
        """Whether the draft has a bibliography with keys."""
        return bool(self._by_label)

    def labelled(self, label: str) -> Sequence[int]:
        """Return the entries with a key of a bibliography file."""
        return self._by_label.get(label, ())

    def nearest_labels(self, label: str, limit: int = 3) -> tuple[str, ...]:
        """Return keys of the bibliography that resemble one, best first."""
        found = process.extract(
            label, [*self._by_label], scorer=fuzz.ratio, processor=str.casefold,
            score_cutoff=_SIMILAR_KEY, limit=limit,
        )  # fmt: skip
        return tuple(name for name, *_ in found)


def resolve_citation(
    citation: Citation,
    library: Library,
    namespaces: Sequence[str],
    references: References | None = None,
) -> CitedDocumentRef | FaultyCitation:
    """Return the document that `citation` means, or what is wrong with it.

    Args:
        citation: as written.
        references: of the draft, which decide on keys and on citations as printed.
        library: where it is looked up.
        namespaces: of the draft's front matter; empty means all. A namespace written in the
            citation itself comes before them. Of several documents that can be meant, one that
            alone may be cited is.
    """
    statute = statute_of(citation)
    if statute is not None:
        meant_article = find_statute(statute, library, namespaces)
        if isinstance(meant_article, CitedDocumentRef):
            return _citable(meant_article)
        is_known, told = meant_article
        return FaultyCitation("unknown_article" if is_known else "unknown_uid", told)
    if references is None:
        references = References((), library, namespaces)
    entries = citation.entries or references.labelled(citation.label)
    if len(entries) != 1 and (said := _settled(citation, library)) is not None:
        return said
    if citation.form == "written" or entries:
        return _by_entry(citation, entries, library, references)
    found = look_up(citation, library, namespaces)
    if not found:
        is_key = citation.form != "anchor" and references.has_keys
        unknown = _no_entry(citation, references) if is_key else None
        return unknown or _unknown(citation, library, namespaces)
    # A file may lie in the folders of two namespaces, and be evidence in one of them only.
    meant = [ref for ref in found if ref.citable and ref.withheld_reason is None] or found
    return _ambiguous(citation, meant) if len(meant) > 1 else _citable(meant[0])


def is_number(label: str) -> bool:
    """Say whether a citation as written is a number of a list: `[3, p. 7]`, `⁹`."""
    return not any(map(str.isalpha, label)) or label.lstrip("[(（［ ")[:1].isdigit()


def _settled(citation: Citation, library: Library) -> CitedDocumentRef | FaultyCitation | None:
    """Return what a person has said that a citation without an entry of its own means.

    A number alone means another work in every draft: it needs an entry.
    """
    settled = library.settled(Entry(citation.label))
    if settled == "open" or is_number(citation.label):
        return None
    if settled is None:
        return FaultyCitation("not_in_library", _SAID_ABSENT)
    found = [ref for ref in library.find(settled[1], settled[0]) if not ref.is_removed]
    said = f"“{citation.label}”: you settled it"
    return _citable(replace(found[0], pairing=said)) if found else None


def _no_entry(citation: Citation, references: References) -> FaultyCitation:
    nearest = references.nearest_labels(citation.label)
    advice = f"Did you mean `{nearest[0]}`?" if nearest else "Add the entry, or correct the key."
    return FaultyCitation(
        "no_entry", f"`{citation.label}` is no key of the draft's bibliography. {advice}", nearest
    )


def _by_entry(
    citation: Citation, entries: Sequence[int], library: Library, references: References
) -> CitedDocumentRef | FaultyCitation:
    """Return the document that the entries mean which fit a citation, or why none does."""
    if not entries:
        return FaultyCitation(
            "no_entry",
            f"`{citation.label}` has no entry in the reference list of the draft. Add the entry, "
            "or correct the citation.",
        )
    pairings = [references.pairing(number) for number in entries]
    documents = {found.document for found in pairings}
    shown = [show_entry(references.entries[number]) for number in entries]
    nearest = tuple(dict.fromkeys(
        f"{namespace}:{uid}" for found in pairings for (namespace, uid), _ in found.candidates
    ))  # fmt: skip
    document = pairings[0].document
    if len(documents) == 1 and document is not None:
        found = [ref for ref in library.find(document[1], document[0]) if not ref.is_removed]
        if found:
            return _citable(replace(found[0], pairing=f"{shown[0]}: {pairings[0].reason}"))
    if len(entries) > 1:
        return FaultyCitation(
            "unsure_entry",
            f"{len(entries)} entries of the reference list fit `{citation.label}`: "
            f"{'; '.join(shown)}. Write the year with a letter (2021a) or more names.",
            nearest,
        )
    state, why = pairings[0].state, pairings[0].reason.rstrip(".")
    if state == "unpaired":
        told = f" {why}." if why else ""
        return FaultyCitation(
            "not_in_library",
            f"The library has no document for {shown[0]}.{told} Add its file, or say which "
            "document it is: `rag references DRAFT --settle`.",
            nearest,
        )
    first = nearest[0].partition(":")[2] if nearest else ""
    return FaultyCitation(
        "unsure_entry",
        f"It is not sure which document {shown[0]} is. Nearest: {first} ({why}). Settle it: "
        "`rag references DRAFT --settle`.",
        nearest,
    )


def show_entry(entry: Entry) -> str:
    """Return the beginning of an entry, as verdicts name it."""
    words = entry.text if len(entry.text) <= _SHOWN_ENTRY else f"{entry.text[:_SHOWN_ENTRY]}…"
    return f"[{entry.label}] “{words}”" if entry.label else f"“{words}”"


def _citable(ref: CitedDocumentRef) -> CitedDocumentRef | FaultyCitation:
    if ref.is_removed and ref.withheld_reason is not None:
        return FaultyCitation("removed", ref.withheld_reason)
    if ref.withheld_reason is not None:
        return FaultyCitation(
            "withheld",
            f"`{ref.doc_uid}` is not published: {ref.withheld_reason.rstrip('. ')}. "
            "`rag documents` says what to do.",
        )
    if not ref.citable:
        return FaultyCitation(
            "not_citable",
            f"`{ref.doc_uid}` must not be cited: its file is not in a folder of evidence, or its "
            "sidecar or `rag meta set` forbids it. Cite a document from raw/evidence.",
        )
    return ref


def look_up(
    citation: Citation, library: Library, namespaces: Sequence[str]
) -> list[CitedDocumentRef]:
    """Return what is meant: a uid first, then a key of the bibliography, whole before split.

    As it is written before hyphens of other kinds, and marks that nobody sees, are made alike.
    """
    asked = [(citation.doc_uid, citation.namespace)]
    if citation.namespace is not None:
        # Keys of a bibliography may hold a colon themselves.
        asked.insert(0, (citation.label, None))
    for name, namespace in asked:
        if found := _find(name, namespace, library, namespaces):
            return found
    for name, namespace in asked:
        home = namespace and next(_foldings(namespace))
        for folded in _foldings(name):
            for known in _alike(folded, library):
                if found := _find(known, home, library, namespaces):
                    return found
    return []


def _find(
    name: str, namespace: str | None, library: Library, namespaces: Sequence[str]
) -> list[CitedDocumentRef]:
    removed: list[CitedDocumentRef] = []
    homes = namespaces if namespace is None and namespaces else (namespace,)
    for find in (library.find, library.find_key):
        found = [ref for home in homes for ref in find(name, home)]
        living = [ref for ref in found if not ref.is_removed]
        if living:
            return living
        removed += found
    return removed


def _foldings(name: str) -> Iterator[str]:
    """Yield a name with plain hyphens and without invisible marks.

    A soft hyphen is one that is not seen, or what somebody took for a hyphen.
    """
    plain = unicodedata.normalize("NFKC", name).translate(_HYPHENS)
    for hyphen in dict.fromkeys(("", "-") if _SOFT_HYPHEN in plain else ("",)):
        folded = plain.replace(_SOFT_HYPHEN, hyphen)
        yield "".join(c for c in folded if unicodedata.category(c) != "Cf")


def _alike(folded: str, library: Library) -> Iterator[str]:
    """Yield the names of the library that are this one when they are folded too."""
    for _, name in (*library.uids(), *library.keys()):
        if name == folded or (not name.isascii() and folded in _foldings(name)):
            yield name


def _ambiguous(citation: Citation, found: Sequence[CitedDocumentRef]) -> FaultyCitation:
    forms = tuple(sorted(f"{ref.namespace}:{ref.doc_uid}" for ref in found))
    written = " or ".join(f"{{#{form}}}" for form in forms)
    if len({ref.doc_uid for ref in found}) > 1:
        held = f"{len(found)} documents have the citation key `{citation.label}`. Write {written}."
        return FaultyCitation("ambiguous_uid", held, forms)
    return FaultyCitation(
        "ambiguous_uid",
        f"{len(found)} namespaces have a document `{citation.doc_uid}`. Write {written}, or "
        "name one namespace in the draft's front matter.",
        forms,
    )


def _unknown(citation: Citation, library: Library, namespaces: Sequence[str]) -> FaultyCitation:
    if not citation.doc_uid:
        return FaultyCitation(
            "unknown_uid", "The anchor names no document. Write {#doc_uid}; `rag documents` lists "
            "the uids."
        )  # fmt: skip
    if citation.namespace is not None and citation.namespace not in library.publications:
        known = ", ".join(sorted(library.publications)) or "none"
        return FaultyCitation(
            "unknown_uid",
            f"There is no published namespace `{citation.namespace}` (published: {known}).",
            _nearest(citation, library, namespaces),
        )
    nearest = _nearest(citation, library, namespaces)
    where = f" in namespace {citation.namespace}" if citation.namespace else ""
    if citation.namespace is None and namespaces:
        noun = "namespace" if len(namespaces) == 1 else "namespaces"
        where = f" in the draft's {noun} {', '.join(namespaces)}"
    advice = (
        f"Did you mean {citation.written_as(nearest[0])}?"
        if nearest
        else "No uid resembles it; `rag documents` lists them all."
    )
    if not nearest and citation.form == "mention":
        advice += " A mention that cites nothing is written \\@."
    return FaultyCitation(
        "unknown_uid", f"There is no document `{citation.doc_uid}`{where}. {advice}", nearest
    )


def _nearest(
    citation: Citation, library: Library, namespaces: Sequence[str], limit: int = 3
) -> tuple[str, ...]:
    spread: dict[str, set[str]] = {}
    for namespace, name in (*library.uids(), *library.keys()):
        spread.setdefault(name, set()).add(namespace)

    def may_be_meant(name: str, namespace: str) -> bool:
        # What must not be cited would be the next error; what is withheld says what to do.
        found = library.find(name, namespace) or library.find_key(name, namespace)
        return any(ref.citable or ref.withheld_reason is not None for ref in found)

    scored: list[tuple[float, bool, str]] = []
    for doc_uid, held in spread.items():
        score = fuzz.WRatio(citation.doc_uid.lower(), doc_uid.lower())
        if score < _SIMILAR_NAME:
            continue
        homes = {home for home in held if may_be_meant(doc_uid, home)}
        near = homes if not namespaces else homes & set(namespaces)
        # The bare uid is enough where the draft's namespaces hold it once.
        forms = [doc_uid] if len(near) == 1 else [f"{home}:{doc_uid}" for home in near or homes]
        scored.extend((-score, not near, form) for form in forms)
    return tuple(form for *_, form in sorted(scored)[:limit])
