"""From hits on chunks to a ranking of a set's documents."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag_assets.retrieval import Hit


def rank_documents(hits: "Iterable[Hit]", ids: Mapping[str, Sequence[str]]) -> list[str]:
    """Return documents by their best chunk, best first, each once.

    A hit that stands for others of the same text (`copies`) brings their documents with it: whoever
    reads it is told of them. Files that are the same, byte for byte, are one document here and
    several in the set: they follow each other.

    Args:
        hits: best first.
        ids: of the set's documents, by `doc_uid`.
    """
    ranking: dict[str, None] = {}
    for hit in hits:
        for uid in (hit.doc_uid, *map(_document_of, hit.copies)):
            ranking.update(dict.fromkeys(ids.get(uid, ())))
    return list(ranking)


def rank_hits(hits: "Iterable[Hit]", ids: Mapping[str, Sequence[str]]) -> list[str]:
    """Return chunks as `<id of the document>:<number of the chunk, from 0>`, best first."""
    ranking: dict[str, None] = {}
    for hit in hits:
        for identity in ids.get(hit.doc_uid, ()):
            ranking[f"{identity}:{hit.chunk_index}"] = None
        for copy in hit.copies:
            _, _, number = copy.rpartition(":")
            for identity in ids.get(_document_of(copy), ()):
                ranking[f"{identity}:{number}"] = None
    return list(ranking)


def _document_of(chunk_key: str) -> str:
    """Return the `doc_uid` of `namespace::doc_uid:number`."""
    _, _, chunk_id = chunk_key.partition("::")
    uid, _, _ = chunk_id.rpartition(":")
    return uid
