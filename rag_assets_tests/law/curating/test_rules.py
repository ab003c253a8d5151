"""Every rule of the curator, on its own examples."""

from datetime import date

import pytest

from rag_assets.law.curating import (
    COMPARING_RULES,
    FILE_RULES,
    FileRule,
    LawFile,
    LibraryRule,
    curate_files,
)
from rag_assets.law.metadata import read_facts
from rag_assets.law.structure import read_laws
from rag_assets.law.versions import describe_wording

DAY = date(2026, 1, 1)


@pytest.mark.parametrize("rule", FILE_RULES, ids=lambda rule: rule.id)
def test_a_rule_fires_on_its_example_and_is_silent_on_the_other(rule: FileRule) -> None:
    assert [f.rule for f in rule.apply(LawFile(*rule.fires))] == [rule.id]
    assert not list(rule.apply(LawFile(*rule.silent)))


@pytest.mark.parametrize("rule", COMPARING_RULES, ids=lambda rule: rule.id)
def test_a_rule_that_compares_fires_among_its_files_and_not_among_the_others(
    rule: LibraryRule,
) -> None:
    for files, wanted in ((rule.fires, 1), (rule.silent, 0)):
        found = curate_files((LawFile(*item) for item in files.items()), DAY)
        assert sum(f.rule == rule.id for f in found) == wanted, found


def test_ids_are_unique() -> None:
    ids = [rule.id for rule in (*FILE_RULES, *COMPARING_RULES)]
    assert len(ids) == len(set(ids))


def test_the_order_of_files_does_not_matter() -> None:
    files = [LawFile(*item) for rule in COMPARING_RULES for item in rule.fires.items()]
    unique = list({file.file: file for file in files}.values())
    assert curate_files(unique, DAY) == curate_files(unique[::-1], DAY)
    assert curate_files(unique, DAY)


def test_what_stands_before_the_text_counts_as_lines() -> None:
    text = "# 甲市养犬条例\n\n第一条 甲。\n\n第三条 乙。\n"
    (found,) = (
        f
        for f in curate_files([LawFile("甲市养犬条例.md", text, line_offset=3)], DAY)
        if f.rule == "article-missing"
    )
    assert (found.line, found.article) == (8, "第三条")


def test_an_article_that_an_amendment_quotes_is_not_its_own() -> None:
    text = (
        "# 甲法修正案\n\n第一条 将甲法第五十条修改为：\n\n“第五十条 养犬应当登记。”\n\n"
        "第二条 本修正案自公布之日起施行。\n"
    )
    found = curate_files([LawFile("甲法修正案.md", text)], DAY)
    assert not [f for f in found if f.rule.startswith("article-")]


def test_one_number_that_is_off_speaks_against_itself_alone() -> None:
    numbers = ["一", "二", "九", "四", "五", "六"]
    text = "# 甲法\n\n" + "".join(f"第{n}条 养犬应当登记。\n\n" for n in numbers)
    found = [f for f in curate_files([LawFile("甲法.md", text)], DAY) if "article" in f.rule]
    assert [(f.rule, f.article) for f in found if f.rule != "no-articles"] == [
        ("article-missing", "第四条"),
        ("article-out-of-order", "第九条"),
    ]


@pytest.mark.parametrize(
    ("said", "repealed"),
    [
        ("根据2019年3月2日《国务院关于废止和修改部分行政法规的决定》修订", None),
        ("2021年3月2日废止", date(2021, 3, 2)),
        ("2009年3月2日发布的通知同时废止", None),
        ("2019年3月2日发布的通知同时废止", None),
    ],
)
def test_a_law_is_repealed_only_where_that_is_said_of_it(said: str, repealed: date | None) -> None:
    text = f"# 甲办法\n\n2010年1月1日 国务院公布\n\n{said}\n\n第一条 甲。\n"
    facts = read_facts(text, read_laws(text)[0])
    assert describe_wording(facts, []).repealed_on == repealed
