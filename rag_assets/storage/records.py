"""Partition records: one Parquet file a stage and partition, its manifest inside it.

A record holds the rows of every content of its partition, dead ones too until they expire, and
for each content an `Entry`: under which fingerprint its rows were computed, and their digest.
A content whose fingerprint is unchanged is never computed again.
"""

import json
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rag_assets.model import DamagedFileError, combine_digests
from rag_assets.storage.files import (
    Notify,
    file_identity,
    hold_lock,
    replace_file,
    trouble_of_machine,
)

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

# The key of a signature in an entry's note, a publication's manifest and the version log.
SIGNATURE = "made_by"


@dataclass(frozen=True, slots=True)
class Maker:
    """Who is at work.

    Args:
        run_id: Dagster's id of the run.
        code_version: of the stage, as Dagster shows it.
        config_hash: SHA-256 of the settings and overrides that a build depends on.
        tool_version: of the package.
    """

    run_id: str
    code_version: str
    config_hash: str
    tool_version: str


_at_work: ContextVar[Maker | None] = ContextVar("maker_at_work", default=None)


@contextmanager
def working_as(maker: Maker) -> Iterator[None]:
    """Sign with `maker` whatever is stored inside the block."""
    token = _at_work.set(maker)
    try:
        yield
    finally:
        _at_work.reset(token)


def signature() -> dict[str, dict[str, str]]:
    """Return `{"made_by": {run_id, code_version, config_hash, tool_version, at}}`.

    Empty where nobody has said who works: what a library call makes is not signed.
    """
    maker = _at_work.get()
    if maker is None:
        return {}
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {SIGNATURE: {**asdict(maker), "at": now}}


_Read = TypeVar("_Read")
# What was made of files, and which files these were; None outside of a run.
_kept: ContextVar[dict[Hashable, tuple[object, Any]] | None] = ContextVar("kept", default=None)


@contextmanager
def reading_once() -> Iterator[None]:
    """Keep what `read_once` reads until the outermost of these ends."""
    token = None if _kept.get() is not None else _kept.set({})
    try:
        yield
    finally:
        if token is not None:
            _kept.reset(token)


def read_once(paths: Sequence[Path], what: Hashable, read: Callable[[], _Read]) -> _Read:
    """Return what `read` makes of some files; what it has made of the same files is kept.

    Files are looked at before they are read: one that is replaced meanwhile is read again.

    Args:
        what: tells apart the readers of the same files; nobody changes what they return.
    """
    kept = _kept.get()
    if kept is None:
        return read()
    key, now = (tuple(paths), what), [file_identity(path) for path in paths]
    if key not in kept or kept[key][0] != now:
        kept[key] = (now, read())
    found: _Read = kept[key][1]
    return found


# Small tables share a group up to this size.
_GROUP_BYTES = 32_000_000


def write_parquet(
    path: Path,
    schema: "pa.Schema",
    tables: Iterable["pa.Table"],
    compression: str | dict[str, str] = "snappy",
    *,
    use_dictionary: bool = True,
    group_rows: int = 0,
    closing: Callable[[], Mapping[str, str]] = dict,
) -> None:
    """Write tables one after another with the checksums of their pages, whole or not at all.

    Args:
        schema: of the tables, with the file's metadata.
        tables: taken one by one; none is held once it is written.
        compression: of all columns, or by name.
        group_rows: of each group; 0 for tables that share a group up to a size.
        closing: further metadata, asked when all tables are written.

    Raises:
        StorageError: the disk is full or refuses the write.
    """
    import pyarrow.parquet as pq

    with (
        replace_file(path) as temporary,
        pq.ParquetWriter(
            temporary,
            schema,
            compression=compression,
            use_dictionary=use_dictionary,
            write_page_checksum=True,
        ) as writer,
    ):
        for group in tables if group_rows else _grouped(schema, tables):
            writer.write_table(group, row_group_size=group_rows or None)
        said = closing()
        if said:
            writer.add_key_value_metadata(said)


def _grouped(schema: "pa.Schema", tables: Iterable["pa.Table"]) -> Iterator["pa.Table"]:
    import pyarrow as pa

    waiting: list[pa.Table] = []
    size = 0
    for table in tables:
        waiting.append(table.replace_schema_metadata(schema.metadata))
        # Counted once: the bytes of a table with nested columns take a while to add up.
        size += table.nbytes
        if size >= _GROUP_BYTES:
            yield pa.concat_tables(waiting)
            waiting.clear()
            size = 0
    if waiting:
        yield pa.concat_tables(waiting)


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> "pa.Table":
    """Return the rows of a file, with its pages' checksums verified.

    Arrow's thread pools are not used: where the system gives them no thread, for lack of memory
    for its stack, what was handed to a pool is waited for without end.

    Args:
        columns: names, in any order; all without.

    Raises:
        FileNotFoundError: there is no such file.
        OSError, MemoryError, ValueError: as Arrow raises them, for the caller to tell apart.
        KeyError: the file has no such column.
    """
    with _opened(path, columns) as (file, names):
        return file.read(columns=names, use_threads=False)


def read_groups(path: Path, columns: Sequence[str] | None = None) -> Iterator["pa.Table"]:
    """Yield the rows of a file group by group, as `read_parquet` reads them; at least one table."""
    with _opened(path, columns) as (file, names):
        for group in range(file.num_row_groups):
            yield file.read_row_group(group, columns=names, use_threads=False)
        if not file.num_row_groups:
            yield file.read(columns=names, use_threads=False)


@contextmanager
def _opened(
    path: Path, columns: Sequence[str] | None
) -> Iterator[tuple["pq.ParquetFile", list[str] | None]]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, page_checksum_verification=True, pre_buffer=False) as file:
        # By the schema's names: of a nested column the reader knows the leaves only.
        missing = set(columns or ()) - set(file.schema_arrow.names)
        if missing:
            raise KeyError(", ".join(sorted(missing)))
        yield file, list(columns) if columns is not None else None


_MANIFEST_KEY = "rag_record"
_ROWS_AT_ONCE = 512


@dataclass(frozen=True, slots=True)
class Entry:
    """What a record knows of one content.

    Args:
        fingerprint: digest of everything that the rows are a function of.
        digest: SHA-256 of the rows' content; the next stage's fingerprint is made of it.
        rows: how many rows the content has.
        note: what the stage wants to know without reading rows (status, counts, seconds).
    """

    fingerprint: str
    digest: str
    rows: int
    note: Mapping[str, Any] = field(default_factory=dict)


Computed = tuple[str, Entry, "pa.Table"]


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What refreshing one record did.

    Args:
        entries: of all contents in the record, dead ones too.
        computed: contents whose rows were computed now.
        wrote: False where the file was left untouched.
        mended: sentence about a damaged file that was rebuilt, or None.
    """

    entries: Mapping[str, Entry]
    computed: tuple[str, ...]
    wrote: bool
    mended: str | None = None


def read_entries(path: Path) -> dict[str, Entry]:
    """Return the manifest of a record; empty where there is no file.

    Raises:
        DamagedFileError: truncated or not a record.
        StorageError: the machine cannot read it now.
    """
    return dict(read_once([path], "entries", lambda: _read_entries(path)))


def _read_entries(path: Path) -> dict[str, Entry]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(path)
        manifest = json.loads((metadata.metadata or {})[_MANIFEST_KEY.encode()])
        entries = {content: Entry(**entry) for content, entry in manifest.items()}
    except FileNotFoundError:
        return {}
    except (pa.ArrowException, OSError, MemoryError, KeyError, ValueError, TypeError) as error:
        raise trouble_of_machine(error, path) or _damaged(path, error) from error
    if metadata.num_rows != sum(entry.rows for entry in entries.values()):
        raise _damaged(path, "row count and manifest differ")
    return entries


def read_rows(
    path: Path,
    schema: "pa.Schema",
    contents: Collection[str] | None,
    columns: Sequence[str] | None = None,
) -> "pa.Table":
    """Return the rows of `contents`, or all, in the record's order; no file is no rows.

    Raises:
        DamagedFileError: the file's pages are not what was written.
        StorageError: the machine cannot read it now.
    """
    import pyarrow as pa

    names = list(columns) if columns is not None else schema.names
    try:
        return pa.concat_tables(_tables_of(path, names, contents))
    except FileNotFoundError:
        return pa.schema([schema.field(name) for name in names]).empty_table()


def _tables_of(
    path: Path, names: Sequence[str], contents: Collection[str] | None
) -> Iterator["pa.Table"]:
    """Yield the rows of `contents`, or all, as they stand in the file's groups."""
    import pyarrow as pa
    import pyarrow.compute as pc

    held = None if contents is None else pa.array(sorted(contents), pa.string())
    wanted = names if "content_hash" in names else [*names, "content_hash"]
    try:
        for table in read_groups(path, wanted):
            chosen = table
            if held is not None:
                chosen = table.filter(pc.is_in(table["content_hash"], value_set=held))
            yield chosen.select(list(names)).replace_schema_metadata(None)
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, MemoryError, KeyError) as error:
        raise trouble_of_machine(error, path) or _damaged(path, error) from error


def split_rows(table: "pa.Table") -> dict[str, "pa.Table"]:
    """Return the rows of each content, which stand together in a record; nothing is copied."""
    import pyarrow.compute as pc

    found, start = {}, 0
    ends = pc.run_end_encode(table["content_hash"].combine_chunks())
    for content, end in zip(ends.values.to_pylist(), ends.run_ends.to_pylist(), strict=True):
        found[content] = table.slice(start, end - start)
        start = end
    return found


def rows_of(table: "pa.Table") -> Iterator[dict[str, Any]]:
    """Yield the rows of a table as dictionaries, made a few at a time."""
    for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE):
        yield from batch.to_pylist()


def _damaged(path: Path, reason: object) -> DamagedFileError:
    return DamagedFileError(
        f"{path}: the record is damaged ({reason}). Delete the file and materialize its "
        f"partition '{path.stem}' of '{path.parent.name}' again (`rag ingest`): it is rebuilt "
        "from the stages before it."
    )


def write_record(
    path: Path, schema: "pa.Schema", entries: Mapping[str, Entry], tables: Iterable["pa.Table"]
) -> None:
    """Write a record whole. Rows stand by content, each content's rows together.

    Args:
        entries: of all contents; complete when the last table was taken.
        tables: their rows, taken one by one.
    """
    import pyarrow as pa

    def manifest() -> dict[str, str]:
        told = {content: asdict(entries[content]) for content in sorted(entries)}
        return {_MANIFEST_KEY: json.dumps(told, ensure_ascii=False)}

    # Vectors are noise to a dictionary and to zstd; both only cost time there.
    dense = [f.name for f in schema if f.type == pa.list_(pa.float32())]
    compression = {f.name: "zstd" for f in schema if f.name not in dense} or "none"
    write_parquet(path, schema, tables, compression, use_dictionary=False, closing=manifest)


def sign(entry: Entry) -> Entry:
    """Return an entry whose note says who computed it, where somebody has said so."""
    return replace(entry, note={**entry.note, **signature()})


def load_entries_or_mend(
    path: Path, schema: "pa.Schema", notify: Notify
) -> tuple[dict[str, Entry], str | None]:
    """Return a record's manifest; a damaged file counts as empty and is named.

    One that the machine cannot read now is not damaged: that is raised. A record of another layout
    (of an older version, or vectors of another length) counts as empty too: its rows cannot stand
    beside new ones.
    """
    try:
        return (read_entries(path) if has_layout(path, schema) else {}), None
    except DamagedFileError as error:
        mended = f"{path}: the record was damaged and is being rebuilt ({error.__cause__ or error})"
        notify(mended)
        return {}, mended


def has_layout(path: Path, schema: "pa.Schema") -> bool:
    """Say whether the columns of a record that was read are those of `schema`; no file has every
    layout.

    Raises:
        DamagedFileError: it is not a record.
        StorageError: the machine cannot read it now.
    """
    return not path.is_file() or bool(_schema_of(path).equals(schema))


def _schema_of(path: Path) -> "pa.Schema":
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_schema(path).remove_metadata()
    except (pa.ArrowException, OSError, MemoryError) as error:
        raise trouble_of_machine(error, path) or _damaged(path, error) from error


def kept_tables(path: Path, schema: "pa.Schema", contents: Collection[str]) -> Iterator["pa.Table"]:
    """Yield the rows of the contents that stay as they are."""
    if contents:
        yield from _tables_of(path, schema.names, contents)


class OpenRecord:
    """A record whose lock is held: what it has, and how it is written whole."""

    def __init__(self, path: Path, schema: "pa.Schema", notify: Notify) -> None:
        self._path, self._schema = path, schema
        self.entries, self.mended = load_entries_or_mend(path, schema, notify)

    def write(self, fresh: Iterable[Computed], expired: Callable[[], Collection[str]]) -> Refreshed:
        """Write fresh rows beside those that stay.

        Args:
            expired: gives the contents dead for so long that their rows go with this write; asked
                while the lock is held, so that it cannot name what another run has brought back.
        """
        entries, replaced = dict(self.entries), set[str]()

        def tables() -> "Iterator[pa.Table]":
            # One after the other: nothing is held that is written.
            for content, entry, rows in fresh:
                replaced.add(content)
                entries[content] = sign(entry)
                yield rows
            for content in entries.keys() & set(expired()) - replaced:
                del entries[content]
            yield from kept_tables(self._path, self._schema, entries.keys() - replaced)

        write_record(self._path, self._schema, entries, tables())
        self.entries = entries
        return Refreshed(entries, tuple(sorted(replaced)), wrote=True, mended=self.mended)


def stale_contents(entries: Mapping[str, Entry], wanted: Mapping[str, str]) -> list[str]:
    """Return the contents that have no entry of the wanted fingerprint, sorted."""
    return sorted(c for c, f in wanted.items() if c not in entries or entries[c].fingerprint != f)


def refresh_record(
    path: Path,
    lock: Path,
    schema: "pa.Schema",
    wanted: Mapping[str, str],
    expired: Callable[[], Collection[str]],
    compute: Callable[[list[str]], Iterable[Computed]],
    notify: Notify,
) -> Refreshed:
    """Compute what changed in one record and write it whole; untouched where nothing did.

    The lock is held from load to rename, so that two runs cannot lose each other's rows. It is not
    taken where a look at the record finds nothing to do.

    Args:
        wanted: content_hash → fingerprint, for every living content of the partition.
        expired: as in `OpenRecord.write`.
        compute: gives (content_hash, entry, rows) for each content it is asked for.
    """
    looked_at = file_identity(path)
    # Damage is told by the one who mends it, under the lock.
    record = OpenRecord(path, schema, lambda _: None)
    if record.mended is None and not stale_contents(record.entries, wanted):
        return Refreshed(record.entries, (), wrote=False)
    with hold_lock(lock, f"{path.parent.name} {path.stem}", notify):
        if record.mended is not None or file_identity(path) != looked_at:
            record = OpenRecord(path, schema, notify)
        entries = record.entries
        stale = stale_contents(entries, wanted)
        # A damaged record is written anew even where nothing of it lives: every later stage
        # would meet the damage again.
        if not stale and record.mended is None:
            return Refreshed(entries, (), wrote=False)
        return record.write(compute(stale) if stale else (), expired)


def prune_record(
    path: Path, lock: Path, expired: Callable[[], Collection[str]], notify: Notify
) -> int:
    """Drop the rows of expired contents now, as `OpenRecord.write`. Returns how many went."""
    with hold_lock(lock, f"{path.parent.name} {path.stem}", notify):
        entries = read_entries(path)
        gone = entries.keys() & set(expired())
        if gone:
            schema = _schema_of(path)
            kept = {c: e for c, e in entries.items() if c not in gone}
            write_record(path, schema, kept, kept_tables(path, schema, kept))
        return len(gone)


def live_digest(entries: Mapping[str, Entry], living: Collection[str]) -> str:
    """Return the digest of a partition: of its living contents only."""
    return combine_digests(
        part
        for content in sorted(living)
        if content in entries
        for part in (content, entries[content].digest)
    )
