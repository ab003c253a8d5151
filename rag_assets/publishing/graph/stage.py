"""The stage `entities`: what each passage names, found by rules."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from rag_assets.chunking.editing import Passages
from rag_assets.model import Progress, StageOutcome, combine_digests, hash_fields
from rag_assets.publishing.graph.finding import entity_rules, find_mentions
from rag_assets.storage import Computed, Entry, Notify
from rag_assets.workspace import Inventory, Namespace
from rag_assets.workspace.stages import DocumentStage, fingerprints_over, is_stale

if TYPE_CHECKING:
    import pyarrow as pa

STAGE = "entities"
# Counts as code: raise it when the same passages give other rows.
ENTITIES_VERSION = 3
# What a list of references names is who wrote, not what is spoken of.
_LEFT_OUT = frozenset({"reference"})


def mentions_schema() -> "pa.Schema":
    """Return the schema of the record `entities`: a row for each mention.

    `order` is of the passage; places are half-open code points in the passage as it is read (the
    edited text where there is one), of the mention and of its sentence.
    """
    import pyarrow as pa

    return pa.schema(
        [
            ("content_hash", pa.string()),
            ("order", pa.int32()),
            ("entity", pa.string()),
            ("name", pa.string()),
            ("rule", pa.string()),
            *((name, pa.int32()) for name in ("start", "end", "sentence_start", "sentence_end")),
        ]
    )


def refresh_entities(
    namespace: Namespace,
    inventory: Inventory,
    partitions: Sequence[str],
    notify: Notify,
    *,
    on_progress: Progress | None = None,
) -> dict[str, StageOutcome]:
    """Find the entities of every document whose passages have changed."""
    passages = Passages(namespace, inventory)
    rules = entity_rules(namespace.settings.graph.names)

    def compute(partition: str, stale: Sequence[str]) -> Iterable[Computed]:
        import pyarrow as pa

        entries = passages.entries(partition)
        for content in stale:
            of = entries[content].digest
            read = passages.rows(partition, [content], ["order", "kind", "text", "edited"])
            given = [
                (row["order"], row["text"] if row["edited"] is None else row["edited"])
                for row in read.to_pylist()
                if row["kind"] not in _LEFT_OUT
            ]
            rows = [
                (content, order, m.entity, m.name, m.rule, m.start, m.end, *m.sentence)
                for (order, _), own in zip(
                    given, find_mentions([text for _, text in given], rules), strict=True
                )
                for m in own
            ]
            names = mentions_schema().names
            table = pa.Table.from_pylist(
                [dict(zip(names, row, strict=True)) for row in rows], schema=mentions_schema()
            )
            digest = combine_digests(hash_fields(*row[1:]) for row in rows)
            yield (
                content,
                Entry(hash_fields(_rule(namespace), of), digest, len(rows), {"of": of}),
                table,
            )

    stage = DocumentStage(
        STAGE, mentions_schema(), partial(_wanted, namespace, inventory, passages), compute
    )
    return stage.refresh(namespace, inventory, partitions, notify, on_progress)


def has_stale_entities(namespace: Namespace, inventory: Inventory) -> bool:
    """Say whether `refresh_entities` would look at anything. Reads no passage.

    Raises:
        DamagedFileError: a record is not what was written.
    """
    passages = Passages(namespace, inventory)
    return any(
        is_stale(namespace, STAGE, key, _wanted(namespace, inventory, passages, key))
        for key in namespace.partition_keys
    )


def _wanted(
    namespace: Namespace, inventory: Inventory, passages: Passages, partition: str
) -> dict[str, str]:
    return fingerprints_over(
        namespace, inventory, partition, passages.entries(partition), _rule(namespace)
    )


def _rule(namespace: Namespace) -> str:
    names = namespace.settings.graph.names
    return hash_fields(STAGE, ENTITIES_VERSION, *([names] if names else []))
