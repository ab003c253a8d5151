"""Rows of known truth are read alike, whatever is measured with them."""

import json
from pathlib import Path

import pytest

from benchmarks.evaluating.claims import read_claims
from benchmarks.evaluating.drafts import read_draft_rows
from rag_assets.model import UsageError

# Marks at which Python ends lines and JSON does not.
TEXT = "Roofs\u2028were\u0085cool."
CLAIM = {"claim": TEXT, "evidence": ["Roofs were cool."], "label": "SUPPORT"}
DRAFT = {
    "id": "1", "paper": "roofs.pdf", "language": "en", "sentence": TEXT, "label": "SUPPORTED",
    "kind": "near", "evidence": ["Roofs were cool."],
}  # fmt: skip


def write(file: Path, *rows: object) -> Path:
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    file.write_text("\n\n".join(lines) + "\n", encoding="utf-8", newline="")
    return file


def test_a_text_may_hold_marks_that_end_lines_elsewhere(tmp_path: Path) -> None:
    (claim,) = read_claims(write(tmp_path / "claims.jsonl", CLAIM))
    (draft,) = read_draft_rows(write(tmp_path / "drafts.jsonl", DRAFT))
    assert claim.claim == draft.sentence == TEXT


def test_a_line_that_is_no_row_is_named_with_the_field_that_is_wrong(tmp_path: Path) -> None:
    file = write(tmp_path / "claims.jsonl", CLAIM, {"claim": "a", "label": "SUPPORT"})
    with pytest.raises(UsageError, match=r"claims\.jsonl, line 3: .*: evidence: Field required"):
        read_claims(file)
    with pytest.raises(UsageError, match=r"drafts\.jsonl, line 1: a row of a draft has .*: label:"):
        read_draft_rows(write(tmp_path / "drafts.jsonl", DRAFT | {"label": "MAYBE"}))


def test_lines_that_are_no_json_and_files_that_are_no_text_are_told(tmp_path: Path) -> None:
    file = tmp_path / "claims.jsonl"
    file.write_text("{", encoding="utf-8")
    with pytest.raises(UsageError, match="line 1"):
        read_claims(file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="cannot be read"):
        read_claims(file)
