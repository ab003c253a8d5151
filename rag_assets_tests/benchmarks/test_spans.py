"""Figures over spans, and the splitters that are compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.chunking.questions import SpanReference, place_references
from benchmarks.chunking.spans import intersection, score_spans, touching
from benchmarks.chunking.splitters import split_recursively
from rag_assets.evaluation.knowledge_evaluator import (
    CutText,
    describe_cuts,
    sentence_spans,
    total,
    union,
)
from rag_assets.model import Block, ParsedDocument
from rag_assets.parsing import make_sections

spans = st.tuples(st.integers(0, 30), st.integers(1, 10)).map(lambda s: (s[0], s[0] + s[1]))


def characters(of: list[tuple[int, int]]) -> set[int]:
    return {place for start, end in of for place in range(start, end)}


@given(st.lists(spans), st.lists(spans))
def test_union_and_intersection_are_those_of_the_characters(
    one: list[tuple[int, int]], other: list[tuple[int, int]]
) -> None:
    assert characters(union(one)) == characters(one)
    assert total(union(one)) == len(characters(one))
    common = intersection(union(one), union(other))
    assert characters(common) == characters(one) & characters(other)


@given(st.lists(spans, min_size=1), st.lists(spans, min_size=1))
def test_scores_are_those_of_the_characters(
    references: list[tuple[int, int]], retrieved: list[tuple[int, int]]
) -> None:
    score = score_spans(references, retrieved)
    wanted, got = characters(references), characters(retrieved)
    size = total(retrieved)
    assert score.recall == pytest.approx(len(wanted & got) / len(wanted))
    assert score.precision == pytest.approx(len(wanted & got) / size)
    assert score.iou == pytest.approx(len(wanted & got) / (size + len(wanted - got)))
    hits = [span for span in retrieved if characters([span]) & wanted]
    assert touching(retrieved, union(references)) == hits
    assert score.hit_iou == pytest.approx(len(wanted & got) / (total(hits) + len(wanted - got)))


def test_character_that_is_retrieved_twice_counts_twice() -> None:
    assert score_spans([(0, 10)], [(0, 10), (0, 10)]).precision == 0.5


def test_figures_of_a_cut_text() -> None:
    text = "Hens lay. They eat.\n\nHens lay."
    sentences = ((0, 9), (10, 19), (21, 30))
    cut = CutText(text, ((0, 9), (5, 19), (21, 30)), sentences, (3, 4, 3))
    figures = describe_cuts([cut])
    assert figures["chunks"] == 3
    assert figures["coverage"] == 1
    assert figures["overlap"] == pytest.approx(4 / 32)
    assert figures["duplicate_rate"] == pytest.approx(1 / 3)
    assert figures["cut_share"] == pytest.approx(1 / 3)
    assert (figures["tokens_min"], figures["tokens_max"]) == (3, 4)
    assert figures["tokens_mean"] == pytest.approx(10 / 3)


def test_visible_characters_in_no_chunk_lower_the_coverage() -> None:
    figures = describe_cuts([CutText("abcd efgh", ((0, 4),), ((0, 9),), (1,))])
    assert figures["coverage"] == 0.5
    assert figures["cut_share"] == 1


def test_sentence_ends_where_a_section_does() -> None:
    text = "Abstract: Hens lay. They eat."
    sections = make_sections(text, [Block("paragraph", 0, len(text))], (10, len(text)))
    document = ParsedDocument(text, "text/plain", sections=sections)
    assert sentence_spans(document) == ((0, 9), (10, 19), (20, 29))


def as_tokens(text: str) -> list[tuple[int, int]]:
    """Return a token a character, so that sizes are characters."""
    return [(at, at + 1) for at in range(len(text))]


@given(st.text(alphabet="ab \n", max_size=80), st.integers(1, 12))
def test_splitter_keeps_every_visible_character_once_and_its_size(text: str, size: int) -> None:
    cut = split_recursively(text, as_tokens(text), size)
    assert cut == sorted(cut)
    assert all(end - start <= size for start, end in cut)
    kept = "".join(text[start:end] for start, end in cut)
    assert "".join(kept.split()) == "".join(text.split())
    assert total(cut) == total(union(cut))


@pytest.mark.parametrize(
    ("text", "size", "expected"),
    [
        ("one two\nthree\n\nfour five six seven eight", 14,
         ["one two\nthree", "four five six", "seven eight"]),
        ("one\n\ntwo\nthree", 8, ["one", "two", "three"]),
        ("one two\nthree", 8, ["one two", "three"]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
    ],
)  # fmt: skip
def test_recursive_splitter_takes_the_coarsest_separator_that_serves(
    text: str, size: int, expected: list[str]
) -> None:
    cut = split_recursively(text, as_tokens(text), size)
    assert [text[start:end] for start, end in cut] == expected


def reference(source: str, content: str) -> SpanReference:
    start = source.index(content)
    return SpanReference(content=content, start=start, end=start + len(content))


def test_reference_is_found_where_the_clean_text_has_other_white_space() -> None:
    source = "---\ntitle: x\n---\nHens  lay\neggs. Hens lay eggs."
    clean = "Hens lay eggs. Hens lay eggs."
    first = reference(source, "Hens  lay\neggs")
    last = SpanReference(content="Hens lay eggs.", start=len(source) - 14, end=len(source))
    lost = SpanReference(content="title", start=4, end=9)
    assert place_references(source, clean, [first, last, lost]) == [(0, 13), (15, 29), None]


def test_reference_in_the_same_text_keeps_its_place() -> None:
    assert place_references("aa aa", "aa aa", [SpanReference(content="aa", start=3, end=5)]) == [
        (3, 5)
    ]
