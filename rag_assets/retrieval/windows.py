"""What stands before and after a hit in its document."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.model import UsageError
from rag_assets.retrieval.hits import Hit

if TYPE_CHECKING:
    from rag_assets.retrieval.reader import Reader


@dataclass(frozen=True, slots=True)
class Window:
    """A run of neighbouring chunks of one document that holds at least one hit.

    Args:
        chunks: in the document's order, without a gap.
        found: the hits in it, best first.
    """

    namespace: str
    doc_uid: str
    chunks: tuple[Hit, ...]
    found: tuple[Hit, ...]

    @property
    def text(self) -> str:
        """The chunks' text in order, edited where it was; what two neighbours repeat stands once.

        A person may have moved a chunk, so that one follows that is printed before.
        """
        parts: list[str] = []
        before: Hit | None = None
        for chunk in self.chunks:
            repeated = 0
            if before is not None:
                if before.char_start <= chunk.char_start <= before.char_end and not chunk.edited:
                    repeated = before.char_end - chunk.char_start
                if not repeated and chunk.char_start != before.char_end:
                    parts.append("\n")
            parts.append(chunk.shown[repeated:])
            before = chunk
        return "".join(parts)


def expand_windows(readers: "Sequence[Reader]", hits: Sequence[Hit], size: int) -> list[Window]:
    """Return the chunks from `size` before to `size` after each hit.

    Runs of one document that overlap or touch are one window; no window leaves its document.

    Args:
        readers: those that the hits came from.
        hits: best first.
        size: chunks to each side, from 0.

    Returns:
        Windows in the order of their best hits.

    Raises:
        UsageError: `size` is negative, or a hit's namespace has no reader.
    """
    if size < 0:
        raise UsageError(f"'window' must be at least 0, got {size}.")
    open_readers = {reader.namespace: reader for reader in readers}
    places: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for rank, hit in enumerate(hits):
        if hit.namespace not in open_readers:
            raise UsageError(f"no reader is open for namespace '{hit.namespace}' of these hits.")
        places[hit.namespace, hit.doc_uid].append((hit.chunk_index, rank))
    ranked: list[tuple[int, Window]] = []
    for (namespace, doc_uid), own in places.items():
        for run in _runs(sorted(own), size):
            first, last = max(0, run[0][0] - size), run[-1][0] + size
            chunks = open_readers[namespace].fetch_window(doc_uid, first, last)
            ranks = sorted(rank for _, rank in run)
            found = tuple(hits[rank] for rank in ranks)
            ranked.append((ranks[0], Window(namespace, doc_uid, tuple(chunks), found)))
    return [window for _, window in sorted(ranked, key=lambda item: item[0])]


def _runs(places: Sequence[tuple[int, int]], size: int) -> list[list[tuple[int, int]]]:
    """Return (chunk index, rank) in runs whose windows overlap or touch."""
    runs: list[list[tuple[int, int]]] = []
    for place in places:
        if runs and place[0] - size <= runs[-1][-1][0] + size + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs
