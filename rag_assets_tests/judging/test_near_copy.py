"""A sentence that was taken over with one thing changed is never OK; taken over, it may be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.judging import PassageText
from rag_assets.judging.features import answer
from rag_assets.judging.pair_reading import BundledPairReader
from rag_assets.judging.signs import find_contradictions, find_reservations
from rag_assets.judging.support import load_support_scorer
from rag_assets.workspace.settings import SupportSettings
from rag_assets_tests.judging.sentences import passage

SOURCE = passage(
    "Sixteen greenhouses in Lindau were watched from March to October.",
    "Of 14 tomato plants in the shaded greenhouse two died and 12 survived the heat of July.",
    "Pumps were cleaned before the first frost and after the last frost of the year.",
    "The blight, which causes brown leaves, spread from the northern greenhouse in August.",
    "The gardeners did not water the seedlings on Sundays, but they watered them twice on Mondays.",
    "The leaves fell a few days after the gardeners had opened all of the windows.",
)
KEPT = [
    "Of 14 tomato plants in the shaded greenhouse 2 died and 12 survived the heat.",
    "Pumps were cleaned after the last frost and before the first frost of the year.",
    "In August the blight, which causes brown leaves, spread from the northern greenhouse.",
    "Sixteen greenhouses in Lindau were watched from March until October.",
    "The gardeners did not water the seedlings on Sundays.",
    "The gardeners watered the seedlings twice on Mondays.",
    "Gardens are often watered by hand in the north of the country.",
]
CHANGED = [
    ("Of 14 tomato plants in the shaded greenhouse two died and 12 kg survived the heat of July.",
     "number"),
    ("Of 14 tomato plants in the shaded greenhouse 12 died and 12 survived the heat of July.",
     "number"),
    ("Pumps were cleaned before the first frost and before the last frost of the year.",
     "direction"),
    ("The blight, which prevents brown leaves, spread from the northern greenhouse in August.",
     "direction"),
    ("The gardeners did not water the seedlings on Sundays, but they did not water them at all.",
     "negation"),
    ("The gardeners did water the seedlings on Sundays, but they watered them twice on Mondays.",
     "negation"),
    ("The leaves fell a few months after the gardeners had opened all of the windows.", "unit"),
    ("Sixteen greenhouses in Lindau were watched from August to October.", "entity"),
    ("Sixteen greenhouses in Bregenz were watched from March to October.", "entity"),
]  # fmt: skip


@pytest.mark.parametrize("claim", KEPT)
def test_what_was_only_reworded_is_not_reserved(claim: str) -> None:
    assert find_reservations(answer(claim, [SOURCE])) == []


@pytest.mark.parametrize(("claim", "kind"), CHANGED)
def test_what_was_changed_is_named_and_never_ok(claim: str, kind: str) -> None:
    found = find_reservations(answer(claim, [SOURCE]))
    assert kind in {sign.kind for sign in found}
    scorer = load_support_scorer(
        SupportSettings(threshold=0.31, weak_threshold=0.3), BundledPairReader()
    )
    (judgement,) = scorer.judge([(claim, [SOURCE])])
    assert judgement.status != "OK"


@given(st.sampled_from(SOURCE.sentences), st.data())
def test_a_sentence_never_changes_itself(span: tuple[int, int], data: st.DataObject) -> None:
    words = SOURCE.text[slice(*span)].rstrip(".").split()
    left_out = data.draw(st.sampled_from([i for i, word in enumerate(words) if word != "not"]))
    claim = " ".join(words[:left_out] + words[left_out + 1 :])
    assert find_reservations(answer(claim, [SOURCE])) == []


LAW = passage(
    "每月加班不得超过三十六小时。",
    "有下列情形之一的，用人单位可以解除劳动合同：",
    "个人信息处理者不得公开其处理的个人信息，取得个人单独同意的除外。",
    "制造业参保率为92.5%，建筑业为71.8%。",
)
STUDY = passage(
    "Resistance training may increase the number of antitumor myokines in blood.",
    "Salt intake is related to higher blood pressure in older adults.",
    "Men take at most 300 mg a day, unless a physician has told them otherwise.",
    "The share was 92.5 percent in industry, and 71.8 percent in construction.",
    "The walls were cooled, if possible, by water from the river.",
    "The vaccine reduced admissions in adults, but had no measurable effect in children.",
    "How often do reflective coatings raise the heat load on pedestrians?",
    "Table 2 shows that the majority of the participants preferred paper, which is related to age.",
)


@pytest.mark.parametrize(
    ("claim", "source", "kind", "theirs"),
    [
        ("用人单位可以解除劳动合同。", LAW, "words", "有下列情形之一的"),
        ("个人信息处理者不得公开其处理的个人信息。", LAW, "words", "除外"),
        ("制造业参保率为71.8%，建筑业为92.5%。", LAW, "number", "92.5%"),
        ("Resistance training increases the number of antitumor myokines in blood.", STUDY,
         "words", "may"),
        ("Salt intake causes higher blood pressure in older adults.", STUDY, "causal", "related"),
        ("Men take at most 300 mg a day.", STUDY, "words", "unless"),
        ("The share was 71.8 percent in industry, and 92.5 percent in construction.", STUDY,
         "number", "92.5 percent"),
        ("The vaccine reduced admissions in adults and in children.", STUDY, "negation", "no"),
        ("Reflective coatings often raise the heat load on pedestrians.", STUDY, "words",
         "How often do reflective coatings raise the heat load on pedestrians?"),
    ],
)  # fmt: skip
def test_what_a_sentence_loses_or_exchanges_is_named(
    claim: str, source: PassageText, kind: str, theirs: str
) -> None:
    found = find_reservations(answer(claim, [source]))
    assert (kind, theirs) in {(sign.kind, sign.source) for sign in found}


@pytest.mark.parametrize(
    "claim",
    [
        "The walls were cooled by water from the river.",
        "Resistance training may increase the number of antitumor myokines in blood.",
        "In industry the share was 92.5 percent, and in construction 71.8 percent.",
        # Neither a stronger word nor a cause.
        "The results in Table 2 show that most of the participants preferred paper.",
    ],
)
def test_what_is_kept_or_goes_without_saying_is_not_reserved(claim: str) -> None:
    assert find_reservations(answer(claim, [STUDY])) == []


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("最低工资标准不低于当地平均工资的40%。",
         "省、自治区的最低工资标准不得低于当地平均工资的百分之四十。"),
        ("用人单位不可以扣押劳动者的居民身份证。",
         "用人单位不得扣押劳动者的居民身份证和其他证件。"),
        ("每月加班不超过三十六小时。", "每月加班不得超过三十六小时。"),
        ("近六成骑手每周工作超过六天。", "有58.5%的骑手每周工作超过六天。"),
    ],
)  # fmt: skip
def test_a_bound_or_ban_in_other_words_is_no_contradiction(claim: str, source: str) -> None:
    found = answer(claim, [passage(source)])
    assert find_contradictions(found) == []
    assert find_reservations(found) == []


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("最低工资标准低于当地平均工资的40%。",
         "省、自治区的最低工资标准不得低于当地平均工资的百分之四十。"),
        ("用人单位可以扣押劳动者的居民身份证。",
         "用人单位不得扣押劳动者的居民身份证和其他证件。"),
        ("每月加班超过三十六小时。", "每月加班不得超过三十六小时。"),
        ("经营者可以超过批准的范围经营。", "经营者不得超过批准的范围经营。"),
    ],
)  # fmt: skip
def test_without_the_ban_it_is_one(claim: str, source: str) -> None:
    found = answer(claim, [passage(source)])
    assert find_contradictions(found) or find_reservations(found)


DENIED_BESIDE = passage(
    "The beetles were found in all of the orchards except those of Lindau and Bregenz.",
    "We saw no difference between old and young orchards, and no beetle lives in Bregenz.",
    "Nets prevent beetles in orchards that lie below the forest.",
)


@pytest.mark.parametrize(
    "claim",
    [
        "The beetles were not found in all of the orchards except those of Lindau and Bregenz.",
        "Nets do not prevent beetles in orchards that lie below the forest.",
    ],
)
def test_a_word_that_the_claim_has_too_and_another_sentence_answer_no_denial(claim: str) -> None:
    found = answer(claim, [DENIED_BESIDE])
    assert "negation" in {sign.kind for sign in find_reservations(found)}
    scorer = load_support_scorer(
        SupportSettings(threshold=None, weak_threshold=None), BundledPairReader()
    )
    (judgement,) = scorer.judge([(claim, [DENIED_BESIDE])])
    assert judgement.status != "OK"


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The law does not ban smoking in restaurants.", "The law bans smoking in restaurants."),
        ("Missing data were not replaced by means.", "Missing data were replaced by means."),
        ("The net did not stop the beetles in May.", "The net stopped the beetles in May."),
    ],
)
def test_what_is_denied_by_a_word_of_both_is_a_contradiction(claim: str, source: str) -> None:
    signs = find_contradictions(answer(claim, [passage(source)]))
    assert [sign.kind for sign in signs] == ["negation"]


def test_a_question_that_another_sentence_answers_is_no_reservation() -> None:
    asked = passage(
        "Do reflective coatings raise the heat load on pedestrians?",
        "Reflective coatings raise the heat load on pedestrians by a fifth.",
    )
    claim = "Reflective coatings raise the heat load on pedestrians."
    assert find_reservations(answer(claim, [asked])) == []


def test_what_only_one_clause_denies_may_be_taken_from_the_other() -> None:
    assert find_reservations(answer("The vaccine reduced admissions in adults.", [STUDY])) == []


def test_a_denial_reaches_to_the_end_of_its_clause() -> None:
    source = passage("The gene is expressed in the liver and the kidney but not in the heart.")
    assert find_reservations(answer("The gene is not expressed in the heart.", [source])) == []
    false = answer("The gene is expressed in the heart.", [source])
    assert "negation" in {sign.kind for sign in find_contradictions(false)}
