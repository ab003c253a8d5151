"""Paragraphs and items of a Chinese article."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.law import find_clauses

ARTICLE = """第三条 有下列情形之一的，
单位应当赔偿：

（一）克扣工资，
    且不说明理由；
(2) 拖欠奖金：
1. 年终奖金；
⒉季度奖金；
　　（三）其他。

赔偿金在十日内到账。

争议由仲裁委员会处理。
"""


def test_clauses_are_paragraphs_and_their_items() -> None:
    found = find_clauses(ARTICLE)
    assert [(one.paragraph, one.item, one.shown) for one in found] == [
        (1, None, "第一款"),
        (1, 1, "第一款第一项"),
        (1, 2, "第一款第二项"),
        (1, 3, "第一款第三项"),
        (2, None, "第二款"),
        (3, None, "第三款"),
    ]
    texts = [ARTICLE[one.start : one.end] for one in found]
    # A line that a page breaks goes on; so does what an item numbers below itself.
    assert texts[0] == "第三条 有下列情形之一的，\n单位应当赔偿："
    assert texts[1].endswith("且不说明理由；")
    assert texts[2].endswith("季度奖金；")


@pytest.mark.parametrize(
    "heading", ["## 第二章 罚则", "第二章　罚则", "**第二节 罚款**", "### 附则"]
)
def test_the_heading_of_the_next_chapter_is_no_paragraph(heading: str) -> None:
    article = f"第一条 工资按月支付。\n\n{heading}\n\n其他。"
    assert [one.shown for one in find_clauses(article)] == [""]
    # One that is spoken of is.
    assert len(find_clauses("第一条 工资按月支付。\n第二章的规定除外。")) == 2


def test_the_only_paragraph_has_no_name() -> None:
    assert [one.shown for one in find_clauses("第一条 工资按月支付。")] == [""]
    listed = find_clauses("第一条 下列各项：\n（一）工资；\n（二）奖金。")
    assert [one.shown for one in listed] == ["", "第一项", "第二项"]


@given(st.text("（一）(2)第三条款。；：\n 工资,1.", max_size=80))
def test_clauses_of_any_text_stand_one_after_the_other(text: str) -> None:
    found = find_clauses(text)
    ends = [0, *(place for one in found for place in (one.start, one.end))]
    assert ends == sorted(ends)
    assert sum(len(text[one.start : one.end].split()) for one in found) <= len(text.split())
    assert "".join("".join(text[one.start : one.end] for one in found).split()) == "".join(
        text.split()
    )
