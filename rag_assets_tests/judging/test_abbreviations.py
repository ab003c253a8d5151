"""Abbreviations that a document defines, and claims with and without them."""

import pytest

from rag_assets.judging import find_abbreviations, reword, spell_out

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


CHINESE = """
《中华人民共和国民法典》（以下简称《民法典》）自2021年起施行。长江三角洲（以下简称“长三角”）的城市最多；
由粤港澳大湾区（下称：大湾区）领先。合同当事人（以下统称当事人）除外，卫生部门（见附录）也是。
"""
FOUND_IN_CHINESE = find_abbreviations([CHINESE])


def test_what_stands_for_what_in_chinese() -> None:
    assert {one.short: one.long for one in FOUND_IN_CHINESE} == {
        "民法典": "中华人民共和国民法典",
        "长三角": "长江三角洲",
    }  # Where 粤港澳大湾区 begins, nothing says.


@pytest.mark.parametrize(
    ("claim", "others"),
    [
        ("《民法典》规定了合同的效力。", ["《中华人民共和国民法典》规定了合同的效力。"]),
        ("中华人民共和国民法典规定了效力。", ["民法典规定了效力。"]),
        ("长江三角洲（以下简称“长三角”）的城市最多。", ["长三角的城市最多。"]),
        ("当事人可以约定。", []),
    ],
)
def test_a_chinese_claim_is_worded_both_ways(claim: str, others: list[str]) -> None:
    assert reword(claim, FOUND_IN_CHINESE) == others


def test_an_english_abbreviation_is_a_word_beside_chinese_ones() -> None:
    assert spell_out("采用CF模型", FOUND) == "采用catastrophic forgetting模型"
    assert spell_out("the SCF model", FOUND) == "the SCF model"
