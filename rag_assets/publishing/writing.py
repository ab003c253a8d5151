"""Writing the files of a publication from joined rows: whole, or from the one before it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.publishing.document_keys import Growth

if TYPE_CHECKING:
    import pyarrow as pa

    from rag_assets.publishing.search_ann import VectorIndex
    from rag_assets.publishing.segments import Grown

Say = Callable[[int, str], None]
"""The number of a step and what it does."""


@dataclass(frozen=True, slots=True)
class Written:
    """What was written.

    Args:
        digests: of each table.
        counts: rows of each table.
        added: chunks that were added to the table of another publication.
        grown: how that table grew; None for a fresh one.
    """

    indexes: "Sequence[VectorIndex]"
    digests: Mapping[str, str]
    counts: Mapping[str, int]
    added: Sequence[str] = field(default=(), repr=False)
    grown: "Grown | None" = None


def write_tables(
    folder: Path, name: str, tables: "Mapping[str, pa.Table]", ann_rows: int | None, say: Say
) -> Written:
    """Write search table and catalogue of a publication from all of its rows."""
    from rag_assets.publishing.catalogue import catalogue_name, write_catalogue
    from rag_assets.publishing.schemas import CHUNKS
    from rag_assets.publishing.search_table import write_search_table
    from rag_assets.publishing.table_digest import digest_table

    say(1, "writing the search table")
    indexes = write_search_table(folder, tables["chunks"], ann_rows)
    say(2, "writing the catalogue")
    plain = {**tables, "chunks": tables["chunks"].select(CHUNKS.names)}
    write_catalogue(folder / catalogue_name(name), plain)
    return Written(
        indexes,
        {table: digest_table(rows) for table, rows in tables.items()},
        {table: len(rows) for table, rows in tables.items()},
    )


def grow_tables(
    folder: Path,
    name: str,
    tables: "Mapping[str, pa.Table]",
    growth: Growth,
    told: "Grown | None",
    ann_rows: int | None,
    say: Say,
) -> Written:
    """Write search table and catalogue of a publication as those of another with changes.

    Args:
        folder: made beside that of the other publication.
        tables: of `parents` and `chunks` the rows that come.
        told: how the table of the other publication had grown; None for a fresh one.
    """
    from rag_assets.publishing.catalogue import catalogue_name
    from rag_assets.publishing.catalogue_growth import grow_catalogue
    from rag_assets.publishing.schemas import CHUNKS
    from rag_assets.publishing.segments import grow_search_table
    from rag_assets.publishing.table_digest import digest_table

    before = folder.parent / growth.before
    added = tables["chunks"]
    say(1, "adding to the search table")
    grown = grow_search_table(folder, before, growth.gone, added, ann_rows, told)
    say(2, "adding to the catalogue")
    plain = {**tables, "chunks": added.select(CHUNKS.names)}
    sizes = grow_catalogue(
        folder / catalogue_name(name), before / catalogue_name(growth.before), plain, growth.gone
    )
    digests, counts = {}, {}
    for table, rows in tables.items():
        counts[table], digests[table] = sizes.get(table) or (len(rows), digest_table(rows))
    return Written(grown.indexes, digests, counts, added["chunk_id"].to_pylist(), grown)
