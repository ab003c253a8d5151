"""Demands as guidelines write them, in English and Chinese, and what is none."""

import pytest

from rag_assets.evidence.briefing import demands


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("参考文献不得少于20篇。", "demand"),
        ("论文必须包含中文摘要，不得少于300字。", "length"),
        ("正文不得超过8000字。", "length"),
        ("查重率不得高于两成。", "demand"),
        ("不得抄袭。", "prohibition"),
    ],
)
def test_limit_is_no_ban(sentence: str, kind: str) -> None:
    assert demands._kind_of(sentence, is_feedback=False) == kind


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("The abstract should not exceed 300 words.", "length"),
        ("The report shall not be longer than fifteen pages.", "prohibition"),
        ("The abstract is limited to one page.", "length"),
        ("Word count: 8000–10000.", "demand"),
        ("A minimum of 25 references is expected.", "demand"),
        ("The final version is due by noon on Friday of week ten.", "date"),
        ("Candidates hand in three copies not later than the last day of term.", "demand"),
        ("Late submissions will lose five per cent per day.", "weight"),
        ("Theses exceeding the limit will be returned unmarked.", "demand"),
        ("Margins: 2.5 cm on all sides.", "demand"),
        ("Tables and figures are numbered consecutively by chapter.", "demand"),
        ("References follow APA, seventh edition.", "demand"),
        ("Only sources published after 2010 are accepted.", "demand"),
        ("All data are to be archived for ten years.", "demand"),
        ("Always give page numbers for quotations.", "demand"),
        ("Number all pages except the title page.", "demand"),
        ("Footnotes are discouraged.", "advice"),
        ("近五年文献应占三分之一以上。", "demand"),
        ("五月二十日前提交终稿。", "date"),
        ("逾期不予受理。", "demand"),
        ("正文采用小四号宋体，1.5倍行距。", "demand"),
        ("不允许使用人工智能直接生成正文。", "prohibition"),
        ("每篇参考文献都要在正文中标注。", "demand"),
        ("学生每两周向导师汇报一次进度。", "demand"),
    ],
)
def test_guidelines_are_read_as_they_are_written(sentence: str, kind: str) -> None:
    assert demands._kind_of(sentence, is_feedback=False) == kind


@pytest.mark.parametrize(
    "sentence",
    [
        "This guide was last revised by the faculty office.",
        "Last year about 80 students took part.",
        "Due to building work the library is closed on Friday.",
        "In the past, theses were typed on a machine.",
        "Many students find the second chapter hardest.",
        "对应的表格见附件一。",
        "这一点十分重要。",
        "三分之一的学生选择定量方法。",
        "去年共有120名学生参加答辩。",
    ],
)
def test_what_guidelines_tell_beside_is_no_demand(sentence: str) -> None:
    assert demands._kind_of(sentence, is_feedback=False) is None
