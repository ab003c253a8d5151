"""SQL from anybody reads what is published and nothing else, and writes nothing."""

import re
import signal
import threading
from pathlib import Path

import duckdb
import pytest

from rag_assets.auditing import audit_citations
from rag_assets.auditing.storing import audit_claims
from rag_assets.evidence import Question, ask
from rag_assets.lab.laboratory import init_laboratory
from rag_assets.model import UsageError
from rag_assets.publishing.catalogue import catalogue_name
from rag_assets.storage import current_folder
from rag_assets.tracing import open_sql, run_sql
from rag_assets.workspace import Workspace, override_metadata
from rag_assets_tests.editing.drafting import open_editor
from rag_assets_tests.libraries import HASHING, build, make_workspace

SETTINGS = {**HASHING, "verify": {"scorer": "similarity"}}
CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    files: dict[str, str | bytes] = {
        "evidence/roofs.md": "# Roofs\n\nIt was 7 degrees cooler.\n",
        "evidence/old.md": "# Old\n\nWater.\n",
    }
    made = make_workspace(tmp_path_factory.mktemp("sealed") / "论文", files, SETTINGS)
    init_laboratory(made)
    made = Workspace.open(made.root)
    build(made.namespace("thesis"))
    override_metadata(made.namespace("thesis"), "old", {"archived": "true"}, "superseded")
    editor = open_editor(made.namespace("thesis"), "roofs")
    editor.create()
    editor.edit_text(0, "It was 7 degrees cooler, as the scan should have read.")
    editor.publish()
    build(made.namespace("thesis"))
    draft = made.drafts / "chapter.md"
    draft.write_text(
        "Roofs were 7 degrees cooler {#roofs}.\n\nAll roofs reduce the heat by 45 %.\n",
        encoding="utf-8",
    )
    audit_citations(made, draft)
    audit_claims(made, draft)
    ask(made, Question(question="How much cooler was the roof?"))
    return made


def places(workspace: Workspace) -> dict[str, Path]:
    namespace = workspace.namespace("thesis")
    folder = current_folder(namespace.publications, "thesis")
    return {
        "raw": workspace.root / "raw/evidence/roofs.md",
        "journal": namespace.journal,
        "pack": workspace.outputs / "evidence_pack_v001.json",
        "catalogue": folder / catalogue_name(folder.name),
        "wal": folder / f"{catalogue_name(folder.name)}.wal",
        "env": workspace.root / ".env",
        "new": workspace.root / "raw/evidence/new.csv",
    }


READING = [
    "SELECT * FROM read_text('{file}')",
    "SELECT * FROM read_blob('{file}')",
    "SELECT * FROM read_csv('{file}')",
    "SELECT * FROM read_json('{file}')",
    "SELECT * FROM read_parquet('{file}')",
    "SELECT * FROM read_duckdb('{file}')",
    "SELECT * FROM parquet_metadata('{file}')",
    "SELECT * FROM sniff_csv('{file}')",
    "SELECT * FROM glob('{file}')",
    "SELECT * FROM '{file}'",
    "SELECT * FROM query_table('{file}')",
    "FROM query('SELECT * FROM read_text(''{file}'')')",
    "FROM json_execute_serialized_sql(json_serialize_sql('FROM read_text(''{file}'')'))",
]
WRITING = [
    "COPY (SELECT 1) TO '{file}'",
    "COPY (SELECT 1) TO '{file}' (USE_TMP_FILE false)",
    "WITH x AS (COPY (SELECT 1) TO '{file}' (USE_TMP_FILE false)) SELECT * FROM x",
    "FROM query('WITH x AS (COPY (SELECT 1) TO ''{file}'' (USE_TMP_FILE false)) FROM x')",
    "ATTACH '{file}' AS other",
    "ATTACH '{file}' AS other (READ_ONLY)",
    "EXPORT DATABASE '{file}'",
    "IMPORT DATABASE '{file}'",
    "CALL enable_logging(storage = 'file', storage_config = {{'path': '{file}'}})",
    "PRAGMA profiling_output = '{file}'",
    "DELETE FROM thesis.chunks",
    "WITH x AS (DELETE FROM thesis.chunks RETURNING *) SELECT * FROM x",
    "CREATE TABLE thesis.more AS SELECT 1",
]
ESCAPING = [
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '/tmp/x.duckdb_extension'",
    "SET enable_external_access = true",
    "RESET enable_external_access",
    "SET disabled_filesystems = ''",
    "RESET disabled_filesystems",
    "SET allowed_paths = ['/etc/passwd']",
    "SET lock_configuration = false",
    "SET temp_directory = '/tmp'",
    "SET autoinstall_known_extensions = true",
    "SET log_query_path = '/tmp/log'",
    "PRAGMA enable_profiling",
    "CREATE SECRET (TYPE s3, KEY_ID 'a', SECRET 'b')",
    "CREATE PERSISTENT SECRET (TYPE http, BEARER_TOKEN 'b')",
    "SELECT getenv('HOME')",
    "SELECT * FROM 'https://example.org/a.csv'",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_text('/proc/self/environ')",
    "SELECT * FROM read_csv('/dev/stdin')",
    "SELECT * FROM a_python_variable",
]


def everything(workspace: Workspace) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for path in sorted(workspace.root.rglob("*"))
        if path.is_file() and path.suffix != ".lock"
    }


@pytest.mark.parametrize("statement", READING)
def test_no_file_is_read_whatever_the_function(workspace: Workspace, statement: str) -> None:
    with open_sql(workspace) as connection:
        for name, file in places(workspace).items():
            if name not in {"wal", "new"}:
                with pytest.raises(duckdb.Error):
                    connection.execute(statement.format(file=file)).fetchall()


@pytest.mark.parametrize("statement", WRITING)
def test_nothing_is_written_not_even_over_the_own_files(
    workspace: Workspace, statement: str
) -> None:
    before = everything(workspace)
    with open_sql(workspace) as connection:
        for file in places(workspace).values():
            with pytest.raises(duckdb.Error):
                connection.execute(statement.format(file=file)).fetchall()
    assert everything(workspace) == before


@pytest.mark.parametrize("statement", ESCAPING)
def test_nothing_opens_the_connection_again(workspace: Workspace, statement: str) -> None:
    a_python_variable = {"secret": [1]}
    with open_sql(workspace) as connection, pytest.raises(duckdb.Error):
        connection.execute(statement).fetchall()
    assert a_python_variable


def test_a_large_sort_leaves_no_file_in_the_current_folder(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace.root / "raw/evidence")
    with open_sql(workspace) as connection:
        (folder,) = connection.execute("SELECT current_setting('temp_directory')").fetchall()[0]
    assert folder == ""


@pytest.mark.parametrize(
    "table",
    re.findall(r"(?m)^\| `(\w+)` \|", (CHECKOUT / "docs/tables.md").read_text(encoding="utf-8")),
)
def test_every_documented_table_is_there_and_described(workspace: Workspace, table: str) -> None:
    with open_sql(workspace) as connection:
        assert connection.execute(f"DESCRIBE {table}").fetchall()
        assert connection.execute(f"SUMMARIZE {table}").fetchall()
        rows = connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]
    assert table in {"problems", "runs"} or rows


def test_a_damaged_output_harms_its_own_table_alone(workspace: Workspace) -> None:
    broken = workspace.outputs / "evidence_pack_v099.json"
    broken.write_text('{"query_id": ', encoding="utf-8")
    try:
        with open_sql(workspace) as connection:
            assert connection.execute("SELECT count(*) FROM documents").fetchall() == [(1,)]
            assert connection.execute("SELECT count(*) FROM verdicts").fetchall() == [(1,)]
            for table in ("packs", "lineage"):
                with pytest.raises(duckdb.Error, match=r"evidence_pack_v099\.json"):
                    connection.execute(f"SELECT * FROM {table}").fetchall()
    finally:
        broken.unlink()


ENDLESS = "SELECT count(*) FROM range(1000000000000) a, range(1000000) b WHERE a.range % 7 = 3"


def test_an_endless_query_ends_after_its_time(workspace: Workspace) -> None:
    with open_sql(workspace) as connection:
        with pytest.raises(UsageError, match=r"longer than 0.1 s and was ended.*--seconds"):
            run_sql(connection, ENDLESS, 0.1)
        assert run_sql(connection, "SELECT 1 AS one", 60) == (["one"], [(1,)])
        with pytest.raises(UsageError, match="Add a LIMIT"):
            run_sql(connection, "FROM range(2000000)", 60)


def test_an_endless_query_ends_when_a_person_ends_it(workspace: Workspace) -> None:
    with open_sql(workspace) as connection:
        with pytest.raises(KeyboardInterrupt):
            main = threading.get_ident()
            threading.Timer(0.1, signal.pthread_kill, (main, signal.SIGINT)).start()
            run_sql(connection, ENDLESS, 600)
        assert run_sql(connection, "SELECT 1 AS one", 60) == (["one"], [(1,)])
