"""What a chunk may hold together and what it may not."""

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest

from rag_assets.chunking import chunk_document
from rag_assets.model import HAN, Block, BlockKind, Chunk, PageSpan, ParsedDocument, SectionCategory
from rag_assets_tests.chunking.fakes import (
    LetterTokenizer,
    assert_covered_once,
    blocks_of,
    chunk_settings,
    with_sections,
)

letters = LetterTokenizer()


def made_of(
    *parts: tuple[BlockKind, str], ids: Sequence[str | None] = (), media_type: str = "text/html"
) -> ParsedDocument:
    """A document of these blocks, a blank line between them, items of a list on lines."""
    text, blocks = "", []
    for index, (kind, source) in enumerate(parts):
        if text:
            text += "\n" if kind == parts[index - 1][0] == "list" else "\n\n"
        level = 1 if kind == "heading" else None
        identity = ids[index] if index < len(ids) else None
        blocks.append(
            Block(kind, len(text), len(text) + len(source), level=level, attachment_id=identity)
        )
        text += source
    return with_sections(ParsedDocument(text, media_type, blocks=tuple(blocks)))


def chunks_of(document: ParsedDocument, **changes: object) -> list[Chunk]:
    return chunk_document(document, chunk_settings(**changes), letters)[1]


def texts_of(document: ParsedDocument, **changes: object) -> list[str]:
    return [chunk.text for chunk in chunks_of(document, **changes)]


def words(count: int, word: str = "word") -> str:
    return " ".join([word] * (count - 1)) + " end."


def table_of(rows: int) -> str:
    body = "\n".join(f"| r{row} | x y z |" for row in range(rows))
    return f"| id | name |\n| --- | --- |\n{body}"


def test_a_chunk_knows_its_section() -> None:
    document = blocks_of(("2 Methods", 1), words(9), ("2.1 Sampling", 2), words(9, "leaf"))
    first, second = chunks_of(document)
    assert (first.section_title, first.parent_section, first.hierarchy_level) == (
        "2 Methods",
        None,
        0,
    )
    assert (second.section_title, second.parent_section, second.hierarchy_level) == (
        "2.1 Sampling",
        "2 Methods",
        1,
    )
    assert second.section_path == ("2 Methods", "2.1 Sampling")
    assert {c.section_category for c in (first, second)} == {SectionCategory.METHOD}


def test_small_sections_on_one_page_are_never_mixed() -> None:
    document = blocks_of(("One", 1), "Tiny.", ("Two", 1), "Small.")
    page = (PageSpan(1, 0, len(document.text)),)
    paged = ParsedDocument(
        document.text, "application/pdf", page, document.blocks, (), document.sections
    )
    assert texts_of(paged) == ["One\n\nTiny.", "Two\n\nSmall."]
    assert texts_of(paged, parents="document") == ["One\n\nTiny.", "Two\n\nSmall."]


def test_a_heading_alone_is_a_chunk_of_its_own_and_told_to_the_first_chunk_below_it() -> None:
    document = blocks_of(("2 Methods", 1), ("2.1 Sampling", 2), words(20), words(20))
    alone, first, later = chunks_of(document)
    assert (alone.text, alone.kind) == ("2 Methods", "heading")
    assert (first.text[:12], first.context, later.context) == ("2.1 Sampling", "2 Methods", "")


def test_a_last_heading_without_text_is_text_since_nothing_else_tells_it() -> None:
    (chunk,) = chunks_of(blocks_of(("Only a title", 1)))
    assert (chunk.kind, chunk.text) == ("text", "Only a title")


def test_an_unplaced_heading_goes_with_what_follows_it() -> None:
    document = made_of(
        ("paragraph", words(22)), ("unplaced_heading", "Key points"), ("paragraph", words(22))
    )
    assert [text.split()[0] for text in texts_of(document)] == ["word", "Key"]


@pytest.mark.parametrize("kind", ["heading", "unplaced_heading"])
def test_a_heading_never_ends_a_chunk_even_before_a_sentence_of_the_largest_size(
    kind: BlockKind,
) -> None:
    document = made_of(("paragraph", "Before."), (kind, "Key points"), ("paragraph", words(29)))
    assert not any(text.endswith("Key points") for text in texts_of(document))


def test_a_table_that_fits_is_whole_with_its_caption() -> None:
    table = "| a | b |\n| --- | --- |\n| 1 | 2 |"
    document = made_of(
        ("paragraph", words(25)),
        ("caption", "Table 1. Yields."),
        ("table", table),
        ("paragraph", words(25)),
    )
    _, chunk, _ = chunks_of(document, max_tokens=40)
    assert (chunk.text, chunk.kind) == (f"Table 1. Yields.\n\n{table}", "table")


def test_a_large_table_falls_into_groups_of_whole_rows_that_know_their_header() -> None:
    document = made_of(
        ("paragraph", "Before."),
        ("caption", "Table 1. Yields."),
        ("table", table_of(30)),
        ("paragraph", "After."),
    )
    before, first, *others, after = chunks_of(document, max_tokens=40)
    assert (before.text, after.text) == ("Before.", "After.")
    assert first.text.startswith("Table 1. Yields.\n\n| id | name |\n| --- | --- |\n| r0 |")
    assert first.context == ""
    assert len(others) > 3
    for chunk in others:
        assert chunk.context == "Table 1. Yields.\n| id | name |"
        assert all(
            line.startswith("| r") and line.endswith(" |") for line in chunk.text.split("\n")
        )
        assert chunk.input_tokens <= 40 + 4
    assert {chunk.kind for chunk in (first, *others)} == {"table"}


def test_groups_of_rows_leave_room_for_the_header_in_what_the_model_reads() -> None:
    settings = chunk_settings(target_tokens=38, max_tokens=38, parent_tokens=600)
    document = made_of(("table", table_of(30)))
    _, *others = chunk_document(document, settings, LetterTokenizer(limit=38))[1]
    assert {chunk.context for chunk in others} == {"| id | name |"}
    assert max(chunk.input_tokens for chunk in others) <= 38


@pytest.mark.parametrize("kind", ["code", "formula", "list"])
def test_what_fits_stays_whole(kind: BlockKind) -> None:
    lines = [f"- one two {number}" for number in range(5)]
    middle: list[tuple[BlockKind, str]] = [(kind, "\n".join(lines))]
    if kind == "list":
        middle = [("list", line) for line in lines]
    document = made_of(("paragraph", words(12)), *middle, ("paragraph", words(12)))
    (holding,) = [chunk for chunk in chunks_of(document, min_tokens=1) if "two 0" in chunk.text]
    assert "\n".join(lines) in holding.text


def test_code_that_is_too_long_is_cut_between_lines() -> None:
    lines = [f"call({number}, a. B(c))" for number in range(20)]
    document = made_of(("code", "\n".join(lines)))
    chunks = chunks_of(document)
    assert len(chunks) > 3
    assert all(set(chunk.text.split("\n")) <= set(lines) for chunk in chunks)
    assert not any(chunk.is_cut for chunk in chunks)


def test_references_are_groups_of_whole_entries_and_never_with_body_text() -> None:
    entries = [f"[{n}] Li, A. and Wu, B. et al. ({2000 + n}). A title. J. Bot." for n in range(9)]
    document = made_of(
        ("heading", "Discussion"),
        ("paragraph", "Short."),
        ("heading", "References"),
        *[("reference", entry) for entry in entries],
        ("paragraph", "About the author."),
    )
    body, *listed, after = chunks_of(document)
    assert (body.section_subtype, body.text) == (None, "Discussion\n\nShort.")
    assert after.text == "About the author."
    assert listed[0].text.startswith("References\n\n[0]")
    assert {chunk.kind for chunk in listed} == {"reference"}
    assert {chunk.section_subtype for chunk in listed} == {"references"}
    held = [entry for chunk in listed for entry in chunk.text.split("\n\n") if entry[0] == "["]
    assert held == entries


def test_items_of_a_bibliography_are_references_too() -> None:
    document = made_of(
        ("heading", "参考文献"), ("list", "- 李明. 屋顶. 2020."), ("list", "- Wu. 2021.")
    )
    assert {chunk.kind for chunk in chunks_of(document)} == {"reference"}


@pytest.mark.parametrize("kind", ["front", "footnote", "note", "unplaced_heading", "caption"])
def test_what_is_no_body_text_shares_no_sentence_with_it(kind: BlockKind) -> None:
    text = "the first half\nJane Doe\nof a sentence"
    spans: list[tuple[BlockKind, int, int]] = [("paragraph", 0, 14), (kind, 15, 23)]
    blocks = tuple(Block(k, start, end) for k, start, end in [*spans, ("paragraph", 24, 37)])
    document = with_sections(ParsedDocument(text, "text/plain", blocks=blocks))
    chunks = chunks_of(document, target_tokens=8, min_tokens=1, max_tokens=16, parent_tokens=16)
    bounds = {chunk.char_start for chunk in chunks} | {chunk.char_end for chunk in chunks}
    (sentence,) = [c for c in chunks_of(document) if "Jane" in c.text]
    assert sentence.text == text  # small enough for one chunk: joined as sentences, not merged
    assert bounds <= {0, 14, 15, 23, 24, 37}


def test_a_caption_is_with_its_own_figure() -> None:
    figure = "![Figure 1](attachment:fig-001)"
    document = made_of(
        ("paragraph", words(24)),
        ("figure", figure),
        ("caption", "Figure 1. Leaves."),
        ("paragraph", words(24)),
        ids=(None, "fig-001", "fig-001", None),
    )
    (chunk,) = [c for c in chunks_of(document, max_tokens=40) if "Leaves" in c.text]
    assert figure in chunk.text
    assert chunk.attachment_ids == ("fig-001",)


def test_rows_of_a_sheet_are_whole() -> None:
    rows = [f"name: a. B {n}; size: 3 of them" for n in range(12)]
    document = made_of(*[("row", row) for row in rows])
    for chunk in chunks_of(document):
        assert set(chunk.text.split("\n\n")) <= set(rows)
        assert chunk.kind == "row"


def test_general_mode_joins_what_stands_between_delimiters() -> None:
    document = made_of(("paragraph", "One a. One b.;;Two.;;" + words(40) + ";;Last."))
    general = {"delimiter": ";;", "max_tokens": 16, "overlap": 0.0}
    chunks = chunks_of(document, mode="general", general=general)
    assert chunks[0].text == "One a. One b.;;Two.;;"
    assert chunks[-1].text.endswith("Last.")
    assert max(chunk.token_count for chunk in chunks) <= 16
    assert_covered_once(document.text, [(c.char_start, c.char_end) for c in chunks])


class HanTokenizer(LetterTokenizer):
    """Every ideograph a token, every other run of letters too."""

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        return [match.span() for match in re.finditer(rf"{HAN.pattern}|[A-Za-z]+|[^\w\s]", text)]


@pytest.mark.parametrize("text", [words(60), "温室气体使叶片的气孔导度下降" * 6])
def test_general_mode_repeats_the_end_of_a_piece_that_was_cut(text: str) -> None:
    document, tokenizer = made_of(("paragraph", f"One.;;{text};;Last.")), HanTokenizer()
    general = {"delimiter": ";;", "max_tokens": 20, "overlap": 0.25}
    settings = chunk_settings(mode="general", general=general, parent_tokens=1000)
    _, chunks = chunk_document(document, settings, tokenizer)
    assert max(chunk.token_count for chunk in chunks) <= 20
    cut = [(before, after) for before, after in pairwise(chunks) if before.is_cut]
    assert len(cut) >= 3
    for before, after in cut:
        assert before.char_start < after.char_start < before.char_end
        assert 1 <= tokenizer.count([document.text[after.char_start : before.char_end]])[0] <= 5
        left, right = document.text[after.char_start - 1 : after.char_start + 1]
        assert left.isspace() or HAN.match(right)


def test_parents_may_be_sections_where_there_are_pages() -> None:
    document = blocks_of(("One", 1), words(9), ("Two", 1), words(9))
    pages = (PageSpan(1, 0, 20), PageSpan(2, 20, len(document.text)))
    paged = ParsedDocument(
        document.text, "application/pdf", pages, document.blocks, (), document.sections
    )
    parents, chunks = chunk_document(paged, chunk_settings(parents="section"), letters)
    assert [parent.label for parent in parents] == ["s000", "s001"]
    assert parents[0].page_starts == ((1, 0), (2, 20))
    assert [(c.page_start, c.page_end) for c in chunks] == [(1, 2), (2, 2)]
    (whole,) = chunk_document(paged, chunk_settings(parents="document"), letters)[0]
    assert (whole.label, whole.text) == ("d000", document.text)
