"""What people did to a passage, in a sentence (`rag draft`)."""

from typing import TYPE_CHECKING

from rag_assets.tracing.stored import read_named_rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def tell_edits(connection: "DuckDBPyConnection") -> dict[str, str]:
    """Return, by citation id, what was done to each edited passage of the current publications."""
    told: dict[str, list[str]] = {}
    rows = read_named_rows(
        connection,
        "SELECT unnest(citation_ids) AS id, list_contains(disabled_ids, id) AS is_disabled, kind, "
        "edited_by, edited_at, edited_because FROM chunk_edits ORDER BY edit_key, number",
    )
    for row in sorted(rows, key=lambda row: bool(row["is_disabled"]) and row["kind"] == "disable"):
        because = f" ({row['edited_because']})" if row["edited_because"] else ""
        done = f"{row['kind']} by {row['edited_by']} at {row['edited_at']}{because}"
        is_last = row["is_disabled"] and row["kind"] == "disable"
        told.setdefault(row["id"], []).append(
            f"it is disabled, so that no search finds it: {done}" if is_last else done
        )
    return {key: "; ".join(sentences) for key, sentences in told.items()}
