"""A claim that has of one name what its source has of another."""

import pytest

from rag_assets.judging.features import answer
from rag_assets.judging.signs import find_reservations
from rag_assets.judging.subjects import find_another_subject
from rag_assets_tests.judging.sentences import passage

MODELS = ("Model A was trained on books.", "Model B was trained on newspapers.")
SCORES = ("BERT obtains a score of 80.5 on GLUE.", "ELMo obtains 71.0.")
CARS = ("In Norway, sales of diesel cars fell by half.", "In Sweden, they were stable.")
CORPORA = ("模型A在新闻语料上训练。", "模型B在推特语料上训练，准确率为81%。")


@pytest.mark.parametrize(
    ("claim", "sentences", "ours", "theirs"),
    [
        ("Model B was trained on books.", MODELS, "B", "A"),
        ("ELMo obtains a score of 80.5 on GLUE.", SCORES, "ELMo", "BERT"),
        ("Sales of diesel cars fell by half in Sweden.", CARS, "Sweden", "Norway"),
        ("In Norway, sales of diesel cars were stable.", CARS, "Norway", "Sweden"),
        ("模型B在新闻语料上训练。", CORPORA, "B", "A"),
    ],
)
def test_what_is_said_of_another_is_told(
    claim: str, sentences: tuple[str, ...], ours: str, theirs: str
) -> None:
    signs = find_another_subject(claim, sentences)
    assert [(sign.kind, sign.claim, sign.source) for sign in signs] == [("entity", ours, theirs)]


@pytest.mark.parametrize(
    ("claim", "sentences"),
    [
        ("Model A was trained on books.", MODELS),
        ("On GLUE, BERT obtains a score of 80.5.", SCORES),
        ("Sales of diesel cars fell by half in Norway.", CARS),
        ("In Sweden, sales of diesel cars were stable.", CARS),
        ("模型B的准确率为81%。", CORPORA),
        # Nothing names it: missing, which is told elsewhere.
        ("GPT obtains a score of 80.5 on GLUE.", SCORES),
        # Introduced by the other name.
        ("Pyridostatin reduces the growth of cells.",
         ("PDS reduces the growth of cells.", "We gave pyridostatin (PDS) to mice.")),
        # Who trained it is not what was trained.
        ("BERT was trained on books.",
         ("BERT was introduced in 2018.", "Google trained it on books.")),
    ],
)  # fmt: skip
def test_what_is_said_of_the_same_is_not(claim: str, sentences: tuple[str, ...]) -> None:
    assert list(find_another_subject(claim, sentences)) == []


def test_it_is_a_reservation() -> None:
    found = answer("Model B was trained on books.", [passage(*MODELS)])
    assert "The source says it of “A”, the claim of “B”." in [
        sign.text for sign in find_reservations(found)
    ]
