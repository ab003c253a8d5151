"""What questions ask for, and which sentences are of that kind."""

import pytest

from rag_assets.finding.questions import QUESTION_KINDS, QuestionKind, measure_kinds
from rag_assets.finding.sentences import Sentence


def sentence(text: str) -> Sentence:
    return Sentence(text, ((0, 0, len(text)),), run=0)


@pytest.mark.parametrize("kind", QUESTION_KINDS, ids=lambda kind: kind.id)
def test_each_kind_tells_its_examples_apart(kind: QuestionKind) -> None:
    column = QUESTION_KINDS.index(kind)
    question, answer = kind.fires
    other_question, other = kind.silent
    assert measure_kinds(question, [sentence(answer), sentence(other)])[:, column].tolist() == [
        1.0, -1.0,
    ]  # fmt: skip
    assert measure_kinds(other_question, [sentence(answer)])[:, column].tolist() == [0.0]
