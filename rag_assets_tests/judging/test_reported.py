"""What a source tells as somebody's belief is no fact of a claim."""

import pytest

from rag_assets.judging.contract import Judgement, PassageText
from rag_assets.judging.reported import find_reported
from rag_assets_tests.judging.sentences import passage


def judged(source: PassageText) -> Judgement:
    """Return a judgement that points to the first sentence."""
    return Judgement(0.9, "OK", "supported", "", 0, source.sentences[0])


@pytest.mark.parametrize(
    ("claim", "source", "told"),
    [
        ("Cold weather causes colds.", "It is often claimed that cold weather causes colds.",
         "It is often claimed that"),
        ("Grammar schools increase inequality.",
         ("Garcia (2011) argued that grammar schools increase inequality. Our data show no such "
         "effect."), "argued that"),
        ("Studies show that minimum wages destroy jobs.",
         ("Some economists maintain that minimum wages destroy jobs, a view that recent studies do "
         "not support."), "maintain that"),
        ("The older children were faster.",
         "We expected the older children to be faster. In fact, they were slower by 40 ms.",
         "We expected"),
        ("The filter removes 99 % of bacteria.",
         "According to the manufacturer, the filter removes 99 % of bacteria.",
         "According to the manufacturer"),
        ("互联网扩大了贫富差距。", "有学者认为互联网扩大了贫富差距，但实证研究并未支持这一观点。",
         "认为"),
        ("喝咖啡会脱水。", "人们常常认为喝咖啡会脱水。", "人们常常认为"),
    ],
)  # fmt: skip
def test_belief_is_no_fact(claim: str, source: str, told: str) -> None:
    text = passage(source)
    sign = find_reported(claim, [text], judged(text))
    assert sign is not None
    assert sign.source == told


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("It is often claimed that cold weather causes colds.",
         "It is often claimed that cold weather causes colds."),
        ("Garcia (2011) argued that grammar schools increase inequality.",
         ("Garcia (2011) argued that grammar schools increase inequality. Our data show no such "
         "effect.")),
        ("Grammar schools increase inequality.",
         "Garcia (2011) argued that grammar schools increase inequality. They are rare."),
        ("Grammar schools increase inequality.", "Grammar schools increase inequality."),
        ("人们认为喝咖啡会脱水。", "人们常常认为喝咖啡会脱水。"),
    ],
)  # fmt: skip
def test_who_says_that_it_is_a_belief_reports_it_too(claim: str, source: str) -> None:
    text = passage(source)
    assert find_reported(claim, [text], judged(text)) is None
