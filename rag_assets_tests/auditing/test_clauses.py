"""Citations of paragraphs and items of a Chinese statute."""

import pytest

from .world import audit_of, make_document, make_passage

CLAUSES = make_document(
    "wages",
    [
        make_passage(
            "wages",
            0,
            "第一条 工资按月支付。\n\n第二条 工会代表职工。\n\n第三条 "
            "有下列情形之一的，单位应当赔偿：\n\n（一）克扣工资；\n\n（二）拖欠奖金。\n\n赔偿金在十日内到账。",
        ),
        make_passage("wages", 1, "争议由仲裁委员会处理。\n\n第四条 本法自明年起施行。"),
    ],
    title="中华人民共和国工资法",
)


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("赔偿金在十日内到账{#wages, 第三条第二款}。", "第三条第二款"),
        ("《工资法》第三条第二款规定，赔偿金在十日内到账{#wages}。", "第三条第二款"),
        ("赔偿金在十日内到账{#wages, 第三条}。", "第三条第二款"),
        ("争议由仲裁委员会处理{#wages, 第3条第3款}。", "第三条第三款"),
        ("单位拖欠奖金{#wages, 第三条第一款第（二）项}。", "第三条第一款第二项"),
        ("单位拖欠奖金{#wages, 第三条第二项}。", "第三条第一款第二项"),
        ("有下列情形之一的，单位应当赔偿{#wages, 第三条第一款第一项}。", "第三条第一款"),
        ("单位克扣工资{#wages, 第三条第一项、第二项}。", "第三条第一款第一项"),
        ("工会代表职工{#wages, 第二条第一款}。", "第二条"),
    ],
)
def test_the_clause_that_is_named_is_looked_at_and_told(sentence: str, found: str) -> None:
    (row,) = audit_of(sentence, [CLAUSES]).rows
    assert row.status == "OK"
    assert row.locator is not None
    assert row.locator.startswith(f"{found}, ")


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("赔偿金在十日内到账{#wages, 第三条第一款}。", "第三条第二款"),
        ("赔偿金在十日内到账{#wages, 第三条第九款}。", "第三条第二款"),
        ("《工资法》第三条第三款规定，赔偿金在十日内到账{#wages}。", "第三条第二款"),
        ("单位拖欠奖金{#wages, 第三条第一项}。", "第三条第一款第二项"),
        ("单位拖欠奖金{#wages, 第三条第一款第一项}。", "第三条第一款第二项"),
    ],
)
def test_support_by_another_clause_is_weak_and_says_which(sentence: str, found: str) -> None:
    (row,) = audit_of(sentence, [CLAUSES]).rows
    assert (row.status, row.reason_code) == ("WEAK", "wrong_article")
    assert row.reason.startswith(f"Supported by {found}, but the citation says 第")


FIRST = "第一条 略。\n\n第二条 略。\n\n第三条 单位应当赔偿。"


@pytest.mark.parametrize(("gap", "found"), [(0, "第三条"), (2, "第三条第二款"), (-3, "第三条")])
def test_a_passage_may_go_on_with_a_paragraph(gap: int, found: str) -> None:
    # Where passages overlap, nothing tells how many paragraphs there are.
    rest = "争议由仲裁委员会处理。\n\n第四条 略。"
    passages = [
        make_passage("wages", 0, FIRST, start=0),
        make_passage("wages", 1, rest, start=len(FIRST) + gap),
    ]
    law = make_document("wages", passages, title="中华人民共和国工资法")
    (row,) = audit_of("争议由仲裁委员会处理{#wages, 第三条}。", [law]).rows
    assert row.locator is not None
    assert row.locator.startswith(f"{found}, ")


def test_clauses_of_a_number_that_begins_two_articles_are_not_counted() -> None:
    # The rules that an annex adds have a third article as well.
    annex = make_passage("wages", 2, "附件 细则\n\n第三条 争议由法院处理。")
    law = make_document("wages", [*CLAUSES.passages, annex], title="中华人民共和国工资法")
    (row,) = audit_of("争议由法院处理{#wages, 第三条第一款}。", [law]).rows
    assert row.status == "OK"
    assert row.locator is not None
    assert row.locator.startswith("第三条, ")
