"""An evidence pack as a value, as JSON and as the JSON Schema of that."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter

from rag_assets.evidence.locating import LocatorQuality
from rag_assets.law.versions import Standing
from rag_assets.model import PageBox
from rag_assets.storage import restore_json

# An evidence pack as a value, and as JSON. It carries its text and needs no index to be read.

SCHEMA = "rag-assets/evidence-pack/7"
# Of packs that were asked for no day and hold nothing that a person has edited: written as they
# were before there was either.
PLAIN_SCHEMA = "rag-assets/evidence-pack/5"
# Besides these, packs that do not say whether the library answers, and those before edits.
READABLE_SCHEMAS = frozenset(
    {SCHEMA, PLAIN_SCHEMA, "rag-assets/evidence-pack/4", "rag-assets/evidence-pack/6"}
)
# Of rendering.py: raise it when the same pack is laid out otherwise, so that a replay can tell a
# file of an older version from one that was edited.
LAYOUT_VERSION = 3

Mode = Literal["evidence", "papers"]
QuoteCheck = Literal["printed", "clean_text"]

_STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class ItemLaw:
    """The wording of a law that a passage is of.

    Args:
        title: of the law within its file.
        citation: `[law > chapter > article]` of the article that the quote stands in, with the
            wording's day where the library holds several; null outside articles.
        standing: on the day that the pack was asked for; `unknown` where neither text nor file say
            since when it is a wording.
        version_date: the day of the wording, as YYYY-MM-DD; null where it is not known.
        holds_from: since when it holds, as YYYY-MM-DD; null where it is not known.
        is_stated: whether a text says so; else the day of the wording stands for it.
        repeal: by what it is repealed, in words with the sentence that says so; else null.
    """

    title: str
    citation: str | None
    standing: Standing
    version_date: str | None
    holds_from: str | None
    is_stated: bool
    repeal: str | None = None

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """One passage that may be cited (spec 000 section 3).

    Args:
        rank: from 1, by `retrieval_score`; of equals as they were found.
        cite_as: what names the document between `{#` and `}` of a draft: its uid, with its
            namespace where other namespaces may have a document of that uid.
        retrieval_score: how probably `exact_quote` answers, to six decimals; 1 where the question
            names the article. In packs of before the fused score, now in `explanation`.
        ranks: position in each searcher, from 1, of the passage by which the search found this page
            or section; `scores` its own score there.
        page_index: of the quote's first page, from 0, null without pages.
        page_start: the quote's first page, from 1, null without pages.
        char_start: of `exact_quote` in the document's clean text; half-open.
        anchor_begin: first words of the quote, to find it with a text search.
        anchor_end: its last words.
        locator: as it is shown; `locator_quality` says how exact it is.
        boxes: rectangles around the quote's printed lines, in points; empty where not known.
        snippet: the chunk that holds the quote; `parent_text` the page or section around it.
        exact_quote: the sentence of the page or section that answers best, verbatim; of a longer
            one at most 60 words where the rest takes nothing back, of a statute all of it.
        quote_check: what the quote was compared with, character by character: what is printed
            on the page (spelling of ligatures, line ends and their hyphens undone), or the clean
            text where the format has no printed lines.
        chunk_hash: SHA-256 of the chunk's text; `parent_hash` of the parent's.
        citation_id: a citation that outlives edits.
        explanation: why it was found: `Hit.explanation` of the passage that the search found.
        other_chunk_ids: further chunks of the same parent that were found.
        law: of a statute's passage, in packs with `as_of`; null of another one.
        edited: what a person wrote in place of the snippet, by which it was found; the snippet is
            what is printed. None where nobody did.
        is_cut: whether the sentence goes on behind `exact_quote`.
        row: of a row of a table, the quote with the names of its columns, as it is shown:
            `Tray u46: Weight (g) = 12.4; Count = 3`. None of all else.
    """

    rank: int
    namespace: str
    doc_uid: str
    cite_as: str
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
    page_index: int | None
    page_start: int | None
    page_end: int | None
    char_start: int
    char_end: int
    anchor_begin: str
    anchor_end: str
    locator: str
    locator_quality: LocatorQuality
    boxes: tuple[PageBox, ...]
    snippet: str
    exact_quote: str
    quote_check: QuoteCheck
    parent_text: str
    chunk_hash: str
    parent_hash: str
    citation_id: str
    explanation: Mapping[str, Any]
    other_chunk_ids: tuple[str, ...] = ()
    law: ItemLaw | None = None
    edited: str | None = None
    is_cut: bool = False
    row: str | None = None

    __pydantic_config__ = _STRICT

    @property
    def shown_quote(self) -> str:
        """The quote as it is shown: a row with the names of its columns, all else verbatim, with an
        ellipsis where its sentence goes on.
        """
        if self.row is not None:
            return self.row
        return f"{self.exact_quote} …" if self.is_cut else self.exact_quote


@dataclass(frozen=True, slots=True)
class PackSource:
    """One document that items are from: what a reader needs to name it, as it was published.

    Args:
        cite_as: as in EvidenceItem.
        title: the sidecar's or an override's, else as the document prints it; so are the others.
        authors: in order, as printed.
        content_hash: SHA-256 of the raw bytes that were read.
        hits: passages of it that were found, items and further chunks of their parents.
        ranks: of its items, best first.
    """

    namespace: str
    doc_uid: str
    cite_as: str
    citation_key: str | None
    title: str | None
    authors: tuple[str, ...]
    year: int | None
    publisher: str | None
    url: str | None
    doi: str | None
    published_date: str | None
    accessed_at: str | None
    language: str | None
    source_type: str
    content_hash: str
    hits: int
    ranks: tuple[int, ...]

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class PackRequest:
    """What was asked for beside the question, as it was written."""

    namespaces: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    top_k: int | None = None

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class PackMatch:
    """Whether anything in the library seems to answer the question.

    Args:
        is_good: whether `likelihood` reaches `threshold`, or the question names an article that is
            there.
        likelihood: the highest probability that a sentence of what was found answers.
        threshold: fitted on questions with marked answers (docs/evaluation.md).
        weights: SHA-256 of the models that compared and read.
        sentence: what to know and to do where nothing matches well, in the question's language;
            null elsewhere.
    """

    is_good: bool
    likelihood: float
    threshold: float
    weights: str
    sentence: str | None

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class EvidencePack:
    """The answer to a question: what may be cited, from which publication, found how.

    Args:
        query_id: digest of question, filters, publications, models and settings; no clock in it.
        layout: version of the Markdown's layout that the pack was written with.
        mode: `evidence` lists passages; `papers` groups the same hits by document.
        queries: what was searched: `q_zh`, `q_en`, or `q` in another language.
        request: namespaces, filters and number of items as they were asked for.
        publications: namespace → publication that was asked.
        build_ids: namespace → `<created at>-<publication>-<tool version>` of that publication.
        encoders: namespace → embedding models of that publication, with their fingerprints.
        filters: what was searched, in words.
        settings: `retrieve` as applied, with where the weights are from and what reranked.
        sources: the documents that items are from, in the order of their best item.
        locator_quality: how many items have each quality of locator.
        match: whether the library seems to answer; null in packs of versions that did not say.
        warnings: sentences a person can act on.
        circumstances: those of `warnings` that the moment of asking decided, such as a namespace
            without a publication: a replay takes them over.
        as_of: the day, YYYY-MM-DD, for which laws were asked; null, and not written, where no
            publication that was asked holds a statute.
        all_versions: whether wordings in whose place another is in force were searched too.
    """

    query_id: str
    layout: int
    mode: Mode
    question: str
    queries: Mapping[str, str]
    request: PackRequest
    publications: Mapping[str, str]
    build_ids: Mapping[str, str]
    encoders: Mapping[str, Mapping[str, str]]
    filters: tuple[str, ...]
    settings: Mapping[str, Any]
    sources: tuple[PackSource, ...]
    locator_quality: Mapping[LocatorQuality, int]
    items: tuple[EvidenceItem, ...]
    match: PackMatch | None = None
    warnings: tuple[str, ...] = ()
    circumstances: tuple[str, ...] = ()
    as_of: str | None = None
    all_versions: bool = False

    __pydantic_config__ = _STRICT

    @property
    def doc_uids(self) -> tuple[str, ...]:
        """The documents that the items are from, in order of first appearance."""
        return tuple(dict.fromkeys(item.doc_uid for item in self.items))

    def short_citation(self, item: EvidenceItem) -> str:
        """Return the citation key of an item's document, `cite_as` where it has none.

        A key is unique in its namespace, which is named where several were asked.
        """
        if not item.citation_key:
            return item.cite_as
        is_alone = len(self.publications) == 1 and ":" not in item.cite_as
        return item.citation_key if is_alone else f"{item.namespace}:{item.citation_key}"


LAW_FIELDS = ("as_of", "all_versions")
"""The fields of a pack that only one with a day has; of its items `law`. No item needs `edited`."""


def pack_to_json(pack: EvidencePack) -> dict[str, Any]:
    """Return a pack as values that JSON knows: `schema`, then the fields of EvidencePack.

    What is about laws is left out of a pack that was asked for no day, `edited` of items that
    nobody edited, `row` of what is none: a pack of neither is as packs were before there was any.
    """
    values = asdict(pack)
    has_day = pack.as_of is not None
    if not has_day:
        for name in LAW_FIELDS:
            del values[name]
    for item in values["items"]:
        if not has_day:
            del item["law"]
        for name in ("edited", "row"):
            if item[name] is None:
                del item[name]
        if not item["is_cut"]:
            del item["is_cut"]
    is_plain = not has_day and not any("edited" in item for item in values["items"])
    return {"schema": PLAIN_SCHEMA if is_plain else SCHEMA, **values}


def write_pack(pack: EvidencePack) -> str:
    """Return a pack as the text of its JSON file."""
    return json.dumps(pack_to_json(pack), indent=1, ensure_ascii=False) + "\n"


def pack_from_json(data: Mapping[str, Any]) -> EvidencePack:
    """Return the pack that `pack_to_json` wrote, of this version or one of `READABLE_SCHEMAS`.

    Raises:
        DamagedFileError: another schema; a field is missing, unknown or of another type.
    """
    return restore_json(pack_type(), data, "evidence pack", SCHEMA, READABLE_SCHEMAS)


@cache
def pack_type() -> TypeAdapter[EvidencePack]:
    """Return what checks and restores the values of a pack; its JSON Schema comes from it too."""
    return TypeAdapter(EvidencePack)
