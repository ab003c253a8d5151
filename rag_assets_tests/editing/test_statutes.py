"""Edited chunks of laws: what is printed decides which articles they hold."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from rag_assets.evidence import Question, make_pack, pack_from_json, pack_to_json
from rag_assets.retrieval import OpenedLibrary
from rag_assets.retrieval.statutes import LawShelf
from rag_assets.workspace import Workspace
from rag_assets_tests.docs.pack_schema import pack_schema
from rag_assets_tests.editing.drafting import open_editor
from rag_assets_tests.libraries import HASHING, build, make_workspace

LAW = """# 甲乙市养犬条例

2015年3月1日 甲乙市人民代表大会常务委员会通过

第一条 为了管理养犬，制定本条例。

第二条 本条例自2015年6月1日起施行。

第八条 遛犬不牵绳的，罚款一百元。犬只扰民的，责令改正。
"""
TITLE = "甲乙市养犬条例"
TODAY = date(2026, 1, 1)


@pytest.fixture(scope="module")
def laws(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A law whose articles 1 and 2 are one chunk, and article 8 two, the later one first."""
    root: Path = tmp_path_factory.mktemp("laws")
    files = {"evidence/甲乙市养犬条例.md": LAW}
    workspace = make_workspace(root, files, {**HASHING, "chunk": {"mode": "law"}})
    namespace = workspace.namespace("thesis")
    build(namespace)
    with OpenedLibrary(workspace) as library, library.hold() as held:
        (uid,) = held.readers["thesis"].documents()["doc_uid"].to_pylist()
    editor = open_editor(namespace, uid)
    editor.create()

    def place(opening: str) -> int:
        return next(c.order for c in editor.draft().chunks if c.text.startswith(opening))

    editor.merge_with_next(place("第一条"))
    eighth = next(c for c in editor.draft().chunks if c.text.startswith("第八条"))
    editor.split_at(eighth.order, eighth.text.index("犬只扰民"))
    editor.move_before(place("犬只扰民"), place("第八条"))
    editor.edit_text(place("第八条"), "第八条 遛犬不牵绳的，罚款壹佰元整。")
    editor.publish()
    build(namespace)
    return workspace


def chunks(workspace: Workspace) -> list[dict[str, Any]]:
    with OpenedLibrary(workspace) as library, library.hold() as held:
        reader = held.readers["thesis"]
        (uid,) = reader.documents()["doc_uid"].to_pylist()
        rows: list[dict[str, Any]] = reader.fetch_chunks(uid).to_pylist()
    return sorted(rows, key=lambda row: row["chunk_index"])


def test_edited_chunks_keep_law_and_the_articles_that_their_print_holds(laws: Workspace) -> None:
    found = {row["text"]: row for row in chunks(laws)}
    shown = {
        text.split()[0]: [article["shown"] for article in row["articles"]]
        for text, row in found.items()
        if row["articles"]
    }
    assert shown == {
        "第一条": ["第一条", "第二条"],
        "第八条": ["第八条"],
        "犬只扰民的，责令改正。": ["第八条"],
    }
    for row in found.values():
        if row["articles"]:
            assert row["law_title"] == TITLE
            assert json.loads(row["metadata"])["meta_info"]["source"] == TITLE
        for article in row["articles"]:
            assert LAW[article["char_start"] : article["char_end"]].startswith(article["shown"])


def test_an_article_is_read_whole_where_its_later_half_stands_first(laws: Workspace) -> None:
    order = [row["text"][:4] for row in chunks(laws)]
    assert order.index("犬只扰民") < order.index("第八条 ")
    with OpenedLibrary(laws) as library, library.hold() as held:
        article = LawShelf(held, TODAY).article(f"[{TITLE} > 第八条]")
    assert article.text == "第八条 遛犬不牵绳的，罚款一百元。犬只扰民的，责令改正。"


def test_a_pack_says_both_what_law_a_passage_is_of_and_what_was_edited(laws: Workspace) -> None:
    pack = make_pack(laws, Question(question="罚款壹佰元整", as_of=TODAY))
    edited = [item for item in pack.items if item.edited is not None]
    assert [item.edited for item in edited] == ["第八条 遛犬不牵绳的，罚款壹佰元整。"]
    assert edited[0].snippet == "第八条 遛犬不牵绳的，罚款一百元。"
    assert edited[0].law is not None
    assert edited[0].law.title == TITLE
    values = json.loads(json.dumps(pack_to_json(pack)))
    assert values["schema"] == "rag-assets/evidence-pack/7"
    Draft202012Validator(pack_schema()).validate(values)
    assert pack_from_json(values) == pack
    assert pack_from_json({**values, "schema": "rag-assets/evidence-pack/6"}) == pack


def test_an_edited_passage_without_a_day_tells_of_no_law(laws: Workspace) -> None:
    values = pack_to_json(make_pack(laws, Question(question="罚款壹佰元整")))
    assert values["schema"] == "rag-assets/evidence-pack/7"
    assert "as_of" not in values
    assert any("edited" in item for item in values["items"])
    assert not any("law" in item for item in values["items"])
    Draft202012Validator(pack_schema()).validate(json.loads(json.dumps(values)))
