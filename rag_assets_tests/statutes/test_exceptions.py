"""Which words of an article except something, and which words they belong to."""

import pytest

from rag_assets.retrieval.statutes import (
    dropped_limit,
    exception_end,
    exceptions_around,
    exceptions_of,
    excepts,
)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("处二百元罚款，但是导盲犬除外。", True),
        ("除历史建筑外，不得拆除。", True),
        ("法律另有规定的，从其规定。", True),
        ("不适用前款规定。", True),
        ("Fees are paid, unless the court decides otherwise.", True),
        ("拆除历史建筑以外的建筑物的，应当经批准。", False),
        ("不但应当登记，而且应当公示。", False),
        ("凡遛犬者应当牵绳。", False),
    ],
)
def test_words_that_except(text: str, is_one: bool) -> None:
    assert excepts(text) is is_one


def test_an_exception_belongs_to_its_sentence_and_to_the_one_before() -> None:
    article = "遛犬应当牵绳。但导盲犬除外。\n\n养犬应当登记，警犬除外。\n\n犬只应当免疫。"

    def around(words: str) -> str | None:
        start = article.index(words)
        return exceptions_around(article, start, start + len(words))

    assert around("遛犬应当牵绳") == "但导盲犬除外。"
    assert around("养犬应当登记") == "警犬除外。"
    assert around("犬只应当免疫") is None
    assert exceptions_of(article) == ("但导盲犬除外。", "养犬应当登记，警犬除外。")


@pytest.mark.parametrize(
    ("said", "is_dropped"),
    [
        ("借款人应当向出借人支付利息。", True),
        ("借款人应当向出借人支付利息，利率超过四倍的除外。", False),
        # What the exception says, in other words.
        ("利率超过四倍的部分不受保护。", False),
    ],
)
def test_who_speaks_of_the_exception_drops_none(said: str, is_dropped: bool) -> None:
    article = "第三条 借款人应当向出借人支付利息。但是利率超过四倍的部分不予支持。"
    left = dropped_limit(article, 4, 16, said)
    assert left == ("但是利率超过四倍的部分不予支持。" if is_dropped else None)


@pytest.mark.parametrize(
    ("said", "condition"),
    [
        ("警车执行任务时一律不受限制。", "在确保安全的前提下"),
        ("警车在任何时候都不受限制。", "在确保安全的前提下"),
        ("警车执行任务时不受限制。", None),
        ("只要确保安全，警车就不受限制。", None),
        ("销售者只要不知情就不赔偿。", "能证明商品是合法取得的"),
        ("销售者证明商品合法取得的，一律不赔偿。", None),
        # Any one of these suffices.
        ("酒后驾驶的一律扣证。", None),
    ],
)
def test_who_says_that_a_rule_always_holds_drops_its_condition(
    said: str, condition: str | None
) -> None:
    article = (
        "警车执行任务时，在确保安全的前提下，不受限制。"
        "销售者不知情，能证明商品是合法取得的，不承担赔偿责任。"
        "有下列情形之一的，扣留驾驶证：（一）酒后驾驶；（二）超速。"
    )
    sentences = [sentence + "。" for sentence in article.split("。")[:-1]]
    about = max(sentences, key=lambda sentence: len(set(sentence) & set(said)))
    start = article.index(about)
    assert dropped_limit(article, start, start + len(about), said) == condition


def test_a_quote_goes_on_to_the_exception_behind_it() -> None:
    article = "养犬应当登记。但导盲犬除外。遛犬应当牵绳。"
    assert article[: exception_end(article, 7)] == "养犬应当登记。但导盲犬除外。"
    assert exception_end(article, 14) == 14
