"""Which documents two states of raw/ tell apart: added, replaced, renamed, removed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

ChangeKind = Literal["added", "replaced", "renamed", "removed"]

# Documents of a kind that a sentence names.
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Held:
    """Who a content is, and every path that holds it, in order; no uid where it is withheld."""

    doc_uid: str | None
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one document.

    Args:
        path: where it stands now; of one that was removed, where it stood.
        before: where one that was renamed stood; empty for others.
        copy_of: uid of the document whose bytes the file of a removed one holds now.
    """

    kind: ChangeKind
    doc_uid: str | None
    path: str
    before: str = ""
    copy_of: str | None = None

    def __str__(self) -> str:
        """Return how a sentence names it."""
        place = f"{self.before} is now {self.path}" if self.before else self.path
        if self.copy_of:
            return f"{place}, `{self.doc_uid}`, is now a copy of `{self.copy_of}`"
        return f"{place}, `{self.doc_uid}`" if self.doc_uid and self.kind != "added" else place


def compare_contents(before: Mapping[str, Held], now: Mapping[str, Held]) -> tuple[Change, ...]:
    """Return what became of documents between two states, by path.

    Other bytes under the same uid are one document that was replaced. A copy that comes or goes
    is no change of the document.

    Args:
        before: by content hash; `now` likewise.
    """
    lost = {held.doc_uid: held for key, held in before.items() if key not in now and held.doc_uid}
    changes = []
    for key, held in now.items():
        if key in before:
            gone = [path for path in before[key].paths if path not in held.paths]
            come = [path for path in held.paths if path not in before[key].paths]
            if gone and come:
                changes.append(Change("renamed", held.doc_uid, come[0], gone[0]))
        elif lost.pop(held.doc_uid or "", None) is not None:
            changes.append(Change("replaced", held.doc_uid, held.paths[0]))
        else:
            changes.append(Change("added", held.doc_uid, held.paths[0]))
    nameless = [held for key, held in before.items() if key not in now and not held.doc_uid]
    holders = {path: held.doc_uid for held in now.values() for path in held.paths}
    changes += [
        Change("removed", one.doc_uid, one.paths[0], copy_of=holders.get(one.paths[0]))
        for one in [*lost.values(), *nameless]
    ]
    return tuple(sorted(changes, key=lambda change: (change.path, change.kind)))


def count_changes(changes: Iterable[Change]) -> dict[str, int]:
    """Return how many there are of each kind, all four named."""
    found = [change.kind for change in changes]
    return {kind: found.count(kind) for kind in get_args(ChangeKind)}


def name_changes(changes: Sequence[Change]) -> str:
    """Return changes in words: `1 added (raw/b.md), 1 removed (raw/a.md, `a`)`; at most three of a
    kind are named.
    """
    told = []
    for kind, count in count_changes(changes).items():
        names = [str(change) for change in changes if change.kind == kind]
        if count:
            more = f"; and {count - _NAMED} more" if count > _NAMED else ""
            told.append(f"{count} {kind} ({'; '.join(names[:_NAMED])}{more})")
    return ", ".join(told)
