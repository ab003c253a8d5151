"""Paragraphs of a paper as evidence."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.evaluating.agent import Paper, rank_paragraphs, scored_questions, write_paper
from benchmarks.qasper.measuring import evaluate_qasper
from rag_assets.model import UsageError
from rag_assets_tests.evaluation.beir import hashing_settings

OWLS: dict[str, Any] = {
    "paper_id": "p1",
    "title": "On Owls",
    "abstract": "We study owls.",
    "sections": [
        {"name": "Introduction", "paragraphs": ["Owls are birds.", "Mice fear them."]},
        {"name": "Experiments ::: Data", "paragraphs": ["We counted ninety mice below the snow."]},
        {"name": "Experiments ::: Results", "paragraphs": ["Hearing improved the catch by half."]},
    ],
    "questions": [
        {
            "id": "q1",
            "question": "How many mice were counted?",
            "evidence": ["We counted ninety mice below the snow."],
            "evidence_source": "annotated",
        },
        {"id": "q2", "question": "Why?", "evidence": ["x"], "evidence_source": "answer_span"},
        {"id": "q3", "question": "Who?", "evidence": [], "evidence_source": "annotated"},
    ],
}


def test_paragraphs_stand_where_their_spans_say_under_nested_headings() -> None:
    written = write_paper(Paper.model_validate(OWLS))
    assert [written.text[start:end] for start, end in written.paragraphs] == [
        "We study owls.", "Owls are birds.", "Mice fear them.",
        "We counted ninety mice below the snow.", "Hearing improved the catch by half.",
    ]  # fmt: skip
    headings = [line for line in written.text.splitlines() if line.startswith("#")]
    assert headings == ["# On Owls", "## Abstract", "## Introduction", "## Experiments",
                        "### Data", "### Results"]  # fmt: skip


def test_only_annotated_evidence_is_scored() -> None:
    assert [question.id for question in scored_questions(Paper.model_validate(OWLS))] == ["q1"]


def test_a_paragraph_ranks_by_its_best_chunk() -> None:
    class Found:
        def __init__(self, start: int, end: int, text: str) -> None:
            self.char_start, self.char_end, self.text = start, end, text

    text = "a" * 10 + "b" * 10 + "c" * 10
    hits: Any = [Found(18, 30, text[18:30]), Found(0, 20, text[:20])]
    assert rank_paragraphs(hits, [(0, 10), (10, 20), (20, 30), (40, 50)], "", text) == [2, 1, 0]


def test_of_a_chunks_paragraphs_the_one_with_the_questions_words_is_first() -> None:
    class Found:
        char_start, char_end = 0, 40

    text = "Owls hunt here.     Hens lay an egg.    "
    hits: Any = [Found()]
    assert rank_paragraphs(hits, [(0, 15), (20, 36)], "which bird lays eggs", text) == [1, 0]


@pytest.mark.slow
def test_a_paper_is_searched_with_filters_and_with_headings(tmp_path: Path) -> None:
    file = tmp_path / "papers.jsonl"
    other = {**OWLS, "paper_id": "p2", "questions": []}
    file.write_text(f"{json.dumps(OWLS)}\n{json.dumps(other)}\n", encoding="utf-8")
    report = evaluate_qasper(file, hashing_settings(tmp_path), cache=tmp_path / "cache")
    assert report.counts["questions"] == 1
    assert report.metrics["recall_at_5"] == 1.0, "the same paragraph of the other paper is no hit"
    assert {"section_filter_ndcg_at_10", "context_headings_whole_recall_at_5",
            "true_section_ndcg_at_10", "lexical_ndcg_at_10"} <= {*report.metrics}  # fmt: skip
    file.write_text(f"{json.dumps(other)}\n", encoding="utf-8")
    with pytest.raises(UsageError, match="annotated evidence"):
        evaluate_qasper(file, hashing_settings(tmp_path))
