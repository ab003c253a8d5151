import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.embedding import HashingEmbedder, WordTokenizer

embedder = HashingEmbedder()


def similarity(left: str, right: str) -> float:
    a, b = embedder.encode_passages([left, right])
    return float(a @ b)


@given(st.lists(st.text(max_size=40), max_size=6))
def test_a_vector_has_the_same_bits_whatever_the_batch(texts: list[str]) -> None:
    together = embedder.encode_passages(texts)
    assert together.shape == (len(texts), embedder.dimension)
    assert together.dtype == np.float32
    for row, text in enumerate(texts):
        assert together[row].tobytes() == embedder.encode_queries([text])[0].tobytes()
        assert abs(np.linalg.norm(together[row].astype(float)) - 1) < 1e-6


@pytest.mark.parametrize("text", ["", " \n", "…!?", "👩‍👩‍👧", "\ud800"])
def test_a_text_without_words_has_a_vector_of_length_one(text: str) -> None:
    assert np.linalg.norm(embedder.encode_passages([text])[0]) == 1


def test_words_decide_similarity_in_english_and_chinese() -> None:
    assert similarity("Light increases yield", "the YIELD increases with light") > 0.5
    assert similarity("光合作用提高产量", "产量由光合作用决定") > 0.4
    assert similarity("光合作用提高产量", "合同自签字之日起生效") < 0.3
    assert similarity("Light increases yield", "contracts end on Monday") < 0.3


def test_a_vector_is_the_same_in_every_process() -> None:
    vector = embedder.encode_passages(["light 光合"])[0]
    assert {int(place): float(vector[place]) for place in vector.nonzero()[0]} == pytest.approx(
        {57: -(0.5**0.5), 143: 0.5**0.5}
    )


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    embedder.encode_passages(["a", "b"], lambda done, total: told.append((done, total)))
    assert told[-1] == (2, 2)


def test_words_and_single_chinese_characters_are_tokens() -> None:
    text = "Light, 3.5 µm 光合 naïve"
    spans = WordTokenizer().token_spans(text)
    assert [text[a:b] for a, b in spans] == ["Light", "3", "5", "µm", "光", "合", "naïve"]
    assert WordTokenizer().count([text, ""]) == [7, 0]
