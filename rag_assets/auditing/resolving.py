"""Which document a citation means, or what is wrong with it."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rag_assets.auditing.drafts.anchors import Citation
from rag_assets.auditing.library import CitedDocumentRef, Library
from rag_assets.auditing.statutes import find_statute, statute_of

CitationFault = Literal[
    "unknown_uid", "unknown_article", "removed", "ambiguous_uid", "not_citable", "withheld"
]

# What word processors make of a hyphen, and letters without width that come with copied text.
_HYPHENS = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe58\ufe63\uff0d", "-"))
_SOFT_HYPHEN = "\u00ad"

# Below it a name has nothing in common with another that a person would see (rapidfuzz WRatio,
# 0 to 100; its documentation calls 60 the usual lower bound of "similar").
_SIMILAR_NAME = 60.0


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
    found = look_up(citation, library, namespaces)
    if not found:
        return _unknown(citation, library, namespaces)
    # A file may lie in the folders of two namespaces, and be evidence in one of them only.
    meant = [ref for ref in found if ref.citable and ref.withheld_reason is None] or found
    if len(meant) > 1:
        return _ambiguous(citation, meant)
    return _citable(meant[0])


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
            f"`{ref.doc_uid}` must not be cited: its file does not lie where evidence lies, or "
            "its sidecar or `rag meta set` forbids it. Cite a document from raw/evidence.",
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
    from rapidfuzz import fuzz

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
