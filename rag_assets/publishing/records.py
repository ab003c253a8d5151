"""What the records of a namespace hold of its living contents, and what of it can be published."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from rag_assets.chunking.editing import Passages, edits_digest
from rag_assets.embedding.stage import count_unknown_vectors
from rag_assets.law.versions import LAWS_KEY
from rag_assets.model import hash_fields
from rag_assets.parsing import read_reports
from rag_assets.publishing.facts import DocumentFacts, gather_facts
from rag_assets.storage import Entry, live_digest, read_entries, read_once
from rag_assets.workspace import (
    Inventory,
    Namespace,
    current_identities,
    current_overrides,
    read_journal,
    require_inventory,
)
from rag_assets.workspace.stages import PARSES, published_stages, recorded, switched_on, way_to


@dataclass(frozen=True, slots=True)
class RecordState:
    """What the records of a namespace hold of its living contents.

    Args:
        facts: every living content with its status.
        digests: of each stage, over what a publication takes from it.
        encoded: for each content whose chunks are up to date, the configured models that have
            looked at all of them. The vectors of others are still to come.
        passages: reads the passages themselves.
        made: the entry of each content's passages, as they were cut or edited.
        named: contents whose entities are those of these passages; None where the settings want
            no entities.
    """

    facts: list[DocumentFacts]
    digests: dict[str, str]
    encoded: Mapping[str, frozenset[str]]
    passages: Passages = field(repr=False)
    made: Mapping[str, Entry] = field(repr=False)
    named: Collection[str] | None = None


def collect(namespace: Namespace, inventory: Inventory, models: Collection[str]) -> RecordState:
    """Return every living content with its status, and what each stage has of it.

    A content is published as soon as its chunks are up to date, with the vectors that are there.

    Args:
        models: fingerprints of the configured models; their order does not matter.
    """
    stages = switched_on(published_stages(), namespace.settings)
    files = [namespace.record(stage, key) for stage in stages for key in namespace.partition_keys]
    # An inventory is kept with what was made of it, so that no other has its id.
    what = (id(inventory), frozenset(models), edits_digest(namespace))
    return read_once(
        [namespace.journal, *files], what, lambda: _collect(namespace, inventory, models, stages)
    )


def _collect(
    namespace: Namespace, inventory: Inventory, models: Collection[str], stages: Collection[str]
) -> RecordState:
    entries: dict[str, dict[str, Entry]] = {stage: {} for stage in stages}
    reports: dict[str, dict[str, Any]] = {}
    passages = Passages(namespace, inventory)
    for partition in namespace.partition_keys:
        living = inventory.partition(namespace, partition)
        if not living:
            continue
        for stage, held in entries.items():
            if stage == "chunk_edits":
                found = passages.edit_entries(partition)
            else:
                found = read_entries(namespace.record(stage, partition))
            held.update((c, e) for c, e in found.items() if c in living)
        for row in read_reports(namespace, partition, living):
            reports[row["content_hash"]] = row
    edited = entries["chunk_edits"]
    made = {
        content: edited.get(content, entry)
        for content, entry in entries["chunks"].items()
        if content in edited or content not in passages.edited
    }
    way = recorded(way_to("chunks"))
    encoded = {
        content: _models_of(entries, made[content], content) & frozenset(models)
        for content in made
        if _is_chain([entries[stage].get(content) for stage in way])
    }
    entries["embeddings"] = {
        content: _only(entries["embeddings"][content], chosen, models)
        for content, chosen in encoded.items()
        if chosen
    }
    named = entries.get("entities")
    if named is not None:
        named = entries["entities"] = {
            content: entry
            for content, entry in named.items()
            if content in encoded and entry.note["of"] == made[content].digest
        }
    facts = gather_facts(
        inventory,
        current_identities(namespace, inventory),
        read_journal(namespace.journal),
        current_overrides(namespace),
        reports,
        encoded.keys(),
        {content: entries["chunks"][content].note.get(LAWS_KEY, ()) for content in encoded},
    )
    parsed = {c for c, row in reports.items() if row["status"] == "ok"}
    digests = {
        stage: live_digest(found, inventory.contents if stage == PARSES else parsed)
        for stage, found in entries.items()
    }
    return RecordState(
        facts, digests, encoded, passages, made, None if named is None else frozenset(named)
    )


def count_lacking(namespace: Namespace, models: Sequence[str]) -> int:
    """Return how many vectors of passages that can be published are still to be made.

    A vector that any record of the namespace holds for the same text is not: who edits one
    sentence of a long text lacks one.

    Args:
        models: fingerprints of the configured models.
    """
    records = collect(namespace, require_inventory(namespace), models)
    lacking = [
        fact.content_hash
        for fact in records.facts
        if fact.status == "published" and len(records.encoded[fact.content_hash]) < len(models)
    ]
    return count_unknown_vectors(namespace, records.passages, lacking, models) if lacking else 0


def _is_chain(chain: Sequence[Entry | None]) -> bool:
    """Say whether a content's entries, from its parse to its chunks, were made of each other."""
    return all(
        before is not None and after is not None and after.note["of"] == before.digest
        for before, after in pairwise(chain)
    )


def _models_of(entries: dict[str, dict[str, Entry]], made: Entry, content: str) -> frozenset[str]:
    """Return the models that have looked at the passages that a content has now."""
    entry = entries["embeddings"].get(content)
    is_current = entry is not None and entry.note["of"] == made.digest
    return frozenset(entry.note["models"]) if entry is not None and is_current else frozenset()


def _only(entry: Entry, chosen: Collection[str], models: Collection[str]) -> Entry:
    """Return an entry with the digest of what is published of it: some of its models or all."""
    if len(chosen) == len(models) == len(entry.note["models"]):
        return entry
    return replace(entry, digest=hash_fields("of some models", entry.digest, sorted(chosen)))
