"""Questions about laws for a day: which wordings are found, how they are marked and cited."""

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from rag_assets.cli.main import build_cli
from rag_assets.desk.tools import search
from rag_assets.evidence import (
    EvidencePack,
    Question,
    ask,
    make_pack,
    pack_from_json,
    pack_to_json,
    read_question,
    render_pack,
    replay,
)
from rag_assets.model import UsageError
from rag_assets.retrieval import OpenedLibrary, Retriever
from rag_assets.retrieval.statutes import LawShelf
from rag_assets.workspace import Workspace
from rag_assets_tests.docs.pack_schema import pack_schema
from rag_assets_tests.libraries import HASHING, build, make_workspace

DOGS = """# 甲乙市养犬条例

2015年3月1日 甲乙市第十五届人民代表大会常务委员会第三次会议通过
{amended}
## 第一章 总则

第一条 为了{aim}养犬，制定本条例。

第八条 遛犬不牵绳的，罚款{fine}元。

第十八条 犬只扰民的，罚款{fine}元，并责令改正。

第十九条 本条例自{since}起施行。
"""
OLD = DOGS.format(amended="", aim="管理", fine="一百", since="2015年6月1日")
AMENDED = "\n{day} 甲乙市第十六届人民代表大会常务委员会第九次会议修订\n"
NEW = DOGS.format(
    amended=AMENDED.format(day="2020年5月1日"), aim="规范", fine="二百", since="2020年9月1日"
)
NEXT = DOGS.format(
    amended=AMENDED.format(day="2030年5月1日"), aim="改善", fine="三百", since="2031年1月1日"
)
REPEALED = """# 丙丁市养猫办法

2001年1月1日 丙丁市人民政府令第1号发布

2019年4月1日 丙丁市人民政府令第9号废止

第一条 为了管理养猫，制定本办法。

第二条 养猫不登记的，罚款五十元。
"""
UNDATED = """# 戊己市养鸟规定

第一条 为了管理养鸟，制定本规定。

第八条 放生外来鸟类的，罚款七十元。
"""
BOOK = """# 庚辛市养鱼条例

2010年1月1日 庚辛市人民代表大会常务委员会通过

第一条 为了管理养鱼，制定本条例。

第八条 投放外来鱼类的，罚款十元。

# 壬癸市养蜂条例

2012年1月1日 壬癸市人民代表大会常务委员会通过

第一条 为了管理养蜂，制定本条例。

第八条 蜂箱扰民的，罚款二十元。
"""
FILES = {
    "evidence/甲乙市养犬条例(2015-03-01).md": OLD,
    "evidence/甲乙市养犬条例(2020-05-01).md": NEW,
    "evidence/甲乙市养犬条例(2030-05-01).md": NEXT,
    "evidence/养猫办法.md": REPEALED,
    "evidence/养鸟规定.md": UNDATED,
    "evidence/汇编.md": BOOK,
}
FILES["evidence/Ferries Act.md"] = (
    "# Ferries Act\n\n## Section 1 Scope\n\nFerries only.\n\n## Section 2 Fines\n\nNone.\n"
)
TODAY = date(2026, 1, 1)
SETTINGS = {**HASHING, "chunk": {"mode": "law"}}


@pytest.fixture(scope="module")
def laws(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    workspace = make_workspace(tmp_path_factory.mktemp("laws"), FILES, SETTINGS)
    build(workspace.namespace("thesis"))
    return workspace


@pytest.fixture(scope="module")
def opened(laws: Workspace) -> Iterator[OpenedLibrary]:
    with OpenedLibrary(laws) as library:
        yield library


def pack_of(
    opened: OpenedLibrary, text: str, day: date | None = TODAY, *, all_versions: bool = False
) -> EvidencePack:
    return make_pack(opened, Question(question=text, as_of=day, all_versions=all_versions))


def standings(pack: EvidencePack) -> set[tuple[str | None, str]]:
    return {(item.law.version_date, item.law.standing) for item in pack.items if item.law}


@pytest.mark.parametrize(
    ("day", "version"),
    [
        (date(2016, 1, 1), "2015-03-01"),
        (date(2020, 8, 31), "2015-03-01"),
        (date(2020, 9, 1), "2020-05-01"),
        (date(2031, 1, 1), "2030-05-01"),
    ],
)
def test_the_wording_of_the_day_is_found_and_no_other(
    opened: OpenedLibrary, day: date, version: str
) -> None:
    pack = pack_of(opened, "遛犬不牵绳罚款多少 养犬", day)
    dogs = [item for item in pack.items if item.law and item.law.title == "甲乙市养犬条例"]
    assert dogs
    assert {(i.law.version_date, i.law.standing) for i in dogs if i.law} == {(version, "in_force")}
    assert (pack.as_of, pack.all_versions) == (str(day), False)
    assert f"laws in force on {day}" in pack.filters


def test_where_none_is_in_force_yet_all_are_found_and_marked(opened: OpenedLibrary) -> None:
    pack = pack_of(opened, "养犬 不牵绳", date(2014, 1, 1))
    assert ("2015-03-01", "not_yet_in_force") in standings(pack)


def test_all_versions_are_found_and_marked(opened: OpenedLibrary) -> None:
    pack = pack_of(opened, "遛犬不牵绳罚款多少 养犬", all_versions=True)
    assert standings(pack) >= {
        ("2015-03-01", "superseded"),
        ("2020-05-01", "in_force"),
        ("2030-05-01", "not_yet_in_force"),
    }
    assert "all wordings of laws, judged on 2026-01-01" in pack.filters
    shown = render_pack(pack)
    assert "SUPERSEDED on 2026-01-01, wording of 2015-03-01" in shown
    assert "NOT YET IN FORCE on 2026-01-01" in shown


def test_what_is_repealed_or_not_known_is_found_and_marked(opened: OpenedLibrary) -> None:
    cats = pack_of(opened, "养猫不登记罚款").items[0]
    assert cats.law is not None
    assert cats.law.standing == "repealed"
    birds = pack_of(opened, "放生外来鸟类罚款")
    assert birds.items[0].law is not None
    assert birds.items[0].law.standing == "unknown"
    assert "standing UNKNOWN on 2026-01-01, day of the wording not known" in render_pack(birds)


def test_a_document_that_the_question_names_is_found_whatever_it_holds(
    opened: OpenedLibrary,
) -> None:
    with opened.hold() as held:
        rows = held.readers["thesis"].documents().to_pylist()
    (uid,) = [row["doc_uid"] for row in rows if row["version_date"] == date(2015, 3, 1)]
    asked = Question(question="遛犬不牵绳", filters=(f"doc_uid={uid}",), as_of=TODAY)
    assert standings(make_pack(opened, asked)) == {("2015-03-01", "superseded")}


def test_the_citation_of_an_item_leads_back_to_the_article_of_its_quote(
    opened: OpenedLibrary,
) -> None:
    pack = pack_of(opened, "犬只扰民责令改正", all_versions=True)
    cited = [item for item in pack.items if item.law is not None and item.law.citation]
    assert cited
    with opened.hold() as held:
        shelf = LawShelf(held, TODAY)
        for item in cited:
            assert item.law is not None
            found = shelf.article(str(item.law.citation))
            assert found.start <= item.char_start < found.end
            assert str(found.version.version_date) == str(item.law.version_date)
            assert found.version.standing == item.law.standing
    named = {item.law.citation for item in cited if item.law is not None}
    assert "[甲乙市养犬条例(2020-05-01) > 第一章 总则 > 第十八条]" in named


@pytest.mark.parametrize(
    ("day", "fine"), [(date(2016, 1, 1), "一百"), (TODAY, "二百"), (date(2032, 1, 1), "三百")]
)
def test_an_article_that_is_named_is_of_the_wording_of_the_day(
    opened: OpenedLibrary, day: date, fine: str
) -> None:
    first = pack_of(opened, "甲乙市养犬条例第八条", day).items[0]
    assert first.snippet == f"第八条 遛犬不牵绳的，罚款{fine}元。"
    assert first.explanation["named_article"] == "第八条"


def test_the_eighth_article_is_not_the_eighteenth(opened: OpenedLibrary) -> None:
    pack = pack_of(opened, "甲乙市养犬条例第八条", all_versions=True)
    named = [item for item in pack.items if "named_article" in item.explanation]
    assert [item.snippet.split()[0] for item in named] == ["第八条"]


def test_of_a_file_of_two_laws_the_one_that_is_named_is_meant(opened: OpenedLibrary) -> None:
    for law, fine in (("庚辛市养鱼条例", "十元"), ("壬癸市养蜂条例", "二十元")):
        first = pack_of(opened, f"《{law}》第八条").items[0]
        assert first.snippet.endswith(f"罚款{fine}。")
        assert first.law is not None
        assert first.law.citation == f"[{law} > 第八条]"
        assert first.law.standing == "in_force"
    with opened.hold() as held:
        shelf = LawShelf(held, TODAY)
        assert "二十元" in shelf.article("[壬癸市养蜂条例 > 第八条]").text
        with pytest.raises(UsageError, match="holds several laws: 《庚辛市养鱼条例》"):
            shelf.versions("汇编")


def test_without_a_day_nothing_is_left_out_and_nothing_is_marked(opened: OpenedLibrary) -> None:
    pack = pack_of(opened, "遛犬不牵绳罚款多少 养犬", None)
    assert standings(pack) == set()
    assert pack.as_of is None
    assert {"一百", "二百", "三百"} <= {i.snippet.partition("罚款")[2][:2] for i in pack.items}


def test_a_pack_with_a_day_follows_its_schema_and_comes_back(opened: OpenedLibrary) -> None:
    values = pack_to_json(pack_of(opened, "养犬"))
    assert values["schema"] == "rag-assets/evidence-pack/7"
    loaded = json.loads(json.dumps(values))
    Draft202012Validator(pack_schema()).validate(loaded)
    assert pack_from_json(loaded) == pack_of(opened, "养犬")


def test_packs_of_libraries_without_statutes_stay_as_they_were(library: Workspace) -> None:
    made = make_pack(library, Question(question="sedum roofs", as_of=TODAY))
    values = pack_to_json(made)
    assert made == make_pack(library, Question(question="sedum roofs"))
    assert values["schema"] == "rag-assets/evidence-pack/5"
    assert "as_of" not in values
    assert not any("law" in item for item in values["items"])
    assert pack_from_json(json.loads(json.dumps(values))) == made


def test_a_replay_asks_for_the_day_that_the_pack_records(laws: Workspace) -> None:
    outcome = ask(laws, "犬只扰民怎样处罚", today=date(2016, 1, 1))
    assert outcome.pack.as_of == "2016-01-01"
    assert replay(laws, outcome.json).differences == ()
    # Another day is another question; the day is no part of the file that saves it.
    later = ask(laws, "犬只扰民怎样处罚", today=TODAY)
    assert later.is_new
    assert later.key == outcome.key
    assert later.pack.query_id != outcome.pack.query_id
    every = ask(laws, Question(question="犬只扰民怎样处罚", all_versions=True), today=TODAY)
    assert replay(laws, every.json).is_same


def test_papers_are_grouped_of_the_same_day_only(laws: Workspace) -> None:
    told: list[str] = []
    text = "甲乙市养犬条例 总则"
    ask(laws, text, today=date(2016, 1, 1))
    asked = Question(question=text, mode="papers")
    ask(laws, asked, today=TODAY, notify=told.append)
    assert "was not asked yet" in told[0]
    ask(laws, asked, today=date(2016, 1, 1), notify=told.append)
    assert "nothing was searched" in told[1]


def test_a_file_may_name_the_day(tmp_path: Path) -> None:
    for written in ("2016-01-01", "'2016-01-01'"):
        file = tmp_path / "q.yaml"
        file.write_text(f"question: 养犬\nas_of: {written}\nall_versions: true\n", "utf-8")
        question = read_question(file).question
        assert (question.as_of, question.all_versions) == (date(2016, 1, 1), True)
    file.write_text("question: 养犬\nas_of: soon\n", "utf-8")
    with pytest.raises(UsageError, match="'as_of'"):
        read_question(file)


def asked_by_command(laws: Workspace, *arguments: str) -> Result:
    command = ["--workspace", str(laws.root), "query", *arguments]
    return CliRunner().invoke(build_cli(), command)


def test_the_command_takes_a_day_and_shows_how_laws_stand(laws: Workspace) -> None:
    ran = asked_by_command(laws, "甲乙市养犬条例第八条", "--as-of", "2016-01-01")
    assert ran.exit_code == 0, ran.output
    assert "in force on 2016-01-01" in ran.stdout
    assert "[甲乙市养犬条例(2015-03-01)" in ran.stdout
    every: Any = json.loads(asked_by_command(laws, "养犬", "--all-versions", "--json").stdout)
    assert every["all_versions"] is True
    assert "superseded" in {item["law"]["standing"] for item in every["items"]}


def test_tools_and_programs_are_told_the_law_of_a_passage(opened: OpenedLibrary) -> None:
    found = search(opened, "遛犬不牵绳", as_of=TODAY)["hits"][0]["law"]
    assert found == {
        "title": "甲乙市养犬条例",
        "citation": "[甲乙市养犬条例(2020-05-01) > 第一章 总则 > 第八条]",
        "standing": "in_force",
        "version_date": "2020-05-01",
        "holds_from": "2020-09-01",
        "is_stated": True,
        "repeal": None,
    }
    assert search(opened, "遛犬不牵绳")["hits"][0]["law"] is None
    with Retriever(opened) as retriever:
        hits = retriever.retrieve("遛犬不牵绳", as_of=date(2016, 1, 1)).hits
    assert hits[0].law is not None
    assert hits[0].law.version_date == date(2015, 3, 1)
