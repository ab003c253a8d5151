"""What people did to chunks, as rows of the published table `chunk_edits`."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from rag_assets.editing import Passages, read_histories
from rag_assets.publishing.facts import DocumentFacts
from rag_assets.publishing.lasting_ids import citation_ids
from rag_assets.storage import Entry
from rag_assets.workspace import Namespace

_COLUMNS = ("chunk_hash", "edited_by", "is_enabled")


def edit_rows(
    namespace: Namespace,
    published: Mapping[str, DocumentFacts],
    passages: Passages,
    made: Mapping[str, Entry],
) -> Iterator[dict[str, Any]]:
    """Yield a row for each edit of the published documents.

    Args:
        published: by content.
        passages: reads their chunks.
        made: the entry of each content's passages.
    """
    edited = {c: edits for c, edits in passages.edited.items() if c in published}
    histories = read_histories(namespace) if edited else {}
    for content, (uid, operations) in edited.items():
        events = {event.number: event for event in histories[uid].events}
        waiting = {each["number"]: each for each in made[content].note["waiting"]}
        enabled, disabled = _ids_by_edit(namespace, passages, content, uid)
        for each in operations:
            waits, event = waiting.get(each.number, {}), events[each.number]
            yield {
                "edit_key": f"{namespace.name}::{uid}::{each.number}",
                "namespace": namespace.name,
                "doc_uid": uid,
                "number": each.number,
                "kind": each.operation.kind,
                "status": "waiting" if waits else "applied",
                "waits_because": waits.get("reason"),
                "seen": each.operation.seen,
                "now": waits.get("now"),
                "citation_ids": [*enabled[each.number], *disabled[each.number]],
                "disabled_ids": disabled[each.number],
                "edited_by": event.by,
                "edited_at": event.at,
                "edited_because": event.reason,
            }


def _ids_by_edit(
    namespace: Namespace, passages: Passages, content: str, uid: str
) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    """Return the citation ids of the passages that each operation made, found and disabled."""
    partition = namespace.partition_of(content)
    rows = pa.concat_tables(
        [
            read.select(_COLUMNS)
            for read in (
                passages.rows(partition, [content]),
                passages.disabled(partition, [content]),
            )
        ]
    ).to_pylist()
    ids = citation_ids(namespace.name, [uid] * len(rows), [row["chunk_hash"] for row in rows])
    enabled, disabled = defaultdict[int, list[str]](list), defaultdict[int, list[str]](list)
    for row, citation_id in zip(rows, ids, strict=True):
        for number in row["edited_by"] or ():
            (enabled if row["is_enabled"] else disabled)[number].append(citation_id)
    return enabled, disabled
