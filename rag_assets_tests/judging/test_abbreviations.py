"""Abbreviations that a document defines, and claims with and without them."""

import pytest

from rag_assets.judging import find_abbreviations, reword

SOURCE = """
We study catastrophic forgetting (CF) in deep neural networks (DNNs), as Smith (USA) did.
Quality of life (QoL) and body mass index (BMI; kg/m2) were rated. Values are means and standard
deviations (SD). Of essential oils (EO) two were taken. Later, catalytic fields (CF) are meant. In
long-term care (i.e., LTC), and with 20 mL (ML) more.
"""
FOUND = find_abbreviations([SOURCE])


def test_what_stands_for_what() -> None:
    assert {one.short: one.long for one in FOUND} == {
        "CF": "catastrophic forgetting",
        "DNN": "deep neural networks",
        "QoL": "Quality of life",
        "BMI": "body mass index",
        "SD": "standard deviations",
        "EO": "essential oils",
        "LTC": "long-term care",
    }


@pytest.mark.parametrize(
    ("claim", "others"),
    [
        ("Catastrophic forgetting occurs in deep neural networks.", ["CF occurs in DNNs."]),
        ("Catastrophic forgetting (CF) was seen.", ["CF was seen."]),
        ("CF occurs in a DNN.", ["catastrophic forgetting occurs in a deep neural networks."]),
        ("CF occurs in a deep neural network.",
         ["CF occurs in a DNN.", "catastrophic forgetting occurs in a deep neural network."]),
        ("The standard deviations of two essential oils.", ["The SD of two EO."]),
        ("Long term care is rare.", ["LTC is rare."]),
        ("Nothing of the kind.", []),
        ("CFs and cf. are others.", ["catastrophic forgetting and cf. are others."]),
    ],
)  # fmt: skip
def test_a_claim_is_worded_both_ways(claim: str, others: list[str]) -> None:
    assert reword(claim, FOUND) == others


def test_without_abbreviations_a_claim_has_one_wording() -> None:
    assert reword("Catastrophic forgetting (CF) was seen.", ()) == []
