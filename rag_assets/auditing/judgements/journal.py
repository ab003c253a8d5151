"""The journal of what people have decided on citations: append-only, synced, readable lines.

It stands beside the identity journal, is as little rebuilt from raw/, and is written alike: a line
is appended under a lock, in one synced write; what a crash leaves of a line is cut, and told,
before the next one.
"""

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.auditing.judgements.record import JudgedCitation, Judgement
from rag_assets.model import ChangedMeanwhileError, DamagedFileError
from rag_assets.storage import (
    Notify,
    append_journal_lines,
    describe_torn_line,
    hold_lock,
    mend_journal,
    read_journal_lines,
)
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from pydantic import TypeAdapter

# Lines that are kept as they were read, some 5 KB each.
_LINES_KEPT = 4096


@dataclass(frozen=True)
class Judgements:
    """All judgements that were ever made, oldest first."""

    every: tuple[Judgement, ...] = ()

    @cached_property
    def latest(self) -> dict[JudgedCitation, Judgement]:
        """The judgement that holds, by what it is about; what was taken back is not there."""
        return {about: one for about, one in self.last.items() if one.decision != "withdrawn"}

    @cached_property
    def last(self) -> dict[JudgedCitation, Judgement]:
        """The last word on each citation, taking back included."""
        return {one.citation: one for one in self.every}

    def lost(self, name: str, found: Collection[JudgedCitation]) -> list[Judgement]:
        """Return those of a draft whose sentence or citation is not among `found` any more."""
        return [
            one for about, one in self.latest.items() if one.draft == name and about not in found
        ]


def judgements_of(workspace: Workspace) -> Judgements:
    """Return the judgements that people have made in a workspace.

    Raises:
        DamagedFileError: as `read_judgements`.
    """
    return read_judgements(workspace.judgement_journal)


def read_judgements(path: Path) -> Judgements:
    """Return the judgements of a journal; none where there is no file.

    A half-written last line is left out: nobody was told that it is kept.

    Raises:
        DamagedFileError: a line is not what was written; names it.
    """
    kept = []
    for number, line in enumerate(read_journal_lines(path), start=1):
        try:
            kept.append(replace(_read_line(line), number=number))
        except (ValueError, TypeError, RecursionError) as error:
            told = " ".join(str(error).split())[:200]
            raise DamagedFileError(
                f"{path}, line {number}: not a judgement ({told}). Nothing was changed. Restore "
                "the file from a backup, or delete this line: what was decided in it is then lost."
            ) from error
    return Judgements(tuple(kept))


def append_judgement(
    workspace: Workspace,
    judgement: Judgement,
    *,
    seen: int | None = None,
    notify: Notify = lambda sentence: None,
) -> Judgement:
    """Append a judgement and return it with its number.

    Args:
        seen: number of the last judgement on this citation that its author has seen, 0 for none;
            None where that does not matter.
        notify: told what a crash had left of a line, and where another process is writing.

    Raises:
        ChangedMeanwhileError: somebody has judged the citation since; nothing was written.
        DamagedFileError: as `read_judgements`.
        StorageError: the disk is full or refuses the write; the journal is as it was.
    """
    path = workspace.judgement_journal
    with hold_lock(workspace.locks / "judgements.lock", "judgements of citations", notify):
        torn = mend_journal(path)
        if torn is not None:
            notify(torn)
        kept = read_judgements(path)
        last = kept.last.get(judgement.citation)
        if seen is not None and seen != (last.number if last else 0):
            raise ChangedMeanwhileError(_told(last))
        append_journal_lines(path, [json.dumps(_as_line(judgement), ensure_ascii=False)])
    return replace(judgement, number=len(kept.every) + 1)


def torn_judgement(workspace: Workspace) -> str | None:
    """Return what a crash left of a last judgement, in words; None where there is nothing."""
    return describe_torn_line(workspace.judgement_journal)


def _told(last: Judgement | None) -> str:
    if last is None:
        return (
            "this citation has no judgement any more: the journal was restored meanwhile. Nothing "
            "was kept; look at it again."
        )
    return (
        f"{last.by} has judged this citation meanwhile ({last.decision}, {last.at}"
        f"{': ' + last.comment if last.comment else ''}). Nothing of yours was kept: look at it "
        "again and judge it if you see it otherwise."
    )


@lru_cache(maxsize=_LINES_KEPT)
def _read_line(line: str) -> Judgement:
    """Return the judgement of a line; a journal is read at each judgement, and only grows."""
    values = json.loads(line)
    read = _adapter().validate_python(values)
    if _as_line(read) != values:
        raise ValueError("it has other fields")
    return read


def _as_line(judgement: Judgement) -> dict[str, Any]:
    return {name: value for name, value in asdict(judgement).items() if name != "number"}


@cache
def _adapter() -> "TypeAdapter[Judgement]":
    from pydantic import TypeAdapter  # every command loads this room, few read a judgement

    return TypeAdapter(Judgement)
