"""The papers of a library as a question may call them, and what stands for their abstracts."""

import re
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from rag_assets.model import HAN, SectionCategory
from rag_assets.parsing import named_thing
from rag_assets.publishing.content_words import content_stems
from rag_assets.retrieval.filters import NOT_EVIDENCE, SearchFilters
from rag_assets.retrieval.hits import Hit
from rag_assets.retrieval.reader import Reader

_ARXIV = re.compile(r"(?<!\d)(\d{4}\.\d{4,5})(?:v\d+)?(?!\d)")
_NOT_A_LETTER = re.compile(r"[\W_]+")
# A title of fewer words, or characters of Chinese, stands in questions that do not mean it.
_FEWEST_WORDS = 3
_FEWEST_HAN = 6
_COLUMNS = [
    "doc_uid", "doc_id", "title", "year", "citation_key", "doi", "url", "source_uri", "authors",
    "abstract",
]  # fmt: skip
_PLACES = ("doc_uid", "chunk_key", "chunk_id", "chunk_index", "kind", "section_category",
           "section_subtype")  # fmt: skip
# An abstract stands on the first pages; further chunks are not looked at.
_OPENING_CHUNKS = 12


@dataclass(frozen=True, slots=True)
class Paper:
    """A document as it is told to a person. `title` is the uid where it has none."""

    namespace: str
    doc_uid: str
    title: str
    year: int | None = None
    authors: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and uid: unique in the workspace."""
        return self.namespace, self.doc_uid

    def __str__(self) -> str:
        year = f" ({self.year})" if self.year else ""
        return f"“{self.title}”{year} {{#{self.doc_uid}}}"


@dataclass(frozen=True, slots=True)
class KnownPaper:
    """A paper with everything that it may be called by.

    Args:
        identifiers: case-folded: DOI, arXiv number, uid, key, file name, `doc_id`.
        title: letters and digits only, case-folded, words apart by a space.
        thing: the name that its title announces ("Thing: how it works").
        abstract: as the catalogue has it.
    """

    paper: Paper
    identifiers: frozenset[str]
    title: str
    thing: str | None
    abstract: str | None


class PaperLibrary:
    """The papers of some publications.

    Args:
        readers: one a namespace.
    """

    def __init__(self, readers: Sequence[Reader]) -> None:
        self._readers = tuple(readers)
        self.papers = tuple(paper for reader in readers for paper in _known_papers(reader))

    def names_in(self, question: str) -> tuple[str, ...]:
        """Return the titles, names and keys of papers that stand in a question.

        Titles count as words stand, whatever marks are between them; names that a title announces,
        uids and keys as they are written, and only where no ordinary word looks so.
        """
        asked = f" {plain(question)} "
        found: dict[str, None] = {}
        for known in self.papers:
            if is_long(known.title) and _stands(known.title, asked):
                found[known.paper.title] = None
            for name in (known.thing, *known.identifiers):
                # Most names stand in no question: nothing else is asked of them.
                if name and name in question and _is_name(name, known) and is_alone(name, question):
                    found[name] = None
        return tuple(found)

    def by_identifier(self, name: str) -> list[Paper]:
        """Return the papers that an identifier names; two where two files hold one paper."""
        key = _identifier(name)
        return [known.paper for known in self.papers if key in known.identifiers]

    def by_author(self, surnames: Iterable[str], year: int | None) -> list[Paper]:
        """Return the papers whose authors hold all surnames, the first of them first.

        Where nobody stands first, those that have them anywhere. Of that year where it is given;
        where none is, those of which no year is known.
        """
        wanted = [plain(name) for name in surnames]
        found = [
            known.paper
            for known in self.papers
            if wanted
            and all(_stands(name, f" {plain(' '.join(known.paper.authors))} ") for name in wanted)
        ]
        heads = [f" {plain(paper.authors[0])} " for paper in found]
        first = [p for p, head in zip(found, heads, strict=True) if _stands(wanted[0], head)]
        found = first or found
        if year is None:
            return found
        same_year = [paper for paper in found if paper.year == year]
        return same_year or [paper for paper in found if paper.year is None]

    def by_thing(self, name: str) -> list[Paper]:
        """Return the papers whose titles hold a name; those that announce it alone before."""
        announced = [known.paper for known in self.papers if known.thing == name]
        pattern = re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])")
        return announced or [k.paper for k in self.papers if pattern.search(k.paper.title)]

    def standing_in(self) -> dict[tuple[str, str], str]:
        """Return, by paper, the `chunk_key` that stands for an abstract where there is none."""
        return {
            (reader.namespace, uid): key
            for reader in self._readers
            for uid, key in opening_chunks(reader).items()
        }


def paper_of(hit: Hit) -> Paper:
    """Return the paper of a hit."""
    return Paper(hit.namespace, hit.doc_uid, hit.doc_title or hit.doc_uid, hit.year)


def plain(text: str) -> str:
    """Return letters and digits only, case-folded, words apart by one space."""
    return _NOT_A_LETTER.sub(" ", text.casefold()).strip()


def is_long(title: str) -> bool:
    """Say whether a title, as `plain` gives it, is one that nobody writes by chance."""
    return len(title.split()) >= _FEWEST_WORDS or len(HAN.findall(title)) >= _FEWEST_HAN


def _stands(words: str, text: str) -> bool:
    """Say whether words stand in a padded text; Chinese has no spaces around them."""
    return (words if HAN.search(words) else f" {words} ") in text


def _identifier(text: str) -> str:
    name = text.casefold().strip()
    arxiv = _ARXIV.search(name)
    is_arxiv = arxiv is not None and ("arxiv" in name or arxiv[0] == name)
    return arxiv[1] if arxiv and is_arxiv else name


def _is_name(name: str, known: KnownPaper) -> bool:
    return name == known.thing or "_" in name or any(sign.isdigit() for sign in name)


def is_alone(name: str, text: str) -> bool:
    """Say whether a name stands in a text as it is written, and is no part of a longer one."""
    pattern = rf"(?<![A-Za-z0-9_/.-]){re.escape(name)}(?![A-Za-z0-9_/-])"
    return re.search(pattern, text) is not None


# What a publication holds does not change while it is open.
_papers: "weakref.WeakKeyDictionary[Reader, tuple[KnownPaper, ...]]" = weakref.WeakKeyDictionary()
_openings: "weakref.WeakKeyDictionary[Reader, Mapping[str, str]]" = weakref.WeakKeyDictionary()


def _known_papers(reader: Reader) -> tuple[KnownPaper, ...]:
    if reader not in _papers:
        rows = reader.documents().select(_COLUMNS).to_pylist()
        _papers[reader] = tuple(_known(reader.namespace, row) for row in rows)
    return _papers[reader]


def _known(namespace: str, row: Mapping[str, Any]) -> KnownPaper:
    title = row["title"] or row["doc_uid"]
    stem = PurePosixPath(row["source_uri"] or "").stem
    names = (row["doc_uid"], row["doc_id"], row["citation_key"], row["doi"], stem)
    identifiers = {_identifier(name) for name in names if name}
    for place in (row["doi"], row["url"], row["source_uri"]):
        if place and "arxiv" in place.casefold() and (number := _ARXIV.search(place)):
            identifiers.add(number[1])
    paper = Paper(namespace, row["doc_uid"], title, row["year"], tuple(row["authors"] or ()))
    return KnownPaper(
        paper, frozenset(identifiers), plain(title), named_thing(title), row["abstract"]
    )


def opening_chunks(reader: Reader) -> Mapping[str, str]:
    """Return, for documents without a passage of category 0, what is nearest to an abstract.

    Of its first passages the one with most words of the catalogue's abstract; where that has none,
    the first of running text.

    Returns:
        `chunk_key` by `doc_uid`.
    """
    if reader not in _openings:
        _openings[reader] = _find_openings(reader)
    return _openings[reader]


def _find_openings(reader: Reader) -> dict[str, str]:
    category = (int(SectionCategory.ABSTRACT),)
    having = reader.fetch_columns(["doc_uid"], SearchFilters(section_categories=category))
    have = set(having.column("doc_uid").to_pylist())
    lacking = {known.paper.doc_uid: known for known in _known_papers(reader)}
    lacking = {uid: known for uid, known in lacking.items() if uid not in have}
    if not lacking:
        return {}
    asked = SearchFilters(doc_uids=tuple(lacking))
    first: dict[str, list[dict[str, Any]]] = {uid: [] for uid in lacking}
    rows = reader.fetch_columns(_PLACES, asked).to_pylist()
    for row in sorted(rows, key=lambda row: row["chunk_index"]):
        own = first[row["doc_uid"]]
        is_body = row["kind"] not in {*NOT_EVIDENCE, "front"} and not row["section_subtype"]
        if is_body and len(own) < _OPENING_CHUNKS:
            own.append(row)
    found = {}
    for uid, own in first.items():
        abstract = lacking[uid].abstract
        if own:
            nearest = max(own, key=_shared_words(reader, own, abstract)) if abstract else own[0]
            found[uid] = nearest["chunk_key"]
    return found


def _shared_words(reader: Reader, rows: Sequence[Mapping[str, Any]], abstract: str) -> Any:
    wanted = content_stems(abstract)
    texts = reader.fetch_hits(row["chunk_id"] for row in rows)
    shared = {key: len(wanted & content_stems(hit.text)) for key, hit in texts.items()}
    return lambda row: shared[row["chunk_id"]]
