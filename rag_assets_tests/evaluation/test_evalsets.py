"""Evaluation sets of the knowledge library's format."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rag_assets.cli.main import build_cli
from rag_assets.evaluation.sets import load_eval_set, sets_in
from rag_assets.knowledge import KnowledgeConfig, RetrievalConfig
from rag_assets.knowledge.evaluation import KnowledgeEvaluator
from rag_assets.model import UsageError
from rag_assets.workspace import create_workspace

from .beir import hashing_settings, write_set

BIRDS: dict[str, Any] = {
    "evalset_id": "birds",
    "documents": [
        {"doc_id": "D/1", "text": "alpha beta of owls", "title": "文档1"},
        {"doc_id": "d2", "text": "gamma delta of hens", "metadata": {"year": 2020}},
    ],
    "queries": [
        {
            "query_id": "q1",
            "query": "alpha",
            "expected_doc_ids": ["D/1"],
            "expected_chunk_ids": ["D/1:0"],
            "relevance_doc": {"D/1": 2},
        },
        {"query_id": "q2", "query": "hens", "relevance_doc": {"d2": 1, "D/1": 0}},
    ],
}


def write(folder: Path, **changes: Any) -> Path:
    file = folder / "evalset.json"
    file.write_text(json.dumps({**BIRDS, **changes}, ensure_ascii=False), encoding="utf-8")
    return file


def query(**changes: Any) -> dict[str, Any]:
    return {"query_id": "q1", "query": "alpha", "expected_doc_ids": ["D/1"], **changes}


def test_relevance_is_graded_and_expected_ones_have_one(tmp_path: Path) -> None:
    evalset = load_eval_set(write(tmp_path))
    assert evalset.k_values == (1, 3, 5, 10)
    first, second = evalset.queries
    assert (first.documents, first.chunks) == ({"D/1": 2.0}, {"D/1:0": 1.0})
    assert (second.documents, second.chunks) == ({"d2": 1.0}, {})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"queries": [query(expected_doc_ids=["d9"])]}, "'q1': expected_doc_ids: no document 'd9'"),
        ({"queries": [query(relevance_doc={"d9": 1})]}, "relevance_doc: no document 'd9'"),
        ({"queries": [query(expected_chunk_ids=["D/1"])]}, "'D/1' is not <doc_id>:<number"),
        ({"queries": [query(expected_chunk_ids=["d9:0"])]}, "no document 'd9'"),
        ({"queries": [query(expected_doc_ids=[])]}, "nothing is expected"),
        ({"queries": [query(), query()]}, "query_id 'q1' occurs twice"),
        ({"queries": []}, "queries"),
        ({"k_values": [0]}, "k_values"),
        ({"extra": 1}, "extra"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        load_eval_set(write(tmp_path, **changes))


def test_documents_and_chunks_are_scored_and_the_cut_described(tmp_path: Path) -> None:
    async def evaluate() -> Any:
        settings = hashing_settings(tmp_path, "retrieve: {method: lexical}\n")
        evaluator = await KnowledgeEvaluator.from_config(
            namespace="demo", config=settings, cache=tmp_path / "cache"
        )
        async with evaluator:
            report = await evaluator.evaluate(load_eval_set(write(tmp_path)))
            with pytest.raises(UsageError, match=r"'D/1:4' is expected, .* has 1 chunks, 0 to 0"):
                await evaluator.evaluate(
                    load_eval_set(write(tmp_path, queries=[query(expected_chunk_ids=["D/1:4"])]))
                )
        return report

    report = asyncio.run(evaluate())
    for name in ("doc_hit_at_1", "doc_recall_at_10", "doc_mrr_at_3", "doc_ndcg_at_5",
                 "chunk_hit_at_1", "chunk_ndcg_at_10", "coverage"):  # fmt: skip
        assert report.metrics[name] == 1.0, name
    assert report.counts["queries_with_chunks"] == 1
    assert "Documents found" in report.summary()


def test_the_library_evaluates_a_configuration_with_the_names_of_spec_001(tmp_path: Path) -> None:
    async def evaluate() -> Any:
        knowledge_config = KnowledgeConfig(
            base_config={"embedding": {"provider": "hashing", "model": "words"}},
            retrieve_config=RetrievalConfig(method="lexical"),
        )
        evaluator = await KnowledgeEvaluator.from_config(
            namespace="demo_eval", config=knowledge_config
        )
        report = await evaluator.evaluate(load_eval_set(write(tmp_path)))
        await evaluator.close()
        return report

    report = asyncio.run(evaluate())
    assert report.metrics["doc_hit_at_1"] == 1.0
    assert "Documents found" in report.summary()


def test_rag_eval_sets_asks_every_set_of_the_workspace(tmp_path: Path) -> None:
    workspace, _ = create_workspace(tmp_path / "library", "thesis")
    (workspace.root / "config.yaml").write_text(
        "embed: {models: [{kind: hashing, model: hashing}]}\n"
        "parse: {workers: 1}\nretrieve: {method: lexical}\n"
    )
    workspace.evaluations.mkdir()
    write_set(workspace.evaluations / "beir")
    write(workspace.evaluations).rename(workspace.evaluations / "kb.json")
    asked = ["--workspace", str(workspace.root), "eval", "sets"]
    found = CliRunner().invoke(build_cli(), asked)
    assert found.exit_code == 0, found.output
    assert "beir\nretrieval: " in found.output
    assert "kb\nevalset: " in found.output
    unknown = CliRunner().invoke(build_cli(), [*asked, "cats"])
    assert "holds beir, kb, not cats" in unknown.output
    (workspace.evaluations / "beir.json").write_text("{}")
    with pytest.raises(UsageError, match="share the name 'beir'"):
        sets_in(workspace.evaluations)
