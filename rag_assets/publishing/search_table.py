"""Writing the Lance table of a publication: rows, text indexes, once and for good.

The text index is built by one worker over rows in a fixed order. With several workers rows of
equal score come back in an order that depends on how many there were, so that a machine with more
cores would answer otherwise; scores and ties are equal to the last bit between builds with one.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa

from rag_assets.publishing.ordering import sort_rows
from rag_assets.publishing.schemas import row_order, search_schema, vector_column
from rag_assets.publishing.search_ann import VectorIndex, build_vector_indexes
from rag_assets.publishing.search_reading import TABLE_NAME, new_session
from rag_assets.publishing.search_text import INDEX_NAMES, WORDS
from rag_assets.publishing.sparse_columns import sparse_columns
from rag_assets.storage import explained_errors

# To be part of what names a publication: a change here changes what searches find.
SEARCH_TABLE_VERSION = "6"

DOCUMENT_INDEX = "doc_uid_idx"

TEXT_INDEX: dict[str, Any] = {**WORDS, "with_position": False, "num_workers": 1}


def write_search_table(
    folder: Path, chunks: pa.Table, ann_rows: int | None = None
) -> list[VectorIndex]:
    """Write the search table `chunks.lance` with its text index into a new publication's folder.

    Rows are stored by document and place, whatever order they come in.

    Args:
        folder: of a publication that nobody reads yet.
        chunks: with `search_schema` of at least one dense model; may have no rows.
        ann_rows: vectors from which a column gets an approximate index (`publish.ann_rows`); None
            keeps every search exact.

    Returns:
        The approximate indexes that were built and reach their recall.

    Raises:
        ValueError: the schema is another one.
        StorageError: the disk is full or refuses a write.
    """
    import lance

    ordered = in_table_order(folder, chunks)
    table = folder / TABLE_NAME
    with explained_errors(table):
        dataset = lance.write_dataset(
            ordered,
            str(table),
            mode="create",
            session=new_session(),
            # One fragment: a row's id is its position.
            max_rows_per_file=max(len(ordered), 1),
        )
        index_scalars(dataset)
        return build_vector_indexes(folder, dataset, ann_rows)


def in_table_order(folder: Path, chunks: pa.Table) -> pa.Table:
    """Return rows by document and place.

    Raises:
        ValueError: the schema is none of a search table.
    """
    dimensions = _vector_dimensions(chunks.schema)
    expected = search_schema(dimensions, len(sparse_columns(chunks.schema)))
    if not dimensions or not chunks.schema.equals(expected):
        raise ValueError(
            f"{folder}: the chunks' schema must be search_schema([dimension, …], sparse), each "
            "dense vector a fixed-size list of float32; "
            f"got {chunks.schema.to_string(show_field_metadata=False)}"
        )
    return sort_rows(chunks, row_order(expected))


def index_scalars(dataset: Any) -> None:
    """Build the indexes of texts and documents over every row, in place of any that are there."""
    for column, name in INDEX_NAMES.items():
        dataset.create_scalar_index(column, "INVERTED", name=name, replace=True, **TEXT_INDEX)
    # An audit asks for one document after another; without it each filter reads a column.
    dataset.create_scalar_index("doc_uid", "BTREE", name=DOCUMENT_INDEX, replace=True)


def _vector_dimensions(schema: pa.Schema) -> list[int]:
    """Return the lengths of the vectors in a table's columns `vector`, `vector_2` …, in order."""
    dimensions: list[int] = []
    while (name := vector_column(len(dimensions))) in schema.names:
        kind: Any = schema.field(name).type
        if not pa.types.is_fixed_size_list(kind):
            break
        dimensions.append(kind.list_size)
    return dimensions
