"""What a search returns: chunks with their scores, and the parents that are shown for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from typing import Any

from typing_extensions import TypedDict

from rag_assets.law.citing import write_citation
from rag_assets.law.versions import Standing
from rag_assets.model import Article


@dataclass(frozen=True, slots=True)
class LawMark:
    """The wording of a law that a passage is of, and how it stands on the day that was asked for.

    Args:
        title: of the law.
        version_date: the day of the wording; None where it is not known.
        holds_from: since when it holds; the day of the wording where no text says (`is_stated`).
        is_one_of_several: whether the library holds other wordings of it.
        repeal: by what it is repealed, in words; None of every other standing.
    """

    title: str
    standing: Standing
    version_date: date | None
    holds_from: date | None
    is_stated: bool
    is_one_of_several: bool
    repeal: str | None = None

    def cite(self, path: Sequence[str], article: Article) -> str | None:
        """Return the citation of an article, with the wording's day where there are several.

        None where that day is not known: nothing would tell it from the others.
        """
        if self.is_one_of_several and self.version_date is None:
            return None
        day = str(self.version_date) if self.is_one_of_several else ""
        return write_citation(self.title, path, article.shown, version=day)


class FoundLaw(TypedDict):
    """The wording of a law that a passage is of, and how it stands on the day that was asked for.

    `standing` is in_force, not_yet_in_force, superseded, repealed or unknown; `is_stated` whether a
    text says since when it holds; `repeal` by what it is repealed.
    """

    title: str
    citation: str | None
    standing: Standing
    version_date: str | None
    holds_from: str | None
    is_stated: bool
    repeal: str | None


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that was found, with all that is needed to show and cite it.

    Args:
        section_category: 0 abstract to 6 related work (spec 002); None where it is not known.
        section_subtype: references, appendix or acknowledgements; None for body text.
        kind: what most of it is: text, table, list, code, reference, qa, …
        context: what the model is told before the text: headings, header row.
        content_hash: SHA-256 of `text`.
        edited: what a person wrote in place of the text, which is what is printed; None where
            nobody did.
        citation_id: `kb:<namespace>__chunk-<hash16>`, which outlives edits.
        law_title: of a statute's passage the title of its law within the file; None otherwise.
        articles: of a law, that the passage holds or is a part of.
        law: of a statute's passage, where it was asked for a day.
        ranks: position by searcher (`lexical`, `semantic`), from 1.
        scores: by searcher: BM25 from 0 without an upper bound; cosine in [-1, 1].
        score: fused by reciprocal ranks; compares hits of one search only.
        copies: `chunk_key` of hits that say the same and that this one stands for.
        explanation: why it is here: `ranks`, `scores`, normalised `parts` and `weights` by
            searcher, `fused` score, `rerank`, `kept_because`; `entities` where those of the
            question lead here; `named_article` where it names the article of a law that begins
            here.
    """

    namespace: str
    chunk_id: str
    parent_id: str
    doc_uid: str
    doc_id: str
    doc_title: str | None
    citation_key: str | None
    source_type: str
    source_subtype: str | None
    citable: bool
    chunk_index: int
    page_start: int | None
    page_end: int | None
    char_start: int
    char_end: int
    section_path: tuple[str, ...]
    text: str
    content_hash: str
    citation_id: str
    is_cut: bool
    kind: str | None = None
    section_category: int | None = None
    section_subtype: str | None = None
    language: str | None = None
    year: int | None = None
    context: str = ""
    law_title: str | None = None
    articles: tuple[Article, ...] = ()
    law: LawMark | None = None
    edited: str | None = None
    ranks: Mapping[str, int] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    score: float = 0.0
    copies: tuple[str, ...] = ()
    explanation: Mapping[str, Any] = field(default_factory=dict)

    @property
    def chunk_key(self) -> str:
        """`namespace::chunk_id`, unique in the workspace."""
        return f"{self.namespace}::{self.chunk_id}"

    @property
    def shown(self) -> str:
        """The text to be read: the edited one where there is one."""
        return self.text if self.edited is None else self.edited

    @property
    def citation(self) -> str | None:
        """`[law > chapter > article]` of its first article; None outside marked statutes."""
        if self.law is None or not self.articles:
            return None
        return self.law.cite(self.section_path, self.articles[0])

    @property
    def law_values(self) -> FoundLaw | None:
        """What it says of its law, as values that JSON knows; None where that is nothing."""
        if self.law is None:
            return None
        days = (self.law.version_date, self.law.holds_from)
        version, since = (day.isoformat() if day is not None else None for day in days)
        return {
            "title": self.law.title,
            "citation": self.citation,
            "standing": self.law.standing,
            "version_date": version,
            "holds_from": since,
            "is_stated": self.law.is_stated,
            "repeal": self.law.repeal,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Hit":
        """Return a hit without ranks from a row of the search table.

        A table of before there were `LAW_COLUMNS` or edits has none of these.
        """
        return cls(
            **{name: row[name] for name in _PLAIN_FIELDS if name in row},
            section_path=tuple(row["section_path"] or ()),
            law_title=row.get("law_title"),
            articles=articles_of(row),
        )


def articles_of(row: Mapping[str, Any]) -> tuple[Article, ...]:
    """Return the articles of a row of the search table."""
    return tuple(Article(**article) for article in row.get("articles") or ())


LAW_COLUMNS = ("law_title", "articles")
_MADE_LATER = frozenset({"law", "ranks", "scores", "score", "copies", "explanation"})
# What stands in a row of the search table under the same name and type.
_PLAIN_FIELDS = tuple(
    item.name
    for item in fields(Hit)
    if item.name not in {"section_path", *LAW_COLUMNS, *_MADE_LATER}
)
HIT_COLUMNS = (*_PLAIN_FIELDS, "section_path", *LAW_COLUMNS)


@dataclass(frozen=True, slots=True)
class ParentPassage:
    """A passage that is shown whole: a page, or a section where there are no pages."""

    namespace: str
    parent_id: str
    doc_uid: str
    label: str
    order: int
    char_start: int
    char_end: int
    page_start: int | None
    page_end: int | None
    section_path: tuple[str, ...]
    text: str
    hash: str

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "ParentPassage":
        """Return a parent from a row of the catalogue."""
        return cls(**{**row, "section_path": tuple(row["section_path"] or ())})


@dataclass(frozen=True, slots=True)
class ParentHit:
    """A parent with the chunks that led to it.

    Args:
        rank: from 1, by the best chunk.
        best: the chunk that was found first.
        other_chunk_ids: further chunks of this parent that were found, best first.
    """

    rank: int
    parent: ParentPassage
    best: Hit
    other_chunk_ids: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        """The fused score of the best chunk."""
        return self.best.score
