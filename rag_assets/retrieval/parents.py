"""From chunks to the parents that are shown for them."""

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag_assets.model import DamagedFileError, UsageError
from rag_assets.retrieval.hits import Hit, ParentHit, ParentPassage

if TYPE_CHECKING:
    from rag_assets.retrieval.reader import Reader


def backfill_parents(
    readers: "Sequence[Reader]", hits: Sequence[Hit], top_k: int
) -> list[ParentHit]:
    """Return the parents of the hits, in the order of each parent's best hit.

    Each article that the question names is a result of its own, also where several stand in one
    parent.

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
    groups: list[list[Hit]] = []
    by_parent: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        own = by_parent.get((hit.namespace, hit.parent_id))
        if own is None or "named_article" in hit.explanation:
            groups.append([hit])
            by_parent.setdefault((hit.namespace, hit.parent_id), groups[-1])
        else:
            own.append(hit)
    shown = groups[:top_k]
    passages = _fetch_passages(readers, [(own[0].namespace, own[0].parent_id) for own in shown])
    return [
        ParentHit(
            rank=rank,
            parent=passages[best.namespace, best.parent_id],
            best=best,
            other_chunk_ids=tuple(child.chunk_id for child in others),
        )
        for rank, (best, *others) in enumerate(shown, start=1)
    ]


def _fetch_passages(
    readers: "Sequence[Reader]", wanted: Sequence[tuple[str, str]]
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
                "table names. Delete the publication's folder and run `rag ingest`."
            )
        passages.update({(namespace, key): passage for key, passage in found.items()})
    return passages
