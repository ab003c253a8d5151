"""Question files and their partition keys."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.evidence import partition_key, read_question
from rag_assets.model import ConfigurationError, UsageError


@given(st.text(), st.binary())
def test_a_partition_key_is_readable_and_depends_on_the_content(name: str, data: bytes) -> None:
    key = partition_key(name, data)
    assert re.fullmatch(r"[^\W_]+(?:-[^\W_]+)*-[0-9a-f]{12}", key)
    assert partition_key(name, data) == key
    assert partition_key(name, data + b"x") != key


def test_plain_text_and_yaml_ask_alike(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Is it cooler?\n", encoding="utf-8")
    (tmp_path / "b.yaml").write_text('question: "Is it cooler?"\ntop_k: 3\n', encoding="utf-8")
    assert read_question(tmp_path / "a.txt").question.question == "Is it cooler?"
    assert read_question(tmp_path / "b.yaml").question.top_k == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("questoin: hello\n", "write `question:"),
        ("question: hello\ntopk: 3\n", "unknown key 'topk'.*top_k"),
        ("question: hello\ntop_k: 0\n", "'top_k'.*greater than or equal to 1"),
        ("question: '  '\n", "no text"),
        ("- a\n", "write `question:"),
    ],
)
def test_a_wrong_question_file_is_named_with_its_key(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "q.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message) as raised:
        read_question(path)
    assert "q.yaml" in str(raised.value)


def test_broken_yaml_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "q.yaml"
    path.write_text("question: [a\nb: c\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"q\.yaml, line 2"):
        read_question(path)
