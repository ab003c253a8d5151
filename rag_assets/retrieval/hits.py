"""What a search returns: chunks with their scores, and the parents that are shown for them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any


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
        ranks: position by searcher (`lexical`, `semantic`), from 1.
        scores: by searcher: BM25 from 0 without an upper bound; cosine in [-1, 1].
        score: fused by reciprocal ranks; compares hits of one search only.
        copies: `chunk_key` of hits that say the same and that this one stands for.
        explanation: why it is here: `ranks`, `scores`, normalised `parts` and `weights` by
            searcher, `fused` score, `rerank`, `kept_because`; `named_article` where the question
            names the article of a law that begins here.
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

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Hit":
        """Return a hit without ranks from a row of the search table."""
        return cls(
            **{name: row[name] for name in _PLAIN_FIELDS if name in row},
            section_path=tuple(row["section_path"] or ()),
        )


# What stands in a row of the search table under the same name and type.
_PLAIN_FIELDS = tuple(
    item.name
    for item in fields(Hit)
    if item.name not in {"section_path", "ranks", "scores", "score", "copies", "explanation"}
)
HIT_COLUMNS = (*_PLAIN_FIELDS, "section_path")


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
