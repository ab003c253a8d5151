"""What later stages want to know of the records before them."""

from collections.abc import Mapping
from pathlib import Path

from rag_assets.model import hash_fields
from rag_assets.storage import Entry, read_entries
from rag_assets.workspace import Inventory, Namespace

# The stage whose entries say of every content whether there is a text at all.
PARSES = "parse_reports"


def stage_lock(namespace: Namespace, stage: str, partition: str) -> Path:
    """Return the lock of one partition record."""
    return namespace.workspace.derived_locks / f"{namespace.name}.{stage}.{partition}.lock"


def claim_lock(namespace: Namespace, stage: str, partition: str) -> Path:
    """Return the lock of the run that computes a partition; nobody else waits for it."""
    return namespace.workspace.derived_locks / f"{namespace.name}.{stage}.{partition}.claim.lock"


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
