"""Searching the text indexes of a publication: BM25, headings once more, exact terms.

The index of the body holds title and headings beside the text, so one search finds what either
says. Its first rows, and those that hold an exact term of the question (see `search_terms`), are
the candidates; each candidate's score is

    BM25(body) + heading_weight * BM25(headings) + phrase_boost * sum of the terms' weights

where a term that n of N rows hold weighs ln(1 + (N - n + 0.5) / (n + 0.5)), as BM25 weighs a word
(Robertson and Zaragoza, 2009). The score is a function of question, row and table alone: no
filter, limit or other candidate changes it.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_assets.publishing.search_memory import TableMemory
from rag_assets.publishing.search_terms import find_exact_terms, is_plain, term_pattern
from rag_assets.publishing.text_matches import TextMatches

if TYPE_CHECKING:
    from rag_assets.settings import TextSettings

BODY = "search_text"
HEADING = "search_heading"
INDEX_NAMES = {BODY: "text_idx", HEADING: "heading_idx"}

# `icu/split` cuts Chinese into words by ICU's dictionary and, unlike `icu`, separates possessives
# and file names ("Einstein's", "foo_bar.py"). English words are told by their stems, and the
# commonest ("the", "what"; Snowball's list) are left out; docs/lancedb.md has the figures.
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

# A tie at the cut is settled by id as long as it reaches no further than this many rows; beyond,
# the first in the table's order are taken, which is the same in every build.
MAX_TIED_ROWS = 8192

# Rows of the body's index that headings may reorder: so many for each row that is asked for, and
# never fewer than fifty rows have, so that shorter answers begin as longer ones do.
_POOL_A_ROW = 4
_POOL = 50 * _POOL_A_ROW
# Rows that the first scan of an index asks for. Where fewer share a word, which is so in most
# libraries of one person, it is the only one: filters and other searchers' candidates are looked
# up in what it found. Lance takes 3 ms for the best 250 of 50,000 rows, 7 for these, and 5 more
# for each scan of rows that are named.
_FIRST_ROWS = 8192
# Scans of one question that are kept: both indexes, in both wordings.
_KEPT_SCANS = 4
# A term that more rows hold says as little as a common word and costs a look at each.
_MAX_TERM_ROWS = 4096


class TextSearch:
    """The text indexes of one table.

    Args:
        dataset: the Lance dataset.
        memory: what the process keeps of it.
    """

    def __init__(self, dataset: Any, memory: TableMemory) -> None:
        self._dataset = dataset
        self._memory = memory
        self._matches = lru_cache(maxsize=_KEPT_SCANS)(self._scan_first)

    def unindexed_rows(self) -> int:
        """Return how many rows one of the indexes does not know."""
        statistics = (self._dataset.stats.index_stats(name) for name in INDEX_NAMES.values())
        return max(int(each["num_unindexed_rows"]) for each in statistics)

    def finds_word(self, word: str, column: str, where: str) -> bool:
        """Say whether the index of a column finds a word in a row that meets `where`."""
        return bool(self._scan(word, column, 1, where))

    def best(
        self, query: str, limit: int, where: str | None, weights: "TextSettings | None"
    ) -> dict[int, float]:
        """Return the scores of the candidates, by row: at least `limit` where so many are found.

        Args:
            query: encodable text.
            limit: rows that are asked for.
            where: SQL condition on the table's columns.
            weights: of headings and exact terms; None where only the body counts.
        """
        is_plain_search = weights is None or not weights.heading_weight
        size = limit if is_plain_search else max(_POOL, _POOL_A_ROW * limit)
        # Lance searches outside of Python's lock.
        headings = None if is_plain_search else _scans().submit(self._matches, query, HEADING)
        found = _widened(lambda count: self._scan_passing(query, count, where), size)
        bonus = self._term_weights(query, weights)
        rows = sorted(bonus.keys() - found.keys())
        if where is not None and rows:
            passing = self._memory.passing(where)
            rows = np.intersect1d(np.array(rows), passing, assume_unique=True).tolist()
        found |= dict.fromkeys(rows, 0.0) | self._score_rows(query, BODY, rows)
        if headings is not None:
            headings.result()
        return _total(found, self._headings(query, list(found), weights), weights, bonus)

    def scores(
        self, query: str, rows: Sequence[int], weights: "TextSettings | None"
    ) -> dict[int, float]:
        """Return the score of each of these rows, 0.0 where nothing is shared."""
        found = dict.fromkeys(rows, 0.0) | self._score_rows(query, BODY, rows)
        headings = self._headings(query, rows, weights)
        return _total(found, headings, weights, self._term_weights(query, weights))

    def _headings(
        self, query: str, rows: Sequence[int], weights: "TextSettings | None"
    ) -> dict[int, float]:
        """Return the scores of the rows' headings, none where headings do not count."""
        if weights is None or not weights.heading_weight:
            return {}
        return self._score_rows(query, HEADING, rows)

    def _term_weights(self, query: str, weights: "TextSettings | None") -> dict[int, float]:
        """Return what the question's exact terms add to each row that holds one."""
        added: dict[int, float] = defaultdict(float)
        if weights is None or not weights.phrase_boost:
            return added
        total = self._dataset.count_rows()
        for term in find_exact_terms(query):
            rows = self._memory.rows_with_term(term, self._rows_with_term)
            weight = math.log1p((total - len(rows) + 0.5) / (len(rows) + 0.5))
            for row in rows:
                added[row] += weights.phrase_boost * weight
        return dict(added)

    def _rows_with_term(self, term: str) -> tuple[int, ...]:
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
        if len(ids) > _MAX_TERM_ROWS:
            return ()
        return tuple(sorted(self._memory.order.rows(ids).tolist()))

    def _score_rows(self, query: str, column: str, rows: Sequence[int]) -> dict[int, float]:
        """Return the scores of some rows in an index, without those that share no word."""
        if not rows:
            return {}
        known = self._matches(query, column).of(rows)
        if known is not None:
            return known
        ids = self._memory.order.ids(rows).tolist()
        where = f"_rowid IN ({', '.join(map(str, ids))})"
        return self._scan(query, column, len(rows), where)

    def _scan_passing(self, query: str, limit: int, where: str | None) -> dict[int, float]:
        """Return the best rows of the body's index that meet a condition."""
        is_passing = None
        if where is not None:
            is_passing = np.zeros(self._dataset.count_rows(), np.bool_)
            is_passing[self._memory.passing(where)] = True
        known = self._matches(query, BODY).best(limit, is_passing)
        return known if known is not None else self._scan(query, BODY, limit, where)

    def _scan_first(self, query: str, column: str) -> TextMatches:
        """Return the best rows of an index, all of them where they are few enough."""
        found = self._scan_table(query, column, _FIRST_ROWS, None)
        rows = self._memory.order.rows(found.column("_rowid"))
        scores = found.column("_score").to_numpy().astype(np.float64)
        return TextMatches(rows, scores, is_all=len(rows) < _FIRST_ROWS)

    def _scan(self, query: str, column: str, limit: int, where: str | None) -> dict[int, float]:
        found = self._scan_table(query, column, limit, where)
        rows = self._memory.order.rows(found.column("_rowid")).tolist()
        return dict(zip(rows, found.column("_score").to_pylist(), strict=True))

    def _scan_table(self, query: str, column: str, limit: int, where: str | None) -> Any:
        from lance.query import MatchQuery

        return self._dataset.scanner(
            columns=["_score"],
            with_row_id=True,
            full_text_query=MatchQuery(query, column),
            limit=limit,
            filter=where,
            prefilter=True,
        ).to_table()


@cache
def _scans() -> ThreadPoolExecutor:
    """Return the threads of single scans, which wait for no other thread."""
    return ThreadPoolExecutor(thread_name_prefix="scan")


def _total(
    found: Mapping[int, float],
    headings: Mapping[int, float],
    weights: "TextSettings | None",
    bonus: Mapping[int, float],
) -> dict[int, float]:
    """Return each row's score with those of its headings and exact terms."""
    heading_weight = weights.heading_weight if weights else 0.0
    return {
        row: score + heading_weight * headings.get(row, 0.0) + bonus.get(row, 0.0)
        for row, score in found.items()
    }


def index_words(text: str) -> list[str]:
    """Return the words that the text index keeps of a text."""
    import lance

    return [token.text for token in lance.tokenize(text, **WORDS)]


def _widened(scan: Callable[[int], dict[int, float]], limit: int) -> dict[int, float]:
    """Return the best `limit` rows of a scan and those that tie with the last of them."""
    count = limit + 1
    while True:
        found = scan(count)
        scores = sorted((round(score, 6) for score in found.values()), reverse=True)
        is_cut_inside_tie = len(scores) == count and scores[-1] == scores[limit - 1]
        if not is_cut_inside_tie or count >= limit + MAX_TIED_ROWS:
            return found
        count = min(count * 4, limit + MAX_TIED_ROWS)
