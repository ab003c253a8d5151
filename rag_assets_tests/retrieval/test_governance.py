"""What is kept of a ranking: one of those that say the same, a few of a document."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.retrieval import Hit, expand_windows
from rag_assets.retrieval.searching import (
    Vectors,
    fetch_vectors,
    keep_one_of_equal,
    keep_one_of_similar,
    limit_per_document,
)
from rag_assets_tests.retrieval.made_up_readers import QUESTION, MadeUpReader, hit, readers


def vectors(**angles: float) -> Vectors:
    """Return unit vectors in the plane; two are as similar as the cosine of their difference."""
    return {
        f"thesis::{name}:0": np.array([np.cos(angle), np.sin(angle)], dtype=np.float32)
        for name, angle in angles.items()
    }


@st.composite
def rankings(draw: st.DrawFn) -> tuple[list[Hit], Vectors]:
    angles = draw(st.lists(st.floats(0, 3), min_size=1, max_size=12))
    hits = [
        hit(f"d{n}:0", citable=draw(st.booleans()), text=draw(st.sampled_from("abcdef")), score=-n)
        for n in range(len(angles))
    ]
    return hits, vectors(**{f"d{n}": angle for n, angle in enumerate(angles)})


@given(ranking=rankings())
def test_doing_it_twice_changes_nothing(ranking: tuple[list[Hit], Vectors]) -> None:
    hits, known = ranking
    equal = keep_one_of_equal(hits)
    assert keep_one_of_equal(equal) == equal
    similar = keep_one_of_similar(equal, [known], 0.9)
    assert keep_one_of_similar(similar, [known], 0.9) == similar


@given(ranking=rankings())
def test_every_hit_is_kept_or_stood_for_once(ranking: tuple[list[Hit], Vectors]) -> None:
    hits, known = ranking
    kept = keep_one_of_similar(keep_one_of_equal(hits), [known], 0.9)
    named = [key for one in kept for key in (one.chunk_key, *one.copies)]
    assert sorted(named) == sorted(one.chunk_key for one in hits)
    assert [one.score for one in kept] == sorted((one.score for one in kept), reverse=True)


def test_the_higher_ranked_of_similar_hits_is_kept() -> None:
    hits = [hit("a:0", score=0.9), hit("b:0", score=0.8), hit("c:0", score=0.7)]
    kept = keep_one_of_similar(hits, [vectors(a=0, b=0.01, c=1)], 0.97)
    assert [one.chunk_id for one in kept] == ["a:0", "c:0"]
    assert kept[0].copies == ("thesis::b:0",)


def test_the_citable_one_stands_at_the_place_of_a_similar_better_one() -> None:
    hits = [hit("a:0", citable=False, score=0.9), hit("x:0", score=0.8), hit("b:0", score=0.7)]
    kept = keep_one_of_similar(hits, [vectors(a=0, b=0.01, x=1)], 0.97)
    assert [(one.chunk_id, one.score) for one in kept] == [("b:0", 0.9), ("x:0", 0.8)]


def test_passages_that_differ_in_a_number_do_not_say_the_same() -> None:
    hits = [hit("a:0", text="The fine is 500 yuan."), hit("b:0", text="The fine is 900 yuan.")]
    assert len(keep_one_of_similar(hits, [vectors(a=0, b=0)], 0.97)) == 2


def test_the_first_model_that_read_both_decides() -> None:
    hits = [hit("a:0", text="one"), hit("b:0", text="two")]
    apart, alike = vectors(a=0, b=1), vectors(a=0, b=0)
    assert len(keep_one_of_similar(hits, [apart, alike], 0.97)) == 2
    assert len(keep_one_of_similar(hits, [{}, alike], 0.97)) == 1
    assert len(keep_one_of_similar(hits, [], 0.97)) == 2


@given(documents=st.lists(st.sampled_from("abc"), max_size=20), most=st.integers(1, 5))
def test_no_document_has_more_than_its_share(documents: list[str], most: int) -> None:
    hits = [hit(f"{name}:{number}") for number, name in enumerate(documents)]
    kept = limit_per_document(hits, most)
    for name in "abc":
        assert [one for one in kept if one.doc_uid == name] == [
            one for one in hits if one.doc_uid == name
        ][:most]


PAPER = [hit(f"paper:{number}", text=f"Part {number}.") for number in range(9)]
BOOK = [hit(f"book:{number}", text=f"Leaf {number}.") for number in range(3)]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([4], ["paper 3 4 5"]),
        ([0], ["paper 0 1"]),
        ([8], ["paper 7 8"]),
        ([1, 3], ["paper 0 1 2 3 4"]),
        ([5, 2], ["paper 1 2 3 4 5 6"]),
        ([7, 1], ["paper 6 7 8", "paper 0 1 2"]),
    ],
)
def test_windows_that_touch_are_one_and_none_leaves_its_document(
    found: list[int], expected: list[str]
) -> None:
    windows = expand_windows(
        readers(MadeUpReader([*PAPER, *BOOK])), [PAPER[number] for number in found], 1
    )
    shown = [
        " ".join([window.doc_uid, *(str(chunk.chunk_index) for chunk in window.chunks)])
        for window in windows
    ]
    assert shown == expected


def test_hits_of_two_documents_have_windows_of_their_own() -> None:
    windows = expand_windows(readers(MadeUpReader([*PAPER, *BOOK])), [BOOK[2], PAPER[0]], 1)
    assert [window.doc_uid for window in windows] == ["book", "paper"]
    assert windows[0].found == (BOOK[2],)
    assert windows[0].text == "Leaf 1.\nLeaf 2."


def test_what_two_chunks_repeat_stands_once_in_a_window() -> None:
    first = hit("paper:0", text="One. Two.", char_start=0, char_end=9)
    second = hit("paper:1", text="Two. Three.", char_start=5, char_end=16)
    (window,) = expand_windows(readers(MadeUpReader([first, second])), [first], 1)
    assert window.text == "One. Two. Three."


def test_vectors_are_read_until_one_model_decides_every_pair() -> None:
    asked: list[str] = []

    class Listening(MadeUpReader):
        def fetch_vectors(self, fingerprint: str, ids: Sequence[str]) -> dict[str, Any]:
            asked.append(fingerprint)
            return super().fetch_vectors(fingerprint, ids)

    both = {"a:0": QUESTION, "b:0": QUESTION}
    hits = [hit("a:0"), hit("b:0")]
    made = Listening(hits, vectors={"first": {"a:0": QUESTION}, "second": both, "third": both})
    found = fetch_vectors(readers(made), hits)
    assert asked == ["FIRST", "SECOND"]
    assert [sorted(vectors) for vectors in found] == [
        ["thesis::a:0"],
        ["thesis::a:0", "thesis::b:0"],
    ]
