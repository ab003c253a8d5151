"""The Lance table of a publication: written once, checked, and searched exactly.

The text index is built by one worker over rows in a fixed order. With several workers rows of
equal score come back in an order that depends on how many there were, so that a machine with more
cores would answer otherwise; scores and ties are equal to the last bit between builds with one.
Vectors are compared one by one: an approximate index would answer differently after each build.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.model import DamagedFileError, UsageError
from rag_assets.publishing.schemas import row_order, search_schema
from rag_assets.storage import explained_errors

TABLE_NAME = "chunks.lance"

# To be part of what names a publication: a change here changes what searches find.
SEARCH_TABLE_VERSION = "3"

# `icu/split` cuts Chinese into words by ICU's dictionary and, unlike `icu`, separates possessives
# and file names ("Einstein's", "foo_bar.py"). English words are told by their stems, and the
# commonest ("the", "what"; Snowball's list) are left out; docs/lancedb.md has the figures.
# Chinese words and numbers have no English ending and stay as they are; a question's words are
# stemmed too, so an exact term is still found. 256 letters pass every word that is not encoded
# data.
_WORDS: dict[str, Any] = {
    "base_tokenizer": "icu/split",
    "lower_case": True,
    "ascii_folding": True,
    "language": "English",
    "stem": True,
    "remove_stop_words": True,
    "max_token_length": 256,
}
TEXT_INDEX: dict[str, Any] = {**_WORDS, "with_position": False, "num_workers": 1}
_TEXT_INDEX_NAME = "text_idx"
_INDEXED = "search_text"

# Caches of one process, for all tables that it reads. The library's own default is 7 GiB; the
# index of 20,000 rows takes some 10 MB.
_INDEX_CACHE_BYTES = 256 * 2**20
_METADATA_CACHE_BYTES = 64 * 2**20

# Scores are compared after rounding to this many decimals (law 3 of the architecture).
SCORE_DECIMALS = 6

# A tie at the cut is settled by id as long as it reaches no further than this many rows; beyond,
# the first in the table's order are taken, which is the same in every build.
MAX_TIED_ROWS = 8192

_WORD = re.compile(r"(?<!\w)[^\W\d_]{2,40}(?!\w)")


@lru_cache(maxsize=1)
def _shared_session() -> Any:
    """Return the caches of this process's readers."""
    return _new_session()


def _new_session() -> Any:
    import lance

    return lance.Session(  # type: ignore[attr-defined]  # public, but not in __all__
        index_cache_size_bytes=_INDEX_CACHE_BYTES,
        metadata_cache_size_bytes=_METADATA_CACHE_BYTES,
    )


def quote_text(value: str) -> str:
    """Return `value` as a string literal of Lance's SQL, where only the quote is special."""
    return "'" + _encodable(value).replace("'", "''") + "'"


def _encodable(value: str) -> str:
    """Return `value` with lone surrogates, which no index can hold, replaced by `?`."""
    return value.encode("utf-8", "replace").decode("utf-8")


@contextmanager
def _damage_explained(path: Path) -> Iterator[None]:
    # Lance raises the same few built-in errors for every kind of damage.
    try:
        yield
    except (ValueError, OSError, RuntimeError, pa.ArrowException) as error:
        if isinstance(error, DamagedFileError):
            raise
        raise DamagedFileError(
            f"{path}: the search table cannot be read ({error}). Delete the publication's folder "
            "and run `rag index`: it is built again from the records."
        ) from error


def write_search_table(folder: Path, chunks: pa.Table) -> None:
    """Write the search table `chunks.lance` with its text index into a new publication's folder.

    Rows are stored by document and place, whatever order they come in.

    Args:
        folder: of a publication that nobody reads yet.
        chunks: with `search_schema(dimension)`; may have no rows.

    Raises:
        ValueError: the schema is another one.
        StorageError: the disk is full or refuses a write.
    """
    import lance

    kind: Any = chunks.schema.field("vector").type if "vector" in chunks.schema.names else None
    if kind is None or not pa.types.is_fixed_size_list(kind):
        raise ValueError(f"{folder}: 'vector' must be a fixed-size list of float32, got {kind}.")
    expected = search_schema(kind.list_size)
    if not chunks.schema.equals(expected):
        raise ValueError(
            f"{folder}: the chunks' schema must be search_schema({kind.list_size}); "
            f"got {chunks.schema.to_string(show_field_metadata=False)}"
        )
    keys = [(name, "ascending") for name in row_order(expected)]
    ordered = chunks.take(pc.sort_indices(chunks, sort_keys=keys))
    table = folder / TABLE_NAME
    with explained_errors(table):
        dataset = lance.write_dataset(ordered, str(table), mode="create", session=_new_session())
        dataset.create_scalar_index(_INDEXED, "INVERTED", name=_TEXT_INDEX_NAME, **TEXT_INDEX)
        # An audit asks for one document after another; without it each filter reads a column.
        dataset.create_scalar_index("doc_uid", "BTREE")


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
        session = _shared_session() if uses_shared_cache else _new_session()
        with _damage_explained(self.path):
            self._dataset = lance.dataset(str(self.path), session=session)
            self.rows: int = self._dataset.count_rows()
            self.dimension: int = self._dataset.schema.field("vector").type.list_size

    @property
    def unindexed_rows(self) -> int:
        """Rows that the text index does not know; anything but 0 is damage."""
        with _damage_explained(self.path):
            statistics = self._dataset.stats.index_stats(_TEXT_INDEX_NAME)
        return int(statistics["num_unindexed_rows"])

    def search_text(
        self, query: str, limit: int, where: str | None = None, columns: Sequence[str] = ()
    ) -> pa.Table:
        """Return the rows that share a word with `query`, best BM25 score first.

        Args:
            query: any text; nothing in it is syntax. Text without a word, or with none but the
                commonest ones of English, finds nothing.
            limit: rows at most, from 1.
            where: SQL condition on the table's columns, applied before the search.
            columns: to return besides `chunk_id`; each costs about half a millisecond.

        Returns:
            `chunk_id`, `columns` and `score`, rounded to six decimals; ties by `chunk_id`.
        """
        from lance.query import MatchQuery

        names = _with_id(columns)

        def scan(count: int) -> pa.Table:
            match = MatchQuery(_encodable(query), _INDEXED)
            return self._dataset.scanner(
                columns=[*names, "_score"],
                full_text_query=match,
                limit=count,
                filter=where,
                prefilter=True,
            ).to_table()

        return self._best(scan, limit, "_score", lambda score: score)

    def search_vectors(
        self,
        vector: Sequence[float],
        limit: int,
        where: str | None = None,
        columns: Sequence[str] = (),
    ) -> pa.Table:
        """Return the rows whose vectors are most similar, by exact comparison with every row.

        Args:
            vector: of the table's dimension, finite. All zeros has no direction: finds nothing.
            limit: rows at most, from 1.
            where: SQL condition on the table's columns, applied before the search.
            columns: to return besides `chunk_id`; each costs about half a millisecond.

        Returns:
            `chunk_id`, `columns` and `score`, the cosine in [-1, 1] rounded to six decimals; ties
            by `chunk_id`. Rows whose own vector is all zeros are left out.

        Raises:
            UsageError: the vector has another dimension, or a number in it is not finite.
        """
        query = [float(value) for value in vector]
        if len(query) != self.dimension:
            raise UsageError(
                f"{self.path}: the question's vector has {len(query)} numbers, the index has "
                f"{self.dimension}: it was made by another model. Run `rag index` to build it "
                "with the model that is configured now, or set embed.model back."
            )
        if not all(math.isfinite(value) for value in query):
            raise UsageError(
                f"{self.path}: the question's vector holds a number that is not finite. The "
                "embedding model is at fault: run `rag doctor`."
            )
        names = _with_id(columns)
        nearest = {
            "column": "vector",
            "q": pa.array(query, pa.float32()),
            "metric": "cosine",
            "use_index": False,
        }

        def scan(count: int) -> pa.Table:
            return self._dataset.scanner(
                columns=[*names, "_distance"],
                nearest={**nearest, "k": count},
                filter=where,
                prefilter=True,
            ).to_table()

        return self._best(scan, limit, "_distance", _cosine)

    def fetch(self, where: str | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the rows that meet `where`, by document and place, vectors included.

        Args:
            where: SQL condition; all rows without.
            columns: names to return; all without.
        """
        with _damage_explained(self.path):
            return self._dataset.scanner(
                columns=list(columns) if columns is not None else None,
                filter=where,
                scan_in_order=True,
            ).to_table()

    def _best(
        self,
        scan: Callable[[int], pa.Table],
        limit: int,
        raw: str,
        score_of: Callable[[float], float],
    ) -> pa.Table:
        """Return the best `limit` rows of a scan, widening it while the cut divides a tie."""
        if limit < 1:
            raise UsageError(f"'limit' must be at least 1, got {limit}.")
        count = limit + 1
        while True:
            with _damage_explained(self.path):
                found = scan(count)
            scores = [
                round(score_of(value), SCORE_DECIMALS) + 0.0
                for value in found.column(raw).to_pylist()
            ]
            is_cut_inside_tie = len(scores) == count and min(scores) == _nth(scores, limit)
            if not is_cut_inside_tie or count >= limit + MAX_TIED_ROWS:
                break
            count = min(count * 4, limit + MAX_TIED_ROWS)
        position = found.schema.names.index(raw)
        ranked = found.set_column(position, "score", pa.array(scores, pa.float64()))
        order = [("score", "descending"), ("chunk_id", "ascending")]
        return ranked.take(pc.sort_indices(ranked, sort_keys=order)[:limit])


def _cosine(distance: float) -> float:
    return max(-1.0, min(1.0, 1.0 - distance))


def _with_id(columns: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(["chunk_id", *columns]))


def _nth(scores: Sequence[float], limit: int) -> float:
    return sorted(scores, reverse=True)[limit - 1]


def check_search_table(folder: Path, expected_rows: int) -> None:
    """Prove that a search table holds its rows and that both searchers find them.

    The first, middle and last rows are looked for: by their own vector, which nothing may beat,
    and by a word of what is indexed. Rows without a direction or without a word are passed over.

    Args:
        folder: of the publication, published or about to be.
        expected_rows: how many chunks were joined for it.

    Raises:
        DamagedFileError: a row is missing or cannot be found.
    """
    table = SearchTable(folder, uses_shared_cache=False)
    mend = "Nothing was published. Run `rag index` again; if it persists, report it."
    if table.rows != expected_rows:
        raise DamagedFileError(
            f"{table.path}: holds {table.rows} rows, {expected_rows} were written. {mend}"
        )
    if table.unindexed_rows:
        raise DamagedFileError(
            f"{table.path}: {table.unindexed_rows} rows are missing from the text index. {mend}"
        )
    if not expected_rows:
        return
    identities = table.fetch(columns=["chunk_id"]).column("chunk_id").to_pylist()
    for position in sorted({0, expected_rows // 2, expected_rows - 1}):
        chunk_id = identities[position]
        where = f"chunk_id = {quote_text(chunk_id)}"
        row = table.fetch(where).to_pylist()[0]
        if any(row["vector"]):
            best = table.search_vectors(row["vector"], 1).column("score").to_pylist()
            own = table.search_vectors(row["vector"], 1, where).column("score").to_pylist()
            if not own or own != best:
                raise DamagedFileError(
                    f"{table.path}: {chunk_id} is not found by its own vector. {mend}"
                )
        word = _first_word(row[_INDEXED])
        if word and not table.search_text(word, 1, where).num_rows:
            raise DamagedFileError(
                f"{table.path}: {chunk_id} is not found by its word '{word}'. {mend}"
            )


def _first_word(text: str) -> str | None:
    """Return the first word that the text index keeps, None where there is none."""
    import lance

    words = (match.group() for match in _WORD.finditer(text))
    return next((word for word in words if lance.tokenize(word, **_WORDS)), None)
