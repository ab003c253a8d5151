"""The frame of a content-hash stage: refresh the record of each partition, and report it."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.model import DocumentStatus, Progress, StageOutcome, combine_digests, hash_fields
from rag_assets.model.markdown import code_span, fence
from rag_assets.storage import (
    Computed,
    Entry,
    Notify,
    Refreshed,
    live_digest,
    read_entries,
    read_rows,
    refresh_record,
    stale_contents,
)
from rag_assets.workspace import Inventory, LivingContent, Namespace, newest_expired

if TYPE_CHECKING:
    import pyarrow as pa
# The stage whose entries say of every content whether there is a text at all.
PARSES = "parse_reports"


def stage_lock(namespace: Namespace, stage: str, partition: str) -> Path:
    """Return the lock of one partition record."""
    return namespace.workspace.derived_locks / f"{namespace.name}.{stage}.{partition}.lock"


def claim_lock(namespace: Namespace, stage: str, partition: str) -> Path:
    """Return the lock of the run that computes a partition; nobody else waits for it."""
    return namespace.workspace.derived_locks / f"{namespace.name}.{stage}.{partition}.claim.lock"


def is_stale(namespace: Namespace, stage: str, partition: str, wanted: Mapping[str, str]) -> bool:
    """Say whether a partition's record lacks a content of its wanted fingerprint."""
    path = namespace.record(stage, partition)
    return bool(wanted) and bool(stale_contents(read_entries(path), wanted))


def parsed_contents(namespace: Namespace, inventory: Inventory, partition: str) -> dict[str, Entry]:
    """Return the entries of a partition's living contents that were parsed."""
    entries = read_entries(namespace.record(PARSES, partition))
    return {
        content: entries[content]
        for content in inventory.partition(namespace, partition)
        if content in entries and entries[content].note["status"] == "ok"
    }


def upstream_fingerprints(
    namespace: Namespace, inventory: Inventory, partition: str, upstream: str, rule: str
) -> dict[str, str]:
    """Return content → fingerprint: the rule of a stage over the digest of the stage before it."""
    entries = read_entries(namespace.record(upstream, partition))
    return fingerprints_over(namespace, inventory, partition, entries, rule)


def fingerprints_over(
    namespace: Namespace,
    inventory: Inventory,
    partition: str,
    entries: Mapping[str, Entry],
    rule: str,
) -> dict[str, str]:
    """Return what `upstream_fingerprints` does, over entries that are known."""
    return {
        content: hash_fields(rule, entries[content].digest)
        for content in parsed_contents(namespace, inventory, partition)
        if content in entries
    }


def describe_raw_files(
    namespace: Namespace, inventory: Inventory, partitions: Sequence[str]
) -> dict[str, StageOutcome]:
    """Return, by partition, which files the later stages work on. Nothing is written or read."""
    outcomes = {}
    for partition in partitions:
        living = inventory.partition(namespace, partition)
        documents = tuple(
            DocumentStatus(
                source.source_uri,
                "ok",
                "",
                {"bytes": source.size, "content": content[:12], "type": source.source_type},
            )
            for content, document in living.items()
            for source in document.sources
        )
        outcomes[partition] = StageOutcome(
            combine_digests(living),
            tuple(sorted(documents, key=lambda document: document.name)),
            {
                "documents": len(living),
                "files": len(documents),
                "bytes": sum(document.first.size for document in living.values()),
            },
            0,
            0.0,
        )
    return outcomes


# Of a partition's first document, what the UI shows: rows, and characters of each.
_PREVIEW_ROWS, _PREVIEW_CHARACTERS = 3, 300


@dataclass(frozen=True)
class DocumentStage:
    """A stage that makes rows of every parsed content.

    Args:
        name: as in the list of stages.
        wanted: partition → content → fingerprint of its living, parsed contents.
        compute: the rows of stale contents of a partition.
        size: what is counted of a content; its rows where nothing else is said.
        prepared: does before a partition's lock is taken what takes long, and ends when its
            record is written.
    """

    name: str
    schema: "pa.Schema"
    wanted: Callable[[str], Mapping[str, str]]
    compute: Callable[[str, Sequence[str]], Iterable[Computed]]
    size: Callable[[Entry], int] = attrgetter("rows")
    prepared: Callable[[str], AbstractContextManager[None]] = lambda _: nullcontext()

    def refresh(
        self,
        namespace: Namespace,
        inventory: Inventory,
        partitions: Sequence[str],
        notify: Notify,
        on_progress: Progress | None,
    ) -> dict[str, StageOutcome]:
        """Refresh each partition in turn; returns the outcome by partition."""
        outcomes: dict[str, StageOutcome] = {}
        all_wanted = {partition: self.wanted(partition) for partition in partitions}
        total = sum(map(len, all_wanted.values()))
        done = 0
        for partition, wanted in all_wanted.items():
            if on_progress and total:
                on_progress(self.name, done, total)
            done += len(wanted)
            started = time.monotonic()
            with self.prepared(partition):
                refreshed = refresh_record(
                    namespace.record(self.name, partition),
                    stage_lock(namespace, self.name, partition),
                    self.schema,
                    wanted,
                    lambda: newest_expired(namespace),
                    lambda stale, key=partition: self.compute(key, stale),  # type: ignore[misc]
                    notify,
                )
            seconds = time.monotonic() - started
            living = inventory.partition(namespace, partition)
            outcomes[partition] = describe_partition(
                refreshed,
                {content: living[content] for content in wanted},
                self._status,
                lambda documents: {
                    self.name: sum(int(document.figures[self.name]) for document in documents)
                },
                seconds,
                self._preview(namespace, partition, living, wanted),
            )
        return outcomes

    def _status(self, content: LivingContent, entry: Entry) -> DocumentStatus:
        return DocumentStatus(content.first.source_uri, "ok", "", {self.name: self.size(entry)})

    def _preview(
        self,
        namespace: Namespace,
        partition: str,
        living: Mapping[str, LivingContent],
        contents: Collection[str],
    ) -> str:
        """Return the first rows of the first document, as Markdown."""
        if not {"order", "text"} <= set(self.schema.names) or not contents:
            return ""
        first = min(contents, key=lambda c: living[c].first.source_uri)
        rows = read_rows(
            namespace.record(self.name, partition), self.schema, [first], ["order", "text"]
        )
        shown = [
            f"**{row['order']}** ({len(row['text'])} characters)\n\n"
            f"{fence(row['text'][:_PREVIEW_CHARACTERS])}"
            for row in rows.slice(0, _PREVIEW_ROWS).to_pylist()
        ]
        return "\n\n".join([code_span(living[first].first.source_uri), *shown])


def describe_partition(
    refreshed: Refreshed,
    living: Mapping[str, LivingContent],
    status: Callable[[LivingContent, Entry], DocumentStatus],
    count: Callable[[Sequence[DocumentStatus]], Mapping[str, int]],
    seconds: float,
    preview: str,
) -> StageOutcome:
    """Return what is reported of a partition: its documents by name, and what they come to.

    Args:
        refreshed: its record as it stands now.
        living: the contents that are reported; those without an entry are left out.
        status: what is said of a content.
        count: what is counted over all of them, besides the documents.
        seconds: that the partition took.
        preview: Markdown.
    """
    entries = refreshed.entries
    documents = tuple(
        status(living[content], entries[content])
        for content in sorted(living, key=lambda content: living[content].first.source_uri)
        if content in entries
    )
    return StageOutcome(
        live_digest(entries, living),
        documents,
        {"documents": len(documents), **count(documents)},
        len(refreshed.computed),
        seconds,
        (refreshed.mended,) if refreshed.mended else (),
        preview,
    )
