"""The record of the stage `embeddings`: a row for each chunk and model."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rag_assets.storage import read_rows

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    # By hash of the model's input; None where the model cannot read it.
    Vectors = dict[str, NDArray[np.float32] | None]


def embeddings_schema() -> "pa.Schema":
    """Return the schema of the record: one row a chunk and model.

    `model` is the model's fingerprint. `vector` has length 1, or holds the pairs of a sparse
    encoder (`token_weights`); null where the model cannot read the passage.
    """
    import pyarrow as pa

    return pa.schema(
        [
            ("content_hash", pa.string()),
            ("order", pa.int32()),
            ("model", pa.string()),
            ("input_hash", pa.string()),
            ("vector", pa.list_(pa.float32())),
        ]
    )


def record_rows(
    content: str,
    ordered: Sequence[tuple[int, str]],
    vectors: "Mapping[str, Vectors]",
    spare: "Mapping[str, Vectors]",
) -> "tuple[pa.Table, dict[str, Any]]":
    """Return a content's rows and the note of its entry."""
    import pyarrow as pa

    orders: list[int] = []
    models: list[str] = []
    keys: list[str] = []
    values: list[NDArray[np.float32] | None] = []
    unreadable = {}
    for model, known in (*sorted(vectors.items()), *sorted(spare.items())):
        held = [(order, key) for order, key in ordered if key in known]
        orders += [order for order, _ in held]
        keys += [key for _, key in held]
        models += [model] * len(held)
        values += [known[key] for _, key in held]
        if model in vectors:
            unreadable[model] = sum(known[key] is None for _, key in held)
    table = pa.table(
        {
            "content_hash": pa.array([content] * len(orders), pa.string()),
            "order": pa.array(orders, pa.int32()),
            "model": pa.array(models, pa.string()),
            "input_hash": pa.array(keys, pa.string()),
            "vector": _vector_array(values),
        },
        schema=embeddings_schema(),
    )
    note = {
        "models": sorted(vectors),
        "held": sorted(set(models)),
        "unreadable": unreadable,
        "chunks": len(ordered),
    }
    return table, note


def _vector_array(vectors: "Sequence[NDArray[np.float32] | None]") -> "pa.Array":
    import numpy as np
    import pyarrow as pa

    offsets: list[int | None] = []
    end = 0
    for vector in vectors:
        offsets.append(None if vector is None else end)
        end += 0 if vector is None else len(vector)
    present = [vector for vector in vectors if vector is not None]
    flat = np.concatenate(present) if present else np.zeros(0, np.float32)
    return pa.ListArray.from_arrays(
        pa.array([*offsets, end], pa.int32()), pa.array(flat.astype(np.float32, copy=False))
    )


def read_keys(
    path: "Path", models: Collection[str], keys: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield the (model, input) pairs of these models and inputs that a record holds."""
    rows = read_rows(path, embeddings_schema(), None, ["model", "input_hash"])
    rows = rows.filter(_chosen(rows, models, keys))
    yield from zip(rows["model"].to_pylist(), rows["input_hash"].to_pylist(), strict=True)


def _chosen(
    rows: "pa.Table", models: Collection[str], keys: Collection[str] | None
) -> "pa.ChunkedArray":
    import pyarrow as pa
    import pyarrow.compute as pc

    mask = pc.is_in(rows["model"], value_set=pa.array(sorted(models), pa.string()))
    if keys is None:
        return mask
    wanted = pa.array(sorted(keys), pa.string())
    return pc.and_(mask, pc.is_in(rows["input_hash"], value_set=wanted))


def read_vectors(
    path: "Path",
    contents: Collection[str] | None,
    models: Collection[str],
    keys: Collection[str] | None,
) -> "dict[tuple[str, str], Vectors]":
    """Return by (content, model) what a record holds of these contents, models and inputs.

    Args:
        contents: None for all.
        keys: hashes of inputs; None for all.
    """
    import pyarrow.compute as pc

    found: dict[tuple[str, str], Vectors] = {}
    rows = read_rows(path, embeddings_schema(), contents)
    rows = rows.filter(_chosen(rows, models, keys)).combine_chunks()
    flat = rows["vector"].combine_chunks().flatten().to_numpy()
    sizes = pc.fill_null(pc.list_value_length(rows["vector"]), -1).to_pylist()
    start = 0
    for content, model, key, size in zip(
        *(rows[name].to_pylist() for name in ("content_hash", "model", "input_hash")),
        sizes,
        strict=True,
    ):
        vector = None if size < 0 else flat[start : start + size]
        start += max(size, 0)
        found.setdefault((content, model), {})[key] = vector
    return found
