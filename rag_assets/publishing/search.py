"""Reading the Lance table of a publication: the only place that searches Lance.

A publication's table is one fragment, its rows by document and place, so that Lance's id of a row
is its number in that order and ties, samples and cuts fall the same way in every build.

Vectors are compared by one product over the whole column, held in memory while the table is open.
The product is made in single precision and only chooses candidates; their cosines are computed
again in double precision, so that equal publications give equal scores on every machine.

The index of the body holds title and headings beside the text, so one search finds what either
says. Its first rows, and those that hold an exact term of the question (see `search_terms`), are
the candidates of a search by words; each candidate's score is

    BM25(body) + heading_weight * BM25(headings) + phrase_boost * sum of the terms' weights

where a term that n of N rows hold weighs ln(1 + (N - n + 0.5) / (n + 0.5)), as BM25 weighs a word
(Robertson and Zaragoza, 2009). The score is a function of question, row and table alone: no
filter, limit or other candidate changes it.
"""

import math
import threading
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar  # Any: Lance and scipy have no types

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
from numpy.typing import NDArray

from rag_assets.model import DamagedFileError, RagError, UsageError
from rag_assets.publishing.schemas import SPARSE_VECTOR
from rag_assets.publishing.search_terms import find_exact_terms, is_plain, term_pattern
from rag_assets.storage import trouble_of_machine

if TYPE_CHECKING:
    from rag_assets.model.settings import TextSettings

TABLE_NAME = "chunks.lance"
BODY = "search_text"
HEADING = "search_heading"
INDEX_NAMES = {BODY: "text_idx", HEADING: "heading_idx"}

# `icu/split` cuts Chinese into words by ICU's dictionary and, unlike `icu`, separates possessives
# and file names ("Einstein's", "foo_bar.py"). English words are told by their stems, and the
# commonest ("the", "what"; Snowball's list) are left out; docs/tables.md has the figures.
# Chinese words and numbers have no English ending and stay as they are; a question's words are
# stemmed too, so an exact term is still found. 256 letters pass every word that is not encoded
# data.
WORDS: dict[str, Any] = {
    "base_tokenizer": "icu/split",
    "lower_case": True,
    "ascii_folding": True,
    "language": "English",
    "stem": True,
    "remove_stop_words": True,
    "max_token_length": 256,
}

# Caches of one process, for all tables that it reads. The library's own default is 7 GiB; the
# index of 20,000 rows takes some 10 MB.
_INDEX_CACHE_BYTES = 256 * 2**20
_METADATA_CACHE_BYTES = 64 * 2**20
# Filters and terms whose rows a table remembers: 8 bytes a row that passes.
_REMEMBERED = 64
# Single precision errs by less than this in a cosine: 2^-24 for each factor and sum of unit
# vectors, with room.
_PRODUCT_ERROR = 1e-5
# Scores that differ by less are equal once they are rounded (law 3 of the architecture).
_EQUAL = 1e-6
_SCORE_DECIMALS = 6
# A tie at the cut is settled by id as long as it reaches no further than this many rows; beyond,
# the first in the table's order are taken, which is the same in every build.
_MAX_TIED_ROWS = 8192
# Rows of the body's index that headings may reorder: so many for each row that is asked for, and
# never fewer than fifty rows have, so that shorter answers begin as longer ones do.
_POOL_A_ROW = 4
_POOL = 50 * _POOL_A_ROW
# A term that more rows hold says as little as a common word and costs a look at each.
_MAX_TERM_ROWS = 4096

# Ids with their scores, best first, ties by id.
Ranking = list[tuple[str, float]]
Rows = NDArray[np.int64]
_Read = TypeVar("_Read")


def new_session() -> Any:
    """Return caches of a bounded size for Lance datasets."""
    import lance

    return lance.Session(
        index_cache_size_bytes=_INDEX_CACHE_BYTES, metadata_cache_size_bytes=_METADATA_CACHE_BYTES
    )


# The caches of this process's readers.
_shared_session = lru_cache(maxsize=1)(new_session)


def quote_text(value: str) -> str:
    """Return `value` as a string literal of Lance's SQL, where only the quote is special."""
    return "'" + _encodable(value).replace("'", "''") + "'"


def _encodable(value: str) -> str:
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
            "and run `rag ingest`: it is built again from the records."
        ) from error


class SearchTable:
    """One search table, open for reading by several threads.

    Vectors, ids and the rows that passed a filter are kept for as long as it is open.

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
            self._dataset: Any = lance.dataset(str(self.path), session=session)
            schema = self._dataset.schema
            self.rows: int = self._dataset.count_rows()
            pieces = [(one.fragment_id, one.physical_rows) for one in self._dataset.get_fragments()]
        if pieces not in ([], [(0, self.rows)]):
            raise DamagedFileError(
                f"{self.path}: was made by an older version of rag-assets, where large "
                "publications grew from one another. Run `rag ingest`: a whole one is written."
            )
        self.columns = frozenset(schema.names)
        self.dimensions: dict[str, int] = {
            field.name: field.type.list_size
            for field in schema
            if pa.types.is_fixed_size_list(field.type)
        }
        self._lock = threading.RLock()
        self._vectors: dict[str, _DenseVectors | SparseVectors] = {}
        self._remembered: dict[Hashable, Any] = {}

    @property
    def unindexed_rows(self) -> int:
        """Rows that a text index does not know; anything but 0 is damage."""
        with damage_explained(self.path):
            return max(
                int(self._dataset.stats.index_stats(name)["num_unindexed_rows"])
                for name in INDEX_NAMES.values()
            )

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
        query = _encodable(query)
        has_headings = weights is not None and weights.heading_weight
        size = max(_POOL, _POOL_A_ROW * limit) if has_headings else limit
        with damage_explained(self.path):
            found = self._best_of_body(query, size, where)
            terms = self._term_weights(query, weights)
            others = sorted(terms.keys() - found.keys())
            if where is not None and others:
                held = np.array(others, np.int64)
                others = _common(self.rows, held, self._passing(where)).tolist()
            found |= dict.fromkeys(others, 0.0) | self._scan_rows(query, BODY, others)
            found = self._total(query, found, terms, weights)
        return self._ranked({row: score for row, score in found.items() if score > 0}, limit)

    def score_text(
        self, query: str, chunk_ids: Sequence[str], weights: "TextSettings | None" = None
    ) -> dict[str, float]:
        """Return the score that `search_text` gives each of these rows, 0.0 without a common word.

        Ids that the table does not hold are left out.
        """
        query = _encodable(query)
        with damage_explained(self.path):
            rows = self._rows_of(chunk_ids)
            asked = sorted(rows.values())
            found = dict.fromkeys(asked, 0.0) | self._scan_rows(query, BODY, asked)
            scores = self._total(query, found, self._term_weights(query, weights), weights)
        return {key: _rounded(scores[row]) for key, row in rows.items()}

    def find_pattern(self, pattern: str, where: str | None = None) -> list[str]:
        """Return the ids of rows whose text or headings a regular expression finds, in order.

        Args:
            pattern: as Rust's engine reads it.
            where: SQL condition on the table's columns.
        """
        condition = f"regexp_like({BODY}, {quote_text(pattern)})"
        found = self.fetch(f"({where}) AND {condition}" if where else condition, ["chunk_id"])
        ids: list[str] = found.column("chunk_id").to_pylist()
        return ids

    def finds_word(self, word: str, column: str, where: str) -> bool:
        """Say whether the index of a text column finds a word in a row that meets `where`."""
        with damage_explained(self.path):
            return bool(self._scan(word, column, 1, where))

    def search_vectors(
        self, column: str, vector: Sequence[float], limit: int, where: str | None = None
    ) -> Ranking:
        """Return the rows whose vectors are most similar; every row is compared.

        Args:
            column: of dense or sparse vectors.
            vector: of the column's dimension, finite; all zeros has no direction and finds
                nothing. For a sparse column the question's pairs (`token_weights`).
            limit: rows at most, from 1.
            where: SQL condition on the table's columns, applied before the search.

        Returns:
            Ids with the cosine in [-1, 1], or the dot product of sparse vectors above 0, rounded
            to six decimals; ties by id. Rows whose own vector is all zeros are left out.

        Raises:
            UsageError: the vector has another dimension, or a number in it is not finite.
        """
        _check_limit(limit)
        with damage_explained(self.path):
            passing = self._passing(where) if where else None
            found = self._column(column).best(vector, limit, passing)
        return self._ranked(found, limit)

    def score_vectors(
        self, column: str, vector: Sequence[float], chunk_ids: Sequence[str]
    ) -> dict[str, float]:
        """Return what `search_vectors` gives each of these rows: the cosine of each that has a
        vector, the dot product of sparse vectors, 0.0 without a common word.

        Raises:
            UsageError: as `search_vectors`.
        """
        with damage_explained(self.path):
            rows = self._rows_of(chunk_ids)
            scores = self._column(column).scores(vector, np.array(list(rows.values()), np.int64))
        return {key: _rounded(scores[row]) for key, row in rows.items() if row in scores}

    def count_by_language(self, where: str | None = None) -> dict[str, int]:
        """Return how many rows that meet `where` are written in each language."""

        def count() -> dict[str, int]:
            with damage_explained(self.path):
                held = self._languages[self._passing(where)] if where else self._languages
            names, counts = np.unique(held, return_counts=True)
            return dict(zip(names.tolist(), counts.tolist(), strict=True))

        return self._remember(("languages", where), count)

    def sample_vectors(
        self, column: str, languages: Sequence[str], where: str | None, most: int
    ) -> NDArray[np.float64]:
        """Return the vectors, of length 1, of rows in some languages that meet `where`.

        Evenly drawn where there are more than `most`, so that at most so many are returned; rows
        without a vector in `column` are left out.
        """
        with damage_explained(self.path):
            rows = np.flatnonzero(np.isin(self._languages, list(languages)))
            if where:
                rows = _common(self.rows, rows, self._passing(where))
            # Every n-th row of a fixed order: the same in every build.
            rows = rows[:: -(-len(rows) // most) or 1]
            found = self._dense(column).matrix[rows].astype(np.float64)
        norms = np.sqrt(np.einsum("ij,ij->i", found, found))
        unit: NDArray[np.float64] = found[norms > 0] / norms[norms > 0, None]
        return unit

    def fetch_vectors(
        self, column: str, chunk_ids: Sequence[str]
    ) -> dict[str, NDArray[np.float32]]:
        """Return the stored vectors by id; rows without one in `column` are left out."""
        with damage_explained(self.path):
            rows = self._rows_of(chunk_ids)
            found = self._dense(column).matrix[np.array(list(rows.values()), np.int64)]
        return {key: vector for key, vector in zip(rows, found, strict=True) if vector.any()}

    def fetch_rows(self, chunk_ids: Sequence[str], columns: Sequence[str]) -> pa.Table:
        """Return the rows of these ids in the given order; unknown ids are left out.

        Args:
            chunk_ids: each gives one row, whatever their order.
            columns: names to return; `chunk_id` must be among them to tell the rows apart.
        """
        with damage_explained(self.path):
            rows = list(self._rows_of(chunk_ids).values())
            return self._dataset.take(rows, columns=list(columns))

    def passing(self, chunk_ids: Sequence[str], where: str) -> list[str]:
        """Return those of some ids whose rows meet `where`, in the order given."""
        with damage_explained(self.path):
            rows = self._rows_of(chunk_ids)
            are_passing = np.isin(np.array(list(rows.values()), np.int64), self._passing(where))
        return [one for one, passes in zip(rows, are_passing, strict=True) if passes]

    def fetch(self, where: str | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the rows that meet `where`, by document and place, vectors included.

        Args:
            where: SQL condition; all rows without.
            columns: names to return; all without.
        """
        with damage_explained(self.path):
            return self._dataset.scanner(
                columns=list(columns) if columns is not None else None,
                filter=where,
                scan_in_order=True,
            ).to_table()

    def _remember(self, key: Hashable, read: Callable[[], _Read]) -> _Read:
        with self._lock:
            if key not in self._remembered:
                if len(self._remembered) >= _REMEMBERED:
                    self._remembered.clear()
                self._remembered[key] = read()
            found: _Read = self._remembered[key]
            return found

    @cached_property
    def _ids(self) -> list[str]:
        ids: list[str] = self.fetch(columns=["chunk_id"]).column("chunk_id").to_pylist()
        return ids

    @cached_property
    def _places(self) -> dict[str, int]:
        return {key: row for row, key in enumerate(self._ids)}

    def _rows_of(self, chunk_ids: Sequence[str]) -> dict[str, int]:
        return {key: self._places[key] for key in chunk_ids if key in self._places}

    @cached_property
    def _languages(self) -> NDArray[np.str_]:
        column = self.fetch(columns=["passage_language"]).column("passage_language")
        return np.array(column.to_pylist(), np.str_)

    def _passing(self, where: str) -> Rows:
        """Return the rows that meet a condition, in order."""

        def read() -> Rows:
            scan = self._dataset.scanner(columns=[], with_row_id=True, filter=where)
            return np.sort(scan.to_table().column("_rowid").to_numpy()).astype(np.int64)

        return self._remember(("where", where), read)

    def _column(self, name: str) -> "_DenseVectors | SparseVectors":
        """Return a column of vectors, read whole at first use."""
        with self._lock:
            if name not in self._vectors:
                self._vectors[name] = (
                    _DenseVectors(self.path, self._dataset, name)
                    if name in self.dimensions
                    else SparseVectors(self.fetch(columns=[name]).column(name))
                )
            return self._vectors[name]

    def _dense(self, name: str) -> "_DenseVectors":
        column = self._column(name)
        if not isinstance(column, _DenseVectors):
            raise TypeError(f"{self.path}: '{name}' holds sparse vectors")
        return column

    def _best_of_body(self, query: str, limit: int, where: str | None) -> dict[int, float]:
        """Return the best `limit` rows of the body's index and those that tie with the last."""
        count = limit + 1
        while True:
            found = self._scan(query, BODY, count, where)
            scores = sorted((round(score, 6) for score in found.values()), reverse=True)
            is_cut_inside_tie = len(scores) == count and scores[-1] == scores[limit - 1]
            if not is_cut_inside_tie or count >= limit + _MAX_TIED_ROWS:
                return found
            count = min(count * 4, limit + _MAX_TIED_ROWS)

    def _total(
        self,
        query: str,
        found: Mapping[int, float],
        terms: Mapping[int, float],
        weights: "TextSettings | None",
    ) -> dict[int, float]:
        """Return each row's score with those of its headings and exact terms."""
        weight = weights.heading_weight if weights else 0.0
        headings = self._scan_rows(query, HEADING, list(found)) if weight else {}
        return {
            row: score + weight * headings.get(row, 0.0) + terms.get(row, 0.0)
            for row, score in found.items()
        }

    def _term_weights(self, query: str, weights: "TextSettings | None") -> dict[int, float]:
        """Return what the question's exact terms add to each row that holds one."""
        added: dict[int, float] = defaultdict(float)
        if weights is None or not weights.phrase_boost:
            return added
        for term in find_exact_terms(query):
            rows = self._remember(("term", term), partial(self._rows_with_term, term))
            weight = math.log1p((self.rows - len(rows) + 0.5) / (len(rows) + 0.5))
            for row in rows:
                added[row] += weights.phrase_boost * weight
        return dict(added)

    def _rows_with_term(self, term: str) -> list[int]:
        """Return the rows whose text or headings hold a term, none where it is too common."""
        from lance.query import FullTextOperator, MatchQuery

        pattern = term_pattern(term).replace("'", "''")
        options: dict[str, Any] = {
            "columns": [],
            "with_row_id": True,
            "filter": f"regexp_like({BODY}, '{pattern}', 'i')",
        }
        if is_plain(term) and index_words(term):
            # The index finds the rows that hold all its words; only their texts are looked at.
            options["full_text_query"] = MatchQuery(term, BODY, operator=FullTextOperator.AND)
            options["prefilter"] = False
            options["columns"] = ["_score"]
        ids = self._dataset.scanner(**options).to_table().column("_rowid")
        return sorted(ids.to_pylist()) if len(ids) <= _MAX_TERM_ROWS else []

    def _scan_rows(self, query: str, column: str, rows: Sequence[int]) -> dict[int, float]:
        """Return the scores of some rows in an index, without those that share no word."""
        if not rows:
            return {}
        return self._scan(query, column, len(rows), f"_rowid IN ({', '.join(map(str, rows))})")

    def _scan(self, query: str, column: str, limit: int, where: str | None) -> dict[int, float]:
        from lance.query import MatchQuery

        found = self._dataset.scanner(
            columns=["_score"],
            with_row_id=True,
            full_text_query=MatchQuery(query, column),
            limit=limit,
            filter=where,
            prefilter=True,
        ).to_table()
        rows, scores = (found.column(name).to_pylist() for name in ("_rowid", "_score"))
        return dict(zip(rows, scores, strict=True))

    def _ranked(self, scores: Mapping[int, float], limit: int) -> Ranking:
        rounded = [(self._ids[row], _rounded(score)) for row, score in scores.items()]
        return sorted(rounded, key=lambda item: (-item[1], item[0]))[:limit]


class _DenseVectors:
    """One model's vectors of a table, as stored, in memory."""

    def __init__(self, path: Path, dataset: Any, name: str) -> None:
        self._path = path
        rows, dimension = dataset.count_rows(), dataset.schema.field(name).type.list_size
        self.matrix = np.empty((rows, dimension), np.float32)
        start = 0
        for batch in dataset.scanner(columns=[name], scan_in_order=True).to_batches():
            values = batch.column(name).flatten().to_numpy(zero_copy_only=False)
            self.matrix[start : start + batch.num_rows] = values.reshape(-1, dimension)
            start += batch.num_rows
        norms = np.sqrt(np.einsum("ij,ij->i", self.matrix, self.matrix))
        self._directed = np.flatnonzero(norms > 0)
        self._scales = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)

    def best(self, vector: Sequence[float], limit: int, passing: Rows | None) -> dict[int, float]:
        """Return the cosines of the best `limit` rows and of all that may tie with the last."""
        query = self._direction(vector)
        rows = self._directed
        if passing is not None:
            rows = _common(len(self.matrix), rows, passing)
        if query is None or not len(rows):
            return {}
        scores = (self.matrix @ query.astype(np.float32) * self._scales)[rows]
        if len(rows) > limit:
            last = np.partition(scores, len(scores) - limit)[len(scores) - limit]
            rows = rows[scores >= last - _PRODUCT_ERROR]
        return self.scores(vector, rows)

    def scores(self, vector: Sequence[float], rows: Rows) -> dict[int, float]:
        """Return the cosine of each of some rows that has a direction, in double precision."""
        query = self._direction(vector)
        if query is None:
            return {}
        exact = self.matrix[rows].astype(np.float64)
        norms = np.sqrt(np.einsum("ij,ij->i", exact, exact))
        products = np.einsum("ij,j->i", exact, query)
        found = np.clip(products[norms > 0] / norms[norms > 0], -1.0, 1.0)
        return dict(zip(rows[norms > 0].tolist(), found.tolist(), strict=True))

    def _direction(self, vector: Sequence[float]) -> NDArray[np.float64] | None:
        """Return the question's vector at unit length, None where it has no direction."""
        query, dimension = np.asarray(vector, np.float64), self.matrix.shape[1]
        if query.shape != (dimension,):
            raise UsageError(
                f"{self._path}: the question's vector has {query.size} numbers, the index has "
                f"{dimension}: it was made by another model. Run `rag ingest` to build it with the "
                "model that is configured now, or set embed.models back."
            )
        if not np.isfinite(query).all():
            raise UsageError(
                f"{self._path}: the question's vector holds a number that is not finite. The "
                "embedding model is at fault: run `rag doctor`."
            )
        norm = float(np.sqrt(np.einsum("i,i->", query, query)))
        return query / norm if norm else None


class SparseVectors:
    """One sparse encoder's vectors of a table, in memory.

    A passage's score is the dot product of its weights with the question's, as the models are
    trained for.

    Args:
        column: of the search table, whole.
    """

    def __init__(self, column: pa.ChunkedArray) -> None:
        import pyarrow.compute as pc
        from scipy.sparse import csr_array

        values = [chunk.flatten() for chunk in column.chunks]
        tokens, weights = (
            np.concatenate([np.zeros(0), *(chunk.field(part).to_numpy() for chunk in values)])
            for part in ("token", "weight")
        )
        ends = np.concatenate([[0], np.cumsum(pc.list_value_length(column).to_numpy())])
        words = int(tokens.max(initial=-1)) + 1
        # Sums are made in double precision and in the order of the words, so that equal
        # publications give equal scores whichever rows are asked for.
        self._matrix: csr_array = csr_array(
            (weights.astype(np.float64), tokens.astype(np.int32), ends.astype(np.int32)),
            shape=(len(column), words),
        )

    def best(self, pairs: Sequence[float], limit: int, passing: Rows | None) -> dict[int, float]:
        """Return the scores above 0 of the best `limit` rows and of all that tie with the last."""
        rows = np.arange(self._matrix.shape[0]) if passing is None else passing
        scores = self._products(pairs, rows)
        rows, scores = rows[scores > 0], scores[scores > 0]
        if len(rows) > limit:
            last = np.partition(scores, len(scores) - limit)[len(scores) - limit]
            rows, scores = rows[scores >= last - _EQUAL], scores[scores >= last - _EQUAL]
        return dict(zip(rows.tolist(), scores.tolist(), strict=True))

    def scores(self, pairs: Sequence[float], rows: Rows) -> dict[int, float]:
        """Return the dot product of each of some rows with a question."""
        return dict(zip(rows.tolist(), self._products(pairs, rows).tolist(), strict=True))

    def _products(self, pairs: Sequence[float], rows: Rows) -> NDArray[np.float64]:
        from rag_assets.embedding.sparse_encoder import token_weights

        # Words that no passage has weigh nothing.
        tokens, weights = token_weights(np.asarray(pairs, np.float32))
        known = tokens < self._matrix.shape[1]
        question = np.zeros(self._matrix.shape[1])
        question[tokens[known]] = weights[known]
        found: NDArray[np.float64] = self._matrix[rows] @ question
        return found


def index_words(text: str) -> list[str]:
    """Return the words that the text index keeps of a text."""
    import lance

    return [token.text for token in lance.tokenize(text, **WORDS)]


def _common(count: int, rows: Rows, others: Rows) -> Rows:
    """Return those of some rows that are among others, of a table of `count`, in their order."""
    are_others = np.zeros(count, dtype=bool)
    are_others[others] = True
    found: Rows = rows[are_others[rows]]
    return found


def _check_limit(limit: int) -> None:
    if limit < 1:
        raise UsageError(f"'limit' must be at least 1, got {limit}.")


def _rounded(score: float) -> float:
    return round(score, _SCORE_DECIMALS) + 0.0


class PublishedVectors(ds.Dataset):  # type: ignore[misc]  # pyarrow has no types
    """A publication's `chunk_key`, `vector` and `sparse_vector`, one row a chunk.

    `DuckDBPyConnection.register` takes it as a table of Arrow: the vectors are read by a statement
    that names them, also when the connection itself may read no file any more. Of several models
    of a kind the first one's; where there is none of a kind, there is no column.
    """

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        self._folder = folder
        dimensions = {model["column"]: model["dimension"] for model in manifest["embedders"]}
        fields = [pa.field("chunk_key", pa.string())]
        if "vector" in dimensions:
            fields.append(pa.field("vector", pa.list_(pa.float32(), dimensions["vector"])))
        if "sparse_vector" in dimensions:
            fields.append(pa.field("sparse_vector", SPARSE_VECTOR))
        self._columns = pa.schema(fields)

    @property
    def schema(self) -> pa.Schema:
        """The columns; nothing is read to know them."""
        return self._columns

    def scanner(
        self,
        columns: list[str] | None = None,
        filter: Any = None,  # noqa: A002 - pyarrow's name
        **_: Any,
    ) -> ds.Scanner:
        """Read it; called by DuckDB, with the names that pyarrow gives."""
        import lance

        dataset = lance.dataset(str(self._folder / TABLE_NAME), session=_shared_session())
        return dataset.scanner(columns=columns or self._columns.names, filter=filter)
