"""A statement counts as repeated when every word of it stands there, and nothing takes it back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.judging.pair_reading import BundledPairReader
from rag_assets.judging.repeating import find_repetition, is_abridged
from rag_assets.judging.support import ABRIDGED, REPEATED, load_support_scorer
from rag_assets.workspace.settings import SupportSettings
from rag_assets_tests.judging.sentences import passage

SOURCE = passage(
    "The trial ran for two summers.",
    "However, roofs planted with sedum (Sedum album) lowered the load by 12.5 % (Table 2).",
    "It is unlikely that bare roofs lowered the load in winter.",
    "Rain ran off within an hour, unless the soil was dry.",
    "Moreau et al. (2019) found that gravel kept the rain for two days.",
    "The loss was −3 dB at the inner wall; the pump, which had failed, was replaced.",
    "种植景天的屋顶使办公楼的制冷负荷降低了12%（见表2）；裸露屋顶没有变化。",
    "In Norway, sales of old cars fell.",
    "In Sweden, they were stable.",
)
REPEATED_STATEMENTS = [
    ("Roofs planted with sedum (Sedum album) lowered the load by 12.5 %.", 1),
    ("Roofs planted with sedum lowered the load by 12.5%.", 1),
    ("Gravel kept the rain for two days.", 4),
    ("The loss was −3 dB at the inner wall.", 5),
    ("种植景天的屋顶使办公楼的制冷负荷降低了12%。", 6),
    ("屋顶没有变化。", None),  # too short to say much
]
NOT_REPEATED = [
    "Roofs planted with sedum lowered the load by 12.5.",
    "Roofs planted with sedum lowered the load by 125 %.",
    "Roofs planted with sedum raised the load by 12.5 %.",
    "Bare roofs lowered the load in winter.",
    "Rain ran off within an hour.",
    "The loss was 3 dB at the inner wall.",
    "Roofs planted with sedum lowered the load.",
    "Did roofs planted with sedum lower the load by 12.5 %?",
    "The trial ran.",
    # Over the end of a sentence, and of what is as good as one.
    "Sales of old cars fell in Sweden.",
    "The loss was −3 dB at the inner wall, the pump.",
    "种植景天的屋顶使办公楼的制冷负荷提高了12%。",
]
WORDS = ["roof", "soil", "rain", "lowered", "12", "%", "never", "pump", "before", "after"]


@pytest.mark.parametrize(("statement", "sentence"), REPEATED_STATEMENTS)
def test_what_stands_there_is_found(statement: str, sentence: int | None) -> None:
    found = find_repetition(statement, [passage("Nothing of the kind."), SOURCE])
    if sentence is None:
        assert found is None
    else:
        assert found is not None
        assert (found.passage, found.span) == (1, SOURCE.sentences[sentence])


@pytest.mark.parametrize("statement", NOT_REPEATED)
def test_what_differs_or_is_taken_back_is_not(statement: str) -> None:
    assert find_repetition(statement, [SOURCE]) is None


@given(
    st.lists(st.sampled_from(WORDS), min_size=8, max_size=14),
    st.integers(0, 7),
    st.sampled_from([*WORDS, ""]),
)
def test_one_changed_word_is_no_repetition(words: list[str], at: int, other: str) -> None:
    source = " ".join(words) + "."
    changed = [*words[:at], *([other] if other else []), *words[at + 1 :]]
    found = find_repetition(" ".join(changed) + ".", [passage(source)])
    if changed != words:
        assert found is None
    elif sum(word.isalpha() for word in words) >= 5:
        assert found is not None


def test_a_repeated_sentence_is_ok_with_the_sentence_shown() -> None:
    scorer = load_support_scorer(
        SupportSettings(threshold=None, weak_threshold=None), BundledPairReader()
    )
    claim = "Moreau et al. (2019) report that roofs planted with sedum lowered the load by 12.5 %."
    (judgement,) = scorer.judge([(claim, [SOURCE])])
    assert (judgement.status, judgement.score) == ("OK", REPEATED)
    assert judgement.span == SOURCE.sentences[1]
    assert judgement.speaks_for[0].text == "It stands there word for word."
    assert judgement.speaks_against == ()


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("Roofs planted with sedum lowered the load by 12.5 %.",
         "In July, roofs thinly planted with yellow sedum lowered the daily load by 12.5 %."),
        ("受访行人中78%表示会为了树荫而选择街道的某一侧。",
         "在受访的305名行人中，78%表示会为了树荫而选择街道的某一侧，31%表示会为了树荫绕行。"),
        ("Gravel kept the rain for two days.",
         "Moreau found that coarse gravel kept rain for two days."),
        ("覆盖率最高的街道与最低的街道相比，午后气温低1.8 °C，路面温度低14.6 °C。",
         "结果表明：覆盖率最高的街道比最低的街道午后气温低1.8 °C，路面温度低14.6 °C，共六条。"),
    ],
)  # fmt: skip
def test_what_stands_there_with_words_between_is_abridged(statement: str, sentence: str) -> None:
    assert is_abridged(statement, sentence)


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("Roofs planted with sedum lowered the load.",
         "Roofs planted with sedum never lowered the load."),
        ("Roofs planted with sedum lowered the load.",
         "Roofs planted with sedum may have lowered the load."),
        ("Roofs planted with sedum lowered the load.",
         "It is unlikely that roofs planted with sedum lowered the load."),
        ("Roofs planted with sedum lowered the load.",
         "Roofs planted with sedum lowered the load only if they were watered."),
        ("Roofs planted with sedum lowered the load by 12 %.",
         "Roofs planted with sedum lowered the load by 12.5 %."),
        ("Sedum lowered the load of roofs.", "The load of roofs was lowered by sedum."),
        ("Roofs kept rain and gravel kept heat.",
         "Roofs kept in June most of what fell as rain, and soil in yards or gravel kept heat."),
        ("主人公是个连房租都付起的老板。", "主人公是个连房租都付不起的老板。"),
        ("用人单位可以解除劳动合同并结清工资。",
         "用人单位经协商一致的，除本法另有规定外可以解除劳动合同并结清工资。"),
        ("Did roofs planted with sedum lower the load?",
         "Did roofs planted with yellow sedum lower the load?"),
        ("The trial ran.", "The long trial ran."),
        ("In the south the price of wheat fell by half.",
         "In the south the price of wheat rose sharply; in the north it fell by half."),
    ],
)  # fmt: skip
def test_what_is_denied_limited_or_far_apart_is_not_abridged(statement: str, sentence: str) -> None:
    assert not is_abridged(statement, sentence)


def test_an_abridged_statement_is_ok_and_says_so() -> None:
    scorer = load_support_scorer(
        SupportSettings(threshold=None, weak_threshold=None), BundledPairReader()
    )
    source = passage("In July, roofs thinly planted with yellow sedum lowered the load by 12.5 %.")
    (judged,) = scorer.judge([("Roofs planted with sedum lowered the load by 12.5 %.", [source])])
    assert (judged.status, judged.score >= ABRIDGED) == ("OK", True)
    assert "left out" in judged.speaks_for[0].text
