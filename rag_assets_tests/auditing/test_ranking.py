import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.auditing.ranking import DocumentRanking

TEXTS = [
    "Rents held steady in most towns.",
    "Wages rose by three percent after the reform.",
    "Bridges need paint every decade.",
]
NOWHERE = np.zeros((3, 2), dtype=np.float32)


def towards(*rows: tuple[float, float]) -> np.ndarray:
    return np.array(rows, dtype=np.float32)


def test_words_find_the_passage_without_any_model() -> None:
    ranking = DocumentRanking(TEXTS, {})
    assert ranking.rank("The reform made wages rise.", {}, range(3), 1) == [1]


def test_words_that_stand_together_come_before_the_same_words_apart() -> None:
    ranking = DocumentRanking(
        ["Prices rose while wages fell.", "Wages rose while prices fell."], {}
    )
    assert ranking.rank("Wages rose", {}, range(2), 2) == [1, 0]


def test_every_model_counts() -> None:
    query = {"one": towards((1, 0))[0], "two": towards((1, 0))[0]}
    vectors = {"one": towards((0, 1), (0, 1), (0, 1)), "two": towards((0, 1), (0, 1), (1, 0))}
    ranking = DocumentRanking(TEXTS, vectors)
    assert ranking.rank("Something else entirely", query, range(3), 1) == [2]


def test_passage_that_one_model_cannot_read_is_ranked_by_the_other() -> None:
    query = {"one": towards((1, 0))[0], "two": towards((1, 0))[0]}
    vectors = {"one": towards((0.6, 0.8), (0.5, 0.86), (0, 0)),
               "two": towards((0.5, 0.86), (0.6, 0.8), (1, 0))}  # fmt: skip
    ranking = DocumentRanking(TEXTS, vectors)
    assert ranking.rank("Something else entirely", query, range(3), 1) == [2]


def test_nearness_of_a_passage_that_says_next_to_nothing_does_not_count() -> None:
    vectors = {"one": towards((1, 0), (0.8, 0.6), (0, 1))}
    ranking = DocumentRanking(["com.example.www", TEXTS[0], TEXTS[1]], vectors)
    assert ranking.rank("Something else entirely", {"one": towards((1, 0))[0]}, range(3), 1) == [1]


def test_only_the_named_passages_are_ranked() -> None:
    ranking = DocumentRanking(TEXTS, {})
    assert ranking.rank("The reform made wages rise.", {}, [0, 2], 5) == [0, 2]


@given(st.lists(st.text(max_size=40), min_size=1, max_size=6), st.text(max_size=60))
def test_every_score_is_finite(texts: list[str], claim: str) -> None:
    vectors = {"one": np.zeros((len(texts), 2), dtype=np.float32)}
    scores = DocumentRanking(texts, vectors).score(claim, {"one": towards((1, 0))[0]})
    assert np.isfinite(scores).all()
