"""The laboratory in SQL: `lab_…`, one table for each of its store, and recipes one a row."""

import json
from typing import TYPE_CHECKING

import pyarrow as pa

from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# By the types that the store declares; JSON comes as text and becomes JSON again.
_TYPES = {
    "INTEGER": pa.int64(), "REAL": pa.float64(), "BOOLEAN": pa.bool_(), "TEXT": pa.string(),
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
_PRODUCTS = """
    CREATE VIEW lab_feedback_products AS
    SELECT run_id, product->>'product_id' AS product_id, CAST(product->>'value' AS DOUBLE) AS value,
        CAST(product->>'fraction' AS DOUBLE) AS fraction
    FROM (SELECT run_id, unnest(CAST(products AS JSON[])) AS product FROM lab_feedback)
"""


def create_laboratory_tables(connection: "DuckDBPyConnection", workspace: Workspace) -> None:
    """Add the tables of a workspace's laboratory, as they are now; none where it has none."""
    if workspace.settings.lab is None:
        return
    from rag_assets.lab.laboratory import lab_file, open_laboratory
    from rag_assets.lab.store import TABLES

    if not lab_file(workspace).is_file():
        return
    with open_laboratory(workspace).store.reading() as reading:
        for table in (*TABLES, "mem_edit_log"):
            found = reading.connection.execute(f"PRAGMA table_info({table})")
            kinds = {name: kind or "TEXT" for _, name, kind, *_ in found}
            rows = [
                {n: json.dumps(v) if kinds[n] == "JSON" else v for n, v in row.items()}
                for row in reading.rows(table, "1")
            ]
            schema = pa.schema([(name, _TYPES[kind]) for name, kind in kinds.items()])
            columns = ", ".join(
                f'CAST("{name}" AS JSON) AS "{name}"' if kind == "JSON" else f'"{name}"'
                for name, kind in kinds.items()
            )
            connection.register("laboratory_rows", pa.Table.from_pylist(rows, schema=schema))
            connection.execute(f"CREATE TABLE lab_{table} AS SELECT {columns} FROM laboratory_rows")
            connection.unregister("laboratory_rows")
    connection.execute(_RECIPES)
    connection.execute(_PRODUCTS)
