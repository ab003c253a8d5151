"""What the text of a law says of itself, and what it says of others."""

from datetime import date

import pytest

from rag_assets.law.metadata import DateKind, LawFacts, read_facts
from rag_assets.law.structure import read_laws


def facts_of(head: str, last: str = "第二条 完。") -> LawFacts:
    text = f"# 甲乙条例\n\n{head}\n\n第一条 为了管理，制定本条例。\n\n{last}\n"
    (law,) = read_laws(text)
    facts = read_facts(text, law)
    assert LawFacts.from_record(facts.to_record()) == facts
    return facts


def told(facts: LawFacts) -> list[tuple[DateKind, date]]:
    return [(one.kind, one.day) for one in facts.dates]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("2020年5月1日 第十三届全国人民代表大会第三次会议通过", DateKind.PASSED),
        ("2020年5月1日 国务院令第7号公布", DateKind.PUBLISHED),
        ("2020年5月1日 《国务院关于修改和废止部分行政法规的决定》第二次修订", DateKind.AMENDED),
        ("根据2020年5月1日《关于废止部分规定的决定》修正）", DateKind.AMENDED),
        ("2020年5月1日 第一次会议通过的《中华人民共和国宪法修正案》", DateKind.AMENDED),
        ("2020年5月1日 国务院令第9号废止", DateKind.REPEALED),
        ("2020年5月1日 施行", DateKind.EFFECTIVE),
        ("（二〇二〇年五月一日市人民政府发布）", DateKind.PUBLISHED),
    ],
)
def test_a_line_of_history_says_what_happened_on_its_day(line: str, kind: DateKind) -> None:
    assert told(facts_of(line)) == [(kind, date(2020, 5, 1))]


@pytest.mark.parametrize(
    "line",
    [
        "为正确适用2020年5月1日第一次会议修订的《中华人民共和国保险法》，制定本解释。",
        "2020年5月1日劳动部发布的《关于工作时间的通知》同时废止。",
        "2020年5月1日，我院以通知印发了意见，现规定如下：",
        "2020年13月1日 国务院令第7号公布",
    ],
)
def test_a_sentence_about_other_laws_or_a_day_that_is_none_says_nothing(line: str) -> None:
    assert told(facts_of(line)) == []


def effect(head: str, last: str) -> date | None:
    dates = [one.day for one in facts_of(head, last).dates if one.kind is DateKind.EFFECTIVE]
    return dates[0] if dates else None


PASSED = "2020年5月1日 第十三届全国人民代表大会第三次会议通过"
DECIDED = f"{PASSED}\n\n2023年9月1日 第五次会议《关于修改〈甲乙条例〉的决定》修正"
REVISED = f"{PASSED}\n\n2023年9月1日 第五次会议修订"


@pytest.mark.parametrize(
    ("head", "last", "day"),
    [
        (PASSED, "第九条 本法自2020年8月1日起施行。", date(2020, 8, 1)),
        (PASSED, "第九条 本法自公布之日起施行。", date(2020, 5, 1)),
        (REVISED, "第九条 本法自公布之日起施行。", date(2023, 9, 1)),
        # The decision has its own day; that of the first wording stands still.
        (DECIDED, "第九条 本法自公布之日起施行。", None),
        ("甲乙", "第九条 本法自公布之日起施行。", None),
        # Another law's.
        (PASSED, "第九条 1993年2月22日通过的《某法》同时废止。", None),
    ],
)
def test_since_when_a_wording_holds(head: str, last: str, day: date | None) -> None:
    assert effect(head, last) == day


@pytest.mark.parametrize(
    ("head", "issuer", "level", "words"),
    [
        ("1996年10月3日 交通部令第8号发布", "交通部", "department_rule", "交通部"),
        (
            "1996年9月19日 经国务院批准\n\n1996年10月3日 交通部令第8号发布",
            "交通部", "administrative_regulation", "国务院批准",
        ),
        ("1949年12月23日 政务院发布", "政务院", "administrative_regulation", "政务院"),
        ("2008年7月17日 经公安部第6次会议通过", "公安部", "department_rule", "公安部"),
        (
            "2015年3月1日 甲乙市第十五届人民代表大会常务委员会通过",
            "甲乙市人民代表大会常务委员会", "local_regulation",
            "甲乙市第十五届人民代表大会常务委员会",
        ),
    ],
)  # fmt: skip
def test_who_made_it_tells_its_rank(head: str, issuer: str, level: str, words: str) -> None:
    facts = facts_of(head)
    assert facts.issuer is not None
    assert (facts.issuer.text, facts.level) == (issuer, level)
    assert facts.level_from is not None
    text = f"# 甲乙条例\n\n{head}"
    assert text[facts.level_from.start : facts.level_from.end] == words
