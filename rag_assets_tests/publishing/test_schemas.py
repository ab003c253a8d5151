import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.publishing.rows import content_columns, digest_table
from rag_assets.publishing.schemas import (
    CHUNKS,
    PARENTS,
    PUBLISHED_SCHEMAS,
    row_order,
    schema_entry,
    search_schema,
)
from rag_assets_tests.publishing.made_up_tables import chunk_rows, chunk_table

# Spec 001, table knowledge_chunks, by the names that it has here.
SPEC_001_CHUNK_FIELDS = {
    *("chunk_key", "namespace", "chunk_id", "doc_id", "source_id", "doc_title", "text"),
    *("token_count", "chunk_index", "section_path", "version", "status", "chunk_type"),
    *("parent_id", "content_hash", "metadata", "created_at", "updated_at", "vector"),
}


@pytest.mark.parametrize("name", PUBLISHED_SCHEMAS)
def test_every_published_field_has_a_role_and_a_description(name: str) -> None:
    schema = PUBLISHED_SCHEMAS[name]
    content_columns(schema)
    assert all(field.metadata[b"description"] for field in schema)
    assert {schema_entry(schema, "key"), *row_order(schema)} <= set(schema.names)


def test_search_table_has_every_field_of_spec_001() -> None:
    assert set(search_schema([4, 3]).names) >= SPEC_001_CHUNK_FIELDS


def test_vectors_versions_and_times_are_not_content() -> None:
    content = set(content_columns(search_schema([4, 3])))
    assert not content & {"vector", "version", "created_at", "updated_at"}
    assert {"text", "chunk_id", "input_hash", "citable"} <= content


def test_column_without_a_role_is_refused() -> None:
    with pytest.raises(ValueError, match="'stray' must be marked"):
        content_columns(CHUNKS.append(pa.field("stray", pa.string())))


@given(seed=st.integers(0, 10_000), pieces=st.integers(1, 4))
def test_digest_ignores_row_order_and_arrow_pieces(seed: int, pieces: int) -> None:
    rows = chunk_rows()
    expected = digest_table(chunk_table(rows))
    random.Random(seed).shuffle(rows)
    parts = [chunk_table(rows[start::pieces]) for start in range(pieces)]
    sliced = [part.slice(1).combine_chunks() for part in parts] + [p.slice(0, 1) for p in parts]
    assert digest_table(pa.concat_tables(sliced)) == expected


@pytest.mark.parametrize(
    "change",
    [
        {"text": "other"},
        {"citable": None},
        {"citable": False},
        {"page_start": None},
        {"page_start": 0},
        {"section_path": []},
        {"section_path": None},
        {"section_path": ["Res", "ults"]},
        {"section_path": [None]},
        {"language": ""},
    ],
)
def test_digest_sees_every_change_of_content(change: dict[str, object]) -> None:
    rows = chunk_rows()
    digests = {digest_table(chunk_table(rows))}
    rows[3] |= change
    digests.add(digest_table(chunk_table(rows)))
    assert len(digests) == 2


def test_digest_tells_where_one_text_ends_and_the_next_begins() -> None:
    def table(first: str, second: str) -> pa.Table:
        rows = [{"parent_id": "a", "text": first}, {"parent_id": "b", "text": second}]
        return pa.Table.from_pylist(rows, schema=PARENTS)

    assert digest_table(table("ab", "c")) != digest_table(table("a", "bc"))


def test_digest_does_not_see_provenance() -> None:
    rows = chunk_rows()
    before = digest_table(chunk_table(rows))
    rows[0] |= {"version": 7, "created_at": None, "vector": [0.5] * 8}
    assert digest_table(chunk_table(rows)) == before


@pytest.mark.parametrize("name", PUBLISHED_SCHEMAS)
def test_empty_tables_have_a_digest(name: str) -> None:
    empty = PUBLISHED_SCHEMAS[name].empty_table()
    assert digest_table(empty) == digest_table(pa.concat_tables([empty, empty]))
