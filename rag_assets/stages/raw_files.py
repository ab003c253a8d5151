"""The stage `raw_files`: the living files of each partition, read from the inventory alone."""

from collections.abc import Sequence

from rag_assets.model import DocumentStatus, StageOutcome, combine_digests
from rag_assets.workspace import Inventory, Namespace


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
