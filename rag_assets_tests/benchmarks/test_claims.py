"""Figures of a scorer on claims with evidence and a label."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.evaluating.claims import (
    ClaimRow,
    Outcome,
    calibration_error,
    draw,
    evaluate_claims,
    evidence_passages,
    figures,
    read_claims,
)
from rag_assets.judging import Judgement
from rag_assets.model import UsageError
from rag_assets.workspace import shipped_settings


def make_row(number: str, label: str) -> ClaimRow:
    return ClaimRow(id=number, set="set", claim="claim", evidence=("text",), label=label)


def _outcome(label: str, score: float, status: str) -> Outcome:
    row = make_row("1", label)
    judgement = Judgement(score, status, "supported", "Said.", 0, (0, 4))  # type: ignore[arg-type]
    return Outcome(row, judgement)


def _outcomes(*cells: tuple[str, float, str]) -> Sequence[Outcome]:
    return [_outcome(*cell) for cell in cells]


def test_the_figures_are_those_of_a_table_worked_by_hand() -> None:
    found = figures(
        _outcomes(
            ("SUPPORT", 0.9, "OK"),
            ("ATTRIBUTABLE", 0.8, "OK"),
            ("REFUTE", 0.7, "OK"),
            ("SUPPORT", 0.4, "WEAK"),
            ("PARTIAL", 0.3, "WEAK"),
            ("NOT_ENOUGH", 0.1, "MISSING"),
        )
    )
    assert found["precision_support"] == pytest.approx(2 / 3)
    assert found["recall_support"] == pytest.approx(2 / 3)
    assert found["false_ok"] == pytest.approx(1 / 3)
    assert found["macro_f1"] == pytest.approx(2 / 3)
    # Of nine pairs one is the wrong way round: 0.4 below 0.7.
    assert found["auc"] == pytest.approx(8 / 9)


def test_equal_scores_count_half() -> None:
    found = figures(_outcomes(("SUPPORT", 0.5, "OK"), ("REFUTE", 0.5, "OK")))
    assert found["auc"] == pytest.approx(0.5)


def test_the_calibration_error_is_the_distance_in_bins() -> None:
    rows = _outcomes(("SUPPORT", 0.95, "OK"), ("REFUTE", 0.95, "OK"), ("REFUTE", 0.05, "MISSING"))
    assert calibration_error(rows) == pytest.approx((2 * abs(0.95 - 0.5) + 0.05) / 3)


def test_what_the_rows_do_not_show_is_none() -> None:
    found = figures(_outcomes(("REFUTE", 0.1, "MISSING")))
    assert found["auc"] is None
    assert found["false_ok"] is None


def test_pieces_of_evidence_become_passages_with_their_sentences() -> None:
    passages = evidence_passages(
        ["One is short. Two is too.", "", "x " * 600, "Three stands alone"]
    )
    assert len(passages) == 3
    assert [passages[0].text[slice(*span)] for span in passages[0].sentences] == [
        "One is short.", "Two is too.",
    ]  # fmt: skip


def test_a_line_that_is_no_row_is_named(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"claim": "a", "evidence": ["b"], "label": "SUPPORT"}\n{"claim": "a"}\n')
    with pytest.raises(UsageError, match="line 2"):
        read_claims(file)


def test_files_are_judged_by_set(tmp_path: Path) -> None:
    file = tmp_path / "small.jsonl"
    rows = [
        {
            "claim": "Cats sleep nearly all day",
            "evidence": ["Cats sleep nearly all day."],
            "label": "SUPPORT",
            "set": "a",
        },
        {"claim": "Dogs bark", "evidence": ["Rain fell."], "label": "REFUTE", "set": "b"},
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    report = evaluate_claims([file], shipped_settings(None), "facts")
    assert report.metrics["macro_f1"] == 1
    assert report.counts == {"files": 1, "sets": 2, "rows": 2}
    assert set(report.to_json()["by_set"]) == {"a", "b"}


def test_the_command_prints_and_writes_the_figures(tmp_path: Path) -> None:
    from benchmarks.eval_claims import eval_claims

    file, out = tmp_path / "rows.jsonl", tmp_path / "out.json"
    file.write_text('{"claim": "Cats sleep", "evidence": ["Cats sleep."], "label": "SUPPORT"}\n')
    run = CliRunner().invoke(eval_claims, [str(file), "--scorer", "facts", "--json", str(out)])
    assert run.exit_code == 0, run.output
    stored = json.loads(out.read_text(encoding="utf-8"))
    assert {"macro_f1", "auc", "calibration_error", "false_ok"} <= stored.keys()


def test_a_limit_draws_rows_from_the_whole_file() -> None:
    rows = [make_row(str(n), "REFUTE") for n in range(50)]
    drawn = draw(rows, 10)
    assert drawn == draw(rows, 10)
    numbers = [int(row.id) for row in drawn]
    assert numbers == sorted(set(numbers))
    assert len(numbers) == 10
    assert numbers != list(range(10))
    assert draw(rows, None) == draw(rows, 99) == rows
