"""`rag eval retrieval` builds, keeps and asks a real library."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import rag_assets.parsing.stage as parsing_stage
from rag_assets.embedding import HashingEmbedder
from rag_assets.evaluation.metrics import Interval, rank_documents, rank_hits
from rag_assets.evaluation.retrieval import (
    Latency,
    describe_outcomes,
    encode_questions,
    evaluate_retrieval,
    evaluate_set,
)
from rag_assets.evaluation.sets import read_retrieval_set
from rag_assets.evaluation.workspaces import (
    MadeFile,
    built_workspace,
    default_cache,
    markdown_of,
    workspace_key,
)
from rag_assets.retrieval.queries import make_query
from rag_assets.retrieval.retriever import Retriever
from rag_assets.workspace import shipped_settings

from .beir import BIRDS, hashing_settings, write_set


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Count the passages that are encoded and the files that are parsed, where they are."""
    counts = {"passages": 0, "parsed": 0}
    encode, parse = HashingEmbedder.encode_passages, parsing_stage.parse_files

    def encode_passages(self: HashingEmbedder, texts: Sequence[str], *rest: Any) -> Any:
        counts["passages"] += len(texts)
        return encode(self, texts, *rest)

    def parse_files(jobs: Sequence[Any], *rest: Any, **named: Any) -> Any:
        counts["parsed"] += len(jobs)
        return parse(jobs, *rest, **named)

    monkeypatch.setattr(HashingEmbedder, "encode_passages", encode_passages)
    monkeypatch.setattr(parsing_stage, "parse_files", parse_files)
    return counts


def test_a_run_that_changes_only_the_search_parses_and_encodes_nothing(
    tmp_path: Path, counted: dict[str, int]
) -> None:
    folder, cache = write_set(tmp_path / "birds"), tmp_path / "cache"
    first = evaluate_retrieval(folder, hashing_settings(tmp_path), cache=cache)
    assert counted == {"passages": len(BIRDS), "parsed": len(BIRDS)}
    changed = hashing_settings(tmp_path, "retrieve: {method: lexical, pool_k: 3}\n")
    second = evaluate_retrieval(folder, changed, cache=cache)
    assert counted == {"passages": len(BIRDS), "parsed": len(BIRDS)}
    assert (first.counts["parsed_now"], second.counts["parsed_now"]) == (len(BIRDS), 0)

    # By words every question here has one answer: titles, lone titles and Chinese are found.
    assert second.metrics["ndcg_at_10"] == second.metrics["recall_at_100"] == 1.0
    flat = list(first.to_json())
    assert flat[:5] == ["ndcg_at_10", "recall_at_10", "recall_at_100", "mrr_at_10", "hit_at_1"]
    assert {"lexical_ndcg_at_10", "hashing_ndcg_at_10", "best_part", "search_p95_ms"} <= {*flat}
    assert first.counts["documents"] == len(BIRDS)
    assert "hashing_ndcg_at_10" not in second.metrics, "by words alone no model is asked"
    assert "birds" in first.render()


def test_several_sets_are_reported_with_their_means_and_each_alone(tmp_path: Path) -> None:
    rows = read_retrieval_set(write_set(tmp_path / "birds"))
    settings = hashing_settings(tmp_path, "retrieve: {method: lexical}\n")
    outcome = evaluate_set(rows, settings, None)
    worse = replace(
        outcome,
        rows=replace(rows, name="cats"),
        intervals={
            name: dict.fromkeys(figures, Interval(0.5, 0.4, 0.6))
            for name, figures in outcome.intervals.items()
        },
        gain=Interval(-0.2, -0.3, -0.1),
    )
    written = describe_outcomes([outcome, worse], settings).to_json()
    assert written["ndcg_at_10"] == pytest.approx(0.75)
    assert written["sets_worse_than_best_part"] == 1
    assert written["sets"]["birds"]["ndcg_at_10"] == 1.0
    assert written["sets"]["birds"]["questions"] == 4
    assert written["sets"]["cats"]["against_best_part"] == "worse"
    assert written["sets"]["birds"]["ndcg_at_10_by_question"].keys() == {"q1", "q2", "q3", "q4"}
    assert outcome.verdict == "equal"


def test_an_interrupted_build_goes_on_and_a_forgotten_one_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [MadeFile(identity, markdown_of(title, text)) for identity, title, text in BIRDS]
    settings, cache = hashing_settings(tmp_path), tmp_path / "cache"
    root = cache / "workspaces" / workspace_key(files, settings)[:24]
    (root / "raw/evidence").mkdir(parents=True)
    (root / "raw/evidence/owl.md").write_text("# Ow")  # cut off, and no list of files
    with built_workspace([*files, MadeFile("nothing", "")], settings, cache) as built:
        published = sorted(identity for ids in built.ids.values() for identity in ids)
        assert (built.files, built.failed, built.namespace.workspace.root) == (len(files), (), root)
    assert published == sorted(identity for identity, _, _ in BIRDS)


def test_questions_in_batches_get_the_vectors_that_one_question_gets(tmp_path: Path) -> None:
    settings = hashing_settings(tmp_path)
    with built_workspace([MadeFile("a", "Owls hunt at night.\n")], settings, None) as built:
        root = built.namespace.workspace.root
        with Retriever(built.namespace.workspace, [built.namespace.name]) as retriever:
            reader, latency = retriever.readers[0], Latency()
            texts = ["owls at night", "猫头鹰"]
            batch = encode_questions(texts, reader, settings.retrieve, latency)
            alone = [make_query(text, [reader], settings.retrieve) for text in texts]
    assert [query.texts for query in batch] == [query.texts for query in alone]
    assert [dict(query.vectors) for query in batch] == [dict(query.vectors) for query in alone]
    assert len(latency.encoding) == 2
    assert not root.exists()


def test_the_key_is_of_what_decides_a_publication(tmp_path: Path) -> None:
    files = [MadeFile("a", "text")]
    key = workspace_key(files, hashing_settings(tmp_path))
    assert workspace_key(files, hashing_settings(tmp_path, "retrieve: {top_k: 3}\n")) == key
    assert workspace_key([MadeFile("a", "other")], hashing_settings(tmp_path)) != key
    assert workspace_key([MadeFile("b", "text")], hashing_settings(tmp_path)) != key
    assert workspace_key(files, hashing_settings(tmp_path, "chunk: {context: headings}\n")) != key
    assert workspace_key(files, shipped_settings()) != key, "with other models"


def test_the_cache_is_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_EVALUATION_CACHE", str(tmp_path / "here"))
    assert default_cache() == tmp_path / "here"
    monkeypatch.delenv("RAG_EVALUATION_CACHE")
    assert default_cache().parts[-2:] == ("rag-assets", "evaluation")


def test_documents_rank_by_their_best_chunk_and_bring_their_copies() -> None:
    class Found:
        def __init__(self, uid: str, number: int, *copies: str) -> None:
            self.doc_uid, self.chunk_index, self.copies = uid, number, copies

    hits: Any = [Found("b", 3, "evaluation::c:1:0"), Found("a", 0), Found("b", 1), Found("x", 0)]
    ids = {"a": ("A",), "b": ("B", "B again"), "c:1": ("C",)}
    assert rank_documents(hits, ids) == ["B", "B again", "C", "A"]
    assert rank_hits(hits, ids) == ["B:3", "B again:3", "C:0", "A:0", "B:1", "B again:1"]
