"""What a document prints in chunks that a person has disabled (`rag draft`).

No search finds them, so they support nothing; but they are printed, and a quotation may be of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rag_assets.auditing.library import Passage
from rag_assets.model import hash_text
from rag_assets.publishing import citation_ids
from rag_assets.retrieval import ParentPassage, Reader


def disabled_passages(
    reader: Reader, doc_uid: str, chunks: Sequence[Mapping[str, Any]]
) -> list[Passage]:
    """Return what a document's parents print and none of its chunks in the search table holds.

    Args:
        chunks: its rows of the search table, with `char_start` and `char_end`.
    """
    if not reader.manifest["counts"].get("chunk_edits"):
        return []
    covered = sorted((row["char_start"], row["char_end"]) for row in chunks)
    return [
        Passage(
            f"{parent.parent_id}:{start}",
            parent.parent_id,
            text,
            parent.page_start,
            parent.page_end,
            start,
            start + len(text),
            parent.section_path,
            hash_text(text),
            citation_ids(reader.namespace, [doc_uid], [hash_text(text)])[0],
        )
        for parent in reader.parents_of(doc_uid)
        for start, text in _gaps(parent, covered)
    ]


def _gaps(parent: ParentPassage, covered: Sequence[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """Yield where text stands that no span covers, without white space around it."""
    reached, base = parent.char_start, parent.char_start
    for start, end in [*covered, (parent.char_end, parent.char_end)]:
        if end <= reached and start != parent.char_end:
            continue
        between = parent.text[reached - base : max(min(start, parent.char_end), reached) - base]
        text = between.strip()
        if text:
            yield reached + between.index(text), text
        reached = min(max(reached, end), parent.char_end)
