"""Articles that a question names stand first, over real search tables."""

from typing import Any

import pytest

from rag_assets.retrieval import AskedQuery, Hit, Ranking, Reader, SearchFilters, rank_chunks
from rag_assets.retrieval.hits import backfill_parents
from rag_assets_tests.publishing.made_up_tables import chunk_rows
from rag_assets_tests.retrieval.made_up_readers import configured
from rag_assets_tests.retrieval.publications import PublicationMaker

LAWS = {
    "渡船法": [
        "第一章 总则\n第一条 为了规范渡船，制定本法。\n第二条 渡船应当每年检验一次。",
        "第三条 船员不得饮酒。违反第二十条规定的，依照第二十条处罚；第二十条另有规定的除外。",
        "第二十条 无证经营渡船的，处一千元罚款。\n第二十条之一 再犯的，吊销执照。",
        "第二十一条 本法自2020年1月1日起施行。",
    ],
    "渡船法实施条例": [
        "第一条 根据渡船法，制定本条例。\n第二条 检验由港口负责。",
        "第三条 渡船法第二十条规定的罚款，由港口收取。\n第二十条 港口应当公布渡船的检验结果。",
    ],
}


@pytest.fixture(scope="module")
def library(make_publication: PublicationMaker) -> Reader:
    return make_publication("law", chunk_rows(LAWS, "law"))


def asked(reader: Reader, question: str, *, method: str = "lexical", **changes: Any) -> Ranking:
    query = AskedQuery(question, "zh", {"q_zh": question}, {})
    filters = changes.pop("filters", SearchFilters())
    return rank_chunks([reader], query, configured(method=method, **changes), filters)


def first(found: Ranking) -> Hit:
    return found.hits[0]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("《渡船法》第二十条", "渡船法:2"),
        ("渡船法第20条规定了什么", "渡船法:2"),
        ("渡船法实施条例第二十条", "渡船法实施条例:1"),
        ("第２０条 渡船法", "渡船法:2"),
        ("渡船法第二十条之一", "渡船法:2"),
        ("渡船法第二十一条", "渡船法:3"),
    ],
)
def test_the_named_article_is_first(library: Reader, question: str, expected: str) -> None:
    found = asked(library, question)
    assert first(found).chunk_id == expected
    assert "named_article" in first(found).explanation
    assert first(found).score == max(hit.score for hit in found.hits)
    assert found.warnings == ()


def test_of_two_versions_the_newest_is_kept_also_where_both_say_the_same(
    make_publication: PublicationMaker,
) -> None:
    text = "第五条 渡船应当有两名船员。"
    rows = chunk_rows({"港口法(2001-01-01)": [text], "港口法(2020-01-01)": [text]}, "versions")
    (hit,) = asked(make_publication("versions", rows), "港口法第五条").hits
    assert hit.doc_uid == "港口法(2020-01-01)"
    assert hit.copies == ("versions::港口法(2001-01-01):0",)


def test_without_a_law_each_article_of_the_number_is_first(library: Reader) -> None:
    found = asked(library, "第二十条 港口公布检验结果")
    assert [hit.chunk_id for hit in found.hits[:2]] == ["渡船法实施条例:1", "渡船法:2"]


def test_each_named_article_is_a_result_of_its_own(library: Reader) -> None:
    found = asked(library, "渡船法第二十条和第二十一条")
    parents = backfill_parents([library], found.hits, 3)
    assert [hit.best.chunk_id for hit in parents[:2]] == ["渡船法:2", "渡船法:3"]
    assert parents[0].parent.parent_id == parents[1].parent.parent_id


def test_a_law_or_article_that_is_not_there_is_said(library: Reader) -> None:
    found = asked(library, "《航空法》第二十条")
    assert not any("named_article" in hit.explanation for hit in found.hits)
    assert "《航空法》 is not the name of a document searched" in found.warnings[0]
    assert asked(library, "渡船法第九十条").warnings == (
        "《渡船法》 has no 第九十条 among the passages searched",
    )
    assert asked(library, "第九十条").warnings == ("no passage searched begins with 第九十条",)


def test_filters_hold_for_named_articles(library: Reader) -> None:
    only = SearchFilters(doc_uids=("渡船法实施条例",))
    found = asked(library, "渡船法第二十条", filters=only)
    assert {hit.doc_uid for hit in found.hits} == {"渡船法实施条例"}
    assert found.warnings


def test_a_threshold_drops_no_named_article(library: Reader) -> None:
    found = asked(library, "渡船法第二十条", score_threshold=1e9)
    assert [hit.chunk_id for hit in found.hits] == ["渡船法:2"]
