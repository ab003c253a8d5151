import struct
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pytest

from rag_assets.model import DamagedFileError
from rag_assets.storage import (
    Computed,
    Entry,
    Refreshed,
    live_digest,
    prune_record,
    read_entries,
    read_rows,
    refresh_record,
    write_record,
)

SCHEMA = pa.schema([("content_hash", pa.string()), ("order", pa.int32()), ("text", pa.string())])


class Record:
    """A record of the stage `chunks`, with a count of what was computed."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "chunks" / "a.parquet"
        self.lock = folder / "a.lock"
        self.asked: list[str] = []
        self.said: list[str] = []

    def refresh(self, *expired: str, **wanted: str) -> Refreshed:
        """Refresh to content → fingerprint; a content has two rows that name its fingerprint."""

        def compute(stale: list[str]) -> Iterable[Computed]:
            for content in stale:
                self.asked.append(content)
                rows = [
                    {"content_hash": content, "order": n, "text": f"{wanted[content]} 气孔 {n}"}
                    for n in range(2)
                ]
                yield (
                    content,
                    Entry(wanted[content], f"digest of {wanted[content]}", 2, {"of": "up"}),
                    pa.Table.from_pylist(rows, schema=SCHEMA),
                )

        self.asked.clear()
        return refresh_record(
            self.path, self.lock, SCHEMA, wanted, lambda: expired, compute, self.said.append
        )

    def texts(self, *contents: str) -> list[str]:
        texts: list[str] = read_rows(self.path, SCHEMA, contents, ["text"])["text"].to_pylist()
        return texts


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return Record(tmp_path)


def test_missing_record_is_an_empty_one(record: Record) -> None:
    assert read_entries(record.path) == {}
    assert len(read_rows(record.path, SCHEMA, ["a1"])) == 0


def test_refresh_computes_what_changed_and_keeps_the_rows_of_others(record: Record) -> None:
    record.refresh(a1="one", a2="two")
    refreshed = record.refresh(a1="one", a2="three", a3="new")
    assert record.asked == ["a2", "a3"]
    assert refreshed.computed == ("a2", "a3")
    assert record.texts("a1") == ["one 气孔 0", "one 气孔 1"]
    assert record.texts("a2") == ["three 气孔 0", "three 气孔 1"]
    entries = read_entries(record.path)
    assert {content: entry.fingerprint for content, entry in entries.items()} == {
        "a1": "one", "a2": "three", "a3": "new",
    }  # fmt: skip
    assert dict(refreshed.entries) == entries


def test_refresh_of_nothing_new_leaves_the_file_untouched(record: Record) -> None:
    record.refresh(a1="one", a2="two")
    before = record.path.stat()
    refreshed = record.refresh(a1="one")
    assert (refreshed.wrote, refreshed.computed, record.asked) == (False, (), [])
    assert (record.path.stat().st_ino, record.path.stat().st_mtime_ns) == (
        before.st_ino, before.st_mtime_ns,
    )  # fmt: skip


def test_dead_rows_stay_until_they_expire_and_go_with_the_next_write(record: Record) -> None:
    record.refresh(a1="one", a2="two")
    record.refresh(a3="three")
    assert record.texts("a1", "a2") == ["one 气孔 0", "one 气孔 1", "two 气孔 0", "two 气孔 1"]
    record.refresh("a1", a3="three")  # nothing to write: nothing goes
    assert record.texts("a1")
    record.refresh("a1", a3="four")
    assert record.texts("a1") == []
    assert record.texts("a2")


def test_failing_computation_leaves_the_record_as_it_was(record: Record) -> None:
    record.refresh(a1="one")
    data = record.path.read_bytes()

    def compute(stale: list[str]) -> Iterable[Computed]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        refresh_record(
            record.path, record.lock, SCHEMA, {"a2": "two"}, frozenset, compute, pytest.fail
        )
    assert record.path.read_bytes() == data


def test_pruning_drops_expired_contents_and_no_others(record: Record) -> None:
    record.refresh(a1="one", a2="two")
    assert prune_record(record.path, record.lock, lambda: {"a1", "zz"}, pytest.fail) == 1
    assert list(read_entries(record.path)) == ["a2"]
    assert record.texts("a1", "a2") == ["two 气孔 0", "two 气孔 1"]


def _cuts(size: int) -> list[int]:
    """Every class of length: nothing, inside head, pages, footer, its length and the magic."""
    spread = [size * part // 8 for part in range(1, 8)]
    return sorted({0, 1, 3, 4, 5, *spread, size - 9, size - 8, size - 5, size - 4, size - 1})


def test_record_cut_at_any_length_is_named_and_rebuilt(record: Record) -> None:
    record.refresh(a1="one", a2="two")
    whole = record.path.read_bytes()
    cuts = _cuts(len(whole))
    assert len(cuts) > 15
    for length in cuts:
        record.path.write_bytes(whole[:length])
        record.said.clear()
        with pytest.raises(DamagedFileError, match=r"chunks/a\.parquet"):
            read_entries(record.path)
        refreshed = record.refresh(a1="one", a2="two")
        assert refreshed.computed == ("a1", "a2"), length
        assert refreshed.mended is not None
        assert "a.parquet" in refreshed.mended
        assert record.said == [refreshed.mended]
        assert record.texts("a1") == ["one 气孔 0", "one 气孔 1"]


def test_altered_page_is_noticed_when_its_rows_are_read(record: Record) -> None:
    record.refresh(a1="one", a2="two")
    data = bytearray(record.path.read_bytes())
    data[40] ^= 0xFF
    record.path.write_bytes(bytes(data))
    with pytest.raises(DamagedFileError, match=r"a\.parquet"):
        read_rows(record.path, SCHEMA, ["a1", "a2"])


def test_altered_number_of_a_vector_is_noticed(tmp_path: Path) -> None:
    # Vectors are stored as they are: only the checksum tells one number from another.
    schema = pa.schema([("content_hash", pa.string()), ("vector", pa.list_(pa.float32(), 2))])
    rows = pa.Table.from_pylist([{"content_hash": "a1", "vector": [0.5, 0.25]}], schema=schema)
    path = tmp_path / "embeddings" / "a.parquet"
    write_record(path, schema, {"a1": Entry("f", "d", 1)}, [rows])
    numbers = struct.pack("<2f", 0.5, 0.25)
    data = path.read_bytes()
    place = data.index(numbers)
    path.write_bytes(data[:place] + struct.pack("<2f", 0.5, 0.75) + data[place + len(numbers) :])
    assert len(read_entries(path)) == 1
    with pytest.raises(DamagedFileError, match=r"a\.parquet"):
        read_rows(path, schema, ["a1"])


def test_record_with_altered_pages_is_made_anew_as_the_error_says(record: Record) -> None:
    record.refresh(a1="one", a2="two")
    data = bytearray(record.path.read_bytes())
    data[40] ^= 0xFF
    record.path.write_bytes(bytes(data))
    with pytest.raises(DamagedFileError, match="Delete the file"):
        record.refresh(a1="one", a2="two", a3="new")
    assert record.path.read_bytes() == bytes(data)
    record.path.unlink()
    assert record.refresh(a1="one", a2="two").computed == ("a1", "a2")
    assert record.texts("a1") == ["one 气孔 0", "one 气孔 1"]


def test_rows_of_another_layout_are_computed_again(record: Record) -> None:
    record.refresh(a1="one")
    wider = SCHEMA.append(pa.field("vector", pa.list_(pa.float32(), 2)))

    def compute(stale: list[str]) -> Iterable[Computed]:
        for content in stale:
            row = {"content_hash": content, "order": 0, "text": "wide", "vector": [0.0, 1.0]}
            yield content, Entry("one", "d", 1), pa.Table.from_pylist([row], schema=wider)

    refreshed = refresh_record(
        record.path, record.lock, wider, {"a1": "one"}, frozenset, compute, pytest.fail
    )
    assert refreshed.computed == ("a1",)
    assert read_rows(record.path, wider, ["a1"])["vector"].to_pylist() == [[0.0, 1.0]]


def test_file_that_is_no_record_is_named(record: Record) -> None:
    import pyarrow.parquet as pq

    record.path.parent.mkdir(parents=True)
    pq.write_table(SCHEMA.empty_table(), record.path)
    with pytest.raises(DamagedFileError, match="Delete the file and materialize its partition 'a'"):
        read_entries(record.path)


def test_digest_covers_living_contents_only_and_no_order() -> None:
    one, two = Entry("f", "d1", 1), Entry("f", "d2", 1)
    alone = live_digest({"a1": one}, ["a1"])
    assert live_digest({"a2": two, "a1": one}, ["a1"]) == alone
    both = live_digest({"a2": two, "a1": one}, ["a2", "a1"])
    assert both == live_digest({"a1": one, "a2": two}, {"a1", "a2"})
    assert both != alone
    assert both != live_digest({"a1": two, "a2": one}, ["a1", "a2"])
