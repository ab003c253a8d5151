"""The laboratory in SQL: `lab_…`, one table for each of its store, and recipes one a row."""

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from sqlalchemy import Table

# By the names of SQLAlchemy's types; JSON comes as text and becomes JSON again.
_TYPES = {
    "INTEGER": pa.int64(), "FLOAT": pa.float64(), "BOOLEAN": pa.bool_(), "VARCHAR": pa.string(),
    "JSON": pa.string(),
}  # fmt: skip
_RECIPES = """
    CREATE VIEW lab_recipes AS
    SELECT run_id, CAST(recipe->>'rank' AS BIGINT) AS rank, recipe->>'M1' AS M1,
        recipe->>'M2' AS M2, recipe->>'atomic_ratio' AS atomic_ratio,
        recipe->>'$.small_molecule_modifier.name' AS modifier,
        recipe->>'$.small_molecule_modifier.smiles' AS smiles, recipe->'grounds' AS grounds
    FROM (SELECT id AS run_id, unnest(CAST(record->'recipes' AS JSON[])) AS recipe FROM lab_runs)
"""


def create_laboratory_tables(connection: "DuckDBPyConnection", workspace: Workspace) -> None:
    """Add the tables of a workspace's laboratory, as they are now; none where it has none."""
    if workspace.settings.lab is None:
        return
    from rag_assets.lab import lab_file, open_laboratory, projections

    if not lab_file(workspace).is_file():
        return
    lab = open_laboratory(workspace)
    try:
        with lab.store.reading() as reading:
            for table, rows in projections(reading):
                _create(connection, table, rows)
    finally:
        lab.store.close()
    connection.execute(_RECIPES)


def _create(connection: "DuckDBPyConnection", table: "Table", rows: list[dict[str, Any]]) -> None:
    kinds = {column.name: str(column.type) for column in table.columns}
    schema = pa.schema([(name, _TYPES[kind]) for name, kind in kinds.items()])
    told = [{n: json.dumps(v) if kinds[n] == "JSON" else v for n, v in row.items()} for row in rows]
    columns = ", ".join(
        f'CAST("{name}" AS JSON) AS "{name}"' if kind == "JSON" else f'"{name}"'
        for name, kind in kinds.items()
    )
    connection.register("laboratory_rows", pa.Table.from_pylist(told, schema=schema))
    connection.execute(f"CREATE TABLE lab_{table.name} AS SELECT {columns} FROM laboratory_rows")
    connection.unregister("laboratory_rows")
