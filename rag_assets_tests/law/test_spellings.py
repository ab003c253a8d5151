"""Every spelling in use of an article leads to its law, and what names none is left alone.

Both tables were written by us: they show what is read, not how people write.
"""

from pathlib import Path

import pytest

from rag_assets.law import LawNames, find_begins, find_references, national_laws
from rag_assets.law.citing import read_citation, write_citation
from rag_assets.law.names import plain_name

FOLDER = Path(__file__).parent
ROWS = [
    [*line.split("\t"), "", ""][:5]
    for line in (FOLDER / "article_spellings.tsv").read_text("utf-8").splitlines()
]
BOOKS = ("总则", "物权编", "合同编", "婚姻家庭编", "附则")
LAWS = LawNames(
    {title: [title] for title in {row[1] for row in ROWS} - {"民法典", "公司法"}}
    | {f"民法典{book}": [f"中华人民共和国民法典{book}", book] for book in BOOKS}
    | {day: [f"公司法({day})", "中华人民共和国公司法"] for day in ("2018-10-26", "2023-12-29")}
)


def read(text: str) -> list[tuple[str, str, int | None, int | None]]:
    return [
        (one.key, plain_name(one.documents[0])[:3], one.paragraph, one.item)
        for one in find_references(text, LAWS)
        if one.documents
    ]


@pytest.mark.parametrize(("text", "title", "keys", "paragraph", "item"), ROWS)
def test_a_spelling_leads_to_its_article(
    text: str, title: str, keys: str, paragraph: str, item: str
) -> None:
    law = "202" if title == "公司法" else plain_name(title)[:3]
    if "2018" in text and title == "公司法":
        law = "201"
    clause = int(paragraph) if paragraph else None, int(item) if item else None
    assert read(text) == [(key, law, *clause) for key in keys.split(",")]


def test_an_article_is_shown_as_statutes_begin_it() -> None:
    shown = [one for text, *_ in ROWS for one in find_references(text, LAWS)]
    assert [find_begins(f"{one.shown} 甲")[0].key for one in shown] == [one.key for one in shown]


def test_what_names_no_article_of_a_law_is_not_read() -> None:
    texts = (FOLDER / "no_articles.txt").read_text("utf-8").splitlines()
    assert [text for text in texts if find_references(text, LAWS)] == []


def test_each_name_that_is_suggested_is_a_name() -> None:
    for written in ("消费者权益保障法", "民法典合同篇", "Labor Contact Law"):
        near = LAWS.nearest(written)
        assert near
        assert all(LAWS.find(f"《{name}》") for name in near)


def test_listed_names_are_of_one_law_each() -> None:
    laws = national_laws()
    for name, title in {
        "Law of the People's Republic of China on Road Traffic Safety": "道路交通安全法",
        "labour contract law": "劳动合同法",
        "勞動合同法": "劳动合同法",
        "消保法": "消费者权益保护法",
    }.items():
        assert laws.find(name) == [title]
    assert laws.find("Safety Law") == laws.find("劳合法") == []


def test_a_number_in_brackets_is_a_paragraph_or_an_item() -> None:
    (found,) = find_references("Article 39(2) of the Labor Contract Law", LAWS)
    assert (found.paragraph, found.item, found.is_bracketed) == (2, None, True)


def test_long_texts_are_read_in_their_length() -> None:
    for text in (
        "the law of the land and " * 400 + "# art. 3",
        "第一编 " * 400 + "第五",
        "word'-" * 400,
    ):
        assert find_references(text, LAWS) == []


@pytest.mark.parametrize(
    "law", ["最高人民法院关于适用刑法第十二条几个问题的解释", "甲省实施《乙法》第三条的办法"]
)
def test_a_law_whose_name_holds_an_article_is_cited_like_others(law: str) -> None:
    asked = read_citation(write_citation(law, ("第一章",), "第二条"))
    assert (asked.law, asked.path, asked.key) == (law, ("第一章",), "2")
