"""The second judgement of the fused candidates."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from rag_assets.model import ConfigurationError, UsageError
from rag_assets.retrieval import Hit, explain_hit
from rag_assets.retrieval.reranking import applying, load_reranker, rerank
from rag_assets_tests.retrieval.made_up_readers import configured, hit, query


class Judge:
    """Knows English; likes passages by how often they say `yes`."""

    name = "judge"
    fingerprint = "f"

    def can_read(self, text: str) -> bool:
        return text.isascii()

    def score(self, _: str, passages: Sequence[str]) -> list[float]:
        return [float(passage.count("yes")) for passage in passages]


@pytest.fixture(autouse=True)
def _judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applying, "load_reranker", lambda _: Judge())


def candidates() -> list[Hit]:
    texts = ["no", "yes", "是", "yes yes", "yes yes yes"]
    return [hit(f"p:{n}", text=text, score=0.9 - n / 10) for n, text in enumerate(texts)]


def judged(language: Any = "en", text: str = "What?", **rerank_settings: Any) -> Any:
    settings = configured(rerank={"mode": "model"} | rerank_settings)
    return rerank(candidates(), query(text=text, language=language), settings)


def test_the_models_order_stands_and_what_it_cannot_read_keeps_its_place() -> None:
    found = judged()
    assert [one.chunk_id for one in found.hits] == ["p:4", "p:3", "p:2", "p:1", "p:0"]
    assert [one.score for one in found.hits] == sorted(
        (one.score for one in found.hits), reverse=True
    )
    assert found.warnings == (
        "the reranker judge cannot read 1 of 5 candidates, which keep their places",
    )
    assert "not reranked: it cannot read the passage" in explain_hit(found.hits[2])
    assert "reranked by judge: score 3.0000" in explain_hit(found.hits[0])


def test_a_question_that_the_model_cannot_read_keeps_the_fused_order_and_says_so() -> None:
    found = judged("zh", "什么？")
    assert [one.chunk_id for one in found.hits] == [one.chunk_id for one in candidates()]
    (warning,) = found.warnings
    assert "judge cannot read the question" in warning


def test_only_the_first_candidates_are_judged_and_the_rest_follow() -> None:
    found = judged(top_n=2)
    assert [one.chunk_id for one in found.hits] == ["p:1", "p:0", "p:2", "p:3", "p:4"]
    assert [one.score for one in found.hits] == sorted(
        (one.score for one in found.hits), reverse=True
    )


def test_raw_scores_are_the_models_own() -> None:
    assert [one.score for one in judged(score_mode="raw", top_n=2).hits[:2]] == [1.0, 0.0]


def test_normalised_scores_are_mixed_with_the_fused_ones() -> None:
    kept = judged(score_mode="normalize", params={"weight": 0.0}).hits
    assert [one.chunk_id for one in kept] == [one.chunk_id for one in candidates()]
    even = judged(score_mode="normalize").hits
    assert {one.chunk_id: one.score for one in even}["p:4"] == pytest.approx(0.5)


def test_hits_that_the_model_finds_worse_than_the_threshold_are_dropped() -> None:
    found = judged(score_threshold=2.0)
    assert [one.chunk_id for one in found.hits] == ["p:4", "p:3"]
    (warning,) = found.warnings
    assert "cannot read 1 of 5 candidates, which are left out" in warning


def test_a_weight_outside_0_to_1_is_refused() -> None:
    with pytest.raises(UsageError, match=r"params\.weight' must be from 0 to 1, got 2"):
        judged(score_mode="normalize", params={"weight": 2})


def weighted(**params: Any) -> list[Hit]:
    hits = [
        hit("p:0", doc_title="Streets", kind="text"),
        hit("p:1", doc_title="Green roofs in cities", section_path=("Results",), kind="table"),
    ]
    settings = configured(rerank={"mode": "weighted", "params": params})
    return list(rerank(hits, query(text="Are green roofs cooler?"), settings).hits)


@pytest.mark.parametrize(
    ("params", "first"),
    [
        ({"title": 0.3}, "p:1"),
        ({"headings": 0.3}, "p:0"),
        ({"kind": {"table": 1.5}}, "p:1"),
        ({"kind": {"text": 1.5}}, "p:0"),
    ],
)
def test_fields_and_factors_decide(params: dict[str, Any], first: str) -> None:
    assert weighted(**params)[0].chunk_id == first


@pytest.mark.parametrize(
    ("params", "first", "score"),
    [
        ({"path": {"laws": 2.0, "laws/old": 0.5}}, "p:1", 122 / 62),
        ({"path_bonus": {"laws": 0.3, "laws/old": 0.1}}, "p:1", 61 / 62 + 0.3),
        ({"path_bonus": {"laws": 0.3}, "path": {"laws/old": 3}}, "p:0", 3.9),
        ({"path": {"old": 3}}, "p:0", 3),
        ({"path": {"old": 3, "laws": 0.5}}, "p:0", 0.5),
        ({"path": {"ld": 3, "p": 3, "old/p.md": 2}}, "p:0", 2),
    ],
)
def test_a_folder_weighs_wherever_it_lies_the_outermost_and_longest_deciding(
    params: dict[str, Any], first: str, score: float
) -> None:
    hits = [replace(hit("p:0"), doc_uid="p"), replace(hit("p:1"), doc_uid="q")]
    folders = {"p": ("laws/old/p.md",), "q": ("laws/q.md",)}
    readers: Any = [SimpleNamespace(namespace=hits[0].namespace, document_paths=folders)]
    settings = configured(rerank={"mode": "weighted", "params": params})
    best = rerank(hits, query(), settings, readers).hits[0]
    assert (best.chunk_id, round(best.score, 6)) == (first, round(score, 6))


def test_an_unknown_field_and_a_wrong_weight_are_refused() -> None:
    with pytest.raises(UsageError, match=r"params.titel' is no weight"):
        weighted(titel=0.3)
    with pytest.raises(UsageError, match="must be a number from 0, got -1"):
        weighted(kind={"table": -1})


def test_the_bundled_model_tells_the_answer_from_the_rest() -> None:
    model = load_reranker(configured().rerank)
    scores = model.score(
        "How much cooler are green roofs?",
        ["The contract was void.", "Sedum roofs were 16.7 degrees cooler than bitumen."],
    )
    assert scores[1] > 0 > scores[0]
    assert not model.can_read("树冠覆盖率最高的街道午后气温低")
    assert model.score("Anything?", []) == []


@pytest.mark.parametrize(
    ("question", "answer", "beside"),
    [
        (
            "How much cooler are green roofs?",
            "Ten roofs were planted. Sedum roofs were 16.7 degrees cooler than bitumen.",
            "Green roofs are popular with architects. Many towns pay for them.",
        ),
        (
            "行道树使午后气温降低多少？",
            "Trees lower the temperature of streets by 1.8 °C in the afternoon.",
            "Street trees need water. They are planted by the town.",
        ),
    ],
)
def test_the_finder_ranks_the_passage_with_the_sentence_that_answers(
    question: str, answer: str, beside: str
) -> None:
    model = load_reranker(configured(rerank={"model": "finder"}).rerank)
    assert model.can_read(question)
    first, second = model.score(question, [answer, beside])
    assert 1 >= first > second >= -1
    assert model.score(question, []) == []


@pytest.mark.parametrize("provider", ["bundled", "cross_encoder"])
def test_a_model_that_is_not_here_is_refused(provider: str) -> None:
    settings = configured(rerank={"provider": provider, "model": "nobody/no-such-model"}).rerank
    with pytest.raises(ConfigurationError, match="nobody/no-such-model"):
        load_reranker(settings)
