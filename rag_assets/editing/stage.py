"""The stage `chunk_edits`: published operations, applied to the chunks of their documents."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from rag_assets.chunking import (
    Tokenizer,
    chunks_schema,
    digested_fields,
    parents_schema,
    restore_parent,
)
from rag_assets.editing.folding import Cut, fold
from rag_assets.editing.journal import operations_digest
from rag_assets.editing.passages import STAGE, Passages
from rag_assets.editing.rows import cut_of, edited_rows, passages_schema
from rag_assets.model import (
    Parent,
    ParsedDocument,
    Progress,
    StageOutcome,
    combine_digests,
    count_of,
    hash_fields,
)
from rag_assets.parsing import read_parsed
from rag_assets.stages import PARSES, DocumentStage, parsed_contents
from rag_assets.storage import Computed, Entry, Notify, read_entries, read_rows
from rag_assets.workspace import Inventory, Namespace

# Counts as code: raise it when the same operations and chunks give other rows.
EDITING_VERSION = 2


def refresh_chunk_edits(
    namespace: Namespace,
    inventory: Inventory,
    partitions: Sequence[str],
    tokenizer: Tokenizer,
    notify: Notify,
    *,
    on_progress: Progress | None = None,
) -> dict[str, StageOutcome]:
    """Apply the published operations of every document that has any to its chunks.

    Operations that wait stand in the outcome's warnings and in the note of the content's entry.
    """
    passages = Passages(namespace, inventory)

    def compute(partition: str, stale: Sequence[str]) -> Iterable[Computed]:
        import pyarrow as pa

        chunks = read_entries(namespace.record("chunks", partition))
        for content in stale:
            uid, operations = passages.edited[content]
            made = read_made(namespace, partition, content)
            edited = fold(made.cut, operations)
            rows = edited_rows(
                content, made.document, made.cut, edited, made.chunks, made.parents,
                namespace.settings.chunk, tokenizer,
            )  # fmt: skip
            own = [
                (*digested_fields(row), row["edited"], row["is_enabled"], row["edited_by"])
                for row in rows
            ]
            waiting = [asdict(conflict) for conflict in edited.conflicts]
            digest = combine_digests([hash_fields(*each) for each in own] + [hash_fields(waiting)])
            note = {
                "of": chunks[content].digest,
                "doc_uid": uid,
                "enabled": sum(row["is_enabled"] for row in rows),
                "applied": list(edited.applied),
                "waiting": waiting,
                "oversized": [r["order"] for r in rows if r["input_tokens"] > tokenizer.limit],
            }
            entry = Entry(_fingerprint(operations, chunks[content]), digest, len(rows), note)
            yield content, entry, pa.Table.from_pylist(rows, schema=passages_schema())

    def wanted(partition: str) -> dict[str, str]:
        return _wanted(namespace, inventory, passages, partition)

    stage = DocumentStage(
        STAGE, passages_schema(), wanted, compute, lambda entry: len(entry.note["applied"])
    )
    outcomes = stage.refresh(namespace, inventory, partitions, notify, on_progress)
    return {
        partition: _with_waiting(passages, partition, outcome)
        for partition, outcome in outcomes.items()
    }


def has_stale_edits(namespace: Namespace, inventory: Inventory) -> bool:
    """Say whether `refresh_chunk_edits` would apply anything. Reads no document.

    Raises:
        DamagedFileError: a record is not what was written.
    """
    passages = Passages(namespace, inventory)
    for partition in sorted({namespace.partition_of(content) for content in passages.edited}):
        wanted = _wanted(namespace, inventory, passages, partition)
        held = read_entries(namespace.record(STAGE, partition)) if wanted else {}
        if any(c not in held or held[c].fingerprint != f for c, f in wanted.items()):
            return True
    return False


def _wanted(
    namespace: Namespace, inventory: Inventory, passages: Passages, partition: str
) -> dict[str, str]:
    own = [c for c in passages.edited if namespace.partition_of(c) == partition]
    chunks = cut_contents(namespace, inventory, partition) if own else {}
    return {
        content: _fingerprint(passages.edited[content][1], chunks[content])
        for content in own
        if content in chunks
    }


def cut_contents(namespace: Namespace, inventory: Inventory, partition: str) -> dict[str, Entry]:
    """Return the entries of the chunks that are of the parse that their content has now."""
    parses = parsed_contents(namespace, inventory, partition)
    parents = read_entries(namespace.record("parents", partition))
    return {
        content: entry
        for content, entry in read_entries(namespace.record("chunks", partition)).items()
        if content in parses
        and content in parents
        and parents[content].note["of"] == parses[content].digest
        and entry.note["of"] == parents[content].digest
    }


def _fingerprint(operations: Sequence[Any], chunks: Entry) -> str:
    # The chunks' own covers parse, parents, settings and tokenizer.
    return hash_fields(
        EDITING_VERSION, chunks.fingerprint, chunks.digest, operations_digest(operations)
    )


def _with_waiting(passages: Passages, partition: str, outcome: StageOutcome) -> StageOutcome:
    entries = passages.edit_entries(partition)
    waiting = {uid: note for uid, note in _notes(entries) if note["waiting"] or note["oversized"]}
    warnings = []
    for uid, note in sorted(waiting.items()):
        if note["waiting"]:
            warnings.append(
                f"{uid}: {count_of(len(note['waiting']), 'edit')} could not be applied to the text "
                f"as it is now and wait; `rag draft show {uid}` shows both texts"
            )
        if note["oversized"]:
            warnings.append(
                f"{uid}: edited passages are longer than the models read: "
                f"{', '.join(map(str, note['oversized']))}. Split them."
            )
    count = sum(len(note["waiting"]) for note in waiting.values())
    return replace(
        outcome,
        counts={**outcome.counts, "waiting": count},
        warnings=(*outcome.warnings, *warnings),
    )


def _notes(entries: Mapping[str, Entry]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    for entry in entries.values():
        yield entry.note["doc_uid"], entry.note


class Made:
    """What the stages before made of one content.

    Args:
        document: as parsed.
        parents: of it, in order.
        chunks: rows of `chunks_schema`, in order.
        cut: the same, for `fold`.
    """

    def __init__(
        self, document: ParsedDocument, parents: list[Parent], chunks: list[dict[str, Any]]
    ) -> None:
        self.document, self.parents, self.chunks = document, parents, chunks
        self.cut: Cut = cut_of(document, chunks, parents)


def read_made(namespace: Namespace, partition: str, content: str) -> Made:
    """Return what the stages before made of a content whose chunks stand in their record."""
    record = namespace.record
    # Another parser may have made the same parse since, in a file of another name.
    parse = read_entries(record(PARSES, partition))[content]
    above = read_entries(record("parents", partition))[content]
    name = (parse if parse.digest == above.note["of"] else above).note["parsed_file"]
    document, _ = read_parsed(namespace.parsed_folder(partition) / name)
    chunks = read_rows(record("chunks", partition), chunks_schema(), [content]).to_pylist()
    parents = read_rows(record("parents", partition), parents_schema(), [content]).to_pylist()
    return Made(document, [restore_parent(row) for row in parents], chunks)
