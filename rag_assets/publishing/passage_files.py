"""`parents.jsonl` and `chunks.jsonl`: passages as lines of JSON, partition by partition.

A partition whose passages are those of the files that stand there is copied from them.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO  # Any: JSON of manifests

from rag_assets.model import hash_fields
from rag_assets.publishing.building import PUBLISHING_VERSION
from rag_assets.publishing.facts import DocumentFacts, source_id
from rag_assets.publishing.record_state import RecordState
from rag_assets.storage import read_entries, replace_file
from rag_assets.workspace import Namespace

if TYPE_CHECKING:
    import pyarrow as pa

PASSAGES = ("parents", "chunks")
# What a chunk's line in chunks.jsonl leaves out: times of this machine.
_PROVENANCE = ("created_at", "updated_at", "version")
_ROWS_AT_ONCE = 1000


def write_passages(
    namespace: Namespace,
    facts: Sequence[DocumentFacts],
    records: RecordState,
    folder: Path,
    before: Mapping[str, Any],
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Write both files, a partition at a time; lines of one that did not change are copied.

    Returns:
        Rows and SHA-256 of each file; and of each partition what it was made from, and where its
        lines stand in both.
    """
    from rag_assets.publishing.joining import join_passages

    by_partition: dict[str, dict[str, DocumentFacts]] = defaultdict(dict)
    for fact in facts:
        by_partition[namespace.partition_of(fact.content_hash)][fact.content_hash] = fact
    known = _intact_parts(folder, before)
    files: dict[str, dict[str, Any]] = {name: {"rows": 0} for name in PASSAGES}
    parts: dict[str, dict[str, Any]] = {}
    with ExitStack() as stack:
        outs = {
            name: _Digested(
                stack.enter_context(
                    stack.enter_context(replace_file(folder / f"{name}.jsonl")).open("wb")
                )
            )
            for name in PASSAGES
        }
        olds = {
            name: stack.enter_context((folder / f"{name}.jsonl").open("rb"))
            for name in (PASSAGES if known else ())
        }
        for partition, contents in sorted(by_partition.items()):
            part: dict[str, Any] = {
                "made_from": _made_from(namespace, partition, contents, records)
            }
            old = known.get(partition, {})
            is_known = old.get("made_from") == part["made_from"]
            tables = () if is_known else join_passages(namespace, contents, records.passages)
            for name, table in zip_longest(PASSAGES, tables):
                start = outs[name].size
                if table is None:
                    olds[name].seek(old[name]["start"])
                    outs[name].write(olds[name].read(old[name]["bytes"]))
                else:
                    for line in _json_lines(table):
                        outs[name].write(line)
                rows = old[name]["rows"] if table is None else len(table)
                part[name] = {"start": start, "bytes": outs[name].size - start, "rows": rows}
                files[name]["rows"] += rows
            parts[partition] = part
    for name, out in outs.items():
        files[name]["sha256"] = out.digest.hexdigest()
    return files, parts


class _Digested:
    """A stream that is written, with the size and digest of what was."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self.size, self.digest = stream, 0, hashlib.sha256()

    def write(self, data: bytes) -> None:
        self._stream.write(data)
        self.digest.update(data)
        self.size += len(data)


def _intact_parts(folder: Path, before: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return where the lines of partitions stand, where both files are what was written."""
    for name in PASSAGES:
        try:
            with (folder / f"{name}.jsonl").open("rb") as stream:
                found = hashlib.file_digest(stream, "sha256").hexdigest()
        except FileNotFoundError:
            return {}
        if found != before.get(name, {}).get("sha256"):
            return {}
    found_parts: Mapping[str, Any] = before.get("partitions", {})
    return found_parts


def _made_from(
    namespace: Namespace,
    partition: str,
    contents: Mapping[str, DocumentFacts],
    records: RecordState,
) -> str:
    """Return the digest of all that the lines of a partition are a function of."""
    parents = read_entries(namespace.record("parents", partition))
    return hash_fields(
        PUBLISHING_VERSION,
        [
            (
                *lines_depend_on(namespace, fact),
                parents[content].digest,
                records.made[content].digest,
            )
            for content, fact in contents.items()
        ],
    )


def lines_depend_on(namespace: Namespace, fact: DocumentFacts) -> tuple[Any, ...]:
    """Return what of a document itself stands in its lines."""
    first = fact.living.first
    return (
        fact.doc_uid,
        fact.content_hash,
        fact.citable,
        sorted(fact.fields.items()),
        (fact.report or {})["doc_id"],
        (fact.title, fact.language),
        (source_id(namespace, first), first.source_type, first.source_subtype),
    )


def _json_lines(table: "pa.Table") -> Iterator[bytes]:
    kept = table.select([name for name in table.column_names if name not in _PROVENANCE])
    for batch in kept.to_batches(_ROWS_AT_ONCE):
        for row in batch.to_pylist():
            yield f"{json.dumps(row, ensure_ascii=False, default=str)}\n".encode()
