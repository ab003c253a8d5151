"""Which words of an article except something, and which words they belong to."""

import pytest

from rag_assets.statutes.exceptions import exceptions_around, exceptions_of, excepts


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
