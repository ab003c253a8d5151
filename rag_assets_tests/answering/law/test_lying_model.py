"""A model that lies about law: no lie is kept, every one is listed, with its reason."""

import pytest

from rag_assets.answering.law import (
    LawAnswer,
    render_law_answer,
    replay_law_answer,
    write_law_answer,
)
from rag_assets_tests.answering.law.conftest import (
    LAW_FINE,
    NEW_BITE,
    NEW_FINE,
    OLD_FINE,
    REPEALED_FINE,
    Asking,
    Gullible,
    act,
    point,
)

FINE = "遛犬不牵绳的，由公安机关责令改正，处二百元罚款，但是导盲犬除外。"
LAW_SAYS = "遛犬不牵绳的，处五百元罚款。"
LIES = {
    "wrong article number": (point(FINE, NEW_BITE), "unread"),
    "no such article": (point(FINE, NEW_FINE.replace("第三条", "第三十条")), "unknown_alias"),
    "wrong law": (point(FINE, LAW_FINE), "facts_differ"),
    "made-up law": (point(FINE, "[甲乙市犬只管理办法 > 第三条]"), "unknown_alias"),
    "wrong chapter": (point(FINE, NEW_FINE.replace("第二章 罚则", "第一章 总则")), "unknown_alias"),
    "wrong day": (point(FINE, NEW_FINE.replace("2020-05-01", "2019-05-01")), "unknown_alias"),
    "superseded wording": (
        point("遛犬不牵绳的，由公安机关责令改正，处一百元罚款。", OLD_FINE),
        "not_in_force",
    ),
    "repealed law": (point("遛犬不牵绳的，处二十元罚款。", REPEALED_FINE), "not_in_force"),
    "cropped exception": (
        point("遛犬不牵绳的，由公安机关责令改正，处二百元罚款。", NEW_FINE),
        "unread",
    ),
    "other number": (point(FINE.replace("二百", "两千"), NEW_FINE), "facts_differ"),
    "not in the text": (point("遛犬不牵绳的，吊销养犬登记证。", NEW_FINE), "unread"),
    "wrong paragraph": (
        point("犬只咬伤他人的，饲养人应当将伤者送医。", NEW_BITE.replace("]", "第二款]")),
        "wrong_clause",
    ),
    "no such paragraph": (point(FINE, NEW_FINE.replace("]", "第七款]")), "unknown_alias"),
    "no citation": (point(FINE), "no_citation"),
    "unknown alias": (point(FINE, "C99"), "unknown_alias"),
    "no form": (point(FINE, "养犬条例第三条"), "unknown_alias"),
    "one of two made up": (point(FINE, NEW_FINE, "[刑法 > 第一条]"), "unknown_alias"),
    "another law credited": (point(f"根据《动物防疫法》，{FINE}", NEW_FINE), "wrong_credit"),
}


@pytest.mark.parametrize("kind", LIES)
def test_a_lie_is_dropped_and_listed(ask: Asking, kind: str) -> None:
    lie, code = LIES[kind]
    answer = ask([lie])
    assert answer.points == ()
    (dropped,) = answer.dropped
    assert (dropped.statement.text, dropped.statement.reason_code) == (lie["text"], code)
    assert dropped.statement.reason
    assert "均未保留" in answer.notices[0]
    said, _, listed = render_law_answer(answer).partition("## 未采纳")
    assert lie["text"] not in said.split("\n", 1)[1]
    assert lie["text"] in listed
    require_replay(answer)


def test_what_crops_an_exception_is_dropped_though_the_reader_lets_it_pass(ask: Asking) -> None:
    cropped = point("遛犬不牵绳的，由公安机关责令改正，处二百元罚款。", NEW_FINE)
    answer = ask([cropped, point(FINE, NEW_FINE)], scorer=Gullible())
    assert [one.statement.text for one in answer.points] == [FINE]
    (dropped,) = answer.dropped
    assert dropped.statement.reason_code == "drops_exception"
    assert "但是导盲犬除外" in dropped.statement.reason
    require_replay(answer)


def test_lies_among_truths_take_no_truth_with_them(ask: Asking) -> None:
    truths = [point(FINE, NEW_FINE), point(LAW_SAYS, LAW_FINE)]
    answer = ask([truths[0], *(lie for lie, _ in LIES.values()), truths[1]])
    assert [one.statement.text for one in answer.points] == [FINE, LAW_SAYS]
    assert [one.citations for one in answer.points] == [(NEW_FINE,), (LAW_FINE,)]
    assert len(answer.dropped) == len(LIES)
    require_replay(answer)


def test_an_article_is_cited_by_its_mark_or_within_the_sentence(ask: Asking) -> None:
    (alias,) = (one.alias for one in ask().sources.values() if one.citation == LAW_FINE)
    answer = ask([point(f"{FINE[:-1]}{NEW_FINE}。"), point(LAW_SAYS, alias)])
    assert [one.citations for one in answer.points] == [(NEW_FINE,), (LAW_FINE,)]


def test_an_exception_elsewhere_in_the_article_is_shown_beside_the_point(ask: Asking) -> None:
    (kept,) = ask([point("犬只咬伤他人的，饲养人应当将伤者送医。", NEW_BITE)]).points
    assert kept.exceptions == ("警犬不适用前款规定。",)


def test_an_article_is_shown_whole_whatever_clause_is_cited(ask: Asking) -> None:
    cited = NEW_BITE.replace("]", "第一款]")
    answer = ask([point("犬只咬伤他人的，饲养人应当将伤者送医。", cited)])
    assert answer.points[0].citations == (cited,)
    assert "（二）咬伤他人后逃逸的" in render_law_answer(answer)


def test_a_conflict_shows_both_and_the_higher_rank_prevails(ask: Asking) -> None:
    sides = {"prevails": LAW_FINE, "prevails_says": LAW_SAYS, "yields": NEW_FINE,
             "yields_says": FINE}  # fmt: skip
    answer = ask([point(LAW_SAYS, LAW_FINE)], [sides])
    (kept,) = [one for one in answer.conflicts if one.said]
    assert kept.by == "rank"
    page = render_law_answer(answer)
    assert LAW_SAYS in page and FINE in page and "层级较高" in page
    require_replay(answer)


def test_a_conflict_the_wrong_way_around_is_dropped(ask: Asking) -> None:
    sides = {"prevails": NEW_FINE, "prevails_says": FINE, "yields": LAW_FINE,
             "yields_says": LAW_SAYS}  # fmt: skip
    answer = ask([point(LAW_SAYS, LAW_FINE)], [sides])
    assert not [one for one in answer.conflicts if one.said]
    assert {one.statement.reason_code for one in answer.dropped} == {"wrong_precedence"}
    assert len(answer.dropped) == 2
    require_replay(answer)


def test_a_conflict_with_a_made_up_side_is_dropped(ask: Asking) -> None:
    sides = {"prevails": LAW_FINE, "prevails_says": LAW_SAYS, "yields": NEW_FINE,
             "yields_says": "遛犬不牵绳的，处五千元罚款。"}  # fmt: skip
    answer = ask([], [sides])
    assert not [one for one in answer.conflicts if one.said]
    assert len(answer.dropped) == 2
    require_replay(answer)


def test_the_newer_wording_prevails_over_the_superseded_one(ask: Asking) -> None:
    old = "遛犬不牵绳的，由公安机关责令改正，处一百元罚款。"
    sides = {"prevails": NEW_FINE, "prevails_says": FINE, "yields": OLD_FINE, "yields_says": old}
    (kept,) = [one for one in ask([point(FINE, NEW_FINE)], [sides]).conflicts if one.said]
    assert kept.by == "wording"
    turned = {"prevails": OLD_FINE, "prevails_says": old, "yields": NEW_FINE, "yields_says": FINE}
    assert not [one for one in ask([], [turned]).conflicts if one.said]


def test_a_model_may_look_an_article_up_and_gets_it_whole(ask: Asking) -> None:
    free = "盲人可以携带导盲犬进入公共场所。"
    look = act("law_article", {"citation": "[犬只管理法 > 第二条第一款]"})
    answer = ask([point(free, "[犬只管理法 > 第二条]")], first=[look])
    assert [one.statement.text for one in answer.points] == [free]
    assert any("不得收取费用" in one.text for one in answer.trace.passages.values())


def test_what_is_refused_is_told_to_the_model(ask: Asking) -> None:
    look = act("law_article", {"citation": "[犬只管理法 > 第九十九条]"})
    answer = ask([point(LAW_SAYS, LAW_FINE)], first=[look])
    errors = [one.observation.error for one in answer.trace.steps if one.observation]
    assert any("第九十九条" in error for error in errors if error)


def test_an_unusable_answer_leaves_it_to_the_rules(ask: Asking) -> None:
    answer = ask([point(LAW_SAYS, LAW_FINE)], first=["not JSON"])
    assert answer.is_quoted
    assert any("规则继续" in notice for notice in answer.notices)


def require_replay(answer: LawAnswer) -> None:
    assert write_law_answer(replay_law_answer(answer)) == write_law_answer(answer)
