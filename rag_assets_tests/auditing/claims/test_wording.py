"""What a sentence asserts, and whether it asserts it strongly, in English and Chinese."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.auditing.claims import read_wording

STRONG = [
    ("Green roofs reduce the cooling load of offices.", "causal"),
    ("The disease is caused by a single gene.", "causal"),
    ("Erosion increased because the dunes were levelled.", "causal"),
    ("Bitumen roofs are hotter than planted ones.", "comparative"),
    ("The second engine outperforms the first on long routes.", "comparative"),
    ("This is the largest reservoir of the province.", "superlative"),
    ("Every river of the region freezes in winter.", "universal"),
    ("Nobody has measured the flow since then.", "universal"),
    ("Cities should plant trees along wide roads.", "recommendation"),
    ("The panel covers 45 % of the households.", "quantitative"),
    ("Each server holds up to a million tables.", "quantitative"),
    ("About two thirds of the wells are dry.", "quantitative"),
    ("The standard is used by 900 products.", "quantitative"),
    ("The standard is used by nine hundred products.", "quantitative"),
    ("The museum holds 22,889 early human bones.", "quantitative"),
    ("The sea has warmed by a few tenths of a degree.", "quantitative"),
    ("The glass is several micrometres thick.", "quantitative"),
    ("All pandas produce milk.", "universal"),
    ("Every mammal of the region produces milk.", "universal"),
    ("All cats cause allergies.", "causal"),
    ("All pandas produce milk because of a hormone.", "causal"),
    ("Smoking causes cancer.", "causal"),
    ("吸烟导致肺癌发病率上升。", "causal"),
    ("绿色屋顶显著降低了城市的热岛强度。", "causal"),
    ("乡村的空气质量优于城市的空气质量。", "comparative"),
    ("新方法的误差比旧方法更小。", "comparative"),
    ("这是全国最大的淡水湖泊。", "superlative"),
    ("所有河流在冬季都会结冰。", "universal"),
    ("城市应当在道路两旁种植树木。", "recommendation"),
    ("该地区的森林覆盖率为百分之四十五。", "quantitative"),
    ("样本中有62.5%的家庭拥有汽车。", "quantitative"),
    ("该标准已用于900种产品。", "quantitative"),
    ("该标准已用于九百多种产品。", "quantitative"),
]
NOT_STRONG = [
    ("Green roofs may reduce the cooling load of offices.", "hedged"),
    ("These results suggest that the gene causes the disease.", "hedged"),
    ("Some scholars live in several hundred villages.", "hedged"),
    ("It could possibly be the largest reservoir of the province.", "hedged"),
    ("Do green roofs reduce the cooling load of offices?", "question"),
    ("This chapter describes how roofs reduce the cooling load.", "structure"),
    ("Section 3 compares the larger with the smaller model.", "structure"),
    ("We measured the temperature of 45 roofs every 10 minutes.", "own_work"),
    ("Participants were randomly assigned to two larger groups.", "own_work"),
    ("Albedo is defined as the share of light that a surface reflects at all times.", "definition"),
    ("绿色屋顶可能降低城市的热岛强度。", "hedged"),
    ("这一结果似乎优于以往的方法。", "hedged"),
    ("据推测，该物种最大的种群位于北部。", "hedged"),
    ("绿色屋顶能否降低城市的热岛强度？", "question"),
    ("本文将比较两种更快的算法。", "structure"),
    ("我们采用问卷法收集了500名学生的数据。", "own_work"),
    ("反照率是指表面反射的光占全部入射光的百分之几。", "definition"),
]


@pytest.mark.parametrize(("sentence", "kind"), STRONG)
def test_a_strong_assertion_is_found_and_typed(sentence: str, kind: str) -> None:
    wording = read_wording(sentence)
    assert wording.types[:1] == (kind,)
    assert wording.is_strong


@pytest.mark.parametrize(("sentence", "reason"), NOT_STRONG)
def test_what_is_hedged_asked_or_about_the_text_is_not_flagged(sentence: str, reason: str) -> None:
    wording = read_wording(sentence)
    assert wording.exemption == reason
    assert not wording.is_strong


@pytest.mark.parametrize(
    "sentence",
    [
        "The library stands behind the station in the old town.",
        "Table 3 and Figure 12 stand in the appendix of 2019.",
        "The museum was opened in May 2012 by the mayor.",
        "The port has USB 3 sockets, as Chapter 12 says.",
        "The two sisters live in the old town.",
        "图书馆位于老城区的火车站后面。",
        "本市第三十二条街道位于老城区。",
        "该博物馆于2012年5月开放参观。",
    ],
)
def test_a_plain_statement_is_no_assertion(sentence: str) -> None:
    assert read_wording(sentence).types == ()


def test_a_sentence_may_be_of_several_types_with_one_first() -> None:
    wording = read_wording("Every tax reduces demand by 12 % more than a quota.")
    assert wording.types[0] == "causal"
    assert {"comparative", "universal", "quantitative"} <= set(wording.types)


def test_a_level_is_told_from_an_effect() -> None:
    assert "causal" in read_wording("Smoking increases the risk of stroke.").types
    assert "causal" not in read_wording("Smokers had an increased risk of stroke.").types


def test_the_month_of_may_is_no_hedge() -> None:
    assert read_wording("Since May 2012 the dam has reduced the flow.").is_strong


def test_somebody_elses_hedge_in_quotation_marks_does_not_hedge() -> None:
    said = 'The dam reduced the flow of the river, which critics called "perhaps a pity".'
    assert read_wording(said).is_strong


@pytest.mark.parametrize(
    "sentence",
    [
        "Smoking was associated with a reduced lung volume, which smokers reduce further.",
        "The lifespan of mice is linked to the caloric value that lowers their weight.",
        "Low income predicts effects on health.",
    ],
)
def test_what_goes_together_is_no_cause(sentence: str) -> None:
    assert "causal" not in read_wording(sentence).types


def test_the_words_that_claim_a_cause_are_kept() -> None:
    assert read_wording("Green roofs reduce the cooling load of offices.").cue == "reduce"
    assert read_wording("The wells are dry due to the drought.").cue == "due to"


def test_an_effect_in_other_words_is_found() -> None:
    effect = "A high-salt diet drove up the blood pressure of the mice and harmed their kidneys."
    assert "causal" in read_wording(effect).types
    naming = "We measured how the blood pressure of the mice changed from week to week."
    assert not read_wording(naming).is_strong


@given(st.text(max_size=300))
def test_any_text_is_read_and_flagged_only_with_a_type(text: str) -> None:
    wording = read_wording(text)
    assert wording.is_strong == (bool(wording.types) and wording.exemption is None)
    assert not (wording.is_strong and wording.is_hedged)
