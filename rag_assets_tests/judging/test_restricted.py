"""What a claim leaves out that narrows its source."""

import pytest

from rag_assets.judging.restricted import find_restrictions

CONSUMERS = "Consumers over 60 preferred paper, whereas no preference was found in other consumers."
FIRMS = "Firms with fewer than 50 employees paid lower wages."
PATIENTS = "Patients who received the drug reported less pain than the control group."
STATES = "With the exception of Hungary, all member states ratified the treaty before 2010."
BOYS = "Boys were ahead in mathematics in all years but 2009."
VACCINE = "The vaccine was 95 % effective in adults under 65 and 80 % effective in those above."
QUARTERS = "除第三季度外，公司各季度均实现盈利，其中第四季度利润最高。"
SUBLET = "承租人未经出租人同意转租的，出租人可以解除合同。"
CATALYST = "The reaction proceeds at room temperature only in the presence of a palladium catalyst."


@pytest.mark.parametrize(
    ("claim", "sentence", "shown"),
    [
        ("Consumers preferred paper.", CONSUMERS, "Consumers over 60"),
        ("Firms paid lower wages.", FIRMS, "Firms with fewer than 50 employees"),
        ("Patients reported less pain than the control group.", PATIENTS,
         "Patients who received the drug"),
        ("The reaction proceeds at room temperature.", CATALYST,
         "only in the presence of a palladium catalyst"),
        ("All member states ratified the treaty before 2010.", STATES,
         "With the exception of Hungary"),
        ("Hungary ratified the treaty before 2010 as all member states did.", STATES,
         "With the exception of Hungary"),
        ("Boys were ahead in mathematics in all years.", BOYS, "but 2009"),
        ("The vaccine was 95 % effective.", VACCINE, "in adults under 65"),
        ("公司各季度均实现盈利。", QUARTERS, "除第三季度外"),
        ("承租人转租的，出租人可以解除合同。", SUBLET, "承租人未经出租人同意转租的"),
        ("Men take at most 300 mg.", "Men take at most 300 mg, unless told otherwise.", "unless"),
    ],
)  # fmt: skip
def test_what_is_left_out_is_told(claim: str, sentence: str, shown: str) -> None:
    assert {sign.source for sign in find_restrictions(claim, sentence)} == {shown}


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Consumers over 60 preferred paper.", CONSUMERS),
        ("No preference was found in other consumers.", CONSUMERS),
        ("Small firms with up to 49 employees paid lower wages.", FIRMS),
        ("Patients receiving the drug reported less pain.", PATIENTS),
        ("The reaction proceeds at room temperature in the presence of a palladium catalyst.",
         CATALYST),
        # More of all of them, not which of them.
        ("Teachers were satisfied.", "Teachers, who are paid by the state, were satisfied."),
        ("Teachers were satisfied.", "Teachers who took part in the survey were satisfied."),
        ("The model won.", "The model that we propose was trained on books and won."),
        ("The virus is a new strain.", "The virus is a new strain that was found in 2019."),
        ("All member states except Hungary ratified the treaty before 2010.", STATES),
        ("Hungary did not ratify the treaty before 2010 as all member states did.", STATES),
        ("Boys were ahead in mathematics in all years but 2009.", BOYS),
        ("The vaccine was 95 % effective in adults under 65.", VACCINE),
        ("第四季度利润最高。", QUARTERS),
        ("除甲地外，乙地也增长。", "除甲地外，乙地也增长。"),
        ("乙地也增长。", "除甲地外，乙地也增长。"),
        ("Prices rose by 6 % and fell later.", "Prices rose by more than 5 % and fell later."),
    ],
)  # fmt: skip
def test_what_is_kept_or_narrows_nothing_is_not(claim: str, sentence: str) -> None:
    assert list(find_restrictions(claim, sentence)) == []
