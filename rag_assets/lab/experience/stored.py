"""Items and extractions as rows, and as they are read."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from rag_assets.lab.experience.items import (
    BY_HAND,
    SCHEMA_VERSION,
    Item,
    fold_item,
    shown_item,
    voided_ids,
)
from rag_assets.lab.store import EntityKind, Event, Reading, Rows
from rag_assets.lab.store.tables import extractions, mem_edit_log
from rag_assets.model import UsageError, hash_fields

CITATION = "mem:"
Change = Literal["add", "update", "archive"]
_CHANGES: dict[str, Change] = {"created": "add", "joined": "update", "archived": "archive"}


@dataclass(frozen=True, slots=True)
class Extraction:
    """One learning of one feedback.

    Args:
        seq: the place of its event.
        run_id: the run whose feedback taught.
        record: what was asked of whom: version of the feedback, model, prompts, what came back.
    """

    id: str
    seq: int
    run_id: str
    status: Literal["made", "rolled_back"]
    made_at: str
    record: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Delta:
    """One change that an extraction made to the experience.

    Args:
        change: an item was added, updated (a lesson joined it) or archived.
        event_id: the event that did it, which a rollback voids.
        is_voided: whether it was taken back.
    """

    change: Change
    item_id: str
    event_id: str
    is_voided: bool


def find_item(reading: Reading, named: str) -> Item:
    """Return an item by its id or citation (`mem:<id>`), tombstones included.

    Raises:
        UsageError: there is none.
    """
    stream = reading.stream("item", named.removeprefix(CITATION))
    if not stream:
        raise UsageError(
            f"there is no item '{named}' in this laboratory. `rag lab experience list` shows them."
        )
    return fold_item(stream)


def list_items(reading: Reading, **equal: str) -> list[Item]:
    """Return the items of the given role, status, kind or type, oldest first."""
    # One query for all streams: there are thousands, and each is short.
    folded = [fold_item(stream) for stream in reading.streams("item").values()]
    return [
        item
        for item in folded
        if all(getattr(item, name) == value for name, value in equal.items())
    ]


def experience_digest(items: Sequence[Item]) -> str:
    """Return the digest of items as a run reads them: another one where one has changed."""
    return hash_fields([(item.id, item.version) for item in items])


def edit_log(reading: Reading, item_id: str | None = None) -> list[dict[str, Any]]:
    """Return what people did to items, before and after, in order; of all items without an id."""
    equal = {} if item_id is None else {"item_id": item_id.removeprefix(CITATION)}
    return sorted(reading.rows(mem_edit_log, **equal), key=lambda row: int(row["seq"]))


def list_extractions(reading: Reading, run_id: str) -> list[Extraction]:
    """Return the learnings of a run's feedback, oldest first."""
    found = [Extraction(**row) for row in reading.rows(extractions, run_id=run_id)]
    return sorted(found, key=lambda one: one.seq)


def living_extraction(reading: Reading, run_id: str) -> Extraction | None:
    """Return the learning of a run's feedback that holds; None where there is none."""
    living = [one for one in list_extractions(reading, run_id) if one.status == "made"]
    return living[-1] if living else None


def delta_of(reading: Reading, extraction_id: str) -> list[Delta]:
    """Return what an extraction changed, in order."""
    found = []
    for event in reading.caused_by(extraction_id):
        if event.entity == "item":
            voided = voided_ids(reading.stream("item", event.subject))
            change = _CHANGES[event.kind]
            found.append(Delta(change, event.subject, event.id, event.id in voided))
    return found


def _item_rows(subject: str, stream: Sequence[Event]) -> Rows:
    item = fold_item(stream)
    row = {
        "id": subject,
        "version": item.version,
        "role": item.role,
        "kind": item.kind,
        "type": item.type,
        "status": item.status,
        "rolled_back": int(item.rolled_back),
        "created_at": item.created_at,
        "updated_at": item.updated_at,
        "schema_version": SCHEMA_VERSION,
        "title": item.title,
        "description": item.description,
        "content": item.content,
        "extra_json": json.dumps(dict(item.extra), ensure_ascii=False, sort_keys=True),
        "moved_to": list(item.moved_to),
    }
    # A tombstone stands for nothing: its lessons are taken back, or stand elsewhere.
    lessons = () if item.rolled_back else item.lessons
    return {
        "items": [row],
        "lessons": [
            {
                "id": lesson.id,
                "item_id": subject,
                "place": place,
                "extraction_id": lesson.extraction_id,
                "source_run_id": lesson.run_id,
                "lesson": asdict(lesson),
            }
            for place, lesson in enumerate(lessons)
        ],
        "mem_edit_log": list(_log(subject, stream)),
    }


def _log(subject: str, stream: Sequence[Event]) -> list[dict[str, Any]]:
    rows = []
    for place, event in enumerate(stream):
        by_hand = event.cause is None and event.kind in {"created", *BY_HAND}
        if by_hand or event.kind == "rolled_back":
            before = shown_item(stream[:place]) if place else None
            after = shown_item(stream[: place + 1])
            rows.append(
                {
                    "event_id": event.id,
                    "seq": event.seq,
                    "item_id": subject,
                    "at": event.at,
                    "by": event.by,
                    "action": event.kind,
                    "before": before,
                    "after": after,
                    "reason": event.body.get("reason", ""),
                }
            )
    return rows


def _extraction_state(stream: Sequence[Event]) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for event in stream:
        match event.kind:
            case "made":
                state = {
                    "seq": event.seq,
                    "run_id": event.body["run_id"],
                    "status": "made",
                    "made_at": event.at,
                    "record": dict(event.body["record"]),
                }
            case "rolled_back":
                state["status"] = "rolled_back"
            case other:
                raise ValueError(f"an extraction knows no event '{other}'.")
    return state


def _extraction_rows(subject: str, stream: Sequence[Event]) -> Rows:
    return {"extractions": [{"id": subject, **_extraction_state(stream)}]}


ITEMS = EntityKind("item", _item_rows, shown_item)
EXTRACTIONS = EntityKind("extraction", _extraction_rows, _extraction_state)
