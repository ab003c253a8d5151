"""Laws of known structure are read as they were made, alone and behind one another."""

from datetime import date
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.law import write_number
from rag_assets.law.metadata import read_facts
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


DECISION = """{mark}甲省人民代表大会常务委员会关于修改《甲省养犬条例》的决定

（2022年3月1日甲省第十六届人民代表大会常务委员会第三次会议通过）

会议决定，对《甲省养犬条例》作如下修改：

一、将第二条修改为：“第二条 遛犬应当牵绳。”

本决定自2022年4月1日起施行。

"""
LAW = """{mark}甲省养犬条例

（2010年5月1日甲省第十二届人民代表大会常务委员会第一次会议通过）

目录

第一章 总则

第一章 总则

第一条 为了规范养犬，制定本条例。
"""


@pytest.mark.parametrize("mark", ["# ", ""])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_decision_and_the_law_that_it_amends_keep_their_titles_and_days(
    mark: str, is_first: bool
) -> None:
    both = [DECISION.format(mark=mark), LAW.format(mark=mark) + "\n"]
    text = "".join(both if is_first else reversed(both))
    found = [
        (law.title, [one.day for one in read_facts(text, law).dates]) for law in read_laws(text)
    ]
    wanted = [
        (
            "甲省人民代表大会常务委员会关于修改《甲省养犬条例》的决定",
            [date(2022, 3, 1), date(2022, 4, 1)],
        ),
        ("甲省养犬条例", [date(2010, 5, 1)]),
    ]
    assert found == (wanted if is_first else wanted[::-1])


def test_a_decree_belongs_to_the_law_that_it_makes_public() -> None:
    decree = "国务院令\n\n第588号\n\n现予公布，自2011年1月8日起施行。\n\n总理 温某某\n\n"
    (law,) = read_laws(decree + LAW.format(mark=""))
    assert law.title == "甲省养犬条例"


@pytest.mark.parametrize(
    ("head", "title"),
    [
        (
            "最高人民法院\n关于适用若干\n问题的解释（二）",
            "最高人民法院关于适用若干问题的解释（二）",
        ),
        ("甲省人民政府\n甲省养犬办法", "甲省养犬办法"),
        ("甲法修正案（1999年）\n1999年3月15日通过", "甲法修正案（1999年）"),
        ("甲省养犬条例\n2019年1月1日《关于修改\n部分法规的决定》修正", "甲省养犬条例"),
    ],
)
def test_a_title_without_marks_is_told_by_how_laws_are_named(head: str, title: str) -> None:
    (law,) = read_laws(f"{head}\n\n第一条 甲。\n")
    assert law.title == title


@pytest.mark.parametrize(
    ("part", "chapter", "closing", "path"),
    [
        ("## ", "### ", "## ", ("附则",)),
        ("", "", "", ("附则",)),
        ("## ", "### ", "", ("附则",)),
        ("## ", "### ", "### ", ("第二编 分则", "附则")),
    ],
)
def test_a_closing_part_stands_beside_the_parts_where_the_source_says_so(
    part: str, chapter: str, closing: str, path: tuple[str, ...]
) -> None:
    text = (
        f"# 甲法\n\n{part}第一编 总则\n\n第一条 甲。\n\n{part}第二编 分则\n\n{chapter}第一章 乙\n\n"
    )
    (law,) = read_laws(f"{text}第二条 乙。\n\n{closing}附则\n\n第三条 丙。\n")
    assert articles_of(law)[-1] == (path, "3")


def test_the_second_line_of_a_level_belongs_to_it() -> None:
    (law,) = read_laws("# 甲法\n\n## 第一章 县长、\n\n副县长的选举\n\n第一条 甲。\n")
    assert [unit.kind for unit in law.units] == [
        UnitKind.PREAMBLE, UnitKind.LEVELS, UnitKind.ARTICLE,
    ]  # fmt: skip
    assert law.units[-1].path == ("第一章 县长、副县长的选举",)


_INSIDE = "0123456789.,：一二三四五六七八九十百千万"


_WORDS = ["甲乙丙", "1,000,000", "12：30", "二万五千六百", "，", "；", "。", "\n"]


@given(
    st.sampled_from([_WORDS, _WORDS[:4]]).flatmap(
        lambda words: st.lists(st.sampled_from(words), min_size=200, max_size=300)
    )
)
def test_no_cut_falls_into_a_number_or_a_line_that_fits(words: list[str]) -> None:
    text = "第一条 " + "甲".join(words) + "\n"
    (law,) = read_laws(text)
    for group in merge_units(text, law.units, soft_limit=400, fallback=(100, 200))[:-1]:
        before, after = text[group.end - 1], text[group.end]
        assert not (before in _INSIDE and after in _INSIDE)
        if before != "\n":
            start, end = text.rfind("\n", 0, group.end) + 1, text.find("\n", group.end)
            assert end + 1 - start > 200


def test_groups_that_are_searched_have_1000_to_1500_characters() -> None:
    text = "".join(f"第{write_number(n)}条 {'甲' * (n % 7 * 60)}。\n" for n in range(1, 90))
    (law,) = read_laws(text)
    sizes = [one.end - one.start for one in merge_units(text, law.units, is_searched=True)]
    assert all(1000 <= size <= 1500 for size in sizes[:-1])
