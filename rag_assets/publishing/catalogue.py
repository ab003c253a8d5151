"""The DuckDB file of a publication: its tables for SQL, written once, then only read.

DuckDB knows an open file by its path, within a process even after it was replaced, and lets
nobody read while one writes: so each publication has a file of its own name, which is complete
and closed before anybody hears of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from rag_assets.model import DamagedFileError, StorageError
from rag_assets.publishing.schemas import (
    GRAPH_SCHEMAS,
    PUBLISHED_SCHEMAS,
    row_order,
    schema_entry,
    schemas_of,
)
from rag_assets.storage import explained_errors, trouble_of_machine

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# No wheel carries further extensions, and a query must never wait for a download.
OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
# In this order. Without external access DuckDB still lets a statement read, and write over, the
# files that are attached: `WITH x AS (COPY … TO …) SELECT …` counts as a SELECT. What has been
# opened stays readable when the file system is taken away.
_SEAL = (
    "SET temp_directory = ''",  # else a large query writes into the current folder
    "SET python_enable_replacements = false",  # a Python variable is no table
    "SET allow_community_extensions = false",
    "SET allow_persistent_secrets = false",
    "SET enable_external_access = false",
    "SET disabled_filesystems = 'LocalFileSystem'",
    "SET lock_configuration = true",
)

_SCHEMAS = PUBLISHED_SCHEMAS | GRAPH_SCHEMAS

# The in-memory database and DuckDB's own have these names; a namespace of that name gets a "_".
_TAKEN_NAMES = {"main", "memory", "system", "temp"}

_EVIDENCE = """
    SELECT chunk_id, doc_uid, doc_title, citation_key, page_start, page_end, section_path, text
    FROM chunks WHERE citable ORDER BY doc_uid, chunk_index
"""
_PROBLEMS = """
    SELECT 'source' AS subject, path AS name, status, reason_code, message
    FROM sources WHERE status NOT IN ('published', 'archived')
    UNION ALL
    SELECT 'parse', coalesce(doc_uid, content_hash), status, reason_code, message
    FROM parse_reports WHERE status <> 'ok'
    ORDER BY ALL
"""
_VIEWS = {
    "evidence": ("What may be cited: citable chunks with their document's title.", _EVIDENCE),
    "problems": ("Files not published and contents not parsed, with what to do.", _PROBLEMS),
}


def catalogue_name(publication: str) -> str:
    """Return the file name of a publication's catalogue."""
    return f"catalogue-{publication}.duckdb"


def quote_identifier(name: str) -> str:
    """Return `name` as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def quote_literal(text: str) -> str:
    """Return `text` as a SQL string literal of DuckDB, where only the quote is special."""
    return "'" + text.replace("'", "''") + "'"


@contextmanager
def catalogue_errors_explained(
    path: Path,
    mend: str = "Delete the publication's folder and run `rag ingest`: it is built again from the "
    "records.",
) -> Iterator[None]:
    """Tell a catalogue that is damaged from a machine that cannot read it now.

    Raises:
        DamagedFileError: with `mend`, what to do about the file.
        StorageError: no rights, no memory, too many open files, a disk that does not answer.
    """
    import duckdb

    try:
        yield
    except (duckdb.Error, MemoryError) as error:
        raise trouble_of_machine(error, path) or DamagedFileError(
            f"{path}: the catalogue cannot be read ({error}). {mend}"
        ) from error


def write_catalogue(path: Path, tables: Mapping[str, pa.Table]) -> None:
    """Write the catalogue of a publication: tables, comments and views, closed at the end.

    Args:
        path: of a file that does not exist, named by `catalogue_name`.
        tables: one for each of `PUBLISHED_SCHEMAS`, and of `GRAPH_SCHEMAS` or of none of these,
            with that schema; rows in any order.

    Raises:
        ValueError: a table is missing, unknown or has another schema; the file exists.
        DamagedFileError: a key appears twice.
        StorageError: the disk is full or refuses a write.
    """
    import duckdb

    _check_tables(path, tables)
    statements = []
    for name, schema in schemas_of(tables).items():
        order = ", ".join(map(quote_identifier, row_order(schema)))
        statements.append(f"CREATE TABLE {name} AS SELECT * FROM incoming_{name} ORDER BY {order}")
        description = quote_literal(schema_entry(schema, "description"))
        statements.append(f"COMMENT ON TABLE {name} IS {description}")
        for field in schema:
            metadata = field.metadata or {}
            comment = f"{metadata[b'description'].decode()} [{metadata[b'role'].decode()}]"
            column = f"{name}.{quote_identifier(field.name)}"
            statements.append(f"COMMENT ON COLUMN {column} IS {quote_literal(comment)}")
    for name, (comment, query) in _VIEWS.items():
        statements.append(f"CREATE VIEW {name} AS {query}")
        statements.append(f"COMMENT ON VIEW {name} IS {quote_literal(comment)}")
    try:
        with explained_errors(path), duckdb.connect(str(path), config=OFFLINE) as connection:
            for name, table in tables.items():
                connection.register(f"incoming_{name}", table)
            # Each statement by itself would wait for the disk.
            for statement in ("BEGIN", *statements, "COMMIT", "CHECKPOINT"):
                connection.execute(statement)
    except BaseException as error:
        path.unlink(missing_ok=True)
        path.with_name(path.name + ".wal").unlink(missing_ok=True)
        if not isinstance(error, duckdb.Error):
            raise
        trouble = trouble_of_machine(error, path, "written")
        if trouble is None and isinstance(error, duckdb.IOException | duckdb.FatalException):
            trouble = StorageError(
                f"{path}: the catalogue could not be written ({error}). Nothing published was "
                "lost; run the command again."
            )
        if trouble is None:
            raise
        raise trouble from error


def _check_tables(path: Path, tables: Mapping[str, pa.Table]) -> None:
    if path.exists():
        raise ValueError(f"{path}: exists; a catalogue is never edited. Write to a new name.")
    schemas = schemas_of(tables)
    if set(tables) != set(schemas):
        raise ValueError(f"{path}: the tables must be {sorted(schemas)}, got {sorted(tables)}.")
    for name, schema in schemas.items():
        found = tables[name].schema
        if not found.equals(schema):
            wanted = {(field.name, str(field.type)) for field in schema}
            given = {(field.name, str(field.type)) for field in found}
            raise ValueError(
                f"{path}: table '{name}' must have the published schema; missing "
                f"{sorted(wanted - given)}, not expected {sorted(given - wanted)}."
            )
        key = schema_entry(schema, "key")
        keys = tables[name].column(key)
        if keys.null_count or len(keys.unique()) != len(keys):
            raise DamagedFileError(
                f"{path}: table '{name}': '{key}' must be unique and never null. Nothing was "
                "published; please report it with the output of `rag status`."
            )


def open_catalogue(path: Path) -> "DuckDBPyConnection":
    """Return a read-only connection to a publication's catalogue; the caller closes it.

    Raises:
        DamagedFileError: there is no such file, or it is not a catalogue.
    """
    import duckdb

    with catalogue_errors_explained(path):
        return duckdb.connect(str(path), read_only=True, config=OFFLINE)


def attach_catalogues(catalogues: Mapping[str, Path]) -> "DuckDBPyConnection":
    """Return an in-memory connection that sees every namespace's catalogue, read-only.

    Each catalogue is attached under its namespace's name (`memory` and other names of DuckDB's
    own get a trailing `_`); views of the tables' and views' own
    names unite them, with the namespace as first column.

    Args:
        catalogues: path of the current catalogue by namespace; may be empty.

    Raises:
        DamagedFileError: a file is missing or not a catalogue.
    """
    import duckdb

    connection = duckdb.connect(":memory:", config=OFFLINE)
    try:
        for namespace, path in catalogues.items():
            alias, file = quote_identifier(_alias(namespace)), quote_literal(str(path))
            with catalogue_errors_explained(path):
                connection.execute(f"ATTACH {file} AS {alias} (READ_ONLY)")
        for name in [*_SCHEMAS, *_VIEWS]:
            # A publication of an older version has neither every table nor every column; of what is
            # in none of them the last part knows that it is null.
            parts = [
                _select_all(connection, namespace, name)
                for namespace in catalogues
                if _has_table(connection, namespace, name)
            ]
            parts.append(_select_nothing(connection, name))
            connection.execute(f"CREATE VIEW {name} AS {' UNION ALL BY NAME '.join(parts)}")
    except BaseException:
        connection.close()
        raise
    return connection


def seal(connection: "DuckDBPyConnection") -> None:
    """Leave a connection nothing but what it has attached and loaded; it cannot be undone.

    No statement reads or writes another file, attaches, installs, loads or changes a setting, and
    none writes to what is attached. So SQL may come from anybody.
    """
    for statement in _SEAL:
        connection.execute(statement)


def _alias(namespace: str) -> str:
    return f"{namespace}_" if namespace.lower() in _TAKEN_NAMES else namespace


def _select_all(connection: "DuckDBPyConnection", namespace: str, name: str) -> str:
    table = f"{quote_identifier(_alias(namespace))}.main.{name}"
    columns = [row[0] for row in connection.execute(f"DESCRIBE {table}").fetchall()]
    others = ", ".join(quote_identifier(column) for column in columns if column != "namespace")
    return f"SELECT {quote_literal(namespace)} AS namespace, {others} FROM {table}"


def _has_table(connection: "DuckDBPyConnection", namespace: str, name: str) -> bool:
    query = "SELECT 1 FROM information_schema.tables WHERE table_catalog = $1 AND table_name = $2"
    return bool(connection.execute(query, [_alias(namespace), name]).fetchall())


def _select_nothing(connection: "DuckDBPyConnection", name: str) -> str:
    """Return a query without rows, so that the views stand in a workspace without namespaces."""
    if name in _VIEWS:
        return f"SELECT '' AS namespace, * FROM ({_VIEWS[name][1]})"
    fields = [field for field in _SCHEMAS[name] if field.name != "namespace"]
    connection.register("incoming", pa.schema(fields).empty_table())
    connection.execute(f"CREATE TABLE empty_{name} AS SELECT '' AS namespace, * FROM incoming")
    connection.unregister("incoming")
    return f"SELECT * FROM empty_{name}"


def read_table(
    connection: "DuckDBPyConnection",
    name: str,
    column: str | None = None,
    values: Sequence[str] = (),
) -> pa.Table:
    """Return a published table from an open catalogue, in its own order and schema.

    Columns that an older version did not publish are null.

    Args:
        connection: of `open_catalogue`.
        name: one of `PUBLISHED_SCHEMAS` or `GRAPH_SCHEMAS`.
        column: where given, only rows whose value in it is one of `values`.
        values: any number of them.
    """
    schema = _SCHEMAS[name]
    order = ", ".join(quote_identifier(part) for part in row_order(schema))
    where = f"WHERE {quote_identifier(column)} IN (SELECT unnest($values))" if column else ""
    relation = connection.sql(
        f"SELECT * FROM {name} {where} ORDER BY {order}",
        params={"values": list(values)} if column else None,
    )
    table = relation.to_arrow_table()
    for field in schema:
        if field.name not in table.column_names:
            table = table.append_column(field, pa.nulls(table.num_rows, field.type))
    return table.select(schema.names).cast(schema)


def file_column(connection: "DuckDBPyConnection", catalogue: str | None = None) -> str:
    """Return which column of `sources` says where a file lies: publications had no `file` once.

    Args:
        catalogue: name of an attached database; the connection's own without.
    """
    chosen = catalogue or connection.execute("SELECT current_database()").fetchall()[0][0]
    found = connection.execute(
        "SELECT 1 FROM duckdb_columns() WHERE database_name = ? AND table_name = 'sources' "
        "AND column_name = 'file'",
        [chosen],
    ).fetchall()
    return "file" if found else "source_uri"
