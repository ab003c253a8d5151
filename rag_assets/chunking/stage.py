"""The stages `parents` and `chunks`: passages of every parsed content, partition by partition."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag_assets.chunking.chunks import CHUNKING_VERSION, make_chunks
from rag_assets.chunking.parents import PARENTS_VERSION, make_parents
from rag_assets.chunking.tokenizer import Tokenizer
from rag_assets.model import (
    Chunk,
    DocumentStatus,
    Parent,
    Progress,
    StageOutcome,
    combine_digests,
    hash_fields,
    hash_text,
)
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

if TYPE_CHECKING:
    import pyarrow as pa


def parents_schema() -> "pa.Schema":
    """Return the schema of the record `parents`: the fields of Parent and the text's hash."""
    import pyarrow as pa

    page_start = pa.struct([("page", pa.int32()), ("start", pa.int64())])
    return pa.schema(
        [
            ("content_hash", pa.string()),
            ("order", pa.int32()),
            ("label", pa.string()),
            ("char_start", pa.int64()),
            ("char_end", pa.int64()),
            ("page_starts", pa.list_(page_start)),
            ("section_path", pa.list_(pa.string())),
            ("breaks", pa.list_(pa.int64())),
            ("text", pa.string()),
            ("hash", pa.string()),
        ]
    )


def chunks_schema() -> "pa.Schema":
    """Return the schema of the record `chunks`: the fields of Chunk and the text's hash."""
    import pyarrow as pa

    return pa.schema(
        [
            ("content_hash", pa.string()),
            ("order", pa.int32()),
            ("parent_label", pa.string()),
            ("char_start", pa.int64()),
            ("char_end", pa.int64()),
            ("page_start", pa.int32()),
            ("page_end", pa.int32()),
            ("section_path", pa.list_(pa.string())),
            ("token_count", pa.int32()),
            ("is_cut", pa.bool_()),
            ("text", pa.string()),
            ("chunk_hash", pa.string()),
        ]
    )


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
    rule = hash_fields(PARENTS_VERSION, settings.parent_tokens, tokenizer.fingerprint)

    def compute(partition: str, stale: Sequence[str]) -> Iterable[Computed]:
        import pyarrow as pa

        parses = parsed_contents(namespace, inventory, partition)
        for content in stale:
            name = parses[content].note["parsed_file"]
            document, _ = read_parsed(namespace.parsed_folder(partition) / name)
            parents = make_parents(document, settings, tokenizer.count)
            rows = [_parent_row(content, parent) for parent in parents]
            digest = combine_digests(hash_fields(*_parent_fields(row)) for row in rows)
            upstream = parses[content].digest
            entry = Entry(hash_fields(rule, upstream), digest, len(rows), {"of": upstream})
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
    """Cut the parents of every content whose parents or rules changed into chunks."""
    settings = namespace.settings.chunk
    rule = hash_fields(
        CHUNKING_VERSION,
        settings.target_tokens,
        settings.min_tokens,
        settings.max_tokens,
        settings.overlap,
        tokenizer.fingerprint,
    )

    def compute(partition: str, stale: Sequence[str]) -> Iterable[Computed]:
        import pyarrow as pa

        upstream = read_entries(namespace.record("parents", partition))
        parents = read_rows(namespace.record("parents", partition), parents_schema(), stale)
        by_content: dict[str, list[Parent]] = {content: [] for content in stale}
        for row in parents.to_pylist():
            by_content[row["content_hash"]].append(_parent_of(row))
        for content in stale:
            chunks = make_chunks(by_content[content], settings, tokenizer)
            rows = [_chunk_row(content, chunk) for chunk in chunks]
            digest = combine_digests(hash_fields(*_chunk_fields(row)) for row in rows)
            of = upstream[content].digest
            entry = Entry(hash_fields(rule, of), digest, len(rows), {"of": of})
            yield content, entry, pa.Table.from_pylist(rows, schema=chunks_schema())

    def wanted(partition: str) -> dict[str, str]:
        return upstream_fingerprints(namespace, inventory, partition, "parents", rule)

    stage = DocumentStage("chunks", chunks_schema(), wanted, compute)
    return stage.refresh(namespace, inventory, partitions, notify, on_progress)


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
    """

    name: str
    schema: "pa.Schema"
    wanted: Callable[[str], Mapping[str, str]]
    compute: Callable[[str, Sequence[str]], Iterable[Computed]]

    def refresh(
        self,
        namespace: Namespace,
        inventory: Inventory,
        partitions: Sequence[str],
        notify: Notify,
        on_progress: Progress | None,
    ) -> dict[str, StageOutcome]:
        """Refresh each partition in turn; returns the outcome by partition."""
        outcomes = {}
        for done, partition in enumerate(partitions):
            if on_progress:
                on_progress(self.name, done, len(partitions))
            started = time.monotonic()
            wanted = self.wanted(partition)
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
                contents[content].first.source_uri, "ok", "", {self.name: entries[content].rows}
            )
            for content in sorted(living, key=lambda c: contents[c].first.source_uri)
        )
        return StageOutcome(
            live_digest(entries, living),
            documents,
            {
                "documents": len(documents),
                self.name: sum(entries[content].rows for content in living),
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
            f"**{row['order']}** ({len(row['text'])} characters)\n\n> "
            + row["text"][:300].replace("\n", "\n> ")
            for row in rows.slice(0, 3).to_pylist()
        ]
        return "\n\n".join([f"**{contents[first].first.source_uri}**", *shown])


def _parent_row(content: str, parent: Parent) -> dict[str, Any]:
    return {
        "content_hash": content,
        "order": parent.order,
        "label": parent.label,
        "char_start": parent.char_start,
        "char_end": parent.char_end,
        "page_starts": [{"page": page, "start": start} for page, start in parent.page_starts],
        "section_path": list(parent.section_path),
        "breaks": list(parent.breaks),
        "text": parent.text,
        "hash": hash_text(parent.text),
    }


def _parent_fields(row: Mapping[str, Any]) -> list[Any]:
    return [value for name, value in row.items() if name not in {"content_hash", "text"}]


def _parent_of(row: Mapping[str, Any]) -> Parent:
    return Parent(
        row["label"],
        row["order"],
        row["char_start"],
        row["char_end"],
        row["text"],
        tuple((pair["page"], pair["start"]) for pair in row["page_starts"]),
        tuple(row["section_path"]),
        tuple(row["breaks"]),
    )


def _chunk_row(content: str, chunk: Chunk) -> dict[str, Any]:
    return {
        "content_hash": content,
        "order": chunk.order,
        "parent_label": chunk.parent_label,
        "char_start": chunk.char_start,
        "char_end": chunk.char_end,
        "page_start": chunk.page_start,
        "page_end": chunk.page_end,
        "section_path": list(chunk.section_path),
        "token_count": chunk.token_count,
        "is_cut": chunk.is_cut,
        "text": chunk.text,
        "chunk_hash": hash_text(chunk.text),
    }


def _chunk_fields(row: Mapping[str, Any]) -> list[Any]:
    return [value for name, value in row.items() if name not in {"content_hash", "text"}]
