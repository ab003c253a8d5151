"""Questions to statutes: whole articles with citations that lead back, ranked and dated."""

import json
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from click.testing import CliRunner, Result

from rag_assets.cli.main import build_cli
from rag_assets.desk.tools import TOOLS
from rag_assets.model import UsageError
from rag_assets.retrieval import OpenedLibrary, Retriever
from rag_assets.retrieval.statutes import LawShelf, search_statutes
from rag_assets_tests.libraries import HASHING, build, make_workspace

OLD = """# 甲乙市养犬条例

2015年3月1日 甲乙市第十五届人民代表大会常务委员会第三次会议通过

第一条 为了管理养犬，制定本条例。

第二条 遛犬不牵绳的，罚款一百元。

第三条 本条例自2015年6月1日起施行。
"""
NEW = """# 甲乙市养犬条例

2015年3月1日 甲乙市第十五届人民代表大会常务委员会第三次会议通过

2020年5月1日 甲乙市第十六届人民代表大会常务委员会第九次会议修订

## 第一章 总则

第一条 为了规范养犬，制定本条例。

第二条 遛犬不牵绳的，罚款二百元。

第十二条 犬只咬伤他人的，依法赔偿。

## 第二章 附则

第三十条 本条例自2020年9月1日起施行。
"""
NATIONAL = f"""# 犬只管理法

2018年3月1日 第十三届全国人民代表大会常务委员会第一次会议通过

第一条 遛犬应当牵绳。{"饲养人应当妥善管理犬只。" * 150}

第二条 本法自2018年6月1日起施行。
"""
DAY = date(2021, 1, 1)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenedLibrary]:
    files = {
        "evidence/甲乙市养犬条例(2015-03-01).md": OLD,
        "evidence/甲乙市养犬条例(2020-05-01).md": NEW,
        "evidence/犬只管理法.md": NATIONAL,
    }
    workspace = make_workspace(
        tmp_path_factory.mktemp("laws"), files, {**HASHING, "chunk": {"mode": "law"}}
    )
    build(workspace.namespace("thesis"))
    with OpenedLibrary(workspace) as opened:
        yield opened


def rag(library: OpenedLibrary, *arguments: str) -> Result:
    return CliRunner().invoke(
        build_cli(), ["--workspace", str(library.workspace.root), "law", *arguments]
    )


def call(library: OpenedLibrary, tool: str, **arguments: Any) -> Any:
    return TOOLS[tool].call(library, arguments)


def test_articles_are_whole_and_their_citations_lead_back(library: OpenedLibrary) -> None:
    found = search_statutes(library, "遛犬不牵绳", DAY).found
    assert found
    with library.hold() as held:
        shelf = LawShelf(held, DAY)
        for one in found:
            assert not one.unresolved
            for article in one.articles:
                again = shelf.article(article.citation)
                assert (again.text, again.start) == (article.text, article.start)
                assert article.text in one.text
    long = next(one for one in found if one.source.startswith("<<Source: 犬只管理法"))
    # Found by a part of it, shown whole.
    assert len(long.hit.text) < len(long.articles[0].text)


def test_a_question_is_answered_by_the_wording_of_the_day(library: OpenedLibrary) -> None:
    def fines(day: date, *, all_versions: bool = False) -> set[str]:
        found = search_statutes(library, "遛犬不牵绳罚款", day, all_versions=all_versions).found
        return {one.text[-5:-1] for one in found if "罚款" in one.text}

    assert fines(date(2020, 8, 31)) == {"款一百元"}
    assert fines(date(2020, 9, 1)) == {"款二百元"}
    assert fines(DAY, all_versions=True) == {"款一百元", "款二百元"}


def test_another_article_never_stands_for_the_one_that_is_named(library: OpenedLibrary) -> None:
    first = search_statutes(library, "甲乙市养犬条例第二条", DAY).found[0]
    assert [article.shown for article in first.articles] == ["第二条"]
    search = search_statutes(library, "甲乙市养犬条例第三条", DAY)
    assert all("named_article" not in one.hit.explanation for one in search.found)
    assert any("第三条" in warning for warning in search.warnings)


def test_a_library_without_statutes_says_so(tmp_path_factory: pytest.TempPathFactory) -> None:
    workspace = make_workspace(
        tmp_path_factory.mktemp("notes"), {"evidence/note.md": "Cool roofs."}, HASHING
    )
    build(workspace.namespace("thesis"))
    with OpenedLibrary(workspace) as opened, pytest.raises(UsageError, match=r"chunk\.mode: law"):
        search_statutes(opened, "roofs", DAY)


def test_tools_give_articles_with_source_and_standing(library: OpenedLibrary) -> None:
    found = call(library, "law_search", query="遛犬不牵绳", as_of="2021-01-01")
    assert found["as_of"] == "2021-01-01"
    hit = next(one for one in found["hits"] if one["source"].endswith("第一章 总则>>"))
    (article,) = hit["articles"]
    assert article["citation"] == "[甲乙市养犬条例(2020-05-01) > 第一章 总则 > 第二条]"
    assert (article["standing"], article["level"]) == ("in_force", "local_regulation")
    assert article["text"] in hit["unit"]
    one = call(library, "law_article", citation=article["citation"], as_of="2021-01-01")
    assert one == article
    with pytest.raises(UsageError, match="name the day"):
        call(library, "law_article", citation=article["citation"])


def test_the_command_prints_articles_as_found(library: OpenedLibrary) -> None:
    asked = ("search", "遛犬不牵绳", "--as-of", "2021-01-01")
    printed = rag(library, *asked).output
    assert "1. <<Source: " in printed
    assert "[甲乙市养犬条例(2020-05-01) > 第一章 总则 > 第二条]\nin force" in printed
    every = rag(library, *asked, "--all-versions").output
    assert "SUPERSEDED, wording of 2015-03-01" in every
    data = json.loads(rag(library, *asked, "--json").output)
    assert data["hits"][0]["rank"] == 1


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenedLibrary]:
    case = (
        "# 遛犬不牵绳案\n\n## 基本案情\n\n遛犬不牵绳，罚款。\n\n## 裁判结果\n\n遛犬不牵绳罚款。\n"
    )
    files = {
        "evidence/案例/甲.md": case,
        "evidence/案例/乙.md": case.replace("不牵绳，", "不牵绳的，"),
        # Before the file of its own, by name; its article 2 has another space.
        "evidence/汇编.md": OLD.replace("第二条 ", "第二条\u3000") + f"\n{NATIONAL}",
        "evidence/甲乙市养犬条例(2015-03-01).md": OLD,
    }
    params = {"path": {"汇编": 0.5, "evidence": 1.1}}
    rerank = {"mode": "weighted", "score_mode": "raw", "params": params}
    settings = {**HASHING, "chunk": {"mode": "law"}, "retrieve": {"rerank": rerank}}
    workspace = make_workspace(tmp_path_factory.mktemp("mixed"), files, settings)
    build(workspace.namespace("thesis"))
    with OpenedLibrary(workspace) as opened:
        yield opened


def test_cases_take_no_places_and_a_compilation_cites_the_file_of_its_own(
    mixed: OpenedLibrary,
) -> None:
    found = search_statutes(mixed, "遛犬不牵绳罚款", DAY, top_k=3).found
    assert len(found) == 3
    files = {
        article.shown: article.version.law.file
        for one in search_statutes(mixed, "遛犬不牵绳罚款 为了管理养犬", DAY).found
        for article in one.articles
        if article.version.title == "甲乙市养犬条例"
    }
    assert {"第一条", "第二条"} <= files.keys()
    assert set(files.values()) == {"raw/evidence/甲乙市养犬条例(2015-03-01).md"}
    with Retriever(mixed) as retriever:
        hits = retriever.retrieve("为了管理养犬，制定本条例", top_k=50, as_of=DAY).hits
        (kept,) = [hit for hit in hits if hit.text == "第一条 为了管理养犬，制定本条例。"]
    assert kept.doc_id != "汇编" and "汇编" not in kept.doc_uid
    cited = [article.citation for one in found for article in one.articles]
    assert len(cited) == len(set(cited))
    with mixed.hold() as held:
        shelf = LawShelf(held, DAY)
        days = {str(one.version_date) for one in shelf.versions("甲乙市养犬条例")}
        assert days == {"2015-03-01"}
        (national,) = shelf.versions("犬只管理法")
        assert str(national.version_date) == "2018-03-01"


def test_no_heading_is_found(mixed: OpenedLibrary, library: OpenedLibrary) -> None:
    for opened, question in ((mixed, "遛犬不牵绳案 基本案情"), (library, "第一章 总则")):
        with Retriever(opened) as retriever:
            texts = [hit.text for hit in retriever.retrieve(question, top_k=50).hits]
        assert texts
        assert not any(all(line.startswith("#") for line in text.split("\n\n")) for text in texts)


def test_the_explanation_names_the_folder(mixed: OpenedLibrary) -> None:
    told = rag(mixed, "search", "遛犬不牵绳罚款", "--explain", "--as-of", "2021-01-01").output
    assert "× folder evidence 1.1 = " in told
