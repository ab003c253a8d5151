"""The tables of spec 001 under its own names: by SQL, and opened with LanceDB."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from rag_assets.model import UsageError
from rag_assets.publishing import SearchTable, look_since_publication
from rag_assets.retrieval import Reader
from rag_assets.storage import current_folder, read_manifest
from rag_assets.tracing import export_knowledge, open_sql
from rag_assets.tracing.querying import read_named_rows
from rag_assets.workspace import Workspace, override_metadata
from rag_assets_tests.editing.drafting import open_editor
from rag_assets_tests.libraries import build, make_workspace

# Word for word from the specification, in its order.
COLUMNS = {
    "knowledge_sources": ["source_key", "namespace", "source_id", "name", "source_type",
                          "source_uri", "tags", "metadata", "created_at", "updated_at", "vector"],
    "knowledge_docs": ["doc_key", "namespace", "doc_id", "source_id", "source_uri", "title",
                       "version", "status", "language", "content_hash", "content_ref", "tags",
                       "metadata", "created_at", "updated_at", "vector"],
    "knowledge_chunks": ["chunk_key", "namespace", "chunk_id", "doc_id", "source_id", "doc_title",
                         "content", "token_count", "chunk_index", "section_path", "version",
                         "status", "chunk_type", "parent_id", "content_hash", "metadata",
                         "sparse_vector", "created_at", "updated_at", "vector"],
}  # fmt: skip
KEYS = {"knowledge_sources": "source_key", "knowledge_docs": "doc_key",
        "knowledge_chunks": "chunk_key"}  # fmt: skip
FILES = {
    "evidence/roofs.md": "# Roofs\n\nA green roof was 7 degrees cooler.\n\n## Noon\n\nBitumen.\n",
    "evidence/树.md": "# 行道树\n\n树冠覆盖率高的街道在夜间气温偏高。\n",
    "evidence/old.md": "# Old\n\nNobody wants this any more.\n",
}
EDITED = "A green roof was 7.0 degrees cooler."


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Two namespaces with models of other lengths; an archived document, an edit, a draft."""
    root = tmp_path_factory.mktemp("views")
    made = make_workspace(root, FILES)
    told = "tags: [heat]\nmetadata: {project: x, source_info: {kind: http}}\n"
    (root / "raw/evidence/roofs.md.meta.yaml").write_text(
        f"source_uri: https://a.example/roofs\n{told}"
    )
    (root / "more/evidence").mkdir(parents=True)
    (root / "more/evidence/water.md").write_text("# Water\n\nWater cools.\n")
    model = {"kind": "hashing", "model": "words", "dimension": 64}
    (root / "namespaces/more.yaml").write_text(
        yaml.safe_dump({"raw": ["more"], "embed": {"models": [model]}})
    )
    made = Workspace.open(root)
    thesis = made.namespace("thesis")
    build(thesis)
    editor = open_editor(thesis, "roofs")
    editor.create()
    editor.edit_text(0, EDITED)
    editor.publish()
    override_metadata(thesis, "old", {"archived": "true"}, "superseded")
    build(thesis)
    build(made.namespace("more"))
    drafted = open_editor(thesis, "树")
    drafted.create()
    drafted.edit_text(0, "树冠。")
    return made


def rows_of(workspace: Workspace, view: str, names: list[str] | None = None) -> list[Any]:
    with open_sql(workspace, names) as connection:
        return read_named_rows(connection, f"SELECT * FROM {view}")


@pytest.mark.parametrize("view", COLUMNS)
def test_columns_are_those_of_the_specification_and_keys_are_unique(
    workspace: Workspace, view: str
) -> None:
    rows = rows_of(workspace, view)
    assert list(rows[0]) == COLUMNS[view]
    keys = [row[KEYS[view]] for row in rows]
    assert len(set(keys)) == len(keys)
    assert all(row[KEYS[view]].startswith(f"{row['namespace']}::") for row in rows)


def test_published_chunks_are_those_of_the_publication_with_their_vectors(
    workspace: Workspace,
) -> None:
    thesis = workspace.namespace("thesis")
    folder = current_folder(thesis.publications, "thesis")
    held = {row["chunk_key"]: row for row in SearchTable(folder).fetch().to_pylist()}
    rows = rows_of(workspace, "knowledge_chunks", ["thesis"])
    shown = {
        row["chunk_key"]: row
        for row in rows
        if (row["chunk_type"], row["status"]) == ("child", "published")
    }
    assert shown.keys() == held.keys()
    for key, row in shown.items():
        own = held[key]
        assert row["content"] == (own["edited"] or own["text"])
        assert list(row["vector"]) == own["vector"]
        metadata = json.loads(row["metadata"])
        assert metadata["source_spans"] == [
            {"page": None, "start_offset": own["char_start"], "end_offset": own["char_end"]}
        ]
        assert metadata["chunk_config"] == thesis.settings.chunk.model_dump(mode="json")
        assert metadata.get("printed") == (own["text"] if own["edited"] else None)
        for name in ("chunk_id", "doc_id", "source_id", "parent_id", "chunk_index", "token_count",
                     "content_hash", "doc_title", "version", "section_path"):  # fmt: skip
            assert row[name] == own[name], name
    assert EDITED in {row["content"] for row in shown.values()}


def test_parents_are_chunks_to_which_children_point(workspace: Workspace) -> None:
    rows = rows_of(workspace, "knowledge_chunks", ["thesis"])
    parents = {row["parent_id"]: row["text"] for row in rows_of(workspace, "parents", ["thesis"])}
    shown = {row["chunk_id"]: row for row in rows if row["chunk_type"] == "parent"}
    assert {name: row["content"] for name, row in shown.items()} == parents
    assert all(row["vector"] is None and row["parent_id"] is None for row in shown.values())
    children = [row for row in rows if row["chunk_type"] == "child"]
    assert {row["parent_id"] for row in children} <= shown.keys()


def test_archived_documents_and_drafts_show_beside_what_is_published(workspace: Workspace) -> None:
    documents = rows_of(workspace, "knowledge_docs")
    assert {row["doc_key"]: row["status"] for row in documents} == {
        "thesis::roofs": "published", "thesis::树": "published", "thesis::树:draft": "draft",
        "thesis::old": "archived", "more::water": "published",
    }  # fmt: skip
    drafted = {
        row["chunk_index"]: row
        for row in rows_of(workspace, "knowledge_chunks")
        if row["status"] == "draft"
    }
    assert drafted[0]["content"] == "树冠。"
    assert drafted[0]["chunk_key"] == "thesis::树:draft:0"
    assert "夜间气温" in json.loads(drafted[0]["metadata"])["printed"]
    (roofs,) = [row for row in documents if row["doc_key"] == "thesis::roofs"]
    metadata = json.loads(roofs["metadata"])
    assert (metadata["mime_type"], metadata["parser"]) == ("text/markdown", "markdown")
    assert (metadata["project"], metadata["attachments"]) == ("x", [])
    assert json.loads(roofs["tags"]) == ["heat"]


def test_sources_say_of_what_kind_they_are_and_where_they_are_from(workspace: Workspace) -> None:
    rows = {row["name"]: row for row in rows_of(workspace, "knowledge_sources")}
    assert rows["roofs.md"]["source_uri"] == "https://a.example/roofs"
    assert (rows["roofs.md"]["source_type"], rows["old.md"]["source_type"]) == ("url", "file")
    kept = json.loads(rows["old.md"]["metadata"])["raw"]
    assert (kept["status"], kept["source_type"]) == ("archived", "evidence")


def test_archived_document_is_found_by_nothing_and_is_no_problem_until_it_is_taken_in_again(
    tmp_path: Path,
) -> None:
    workspace = make_workspace(tmp_path, FILES)
    thesis = workspace.namespace("thesis")
    build(thesis)
    override_metadata(thesis, "old", {"archived": "true"}, "superseded")
    assert "old" in look_since_publication(thesis).not_citable
    build(thesis)
    folder = current_folder(thesis.publications, "thesis")
    tables = read_manifest(folder)["tables"]
    for derived in ("data", "index"):
        shutil.rmtree(tmp_path / derived)
    build(thesis)
    assert read_manifest(folder)["tables"] == tables
    with Reader(folder, "thesis", folder.name) as reader:
        assert "old" not in reader.documents()["doc_uid"].to_pylist()
    assert "old" not in SearchTable(folder).fetch()["doc_uid"].to_pylist()
    with open_sql(workspace) as connection:
        assert connection.sql("SELECT * FROM problems").fetchall() == []
        query = "SELECT status, reason_code FROM sources WHERE doc_uid = 'old'"
        assert connection.sql(query).fetchall() == [("archived", "archived")]
    override_metadata(thesis, "old", {"archived": None}, "wanted after all")
    build(thesis)
    statuses = {row["doc_key"]: row["status"] for row in rows_of(workspace, "knowledge_docs")}
    assert statuses["thesis::old"] == "published"


@pytest.mark.parametrize("value", ["false", "yes", "published"])
def test_nothing_else_can_be_said_of_being_archived(tmp_path: Path, value: str) -> None:
    thesis = make_workspace(tmp_path, FILES).namespace("thesis")
    build(thesis)
    with pytest.raises(UsageError, match="can only be set to true"):
        override_metadata(thesis, "old", {"archived": value}, "?")


# In a process of its own: lancedb starts threads, and importing it costs every later test.
SCRIPT = """
import json, sys
import lancedb
library = lancedb.connect(sys.argv[1])
tables = {name: library.open_table(name) for name in sys.argv[2:]}
rows = {name: table.to_arrow() for name, table in tables.items()}
chunks = tables["knowledge_chunks"]
vector = next(v for v in rows["knowledge_chunks"]["vector"].to_pylist() if v is not None)
can_search = "fixed_size_list" in str(rows["knowledge_chunks"].schema.field("vector").type)
nearest = chunks.search(vector).limit(1).to_list()[0]["vector"] if can_search else None
print(json.dumps({
    "rows": {name: table.to_pylist() for name, table in rows.items()},
    "columns": {name: table.schema.names for name, table in rows.items()},
    "nearest": nearest == vector if can_search else None,
}, default=str))
"""


def opened_with_lancedb(folder: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), *COLUMNS], capture_output=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(("names", "is_searched"), [(["thesis"], True), (None, None)])
def test_lancedb_opens_the_export_and_finds_the_rows_of_the_views(
    workspace: Workspace, tmp_path: Path, names: list[str] | None, is_searched: bool | None
) -> None:
    written = export_knowledge(workspace, tmp_path / "tables", names)
    seen = opened_with_lancedb(tmp_path / "tables")
    assert seen["columns"] == COLUMNS
    assert seen["nearest"] is is_searched
    for view, key in KEYS.items():
        rows = rows_of(workspace, view, names)
        assert written[view] == len(rows) == len(seen["rows"][view]) > 0
        expected = json.loads(json.dumps({row[key]: row for row in rows}, default=str))
        assert {row[key]: row for row in seen["rows"][view]} == expected


def test_export_is_whole_or_not_at_all_and_overwrites_nothing(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="new or empty"):
        export_knowledge(workspace, tmp_path)
    with pytest.raises(UsageError, match="own"):
        export_knowledge(workspace, workspace.root / "index/tables")
    monkeypatch.setattr(
        "rag_assets.tracing.knowledge_views.KNOWLEDGE_VIEWS", ("knowledge_sources", "nonsense")
    )
    with pytest.raises(Exception, match="nonsense"):
        export_knowledge(workspace, tmp_path / "tables")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
