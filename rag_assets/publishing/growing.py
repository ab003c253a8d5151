"""Whether a publication grows from the one before it, and how much of it changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_assets.editing import count_passages
from rag_assets.embedding import EmbeddingModel
from rag_assets.model import DamagedFileError, PublicationError, StorageError
from rag_assets.publishing.document_keys import (
    DocumentKey,
    Growth,
    compare_documents,
    document_keys,
    read_document_keys,
    table_key,
)
from rag_assets.publishing.record_state import RecordState
from rag_assets.publishing.segments import Grown
from rag_assets.storage import Notify, current_folder, read_manifest
from rag_assets.workspace import Namespace

# Rows that change, as a share of all, from which a fresh table costs no more than one that grows.
LARGEST_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Plan:
    """How a publication in segments is made.

    Args:
        keys: of its documents.
        table_key: of its table.
        growth: from which publication, and how; None for a fresh table.
        told: how the table of that publication had grown.
    """

    keys: dict[str, DocumentKey]
    table_key: str
    growth: Growth | None
    told: Grown | None

    def describe(self, grown: Grown | None) -> dict[str, Any]:
        """Return what the manifest says of it."""
        return {
            "table_key": self.table_key,
            "grown_from": self.growth.before if self.growth and grown else None,
            "rounds": grown.rounds if grown else 0,
            "stale_text": grown.stale_text if grown else 0,
            "is_compacted": grown.is_compacted if grown else False,
            "copied_bytes": grown.copied_bytes if grown else 0,
        }


def is_large(records: RecordState, segment_rows: int | None) -> bool:
    """Say whether a publication is kept in segments: it has at least so many chunks."""
    if segment_rows is None:
        return False
    published = (each.content_hash for each in records.facts if each.status == "published")
    return sum(count_passages(records.made[content]) for content in published) >= segment_rows


def is_fault_of_table(error: BaseException) -> bool:
    """Say whether a table failed to grow for what it is, not for want of disk, memory or rights.

    Lance tells damage by several built-in errors, and by panics, which are no exceptions.
    """
    if isinstance(error, StorageError):
        return isinstance(error, DamagedFileError)
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def plan_growth(
    namespace: Namespace,
    records: RecordState,
    models: Sequence[EmbeddingModel],
    versions: Any,
    notify: Notify,
) -> Plan | None:
    """Return how a large publication is made, None where it is not large.

    Args:
        versions: of the code that makes a publication.
        notify: is told why the table before cannot serve.
    """
    if not is_large(records, namespace.settings.publish.segment_rows):
        return None
    keys, key = document_keys(records), table_key(namespace, models, versions)
    try:
        growth, told = _grow_from_current(namespace, records, keys, key)
    except _UnfitError as why:
        notify(f"{namespace.name}: the search table is written anew: {why}.")
        return Plan(keys, key, None, None)
    return Plan(keys, key, growth, told)


class _UnfitError(Exception):
    """Why the table before cannot grow."""


def _grow_from_current(
    namespace: Namespace, records: RecordState, keys: Mapping[str, DocumentKey], key: str
) -> tuple[Growth, Grown | None]:
    try:
        folder = current_folder(namespace.publications, namespace.name)
    except PublicationError as error:
        raise _UnfitError("nothing was published before") from error
    except DamagedFileError as error:
        raise _UnfitError("the publication before is gone") from error
    before = folder.name
    try:
        told = read_manifest(folder).get("segments")
        if told is None:
            raise _UnfitError(f"{before} was not made to grow")
        if told["table_key"] != key:
            raise _UnfitError(f"{before} was made with other models, settings or versions")
        held = read_document_keys(folder)
        rounds, stale = int(told["rounds"]), int(told["stale_text"])
    except (DamagedFileError, KeyError, TypeError, ValueError) as error:
        raise _UnfitError(f"{before} is damaged ({error})") from error
    contents = {str(f.doc_uid): f.content_hash for f in records.facts if f.status == "published"}
    growth = compare_documents(before, held, keys, contents)
    total = sum(each.rows for each in keys.values())
    if total - growth.kept > LARGEST_SHARE * total:
        raise _UnfitError(f"{total - growth.kept} of {total} rows are others than before")
    return growth, Grown([], stale, rounds, False, 0) if rounds else None
