"""`benchmarks.locate` ranks the sentences of cited documents."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.locate import locate, read_locate_sets
from rag_assets.model import UsageError

# Marks at which Python ends lines and JSON does not.
TEXT = "Roofs\u2028were\u0085cool."
QUESTION = {"citing_sentence": TEXT, "reference_paper_id": "p", "cited_ids": [0]}


def write(folder: Path, references: dict[str, object], *questions: dict[str, object]) -> None:
    for name, rows in (("s_refs", [references]), ("s", questions)):
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8", newline="")


def test_a_sentence_may_hold_marks_that_end_lines_elsewhere(tmp_path: Path) -> None:
    write(tmp_path, {"reference_paper_id": "p", "sentences": [[0, TEXT]]}, QUESTION)
    (found,) = read_locate_sets(tmp_path)
    assert found.questions[0].sentence == TEXT


def test_a_row_that_lacks_a_field_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"reference_paper_id": "p"})
    with pytest.raises(UsageError, match=r"line 1: .*lacks sentences"):
        read_locate_sets(tmp_path)
    ran = CliRunner().invoke(locate, [str(tmp_path)])
    assert (ran.exit_code, ran.stderr.startswith("error: ")) == (3, True)


def test_the_command_prints_and_writes_the_figures(tmp_path: Path) -> None:
    sentences = [[0, "Green roofs cool the rooms below them."], [1, "Hens lay eggs at dawn."]]
    question = QUESTION | {"citing_sentence": "At dawn hens lay their eggs.", "cited_ids": [1]}
    write(tmp_path, {"reference_paper_id": "p", "sentences": sentences}, question)
    out = tmp_path / "out.json"
    ran = CliRunner().invoke(locate, [str(tmp_path), "--json", str(out)])
    assert ran.exit_code == 0, ran.output
    assert "Hit@3" in ran.stdout
    assert json.loads(out.read_text(encoding="utf-8"))["s_hit_1"] == 1.0
