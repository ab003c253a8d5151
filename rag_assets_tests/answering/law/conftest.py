"""Statutes made up for this: two wordings, two ranks, an exception, a law that is repealed."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from rag_assets.answering import answer_scorer
from rag_assets.answering.agents.trace import Limits
from rag_assets.answering.law import LawAnswer, LawQuestion, answer_statutes
from rag_assets.judging import Judgement, PassageText, Scorer, Thresholds
from rag_assets.judging.facts import choose_sentences, likeliest
from rag_assets.llm import ChatRequest
from rag_assets.retrieval import Retriever
from rag_assets.workspace import Workspace, shipped_settings
from rag_assets_tests.libraries import HASHING, build, make_workspace
from rag_assets_tests.llm.models import RulesModel

OLD = """# 甲乙市养犬条例

2015年3月1日 甲乙市第十五届人民代表大会常务委员会第三次会议通过

第一条 为了管理养犬，制定本条例。

第二条 遛犬不牵绳的，由公安机关责令改正，处一百元罚款。

第三条 本条例自2015年6月1日起施行。
"""
NEW = """# 甲乙市养犬条例

2015年3月1日 甲乙市第十五届人民代表大会常务委员会第三次会议通过

2020年5月1日 甲乙市第十六届人民代表大会常务委员会第九次会议修订

## 第一章 总则

第一条 为了规范养犬，制定本条例。

第二条 个人饲养犬只应当办理登记。

## 第二章 罚则

第三条 遛犬不牵绳的，由公安机关责令改正，处二百元罚款，但是导盲犬除外。

第四条 犬只咬伤他人的，饲养人应当将伤者送医。

有下列情形之一的，没收犬只：

（一）一年内咬伤他人两次的；

（二）咬伤他人后逃逸的。

警犬不适用前款规定。

第五条 本条例自2020年9月1日起施行。《甲乙市犬类管理办法》同时废止。
"""
NATIONAL = """# 犬只管理法

2018年3月1日 第十三届全国人民代表大会常务委员会第一次会议通过

第一条 遛犬不牵绳的，处五百元罚款。

第二条 盲人可以携带导盲犬进入公共场所。不得收取费用。

第三条 本法自2018年6月1日起施行。
"""
REPEALED = """# 甲乙市犬类管理办法

2010年3月1日 甲乙市人民政府令第3号公布

第一条 遛犬不牵绳的，处二十元罚款。

第二条 本办法自2010年6月1日起施行。
"""
QUESTION = "遛犬不牵绳怎么处罚？"
DAY = "2021-01-01"
NEW_FINE = "[甲乙市养犬条例(2020-05-01) > 第二章 罚则 > 第三条]"
NEW_BITE = "[甲乙市养犬条例(2020-05-01) > 第二章 罚则 > 第四条]"
OLD_FINE = "[甲乙市养犬条例(2015-03-01) > 第二条]"
LAW_FINE = "[犬只管理法 > 第一条]"
REPEALED_FINE = "[甲乙市犬类管理办法 > 第一条]"
Asking = Callable[..., LawAnswer]


@pytest.fixture(scope="session")
def laws(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    files = {
        "evidence/甲乙市养犬条例(2015-03-01).md": OLD,
        "evidence/甲乙市养犬条例(2020-05-01).md": NEW,
        "evidence/犬只管理法.md": NATIONAL,
        "evidence/甲乙市犬类管理办法.md": REPEALED,
    }
    made = make_workspace(
        tmp_path_factory.mktemp("laws"), files, {**HASHING, "chunk": {"mode": "law"}}
    )
    build(made.namespace("thesis"))
    return made


@pytest.fixture(scope="session")
def statutes(laws: Workspace) -> Iterator[Retriever]:
    with Retriever(laws) as opened:
        yield opened


@pytest.fixture(scope="session")
def ask(statutes: Retriever) -> Asking:
    """Return what asks rules, or a model that says what it is given."""

    def asked(
        points: list[dict[str, Any]] | None = None,
        conflicts: list[dict[str, Any]] | None = None,
        *,
        day: str = DAY,
        first: list[str] | None = None,
        question: str = QUESTION,
        scorer: Scorer | None = None,
    ) -> LawAnswer:
        turns = [*(first or []), finish(points or [], conflicts)]

        def say(request: ChatRequest) -> str:
            return turns[sum(message.role == "assistant" for message in request.messages) - 1]

        is_scripted = points is not None or conflicts is not None
        return answer_statutes(
            statutes, LawQuestion(question, day), Limits(steps=5, calls=12, repairs=0),
            model=RulesModel("scripted", say) if is_scripted else None,
            scorer=scorer or answer_scorer(shipped_settings()), clock=lambda: 0.0,
        )  # fmt: skip

    return asked


class Gullible:
    """A reader that takes everything for supported, by the likeliest sentence."""

    name = "llm"
    fingerprint = "gullible"
    thresholds = Thresholds(0.5, 0.2, "made up", "made up")

    def judge(self, claims: Sequence[tuple[str, Sequence[PassageText]]]) -> list[Judgement]:
        found = [likeliest(choose_sentences(claim, passages)) for claim, passages in claims]
        return [
            Judgement(1.0, "OK", "supported", "It seems so.", one.passage, one.span)
            for one in found
        ]


def act(action: str, arguments: dict[str, Any]) -> str:
    return json.dumps({"thought": "So.", "action": action, "arguments": arguments})


def finish(points: list[dict[str, Any]], conflicts: list[dict[str, Any]] | None) -> str:
    return act("finish", {"points": points, "conflicts": conflicts})


def point(text: str, *citations: str) -> dict[str, Any]:
    return {"text": text, "citations": list(citations)}
