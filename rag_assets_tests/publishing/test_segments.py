"""Search tables that grow from one another: same answers, bounded pieces, nothing else touched."""

import errno
import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import lance
import numpy as np
import pytest

from rag_assets.model import DamagedFileError, StorageError
from rag_assets.publishing import search_ann, segments
from rag_assets.publishing.row_order import ROW_ORDER_NAME
from rag_assets.publishing.search_check import check_search_table
from rag_assets.publishing.search_reading import TABLE_NAME, SearchTable
from rag_assets.publishing.search_table import write_search_table
from rag_assets.publishing.segments import Grown, grow_search_table
from rag_assets.publishing.table_state import look_at_table
from rag_assets_tests.publishing.made_up_tables import chunk_row, chunk_table

SIZE = 16
WORDS = [f"wo{n}rd" if n % 2 else f"alpha{n}" for n in range(300)]
Rows = list[dict[str, Any]]


class History:
    """Documents of made-up passages, and the tables made of them one after another."""

    def __init__(self, root: Path, documents: int = 60, ann_rows: int | None = None) -> None:
        self.root, self.ann_rows = root, ann_rows
        self._rng = np.random.default_rng(3)
        self._centres = self._rng.normal(size=(12, SIZE)) * 3
        self.documents = {f"d{n:03d}": self.passages(f"d{n:03d}", 10) for n in range(documents)}
        self.folder = self._folder("first")
        write_search_table(self.folder, self._table(self.documents), ann_rows)
        self.told: Grown | None = None
        self.rounds = 0

    def passages(self, uid: str, count: int) -> Rows:
        centre = self._centres[self._rng.integers(12)]
        return [
            chunk_row(
                uid,
                index,
                " ".join(self._rng.choice(WORDS, 12)),
                vector=(centre + self._rng.normal(size=SIZE)).tolist(),
            )
            for index in range(count)
        ]

    def grow(self, added: Mapping[str, Rows], gone: Sequence[str] = ()) -> Grown:
        """Grow; documents that are added and there already are edited."""
        replaced = [uid for uid in added if uid in self.documents]
        leaving = sorted({*gone, *replaced})
        kept = {uid: rows for uid, rows in self.documents.items() if uid not in leaving}
        self.documents = kept | dict(added)
        self.rounds += 1
        folder = self._folder(f"grown-{self.rounds}")
        self.told = grow_search_table(
            folder, self.folder, leaving, self._table(added), self.ann_rows, self.told
        )
        self.folder = folder
        return self.told

    def fresh(self) -> SearchTable:
        """A fresh table of the same rows."""
        folder = self._folder(f"fresh-{self.rounds}")
        write_search_table(folder, self._table(self.documents), self.ann_rows)
        return SearchTable(folder, uses_shared_cache=False)

    def table(self) -> SearchTable:
        return SearchTable(self.folder, uses_shared_cache=False)

    def questions(self, count: int = 25) -> list[tuple[str, list[float]]]:
        rng = np.random.default_rng(9)
        return [
            (
                " ".join(rng.choice(WORDS, 3)),
                (self._centres[n % 12] + rng.normal(size=SIZE)).tolist(),
            )
            for n in range(count)
        ]

    def _folder(self, name: str) -> Path:
        folder = self.root / name
        folder.mkdir(parents=True)
        return folder

    def _table(self, documents: Mapping[str, Rows]) -> Any:
        return chunk_table([row for rows in documents.values() for row in rows], SIZE)


def contents_of(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def assert_equal_answers(grown: SearchTable, fresh: SearchTable, history: History) -> None:
    assert grown.fetch().equals(fresh.fetch())
    ids = fresh.fetch(columns=["chunk_id"]).column("chunk_id").to_pylist()
    assert grown.find_pattern("wo11rd") == fresh.find_pattern("wo11rd")
    assert grown.count_by_language() == fresh.count_by_language()
    sampled = [each.sample_vectors("vector", ["en"], None, 7) for each in (grown, fresh)]
    assert np.array_equal(*sampled)
    some = ids[::17]
    columns = ["chunk_id", "text", "doc_title"]
    for _ in range(3):  # read row by row at first, then from memory
        assert grown.fetch_rows(some, columns).equals(fresh.fetch_rows(some, columns))
    for where in (None, "doc_uid < 'd02'", "doc_uid IN ('d004', 'new-1', 'gone')"):
        for text, vector in history.questions():
            for limit in (1, 10, 50):
                assert grown.search_text(text, limit, where) == fresh.search_text(
                    text, limit, where
                )
                found = grown.search_vectors("vector", vector, limit, where)
                assert found == fresh.search_vectors("vector", vector, limit, where)
            assert grown.score_text(text, some) == fresh.score_text(text, some)
            assert grown.score_vectors("vector", vector, some) == fresh.score_vectors(
                "vector", vector, some
            )


def test_grown_table_answers_as_a_fresh_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "MAX_STALE_TEXT", 0.0)
    history = History(tmp_path)
    history.grow({"new-1": history.passages("new-1", 7), "a-first": history.passages("a", 1)[:0]})
    history.grow({"d004": history.passages("d004", 12)}, gone=["d030", "d031"])
    history.grow({"a-new": history.passages("a-new", 3)}, gone=["new-1"])
    assert_equal_answers(history.table(), history.fresh(), history)
    # Ties go by id wherever the rows lie.
    same = [chunk_row(uid, 0, "tied", vector=[1.0] * SIZE) for uid in ("b-one", "zz-one", "d0-one")]
    history.grow({row["doc_uid"]: [row] for row in same})
    for table in (history.table(), history.fresh()):
        assert [key for key, _ in table.search_text("tied", 2)] == ["b-one:0", "d0-one:0"]
        found = table.search_vectors("vector", [1.0] * SIZE, 2)
        assert [key for key, _ in found] == ["b-one:0", "d0-one:0"]


def test_nothing_of_the_publication_before_changes(tmp_path: Path) -> None:
    history = History(tmp_path)
    first = history.folder
    for turn in range(3):
        before, held = history.folder, contents_of(history.folder)
        answers = [history.table().search_text(text, 9) for text, _ in history.questions()]
        history.grow({f"new-{turn}": history.passages(f"new-{turn}", 5)}, gone=[f"d00{turn}"])
        assert contents_of(before) == held
        table = SearchTable(before, uses_shared_cache=False)
        assert [table.search_text(text, 9) for text, _ in history.questions()] == answers
    # Data is stored once: the newest folder has files of the first.
    ours, theirs = (
        {path.stat().st_ino for path in (folder / TABLE_NAME / "data").iterdir()}
        for folder in (history.folder, first)
    )
    assert theirs <= ours
    # And stands when the others are gone.
    expected = history.table().fetch()
    for folder in tmp_path.iterdir():
        if folder != history.folder:
            for path in sorted(folder.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
    assert history.table().fetch().equals(expected)


def test_text_scores_drift_by_what_is_deleted_and_return(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = History(tmp_path, documents=100)
    monkeypatch.setattr(segments, "MAX_STALE_TEXT", 0.05)
    grown = history.grow({}, gone=["d001", "d050"])
    assert grown.stale_text == 20
    ours, fresh = history.table(), history.fresh()
    drift, recall = [], []
    for text, _ in history.questions(60):
        a, b = ours.search_text(text, 50), dict(fresh.search_text(text, 50))
        drift += [abs(score - b[key]) / b[key] for key, score in a if key in b]
        recall.append(len(b.keys() & {key for key, _ in a}) / len(b))
    assert 0 < max(drift) < 0.05
    assert np.mean(recall) >= 0.98
    # Beyond the bound the index is built over the living rows alone.
    grown = history.grow({}, gone=["d002", "d003", "d004", "d005"])
    assert grown.stale_text == 0
    assert not grown.is_compacted
    ours, fresh = history.table(), history.fresh()
    for text, _ in history.questions():
        assert ours.search_text(text, 50) == fresh.search_text(text, 50)


def test_pieces_are_made_one_beyond_their_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "MAX_SMALL_FRAGMENTS", 4)
    monkeypatch.setattr(segments, "MAX_STALE_TEXT", 0.0)
    history = History(tmp_path)
    shapes = []
    for turn in range(6):
        grown = history.grow({f"n{turn}": history.passages(f"n{turn}", 4)}, gone=[f"d01{turn}"])
        health = look_at_table(history.folder, "lib", "mend")
        shapes.append((grown.is_compacted, health.fragments, health.deleted_rows))
        assert health.versions <= 3
        assert not list(health.troubles())
    assert shapes[3] == (True, 1, 0)
    assert [is_compacted for is_compacted, _, _ in shapes].count(True) == 1
    assert_equal_answers(history.table(), history.fresh(), history)


def test_many_deleted_rows_are_taken_out_of_the_files(tmp_path: Path) -> None:
    history = History(tmp_path)
    grown = history.grow({}, gone=[f"d0{n:02d}" for n in range(10)])
    assert grown.is_compacted
    health = look_at_table(history.folder, "lib", "mend")
    assert (health.rows, health.deleted_rows, grown.stale_text) == (500, 0, 0)
    assert_equal_answers(history.table(), history.fresh(), history)


def test_approximate_search_keeps_its_recall(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_assets.publishing.search_reading.EXACT_ROWS", 0)
    history = History(tmp_path, documents=150, ann_rows=1000)
    assert set(history.table().vector_indexes) == {"vector"}
    for turn in range(3):
        added = {f"n{turn}{k}": history.passages(f"n{turn}{k}", 10) for k in range(5)}
        grown = history.grow(added, gone=[f"d0{turn}{k}" for k in range(5)])
        (index,) = grown.indexes
        assert index.recall >= search_ann.MIN_RECALL
    table = history.table()
    exact = history.fresh()
    exact._indexes = {}
    shares = []
    for _, vector in history.questions(40):
        ours = {key for key, _ in table.search_vectors("vector", vector, 20)}
        shares.append(
            len(ours & {key for key, _ in exact.search_vectors("vector", vector, 20)}) / 20
        )
        first = table.search_vectors("vector", vector, 20)[0]
        assert first == exact.search_vectors("vector", vector, 20)[0]
    assert np.mean(shares) >= 0.98


def test_index_that_lost_its_recall_is_built_anew_or_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = History(tmp_path, documents=150, ann_rows=1000)
    monkeypatch.setattr(search_ann, "MIN_RECALL", 1.1)
    grown = history.grow({"new": history.passages("new", 3)})
    assert grown.indexes == []
    table = history.table()
    assert table.vector_indexes == {}
    named = {each.name for each in lance.dataset(str(table.path)).describe_indices()}
    assert "vector_ivf" not in named
    fresh = history.fresh()
    for _, vector in history.questions(5):
        assert table.search_vectors("vector", vector, 5) == fresh.search_vectors(
            "vector", vector, 5
        )


@pytest.mark.parametrize("number", [errno.EXDEV, errno.EPERM, errno.EMLINK])
def test_files_are_copied_where_they_cannot_be_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    history = History(tmp_path, documents=12)

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refuse)
    grown = history.grow({"new": history.passages("new", 3)})
    assert grown.copied_bytes > 1000
    assert_equal_answers(history.table(), history.fresh(), history)


def test_full_disk_is_no_reason_to_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history = History(tmp_path, documents=3)

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(StorageError, match=r"no room|space|full"):
        history.grow({"new": history.passages("new", 3)})


def test_order_of_another_table_is_found_out(tmp_path: Path) -> None:
    history = History(tmp_path, documents=3)
    history.grow({"new": history.passages("new", 3)})
    order = history.folder / ROW_ORDER_NAME
    order.write_bytes(order.read_bytes()[:-8])
    with pytest.raises(DamagedFileError, match=r"row_order.*33|holds 32 rows"):
        history.table()


def test_rows_that_no_index_knows_are_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = History(tmp_path, documents=3)
    monkeypatch.setattr(segments, "_index_added", lambda *_, **__: None)
    with pytest.raises(DamagedFileError, match="3 rows are missing from"):
        history.grow({"new": history.passages("new", 3)})


def test_added_rows_are_looked_for(tmp_path: Path) -> None:
    history = History(tmp_path, documents=3)
    history.grow({"new": history.passages("new", 3)})
    check_search_table(history.folder, 33, ["new:0", "new:1", "new:2"])
    with pytest.raises((DamagedFileError, IndexError)):
        check_search_table(history.folder, 33, ["new:3"])


@pytest.mark.parametrize(
    ("amiss", "told"),
    [
        ({"fragments": 1001}, "1001 fragments, more than 1000"),
        ({"versions": 11}, "11 versions, more than 10"),
        ({"parts": 65}, "65 parts of an index, more than 64"),
        ({"unindexed_rows": 1}, "1 unindexed rows, more than 0"),
        ({"deleted_rows": 300_000}, "23.1% of the rows in its files are deleted, more than 20%"),
        ({"bytes": 43_100_000_000}, "43100 bytes a row, more than 43072"),
    ],
)
def test_table_beyond_a_bound_is_told_with_what_helps(
    tmp_path: Path, amiss: dict[str, int], told: str
) -> None:
    history = History(tmp_path, documents=3)
    small = look_at_table(history.folder, "lib", "do this")
    assert small.sentence.startswith("30 rows in 1 fragment, ")
    assert list(small.troubles()) == []
    large = replace(small, rows=1_000_000, bytes=3_000_000_000, vector_bytes=1536)
    assert list(large.troubles()) == []
    (sentence,) = replace(large, **amiss).troubles()
    assert told in sentence
    assert sentence.endswith("do this")
