"""One whole publication, read for the length of one query."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rag_assets.model import PublicationError
from rag_assets.publishing.catalogue import catalogue_name, open_catalogue, read_table
from rag_assets.publishing.search_table import SearchTable, quote_text
from rag_assets.retrieval.hits import HIT_COLUMNS, Hit, ParentPassage

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection


# Chunks that state nothing: headings alone, told with the text below them, and the labels inside
# a diagram.
WORDLESS_KINDS = ("heading", "drawing")
# Nor is the title of somebody else's work evidence for what its citing document says.
NOT_EVIDENCE = (*WORDLESS_KINDS, "reference")


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """What a search is confined to; applied before it, so that it still fills its pool.

    Args:
        citable_only: only chunks that may be cited as evidence.
        doc_uids: only chunks of these documents; None for all, empty for none.
        with_references: also entries of bibliographies. What says nothing by itself is never
            found (`WORDLESS_KINDS`).
    """

    citable_only: bool = False
    doc_uids: tuple[str, ...] | None = None
    with_references: bool = False

    @property
    def excludes_everything(self) -> bool:
        """Whether no row can pass."""
        return self.doc_uids is not None and not self.doc_uids

    def condition(self) -> str:
        """Return the SQL condition on the search table's columns."""
        wordless = ", ".join(map(quote_text, WORDLESS_KINDS))
        parts = [f"(kind IS NULL OR kind NOT IN ({wordless}))"]
        if not self.with_references:
            parts.append("(section_subtype IS NULL OR section_subtype <> 'references')")
        if self.citable_only:
            parts.append("citable = true")
        if self.doc_uids:
            parts.append(f"doc_uid IN ({', '.join(map(quote_text, sorted(set(self.doc_uids))))})")
        return " AND ".join(parts)


EVERYTHING = SearchFilters()


class Reader:
    """One publication of one namespace; open it once a query, close it at its end.

    Args:
        folder: of the publication.
        namespace: the namespace that published it.
        name: of the publication.

    Raises:
        PublicationError: the folder is gone: the publication was retired.
        DamagedFileError: the search table cannot be read.
    """

    def __init__(self, folder: Path, namespace: str, name: str) -> None:
        if not folder.is_dir():
            raise PublicationError(
                f"{folder}: publication {name} of namespace '{namespace}' was retired or never "
                "made. Run `rag index`, or ask the current publication."
            )
        self.folder = folder
        self.namespace = namespace
        self.name = name
        self._table = SearchTable(folder)
        self._connection: DuckDBPyConnection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the catalogue; searching would open nothing again, but nothing is held."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @property
    def rows(self) -> int:
        """How many chunks can be found."""
        return self._table.rows

    @property
    def dimension(self) -> int:
        """Length of a question's vector."""
        return self._table.dimension

    def search_text(
        self, query: str, limit: int, filters: SearchFilters = EVERYTHING
    ) -> list[tuple[Hit, float]]:
        """Return chunks that share a word with `query`, best BM25 score first, ties by id.

        Nothing in `query` is syntax; without a word in it nothing is found.
        """
        if filters.excludes_everything:
            return []
        return _scored(self._table.search_text(query, limit, filters.condition(), HIT_COLUMNS))

    def search_vectors(
        self, vector: Sequence[float], limit: int, filters: SearchFilters = EVERYTHING
    ) -> list[tuple[Hit, float]]:
        """Return the chunks most similar to `vector` by cosine in [-1, 1], ties by id; exact.

        Raises:
            UsageError: the vector has another dimension than the index, or is not finite.
        """
        if filters.excludes_everything:
            return []
        return _scored(self._table.search_vectors(vector, limit, filters.condition(), HIT_COLUMNS))

    def fetch_chunks(self, doc_uid: str) -> "pa.Table":
        """Return all chunks of a document in order, with vectors; no row for an unknown uid."""
        return self._table.fetch(f"doc_uid = {quote_text(doc_uid)}")

    def fetch_parents(self, parent_ids: Iterable[str]) -> dict[str, ParentPassage]:
        """Return parents by id; ids that the publication does not hold are left out."""
        rows = read_table(self._catalogue, "parents", "parent_id", sorted(set(parent_ids)))
        return {
            row["parent_id"]: ParentPassage(
                **{**row, "section_path": tuple(row["section_path"] or ())}
            )
            for row in rows.to_pylist()
        }

    def documents(self) -> "pa.Table":
        """Return the catalogue's `documents`, by uid."""
        return self._documents

    def sources(self) -> "pa.Table":
        """Return the catalogue's `sources`: every file, also those that are not published."""
        return read_table(self._catalogue, "sources")

    @cached_property
    def _documents(self) -> "pa.Table":
        return read_table(self._catalogue, "documents")

    @property
    def _catalogue(self) -> "DuckDBPyConnection":
        if self._connection is None:
            self._connection = open_catalogue(self.folder / catalogue_name(self.name))
        return self._connection


def _scored(found: "pa.Table") -> list[tuple[Hit, float]]:
    return [(Hit.from_row(row), row["score"]) for row in found.to_pylist()]
