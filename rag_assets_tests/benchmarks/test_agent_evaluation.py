"""`python -m benchmarks.eval_agent` asks once and by the agent, and looks citations up."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks.eval_agent import eval_agent
from benchmarks.evaluating.agent import evaluate_agent, open_live_model
from rag_assets.llm import ChatRequest
from rag_assets.model import ConfigurationError, UsageError
from rag_assets_tests.answering.law.conftest import act
from rag_assets_tests.evaluation.beir import hashing_settings
from rag_assets_tests.llm.models import RulesModel

EVIDENCE = "We counted ninety mice below the snow of the northern valley in winter."
PAPER: dict[str, Any] = {
    "paper_id": "p1",
    "title": "On Owls",
    "abstract": "We study owls and what they hear.",
    "sections": [
        {"name": "Introduction", "paragraphs": ["Owls are birds of the night."]},
        {"name": "Experiments", "paragraphs": [EVIDENCE, "Hearing improved the catch by half."]},
    ],
    "questions": [
        {"id": "q1", "question": "How many mice were counted below the snow?",
         "evidence": [EVIDENCE], "evidence_source": "annotated"},
        {"id": "q2", "question": "Which birds are of the night?",
         "evidence": ["Owls are birds of the night."], "evidence_source": "annotated"},
    ],
}  # fmt: skip
CORPUS = (
    ("d1", "Ada", "Ada was born in the city of Quarz."),
    ("d2", "Quarz", "Quarz lies on the river Belt."),
    ("d3", "Tor", "Tor lies on the river Murn."),
)


def write_papers(folder: Path) -> Path:
    file = folder / "owls" / "papers.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(PAPER) + "\n", encoding="utf-8")
    return file


def write_hops(folder: Path) -> Path:
    made = folder / "hops"
    (made / "qrels").mkdir(parents=True)
    rows = [{"_id": one, "title": title, "text": text} for one, title, text in CORPUS]
    (made / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    asked = {"_id": "q1", "text": "On which river lies the city where Ada was born?"}
    (made / "queries.jsonl").write_text(json.dumps(asked), encoding="utf-8")
    judged = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t1\n"
    (made / "qrels" / "test.tsv").write_text(judged, encoding="utf-8")
    return made


def test_papers_and_hops_are_asked_once_and_by_the_agent(tmp_path: Path) -> None:
    write_papers(tmp_path)
    write_hops(tmp_path)
    report = evaluate_agent(tmp_path, hashing_settings(tmp_path))
    figures = report.metrics
    assert figures["asked"] == "rules"
    assert report.counts == {"owls_questions": 2, "hops_questions": 1}
    for way in ("one_search", "agent"):
        assert 0 < float(figures[f"owls_{way}_ndcg_at_10"] or 0) <= 1
    assert figures["hops_one_search_all_at_10"] == 1.0
    assert figures["owls_standing_share"] == 1.0
    assert figures["owls_gold_share"] == 1.0
    assert figures["owls_questions_with_gold"] == 1.0
    assert "agent" in report.render()
    assert not report.failures


def test_a_citation_of_something_else_is_no_gold(tmp_path: Path) -> None:
    file = write_papers(tmp_path)
    wrong = "Hearing improved the catch by half."

    def say(request: ChatRequest) -> str:
        turn = sum(message.role == "assistant" for message in request.messages)
        if turn == 0:
            return act("search_by_section", {"query": wrong, "k": 5})
        last = request.messages[-1].content
        (alias,) = re.findall(rf'\[(C\d+)\] "[^\n]*{wrong}', last)
        said = {"answer": f"{wrong} [{alias}]", "sources": [alias]}
        return act("finish", said)

    report = evaluate_agent(
        file, hashing_settings(tmp_path), limit=1, model=RulesModel("liar", say)
    )
    assert report.metrics["asked"] == "rules:liar"
    assert report.metrics["owls_citations"] == 1
    assert report.metrics["owls_standing_share"] == 1.0
    assert report.metrics["owls_gold_share"] == 0.0


def test_live_without_a_model_says_what_to_configure(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"llm\.roles\.agent"):
        open_live_model(hashing_settings(tmp_path))


def test_the_command_says_who_is_asked(tmp_path: Path) -> None:
    file = write_papers(tmp_path)
    config = tmp_path / "config.yaml"
    config.write_text("embed: {kind: hashing, model: words}\n", encoding="utf-8")
    out = tmp_path / "out.json"
    asked = [str(file), "--config", str(config), "--no-cache"]
    found = CliRunner().invoke(eval_agent, [*asked, "--json", str(out)])
    assert found.exit_code == 0, found.output
    assert "no language model is asked" in found.output
    assert json.loads(out.read_text("utf-8"))["owls_standing_share"] == 1.0
    live = CliRunner().invoke(eval_agent, [*asked, "--live"])
    assert live.exit_code != 0
    assert "llm.model" in live.output


def test_nothing_of_that_kind_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="evaluation set"):
        evaluate_agent(tmp_path, hashing_settings(tmp_path))
