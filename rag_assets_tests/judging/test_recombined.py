"""A clause that is put together from two clauses of a source."""

import pytest

from rag_assets.judging.recombined import find_recombined

DOCTORS = (
    "In rural districts the number of doctors fell by a fifth, while in cities it was unchanged."
)
PROTEIN = "The protein is produced in the liver, stored in the spleen and burnt in the kidney."
TENANT = "The tenant shall pay the rent in advance, and the landlord shall keep the roof in repair."
MICE = "In mice fed fat, liver weight rose after a month; no effect was seen in mice fed oats."
SHARES = (
    "From 1990 to 2010 the share of wind rose from 4 % to 17 %, while coal fell from 57 to 43 %."
)
ROOMS = "In the ten buildings without modern insulation, rooms under sedum were cooler at night."


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("In cities the number of doctors fell by a fifth.", DOCTORS),
        ("In rural districts the number of doctors was unchanged.", DOCTORS),
        ("The protein is produced in the kidney.", PROTEIN),
        ("The protein is produced in the spleen and stored in the liver.", PROTEIN),
        ("The tenant shall keep the roof in repair.", TENANT),
        ("No effect was seen in mice fed fat after a month.", MICE),
        ("From 1990 to 2010 the share of coal rose from 4 % to 17 %.", SHARES),
        ("Jones argues that the treaty failed.",
         "Smith argues that the treaty failed, whereas Jones holds that it succeeded."),
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
        ("The protein is produced in the liver and burnt in the kidney.", PROTEIN),
        ("The landlord shall keep the roof in repair.", TENANT),
        ("No effect was seen in mice fed oats.", MICE),
        ("From 1990 to 2010 coal fell from 57 % to 43 %.", SHARES),
        ("The city opened two libraries.",
         "In 2019, the city, which had 40,000 inhabitants, opened two libraries."),
        ("The forest declined because of cattle ranching.",
         "The forest in the basin declined by 12%, mainly because of cattle ranching."),
        ("Rooms under sedum were cooler in buildings without modern insulation.", ROOMS),
        ("夜间覆盖率在50%以上的街道平均风速低28%。",
         "覆盖率在50%以上的两条街道，夜间平均风速比覆盖率在20%以下的两条街道低28%。"),
    ],
)  # fmt: skip
def test_what_a_clause_leaves_out_may_be_filled_up(claim: str, sentence: str) -> None:
    assert list(find_recombined(claim, sentence)) == []
