"""What commands made of questions and nobody has told Dagster of yet: its import takes seconds.

`rag query` and `rag ask` leave a note; the next run and the sensors of `rag ui`
make materializations of them.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from rag_assets.evidence.asking import AskOutcome
from rag_assets.evidence.pack import pack_from_json
from rag_assets.model import DamagedFileError
from rag_assets.storage import find_json, match_keys, put_json, read_json
from rag_assets.workspace import Workspace

_NOTES = "meta/unrecorded/"

_log = logging.getLogger(__name__)
_Outcome = TypeVar("_Outcome")


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
    """Yield the packs of which there are notes, as `take_notes`."""
    return take_notes(workspace, _NOTES, "a pack", _read)


def take_notes(
    workspace: Workspace,
    notes: str,
    what: str,
    read: Callable[[Workspace, Mapping[str, Any]], _Outcome | None],
) -> Iterator[_Outcome]:
    """Yield what commands have made and noted; a note is taken away once its output was used.

    One whose output is gone from `outputs/` is taken away too; one that is damaged likewise, and
    told in the log: the output itself is there for whoever looks for it.

    Args:
        notes: what the keys of the notes begin with.
        what: names an output for a reader.
        read: returns the output of a note; None where it is gone.
    """
    store = workspace.store
    for key in [each.key for each in match_keys(store, f"{notes}*.json")]:
        outcome = None
        try:
            said = find_json(store, key, f"note of {what}")
            if said is not None:  # else another process was faster
                outcome = read(workspace, said)
        except (DamagedFileError, KeyError) as error:
            _log.warning(
                "%s: %s is not shown in Dagster's history (%s)", store.place(key), what, error
            )
        if outcome is not None:
            yield outcome
        store.delete(key)


def _read(workspace: Workspace, said: Mapping[str, Any]) -> AskOutcome | None:
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
