"""The passages around one passage, by its place in the document (spec 002 §3.2)."""

from rag_assets.model import UsageError
from rag_assets.retrieval.papers.introductions import reader_of
from rag_assets.retrieval.retriever import Retriever
from rag_assets.retrieval.windows import Window, expand_windows


def window(
    retriever: Retriever,
    doc_uid: str,
    chunk_id: str | int,
    size: int = 1,
    *,
    namespace: str | None = None,
) -> Window:
    """Return the passages from `size` before to `size` after one, of its paper alone.

    Args:
        retriever: entered.
        doc_uid: of the paper.
        chunk_id: `doc_uid:number` as a hit names it, or the number (`chunk_index`) alone.
        size: passages to each side, from 0; fewer at the ends of the paper.
        namespace: where several hold that uid.

    Raises:
        UsageError: no publication, or several, hold the paper; it has no such passage; `size`
            below 0.
    """
    reader = reader_of(retriever, doc_uid, namespace)
    written = str(chunk_id)
    own = written if written.startswith(f"{doc_uid}:") else f"{doc_uid}:{written}"
    hits = list(reader.fetch_hits([own]).values())
    if not hits:
        raise UsageError(
            f"document '{doc_uid}' has no passage '{chunk_id}'. A hit names its own as chunk_id "
            f"({doc_uid}:0, {doc_uid}:1 …)."
        )
    (found,) = expand_windows([reader], hits, size)
    return found
