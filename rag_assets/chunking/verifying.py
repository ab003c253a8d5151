"""Statements about what was cut that must hold before it is published."""

from collections.abc import Collection, Iterator, Sequence

from rag_assets.chunking.rows import chunks_schema, parents_schema
from rag_assets.stages import parsed_contents
from rag_assets.storage import Entry, read_entries, read_rows
from rag_assets.workspace import Inventory, Namespace


def uncovered_parents(
    namespace: Namespace, inventory: Inventory, partitions: Sequence[str]
) -> Iterator[str]:
    """Yield a sentence for every parent with text that stands in none of its chunks.

    Parents that another run has made anew meanwhile are left to it: it cuts and judges them.
    """
    for partition in partitions:
        seen = _cut_contents(namespace, inventory, partition)
        if seen:
            found = list(_uncovered(namespace, inventory, partition, seen))
            if found and _cut_contents(namespace, inventory, partition) == seen:
                yield from found


def _cut_contents(namespace: Namespace, inventory: Inventory, partition: str) -> dict[str, Entry]:
    """Return the chunks' entries of living contents that were cut from their present parents."""
    parents = read_entries(namespace.record("parents", partition))
    chunks = read_entries(namespace.record("chunks", partition))
    return {
        content: chunks[content]
        for content in parsed_contents(namespace, inventory, partition)
        if content in parents
        and content in chunks
        and chunks[content].note["of"] == parents[content].digest
    }


def _uncovered(
    namespace: Namespace, inventory: Inventory, partition: str, living: Collection[str]
) -> Iterator[str]:
    spans: dict[tuple[str, str], list[tuple[int, int]]] = {}
    columns = ["content_hash", "parent_label", "char_start", "char_end"]
    path = namespace.record("chunks", partition)
    for row in read_rows(path, chunks_schema(), living, columns).to_pylist():
        key = (row["content_hash"], row["parent_label"])
        spans.setdefault(key, []).append((row["char_start"], row["char_end"]))
    columns = ["content_hash", "label", "char_start", "char_end", "text"]
    path = namespace.record("parents", partition)
    for row in read_rows(path, parents_schema(), living, columns).to_pylist():
        offset, text = row["char_start"], row["text"]
        chunks = sorted(spans.get((row["content_hash"], row["label"]), []))
        if any(not offset <= start <= end <= row["char_end"] for start, end in chunks):
            yield f"{_name(inventory, row)} {row['label']}: a chunk reaches out of its parent"
        elif _has_gap(text, [(start - offset, end - offset) for start, end in chunks]):
            yield f"{_name(inventory, row)} {row['label']}: text that no chunk holds"


def _has_gap(text: str, spans: list[tuple[int, int]]) -> bool:
    reached = 0
    for start, end in [*spans, (len(text), len(text))]:
        if start > reached and text[reached:start].strip():
            return True
        reached = max(reached, end)
    return False


def oversized_chunks(
    namespace: Namespace, inventory: Inventory, partitions: Sequence[str], limit: int
) -> Iterator[str]:
    """Yield a sentence for every chunk that is more tokens than the model reads."""
    columns = ["content_hash", "order", "input_tokens"]
    for partition in partitions:
        living = parsed_contents(namespace, inventory, partition)
        path = namespace.record("chunks", partition)
        if living:
            for row in read_rows(path, chunks_schema(), living, columns).to_pylist():
                if row["input_tokens"] > limit:
                    yield (
                        f"{_name(inventory, row)} chunk {row['order']}: {row['input_tokens']} "
                        f"tokens with its context, the model reads {limit}"
                    )


def _name(inventory: Inventory, row: dict[str, str]) -> str:
    return inventory.contents[row["content_hash"]].first.source_uri
