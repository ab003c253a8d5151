"""What a publication tells of statutes: columns, their origins, and what a move costs."""

import json
from datetime import date
from pathlib import Path
from typing import Any

from rag_assets.retrieval import OpenedLibrary
from rag_assets.storage import read_entries
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import HASHING, build, make_workspace

LAW = """# 甲乙市养犬条例

2015年3月1日 甲乙市第十五届人民代表大会常务委员会第三次会议通过

## 第一章 总则

第一条 为了管理养犬，制定本条例。

第二条 本条例自2015年6月1日起施行。
"""
SETTINGS = {**HASHING, "chunk": {"mode": "law"}}


def documents(workspace: Workspace) -> list[dict[str, Any]]:
    with OpenedLibrary(workspace) as library, library.hold() as held:
        rows: list[dict[str, Any]] = held.readers["thesis"].documents().to_pylist()
    return rows


def test_a_statute_has_its_facts_as_columns_and_their_origins_as_metadata(tmp_path: Path) -> None:
    name = "evidence/地方性法规/甲乙市养犬条例(2015-03-05).md"
    workspace = make_workspace(
        tmp_path, {name: LAW, "evidence/note.md": "# Note\n\nText.\n"}, SETTINGS
    )
    build(workspace.namespace("thesis"))
    note, law = sorted(documents(workspace), key=lambda row: row["doc_uid"])
    assert law["law_level"] == "local_regulation"
    assert law["region"] == "甲乙市"
    assert law["passed_on"] == date(2015, 3, 1)
    assert law["version_date"] == date(2015, 3, 5)
    assert law["effective_on"] == date(2015, 6, 1)
    assert (law["amended_on"], law["repealed_on"]) == (None, None)
    assert law["status"] == "published"
    (told,) = json.loads(law["metadata"])["laws"]
    assert told["origins"]["version_date"] == "file name"
    start, end = told["origins"]["effective_on"]
    assert LAW[start:end] == "2015年6月1日"
    assert note["law_level"] is None
    with OpenedLibrary(workspace) as library, library.hold() as held:
        laws = held.readers["thesis"].laws
        assert laws.holds_statutes
        rows = held.readers["thesis"].fetch_chunks(law["doc_uid"]).to_pylist()
    found = {row["text"].split()[0]: json.loads(row["metadata"]) for row in rows}
    assert found["第一条"] == {"meta_info": {"path": "第一章 总则", "source": "甲乙市养犬条例"}}


def test_a_move_costs_a_publication_and_no_chunk(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"evidence/甲.md": LAW}, SETTINGS)
    namespace = workspace.namespace("thesis")
    first = build(namespace)
    records = [namespace.record("chunks", key) for key in namespace.partition_keys]
    before = {path: path.stat().st_mtime_ns for path in records if path.exists()}
    folder = tmp_path / "raw/evidence/广东"
    folder.mkdir()
    (tmp_path / "raw/evidence/甲.md").rename(folder / "甲(2022-02-02).md")
    second = build(namespace)
    assert second.publication != first.publication
    assert {path: path.stat().st_mtime_ns for path in before} == before
    (row,) = documents(workspace)
    # The text goes before the folder, the later day before the earlier one.
    assert (row["region"], row["version_date"]) == ("甲乙市", date(2022, 2, 2))
    assert row["effective_on"] is None


def test_other_modes_note_nothing_of_laws(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"evidence/甲(2015-03-05).md": LAW})
    namespace = workspace.namespace("thesis")
    build(namespace)
    (row,) = documents(workspace)
    assert (row["version_date"], row["law_level"]) == (None, None)
    assert "laws" not in json.loads(row["metadata"])
    entries = [read_entries(namespace.record("chunks", key)) for key in namespace.partition_keys]
    assert all("laws" not in entry.note for found in entries for entry in found.values())
