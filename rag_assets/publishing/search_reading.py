"""Searching the Lance table of a publication."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rag_assets.model import DamagedFileError, RagError, UsageError
from rag_assets.publishing.row_order import read_row_order
from rag_assets.publishing.search_ann import (
    EXACT_ROWS,
    VectorIndex,
    find_nearest,
    read_vector_indexes,
)
from rag_assets.publishing.search_memory import TableMemory, cosines, shared_memory
from rag_assets.publishing.search_text import BODY, TextSearch
from rag_assets.storage import trouble_of_machine

if TYPE_CHECKING:
    from rag_assets.settings import TextSettings

TABLE_NAME = "chunks.lance"

_NO_ROWS = np.zeros(0, np.int64)

# Caches of one process, for all tables that it reads. The library's own default is 7 GiB; the
# index of 20,000 rows takes some 10 MB.
_INDEX_CACHE_BYTES = 256 * 2**20
_METADATA_CACHE_BYTES = 64 * 2**20

# Scores are compared after rounding to this many decimals (law 3 of the architecture).
SCORE_DECIMALS = 6

# Ids with their scores, best first, ties by id.
Ranking = list[tuple[str, float]]


@lru_cache(maxsize=1)
def _shared_session() -> Any:
    """Return the caches of this process's readers."""
    return new_session()


def new_session() -> Any:
    """Return caches of a bounded size for one Lance dataset."""
    import lance

    return lance.Session(  # type: ignore[attr-defined]  # public, but not in __all__
        index_cache_size_bytes=_INDEX_CACHE_BYTES,
        metadata_cache_size_bytes=_METADATA_CACHE_BYTES,
    )


def quote_text(value: str) -> str:
    """Return `value` as a string literal of Lance's SQL, where only the quote is special."""
    return "'" + encodable(value).replace("'", "''") + "'"


def encodable(value: str) -> str:
    """Return `value` with lone surrogates, which no index can hold, replaced by `?`."""
    return value.encode("utf-8", "replace").decode("utf-8")


@contextmanager
def damage_explained(path: Path) -> Iterator[None]:
    """Tell a search table that is damaged from a machine that cannot read it now."""
    # Lance raises the same few built-in errors for every kind of damage, and of trouble.
    try:
        yield
    except RagError:
        raise
    except (ValueError, OSError, MemoryError, RuntimeError, pa.ArrowException) as error:
        raise trouble_of_machine(error, path) or DamagedFileError(
            f"{path}: the search table cannot be read ({error}). Delete the publication's folder "
            "and run `rag index`: it is built again from the records."
        ) from error


class SearchTable:
    """One search table, open for reading. The only place that searches Lance.

    Args:
        folder: of the publication.
        uses_shared_cache: False to read everything from the disk, as a check must.

    Raises:
        DamagedFileError: there is no table, or it cannot be read.
    """

    def __init__(self, folder: Path, *, uses_shared_cache: bool = True) -> None:
        import lance

        self.path = folder / TABLE_NAME
        session = _shared_session() if uses_shared_cache else new_session()
        with damage_explained(self.path):
            self._dataset = lance.dataset(str(self.path), session=session)
            self.rows: int = self._dataset.count_rows()
            self.columns = frozenset(self._dataset.schema.names)
            self.dimensions: dict[str, int] = {
                field.name: field.type.list_size
                for field in self._dataset.schema
                if pa.types.is_fixed_size_list(field.type)
            }
            self.columns = frozenset(self._dataset.schema.names)

            def remember() -> TableMemory:
                return TableMemory(self._dataset, read_row_order(folder, self.rows))

            self._indexes = read_vector_indexes(folder)
            self._memory = shared_memory(self.path, remember) if uses_shared_cache else remember()
        self._text = TextSearch(self._dataset, self._memory)

    @property
    def unindexed_rows(self) -> int:
        """Rows that a text index does not know; anything but 0 is damage."""
        with damage_explained(self.path):
            return self._text.unindexed_rows()

    @property
    def vector_indexes(self) -> dict[str, VectorIndex]:
        """The approximate indexes by column; columns without one are searched exactly."""
        return dict(self._indexes)

    def search_text(
        self,
        query: str,
        limit: int,
        where: str | None = None,
        weights: "TextSettings | None" = None,
    ) -> Ranking:
        """Return the rows that share a word with `query`, best score first.

        Args:
            query: any text; nothing in it is syntax. Text without a word, or with none but the
                commonest ones of English, finds nothing.
            limit: rows at most, from 1.
            where: SQL condition on the table's columns, applied before the search.
            weights: of headings and exact terms; without, the text alone counts.

        Returns:
            Ids with scores above 0, rounded to six decimals; ties by id.
        """
        _check_limit(limit)
        with damage_explained(self.path):
            found = self._text.best(encodable(query), limit, where, weights)
            named = self._named({row: score for row, score in found.items() if score > 0})
        return _ranked(named, limit)

    def score_text(
        self, query: str, chunk_ids: Sequence[str], weights: "TextSettings | None" = None
    ) -> dict[str, float]:
        """Return the score that `search_text` gives each of these rows, 0.0 without a common word.

        Ids that the table does not hold are left out.
        """
        with damage_explained(self.path):
            rows = self._memory.rows_of(chunk_ids)
            scores = self._text.scores(encodable(query), sorted(rows.values()), weights)
        return {key: _rounded(scores[row]) for key, row in rows.items()}

    def find_pattern(self, pattern: str, where: str | None = None) -> list[str]:
        """Return the ids of rows whose text or headings a regular expression finds, in order.

        Args:
            pattern: as Rust's engine reads it.
            where: SQL condition on the table's columns.
        """
        condition = f"regexp_like({BODY}, {quote_text(pattern)})"
        with damage_explained(self.path):
            found = self._scan_in_order(f"({where}) AND {condition}" if where else condition,
                                        ["chunk_id"])  # fmt: skip
        ids: list[str] = found.column("chunk_id").to_pylist()
        return ids

    def finds_word(self, word: str, column: str, where: str) -> bool:
        """Say whether the index of a text column finds a word in a row that meets `where`."""
        with damage_explained(self.path):
            return self._text.finds_word(word, column, where)

    def search_vectors(
        self, column: str, vector: Sequence[float], limit: int, where: str | None = None
    ) -> Ranking:
        """Return the rows whose vectors are most similar.

        Every row is compared, but for columns with an approximate index (`vector_indexes`): there
        the rows that the index finds, with their exact cosines.

        Args:
            column: of `dimensions`.
            vector: of the column's dimension, finite. All zeros has no direction: finds nothing.
            limit: rows at most, from 1.
            where: SQL condition on the table's columns, applied before the search.

        Returns:
            Ids with the cosine in [-1, 1], rounded to six decimals; ties by id. Rows whose own
            vector is all zeros are left out.

        Raises:
            UsageError: the vector has another dimension, or a number in it is not finite.
        """
        _check_limit(limit)
        query = self._direction(column, vector)
        if query is None or not self.rows:
            return []
        with damage_explained(self.path):
            rows = self._candidates(column, query, limit, where)
            scores = self._cosines(column, query, rows)
        return _ranked(self._named(scores), limit)

    def score_vectors(
        self, column: str, vector: Sequence[float], chunk_ids: Sequence[str]
    ) -> dict[str, float]:
        """Return the exact cosine of each of these rows that has a vector in `column`.

        Raises:
            UsageError: as `search_vectors`.
        """
        query = self._direction(column, vector)
        if query is None:
            return {}
        with damage_explained(self.path):
            rows = self._memory.rows_of(chunk_ids)
            scores = self._cosines(column, query, np.array(list(rows.values()), np.int64))
        return {key: _rounded(scores[row]) for key, row in rows.items() if row in scores}

    def search_sparse(
        self, column: str, pairs: Sequence[float], limit: int, where: str | None = None
    ) -> Ranking:
        """Return the rows whose weights of words fit a question's best; every row is compared.

        Args:
            column: of sparse vectors.
            pairs: of the question, by the model that made the column (`token_weights`).
            limit: rows at most, from 1.
            where: SQL condition on the table's columns, applied before the search.

        Returns:
            Ids with dot products above 0, rounded to six decimals; ties by id.
        """
        _check_limit(limit)
        with damage_explained(self.path):
            passing = self._memory.passing(where) if where else None
            found = self._memory.sparse_column(column).nearest(pairs, limit, passing)
        return _ranked(self._named(found), limit)

    def score_sparse(
        self, column: str, pairs: Sequence[float], chunk_ids: Sequence[str]
    ) -> dict[str, float]:
        """Return what `search_sparse` gives each of these rows, 0.0 without a common word."""
        with damage_explained(self.path):
            rows = self._memory.rows_of(chunk_ids)
            asked = np.array(list(rows.values()), np.int64)
            scores = self._memory.sparse_column(column).scores(pairs, asked)
        return {key: _rounded(score) for key, score in zip(rows, scores.tolist(), strict=True)}

    def count_by_language(self, where: str | None = None) -> dict[str, int]:
        """Return how many rows that meet `where` are written in each language."""
        with damage_explained(self.path):
            rows = self._memory.rows_by_language(where)
        return {name: len(found) for name, found in rows.items() if len(found)}

    def sample_vectors(
        self, column: str, languages: Sequence[str], where: str | None, most: int
    ) -> NDArray[np.float64]:
        """Return the vectors, of length 1, of rows in some languages that meet `where`.

        Evenly drawn where there are more than `most`, so that at most so many are returned; rows
        without a vector in `column` are left out.
        """
        with damage_explained(self.path):
            by_language = self._memory.rows_by_language(where)
            rows = np.sort(np.concatenate([by_language.get(n, _NO_ROWS) for n in languages]))
            # Every n-th row of a fixed order: the same in every build.
            rows = rows[:: -(-len(rows) // most) or 1]
            found = self._memory.vectors(column, rows).astype(np.float64)
        norms = np.sqrt(np.einsum("ij,ij->i", found, found))
        unit: NDArray[np.float64] = found[norms > 0] / norms[norms > 0, None]
        return unit

    def fetch_vectors(
        self, column: str, chunk_ids: Sequence[str]
    ) -> dict[str, NDArray[np.float32]]:
        """Return the stored vectors by id; rows without one in `column` are left out."""
        with damage_explained(self.path):
            rows = self._memory.rows_of(chunk_ids)
            found = self._memory.vectors(column, np.array(list(rows.values()), np.int64))
        return {key: vector for key, vector in zip(rows, found, strict=True) if vector.any()}

    def fetch_rows(self, chunk_ids: Sequence[str], columns: Sequence[str]) -> pa.Table:
        """Return the rows of these ids in the given order; unknown ids are left out.

        Args:
            chunk_ids: each gives one row, whatever their order.
            columns: names to return; `chunk_id` must be among them to tell the rows apart.
        """
        with damage_explained(self.path):
            rows = list(self._memory.rows_of(chunk_ids).values())
            return self._memory.rows(rows, columns)

    def passing(self, chunk_ids: Sequence[str], where: str) -> list[str]:
        """Return those of some ids whose rows meet `where`, in the order given."""
        with damage_explained(self.path):
            rows = self._memory.rows_of(chunk_ids)
            passing = self._memory.passing(where)
        are_passing = np.isin(np.array(list(rows.values()), np.int64), passing)
        return [one for one, passes in zip(rows, are_passing, strict=True) if passes]

    def fetch(self, where: str | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the rows that meet `where`, by document and place, vectors included.

        Args:
            where: SQL condition; all rows without.
            columns: names to return; all without.
        """
        with damage_explained(self.path):
            return self._scan_in_order(where, columns)

    def _scan_in_order(self, where: str | None, columns: Sequence[str] | None) -> pa.Table:
        is_plain = self._memory.order.is_plain
        found = self._dataset.scanner(
            columns=list(columns) if columns is not None else None,
            filter=where,
            scan_in_order=True,
            with_row_id=not is_plain,
        ).to_table()
        return found if is_plain else self._memory.order.arrange_found(found)

    def _candidates(
        self, column: str, query: NDArray[np.float64], limit: int, where: str | None
    ) -> NDArray[np.int64]:
        """Return rows that hold the best `limit`, or those that an approximate index finds."""
        passing = self._memory.passing(where) if where else None
        index = self._indexes.get(column)
        if index is None:
            return self._memory.nearest(column, query, limit, passing)
        if passing is not None and len(passing) < EXACT_ROWS:
            return passing
        ids = find_nearest(self._dataset, index, query, limit, where)
        return np.sort(self._memory.order.rows(ids))

    def _direction(self, column: str, vector: Sequence[float]) -> NDArray[np.float64] | None:
        """Return the question's vector at unit length, None where it has no direction."""
        query = np.asarray(vector, np.float64)
        if query.shape != (self.dimensions[column],):
            raise UsageError(
                f"{self.path}: the question's vector has {query.size} numbers, the index has "
                f"{self.dimensions[column]}: it was made by another model. Run `rag index` to "
                "build it with the model that is configured now, or set embed.models back."
            )
        if not np.isfinite(query).all():
            raise UsageError(
                f"{self.path}: the question's vector holds a number that is not finite. The "
                "embedding model is at fault: run `rag doctor`."
            )
        norm = float(np.sqrt(np.einsum("i,i->", query, query)))
        return query / norm if norm else None

    def _cosines(
        self, column: str, query: NDArray[np.float64], rows: NDArray[np.int64]
    ) -> dict[int, float]:
        found = cosines(self._memory.vectors(column, rows), query)
        return {
            row: score
            for row, score in zip(rows.tolist(), found.tolist(), strict=True)
            if not math.isnan(score)
        }

    def _named(self, scores: dict[int, float]) -> Ranking:
        rows = pa.array(list(scores), pa.int64())
        names = self._memory.chunk_ids().take(rows).to_pylist()
        return list(zip(names, scores.values(), strict=True))


def _check_limit(limit: int) -> None:
    if limit < 1:
        raise UsageError(f"'limit' must be at least 1, got {limit}.")


def _rounded(score: float) -> float:
    return round(score, SCORE_DECIMALS) + 0.0


def _ranked(found: Ranking, limit: int) -> Ranking:
    rounded = [(key, _rounded(score)) for key, score in found]
    return sorted(rounded, key=lambda item: (-item[1], item[0]))[:limit]
