"""Writing the Lance table of a publication: rows and text indexes, once and for good.

The text index is built by one worker over rows in a fixed order. With several workers rows of
equal score come back in an order that depends on how many there were, so that a machine with more
cores would answer otherwise; scores and ties are equal to the last bit between builds with one.
"""

import re
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa

from rag_assets.model import DamagedFileError
from rag_assets.publishing.rows import sort_rows
from rag_assets.publishing.schemas import SPARSE_VECTOR, row_order, search_schema
from rag_assets.publishing.search import (
    INDEX_NAMES,
    TABLE_NAME,
    WORDS,
    SearchTable,
    index_words,
    new_session,
    quote_text,
)
from rag_assets.storage import explained_errors

TEXT_INDEX: dict[str, Any] = {**WORDS, "with_position": False, "num_workers": 1}
_WORD = re.compile(r"(?<!\w)[^\W\d_]{2,40}(?!\w)")


def write_search_table(folder: Path, chunks: pa.Table) -> None:
    """Write the search table `chunks.lance` with its text indexes into a new publication's folder.

    Rows are stored by document and place, whatever order they come in.

    Args:
        folder: of a publication that nobody reads yet.
        chunks: with `search_schema` of at least one dense model; may have no rows.

    Raises:
        ValueError: the schema is another one.
        StorageError: the disk is full or refuses a write.
    """
    kinds = [field.type for field in chunks.schema]
    dimensions = [kind.list_size for kind in kinds if pa.types.is_fixed_size_list(kind)]
    expected = search_schema(dimensions, sum(kind.equals(SPARSE_VECTOR) for kind in kinds))
    if not dimensions or not chunks.schema.equals(expected):
        raise ValueError(
            f"{folder}: the chunks' schema must be search_schema([dimension, …], sparse), each "
            "dense vector a fixed-size list of float32; "
            f"got {chunks.schema.to_string(show_field_metadata=False)}"
        )
    with explained_errors(folder / TABLE_NAME):
        dataset: Any = lance.write_dataset(
            sort_rows(chunks, row_order(expected)),
            str(folder / TABLE_NAME),
            mode="create",
            session=new_session(),
            # One fragment: a row's id is its position.
            max_rows_per_file=max(len(chunks), 1),
        )
        for column, name in INDEX_NAMES.items():
            dataset.create_scalar_index(column, "INVERTED", name=name, **TEXT_INDEX)
        # An audit asks for one document after another; without it each filter reads a column.
        dataset.create_scalar_index("doc_uid", "BTREE", name="doc_uid_idx")


def check_search_table(folder: Path, expected_rows: int) -> None:
    """Prove that a search table holds its rows and that all searchers find them.

    The first, middle and last rows are looked for: by their own vectors, which nothing may beat,
    and by a word of each text that is indexed. Rows without a direction or without a word are
    passed over.

    Args:
        folder: of the publication, published or about to be.
        expected_rows: how many chunks were joined for it.

    Raises:
        DamagedFileError: a row is missing or cannot be found.
    """
    table = SearchTable(folder, uses_shared_cache=False)
    mend = "Nothing was published. Run `rag ingest` again; if it persists, report it."
    if table.rows != expected_rows:
        raise DamagedFileError(
            f"{table.path}: holds {table.rows} rows, {expected_rows} were written. {mend}"
        )
    if table.unindexed_rows:
        raise DamagedFileError(
            f"{table.path}: {table.unindexed_rows} rows are missing from the text index. {mend}"
        )
    identities = table.fetch(columns=["chunk_id"]).column("chunk_id").to_pylist()
    for place in sorted({0, expected_rows // 2, expected_rows - 1}) if expected_rows else ():
        where = f"chunk_id = {quote_text(identities[place])}"
        row = table.fetch(where).to_pylist()[0]
        for column in table.dimensions:
            if not any(row[column]):
                continue
            best = table.search_vectors(column, row[column], 1)
            own = table.search_vectors(column, row[column], 1, where)
            if not own or own[0][1] != best[0][1]:
                raise DamagedFileError(
                    f"{table.path}: {row['chunk_id']} is not found by its own '{column}'. {mend}"
                )
        for column in INDEX_NAMES:
            words = (match.group() for match in _WORD.finditer(row.get(column) or ""))
            word = next(filter(index_words, words), None)
            if word and not table.finds_word(word, column, where):
                raise DamagedFileError(
                    f"{table.path}: {row['chunk_id']} is not found by '{word}' of its "
                    f"'{column}'. {mend}"
                )
