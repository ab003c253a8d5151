"""An evidence pack as a value, and as JSON. It carries its text and needs no index to be read."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from rag_assets.evidence.locating import LocatorQuality
from rag_assets.model import DamagedFileError

SCHEMA = "rag-assets/evidence-pack/2"


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """One passage that may be cited (spec 000 section 3).

    Args:
        rank: from 1.
        retrieval_score: of the fusion; compares items of one pack only.
        ranks: position in each searcher, from 1; `scores` its own score there.
        locator: as it is shown; `locator_quality` says how exact it is.
        page_start: first page, from 1, None without pages.
        char_start: of `exact_quote` in the document's clean text; half-open.
        anchor_begin: first words of the quote, to find it with a text search.
        snippet: the chunk that was found; `parent_text` the page or section around it.
        exact_quote: at most 60 words, verbatim.
        chunk_hash: SHA-256 of the chunk's text.
        citation_id: a citation that outlives edits.
        explanation: why it was found: `Hit.explanation` of the chunk.
        other_chunk_ids: further chunks of the same parent that were found.
    """

    rank: int
    namespace: str
    doc_uid: str
    title: str | None
    citation_key: str | None
    source_type: str
    citable: bool
    retrieval_score: float
    ranks: Mapping[str, int]
    scores: Mapping[str, float]
    parent_id: str
    chunk_id: str
    section_path: tuple[str, ...]
    page_start: int | None
    page_end: int | None
    char_start: int
    char_end: int
    anchor_begin: str
    anchor_end: str
    locator: str
    locator_quality: LocatorQuality
    snippet: str
    exact_quote: str
    parent_text: str
    chunk_hash: str
    parent_hash: str
    citation_id: str
    explanation: Mapping[str, Any]
    other_chunk_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvidencePack:
    """The answer to a question: what may be cited, from which publication, found how.

    Args:
        query_id: digest of question, filters, publications, models and settings; no clock in it.
        queries: what was searched: `q_zh`, `q_en`, or `q` in another language.
        publications: namespace → publication that was asked.
        build_ids: namespace → `<created at>-<publication>-<tool version>` of that publication.
        encoders: namespace → embedding models of that publication, with their fingerprints.
        filters: what was searched, in words.
        settings: `retrieve` as applied, with where the weights are from and what reranked.
        warnings: sentences a person can act on.
    """

    query_id: str
    question: str
    queries: Mapping[str, str]
    publications: Mapping[str, str]
    build_ids: Mapping[str, str]
    encoders: Mapping[str, Mapping[str, str]]
    filters: tuple[str, ...]
    settings: Mapping[str, Any]
    items: tuple[EvidenceItem, ...]
    warnings: tuple[str, ...] = ()

    @property
    def doc_uids(self) -> tuple[str, ...]:
        """The documents that the items are from, in order of first appearance."""
        return tuple(dict.fromkeys(item.doc_uid for item in self.items))


def pack_to_json(pack: EvidencePack) -> dict[str, Any]:
    """Return a pack as values that JSON knows: `schema`, then the fields of EvidencePack."""
    return {"schema": SCHEMA, **asdict(pack)}


def pack_from_json(data: Mapping[str, Any]) -> EvidencePack:
    """Return the pack that `pack_to_json` wrote.

    Raises:
        DamagedFileError: another schema, or fields are missing or unknown.
    """
    known = {field.name for field in fields(EvidencePack)}
    if data.get("schema") != SCHEMA or set(data) - {"schema"} != known:
        raise DamagedFileError(
            f"this is not an evidence pack of schema {SCHEMA}. Ask the question again."
        )
    items = tuple(
        EvidenceItem(
            **{
                **item,
                "section_path": tuple(item["section_path"]),
                "other_chunk_ids": tuple(item["other_chunk_ids"]),
            }
        )
        for item in data["items"]
    )
    values = {key: value for key, value in data.items() if key != "schema"}
    return EvidencePack(
        **values
        | {
            "items": items,
            "filters": tuple(data["filters"]),
            "warnings": tuple(data["warnings"]),
        }
    )
