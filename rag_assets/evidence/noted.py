"""Packs that a command made and nobody has told Dagster of yet: its import takes seconds.

`rag query` leaves a note; the next run and the sensors of `rag ui` make materializations of them.
"""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rag_assets.evidence.asking import AskOutcome
from rag_assets.evidence.pack import pack_from_json
from rag_assets.model import DamagedFileError
from rag_assets.storage import read_json, write_text
from rag_assets.workspace import Workspace

_FOLDER = "unrecorded"

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
    write_text(workspace.meta / _FOLDER / f"{outcome.key}.json", json.dumps(said, indent=1) + "\n")


def noted_packs(workspace: Workspace) -> Iterator[AskOutcome]:
    """Yield the packs of which there are notes; a note is taken away once its pack was used.

    One whose pack is gone from `outputs/` is taken away too; one that is damaged likewise, and told
    in the log: the pack itself is there for whoever looks for it.
    """
    for note in sorted((workspace.meta / _FOLDER).glob("[!.]*.json")):
        try:
            outcome = _read(workspace, note)
        except (DamagedFileError, KeyError) as error:
            _log.warning("%s: a pack is not shown in Dagster's history (%s)", note, error)
            outcome = None
        if outcome is not None:
            yield outcome
        note.unlink(missing_ok=True)


def _read(workspace: Workspace, note: Path) -> AskOutcome | None:
    said: Any = read_json(note, "note of a pack")
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
