from rag_assets.chunking import chunk_document
from rag_assets.chunking.rows import (
    chunk_row,
    chunks_schema,
    digested_fields,
    parent_row,
    parents_schema,
    restore_parent,
)
from rag_assets_tests.chunking.fakes import LetterTokenizer, blocks_of, chunk_settings, pages_of


def test_a_parent_comes_back_from_its_row() -> None:
    for document in (blocks_of(("One", 1), "Text."), pages_of("One runs ", "over. Two.")):
        for parent in chunk_document(document, chunk_settings(), LetterTokenizer())[0]:
            row = parent_row("content", parent)
            assert list(row) == parents_schema().names
            assert restore_parent(row) == parent


def test_a_row_has_every_field_of_its_chunk() -> None:
    _, (chunk,) = chunk_document(
        blocks_of(("One", 1), "Text."), chunk_settings(), LetterTokenizer()
    )
    row = chunk_row("content", chunk)
    assert list(row) == chunks_schema().names
    assert set(chunk.__slots__) <= set(row)


def test_a_change_of_any_field_but_the_key_changes_what_is_digested() -> None:
    _, (chunk,) = chunk_document(
        blocks_of(("One", 1), "Text."), chunk_settings(), LetterTokenizer()
    )
    row = chunk_row("content", chunk)
    for name in set(row) - {"content_hash", "text"}:
        assert digested_fields({**row, name: "other"}) != digested_fields(row)
