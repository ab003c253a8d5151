"""From a question to chunks, and from chunks to the parents that are shown."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_assets.model import DamagedFileError, UsageError
from rag_assets.retrieval.fusion import fuse_rrf
from rag_assets.retrieval.hits import Hit, ParentHit, ParentPassage
from rag_assets.retrieval.reader import EVERYTHING, Reader, SearchFilters

if TYPE_CHECKING:
    from rag_assets.workspace.settings import RetrieveSettings

LEXICAL = "lexical"
SEMANTIC = "semantic"

_Scored = list[tuple[Hit, float]]


def search(
    readers: Sequence[Reader],
    query_text: str,
    query_vectors: Mapping[str, Sequence[float]],
    settings: "RetrieveSettings",
    filters: SearchFilters = EVERYTHING,
) -> list[Hit]:
    """Return the chunks that answer a question, over all readers in one ranking.

    Each searcher gives `pool_k` candidates. Over several namespaces a searcher's candidates are
    merged by score: BM25 scores as they are, as distributed text search does; cosines where the
    namespaces were given the same vector, hence share a model. Cosines of different models say
    nothing to each other: each model's candidates are a ranking of their own. Ranks are fused by
    RRF, ties go by `chunk_key`. Of hits with the same text one is kept: the citable one, then the
    one with pages, then the one with the lower uid; it stands at the best one's place and names
    the others as `copies`.

    Args:
        readers: one a namespace.
        query_text: the question.
        query_vectors: the question's vector by namespace; not looked at by the lexical method.
        settings: method, `pool_k` and `rrf_k`.
        filters: applied before the searches.

    Returns:
        At most `pool_k` hits a ranking, best first, with ranks and scores by searcher.

    Raises:
        UsageError: two readers share a namespace; a namespace's vector is missing, not finite or
            of another dimension.
    """
    namespaces = [reader.namespace for reader in readers]
    if len(set(namespaces)) != len(namespaces):
        raise UsageError(f"each namespace can be asked once, got {', '.join(namespaces)}.")
    found: dict[str, _Scored] = {}
    if settings.method != "semantic":
        found[LEXICAL] = _merge(
            (reader.search_text(query_text, settings.pool_k, filters) for reader in readers),
            settings.pool_k,
        )
    if settings.method != "lexical":
        for number, members in enumerate(_by_vector(readers, query_vectors)):
            found[f"{SEMANTIC}:{number}"] = _merge(
                (
                    reader.search_vectors(query_vectors[reader.namespace], settings.pool_k, filters)
                    for reader in members
                ),
                settings.pool_k,
            )
    return _keep_one_of_copies(_fuse(found, settings.rrf_k))


def _by_vector(
    readers: Sequence[Reader], query_vectors: Mapping[str, Sequence[float]]
) -> list[list[Reader]]:
    """Return the readers in groups that share a question vector, in order of their namespaces."""
    groups: dict[tuple[float, ...], list[Reader]] = defaultdict(list)
    for reader in sorted(readers, key=lambda reader: reader.namespace):
        if reader.namespace not in query_vectors:
            raise UsageError(
                f"namespace '{reader.namespace}' needs the question's vector from its own model "
                "for semantic and hybrid search; set retrieve.method to lexical to do without."
            )
        groups[tuple(map(float, query_vectors[reader.namespace]))].append(reader)
    return list(groups.values())


def _merge(parts: Iterable[_Scored], limit: int) -> _Scored:
    scored = [item for part in parts for item in part]
    return sorted(scored, key=lambda item: (-item[1], item[0].chunk_key))[:limit]


def _fuse(found: Mapping[str, _Scored], rrf_k: int) -> list[Hit]:
    hits: dict[str, Hit] = {}
    ranks: dict[str, dict[str, int]] = defaultdict(dict)
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    for ranking, scored in found.items():
        searcher = ranking.partition(":")[0]
        for rank, (hit, score) in enumerate(scored, start=1):
            hits[hit.chunk_key] = hit
            ranks[hit.chunk_key][searcher] = rank
            scores[hit.chunk_key][searcher] = score
    order = {name: [hit.chunk_key for hit, _ in scored] for name, scored in found.items()}
    return [
        replace(hits[key], ranks=ranks[key], scores=scores[key], score=score)
        for key, score in fuse_rrf(order, rrf_k)
    ]


def _keep_one_of_copies(hits: Sequence[Hit]) -> list[Hit]:
    groups: dict[str, list[Hit]] = defaultdict(list)
    for hit in hits:
        groups[hit.content_hash].append(hit)
    kept = []
    for group in groups.values():
        chosen = min(group, key=_preference)
        copies = tuple(sorted(hit.chunk_key for hit in group if hit is not chosen))
        kept.append(replace(chosen, score=group[0].score, copies=copies))
    return kept


def _preference(hit: Hit) -> tuple[bool, bool, str, str, int]:
    return (
        not hit.citable,
        hit.page_start is None,
        hit.doc_uid,
        hit.namespace,
        hit.chunk_index,
    )


def backfill_parents(readers: Sequence[Reader], hits: Sequence[Hit], top_k: int) -> list[ParentHit]:
    """Return the parents of the hits, in the order of each parent's best hit.

    Args:
        readers: those that the hits came from.
        hits: best first.
        top_k: parents at most, from 1.

    Raises:
        UsageError: `top_k` is below 1, or a hit's namespace has no reader.
        DamagedFileError: a publication lacks the parent of one of its chunks.
    """
    if top_k < 1:
        raise UsageError(f"'top_k' must be at least 1, got {top_k}.")
    groups: dict[tuple[str, str], list[Hit]] = defaultdict(list)
    for hit in hits:
        groups[hit.namespace, hit.parent_id].append(hit)
    shown = list(groups.items())[:top_k]
    passages = _fetch_passages(readers, [key for key, _ in shown])
    return [
        ParentHit(
            rank=rank,
            parent=passages[key],
            best=children[0],
            other_chunk_ids=tuple(child.chunk_id for child in children[1:]),
        )
        for rank, (key, children) in enumerate(shown, start=1)
    ]


def _fetch_passages(
    readers: Sequence[Reader], wanted: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], ParentPassage]:
    by_namespace: dict[str, list[str]] = defaultdict(list)
    for namespace, parent_id in wanted:
        by_namespace[namespace].append(parent_id)
    open_readers = {reader.namespace: reader for reader in readers}
    passages: dict[tuple[str, str], ParentPassage] = {}
    for namespace, parent_ids in by_namespace.items():
        if namespace not in open_readers:
            raise UsageError(f"no reader is open for namespace '{namespace}' of these hits.")
        reader = open_readers[namespace]
        found = reader.fetch_parents(parent_ids)
        missing = sorted(set(parent_ids) - set(found))
        if missing:
            raise DamagedFileError(
                f"{reader.folder}: the catalogue lacks parent {missing[0]}, which the search "
                "table names. Delete the publication's folder and run `rag index`."
            )
        passages.update({(namespace, key): passage for key, passage in found.items()})
    return passages
