"""Where a draft contradicts itself: for each rule what it finds, and what it leaves alone."""

import pytest

from rag_assets.auditing import parse_draft
from rag_assets.auditing.consistency import Inconsistency, find_inconsistencies

TABLE = """
Table 2. Results on the test set.

| Model | Accuracy (%) | Loss |
|---|---|---|
| BERT | 93.2 | 0.214 |
| Longformer | 91.75 | 0.287 |
"""
ZH_TABLE = """
表2 测试集上的结果

| 模型 | 准确率（%） | 损失 |
|---|---|---|
| 双向网络 | 93.2 | 0.214 |
| 卷积网络 | 91.75 | 0.287 |
"""


def find(text: str) -> list[Inconsistency]:
    return list(find_inconsistencies(parse_draft("paper.md", text.encode())))


@pytest.mark.parametrize(
    ("sentence", "says", "other", "row"),
    [
        ("Table 2 shows that BERT reaches an accuracy of 94.2 %.", "94.2 %", "93.2", "BERT"),
        ("As Table 2 shows, the loss of Longformer is 0.237.", "0.237", "0.287", "Longformer"),
        ("Table 2 shows that BERT reaches an accuracy of 92.3 %.", "92.3 %", "93.2", "BERT"),
        ("BERT has an accuracy of 93.2 % and a loss of 0.241.", "0.241", "0.214", "BERT"),
    ],
)
def test_a_number_that_the_table_has_otherwise(
    sentence: str, says: str, other: str, row: str
) -> None:
    found = find(f"{sentence}\n{TABLE}")
    assert [(one.kind, one.says, one.other, one.row) for one in found] == [
        ("table", says, other, row)
    ]
    assert found[0].line == 1
    assert row in found[0].words


@pytest.mark.parametrize(
    "sentence",
    [
        "Table 2 shows that BERT reaches an accuracy of 93 %.",  # rounded
        "Table 2 shows that BERT reaches an accuracy of 0.932.",  # a share of one
        "Table 2 shows that Longformer reaches an accuracy of 91.8 %.",
        "In Table 2 the accuracy of BERT is 1.45 points above that of Longformer.",
        "Lee (2020) reports an accuracy of 94.2 % for BERT.\n\n# References\n\nLee, A. (2020). Ab.",
        "The accuracy was measured 94 times for BERT.",
        "The loss is taken from 1,214 runs of another system (Table 2).",
    ],
)
def test_rounding_other_forms_and_other_things_are_no_contradiction(sentence: str) -> None:
    assert find(f"{sentence}\n{TABLE}") == []


def test_chinese_tables() -> None:
    found = find(f"表2显示，双向网络的准确率为94.2%。\n{ZH_TABLE}")
    assert [(one.says, one.other, one.row) for one in found] == [("94.2%", "93.2", "双向网络")]
    assert find(f"表2显示，双向网络的准确率为93.2%，损失为0.214。\n{ZH_TABLE}") == []


PAPER = """# Abstract

{abstract}

# Methods

{body}
"""


@pytest.mark.parametrize(
    ("abstract", "body", "says", "other"),
    [
        (
            "We enrolled 120 patients with severe asthma at two hospitals.",
            "We enrolled 118 patients with severe asthma at two hospitals in 2019.",
            "120",
            "118",
        ),
        (
            "The proposed network reached an accuracy of 93.4 % on the test set.",
            "On the test set the proposed network reached an accuracy of 93.2 %.",
            "93.4 %",
            "93.2 %",
        ),
        (
            "本研究共纳入120例重症哮喘患者，随访两年。",
            "本研究共纳入118例重症哮喘患者，其中男性居多。",
            "120",
            "118",
        ),
    ],
)
def test_a_number_of_the_abstract_that_the_text_has_otherwise(
    abstract: str, body: str, says: str, other: str
) -> None:
    found = find(PAPER.format(abstract=abstract, body=body))
    assert [(one.kind, one.line, one.other_line) for one in found] == [("abstract", 3, 7)]
    assert found[0].says.startswith(says)
    assert found[0].other.startswith(other)


@pytest.mark.parametrize(
    ("abstract", "body"),
    [
        (
            "We enrolled 118 patients with severe asthma at two hospitals.",
            "We enrolled 118 patients with severe asthma at two hospitals.",
        ),
        (
            "The network reached an accuracy of 93 % on the test set.",
            "On the test set the network reached an accuracy of 93.2 %.",
        ),
        (
            "We enrolled 120 patients with severe asthma at two hospitals.",
            "We sent 131 letters to general practitioners near the coast.",
        ),
        (
            "We enrolled 120 patients with severe asthma at two hospitals.",
            "Of the 120 patients with severe asthma enrolled at two hospitals 118 came back.",
        ),
        ("本研究共纳入120例重症哮喘患者。", "本研究共纳入120例重症哮喘患者，118例完成随访。"),
    ],
)
def test_what_the_text_repeats_or_never_speaks_of(abstract: str, body: str) -> None:
    assert find(PAPER.format(abstract=abstract, body=body)) == []


NUMBERED = """# 1 Introduction

{sentence}

# 2 Method

## 2.1 Data

## 2.2 Model

Figure 1: The model.

图1 模型
"""


@pytest.mark.parametrize(
    ("sentence", "says"),
    [
        ("The loss is listed in Table 7.", "Table 7"),
        ("损失见表7。", "表7"),
        ("The model is drawn in Fig. 3 and in Figure 1.", "Fig. 3"),
        ("模型如图3所示。", "图3"),
        ("Section 2.3 describes the model.", "Section 2.3"),
        ("模型见第2.3节。", "第2.3节"),
        (r"The loss is listed in Table \ref{tab:loss}.", r"\ref{tab:loss}"),
        ("The model is drawn in @fig:model.", "@fig:model"),
        ("The loss is listed in Table ??.", "Table ??"),
    ],
)
def test_references_that_point_to_nothing(sentence: str, says: str) -> None:
    found = find(NUMBERED.format(sentence=sentence) + TABLE + ZH_TABLE)
    assert [(one.kind, one.says) for one in found] == [("reference", says)]


@pytest.mark.parametrize(
    "sentence",
    [
        "The loss is listed in Table 2, the model in Figure 1 and Section 2.2.",
        "损失见表2，模型见图1和第2.2节。",
        "It repeats Table 7 of Lee (2020) and Supplementary Table 9.",
        "Section 2.3 of the Act describes it.",
        r"It is listed in \ref{tab:loss}. \label{tab:loss}",
        "The model is drawn in @fig:model.\n\n![The model](m.png){#fig:model}",
        r"The command `\ref{x}` makes a reference.",
        "这代表3个模型，意图1种方法。",
    ],
)
def test_references_that_are_there_or_point_elsewhere(sentence: str) -> None:
    assert find(NUMBERED.format(sentence=sentence) + TABLE + ZH_TABLE) == []
