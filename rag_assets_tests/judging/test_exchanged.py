"""Two pieces of a sentence that stand in each other's place in what was taken over."""

import pytest

from rag_assets.judging.exchanged import find_exchanged


def told(claim: str, sentence: str) -> list[tuple[str, str]]:
    return [(sign.claim, sign.source) for sign in find_exchanged(claim, sentence)]


@pytest.mark.parametrize(
    ("claim", "sentence", "exchanged"),
    [
        ("Group A deteriorated, whereas group B improved.",
         "Group A improved, whereas group B deteriorated.", ("deteriorated", "improved")),
        ("经营者有权要求消费者返还价款。",
         "消费者有权要求经营者返还价款，经营者应当在七日内返还。", ("经营者", "消费者")),
        ("乙方应当向甲方交付货物。", "甲方应当向乙方交付货物。", ("乙方", "甲方")),
        ("The model was trained on photographs of roads and tested on images.",
         "The model was trained on images and tested on photographs of roads.",
         ("photographs of roads", "images")),
        ("与新方法相比，传统方法的精度更高。", "与传统方法相比，新方法的精度更高。",
         ("新方法", "传统方法")),
        ("Compared with men, women reported less pain.",
         "Compared with women, men reported less pain.", ("men", "women")),
        ("Poor sleep often leads to frequent headaches.",
         "Frequent headaches often lead to poor sleep.", ("poor sleep", "frequent headaches")),
        ("货物由北京经铁路运往黑龙江。", "货物由黑龙江经铁路运往北京。", ("北京", "黑龙江")),
    ],
)  # fmt: skip
def test_two_pieces_that_changed_places_are_told(
    claim: str, sentence: str, exchanged: tuple[str, str]
) -> None:
    assert exchanged in told(claim, sentence)


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Rice and wheat were grown on the plots.", "Wheat and rice were grown on the plots."),
        ("Rice was compared with wheat.", "Wheat was compared with rice."),
        ("甲方和乙方共同承担责任。", "乙方和甲方共同承担责任。"),
        (
            "Red maple, silver birch and oak were planted.",
            "Silver birch, red maple and oak were planted.",
        ),
        ("长度与宽度相关。", "宽度与长度相关。"),
        (
            "In the model, prices fall if rates rise.",
            "If rates rise, prices fall in the model.",
        ),
        ("Complication rates fell, furthermore.", "Furthermore, complication rates fell."),
        ("After rain the roofs were cool.", "The roofs were cool after rain."),
        ("The largest city of the region is Lyon.", "Lyon is the largest city of the region."),
        ("In March the panel recorded a rise.", "The panel recorded a rise in March."),
        ("Green roofs, in July, stayed cool.", "In July, green roofs stayed cool."),
    ],
)
def test_what_is_the_same_either_way_is_not(claim: str, sentence: str) -> None:
    assert told(claim, sentence) == []
