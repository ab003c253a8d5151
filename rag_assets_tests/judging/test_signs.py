"""What speaks for and against a claim, as a reader would find it."""

import pytest

from rag_assets.judging import PassageText
from rag_assets.judging.features import answer
from rag_assets.judging.names import read_names
from rag_assets.judging.signs import (
    find_contradictions,
    find_doubts,
    find_reservations,
    signs_against,
    signs_for,
)
from rag_assets.judging.terms import is_chinese
from rag_assets_tests.judging.sentences import passage

SOURCE = passage(
    "The study was made in Lisbon in 2019.",
    "Exposure to cold increased the yield of the catalyst by 45 mg per sample.",
    "The reaction was not inhibited by water, and was only associated with temperature.",
)


def _against(claim: str, source: PassageText = SOURCE) -> set[str]:
    return {sign.kind for sign in signs_against(answer(claim, [source]))}


def test_a_true_claim_has_nothing_against_it() -> None:
    found = answer("Cold exposure increased the yield of the catalyst by 45 mg.", [SOURCE])
    assert find_contradictions(found) == []
    assert find_doubts(found) == []
    assert {"words", "number", "direction"} <= {sign.kind for sign in signs_for(found)}


@pytest.mark.parametrize(
    ("claim", "kind", "ours", "theirs"),
    [
        ("Exposure to cold increased the yield of the catalyst by 54 mg.", "number", "54 mg",
         "45 mg"),
        ("Exposure to cold increased the yield of the catalyst by 45 g.", "unit", "45 g", "45 mg"),
        ("Exposure to cold decreased the yield of the catalyst by 45 mg.", "direction",
         "decreased", "increased"),
        ("The reaction was inhibited by water.", "negation", "", "not"),
    ],
)  # fmt: skip
def test_a_contradiction_names_both_words(claim: str, kind: str, ours: str, theirs: str) -> None:
    (sign, *_) = find_contradictions(answer(claim, [SOURCE]))
    assert (sign.kind, sign.claim, sign.source) == (kind, ours, theirs)
    assert theirs in sign.text


def test_an_added_negation_is_doubted() -> None:
    claim = "Exposure to cold did not increase the yield of the catalyst."
    assert "negation" in _against(claim, passage("Exposure to cold raised the catalyst's yield."))


def test_a_name_that_the_source_does_not_have_is_said() -> None:
    (sign,) = [
        s for s in signs_against(answer("The study was made in Madrid in 2019.", [SOURCE]))
        if s.kind == "entity"
    ]  # fmt: skip
    assert sign.claim == "Madrid"


def test_an_acronym_answers_its_words() -> None:
    source = passage("The World Health Organization (WHO) approved the vaccine.")
    assert "entity" not in _against("The vaccine was approved by the WHO.", source)


def test_a_cause_where_the_source_has_an_association_is_said() -> None:
    source = passage("Coffee consumption was associated with longer life in the cohort.")
    assert "causal" in _against("Coffee consumption caused longer life in the cohort.", source)


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ("该地区的产量下降了4.2%。", "direction"),
        ("该地区的产量上升了2.4%。", "number"),
        ("该地区的产量没有上升。", "negation"),
    ],
)
def test_chinese_contradictions_are_found(claim: str, kind: str) -> None:
    source = passage("数据显示，该地区的产量上升了4.2%。")
    assert kind in _against(claim, source)


def test_a_chinese_place_that_is_missing_is_said() -> None:
    source = passage("会议在北京举行，来自各国的专家参加。")
    assert "entity" in _against("会议在上海举行，来自各国的专家参加。", source)


def test_what_only_looks_like_a_negation_is_none() -> None:
    source = passage("该方法不仅提高了产量，而且降低了成本。")
    assert "negation" not in _against("该方法提高了产量。", source)


def test_numbers_agree_across_languages() -> None:
    found = answer("2019年产量上升了45%。", [passage("In 2019 yields increased by 45 percent.")])
    assert not [sign for sign in find_doubts(found) if sign.kind in {"number", "unit"}]


def test_a_chinese_sentence_with_latin_names_is_chinese() -> None:
    assert is_chinese("Bigtable使用Chubby分布式锁服务。")
    assert not is_chinese("Deng Xiaoping (邓小平) visited the plant in 1992.")


def test_a_degree_is_no_name() -> None:
    assert [name.text for name in read_names("It was 41 °C (106 ° F) in São Paulo.")] == [
        "São",
        "Paulo",
    ]


def test_what_the_best_sentence_says_one_way_another_one_does_not_take_back() -> None:
    claim = "Top rooms under planted roofs were cooler in buildings without insulation."
    source = passage(
        "In buildings without insulation, top rooms under sedum were 1.2 °C cooler than others.",
        "Residents under planted roofs rated their sleep in hot weeks as good.",
    )
    assert not [sign for sign in find_doubts(answer(claim, [source])) if sign.kind == "direction"]
    turned = claim.replace("cooler", "warmer")
    assert [sign.claim for sign in find_doubts(answer(turned, [source]))] == ["warmer"]


def test_a_bound_that_holds_is_no_direction() -> None:
    source = passage("The film got 20 % of 74 reviews, more than its first part.")
    held = answer("The film got less than 21 % of fewer than 75 reviews.", [source])
    assert find_doubts(held) == []
    sold = passage("The film was shown in more than 200 towns.")
    turned = answer("The film was shown in less than 200 towns.", [sold])
    assert [sign.kind for sign in find_doubts(turned)] == ["number", "direction"]


def test_a_denial_without_a_not_answers_a_negation() -> None:
    claim = "The owners did not allow gardens."
    assert find_doubts(answer(claim, [passage("The owners refused to allow gardens.")])) == []
    assert find_doubts(answer(claim, [passage("The owners allow gardens.")])) != []


def test_not_only_denies_nothing() -> None:
    claim = "Gardens not only cool the roof but keep the water."
    assert find_doubts(answer(claim, [passage("Gardens cool the roof and keep the water.")])) == []


def test_missing_chinese_words_are_words() -> None:
    claim = "夜间街道平均风速低，气温偏高。"
    source = passage("在两条街道，夜间平均风速比其他街道低，气温偏高。")
    assert not [s for s in signs_against(answer(claim, [source])) if s.kind == "words"]
    (sign,) = [
        s for s in signs_against(answer("夜间街道湿度偏高。", [source])) if s.kind == "words"
    ]
    assert sign.claim == "湿度"


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Without dropout, the network overfits.",
         "When dropout is removed, the network overfits."),
        ("Removing dropout makes the network overfit.", "Without dropout, the network overfits."),
        ("A second wave peaked in May, after the first.",
         "The first wave peaked in March, the second in May."),
        ("The cost rose to US$1.2 billion.", "Costs rose to 1,200 million dollars."),
        ("It was heated to 80 degrees Celsius.", "It was heated to 80 °C."),
        ("World War II ended in 1945.", "The Second World War ended in 1945."),
        ("At least 20 participants were excluded.", "We excluded 23 participants."),
        ("Fifty women had oesophageal tumours.", "50 women had an esophageal tumor."),
        ("The bridge was closed in 2015 and opened again later.",
         "The bridge was closed in 2015 and reopened later."),
        ("The belt starts at 4 km/h.", "The belt starts at 4km/hour."),
        ("The sample was kept at −20 °C.", "Samples were kept at −20 ◦C."),
        ("With backup tasks disabled it took longer.", "Without backup tasks it took longer."),
        ("It takes 16--64 MB.", "It takes 16 to 64 megabytes."),
        ("该物质应当加热到80摄氏度。", "该物质必须加热至80℃。"),
        ("只有十二名学生通过。", "仅有12名学生通过。"),
    ],
)  # fmt: skip
def test_what_is_said_in_other_words_is_neither_doubted_nor_reserved(
    claim: str, source: str
) -> None:
    found = answer(claim, [passage(source)])
    assert find_contradictions(found) == []
    assert find_doubts(found) == []
    assert find_reservations(found) == []
    assert not [s for s in signs_against(found) if "does not" in s.text]


@pytest.mark.parametrize(
    ("claim", "ours", "theirs"),
    [
        ("劳动者应当提前三日通知用人单位。", "应当", "可以"),
        ("室内温度比对照组高3.2℃。", "高", "低"),
    ],
)
def test_a_duty_is_no_permission_and_higher_not_lower(claim: str, ours: str, theirs: str) -> None:
    source = passage("劳动者可以提前三日通知用人单位。", "室内温度比对照组低3.2℃。")
    signs = find_contradictions(answer(claim, [source]))
    assert [(s.kind, s.claim, s.source) for s in signs] == [("direction", ours, theirs)]


def test_what_a_sentence_as_near_says_outright_is_not_denied_by_another() -> None:
    source = passage("不满十八周岁的自然人为未成年人。", "十八周岁以上的自然人为成年人。")
    assert find_contradictions(answer("年满18周岁的自然人是成年人。", [source])) == []
    only = passage("The catalyst was not stable at 60 °C.", "The stable house is old.")
    assert find_contradictions(answer("The catalyst was stable at 60 °C.", [only])) != []


def test_words_that_stand_there_in_another_form_are_not_missing() -> None:
    source = passage("50 % of respondents agreed, and prices fell by 150 mm.")
    texts = [
        s.text
        for s in signs_against(
            answer("Half of respondents agreed; prices dropped by 15 cm.", [source])
        )
    ]
    assert texts == []
    claim, source = "合同可以由当事人协商一致后变更。", passage("当事人协商一致，可以变更合同。")
    assert signs_against(answer(claim, [source])) == ()


def test_a_denial_of_something_else_answers_no_denial() -> None:
    source = passage("Map tasks of a failed worker are reset, and no data is lost.")
    found = find_doubts(answer("Map tasks of the worker are not reset to idle.", [source]))
    bare = passage("Map tasks of a failed worker are reset to idle.")
    assert find_doubts(answer("Map tasks of a failed worker are not reset to idle.", [bare])) != []
    assert not any("Both deny" in sign.text for sign in found)


def test_an_adverb_does_not_hide_a_denial() -> None:
    source = passage("The effects of training alone have not yet been investigated.")
    assert find_contradictions(answer("The effects of training alone have been investigated.",
                                      [source])) != []  # fmt: skip


def test_a_name_states_nothing() -> None:
    source = passage("Edward IV of England was held in Middleham Castle in August.")
    told = "“Edward IV of England” is a name, and states nothing."
    assert [s.text for s in find_reservations(answer("Edward IV of England", [source]))] == [told]
    assert find_reservations(answer("Edward IV was held in Middleham Castle.", [source])) == []
    assert find_reservations(answer("Ends with two.", [source])) == []


NIGHT = passage(
    "At 23:00 the coated surfaces were still 1.7 °C cooler in the first summer, so that less heat "
    "was left for the night."
)


def test_the_word_at_its_place_answers_and_no_other_of_its_scale() -> None:
    found = answer("At 23:00 the coated surfaces were still 1.7 °C warmer in summer.", [NIGHT])
    assert [(s.claim, s.source) for s in find_contradictions(found)] == [("warmer", "cooler")]


def test_a_bound_that_is_kept_is_no_direction_of_something_else() -> None:
    source = passage("Those who slept less than six hours were twice as likely to get headaches.")
    claim = "Those who slept less than six hours got headaches more often."
    assert find_contradictions(answer(claim, [source])) == []


@pytest.mark.parametrize("time", ["22:00", "23:30"])
def test_a_time_is_one_number(time: str) -> None:
    claim = f"At {time} the coated surfaces were still 1.7 °C cooler in the first summer."
    told = [sign.claim for sign in find_doubts(answer(claim, [NIGHT]))]
    assert told == [time]


def test_the_same_words_are_told_once() -> None:
    found = answer("At 23:00 the coated surfaces were still 1.7 °C warmer in summer.", [NIGHT])
    pairs = [(s.kind, s.claim, s.source) for s in signs_against(found)]
    assert len(set(pairs)) == len(pairs)


def test_small_word_with_a_capital_is_no_name() -> None:
    """As where a sentence is joined to the next: “…, In particular”."""
    names = read_names("It lies north of Oslo, In particular, and The IT.")
    assert [name.text for name in names] == ["Oslo", "IT"]
