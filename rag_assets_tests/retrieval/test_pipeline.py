"""From a question to hits, over publications that exist in memory only."""

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.model import UsageError
from rag_assets.retrieval import AskedQuery, explain_hit, rank_chunks, search
from rag_assets_tests.retrieval.made_up_readers import (
    MadeUpReader,
    configured,
    hit,
    query,
    readers,
)

CHUNKS = [hit(f"paper:{number}") for number in range(6)]
THREE = MadeUpReader(
    CHUNKS,
    words={"paper:0": 9.0, "paper:1": 5.0, "paper:2": 1.0},
    cosines={
        "small": {f"paper:{number}": 0.9 - number / 10 for number in range(6)},
        "large": {f"paper:{number}": 0.3 + number / 10 for number in range(6)},
    },
)
PLAIN: dict[str, Any] = {"quality": {"dedupe": False}}


def weighted(**weights: float) -> dict[str, Any]:
    return {"fusion": {"kind": "weighted", "weights": weights}, **PLAIN}


def test_stated_weights_decide_the_order() -> None:
    asked = query("small", "large")
    for weights, first in (({"small": 1.0}, "paper:0"), ({"large": 1.0}, "paper:5")):
        hits = search(readers(THREE), asked, configured(**weighted(**weights)))
        assert hits[0].chunk_id == first
        assert hits[0].score == 1.0


def test_a_weight_for_an_unknown_searcher_is_refused() -> None:
    with pytest.raises(UsageError, match="names 'smal', which is no searcher here"):
        search(readers(THREE), query("small"), configured(**weighted(smal=1.0)))


def test_every_searcher_scores_the_others_candidates_exactly() -> None:
    """With two candidates each, the last of `small` still shows what `small` says of it."""
    settings = configured(pool_k=2, **weighted(small=1.0, large=1.0))
    hits = search(readers(THREE), query("small", "large"), settings)
    by_id = {one.chunk_id: one for one in hits}
    assert set(by_id) == {"paper:0", "paper:1", "paper:4", "paper:5"}
    assert by_id["paper:5"].ranks == {"large": 1}
    assert by_id["paper:5"].scores == pytest.approx({"lexical": 0.0, "large": 0.8, "small": 0.4})


def test_reciprocal_ranks_are_fused_as_the_paper_says() -> None:
    settings = configured(fusion={"kind": "rrf"}, **PLAIN)
    hits = search(readers(THREE), query("small", "large"), settings)
    best = next(one for one in hits if one.chunk_id == "paper:0")
    assert best.score == pytest.approx(1 / 61 + 1 / 61 + 1 / 66)


@pytest.mark.parametrize(
    ("method", "searchers"),
    [("lexical", {"lexical"}), ("semantic", {"small"}), ("hybrid", {"lexical", "small"})],
)
def test_each_method_uses_its_own_searchers(
    method: Literal["lexical", "semantic", "hybrid"], searchers: set[str]
) -> None:
    hits = search(readers(THREE), query("small"), configured(method=method, **PLAIN))
    assert {name for one in hits for name in one.scores} == searchers


def test_semantic_search_without_a_vector_is_refused() -> None:
    with pytest.raises(UsageError, match="'thesis' needs the question's vector"):
        search(readers(THREE), query(), configured(method="semantic"))


def test_a_passage_that_a_model_cannot_read_is_weighed_without_it() -> None:
    english, chinese = hit("paper:0"), hit("书:0", text="树冠覆盖率最高的街道午后气温低。")
    reader = MadeUpReader(
        [english, chinese],
        words={"paper:0": 3.0},
        cosines={"small": {"paper:0": 0.9}, "large": {"paper:0": 0.2, "书:0": 0.8}},
    )
    hits = search(readers(reader), query("small", "large"), configured(**PLAIN))
    found = {one.chunk_id: one for one in hits}
    assert set(found["书:0"].explanation["weights"]) == {"lexical", "large"}
    assert set(found["paper:0"].explanation["weights"]) == {"lexical", "small", "large"}


def test_a_passage_has_the_better_score_of_two_wordings() -> None:
    class TwoWordings(MadeUpReader):
        def rank_text(self, text: str, limit: int, *_: Any) -> list[tuple[str, float]]:
            return [("paper:0", 2.0)] if text == "气温" else [("paper:0", 7.0), ("paper:1", 1.0)]

        def score_text(self, text: str, ids: Any, *_: Any) -> dict[str, float]:
            return dict.fromkeys(ids, 0.0)

    asked = AskedQuery("气温", "zh", {"q_zh": "气温", "q_en": "temperature"})
    hits = search(readers(TwoWordings(CHUNKS)), asked, configured(method="lexical", **PLAIN))
    assert [one.scores for one in hits] == [{"lexical": 7.0}, {"lexical": 1.0}]
    assert hits[0].ranks == {"lexical": 1}


def two_namespaces(model: str) -> list[MadeUpReader]:
    other = [hit(f"book:{number}", namespace="books") for number in range(2)]
    return [
        MadeUpReader(CHUNKS[:2], {}, {"small": {"paper:0": 0.9, "paper:1": 0.5}}),
        MadeUpReader(other, {}, {model: {"book:0": 0.7, "book:1": 0.6}}, namespace="books"),
    ]


def test_namespaces_of_one_model_are_merged_by_score() -> None:
    settings = configured(**PLAIN)
    hits = search(readers(*two_namespaces("small")), query("small"), settings)
    assert [one.chunk_id for one in hits] == ["paper:0", "book:0", "book:1", "paper:1"]
    assert hits[0].explanation["score_mode"] == "normalize"


def test_namespaces_of_different_models_are_fused_by_rank() -> None:
    settings = configured(**PLAIN)
    hits = search(readers(*two_namespaces("large")), query("small", "large"), settings)
    assert [one.chunk_id for one in hits] == ["book:0", "paper:0", "book:1", "paper:1"]
    assert hits[0].score == hits[1].score
    assert hits[0].explanation["score_mode"] == "rank"


@pytest.mark.parametrize("model", ["small", "large"])
def test_order_of_the_namespaces_does_not_matter(model: str) -> None:
    made_up = two_namespaces(model)
    forth = search(readers(*made_up), query("small", "large"), configured())
    back = search(readers(*reversed(made_up)), query("small", "large"), configured())
    assert back == forth


def test_a_namespace_asked_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="asked once, got thesis, thesis"):
        search(readers(THREE, THREE), query(), configured())


@given(
    pool_k=st.integers(1, 8),
    rerank_k=st.integers(1, 20),
    top_k=st.integers(1, 20),
    most=st.integers(1, 4),
    kind=st.sampled_from(["rrf", "weighted"]),
)
def test_every_bound_is_kept(pool_k: int, rerank_k: int, top_k: int, most: int, kind: str) -> None:
    settings = configured(
        pool_k=pool_k,
        rerank_k=rerank_k,
        top_k=top_k,
        fusion={"kind": kind},
        quality={"max_per_document": most},
    )
    asked = query("small", "large")
    ranked = rank_chunks(readers(THREE), asked, settings).hits
    assert len(ranked) <= min(rerank_k, most)
    assert len(search(readers(THREE), asked, settings)) <= top_k
    assert all(rank <= pool_k for one in ranked for rank in one.ranks.values())
    assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)


def test_hits_below_the_threshold_are_dropped() -> None:
    hits = search(readers(THREE), query("small"), configured(score_threshold=0.5, **PLAIN))
    assert hits
    assert all(one.score >= 0.5 for one in hits)


def test_a_hit_explains_itself_in_words() -> None:
    hits = search(readers(THREE), query("small"), configured(**weighted(lexical=1.0, small=3.0)))
    text = explain_hit(hits[0])
    assert "lexical  rank 1, score 9.0000 → 1.000 × weight 0.25" in text
    assert "fused by normalize: 1.0000" in text
    assert "kept: place 1 of 6 candidates" in text
