from rag_assets.chunking import chunk_document, model_input
from rag_assets.model import Block, Chunk, ParsedDocument
from rag_assets_tests.chunking.fakes import (
    LetterTokenizer,
    blocks_of,
    chunk_settings,
    with_sections,
)

BODY = "Seven words stand in this one sentence. "


def chunks_of(document: ParsedDocument, limit: int = 10_000, **changes: object) -> list[Chunk]:
    return chunk_document(document, chunk_settings(**changes), LetterTokenizer(limit))[1]


def deep() -> ParsedDocument:
    return blocks_of(("Plants", 1), "They grow.", ("Leaves", 2), (BODY * 6).strip())


def test_the_heading_path_is_told_but_is_no_part_of_the_text() -> None:
    document = deep()
    chunks = chunks_of(document, context="headings")
    assert [chunk.context for chunk in chunks] == ["", "Plants", "Plants › Leaves"]
    for chunk in chunks:
        assert chunk.text == document.text[chunk.char_start : chunk.char_end]
        given = model_input(chunk.text, chunk.context, chunk.prepared)
        assert given.endswith(chunk.text)
        assert LetterTokenizer().count([given]) == [chunk.input_tokens]


def test_no_path_is_told_where_none_is_wanted() -> None:
    assert {chunk.context for chunk in chunks_of(deep(), context="none")} == {""}


def test_the_outermost_heading_gives_way_where_the_model_reads_no_more() -> None:
    sizes = {"target_tokens": 16, "max_tokens": 17, "context": "headings"}
    wide = chunks_of(deep(), **sizes)[-1]
    assert (wide.token_count, wide.input_tokens) == (16, 19)
    tight = chunks_of(deep(), 18, **sizes)[-1]
    assert (tight.text, tight.context) == (wide.text, "Leaves")
    full = [chunk for chunk in chunks_of(deep(), 16, **sizes) if chunk.token_count > 14]
    assert {chunk.context for chunk in full} == {""}


def test_what_rules_remove_is_neither_embedded_nor_taken_from_the_text() -> None:
    text = "See https://example.org/a and the roof."
    (chunk,) = chunks_of(ParsedDocument(text, "text/plain"), preprocess=["urls"])
    assert (chunk.text, chunk.prepared) == (text, "See  and the roof.")
    (same,) = chunks_of(ParsedDocument("The roof.", "text/plain"), preprocess=["urls"])
    assert same.prepared is None


def test_a_header_wider_than_the_model_reads_is_left_out() -> None:
    header = "| " + " ".join(["wide"] * 40) + " | b |"
    text = f"{header}\n| --- | --- |\n" + "\n".join(f"| {n} | two words |" for n in range(20))
    document = with_sections(
        ParsedDocument(text, "text/html", blocks=(Block("table", 0, len(text)),))
    )
    chunks = chunks_of(document, 30)
    assert {chunk.context for chunk in chunks} == {""}
    assert max(chunk.input_tokens for chunk in chunks) <= 30
