"""A clause that is put together from two clauses of a source."""

import pytest

from rag_assets.judging.recombined import find_recombined

DOCTORS = (
    "In rural districts the number of doctors fell by a fifth, while in cities it was unchanged."
)
PROTEIN = (
    "The protein is produced in the liver, stored in the spleen and broken down in the kidney."
)
TENANT = "The tenant shall pay the rent in advance, and the landlord shall keep the roof in repair."
FAMILY = "父母对未成年子女负有抚养的义务，成年子女对父母负有赡养的义务。"


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("In cities the number of doctors fell by a fifth.", DOCTORS),
        ("In rural districts the number of doctors was unchanged.", DOCTORS),
        ("The protein is produced in the kidney.", PROTEIN),
        ("The protein is produced in the spleen and stored in the liver.", PROTEIN),
        ("The tenant shall keep the roof in repair.", TENANT),
        ("Jones argues that the treaty failed.",
         "Smith argues that the treaty failed, whereas Jones holds that it succeeded."),
        ("父母对未成年子女负有赡养的义务。", FAMILY),
        ("成年子女对父母负有抚养的义务。", FAMILY),
    ],
)  # fmt: skip
def test_the_subject_of_one_clause_has_not_the_predicate_of_another(
    claim: str, sentence: str
) -> None:
    assert [sign.kind for sign in find_recombined(claim, sentence)][:1] == ["words"]


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("In cities the number of doctors was unchanged.", DOCTORS),
        ("In rural districts the number of doctors fell.", DOCTORS),
        ("The protein is stored in the spleen.", PROTEIN),
        ("The protein is produced in the liver and broken down in the kidney.", PROTEIN),
        ("The landlord shall keep the roof in repair.", TENANT),
        ("The city opened two libraries.",
         "In 2019, the city, which had 40,000 inhabitants, opened two libraries."),
        ("The forest declined because of cattle ranching.",
         "The forest in the basin declined by 12%, mainly because of cattle ranching."),
        ("成年子女对父母负有赡养的义务。", FAMILY),
        ("对312名学生的调查显示，睡眠与成绩相关。",
         "研究对上海市312名学生进行了调查，结果显示睡眠与成绩相关。"),
    ],
)  # fmt: skip
def test_what_a_clause_leaves_out_may_be_filled_up(claim: str, sentence: str) -> None:
    assert list(find_recombined(claim, sentence)) == []
