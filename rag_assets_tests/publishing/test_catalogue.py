import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pyarrow as pa
import pytest

from rag_assets.model import DamagedFileError, StorageError
from rag_assets.publishing.catalogue import (
    attach_catalogues,
    catalogue_name,
    open_catalogue,
    read_table,
    write_catalogue,
)
from rag_assets.publishing.rows import digest_table
from rag_assets.publishing.schemas import PUBLISHED_SCHEMAS
from rag_assets_tests.publishing.made_up_tables import TEXTS, chunk_rows, published_tables


@pytest.fixture(scope="module")
def tables() -> dict[str, pa.Table]:
    return published_tables(chunk_rows())


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory, tables: dict[str, pa.Table]) -> Path:
    folder = tmp_path_factory.mktemp('it\'s a "publication" 目录')
    path = folder / catalogue_name("2026'x")
    write_catalogue(path, tables)
    return path


def test_catalogue_is_one_closed_file(path: Path) -> None:
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("name", PUBLISHED_SCHEMAS)
def test_tables_are_read_back_as_they_were_written(
    path: Path, tables: dict[str, pa.Table], name: str
) -> None:
    with open_catalogue(path) as connection:
        assert digest_table(read_table(connection, name)) == digest_table(tables[name])


def test_rows_stand_in_order_whatever_order_they_came_in(tmp_path: Path) -> None:
    tables = published_tables(list(reversed(chunk_rows())))
    write_catalogue(tmp_path / "c.duckdb", tables)
    with open_catalogue(tmp_path / "c.duckdb") as connection:
        rows = connection.execute("SELECT doc_uid, chunk_index FROM chunks").fetchall()
    assert rows == sorted(rows)
    assert len(rows) == len(chunk_rows())


def test_rows_are_looked_up_by_any_text(path: Path) -> None:
    with open_catalogue(path) as connection:
        found = read_table(
            connection, "documents", "doc_uid", ["rubric", "x' OR true --", "叶片-2020"]
        )
    assert found.column("doc_uid").to_pylist() == ["rubric", "叶片-2020"]


def test_every_column_says_what_it_holds(path: Path) -> None:
    with open_catalogue(path) as connection:
        comments = connection.execute(
            "SELECT c.comment FROM duckdb_columns() c JOIN duckdb_tables() USING (table_oid)"
        ).fetchall()
    assert len(comments) == sum(len(schema) for schema in PUBLISHED_SCHEMAS.values())
    assert all(comment.endswith(("[content]", "[provenance]")) for (comment,) in comments)


def test_columns_that_an_older_version_did_not_publish_are_null(
    path: Path, tmp_path: Path, tables: dict[str, pa.Table]
) -> None:
    older = tmp_path / "older.duckdb"
    shutil.copyfile(path, older)
    with duckdb.connect(str(older)) as connection:
        connection.execute("ALTER TABLE documents DROP COLUMN issuer")
    with open_catalogue(older) as connection:
        found = read_table(connection, "documents")
    assert found.schema == tables["documents"].schema
    assert found["issuer"].null_count == found.num_rows > 0
    assert found["doc_uid"].to_pylist() == sorted(tables["documents"]["doc_uid"].to_pylist())


def test_views_show_evidence_and_problems(path: Path) -> None:
    with open_catalogue(path) as connection:
        evidence = connection.execute("SELECT DISTINCT doc_uid FROM evidence").fetchall()
        problems = connection.execute("SELECT name, reason_code FROM problems").fetchall()
    assert sorted(evidence) == [("leaf-2021",), ("叶片-2020",)]
    assert problems == [("evidence/rubric.md", "empty_file")]


def test_json_is_readable_in_sql(path: Path) -> None:
    with open_catalogue(path) as connection:
        kinds = connection.execute("SELECT DISTINCT metadata->>'mime_type' FROM documents")
        assert kinds.fetchall() == [("text/markdown",)]


def test_catalogue_cannot_be_changed(path: Path) -> None:
    with open_catalogue(path) as connection, pytest.raises(duckdb.InvalidInputException):
        connection.execute("DELETE FROM chunks")


def test_two_processes_and_two_connections_read_at_once(path: Path) -> None:
    script = (
        "import sys, pathlib; from rag_assets.publishing.catalogue import open_catalogue;"
        "print(open_catalogue(pathlib.Path(sys.argv[1])).execute("
        "'SELECT count(*) FROM chunks').fetchone()[0])"
    )
    with open_catalogue(path) as first, attach_catalogues({"a": path}) as second:
        other = subprocess.run(
            [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
        )
        assert first.execute("SELECT count(*) FROM chunks").fetchone() == (8,)
        assert second.execute("SELECT count(*) FROM chunks").fetchone() == (8,)
    assert other.stdout.strip() == "8"


def test_empty_library_has_a_catalogue(tmp_path: Path) -> None:
    write_catalogue(tmp_path / "c.duckdb", published_tables([]))
    with open_catalogue(tmp_path / "c.duckdb") as connection:
        assert read_table(connection, "chunks").num_rows == 0
        assert connection.execute("SELECT * FROM problems").fetchall() == []


@pytest.mark.parametrize("namespace", ['Tom\'s "law" 法律', "memory", "main", "chunks", "select"])
def test_namespaces_of_any_name_are_united(tmp_path: Path, namespace: str) -> None:
    paths = {}
    for number, name in enumerate(["thesis", namespace]):
        paths[name] = tmp_path / f"o'{number}.duckdb"
        texts = dict(list(TEXTS.items())[: number + 1])
        write_catalogue(paths[name], published_tables(chunk_rows(texts, name), name))
    with attach_catalogues(paths) as connection:
        for table in [*PUBLISHED_SCHEMAS, "evidence", "problems"]:
            columns = [row[0] for row in connection.execute(f"DESCRIBE {table}").fetchall()]
            assert columns.count("namespace") == 1
        counts = connection.execute(
            "SELECT namespace, count(*) FROM documents GROUP BY ALL ORDER BY 2"
        ).fetchall()
        assert connection.execute("SELECT count(*) FROM thesis.chunks").fetchone() == (3,)
    assert counts == [("thesis", 1), (namespace, 2)]


def test_a_column_that_no_publication_has_yet_is_null(tmp_path: Path, path: Path) -> None:
    # All were made by an older version: queries written for this one still run.
    copy = tmp_path / "older.duckdb"
    shutil.copy(path, copy)
    with duckdb.connect(str(copy)) as older:
        older.execute("ALTER TABLE chunks DROP COLUMN edited")
    with attach_catalogues({"a": copy}) as connection:
        found = connection.execute("SELECT count(*), count(edited) FROM chunks").fetchone()
    assert found == (8, 0)


def test_attached_catalogues_cannot_be_changed(path: Path) -> None:
    with attach_catalogues({"a": path}) as connection, pytest.raises(duckdb.Error):
        connection.execute("DELETE FROM a.chunks")


def test_workspace_without_a_publication_has_empty_views() -> None:
    with attach_catalogues({}) as connection:
        for name in [*PUBLISHED_SCHEMAS, "evidence", "problems"]:
            assert connection.execute(f"SELECT namespace FROM {name}").fetchall() == []


def test_missing_or_damaged_file_is_named_with_a_mend(tmp_path: Path, path: Path) -> None:
    damaged = tmp_path / "damaged.duckdb"
    shutil.copy(path, damaged)
    damaged.write_bytes(damaged.read_bytes()[:5000])
    for wrong in (damaged, tmp_path / "missing.duckdb"):
        with pytest.raises(DamagedFileError, match=rf"{wrong.name}.*rag ingest"):
            open_catalogue(wrong).execute("SELECT * FROM chunks")
        with pytest.raises(DamagedFileError, match=wrong.name):
            attach_catalogues({"a": wrong})
    assert not (tmp_path / "missing.duckdb").exists()


def test_wrong_tables_are_refused_and_leave_nothing(
    tmp_path: Path, tables: dict[str, pa.Table]
) -> None:
    target = tmp_path / "c.duckdb"
    with pytest.raises(ValueError, match="the tables must be"):
        write_catalogue(target, {"chunks": tables["chunks"]})
    with pytest.raises(ValueError, match=r"missing \[\('text', 'string'\)\]"):
        write_catalogue(target, tables | {"parents": tables["parents"].drop_columns(["text"])})
    doubled = pa.concat_tables([tables["parents"], tables["parents"]])
    with pytest.raises(DamagedFileError, match="'parent_id' must be unique"):
        write_catalogue(target, tables | {"parents": doubled})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", [duckdb.IOException, duckdb.TransactionException])
def test_full_disk_is_said_and_leaves_nothing(
    tmp_path: Path,
    tables: dict[str, pa.Table],
    monkeypatch: pytest.MonkeyPatch,
    kind: type[duckdb.Error],
) -> None:
    def fail(*_: object) -> None:
        raise kind("Could not write file: No space left on device")

    refusing = SimpleNamespace(register=lambda *_: None, execute=fail)
    monkeypatch.setattr(duckdb, "connect", lambda *_, **__: nullcontext(refusing))
    with pytest.raises(StorageError, match=r"c\.duckdb: the disk is full"):
        write_catalogue(tmp_path / "c.duckdb", tables)
    assert list(tmp_path.iterdir()) == []


def test_catalogue_is_never_overwritten(path: Path, tables: dict[str, pa.Table]) -> None:
    with pytest.raises(ValueError, match="never edited"):
        write_catalogue(path, tables)
    with open_catalogue(path) as connection:
        assert read_table(connection, "chunks").num_rows == 8
