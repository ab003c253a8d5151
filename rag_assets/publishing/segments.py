"""A search table that grows from the one before it: what a large library publishes.

A publication's folder is whole and never changed. So the new folder begins with hard links to the
files of the table before, which are immutable themselves; what has gone is marked as deleted, what
has come is appended, and the indexes get a part for it. The disk holds each file once, however
many publications have it, and as long as one of them stands.

Deleted rows stay in the files, and in the statistics of the text index, until these are written
anew. The bounds below say when that happens.
"""

import errno
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from rag_assets.model import DamagedFileError
from rag_assets.publishing.row_order import read_row_order, write_row_order
from rag_assets.publishing.search_ann import (
    VectorIndex,
    read_vector_indexes,
    renew_vector_indexes,
)
from rag_assets.publishing.search_reading import TABLE_NAME, new_session, quote_text
from rag_assets.publishing.search_table import DOCUMENT_INDEX, in_table_order, index_scalars
from rag_assets.publishing.search_text import INDEX_NAMES
from rag_assets.storage import explained_errors, link_file

# Rows deleted since the text indexes were built, as a share of the rows in them, from which they
# are built anew, which costs most of what a fresh table does. BM25 counts them until then: among
# 10⁵ chunks 1 % of them changed scores by 1.5 % at most and left 0.993 of the first ten in place
# (benchmarks/segments.py --drift).
MAX_STALE_TEXT = 0.01
# Parts of an index, each of which a search looks into, and fragments of less than a full one's
# rows, before they are made one.
MAX_PARTS = 32
MAX_SMALL_FRAGMENTS = 64
# Deleted rows in the files, as a share of the rows there, before the files are written anew.
MAX_DELETED = 0.1
# A fragment with as many rows is left alone while few of them are deleted. So the largest part of
# a table is not written again for the small ones.
FRAGMENT_ROWS = 262_144

# Documents named in one statement.
_NAMED_AT_ONCE = 1_000
# Rows that compaction holds at once, for each column: 8 MB of 384 numbers and their texts.
_COMPACTION_ROWS = 4_096


@dataclass(frozen=True, slots=True)
class Grown:
    """How a table grew.

    Args:
        stale_text: rows deleted since the text indexes were built; 0 where they are as fresh.
        rounds: publications since the last fresh table, this one among them.
        is_compacted: whether fragments were written anew.
        copied_bytes: of files that could not be linked.
    """

    indexes: list[VectorIndex]
    stale_text: int
    rounds: int
    is_compacted: bool
    copied_bytes: int


def grow_search_table(
    folder: Path,
    before: Path,
    gone: Sequence[str],
    added: pa.Table,
    ann_rows: int | None,
    told: Grown | None,
) -> Grown:
    """Write the search table of a new publication as that of another with some rows changed.

    Args:
        folder: of the new publication, which nobody reads yet.
        before: of the publication to grow from. Nothing in it is changed.
        gone: documents of it whose rows go.
        added: rows of documents that it does not hold, or that are gone; with the same schema.
        ann_rows: as `write_search_table` has it.
        told: how that table had grown; None for a fresh one.

    Raises:
        DamagedFileError: the rows do not add up, or an index does not know all of them.
        ValueError: the schema is another one.
        StorageError: the disk is full or refuses a write.
    """
    import lance

    table = folder / TABLE_NAME
    with explained_errors(table):
        copied = link_table(before / TABLE_NAME, table)
        dataset = lance.dataset(str(table), session=new_session())
        held = dataset.count_rows()
        _delete(dataset, gone)
        deleted = held - dataset.count_rows()
        if len(added):
            ordered = in_table_order(folder, added)
            dataset = lance.write_dataset(
                ordered,
                dataset,
                mode="append",
                session=new_session(),
                max_rows_per_file=len(ordered),
            )
        stale = (told.stale_text if told else 0) + deleted
        is_compacted = _is_scattered(dataset)
        # What builds the text indexes over again drops what they know of deleted rows.
        is_anew = (
            is_compacted
            or stale > MAX_STALE_TEXT * (dataset.count_rows() + stale)
            or _most_parts(dataset) >= MAX_PARTS
        )
        known = read_vector_indexes(before)
        if is_compacted:
            compact(dataset)
        if is_anew:
            index_scalars(dataset)
        else:
            _index_added(dataset, [*INDEX_NAMES.values(), DOCUMENT_INDEX], parts=0)
        named = {each.name: len(each.segments) for each in dataset.describe_indices()}
        for column in known:
            name = f"{column}_ivf"
            _index_added(dataset, [name], parts=named.get(name, 0) if is_anew else 0)
        dataset = lance.dataset(str(table), session=new_session())
        _remove_superseded(dataset)
        write_row_order(folder, dataset)
        order = read_row_order(folder, dataset.count_rows())
        indexes = renew_vector_indexes(
            folder, dataset, order, ann_rows, known, may_build=is_compacted
        )
        _remove_superseded(dataset)
    expected = held - deleted + len(added)
    _check(table, expected)
    return Grown(
        indexes,
        0 if is_anew else stale,
        (told.rounds if told else 0) + 1,
        is_compacted,
        copied,
    )


def link_table(source: Path, target: Path) -> int:
    """Make a table whose files are those of another, and its versions copies. Returns the bytes
    of data that had to be copied, since the file system has no hard links there.

    Raises:
        FileNotFoundError: there is no such table.
    """
    copied = 0
    for path in sorted(source.rglob("*")):
        place = target / path.relative_to(source)
        if path.is_dir():
            place.mkdir(parents=True, exist_ok=True)
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        # Of what says which files belong to a table one is written over with each version.
        is_data = path.relative_to(source).parts[0] in {"data", "_indices", "_deletions"}
        if not (is_data and link_file(path, place)):
            shutil.copyfile(path, place)
            copied += path.stat().st_size if is_data else 0
    if not target.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(source))
    return copied


def compact(dataset: Any) -> None:
    """Write small fragments, and those with many deleted rows, anew."""
    # Text indexes are built anew after this: to carry them along would cost as much.
    for name in (*INDEX_NAMES.values(), DOCUMENT_INDEX):
        dataset.drop_index(name)
    dataset.optimize.compact_files(
        target_rows_per_fragment=FRAGMENT_ROWS,
        materialize_deletions_threshold=MAX_DELETED,
        num_threads=1,
        batch_size=_COMPACTION_ROWS,
    )


def _delete(dataset: Any, uids: Sequence[str]) -> None:
    for start in range(0, len(uids), _NAMED_AT_ONCE):
        named = ", ".join(quote_text(uid) for uid in uids[start : start + _NAMED_AT_ONCE])
        dataset.delete(f"doc_uid IN ({named})")


def _is_scattered(dataset: Any) -> bool:
    """Say whether fragments have to be written anew."""
    physical = _physical_rows(dataset)
    small = sum(rows < FRAGMENT_ROWS for rows in physical)
    return small > MAX_SMALL_FRAGMENTS or count_deleted(dataset) > MAX_DELETED * sum(physical)


def _physical_rows(dataset: Any) -> list[int]:
    return [fragment.physical_rows for fragment in dataset.get_fragments()]


def count_deleted(dataset: Any) -> int:
    """Return how many deleted rows lie in the files still."""
    return sum(_physical_rows(dataset)) - int(dataset.count_rows())


def _most_parts(dataset: Any) -> int:
    return max((len(each.segments) for each in dataset.describe_indices()), default=0)


def _index_added(dataset: Any, names: list[str], *, parts: int) -> None:
    """Let indexes know the rows that were added, and make so many of their parts one."""
    dataset.optimize.optimize_indices(index_names=names, num_indices_to_merge=parts)


def _remove_superseded(dataset: Any) -> None:
    """Remove what only earlier versions of the table had: nobody has read this one yet."""
    dataset.cleanup_old_versions(older_than=timedelta(0), delete_unverified=True)


def _check(table: Path, expected: int) -> None:
    import lance

    dataset = lance.dataset(str(table), session=new_session())
    if dataset.count_rows() != expected:
        raise DamagedFileError(
            f"{table}: holds {dataset.count_rows()} rows, {expected} were to be there."
        )
    for index in dataset.describe_indices():
        unknown = int(dataset.stats.index_stats(index.name)["num_unindexed_rows"])
        if unknown:
            raise DamagedFileError(f"{table}: {unknown} rows are missing from '{index.name}'.")
