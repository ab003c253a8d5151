"""The evaluation `law` builds a vault, asks it, and knows a right article from a wrong one."""

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks.evaluations import _library, evaluations
from rag_assets.evaluation import EvaluationReport, evaluate_law
from rag_assets.evaluation.law_rows import article_number, is_excluded, read_law_questions
from rag_assets.model import UsageError
from rag_assets.workspace import Settings, Workspace, create_workspace, shipped_settings
from rag_assets_tests.libraries import build

Rows = Sequence[tuple[Any, ...]]

BOATS = """# 中华人民共和国船舶法

（2019年3月1日第一届大会通过 自2019年6月1日起施行）

第一条 为了船舶航行安全，制定本法。

第二条 船舶应当在夜间点亮桅灯。

第二条之一 船长应当随船携带航海日志。
"""
OLD_BOATS = BOATS.replace("2019年", "2001年").replace("桅灯", "油灯")
ROADS = """# 甲市道路条例

第一条 道路应当保持平整。

第二条 车辆应当在夜间点亮车灯。

第三条 禁止在道路上晾晒谷物。
"""
LOOKUPS = (
    ("l1", "船舶法第2条之一", "海事/船舶法(2019-03-01).md#第二条之一", ["short", "zhi"]),
    ("l2", "甲市道路条例第三条", "DLC/甲市/甲市道路条例.md#第三条", ["short"]),
)
QUESTIONS = (
    ("q1", "船舶在夜间要点亮桅灯吗", "海事/船舶法(2019-03-01).md#第二条"),
    ("q2", "航海日志要随船携带吗", "海事/船舶法(2019-03-01).md#第二条之一"),
    ("q3", "道路上可以晾晒谷物吗", "DLC/甲市/甲市道路条例.md#第三条"),
)


def write_vault(folder: Path) -> Path:
    for path, text in {
        "海事/船舶法(2019-03-01).md": BOATS,
        "海事/船舶法(2001-03-01).md": OLD_BOATS,
        "DLC/甲市/甲市道路条例.md": ROADS,
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def write_queries(
    folder: Path, lookups: Rows = LOOKUPS, questions: Rows = QUESTIONS, equal: str = ""
) -> Path:
    def lines(rows: list[dict[str, Any]]) -> str:
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)

    (folder / "stard/qrels").mkdir(parents=True)
    names = ("id", "query", "relevant", "styles")
    (folder / "lookups.jsonl").write_text(
        lines([dict(zip(names, row, strict=True)) for row in lookups]), encoding="utf-8"
    )
    (folder / "stard/queries.jsonl").write_text(
        lines([{"_id": one, "text": text} for one, text, _ in questions]), encoding="utf-8"
    )
    (folder / "stard/qrels/test.tsv").write_text(
        "query-id\tcorpus-id\tscore\n"
        + "".join(f"{one}\t{article}\t1\n" for one, _, article in questions),
        encoding="utf-8",
    )
    if equal:
        (folder / "stard/alternatives.tsv").write_text(
            f"query-id\tcorpus-id\talternative-id\tsimilarity\n{equal}\n", encoding="utf-8"
        )
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    file = tmp_path / "settings.yaml"
    file.write_text(
        "embed: {models: [{kind: hashing, model: hashing}]}\nparse: {workers: 1}\n"
        "retrieve: {method: lexical}\n"
    )
    return shipped_settings(file, "law")


def evaluate(folder: Path, settings: Settings, queries: Path, **more: Any) -> EvaluationReport:
    return evaluate_law(write_vault(folder / "vault"), queries, settings, **more)


def test_articles_are_found_by_number_and_by_question(tmp_path: Path, settings: Settings) -> None:
    report = evaluate(tmp_path, settings, write_queries(tmp_path / "asked"))
    assert report.failures == ()
    assert report.metrics["existing_share"] == report.metrics["lookups_hit_at_1"] == 1.0
    assert report.metrics["lookups_wrong_as_exact"] == 0
    assert report.metrics["recall_at_10"] == report.metrics["lexical_recall_at_100"] == 1.0
    assert report.counts["questions"] == 3
    written = report.to_json()
    assert written["ndcg_at_10_by_question"]["q3"] == 1.0
    # With the law's template its directories stay, so that weights of paths can be measured.
    assert written["retrieve"]["fusion"]["kind"] == "rrf"
    assert "zhi" in report.render()


def test_what_is_left_out_is_neither_searched_nor_asked_for(
    tmp_path: Path, settings: Settings
) -> None:
    queries = write_queries(tmp_path / "asked")
    report = evaluate(tmp_path, settings, queries, exclude=["DLC/**"])
    assert {**report.counts, "chunks": 0} == {
        "questions": 2, "judgements": 2, "lookups": 1, "excluded": 2, "not_holding": 0, "chunks": 0,
    }  # fmt: skip
    assert report.metrics["existing_share"] == 1.0


def test_a_wrong_article_given_as_the_named_one_fails(tmp_path: Path, settings: Settings) -> None:
    lookups: Rows = [("l1", "船舶法第一条", "海事/船舶法(2001-03-01).md#第一条", [])]
    queries = write_queries(tmp_path / "asked", lookups)
    report = evaluate(tmp_path, settings, queries)
    assert report.metrics["lookups_wrong_as_exact"] == 1
    assert [one["how"] for one in report.details["failing_lookups"]] == ["wrong"]
    assert len(report.failures) == 1


def test_articles_that_are_not_there_fail(tmp_path: Path, settings: Settings) -> None:
    questions = [*QUESTIONS, ("q4", "谁", "海事/船舶法(2019-03-01).md#第九条")]
    report = evaluate(tmp_path, settings, write_queries(tmp_path / "asked", LOOKUPS, questions))
    assert report.details["missing"] == ["海事/船舶法(2019-03-01).md#第九条"]
    assert "not there" in report.failures[0]


def test_an_article_that_is_as_good_counts_as_the_judged_one(
    tmp_path: Path, settings: Settings
) -> None:
    questions = [("q1", "船舶点亮油灯", "海事/船舶法(2019-03-01).md#第二条")]
    old = "海事/船舶法(2001-03-01).md#第二条"
    plain = evaluate(tmp_path, settings, write_queries(tmp_path / "asked", LOOKUPS, questions))
    equal = f"q1\t{questions[0][2]}\t{old}\t1.000"
    lenient = evaluate(
        tmp_path, settings, write_queries(tmp_path / "again", LOOKUPS, questions, equal)
    )
    assert (plain.metrics["hit_at_1"], lenient.metrics["hit_at_1"]) == (0.0, 1.0)


def test_a_workspace_that_holds_the_vault_is_asked_as_it_is_and_as_of_a_day(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    create_workspace(root, "law")
    write_vault(root / "raw" / "laws")
    declared = root / "namespaces" / "law.yaml"
    text = declared.read_text(encoding="utf-8")
    models = "{kind: bundled, model: multilingual-e5-small, dtype: int8}"
    assert models in text
    declared.write_text(text.replace(models, "{kind: hashing, model: hashing}"), encoding="utf-8")
    build(Workspace.open(root).namespace("law"))
    library = _library(root, None)
    old: Rows = [("l1", "船舶法第二条", "海事/船舶法(2001-03-01).md#第二条", [])]
    queries = write_queries(tmp_path / "asked", old)
    report = evaluate_law(
        None, queries, library.settings, library=library,
        as_of=date(2010, 1, 1),
    )  # fmt: skip
    assert (report.metrics["lookups_hit_at_1"], report.counts["not_holding"]) == (1.0, 1)
    command = ["law", "--workspace", str(root), "--queries", str(queries), "--no-cache"]
    ran = CliRunner().invoke(evaluations, command)
    assert ran.exit_code == 1, "today another wording is in force"
    assert "wrong as named" in ran.stdout


def test_patterns_and_numbers() -> None:
    assert is_excluded("DLC/a/b.md", ["DLC/**"])
    assert is_excluded("raw/DLC/a/b.md", ["DLC/**"])
    assert not is_excluded("刑法/DLC.md", ["DLC/**"])
    assert article_number("刑法/刑法.md#第一百三十三条之一") == "133-1"
    with pytest.raises(UsageError, match="names no article"):
        article_number("刑法/刑法.md#总则")


def test_a_folder_without_questions_says_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"lookups\.jsonl"):
        read_law_questions(tmp_path)
