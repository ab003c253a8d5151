"""Statements about a namespace's whole state that must hold before it is published."""

from collections.abc import Iterator

from rag_assets.chunking.rows import chunks_schema, parents_schema
from rag_assets.stages import parsed_contents
from rag_assets.storage import read_rows
from rag_assets.workspace import Inventory, Namespace


def uncovered_parents(namespace: Namespace, inventory: Inventory) -> Iterator[str]:
    """Yield a sentence for every parent with text that stands in none of its chunks."""
    for partition in namespace.partition_keys:
        living = parsed_contents(namespace, inventory, partition)
        if not living:
            continue
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


def oversized_chunks(namespace: Namespace, inventory: Inventory, limit: int) -> Iterator[str]:
    """Yield a sentence for every chunk that is more tokens than the model reads."""
    columns = ["content_hash", "order", "input_tokens"]
    for partition in namespace.partition_keys:
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
