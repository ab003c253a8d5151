"""Sentences that could support something, told from labels, titles and addresses."""

import pytest

from rag_assets.auditing.claims.stating import spans_that_state
from rag_assets.chunking import split_sentences


def kept(text: str) -> list[str]:
    return [text[a:b] for a, b in spans_that_state(text, split_sentences(text))]


@pytest.mark.parametrize(
    "text",
    [
        "Results and discussion",
        "Related work",
        "Table 1. Mean surface temperature at 14:00 on 61 hot days, by roof type.",
        "Fig. 2a: Albedo of coated roofs",
        "Role of Computerized Order Entry Systems in Facilitating Errors",
        "Institute for Streets and Surfaces, 12 Oak Street, Port Aldermere.",
        "表1 六条街道的树冠覆盖率",
        "图 3. 三种屋顶的表面温度。",
        "研究方法",
        "（北京大学城市与环境学院，北京 100871）",
    ],
)
def test_labels_titles_and_addresses_state_nothing(text: str) -> None:
    assert kept(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Sedum flowers in May.",
        "45 % of the households",
        "Table 2 lists the values of both roofs.",
        "| Bitumen | Hot | 62.1 |",
        "表1列出了六条街道午后的平均值。",
        "屋顶绿化使地表温度下降3℃",
    ],
)
def test_sentences_rows_and_items_state_something(text: str) -> None:
    assert kept(text) == [text]


def test_the_sentence_behind_a_bare_label_is_its_caption() -> None:
    text = "Figure 3. Surface temperature of the roofs in July. Roofs need water."
    assert kept(text) == ["Roofs need water."]
    said = "Roofs with sedum were cooler than bitumen by 7 degrees."
    assert kept(f"Figure 3. {said}") == [said]
