"""Rows are sorted the same way whatever their texts weigh."""

import pyarrow as pa
import pytest

from rag_assets.publishing import rows as ordering
from rag_assets_tests.publishing.made_up_tables import chunk_rows, chunk_table


def test_long_texts_are_sorted_as_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    table = chunk_table(chunk_rows()[::-1])
    short = ordering.sort_rows(table, ["doc_uid", "chunk_index"])
    monkeypatch.setattr(ordering, "_MAX_BYTES", 10)
    monkeypatch.setattr(ordering, "_SLICE_BYTES", 200)
    long = ordering.sort_rows(table, ["doc_uid", "chunk_index"])
    assert long.column("text").num_chunks > 1
    assert long.equals(short)
    assert long.schema.equals(short.schema, check_metadata=True)
    assert short.column("doc_uid").to_pylist() == sorted(table.column("doc_uid").to_pylist())
    assert short.column("text").num_chunks == 1


@pytest.mark.slow
def test_texts_of_more_than_two_gibibytes_are_sorted() -> None:
    piece = pa.array(["x" * 1_000_000] * 720, pa.string())
    table = pa.table({"key": range(2159, -1, -1), "text": pa.chunked_array([piece] * 3)})
    ordered = ordering.sort_rows(table, ["key"])
    assert ordered.column("key").to_pylist() == list(range(2160))
    assert ordered.schema.equals(table.schema)
