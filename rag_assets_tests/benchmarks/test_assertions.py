"""`benchmarks.assertions` counts what the rules find in labelled sentences."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.assertions import assertions, evaluate_assertions
from rag_assets.model import UsageError

ROWS = [
    ("Smoking causes cancer of the lung.", "CAUSAL", "made_up"),
    ("Smoking may cause cancer of the lung.", "CONDITIONAL_CAUSAL", "made_up"),
    ("Smoking is common in old towns.", "NONE", "made_up"),
    ("Tea reduces thirst because it is warm.", "NONE", "made_up"),
    ("Tea is better than coffee.", "BETTER", "drinks"),
    ("Tea and coffee stand on the shelf.", "NONE", "drinks"),
    ("Tea might be the best drink of all.", "HEDGE", "doubts"),
    ("All tea causes sleep.", "HEDGE", "doubts"),
]


def write(path: Path, rows: list[tuple[str, str, str]]) -> Path:
    lines = [json.dumps(dict(zip(("sentence", "label", "set"), row, strict=True))) for row in rows]
    path.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    return path


def test_figures_follow_from_the_rows(tmp_path: Path) -> None:
    report = evaluate_assertions([write(tmp_path / "rows.jsonl", ROWS)])
    assert report.metrics == {
        "doubts_hedged_flagged": 0.5,
        "drinks_comparative_f1": 1.0,
        "made_up_causal_f1": pytest.approx(0.8),
        "made_up_causal_alone_f1": pytest.approx(0.5),
    }
    assert report.counts == {"sentences": 8, "sets": 3}


def test_the_command_prints_and_writes_the_figures(tmp_path: Path) -> None:
    file, out = write(tmp_path / "rows.jsonl", ROWS), tmp_path / "out.json"
    ran = CliRunner().invoke(assertions, [str(file), "--json", str(out)])
    assert ran.exit_code == 0, ran.output
    assert "made_up_causal_f1" in ran.output
    assert json.loads(out.read_text(encoding="utf-8"))["drinks_comparative_f1"] == 1.0


@pytest.mark.parametrize("line", ['{"sentence": "a", "label": "b"}', "[1]", "no json"])
def test_a_row_of_another_form_is_refused_with_its_place(tmp_path: Path, line: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(line, encoding="utf-8")
    with pytest.raises(UsageError, match=r"rows\.jsonl, line 1"):
        evaluate_assertions([file])


def test_a_sentence_may_hold_marks_that_end_lines_elsewhere(tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.jsonl", [("Roofs\u2028were\u0085cool.", "NONE", "roofs")])
    assert evaluate_assertions([rows]).counts["sentences"] == 1
