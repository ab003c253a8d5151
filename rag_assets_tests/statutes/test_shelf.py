"""Wordings of a law by day, articles cut out exactly, citations that lead back."""

import json
from collections.abc import Iterator
from datetime import date

import pytest
from click.testing import CliRunner, Result

from rag_assets.cli.main import build_cli
from rag_assets.law import write_number
from rag_assets.law.citing import StatuteCitation, read_citation, write_citation
from rag_assets.model import UsageError
from rag_assets.retrieval import OpenedLibrary
from rag_assets.retrieval.statutes import LawShelf
from rag_assets_tests.libraries import HASHING, build, make_workspace

OLD = """# 甲乙市养犬条例

2015年3月1日 甲乙市第十五届人民代表大会常务委员会第三次会议通过

## 第一章 总则

第一条 为了管理养犬，制定本条例。

第二条 违反本条例的，罚款一百元。

第三条 本条例自2015年6月1日起施行。
"""
NEW = """# 甲乙市养犬条例

2015年3月1日 甲乙市第十五届人民代表大会常务委员会第三次会议通过

2020年5月1日 甲乙市第十六届人民代表大会常务委员会第九次会议修订

## 第一章 总则

第一条 为了规范养犬，制定本条例。

依照第二条的规定处理。

第二条 有下列情形之一的，罚款二百元：

（一）不牵绳；

（二）扰民。

第二条之一 可以教育。

## 第二章 附则

第三条 本条例自2020年9月1日起施行。
"""
# An amendment whose last article still gives the day of the first wording.
AMENDED = """# 丙丁办法

2010年1月1日 国务院令第1号发布

2019年4月1日 根据《国务院关于修改部分行政法规的决定》修订

第一条 甲。

第二条 乙。

第三条 本办法自2010年3月1日起施行。
"""


def book(name: str, first: int) -> str:
    articles = (f"第{write_number(first + one)}条 {name}之{one}。" for one in range(3))
    head = f"# 中华人民共和国民法典\n\n# {name}\n\n2020年5月28日 全国人民代表大会通过\n\n"
    return head + "\n\n".join(articles) + "\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenedLibrary]:
    files = {
        "evidence/甲乙市养犬条例(2015-03-01).md": OLD,
        "evidence/甲乙市养犬条例(2020-05-01).md": NEW,
        "evidence/丙丁办法(2019-04-01).md": AMENDED,
        "evidence/民法典/物权编.md": book("物权编", 205),
        "evidence/民法典/合同编.md": book("合同编", 462),
    }
    workspace = make_workspace(
        tmp_path_factory.mktemp("laws"), files, {**HASHING, "chunk": {"mode": "law"}}
    )
    build(workspace.namespace("thesis"))
    with OpenedLibrary(workspace) as opened:
        yield opened


def shelf(library: OpenedLibrary, day: date) -> LawShelf:
    with library.hold() as held:
        return LawShelf(held, day)


@pytest.mark.parametrize(
    ("day", "standings"),
    [
        (date(2015, 5, 31), ["not_yet_in_force", "not_yet_in_force"]),
        (date(2015, 6, 1), ["not_yet_in_force", "in_force"]),
        (date(2020, 8, 31), ["not_yet_in_force", "in_force"]),
        (date(2020, 9, 1), ["in_force", "superseded"]),
    ],
)
def test_the_newest_wording_is_not_the_one_in_force(
    library: OpenedLibrary, day: date, standings: list[str]
) -> None:
    found = shelf(library, day).versions("甲乙市养犬条例")
    assert [one.standing for one in found] == standings
    assert [one.holds_from for one in found] == [date(2020, 9, 1), date(2015, 6, 1)]
    assert [one.wording.region for one in found] == ["甲乙市", "甲乙市"]
    assert [one.wording.law_level for one in found] == ["local_regulation"] * 2


def test_an_article_is_of_the_wording_in_force(library: OpenedLibrary) -> None:
    asked = "[甲乙市养犬条例 > 第二条]"
    assert "一百元" in shelf(library, date(2020, 8, 31)).article(asked).text
    found = shelf(library, date(2021, 1, 1)).article(asked)
    assert found.text == "第二条 有下列情形之一的，罚款二百元：\n\n（一）不牵绳；\n\n（二）扰民。"
    assert found.citation == "[甲乙市养犬条例(2020-05-01) > 第一章 总则 > 第二条]"


def test_a_citation_leads_back_to_the_same_span(library: OpenedLibrary) -> None:
    laws = shelf(library, date(2021, 1, 1))
    for asked in ("第一条", "第二条", "第二条第二项", "第二条之一", "第三条", "第一条第二款"):
        found = laws.article(f"[甲乙市养犬条例 > {asked}]")
        again = laws.article(found.citation)
        assert (again.start, again.end, again.version) == (found.start, found.end, found.version)
    older = laws.article("[甲乙市养犬条例(2015-03-01) > 第二条]")
    assert "一百元" in older.text
    assert older.version.standing == "superseded"


def test_what_the_text_does_not_say_stays_unknown(library: OpenedLibrary) -> None:
    (found,) = shelf(library, date(2021, 1, 1)).versions("丙丁办法")
    assert found.wording.effective_on is None
    assert not found.is_stated
    assert found.holds_from == date(2019, 4, 1)
    assert found.wording.law_level == "administrative_regulation"


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("[无名法 > 第一条]", "not in this vault"),
        (
            "[养犬条例 > 第一条]",
            "《养犬条例》 is not in this vault. The nearest names are 《甲乙市养犬条例》",
        ),
        ("[甲乙条例 > 第一条]", "not in this vault"),
        ("[甲乙市养犬条例 > 第九条]", "nearest is 第三条"),
        ("[甲乙市养犬条例 > 第二章 > 第二条]", "第一章 总则"),
        ("[甲乙市养犬条例 > 第二条第七项]", "has items .项. up to 第二项, no 第七项"),
        ("[甲乙市养犬条例(1999-01-01) > 第二条]", "2020-05-01"),
        ("[甲乙市养犬条例]", "names no article"),
        ("[甲乙市养犬条例 > 第一章]", "names no article"),
        ("甲乙市养犬条例第一条第五款", "has 2 paragraphs .款., no 第五款"),
        ("民法典第八百条", r"nearest is 第四百六十四条: \[中华人民共和国民法典合同编"),
        ("民法典合同编第二百零六条", r"another book: \[中华人民共和国民法典物权编"),
        ("某某法第三条", "not in this vault"),
    ],
)
def test_what_is_not_there_is_refused_and_the_nearest_is_named(
    library: OpenedLibrary, asked: str, told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        shelf(library, date(2021, 1, 1)).article(asked)


def test_the_nearest_article_is_found_by_its_citation(library: OpenedLibrary) -> None:
    laws = shelf(library, date(2021, 1, 1))
    for asked in (
        "甲乙市养犬条例第9条",
        "民法典800",
        "民法典合同编§206",
        "甲乙市养犬条例第二条第七项",
    ):
        with pytest.raises(UsageError) as refused:
            laws.article(asked)
        printed = "[" + str(refused.value).rpartition("[")[2]
        assert laws.article(printed).citation in {
            printed[:-1],
            printed[:-1].replace("例 >", "例(2020-05-01) >"),
        }


def test_a_bracket_behind_an_article_of_one_paragraph_is_an_item(library: OpenedLibrary) -> None:
    assert shelf(library, date(2021, 1, 1)).article("甲乙市养犬条例§2(2)").clause == "第二项"


def test_a_range_names_each_of_its_articles(library: OpenedLibrary) -> None:
    laws = shelf(library, date(2021, 1, 1))
    assert [one.shown for one in laws.articles("民法典第205至207条")] == [
        "第二百零五条", "第二百零六条", "第二百零七条",
    ]  # fmt: skip
    with pytest.raises(UsageError, match="names several articles"):
        laws.article("民法典第205至207条")


def test_the_only_wording_is_shown_whatever_its_standing(library: OpenedLibrary) -> None:
    found = shelf(library, date(2018, 1, 1)).article("[丙丁办法 > 第二条]")
    assert (found.text, found.version.standing) == ("第二条 乙。", "not_yet_in_force")
    with pytest.raises(UsageError, match="no wording in force on 2015-05-31"):
        shelf(library, date(2015, 5, 31)).article("[甲乙市养犬条例 > 第二条]")


def test_citations_are_read_as_they_are_written() -> None:
    written = write_citation(
        "刑法", ["第二编 分则"], "第一百三十三条之一", "第一款第二项", "2023-12-29"
    )
    assert written == "[刑法(2023-12-29) > 第二编 分则 > 第一百三十三条之一第一款第二项]"
    assert read_citation(written) == StatuteCitation(
        "刑法", "2023-12-29", ("第二编 分则",), "133-1", 1, 2
    )
    assert read_citation("《刑法》>第133条之一").key == "133-1"


def asked(library: OpenedLibrary, *arguments: str) -> Result:
    command = ["--workspace", str(library.workspace.root), "law", *arguments]
    return CliRunner().invoke(build_cli(), command)


def test_the_command_prints_the_article_and_its_citation(library: OpenedLibrary) -> None:
    ran = asked(library, "article", "甲乙市养犬条例", "2之一", "--as-of", "2021-01-01")
    assert ran.exit_code == 0
    assert ran.stdout.startswith("第二条之一 可以教育。")
    assert "[甲乙市养犬条例(2020-05-01) > 第一章 总则 > 第二条之一]" in ran.stdout
    ran = asked(
        library, "article", "[甲乙市养犬条例 > 第二条第二项]", "--as-of", "2021-01-01", "--json"
    )
    found = json.loads(ran.stdout)
    assert found["text"] == "（二）扰民。"
    assert found["version"]["standing"] == "in_force"


@pytest.mark.parametrize(
    "said", ["甲乙市养犬条例第二条之一", "甲乙市养犬条例2条之一", "《甲乙市养犬条例》 第二条之一"]
)
def test_the_command_takes_law_and_article_in_one(library: OpenedLibrary, said: str) -> None:
    ran = asked(library, "article", said, "--as-of", "2021-01-01")
    assert ran.exit_code == 0
    assert ran.stdout.startswith("第二条之一 可以教育。")


def test_the_command_wants_an_article(library: OpenedLibrary) -> None:
    ran = asked(library, "article", "甲乙市养犬条例")
    assert ran.exit_code == 3
    assert "names no article" in ran.stderr


def test_the_command_shows_no_law_of_another_name(library: OpenedLibrary) -> None:
    for given in (
        ["article", "养犬条例第二条"],
        ["article", "[养犬条例 > 第二条]"],
        ["versions", "养犬条例"],
    ):
        ran = asked(library, *given)
        assert (ran.exit_code, ran.stdout) == (3, "")
        assert "not in this vault. The nearest names are 《甲乙市养犬条例》" in ran.stderr


def test_the_command_says_what_is_not_there(library: OpenedLibrary) -> None:
    ran = asked(library, "article", "[甲乙市养犬条例 > 第九条]")
    assert ran.exit_code == 3
    assert "nearest" in ran.stderr


def test_the_command_lists_wordings_and_says_what_the_text_does_not(
    library: OpenedLibrary,
) -> None:
    ran = asked(library, "versions", "丙丁办法", "--as-of", "2021-01-01")
    assert "the text does not say" in ran.stdout
    ran = asked(library, "versions", "甲乙市养犬条例", "--as-of", "2016-01-01", "--json")
    assert [one["standing"] for one in json.loads(ran.stdout)] == ["not_yet_in_force", "in_force"]
