"""Packs from statutes: the article that a question names, its words and its locator."""

import pytest

from rag_assets.evidence import EvidencePack, Question, make_pack, render_pack
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import build, make_workspace

FERRIES = """# 渡船管理条例

## 第一章 总则

第一条 为了规范渡船的经营，制定本条例。

第二条 渡船应当每年检验一次。检验由港口负责，费用由船主承担。

## 第二章 罚则

第三条 有下列情形之一的，处一千元以上五千元以下的罚款：

（一）没有执照经营渡船的；

（二）载客超过核定人数的。

第四条 本条例自2020年1月1日起施行。依照第三条处罚的，应当听取船主的陈述。
"""
FILES = {
    "evidence/渡船管理条例.md": FERRIES,
    "evidence/笔记.md": "# 笔记\n\n渡船管理条例第三条的罚款最高为五千元，第三条不适用于货船。\n",
}


@pytest.fixture(scope="module")
def statutes(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    made = make_workspace(tmp_path_factory.mktemp("statutes"), FILES)
    build(made.namespace("thesis"))
    return made


def pack(workspace: Workspace, question: str) -> EvidencePack:
    return make_pack(workspace, Question(question=question))


@pytest.mark.parametrize("question", ["《渡船管理条例》第三条", "渡船管理条例第3条规定了什么？"])
def test_the_quote_is_the_article_from_its_beginning(statutes: Workspace, question: str) -> None:
    item = pack(statutes, question).items[0]
    assert item.exact_quote.startswith("第三条 有下列情形之一的")
    assert item.locator.startswith("第三条, ")
    assert "第四条" not in item.exact_quote


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("《渡船管理条例》第三条第二项", "（二）载客超过核定人数的。"),
        ("渡船管理条例第3条第（一）项规定了什么？", "（一）没有执照经营渡船的；"),
        ("渡船管理条例第三条第一款第二项", "（二）载客超过核定人数的。"),
    ],
)
def test_the_quote_is_the_clause_that_a_question_names(
    statutes: Workspace, question: str, found: str
) -> None:
    item = pack(statutes, question).items[0]
    assert item.exact_quote == found
    assert item.locator.startswith(f"第三条第{'二' if '二' in found else '一'}项, ")


@pytest.mark.parametrize("named", ["第三条第九款", "第三条第九项", "第三条第一项和第二项"])
def test_a_clause_that_is_not_there_or_several_quote_the_article(
    statutes: Workspace, named: str
) -> None:
    item = pack(statutes, f"《渡船管理条例》{named}").items[0]
    assert item.exact_quote.startswith("第三条 有下列情形之一的")


def test_a_quote_within_an_article_is_located_by_it(statutes: Workspace) -> None:
    found = pack(statutes, "渡船检验的费用由谁承担？").items[0]
    assert "费用由船主承担" in found.exact_quote
    assert found.locator.startswith("第二条, ")


def test_what_is_no_statute_has_no_articles(statutes: Workspace) -> None:
    items = pack(statutes, "第三条不适用于货船吗").items
    (note,) = [item for item in items if item.title == "笔记"]
    assert note.locator.startswith("笔记, ")


def test_a_law_that_is_not_there_is_a_warning(statutes: Workspace) -> None:
    warnings = pack(statutes, "《航空法》第三条").warnings
    assert any("《航空法》 is not the name of a document searched" in text for text in warnings)


def test_place_in_a_statute_stands_once_and_headings_are_no_headings_of_the_pack(
    statutes: Workspace,
) -> None:
    asked = pack(statutes, "渡船应当每年检验一次，检验由谁负责？")
    shown = render_pack(asked)
    best = asked.items[0]
    where = next(line for line in shown.splitlines() if best.parent_id in line)
    assert where.count("characters") == 1
    assert where.count("第一章 总则") == 1
    assert "## 第一章" in best.snippet
    assert not [line for line in shown.splitlines() if line.startswith("> #")]
