"""The stages `parents` and `chunks`: passages of every parsed content, partition by partition."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from rag_assets.chunking.chunks import CHUNKING_VERSION, make_chunks
from rag_assets.chunking.parents import PARENTS_VERSION, make_parents
from rag_assets.chunking.preprocess import PREPROCESS_VERSION
from rag_assets.chunking.rows import (
    chunk_row,
    chunks_schema,
    digested_fields,
    parent_row,
    parents_schema,
    restore_parent,
)
from rag_assets.chunking.tokenizer import Tokenizer
from rag_assets.model import (
    DocumentStatus,
    Parent,
    Progress,
    StageOutcome,
    combine_digests,
    hash_fields,
)
from rag_assets.model.markdown import code_span, fence
from rag_assets.parsing.stage import parsed_contents, stage_lock
from rag_assets.parsing.stored import read_parsed
from rag_assets.storage import (
    Computed,
    Entry,
    Notify,
    Refreshed,
    live_digest,
    read_entries,
    read_rows,
    refresh_record,
)
from rag_assets.workspace import Inventory, Namespace, newest_expired
from rag_assets.workspace.settings import ChunkSettings

if TYPE_CHECKING:
    import pyarrow as pa


def refresh_parents(
    namespace: Namespace,
    inventory: Inventory,
    partitions: Sequence[str],
    tokenizer: Tokenizer,
    notify: Notify,
    *,
    on_progress: Progress | None = None,
) -> dict[str, StageOutcome]:
    """Make the parents of every parsed content whose parse or rules changed."""
    settings = namespace.settings.chunk
    rule = _parents_rule(settings, tokenizer)

    def compute(partition: str, stale: Sequence[str]) -> Iterable[Computed]:
        import pyarrow as pa

        parses = parsed_contents(namespace, inventory, partition)
        for content in stale:
            name = parses[content].note["parsed_file"]
            document, _ = read_parsed(namespace.parsed_folder(partition) / name)
            parents = make_parents(document, settings, tokenizer.count)
            rows = [parent_row(content, parent) for parent in parents]
            upstream = parses[content].digest
            # The chunks read the parse too: where it changes, so does what they are made of.
            digest = combine_digests(
                [upstream, *(hash_fields(*digested_fields(row)) for row in rows)]
            )
            note = {"of": upstream, "parsed_file": name}
            entry = Entry(hash_fields(rule, upstream), digest, len(rows), note)
            yield content, entry, pa.Table.from_pylist(rows, schema=parents_schema())

    def wanted(partition: str) -> dict[str, str]:
        parses = parsed_contents(namespace, inventory, partition)
        return {content: hash_fields(rule, entry.digest) for content, entry in parses.items()}

    stage = DocumentStage("parents", parents_schema(), wanted, compute)
    return stage.refresh(namespace, inventory, partitions, notify, on_progress)


def refresh_chunks(
    namespace: Namespace,
    inventory: Inventory,
    partitions: Sequence[str],
    tokenizer: Tokenizer,
    notify: Notify,
    *,
    on_progress: Progress | None = None,
) -> dict[str, StageOutcome]:
    """Cut every content whose parse, parents or rules changed into chunks.

    A content whose parents are those of an earlier parse waits for its parents.
    """
    settings = namespace.settings.chunk
    rule = _chunks_rule(settings, tokenizer)

    def compute(partition: str, stale: Sequence[str]) -> Iterable[Computed]:
        import pyarrow as pa

        upstream = read_entries(namespace.record("parents", partition))
        parents = read_rows(namespace.record("parents", partition), parents_schema(), stale)
        by_content: dict[str, list[Parent]] = {content: [] for content in stale}
        for row in parents.to_pylist():
            by_content[row["content_hash"]].append(restore_parent(row))
        for content in stale:
            name = upstream[content].note["parsed_file"]
            document, _ = read_parsed(namespace.parsed_folder(partition) / name)
            chunks = make_chunks(document, by_content[content], settings, tokenizer)
            rows = [chunk_row(content, chunk) for chunk in chunks]
            digest = combine_digests(hash_fields(*digested_fields(row)) for row in rows)
            of = upstream[content].digest
            entry = Entry(hash_fields(rule, of), digest, len(rows), {"of": of})
            yield content, entry, pa.Table.from_pylist(rows, schema=chunks_schema())

    def wanted(partition: str) -> dict[str, str]:
        parses = parsed_contents(namespace, inventory, partition)
        parents = read_entries(namespace.record("parents", partition))
        return {
            content: hash_fields(rule, parents[content].digest)
            for content, parse in parses.items()
            if content in parents and parents[content].note["of"] == parse.digest
        }

    stage = DocumentStage("chunks", chunks_schema(), wanted, compute)
    return stage.refresh(namespace, inventory, partitions, notify, on_progress)


def has_stale_chunks(namespace: Namespace, inventory: Inventory, tokenizer: Tokenizer) -> bool:
    """Say whether `refresh_parents` or `refresh_chunks` would make anything. Reads no document.

    Raises:
        DamagedFileError: a record is not what was written.
    """
    settings = namespace.settings.chunk
    rules = {
        "parents": _parents_rule(settings, tokenizer),
        "chunks": _chunks_rule(settings, tokenizer),
    }
    for partition in namespace.partition_keys:
        above = parsed_contents(namespace, inventory, partition)
        for stage, rule in rules.items() if above else ():
            held = read_entries(namespace.record(stage, partition))
            for content, entry in above.items():
                fingerprint = hash_fields(rule, entry.digest)
                if content not in held or held[content].fingerprint != fingerprint:
                    return True
            above = {content: held[content] for content in above}
    return False


def _parents_rule(settings: ChunkSettings, tokenizer: Tokenizer) -> str:
    return hash_fields(
        PARENTS_VERSION,
        settings.mode == "qa",
        settings.parents,
        settings.parent_tokens,
        tokenizer.fingerprint,
    )


def _chunks_rule(settings: ChunkSettings, tokenizer: Tokenizer) -> str:
    return hash_fields(
        CHUNKING_VERSION, PREPROCESS_VERSION, settings.model_dump(), tokenizer.fingerprint
    )


def upstream_fingerprints(
    namespace: Namespace, inventory: Inventory, partition: str, upstream: str, rule: str
) -> dict[str, str]:
    """Return content → fingerprint: the rule of a stage over the digest of the stage before it."""
    entries = read_entries(namespace.record(upstream, partition))
    return {
        content: hash_fields(rule, entries[content].digest)
        for content in parsed_contents(namespace, inventory, partition)
        if content in entries
    }


@dataclass(frozen=True)
class DocumentStage:
    """What every stage over documents has in common: refresh a record and report it.

    Args:
        wanted: partition → content → fingerprint of its living, parsed contents.
        compute: the rows of stale contents of a partition.
        size: what is counted of a content; its rows where nothing else is said.
    """

    name: str
    schema: "pa.Schema"
    wanted: Callable[[str], Mapping[str, str]]
    compute: Callable[[str, Sequence[str]], Iterable[Computed]]
    size: Callable[[Entry], int] = attrgetter("rows")

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
        living = {partition: self.wanted(partition) for partition in partitions}
        total = sum(map(len, living.values()))
        done = 0
        for partition, wanted in living.items():
            if on_progress and total:
                on_progress(self.name, done, total)
            done += len(wanted)
            started = time.monotonic()
            path = namespace.record(self.name, partition)
            refreshed = refresh_record(
                path,
                stage_lock(namespace, self.name, partition),
                self.schema,
                wanted,
                lambda: newest_expired(namespace),
                lambda stale, key=partition: self.compute(key, stale),  # type: ignore[misc]
                notify,
            )
            seconds = time.monotonic() - started
            outcomes[partition] = self._describe(
                namespace, inventory, partition, wanted, refreshed, seconds
            )
        return outcomes

    def _describe(
        self,
        namespace: Namespace,
        inventory: Inventory,
        partition: str,
        living: Collection[str],
        refreshed: Refreshed,
        seconds: float,
    ) -> StageOutcome:
        contents = inventory.partition(namespace, partition)
        entries = refreshed.entries
        documents = tuple(
            DocumentStatus(
                contents[content].first.source_uri,
                "ok",
                "",
                {self.name: self.size(entries[content])},
            )
            for content in sorted(living, key=lambda c: contents[c].first.source_uri)
        )
        return StageOutcome(
            live_digest(entries, living),
            documents,
            {
                "documents": len(documents),
                self.name: sum(self.size(entries[content]) for content in living),
            },
            len(refreshed.computed),
            seconds,
            (refreshed.mended,) if refreshed.mended else (),
            self._preview(namespace, partition, contents, living),
        )

    def _preview(
        self,
        namespace: Namespace,
        partition: str,
        contents: Mapping[str, Any],
        living: Collection[str],
    ) -> str:
        """Return the first rows of the first document, as Markdown."""
        if "text" not in self.schema.names or not living:
            return ""
        first = min(living, key=lambda c: contents[c].first.source_uri)
        rows = read_rows(
            namespace.record(self.name, partition), self.schema, [first], ["order", "text"]
        )
        shown = [
            f"**{row['order']}** ({len(row['text'])} characters)\n\n{fence(row['text'][:300])}"
            for row in rows.slice(0, 3).to_pylist()
        ]
        return "\n\n".join([code_span(contents[first].first.source_uri), *shown])
