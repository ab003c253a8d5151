"""What a cited document is, and where it is looked up."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from rag_assets.model import Box, PageBox, hash_fields
from rag_assets.statutes import StatuteCitation


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
    """

    namespace: str
    doc_uid: str
    title: str | None
    citable: bool
    withheld_reason: str | None = None
    is_removed: bool = False
    article: CitedArticle | None = None
    repeal: str = ""


@dataclass(frozen=True, slots=True)
class CitedDocument:
    """A document with its passages, in the order of its chunks.

    Args:
        passages: what can support a sentence.
        unsaid: passages that state nothing: entries of a bibliography, acknowledgements, labels
            of a diagram, what a person has disabled. A quotation may stand in them, support may
            not come from them.
        content_version: SHA-256 of the raw file; empty where it is not known.
    """

    namespace: str
    doc_uid: str
    title: str | None
    citable: bool
    passages: Sequence[Passage]
    unsaid: Sequence[Passage] = ()
    content_version: str = ""

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
        ...

    def find(self, doc_uid: str, namespace: str | None) -> list[CitedDocumentRef]:
        """Return the documents called `doc_uid`, in one namespace or, for None, in all; where there
        is none, those that were removed.
        """
        ...

    def find_key(self, citation_key: str, namespace: str | None) -> list[CitedDocumentRef]:
        """Return the documents with this key of the writer's bibliography, likewise."""
        ...

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
        ...

    def load(self, ref: CitedDocumentRef) -> CitedDocument:
        """Return the document with all its passages, in the order of its chunks."""
        ...

    def find_boxes(
        self, ref: CitedDocumentRef, spans: Sequence[tuple[int, int]]
    ) -> list[tuple[PageBox, ...]]:
        """Return the rectangles around the printed lines of spans of the clean text.

        Empty for each where the document has no pages or its lines are not kept.
        """
        ...

    def uids(self) -> Iterable[tuple[str, str]]:
        """Return (namespace, doc_uid) of every document."""
        ...

    def keys(self) -> Iterable[tuple[str, str]]:
        """Return (namespace, citation_key) of every document that has one."""
        ...
