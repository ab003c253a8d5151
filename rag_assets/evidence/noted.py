"""Packs that a command made and nobody has told Dagster of yet: its import takes seconds.

`rag query` leaves a note; the next run and the sensors of `rag ui` make materializations of them.
"""

import logging
from collections.abc import Iterator
from typing import Any

from rag_assets.evidence.asking import AskOutcome
from rag_assets.evidence.pack import pack_from_json
from rag_assets.model import DamagedFileError
from rag_assets.storage import find_json, match_keys, put_json, read_json
from rag_assets.workspace import Workspace

_NOTES = "meta/unrecorded/"

_log = logging.getLogger(__name__)


def note_pack(workspace: Workspace, outcome: AskOutcome) -> None:
    """Leave a note of a pack. One of the same question takes the place of that before."""
    said = {
        "json": str(outcome.json.relative_to(workspace.root)),
        "html": str(outcome.html.relative_to(workspace.root)) if outcome.html else None,
        "is_new": outcome.is_new,
        "key": outcome.key,
        "seconds": outcome.seconds,
    }
    put_json(workspace.store, f"{_NOTES}{outcome.key}.json", said)


def noted_packs(workspace: Workspace) -> Iterator[AskOutcome]:
    """Yield the packs of which there are notes; a note is taken away once its pack was used.

    One whose pack is gone from `outputs/` is taken away too; one that is damaged likewise, and told
    in the log: the pack itself is there for whoever looks for it.
    """
    store = workspace.store
    for key in [each.key for each in match_keys(store, f"{_NOTES}*.json")]:
        try:
            outcome = _read(workspace, key)
        except (DamagedFileError, KeyError) as error:
            _log.warning(
                "%s: a pack is not shown in Dagster's history (%s)", store.place(key), error
            )
            outcome = None
        if outcome is not None:
            yield outcome
        store.delete(key)


def _read(workspace: Workspace, key: str) -> AskOutcome | None:
    said: Any = find_json(workspace.store, key, "note of a pack")
    if said is None:  # another process was faster
        return None
    stored = workspace.root / said["json"]
    if not stored.is_file():
        return None
    return AskOutcome(
        pack_from_json(read_json(stored, "evidence pack")),
        stored.with_suffix(".md"),
        stored,
        said["is_new"],
        said["key"],
        said["seconds"],
        workspace.root / said["html"] if said["html"] else None,
    )
