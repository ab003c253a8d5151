"""Sparse vectors in the search table: what is stored, and that every row is compared."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.model import UsageError
from rag_assets.publishing.rows import sparse_array
from rag_assets.publishing.schemas import search_schema, vector_columns
from rag_assets.publishing.search import SearchTable, SparseVectors
from rag_assets.publishing.search_table import check_search_table, write_search_table
from rag_assets_tests.publishing.made_up_tables import DIMENSION, chunk_rows

Weights = Mapping[int, float]

# Sums of a few quarters are exact, so that a test may ask for equality.
WEIGHTS = st.dictionaries(st.integers(0, 12), st.sampled_from([0.25, 0.5, 1.0, 2.5]), max_size=5)


def pairs(weights: Weights) -> list[float]:
    return [number for token in sorted(weights) for number in (token, weights[token])]


def column(rows: Sequence[Weights | None]) -> pa.Array:
    record = [None if row is None else pairs(row) for row in rows]
    return sparse_array(pa.array(record, pa.list_(pa.float32())))


def dot(left: Weights, right: Weights) -> float:
    return sum(weight * right.get(token, 0.0) for token, weight in left.items())


@given(st.lists(st.none() | WEIGHTS, max_size=9), WEIGHTS, st.integers(1, 4), st.data())
def test_scores_are_dot_products_and_the_best_are_found(
    rows: list[Weights | None], question: Weights, limit: int, data: st.DataObject
) -> None:
    held = SparseVectors(pa.chunked_array([column(rows)]))
    expected = [dot(row or {}, question) for row in rows]
    some = data.draw(
        st.lists(st.sampled_from(range(len(rows))), unique=True) if rows else st.just([])
    )
    among = np.array(sorted(some), np.int64)
    assert held.scores(pairs(question), among) == {row: expected[row] for row in among}
    for chosen in (None, among):
        able = range(len(rows)) if chosen is None else among.tolist()
        found = held.best(pairs(question), limit, chosen)
        best = sorted((expected[row] for row in able if expected[row] > 0), reverse=True)
        assert sorted(found.values(), reverse=True)[:limit] == best[:limit]
        least = min(best[:limit], default=0.0)
        assert found == {row: expected[row] for row in able if 0 < expected[row] >= least}


def test_a_column_keeps_words_and_weights_and_is_empty_where_nothing_was_read() -> None:
    stored = column([{7: 0.5, 3: 1.25}, None, {}])
    assert stored.to_pylist() == [
        [{"token": 3, "weight": 1.25}, {"token": 7, "weight": 0.5}], [], []
    ]  # fmt: skip
    assert len(column([])) == 0


@pytest.fixture
def table(tmp_path: Path) -> SearchTable:
    """A table whose rows say of word 5 how far from the end they stand; the first was not read."""
    rows = chunk_rows()
    weights = [None if n == 0 else {5: float(len(rows) - n), 90_000: 1.0} for n in range(len(rows))]
    chunks = pa.Table.from_pylist(rows, schema=search_schema([DIMENSION]))
    kept = column(weights)
    schema = search_schema([DIMENSION], 1)
    chunks = chunks.append_column(schema.field("sparse_vector"), kept)
    write_search_table(tmp_path, chunks.cast(schema))
    check_search_table(tmp_path, len(rows))
    return SearchTable(tmp_path)


def test_a_published_column_is_searched_under_a_filter(table: SearchTable) -> None:
    found = table.search_vectors("sparse_vector", pairs({5: 2.0}), 3)
    assert [score for _, score in found] == [14.0, 12.0, 10.0]
    filtered = table.search_vectors("sparse_vector", pairs({5: 2.0}), 2, "doc_uid = 'rubric'")
    assert [key for key, _ in filtered] == ["rubric:0", "rubric:1"]
    ids = [key for key, _ in found]
    assert table.score_vectors("sparse_vector", pairs({5: 2.0}), [*ids, "unknown:0"]) == dict(found)
    assert table.score_vectors("sparse_vector", pairs({6: 2.0}), ids) == dict.fromkeys(ids, 0.0)


def test_rows_of_equal_score_come_by_their_id(table: SearchTable) -> None:
    found = table.search_vectors("sparse_vector", pairs({90_000: 1.0}), 50)
    assert {score for _, score in found} == {1.0}
    assert [key for key, _ in found] == sorted(key for key, _ in found)
    assert table.search_vectors("sparse_vector", pairs({90_000: 1.0}), 2) == found[:2]


def test_a_question_of_unknown_words_finds_nothing(table: SearchTable) -> None:
    assert table.search_vectors("sparse_vector", pairs({200_000: 1.0}), 5) == []
    assert table.search_vectors("sparse_vector", [], 5) == []
    with pytest.raises(UsageError, match="at least 1"):
        table.search_vectors("sparse_vector", [], 0)


def test_dense_and_sparse_columns_are_counted_each_for_themselves() -> None:
    assert vector_columns([False, True, False, True]) == [
        "vector", "sparse_vector", "vector_2", "sparse_vector_2"
    ]  # fmt: skip
