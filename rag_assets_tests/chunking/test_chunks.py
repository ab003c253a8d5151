import itertools
import random
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.chunking import chunk_document, make_chunks
from rag_assets.model import Block, BlockKind, Chunk, ConfigurationError, ParsedDocument
from rag_assets_tests.chunking.fakes import (
    GreetingTokenizer,
    LetterTokenizer,
    any_documents,
    assert_covered_once,
    blocks_of,
    chunk_settings,
    pages_of,
    with_sections,
)

letters = LetterTokenizer()


def chunks_of(document: ParsedDocument, **changes: float) -> list[Chunk]:
    return chunk_document(document, chunk_settings(**changes), letters)[1]


def prose(sentences: int, seed: int = 0) -> str:
    words = random.Random(seed)
    return " ".join(
        f"S{number} "
        + " ".join(words.choice("abcdefgh") * 3 for _ in range(words.randrange(2, 9)))
        + "."
        for number in range(sentences)
    )


def uniform_prose(sentences: int) -> str:
    return " ".join(f"S{n} has always seven words in it." for n in range(sentences))


def test_chunks_are_whole_sentences_of_about_the_target() -> None:
    chunks = chunks_of(pages_of(prose(60)))
    assert len(chunks) > 5
    assert all(8 <= chunk.token_count <= 30 for chunk in chunks)
    assert all(chunk.text.endswith(".") and chunk.text.startswith("S") for chunk in chunks)
    assert not any(chunk.is_cut for chunk in chunks)


def test_a_chunk_stays_within_its_parent() -> None:
    chunks = chunks_of(blocks_of(("One", 1), "Tiny.", ("Two", 1), "Small."))
    assert [(c.parent_label, c.text) for c in chunks] == [
        ("s000", "One\n\nTiny."),
        ("s001", "Two\n\nSmall."),
    ]


def test_chunks_know_their_pages_and_sections() -> None:
    first, second = chunks_of(pages_of("One runs ", "over. ", "Two."))
    assert (first.page_start, first.page_end) == (1, 2)
    assert (second.page_start, second.page_end) == (3, 3)
    (chunk,) = chunks_of(blocks_of(("Head", 1), "Text."))
    assert (chunk.section_path, chunk.page_start) == (("Head",), None)


def test_a_sentence_that_is_too_long_is_cut_behind_a_clause_and_says_so() -> None:
    long = "one " * 15 + "two, " + "three " * 25
    chunks = chunks_of(pages_of(f"Short. {long.strip()}."))
    assert all(chunk.token_count <= 30 for chunk in chunks)
    assert any(chunk.text.endswith("two,") for chunk in chunks)
    assert [chunk.is_cut for chunk in chunks] == [True] * len(chunks)


def test_a_cut_does_not_part_a_letter_from_its_accents() -> None:
    chunks = chunks_of(pages_of("e\u0301\u0302\u0303" * 1_000))
    assert len(chunks) > 1
    assert all(chunk.text.startswith("e") for chunk in chunks)


def test_a_chunk_never_exceeds_the_model() -> None:
    _, chunks = chunk_document(pages_of(prose(30)), chunk_settings(), LetterTokenizer(limit=11))
    assert max(chunk.token_count for chunk in chunks) <= 11


def test_a_part_that_counts_more_than_it_did_in_the_whole_is_cut_again() -> None:
    text = ("abc " * 200).strip()
    tokenizer = GreetingTokenizer()
    _, chunks = chunk_document(pages_of(text), chunk_settings(), tokenizer)
    assert [tokenizer.count([chunk.text])[0] for chunk in chunks] == [c.token_count for c in chunks]
    assert max(chunk.token_count for chunk in chunks) <= 30
    assert_covered_once(text, [(c.char_start, c.char_end) for c in chunks])


def test_a_small_rest_is_balanced_with_the_chunk_before_it() -> None:
    document = pages_of(" ".join(f"Sentence number {n} has seven words." for n in range(5)))
    sizes = [chunk.token_count for chunk in chunks_of(document, target_tokens=24, min_tokens=12)]
    assert sum(sizes) == 35
    assert min(sizes) >= 12


def test_a_cut_sentence_leaves_no_small_rest() -> None:
    chunks = chunks_of(pages_of("word " * 32))
    assert [chunk.token_count >= 8 for chunk in chunks] == [True, True]


def test_a_paragraph_below_the_least_size_is_no_chunk() -> None:
    sentence = "This sentence has exactly eight words in it."
    document = pages_of("\n\n".join([f"{sentence} {sentence}"] * 10 + [sentence]))
    assert {c.token_count for c in chunks_of(document, min_tokens=19)} == {27}


def test_a_heading_is_not_the_end_of_a_chunk() -> None:
    body = "This sentence has exactly seven words. " * 2
    document = pages_of(f"{body}\n\nResults\n\n{body}\n\nDiscussion\n\n{body}")
    chunks = chunks_of(document)
    assert len(chunks) > 1
    assert all(chunk.text.endswith(".") for chunk in chunks)


def test_overlap_repeats_whole_last_sentences_up_to_its_share() -> None:
    text = prose(80)
    chunks = chunks_of(pages_of(text), target_tokens=60, max_tokens=90, min_tokens=20, overlap=0.1)
    repeated = [
        text[right.char_start : left.char_end]
        for left, right in itertools.pairwise(chunks)
        if right.char_start < left.char_end
    ]
    assert len(repeated) >= 2
    for passage in repeated:
        assert passage.startswith("S")
        assert passage.endswith(".")
        assert letters.count([passage])[0] <= 6
    assert all(chunk.token_count <= 90 for chunk in chunks)


def test_overlap_never_repeats_a_whole_chunk() -> None:
    document = pages_of("Yes. Word " + "word " * 25 + "end.")
    first, second = chunks_of(document, overlap=0.1)
    assert (first.text, second.text[:9]) == ("Yes.", "Word word")


def test_rows_are_not_cut() -> None:
    rows = [f"row {n} with some cells and no stop" for n in range(30)]
    text = "\n".join(rows)
    starts = [text.index(row) for row in rows]
    blocks = tuple(Block("row", at, at + len(row)) for at, row in zip(starts, rows, strict=True))
    chunks = chunks_of(ParsedDocument(text, "text/csv", blocks=blocks))
    assert all(set(chunk.text.split("\n")) <= set(rows) for chunk in chunks)
    assert not any(chunk.is_cut for chunk in chunks)


@pytest.mark.parametrize("place", [0.1, 0.5])
@pytest.mark.parametrize("text", [prose(400), uniform_prose(400)], ids=["varied", "uniform"])
def test_an_edit_changes_chunks_only_nearby(text: str, place: float) -> None:
    at = text.index(" S", int(len(text) * place))
    edited = text[:at] + " A new sentence stands here." + text[at:]
    before = [chunk.text for chunk in chunks_of(pages_of(text))]
    after = {chunk.text for chunk in chunks_of(pages_of(edited))}
    assert sum(chunk not in after for chunk in before) <= 20 < len(before) / 5


@pytest.mark.parametrize(
    "changes", [{"min_tokens": 21}, {"max_tokens": 19}], ids=["least above target", "most below"]
)
def test_sizes_that_contradict_each_other_are_refused(changes: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match="min_tokens <= target_tokens <= max_tokens"):
        make_chunks(ParsedDocument("", "text/plain"), [], chunk_settings(**changes), letters)


_MODES = st.fixed_dictionaries(
    {
        "mode": st.sampled_from(["parent_child", "general", "qa"]),
        "parents": st.sampled_from(["page", "section", "document"]),
        "context": st.sampled_from(["none", "headings"]),
        "preprocess": st.sampled_from([[], ["attachments", "urls", "white_space"]]),
        "overlap": st.sampled_from([0.0, 0.1]),
        "general": st.sampled_from(
            [{"delimiter": "\n\n", "max_tokens": 30, "overlap": share} for share in (0.0, 0.3)]
        ),
    }
)


@given(any_documents(), _MODES)
def test_how_many_passages_are_counted_at_once_changes_nothing(
    document: ParsedDocument, modes: dict[str, Any]
) -> None:
    settings = chunk_settings(**modes)
    made = chunk_document(document, settings, letters)
    with (
        patch("rag_assets.chunking.chunks._AT_ONCE", 1),
        patch("rag_assets.chunking.parents._COUNTED_AT_ONCE", 1),
    ):
        assert chunk_document(document, settings, letters) == made


@given(any_documents(), _MODES, st.sampled_from([9, 10_000]))
def test_chunks_cover_their_parents_in_order(
    document: ParsedDocument, modes: dict[str, Any], limit: int
) -> None:
    settings = chunk_settings(**modes)
    overlap = (modes["general"] if modes["mode"] == "general" else modes)["overlap"]
    tokenizer = LetterTokenizer(limit)
    bounds = [(section.start, section.end) for section in document.sections]
    found, chunks = chunk_document(document, settings, tokenizer)
    parents = {parent.label: parent for parent in found}
    assert [chunk.order for chunk in chunks] == list(range(len(chunks)))
    assert [c.char_start for c in chunks] == sorted({c.char_start for c in chunks})
    assert [c.char_end for c in chunks] == sorted({c.char_end for c in chunks})
    for chunk in chunks:
        parent = parents[chunk.parent_label]
        assert chunk.text == document.text[chunk.char_start : chunk.char_end]
        assert parent.char_start <= chunk.char_start < chunk.char_end <= parent.char_end
        assert tokenizer.count([chunk.text]) == [chunk.token_count]
        most = 60 if chunk.kind == "qa" else 30
        assert chunk.token_count <= (most if chunk.kind == "qa" else min(most, limit))
        assert chunk.input_tokens <= limit
        assert len(chunk.text) <= most * 16 or limit == 9
        held = [s for s, e in bounds if s < chunk.char_end and e > chunk.char_start]
        assert len(held) == 1
    if overlap == 0.0:
        assert_covered_once(document.text, [(c.char_start, c.char_end) for c in chunks])
    else:
        held = {at for c in chunks for at in range(c.char_start, c.char_end)}
        assert all(at in held for at, sign in enumerate(document.text) if not sign.isspace())


@pytest.mark.parametrize("part", ["x", "x ", "a. ", "光", ". ", "👩‍👩‍👧", "مرحبا "])
def test_a_monotonous_page_gives_bounded_chunks(part: str) -> None:
    document = pages_of(part * 20_000)
    chunks = chunks_of(document)
    assert max(len(chunk.text) for chunk in chunks) <= 30 * 16
    assert_covered_once(document.text, [(c.char_start, c.char_end) for c in chunks])


def test_thousands_of_headings_are_as_many_sections() -> None:
    document = blocks_of(*[(f"H{number}", 1) for number in range(5_000)], separator="\n")
    assert len(chunks_of(document)) == 5_000


@pytest.mark.parametrize("kind", ["table", "code", "list", "row", "reference", "formula"])
def test_nothing_but_one_kind_of_block_is_divided_without_loss(kind: BlockKind) -> None:
    lines = [f"| {number} | some. Words 光 |" for number in range(3_000)]
    text = "\n".join(lines)
    block = Block(kind, 0, len(text))
    document = with_sections(ParsedDocument(text, "text/html", blocks=(block,)))
    chunks = chunks_of(document)
    assert max(chunk.token_count for chunk in chunks) <= 30
    assert_covered_once(text, [(c.char_start, c.char_end) for c in chunks])
    assert {chunk.kind for chunk in chunks} == {kind}


@pytest.mark.parametrize("seed", range(3))
def test_an_edit_in_one_section_leaves_the_chunks_of_the_others(seed: int) -> None:
    parts = [part for n in range(12) for part in ((f"Section {n}", 1), prose(20, seed + n))]
    changed = [*parts[:9], parts[9] + " One more sentence is here.", *parts[10:]]
    before = [chunk.text for chunk in chunks_of(blocks_of(*parts))]
    after = {chunk.text for chunk in chunks_of(blocks_of(*changed))}
    assert sum(text in after for text in before) >= 0.9 * len(before)


def test_an_empty_document_has_no_chunks() -> None:
    assert chunks_of(ParsedDocument(" \n", "text/plain")) == []
    assert chunks_of(replace(pages_of("", " "), blocks=())) == []
