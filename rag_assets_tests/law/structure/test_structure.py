"""Laws of known structure are read as they were made, alone and behind one another."""

from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.law import write_number
from rag_assets.law.structure import (
    TRANSITIONS,
    LawText,
    LineKind,
    State,
    UnitKind,
    merge_units,
    read_laws,
    read_lines,
)
from rag_assets.law.structure.reading import Event
from rag_assets_tests.law.structure.made_up import MadeUpLaw, laws


def articles_of(law: LawText) -> list[tuple[tuple[str, ...], str]]:
    return [(unit.path, unit.article.key) for unit in law.units if unit.article is not None]


def kinds(text: str) -> list[LineKind]:
    return [line.kind for line in read_lines(text)]


def test_the_table_says_what_happens_in_every_state_at_every_event() -> None:
    assert set(TRANSITIONS) == set(product(State, Event))


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("第一条 为了规范", LineKind.ARTICLE),
        ("**第一百三十三条之一**　在道路上", LineKind.ARTICLE),
        ("第12条【适用】本法", LineKind.ARTICLE),
        ("　　第十二条　为了规范", LineKind.ARTICLE),
        ("### 第一百条 罚款", LineKind.ARTICLE),
        ("> 第一千零一条 罚款", LineKind.ARTICLE),
        ("#### 第三目 特别规定", LineKind.LEVEL),
        ("**第二节　一般规定**", LineKind.LEVEL),
        ("　第三编　分　则", LineKind.LEVEL),
        ("第三条规定的期限", LineKind.TEXT),
        ("第八条、第九条的规定", LineKind.TEXT),
        ("## 第一章 总　则", LineKind.LEVEL),
        ("### 第二节其他污染防治", LineKind.LEVEL),
        ("## 第一分编  通则", LineKind.LEVEL),
        ("附　则", LineKind.LEVEL),
        (
            "第七节相应改为第八节，第一百二十三条至第一百三十八条相应改为第一百二十八条。",
            LineKind.TEXT,
        ),
        ("【裁判要旨】", LineKind.ANCHOR),
        ("附：", LineKind.ANNEX),
        ("附件一", LineKind.ANNEX),
        ("附表 2", LineKind.ANNEX),
        ("附", LineKind.ANNEX),
        ("附录", LineKind.ANNEX),
        ("附图：河道范围", LineKind.ANNEX),
        ("附件一（名单）", LineKind.ANNEX),
        ("附利息的借款", LineKind.TEXT),
        ("附加刑也可以独立适用。", LineKind.TEXT),
        ("附带民事诉讼的当事人", LineKind.TEXT),
        ("附条件不起诉的考验期", LineKind.TEXT),
        ("附件三所列全国性法律的决定", LineKind.TEXT),
        ("# 某某条例", LineKind.HEADING),
        ("一、本决定自公布之日起施行。", LineKind.ITEM),
        ("1.申请书", LineKind.ITEM),
        ("1.5 倍", LineKind.TEXT),
        ("\u200b", LineKind.BLANK),
    ],
)
def test_a_line_is_told_by_what_begins_it(line: str, kind: LineKind) -> None:
    assert kinds(line) == [kind]


@given(law=laws())
@settings(max_examples=300, deadline=None)
def test_paths_and_articles_are_those_that_were_made(law: MadeUpLaw) -> None:
    (found,) = read_laws(law.text)
    assert found.title == law.title
    assert articles_of(found) == law.articles


@given(law=laws(), limit=st.integers(40, 400))
@settings(max_examples=300, deadline=None)
def test_nothing_is_lost_and_no_group_begins_inside_an_article(law: MadeUpLaw, limit: int) -> None:
    (found,) = read_laws(law.text)
    groups = merge_units(law.text, found.units, soft_limit=limit, fallback=(20, 40))
    assert "".join(law.text[group.start : group.end] for group in groups) == law.text
    for group in groups:
        assert {unit.path for unit in group.units} == {group.path}
        first = group.units[0]
        if first.article is not None and first.part <= 1:
            assert group.start == first.article.start
        is_one = len(group.units) == 1
        assert is_one or group.end - group.start <= limit
    cut = [unit for group in groups for unit in group.units if unit.part]
    for before, after in pairwise(cut):
        assert after.part in {1, before.part + 1}


@given(first=laws(0), second=laws(1), third=laws(2))
@settings(max_examples=100, deadline=None)
def test_laws_behind_one_another_are_read_as_each_alone(
    first: MadeUpLaw, second: MadeUpLaw, third: MadeUpLaw
) -> None:
    every = (first, second, third)
    found = read_laws("".join(law.text for law in every))
    assert [law.title for law in found] == [law.title for law in every]
    assert [articles_of(law) for law in found] == [law.articles for law in every]
    assert [law.end - law.start for law in found] == [len(law.text) for law in every]


def test_a_level_keeps_those_above_it_and_a_table_of_contents_leaves_nothing() -> None:
    text = (
        "# 法\n第一编 总则\n第一章 任务\n第二章 刑罚\n第二编 分则\n第一章 甲罪\n\n"
        "第一编 总则\n第一章 任务\n第一条 甲。\n第二章 刑罚\n第二条 乙。\n"
        "第二编 分则\n第一章 甲罪\n第三条 丙。\n附件一\n第一章 名单\n甲乙丙\n"
    )
    (law,) = read_laws(text)
    assert articles_of(law) == [
        (("第一编 总则", "第一章 任务"), "1"),
        (("第一编 总则", "第二章 刑罚"), "2"),
        (("第二编 分则", "第一章 甲罪"), "3"),
    ]
    assert [unit.path for unit in law.units][-1] == ("附件一", "第一章 名单")


def test_a_case_is_cut_at_its_marks_and_a_decision_at_its_items() -> None:
    (case,) = read_laws("# 案例\n前言\n【基本案情】\n甲诉乙。\n【裁判要旨】\n丙。\n")
    assert [unit.path for unit in case.units] == [(), ("【基本案情】",), ("【裁判要旨】",)]
    (decision,) = read_laws("# 决定\n会议决定：\n一、甲。\n二、乙。\n")
    assert [unit.kind for unit in decision.units] == [
        UnitKind.PREAMBLE, UnitKind.ITEM, UnitKind.ITEM,
    ]  # fmt: skip


FIRST = "# 甲法\n## 第一章 总则\n第一条 甲。\n第二条 乙。\n"


@pytest.mark.parametrize(
    ("between", "title"),
    [
        ("# 乙法\n", "乙法"),
        ("## 乙法\n2020年1月1日通过\n", "乙法"),
        ("乙法\n（2020年1月1日通过）\n", "乙法"),
        ("# 乙法\n为了明确，说明如下。\n## 第一章 总则\n", "乙法"),
        ("乙法\n目　录\n第一章 总则\n第二章 罚则\n\n第一章 总则\n", "乙法"),
        # What is no line of a title, and what stands further above than twenty lines.
        ("为了明确有关事项，特作出如下说明。\n", None),
        ("乙法\n" + "说明。\n" * 20, None),
        ("乙法\n" + "说明。\n" * 19, "乙法"),
        ("乙法\n" + "第一章 总则\n第二章 罚则\n" * 15 + "第一章 总则\n", "乙法"),
    ],
)
def test_a_second_article_1_ends_the_law_and_its_title_stands_above(
    between: str, title: str | None
) -> None:
    text = f"{FIRST}{between}第一条 丙。\n第二条 丁。\n"
    first, second = read_laws(text)
    assert (first.title, second.title) == ("甲法", title)
    # What stands between belongs to the second from its title on, and to one of them only.
    begin = len(FIRST) if title else text.index("第一条 丙")
    assert (first.start, first.end, second.start, second.end) == (0, begin, begin, len(text))
    assert "".join(text[u.start : u.end] for law in (first, second) for u in law.units) == text
    # The path of the first law is forgotten.
    path = ("第一章 总则",) if "章" in between else ()
    assert [one[0] for one in articles_of(second)] == [path, path]
    if title:
        assert second.units[0].kind is UnitKind.PREAMBLE


def test_a_text_without_articles_and_lists_is_cut_at_whole_lines() -> None:
    text = "# 说明\n\n" + "".join("甲" * 90 + "。\n" for _ in range(40))
    (law,) = read_laws(text)
    groups = merge_units(text, law.units, soft_limit=1200, fallback=(500, 1000))
    assert "".join(text[group.start : group.end] for group in groups) == text
    assert all(text[group.start - 1] == "\n" for group in groups[1:])
    assert all(500 <= group.end - group.start <= 1000 for group in groups[:-1])


def test_each_part_of_an_article_that_is_too_long_names_it() -> None:
    items = "".join(f"（{write_number(n)}）" + "甲" * 200 + "；\n" for n in range(1, 30))
    text = f"# 甲法\n第一条 乙。\n第二条之三 下列事项：\n{items}第三条 丙。\n"
    (law,) = read_laws(text)
    groups = merge_units(text, law.units, soft_limit=1200, fallback=(500, 1000))
    named = [[mark.key for mark in group.articles] for group in groups]
    assert named[:2] == [[], ["1"]]
    assert named[-1] == ["3"]
    assert len(named) > 6
    assert all(keys == ["2-3"] for keys in named[2:-1])
    assert all(text[group.start] in "第（" for group in groups[2:])


def test_an_empty_file_has_no_law() -> None:
    assert read_laws("") == []
