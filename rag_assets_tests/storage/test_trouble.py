"""Trouble of the machine is told as what it is; only what is not as it was written is damaged."""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rag_assets.model import DamagedFileError, DiskFullError, OutOfMemoryError, StorageError
from rag_assets.storage import (
    Entry,
    explained_errors,
    has_layout,
    load_entries_or_mend,
    read_entries,
    read_json,
    read_manifest,
    read_pointer,
    read_rows,
    trouble_of_machine,
    write_record,
)
from rag_assets.storage import records as parquet_reading

SCHEMA = pa.schema([("content_hash", pa.string()), ("text", pa.string())])
TROUBLES = [
    OSError(errno.EACCES, os.strerror(errno.EACCES)),
    OSError(errno.EMFILE, os.strerror(errno.EMFILE)),
    OSError(errno.EIO, os.strerror(errno.EIO)),
    OSError(errno.ESTALE, os.strerror(errno.ESTALE)),
    OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)),
    MemoryError(),
    pa.lib.ArrowMemoryError("malloc of size 64 failed"),
]


def raising(error: BaseException) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> Any:
        raise error

    return fail


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "chunks" / "a.parquet"
    rows = pa.table({"content_hash": ["aa"], "text": ["roofs"]}, schema=SCHEMA)
    write_record(path, SCHEMA, {"aa": Entry("f", "d", 1)}, [rows])
    return path


@pytest.mark.parametrize("error", TROUBLES, ids=repr)
def test_a_record_that_the_machine_cannot_read_is_not_rebuilt(
    record: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    before = record.read_bytes()
    for place in ("read_metadata", "ParquetFile", "read_schema"):
        monkeypatch.setattr(f"pyarrow.parquet.{place}", raising(error))
    readers: list[Callable[[], object]] = [
        lambda: read_entries(record),
        lambda: read_rows(record, SCHEMA, ["aa"]),
        lambda: load_entries_or_mend(record, SCHEMA, pytest.fail),
        lambda: has_layout(record, SCHEMA),
    ]
    for read in readers:
        with pytest.raises(StorageError, match=r"a\.parquet: cannot be read") as found:
            read()
        assert not isinstance(found.value, DamagedFileError)
        assert "Delete" not in str(found.value)
        assert "written" not in str(found.value)
    assert record.read_bytes() == before


def test_a_record_that_is_damaged_is_still_rebuilt(record: Path) -> None:
    record.write_bytes(record.read_bytes()[:-9])
    said: list[str] = []
    assert load_entries_or_mend(record, SCHEMA, said.append)[0] == {}
    assert "damaged and is being rebuilt" in said[0]
    with pytest.raises(DamagedFileError, match="Delete the file"):
        has_layout(record, SCHEMA)


def test_a_folder_in_the_place_of_a_record_is_damage(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").mkdir()
    with pytest.raises(DamagedFileError):
        read_entries(tmp_path / "a.parquet")


@pytest.mark.parametrize("error", TROUBLES[:6], ids=repr)
def test_pointer_manifest_and_outputs_that_cannot_be_read_are_not_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    for name in ("current.json", "manifest.json", "pack.json"):
        (tmp_path / name).write_text(json.dumps({}), encoding="utf-8")
    for place in ("read_text", "read_bytes"):
        monkeypatch.setattr(Path, place, raising(error))
    readers: list[Callable[[], object]] = [
        lambda: read_pointer(tmp_path),
        lambda: read_manifest(tmp_path),
        lambda: read_json(tmp_path / "pack.json", "evidence pack"),
    ]
    for read in readers:
        with pytest.raises(StorageError, match="cannot be read") as found:
            read()
        assert not isinstance(found.value, DamagedFileError)


# What the libraries raise, word for word.
LANCE = "LanceError(IO): Generic LocalFileSystem error: Unable to open file /x: {} (os error {})"
SAID = [
    (ValueError(LANCE.format("Permission denied", 13)), "Permission denied"),
    (OSError(LANCE.format("Too many open files", 24)), "too many open files"),
    (RuntimeError("can't start new thread"), "not enough memory"),
    (duckdb.IOException('IO Error: Cannot open file "/x": Permission denied'), "Permission denied"),
    (duckdb.OutOfMemoryException("Out of Memory Error: Failed to allocate"), "not enough memory"),
    (ImportError("libtorch_cpu.so: failed to map segment from shared object"), "enough memory"),
    (
        OSError("[Errno 5] Error reading bytes. Detail: [errno 5] Input/output error"),
        "Input/output",
    ),
]


@pytest.mark.parametrize(("error", "words"), SAID, ids=lambda given: type(given).__name__)
def test_trouble_is_known_by_whatever_a_library_says(error: Exception, words: str) -> None:
    trouble = trouble_of_machine(error, "index/x", "read")
    assert trouble is not None
    assert not isinstance(trouble, DamagedFileError)
    assert str(trouble).startswith("index/x: cannot be read")
    assert words in str(trouble)
    assert str(trouble).endswith("run the command again.")


@pytest.mark.parametrize(
    "error",
    [
        pa.ArrowInvalid("Parquet magic bytes not found in footer."),
        OSError("could not verify page integrity, CRC checksum verification failed"),
        duckdb.IOException('The file "/x" exists, but it is not a valid DuckDB database file!'),
        FileNotFoundError(errno.ENOENT, "No such file or directory"),
        IsADirectoryError(errno.EISDIR, "Is a directory"),
        KeyError("text"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_is_wrong_with_a_file_is_no_trouble_of_the_machine(error: Exception) -> None:
    assert trouble_of_machine(error, "x") is None


def test_errors_of_writing_say_written_and_those_of_reading_read(tmp_path: Path) -> None:
    refused = PermissionError(errno.EACCES, "Permission denied")
    with pytest.raises(StorageError, match="cannot be written"), explained_errors(tmp_path):
        raise refused
    with pytest.raises(StorageError, match="cannot be read"), explained_errors(tmp_path, "read"):
        raise refused
    with pytest.raises(DiskFullError), explained_errors(tmp_path):
        raise OSError("LanceError(IO): No space left on device (os error 28)")
    with pytest.raises(OutOfMemoryError), explained_errors(tmp_path):
        raise MemoryError


def test_a_parquet_file_is_read_without_a_pool_of_threads(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pool that gets no thread, for lack of memory, would be waited for without end."""
    seen: dict[str, Any] = {}
    reads, opens = pq.ParquetFile.read, pq.ParquetFile.__init__

    def opened(self: Any, *arguments: Any, **options: Any) -> None:
        seen.update(options)
        opens(self, *arguments, **options)

    def read(self: Any, *arguments: Any, **options: Any) -> Any:
        seen.update(options)
        return reads(self, *arguments, **options)

    monkeypatch.setattr(pq.ParquetFile, "__init__", opened)
    monkeypatch.setattr(pq.ParquetFile, "read", read)
    assert parquet_reading.read_parquet(record).num_rows == 1
    assert seen["use_threads"] is False
    assert seen["pre_buffer"] is False
