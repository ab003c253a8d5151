import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.retrieval import fuse_rrf

RANKINGS = st.dictionaries(
    st.sampled_from(["lexical", "semantic", "third"]),
    st.lists(st.sampled_from("abcdefghij"), unique=True),
)


def test_scores_are_sums_of_reciprocal_ranks() -> None:
    fused = fuse_rrf({"lexical": ["a", "b"], "semantic": ["b", "c"]}, 60)
    assert fused == [
        ("b", pytest.approx(1 / 62 + 1 / 61)),
        ("a", pytest.approx(1 / 61)),
        ("c", pytest.approx(1 / 62)),
    ]


@given(RANKINGS, st.integers(1, 1000))
def test_every_id_comes_once_by_falling_score_then_id(
    rankings: dict[str, list[str]], rrf_k: int
) -> None:
    fused = fuse_rrf(rankings, rrf_k)
    assert sorted(identity for identity, _ in fused) == sorted(set().union(*rankings.values()))
    assert fused == sorted(fused, key=lambda item: (-item[1], item[0]))


@given(RANKINGS, st.integers(1, 1000), st.randoms())
def test_order_of_the_rankings_does_not_matter(
    rankings: dict[str, list[str]], rrf_k: int, random: object
) -> None:
    names = list(rankings)
    random.shuffle(names)  # type: ignore[attr-defined]
    assert fuse_rrf({name: rankings[name] for name in names}, rrf_k) == fuse_rrf(rankings, rrf_k)


@given(st.lists(st.sampled_from("abcdefghij"), unique=True), st.integers(1, 10_000))
def test_single_ranking_keeps_its_order(ranking: list[str], rrf_k: int) -> None:
    assert [identity for identity, _ in fuse_rrf({"lexical": ranking}, rrf_k)] == ranking


@given(RANKINGS, st.integers(1, 1000), st.sampled_from("abcdefghij"))
def test_first_place_in_one_more_ranking_never_lowers_an_id(
    rankings: dict[str, list[str]], rrf_k: int, favourite: str
) -> None:
    def place(fused: list[tuple[str, float]]) -> int:
        order = [identity for identity, _ in fused]
        return order.index(favourite) if favourite in order else len(order)

    before = place(fuse_rrf(rankings, rrf_k))
    assert place(fuse_rrf(rankings | {"new": [favourite]}, rrf_k)) <= before


def test_wrong_input_is_refused() -> None:
    with pytest.raises(ValueError, match="'rrf_k' must be at least 1, got 0"):
        fuse_rrf({"lexical": ["a"]}, 0)
    with pytest.raises(ValueError, match="ranking 'lexical' must hold each id at most once"):
        fuse_rrf({"lexical": ["a", "b", "a"]}, 60)
