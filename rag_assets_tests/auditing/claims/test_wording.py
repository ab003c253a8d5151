"""What a sentence asserts, and whether it asserts it strongly, in English and Chinese."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.auditing.claims import causal_model, read_wording
from rag_assets.auditing.claims.causal_model import (
    CausalReader,
    CauseStore,
    causal_threshold,
    load_causal_encoder,
    log_odds,
)
from rag_assets.model import DamagedFileError
from rag_assets.storage import LocalStore
from rag_assets.workspace import configs_folder

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


def test_changes_of_another_fit_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (causal_model.MODEL_FILE, causal_model.CHANGES_FILE):
        shutil.copy(configs_folder() / name, tmp_path)
    with (tmp_path / causal_model.CHANGES_FILE).open("ab") as file:
        file.write(b"!")
    monkeypatch.setattr(causal_model, "configs_folder", lambda: tmp_path)
    with pytest.raises(DamagedFileError, match="fit_causal_wording"):
        load_causal_encoder.__wrapped__()


def test_odds_of_a_cause_take_the_hedged_one_in_and_are_never_without_bounds() -> None:
    assert log_odds(np.array([0.25, 0.25, 0.3, 0.2])) == pytest.approx(0)
    assert log_odds(np.array([0.0, 0.0, 0.2, 0.8])) == pytest.approx(9.21, abs=0.01)
    assert log_odds(np.array([1.0, 0.0, 0.0, 0.0])) == pytest.approx(-9.21, abs=0.01)


def test_a_sentence_is_encoded_once_and_only_where_its_words_leave_it_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoded: list[str] = []

    def read(_encoder: object, sentence: str) -> float:
        encoded.append(sentence)
        return 9.0

    monkeypatch.setattr(causal_model.CausalEncoder, "read_meaning", read)
    causes = CausalReader()
    open_question = "Smoking increases the risk of stroke."
    assert causes.is_causal(open_question)
    assert causes.is_causal(open_question)
    assert not causes.is_causal("The museum stands in the old town.")
    assert encoded == [open_question]


def test_a_reading_is_kept_for_the_next_audit(tmp_path: Path) -> None:
    sentence = "Smoking increases the risk of stroke."
    store = CauseStore(LocalStore(tmp_path), "readings.jsonl", tmp_path / "lock")
    assert CausalReader(store).is_causal(sentence)
    store.save(print)
    kept = CauseStore(LocalStore(tmp_path), "readings.jsonl", tmp_path / "lock")
    # What is kept decides, were it otherwise today.
    lines = (tmp_path / "readings.jsonl").read_text(encoding="utf-8").splitlines()
    (entry,) = map(json.loads, lines)
    assert kept.find(entry["key"]) == entry["result"] > causal_threshold()
    kept.put([(entry["key"], -9.0)])
    assert not CausalReader(kept).is_causal(sentence)


def test_a_reading_near_the_threshold_decides_alike_the_second_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    near = causal_threshold() - 0.00001
    monkeypatch.setattr(causal_model.CausalEncoder, "read_meaning", lambda *_: near)
    causes = CausalReader()
    sentence = "Smoking increases the risk of stroke."
    assert causes.is_causal(sentence) == causes.is_causal(sentence)
    (kept,) = (item.result for item in causes.store._touched.values())
    assert causes.is_causal(sentence) == (kept >= causal_threshold())


def test_an_effect_in_other_words_is_told_by_its_meaning() -> None:
    effect = "A high-salt diet drove up the blood pressure of the mice and harmed their kidneys."
    assert "causal" in read_wording(effect).types
    naming = "We measured how the blood pressure of the mice changed from week to week."
    assert not read_wording(naming).is_strong


@given(st.text(max_size=300))
def test_any_text_is_read_and_flagged_only_with_a_type(text: str) -> None:
    wording = read_wording(text)
    assert wording.is_strong == (bool(wording.types) and wording.exemption is None)
    assert not (wording.is_strong and wording.is_hedged)
