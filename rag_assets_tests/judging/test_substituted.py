"""What stands in the place of another word, in a claim that is taken over."""

import pytest

from rag_assets.judging.substituted import find_placed_contraries, find_substitutes


def told(claim: str, sentence: str) -> list[tuple[str, str]]:
    return [(sign.claim, sign.source) for sign in find_substitutes(claim, sentence, sentence)]


@pytest.mark.parametrize(
    ("claim", "sentence", "exchanged"),
    [
        ("Group A deteriorated, whereas group B improved.",
         "Group A improved, whereas group B deteriorated.", ("deteriorated", "improved")),
        ("经营者有权要求消费者返还价款。",
         "消费者有权要求经营者返还价款，经营者应当在七日内返还。", ("经营", "消费")),
        ("乙方应当向甲方交付货物。", "甲方应当向乙方交付货物。", ("乙", "甲")),
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
        ("长度与宽度相关。", "宽度与长度相关。"),
        ("Complication rates fell, furthermore.", "Furthermore, complication rates fell."),
        ("After rain the roofs were cool.", "The roofs were cool after rain."),
    ],
)
def test_what_is_the_same_either_way_is_not(claim: str, sentence: str) -> None:
    assert told(claim, sentence) == []


@pytest.mark.parametrize(
    ("claim", "sentence", "contrary"),
    [
        ("The treatment was well tolerated.", "The treatment was poorly tolerated.",
         ("well", "poorly")),
        ("The effect persisted for a year.", "The effect disappeared for a year.",
         ("persisted", "disappeared")),
        ("Nearly all of the users left.", "Nearly half of the users left.", ("all", "half")),
        ("The process is irreversible.", "The process is reversible.",
         ("irreversible", "reversible")),
        ("双方可以订立书面协议。", "双方可以订立口头协议。", ("书面", "口头")),
        ("双方订立无固定期限合同。", "双方订立固定期限合同。", ("无固定期限", "固定期限")),
    ],
)  # fmt: skip
def test_a_contrary_is_told(claim: str, sentence: str, contrary: tuple[str, str]) -> None:
    assert contrary in told(claim, sentence)
    assert (contrary[1], contrary[0]) in told(sentence, claim)


def test_both_contraries_may_be_said() -> None:
    sentence = "Few roofs were white and many roofs were green."
    assert told("Many roofs were green.", sentence) == []


def test_in_a_rougher_copy_the_contrary_stands_at_its_place() -> None:
    placed = list(find_placed_contraries("The lake is downstream.", "The lake is upstream."))
    assert [(sign.claim, sign.source) for sign in placed] == [("downstream", "upstream")]
    elsewhere = "Books differ, and most of them were lost."
    assert list(find_placed_contraries("Some books differ.", elsewhere)) == []


LAW = "劳动者解除劳动合同的，用人单位应当出具证明，劳动者应当办理工作交接。"


def test_a_duty_of_somebody_else_is_told() -> None:
    assert ("用人单位", "劳动者") in told("用人单位应当办理工作交接。", LAW)
    assert told("劳动者应当办理工作交接。", LAW) == []


def test_another_word_for_the_same_one_is_no_somebody_else() -> None:
    assert told("员工应当办理工作交接。", LAW) == []
