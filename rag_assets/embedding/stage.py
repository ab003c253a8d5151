"""The stage `embeddings`: a vector for every chunk. The records themselves are the cache."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rag_assets.chunking import model_input
from rag_assets.chunking.rows import chunks_schema
from rag_assets.chunking.stage import DocumentStage, upstream_fingerprints
from rag_assets.embedding.embedder import Embedder
from rag_assets.model import (
    DamagedFileError,
    Progress,
    StageOutcome,
    combine_digests,
    hash_fields,
    hash_text,
)
from rag_assets.storage import Computed, Entry, Notify, read_entries, read_rows
from rag_assets.workspace import Inventory, Namespace

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

# Counts as code: raise it when the string given to the model changes for the same chunk.
EMBEDDING_VERSION = 2

# What `chunk_input` reads of a chunk.
CHUNK_INPUTS = ("text", "context", "prepared", "question")


def embeddings_schema(dimension: int) -> "pa.Schema":
    """Return the schema of the record: one row a chunk, its vector of length 1."""
    import pyarrow as pa

    return pa.schema(
        [
            ("content_hash", pa.string()),
            ("order", pa.int32()),
            ("input_hash", pa.string()),
            ("vector", pa.list_(pa.float32(), dimension)),
        ]
    )


def chunk_input(row: Mapping[str, Any]) -> str:
    """Return the string that the model is given for a row of `chunks`, before its own prompt.

    Args:
        row: with the columns `CHUNK_INPUTS`.
    """
    replaced = row["prepared"] if row["question"] is None else row["question"]
    return model_input(row["text"], row["context"], replaced)


def refresh_embeddings(
    namespace: Namespace,
    inventory: Inventory,
    partitions: Sequence[str],
    fingerprint: str,
    dimension: int,
    load: "Callable[[], Embedder]",
    notify: Notify,
    *,
    on_progress: Progress | None = None,
) -> dict[str, StageOutcome]:
    """Give every chunk its vector, looking it up before encoding it.

    Args:
        fingerprint: of the model; a vector made by another model is never used.
        dimension: length of its vectors.
        load: loads the model; called only when there is something to encode.
    """
    rule = hash_fields(EMBEDDING_VERSION, fingerprint)
    schema = embeddings_schema(dimension)

    def compute(partition: str, stale: Sequence[str]) -> Iterable[Computed]:
        import pyarrow as pa

        path = namespace.record("chunks", partition)
        upstream = read_entries(path)
        columns = ["content_hash", "order", *CHUNK_INPUTS]
        rows = read_rows(path, chunks_schema(), stale, columns)
        inputs = {}
        keys: list[str] = []
        for row in rows.select(CHUNK_INPUTS).to_pylist():
            given = chunk_input(row)
            keys.append(hash_text(given))
            inputs[keys[-1]] = given
        vectors = _look_up(namespace, fingerprint, dimension, set(inputs), notify)
        missing = sorted(set(inputs) - vectors.keys(), key=lambda key: (len(inputs[key]), key))
        if missing:
            encoded = load().encode_passages(
                [inputs[key] for key in missing],
                on_progress=_say_partition(on_progress, partition),
            )
            vectors.update(zip(missing, encoded, strict=True))
        by_content: dict[str, list[tuple[int, str]]] = {content: [] for content in stale}
        for content, order, key in zip(
            rows["content_hash"].to_pylist(), rows["order"].to_pylist(), keys, strict=True
        ):
            by_content[content].append((order, key))
        for content, ordered in by_content.items():
            entry = Entry(
                hash_fields(rule, upstream[content].digest),
                combine_digests([fingerprint, *(key for _, key in ordered)]),
                len(ordered),
                {"of": upstream[content].digest, "model": fingerprint},
            )
            yield (
                content,
                entry,
                pa.table(
                    {
                        "content_hash": pa.array([content] * len(ordered), pa.string()),
                        "order": pa.array([order for order, _ in ordered], pa.int32()),
                        "input_hash": pa.array([key for _, key in ordered], pa.string()),
                        "vector": _vector_array([vectors[key] for _, key in ordered], dimension),
                    },
                    schema=schema,
                ),
            )

    def wanted(partition: str) -> dict[str, str]:
        return upstream_fingerprints(namespace, inventory, partition, "chunks", rule)

    stage = DocumentStage("embeddings", schema, wanted, compute)
    return stage.refresh(namespace, inventory, partitions, notify, None)


def _say_partition(
    on_progress: Progress | None, partition: str
) -> "Callable[[int, int], None] | None":
    if on_progress is None:
        return None
    return lambda done, total: on_progress(f"embeddings of partition {partition}", done, total)


def _vector_array(vectors: "Sequence[NDArray[np.float32]]", dimension: int) -> "pa.Array":
    import numpy as np
    import pyarrow as pa

    flat = np.concatenate(vectors) if vectors else np.zeros(0, np.float32)
    return pa.FixedSizeListArray.from_arrays(
        pa.array(flat.astype(np.float32, copy=False)), dimension
    )


def _look_up(
    namespace: Namespace, fingerprint: str, dimension: int, wanted: set[str], notify: Notify
) -> "dict[str, NDArray[np.float32]]":
    """Return the vectors that any record of the namespace already holds for these inputs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found: dict[str, NDArray[np.float32]] = {}
    schema = embeddings_schema(dimension)
    for path in sorted((namespace.records / "embeddings").glob("[0-9a-f]*.parquet")):
        try:
            entries = read_entries(path)
        except DamagedFileError as error:
            notify(f"{error} Its vectors are computed again.")
            continue
        usable = [c for c, entry in entries.items() if entry.note.get("model") == fingerprint]
        remaining = pa.array(sorted(wanted - found.keys()), pa.string())
        if not usable or not len(remaining):
            continue
        keys = read_rows(path, schema, usable, ["input_hash"])["input_hash"]
        if not pc.any(pc.is_in(keys, value_set=remaining)).as_py():
            continue
        rows = read_rows(path, schema, usable, ["input_hash", "vector"])
        hits = rows.filter(pc.is_in(rows["input_hash"], value_set=remaining)).combine_chunks()
        matrix = hits["vector"].combine_chunks().flatten().to_numpy().reshape(-1, dimension)
        found.update(zip(hits["input_hash"].to_pylist(), matrix, strict=True))
    return found
