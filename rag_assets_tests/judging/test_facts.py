"""What a program checks of a statement by itself, and what it leaves to a reader."""

import pytest

from rag_assets.judging import Judgement, load_scorer
from rag_assets.judging.facts import RULES, FactRule
from rag_assets.workspace import shipped_settings
from rag_assets_tests.judging.sentences import passage


def judge(statement: str, *sentences: str) -> Judgement:
    verify = shipped_settings(None).verify.model_copy(update={"scorer": "facts"})
    (judgement,) = load_scorer(verify).judge([(statement, [passage(*sentences)])])
    return judgement


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_each_rule_fires_on_its_example_and_is_silent_on_the_other(rule: FactRule) -> None:
    statement, source = rule.fires
    assert rule.check(statement, [source])
    statement, source = rule.silent
    assert not rule.check(statement, [source])


def test_rules_have_names_of_their_own() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)


@pytest.mark.parametrize(
    ("statement", "source"),
    [
        ("The share rose by 15 percentage points.", "The share rose from 30 % to 45 %."),
        ("Nearly 45 % agreed.", "Of those asked, 44.8 % agreed."),
        ("The dose was 5 mg.", "The dose was 0.005 g."),
        ("Each cluster has 63 servers.", "There are 388 clusters with 24,500 servers."),
        ("三分之二的人同意。", "15人中有10人同意，占66.7%。"),
    ],
)
def test_what_can_be_worked_out_of_the_passages_differs_from_nothing(
    statement: str, source: str
) -> None:
    assert judge(statement, source).reason_code == "unread"


def test_another_number_of_the_same_unit_is_told_and_not_supported() -> None:
    judgement = judge("Yields fell by 45 kg.", "In the dry year yields fell by 54 kg.")
    assert (judgement.status, judgement.reason_code) == ("WEAK", "facts_differ")
    assert "45 kg" in judgement.reason
    assert "54 kg" in judgement.reason


def test_a_number_that_is_merely_not_there_says_nothing() -> None:
    assert judge("Yields fell by 45 kg.", "In the dry year yields fell.").reason_code == "unread"


def test_only_a_whole_sentence_word_for_word_is_ok() -> None:
    source = "Reflective coatings kept the asphalt cool, at least in the first summer."
    assert judge("Reflective coatings kept the asphalt cool at least in the first summer.",
                 source).status == "OK"  # fmt: skip
    assert judge("Reflective coatings kept the asphalt cool.", source).reason_code == "unread"
    assert judge("Cool.", "Cool.").reason_code == "unread"
