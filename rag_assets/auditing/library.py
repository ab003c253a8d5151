"""What a cited document is, where it is looked up, and what can be wrong with a citation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from rag_assets.auditing.anchors import Citation

CitationFault = Literal["unknown_uid", "ambiguous_uid", "not_citable", "withheld"]

# Below it a name has nothing in common with another that a person would see (rapidfuzz WRatio,
# 0 to 100; its documentation calls 60 the usual lower bound of "similar").
_SIMILAR_NAME = 60.0


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk of a cited document.

    Args:
        text: verbatim, `[char_start, char_end)` of the document's clean text.
        page_start: first page, from 1; None for formats without pages. `page_end` likewise.
        char_start: code points, None where it is not known. `char_end` likewise.
        content_hash: SHA-256 of `text`.
        citation_id: outlives edits, `kb:<namespace>__chunk-<hash16>`.
        vector: float32, shape (dimension,).
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
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class CitedDocumentRef:
    """A document that a citation may mean. `withheld_reason` says why it is not published."""

    namespace: str
    doc_uid: str
    title: str | None
    citable: bool
    withheld_reason: str | None = None


@dataclass(frozen=True, slots=True)
class CitedDocument:
    """A document with its passages, in the order of its chunks."""

    namespace: str
    doc_uid: str
    title: str | None
    citable: bool
    passages: Sequence[Passage]


class Library(Protocol):
    """The published documents, one publication a namespace."""

    @property
    def publications(self) -> Mapping[str, str]:
        """Return the publication's name for every namespace that has one."""
        ...

    def find(self, doc_uid: str, namespace: str | None) -> list[CitedDocumentRef]:
        """Return the documents called `doc_uid`, in one namespace or, for None, in all."""
        ...

    def load(self, ref: CitedDocumentRef) -> CitedDocument:
        """Return the document with its passages, in the order of its chunks."""
        ...

    def uids(self) -> Iterable[tuple[str, str]]:
        """Return (namespace, doc_uid) of every document."""
        ...


@dataclass(frozen=True, slots=True)
class FaultyCitation:
    """Why a citation cannot be judged.

    Args:
        nearest: what may have been meant, as it is written between the braces, best first.
    """

    code: CitationFault
    reason: str
    nearest: tuple[str, ...] = ()


def resolve_citation(
    citation: Citation, library: Library, namespaces: Sequence[str]
) -> CitedDocumentRef | FaultyCitation:
    """Return the document that `citation` means, or what is wrong with it.

    Args:
        citation: as written.
        library: where it is looked up.
        namespaces: of the draft's front matter; empty means all. A namespace written in the
            citation itself comes before them.
    """
    found = library.find(citation.doc_uid, citation.namespace)
    if citation.namespace is None and namespaces:
        found = [ref for ref in found if ref.namespace in namespaces]
    if not found:
        return _unknown(citation, library, namespaces)
    if len(found) > 1:
        forms = tuple(sorted(f"{ref.namespace}:{ref.doc_uid}" for ref in found))
        written = " or ".join(f"{{#{form}}}" for form in forms)
        return FaultyCitation(
            "ambiguous_uid",
            f"{len(found)} namespaces have a document `{citation.doc_uid}`. Write {written}, or "
            "name one namespace in the draft's front matter.",
            forms,
        )
    ref = found[0]
    if ref.withheld_reason is not None:
        return FaultyCitation(
            "withheld",
            f"`{ref.doc_uid}` is not published: {ref.withheld_reason.rstrip('. ')}. "
            "`rag documents` says what to do.",
        )
    if not ref.citable:
        return FaultyCitation(
            "not_citable",
            f"`{ref.doc_uid}` must not be cited: its file does not lie where evidence lies (or "
            "its sidecar forbids it). Cite a document from raw/evidence.",
        )
    return ref


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
        f"Did you mean {{#{nearest[0]}}}?"
        if nearest
        else "No uid resembles it; `rag documents` lists them all."
    )
    return FaultyCitation(
        "unknown_uid", f"There is no document `{citation.doc_uid}`{where}. {advice}", nearest
    )


def _nearest(
    citation: Citation, library: Library, namespaces: Sequence[str], limit: int = 3
) -> tuple[str, ...]:
    from rapidfuzz import fuzz

    spread: dict[str, set[str]] = {}
    for namespace, doc_uid in library.uids():
        spread.setdefault(doc_uid, set()).add(namespace)
    scored: list[tuple[float, bool, str]] = []
    for doc_uid, homes in spread.items():
        score = fuzz.WRatio(citation.doc_uid.lower(), doc_uid.lower())
        if score < _SIMILAR_NAME:
            continue
        near = homes if not namespaces else homes & set(namespaces)
        # The bare uid is enough where the draft's namespaces hold it once.
        forms = [doc_uid] if len(near) == 1 else [f"{home}:{doc_uid}" for home in near or homes]
        scored.extend((-score, not near, form) for form in forms)
    return tuple(form for *_, form in sorted(scored)[:limit])
