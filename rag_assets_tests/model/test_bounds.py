"""What is too large is refused with a sentence, and what a spreadsheet would run is text."""

import csv
import io
from pathlib import Path

import pytest

from rag_assets.model import UsageError, require_question, write_csv
from rag_assets.storage import rewrite_bytes


def test_a_cell_begins_no_formula_and_numbers_stay_numbers() -> None:
    row = ["=1+1", "+1", "-1", "@a", "\tb", "\rc", "a\r=1", -0.5, None]
    (cells,) = csv.reader(io.StringIO(write_csv([row]), newline=""))
    assert cells == ["'=1+1", "'+1", "'-1", "'@a", "'\tb", "'\nc", "a\n=1", "-0.5", ""]


def test_a_question_of_a_million_words_is_refused() -> None:
    with pytest.raises(UsageError, match="at most 20000"):
        require_question("word " * 1_000_000)
    require_question("How much cooler was it?")


def test_a_rewritten_file_keeps_its_permissions(tmp_path: Path) -> None:
    file = tmp_path / "draft.md"
    file.write_text("a")
    for mode in (0o600, 0o664, 0o444):
        file.chmod(mode)
        rewrite_bytes(file, b"b")
        assert (file.stat().st_mode & 0o777, file.read_bytes()) == (mode, b"b")
