"""A law that another one repeals is repealed everywhere, from that day, unless a person refuses."""

import json
from collections.abc import Iterator
from datetime import date

import pytest
from click.testing import CliRunner, Result

from rag_assets.cli.main import build_cli
from rag_assets.desk.tools.statutes import law_article
from rag_assets.evidence import Question, make_pack
from rag_assets.law.metadata import find_repeals
from rag_assets.law.structure import read_laws
from rag_assets.retrieval import OpenedLibrary
from rag_assets.retrieval.statutes import LawShelf, search_statutes
from rag_assets.retrieval.vaults import curate_namespace
from rag_assets.workspace import Workspace, set_metadata
from rag_assets_tests.libraries import HASHING, build, make_workspace

OLD = """# 甲乙市犬类办法

2010年3月1日 甲乙市人民政府公布

第一条 养犬应当登记。

第二条 违反本办法的，罚款一百元。

第三条 本办法自2010年6月1日起施行。
"""
NEW = """# 甲乙市养犬条例

2020年5月1日 甲乙市第十六届人民代表大会常务委员会第九次会议通过

第一条 养犬应当备案。

第二条 违反本条例的，罚款二百元。

第三条 本条例自2020年9月1日起施行。《甲乙市犬类办法》同时废止。
"""
SENTENCE = "第三条 《甲乙市犬类办法》同时废止。"
ASKED = "[甲乙市犬类办法 > 第二条]"
DAY = date(2024, 1, 1)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    files = {"evidence/甲乙市犬类办法(2010-03-01).md": OLD, "evidence/甲乙市养犬条例.md": NEW}
    made = make_workspace(
        tmp_path_factory.mktemp("laws"), files, {**HASHING, "chunk": {"mode": "law"}}
    )
    build(made.namespace("thesis"))
    return made


@pytest.fixture(scope="module")
def library(workspace: Workspace) -> Iterator[OpenedLibrary]:
    with OpenedLibrary(workspace) as opened:
        yield opened


def asked(workspace: Workspace, *arguments: str) -> Result:
    return CliRunner().invoke(build_cli(), ["--workspace", str(workspace.root), "law", *arguments])


@pytest.mark.parametrize(
    ("day", "standing"),
    [
        (date(2010, 5, 1), "not_yet_in_force"),
        (date(2020, 8, 31), "in_force"),
        (date(2020, 9, 1), "repealed"),
    ],
)
def test_it_is_repealed_from_the_day_of_the_repealing_law(
    library: OpenedLibrary, day: date, standing: str
) -> None:
    with library.hold() as held:
        found = LawShelf(held, day).article(ASKED).version
        # The law that repeals is not touched by what it says.
        assert (
            LawShelf(held, DAY).article("[甲乙市养犬条例 > 第二条]").version.standing == "in_force"
        )
    assert found.standing == standing
    assert (found.judged.repeal is not None) == (standing == "repealed")


@pytest.mark.parametrize(
    "command",
    [("article", "甲乙市犬类办法第二条"), ("article", ASKED), ("versions", "甲乙市犬类办法")],
)
def test_commands_print_the_sentence_that_repeals(
    workspace: Workspace, command: tuple[str, ...]
) -> None:
    ran = asked(workspace, *command, "--as-of", str(DAY))
    assert ran.exit_code == 0
    assert f"repealed on 2020-09-01 by 《甲乙市养犬条例》: “{SENTENCE}”" in ran.stdout
    assert "in force" not in ran.stdout
    before = asked(workspace, *command, "--as-of", "2020-08-31").stdout
    assert "epealed" not in before
    found = json.loads(asked(workspace, *command, "--as-of", str(DAY), "--json").stdout)
    version = found[0] if isinstance(found, list) else found["version"]
    assert version["standing"] == "repealed"
    assert SENTENCE in version["repeal"]


def test_searches_packs_and_tools_mark_it(library: OpenedLibrary) -> None:
    (found,) = (
        one for one in search_statutes(library, "罚款一百元", DAY).found if "一百元" in one.text
    )
    assert found.hit.law is not None
    assert (found.hit.law.standing, SENTENCE in (found.hit.law.repeal or "")) == ("repealed", True)
    article = law_article(library, ASKED, as_of=DAY)
    assert (article["standing"], SENTENCE in (article["repeal"] or "")) == ("repealed", True)
    pack = make_pack(library, Question(question="罚款一百元", as_of=DAY))
    item = next(one for one in pack.items if one.law and one.law.title == "甲乙市犬类办法")
    assert item.law is not None
    assert (item.law.standing, SENTENCE in (item.law.repeal or "")) == ("repealed", True)


def test_what_a_person_refuses_does_not_count(workspace: Workspace) -> None:
    namespace = workspace.namespace("thesis")
    found = [f for f in curate_namespace(namespace, DAY).findings if f.rule == "repealed"]
    assert [one.file for one in found] == ["raw/evidence/甲乙市犬类办法(2010-03-01).md"]
    set_metadata(namespace, "甲乙市犬类办法-2010-03-01", "repealed", "false", "another office's")
    try:
        build(namespace)
        (version,) = json.loads(
            asked(workspace, "versions", "甲乙市犬类办法", "--as-of", str(DAY), "--json").stdout
        )
        assert (version["standing"], version["repeal"]) == ("in_force", None)
        assert not [f for f in curate_namespace(namespace, DAY).findings if f.rule == "repealed"]
    finally:
        set_metadata(namespace, "甲乙市犬类办法-2010-03-01", "repealed", None, "taken back")
        build(namespace)


@pytest.mark.parametrize(
    ("said", "repealed"),
    [
        ("《甲》同时废止。", ["甲"]),
        ("《甲》、《乙》（2001年公布）和《丙》同时废止。", ["甲", "乙", "丙"]),
        ("《市实施《甲法》办法》即行废止。", ["市实施《甲法》办法"]),
        ("《甲》第三条同时废止。", []),
        ("《甲》中有关登记的规定同时废止。", []),
        ("依照《甲》的规定办理。", []),
    ],
)
def test_what_the_last_articles_repeal(said: str, repealed: list[str]) -> None:
    text = f"# 乙市条例\n\n第一条 甲。\n\n第二条 自2020年1月1日起施行。{said}\n"
    assert [one.law for one in find_repeals(text, read_laws(text)[0])] == repealed


def test_a_decision_repeals_what_it_lists_and_not_its_ground() -> None:
    text = (
        "# 关于废止部分地方性法规的决定\n\n根据《立法法》的规定，决定废止下列法规：\n\n"
        "一、《甲条例》（1994年通过）\n\n二、废止《乙条例》\n"
    )
    found = [one.law for one in find_repeals(text, read_laws(text)[0])]
    assert found == ["甲条例", "乙条例"]
