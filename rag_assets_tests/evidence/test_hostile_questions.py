"""A question, typed or in a file, is shown text, and a saved one is read as it was."""

from pathlib import Path

import yaml
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.evidence import Question, read_question
from rag_assets.model import drop_controls


def test_a_question_has_no_control_characters(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text('question: "Why \\e[31mred\\u202e?"\nfilters: ["year=2020\\e[0m"]\n', "utf-8")
    assert read_question(path).question == Question(question="Why red?", filters=("year=2020",))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_what_we_write_as_yaml_is_read_as_it_was(text: str) -> None:
    asked = Question(question=text, filters=(text,)).question
    assert asked == drop_controls(text)
    written = yaml.safe_dump({"question": asked}, allow_unicode=True, sort_keys=False, width=100)
    assert yaml.safe_load(written) == {"question": asked}
