"""What stands in the place of another word, in a claim that is taken over."""

import pytest

from rag_assets.judging.substituted import find_placed_contraries, find_substitutes


def told(claim: str, sentence: str) -> list[tuple[str, str]]:
    return [(sign.claim, sign.source) for sign in find_substitutes(claim, sentence, sentence)]


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


@pytest.mark.parametrize(
    ("claim", "sentence", "contrary"),
    [
        ("Exports from China rose, as did imports from China.",
         "Exports to China rose, as did imports from China.", ("from", "to")),
        ("The drug promotes mortality.", "The drug reduces mortality.", ("promotes", "reduces")),
        ("Fasting strengthened the tissue.", "Fasting weakened the tissue.",
         ("strengthened", "weakened")),
        ("It binds to the inner membrane.", "It binds to the outer membrane.", ("inner", "outer")),
        ("Ions are carried out of the cell.", "Ions are carried into the cell.", ("out", "into")),
    ],
)  # fmt: skip
def test_a_contrary_at_its_place_is_told(
    claim: str, sentence: str, contrary: tuple[str, str]
) -> None:
    placed = [(sign.claim, sign.source) for sign in find_placed_contraries(claim, sentence)]
    assert placed == [contrary]


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("The drug lowers mortality.", "The drug reduces mortality."),
        ("The gate remained open.", "The gate was not closed."),
        ("A second wave came after the first.", "The first wave came, then the second."),
    ],
)
def test_what_says_the_same_at_its_place_is_not(claim: str, sentence: str) -> None:
    assert list(find_placed_contraries(claim, sentence)) == []


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
