"""Who does what to whom: sides that change places are seen, other turns of phrase are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.judging import Scorer
from rag_assets.judging.comparing import compare
from rag_assets.judging.features import answer
from rag_assets.judging.pair_reading import BundledPairReader
from rag_assets.judging.roles import find_exchange
from rag_assets.judging.signs import find_doubts, find_reservations
from rag_assets.judging.support import load_support_scorer
from rag_assets.workspace.settings import SupportSettings
from rag_assets_tests.judging.sentences import passage

PUMPS = "In our trials the rotary pump outperformed the piston pump on long routes."
VALUES = "They considered price more important than quality, and quality more important than brand."
EXCHANGED = [
    ("They considered brand more important than quality.", VALUES),
    ("药物种类多的主要原因是依从性较低。", "依从性较低，主要原因是药物种类多。"),
    ("西部的普及率高于东部。", "东部的普及率为78%，高于西部的61%。"),
    ("睡眠不足导致头痛。", "头痛导致睡眠不足。"),
    ("The piston pump outperformed the rotary pump on long routes.", PUMPS),
    ("Planted roofs were warmer than bare roofs at night.",
     "At night bare roofs were warmer than planted roofs."),
    ("The heron chased the otter across the weir.", "The heron was chased by the otter."),
    ("The heron was chased by the otter.", "The heron chased the otter across the weir."),
    ("The city sold the bonds to the bank in March.",
     "The bank sold the bonds to the city in March."),
    ("Lung disease causes smoking.", "Smoking causes lung disease."),
    ("Men were more often promoted than women.", "Women were more often promoted than men."),
    ("The piston pump was louder than the rotary pump.",
     "The rotary pump was louder in comparison to the piston pump."),
    ("对照组的成绩显著高于实验组。", "实验组的成绩显著高于对照组。"),
    ("对照组的得分比实验组高。", "实验组的得分比对照组高3分。"),
    ("旧方法优于新方法。", "总体而言，新方法优于旧方法。"),
]  # fmt: skip
KEPT = [
    ("They considered quality more important than brand.", VALUES),
    ("They considered price more important than quality.", VALUES),
    ("The rotary pump outperformed the piston pump.", PUMPS),
    ("Otters chased the heron.", "The heron was chased by otters."),
    ("In March the bank sold the bonds to the city.",
     "The bank sold the bonds to the city in March."),
    ("Sedum was planted on the roofs.", "The roofs planted with sedum lowered the demand."),
    ("Smoking increases cancer risk.", "The cancer risk increase caused by smoking is large."),
    ("Rents matched wages.", "Wages matched rents."),
    ("Shrubs outlived grasses.", "Trees outlived shrubs, and shrubs outlived grasses."),
    ("The heron chased the otter.", "Herons live near the weir."),
    ("实验组的成绩显著高于对照组。", "实验组的成绩显著高于对照组。"),
    ("对照组的得分比例较高。", "得分比例较高的是对照组。"),
    ("人数超过50%。", "超过50%的人数增加。"),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "source"), EXCHANGED)
def test_exchanged_sides_are_seen(claim: str, source: str) -> None:
    found = find_exchange(claim, [source])
    assert found is not None
    assert found.pivot in claim
    assert found.left in claim
    assert found.right in claim


@pytest.mark.parametrize(("claim", "source"), KEPT)
def test_what_is_not_turned_round_is_none(claim: str, source: str) -> None:
    assert find_exchange(claim, [source]) is None


def test_a_sentence_that_has_it_as_the_claim_does_outweighs_another() -> None:
    claim = "Bare roofs were warmer than planted roofs."
    other = "Planted roofs were warmer than bare roofs before noon."
    assert find_exchange(claim, [other]) is not None
    assert find_exchange(claim, [other, "Later bare roofs were warmer than planted roofs."]) is None


@given(st.text(max_size=80))
def test_a_text_never_exchanges_sides_with_itself(text: str) -> None:
    assert find_exchange(text, [text]) is None


@pytest.fixture(scope="module")
def scorer() -> Scorer:
    settings = SupportSettings(threshold=None, weak_threshold=None)
    return load_support_scorer(settings, BundledPairReader())


def test_an_exchange_is_never_ok_and_says_so(scorer: Scorer) -> None:
    claims = [(claim, [passage(source)]) for claim, source in EXCHANGED]
    for judgement in scorer.judge(claims):
        assert judgement.status != "OK"
        assert any("the other way round" in sign.text for sign in judgement.speaks_against)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Men were more likely to be promoted than women.",
         "Women were less likely than men to be promoted."),
        ("Surgery is more expensive than the treatment.",
         "The treatment is cheaper than surgery."),
        ("对照组的成绩显著低于实验组。", "实验组的成绩显著高于对照组。"),
        ("Group B scored lower than group A on the test.",
         "Group A scored higher than group B on the test."),
    ],
)  # fmt: skip
def test_what_is_turned_twice_is_not_turned(claim: str, source: str) -> None:
    compared = compare(claim, [source])
    assert compared.is_turned
    assert compared.exchange is None
    assert all(fact.agreement >= 0 for fact in compared.directions)
    found = answer(claim, [passage(source)])
    assert find_doubts(found) == find_reservations(found) == []


def test_less_on_the_one_side_is_more_on_the_other(scorer: Scorer) -> None:
    source = "Random forests were more accurate than neural networks on small samples."
    turned = "Neural networks were less accurate than random forests on small samples."
    false = "Neural networks were more accurate than random forests on small samples."
    twice, once = scorer.judge([(turned, [passage(source)]), (false, [passage(source)])])
    assert twice.reason_code != "contradicted"
    assert not any("the other way round" in sign.text for sign in twice.speaks_against)
    assert twice.score > once.score
