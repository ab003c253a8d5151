"""The inventory: what stands in raw/ now, and since when what is gone has been missed."""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args

from rag_assets.model import DamagedFileError, Progress, UsageError, hash_fields
from rag_assets.model.settings import Keeping
from rag_assets.storage import (
    hold_lock,
    mend_journal,
    read_once,
    read_parquet,
    trouble_of_machine,
    write_parquet,
)
from rag_assets.workspace.journal import (
    Claim,
    Identities,
    Journal,
    append_events,
    latest_overrides,
    read_journal,
    reconcile,
)
from rag_assets.workspace.layout import Namespace
from rag_assets.workspace.scanning import Scan, scan_raw
from rag_assets.workspace.sidecar import SourceFile

ChangeKind = Literal["added", "replaced", "renamed", "removed"]


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


_TEXT_FIELDS = [f.name for f in fields(SourceFile) if f.name not in {"citable", "size"}]


@dataclass(frozen=True)
class LivingContent:
    """One content that raw/ holds, with all the files that hold it, in path order."""

    content_hash: str
    sources: tuple[SourceFile, ...]

    @property
    def first(self) -> SourceFile:
        """The first source in path order: it speaks where copies differ."""
        return self.sources[0]

    @cached_property
    def _speaker(self) -> SourceFile:
        return next((s for s in self.sources if s.sidecar or s.sidecar_error), self.first)

    @property
    def extension(self) -> str:
        """Lower-case suffix of the first path, with its dot; empty without one."""
        return PurePosixPath(self.first.source_uri).suffix.lower()

    @property
    def stem(self) -> str:
        """Stem of the first path; it matters only to a parser that declares that it reads it."""
        return PurePosixPath(self.first.source_uri).stem

    @property
    def password_hash(self) -> str:
        """SHA-256 of the password that the sidecar gives, or empty."""
        return self._speaker.password_hash

    @property
    def speaking_file(self) -> Path:
        """The file whose sidecar holds for this content."""
        return Path(self._speaker.file)

    @cached_property
    def sidecar(self) -> dict[str, Any]:
        """What the first sidecar in path order says."""
        loaded: dict[str, Any] = json.loads(self._speaker.sidecar or "{}")
        return loaded

    @property
    def sidecar_error(self) -> str:
        """Why a sidecar of this content cannot be used, or empty."""
        return next((s.sidecar_error for s in self.sources if s.sidecar_error), "")

    @property
    def has_differing_sidecars(self) -> bool:
        """Copies whose sidecars say different things: the first one wins, and it is said."""
        return len({s.sidecar for s in self.sources if s.sidecar}) > 1

    @property
    def conflicting_places(self) -> tuple[SourceFile, SourceFile] | None:
        """A citable and a non-citable place that hold the same bytes."""
        citable = next((s for s in self.sources if s.citable), None)
        other = next((s for s in self.sources if not s.citable), None)
        return (citable, other) if citable and other else None


@dataclass(frozen=True)
class Inventory:
    """What was found at the last inventory of a namespace.

    Args:
        sources: every file, by source_uri.
        missed_since: content_hash → seconds since the epoch when it was first missed.
        scanned_at: seconds since the epoch; provenance.
        warnings: about raw/ as a whole, for instance sidecars without a file.
    """

    sources: tuple[SourceFile, ...] = ()
    missed_since: Mapping[str, float] = field(default_factory=dict)
    scanned_at: float = 0.0
    warnings: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """SHA-256 over what later stages depend on."""
        return sources_digest(self.sources)

    @cached_property
    def contents(self) -> dict[str, LivingContent]:
        """Living contents by hash, sorted by hash."""
        found: dict[str, list[SourceFile]] = {}
        for source in self.sources:
            if source.status == "ok":
                found.setdefault(source.content_hash, []).append(source)
        return {key: LivingContent(key, tuple(found[key])) for key in sorted(found)}

    @cached_property
    def _partitions(self) -> dict[int, dict[str, dict[str, LivingContent]]]:
        return {}  # by how many digits keys have

    def partition(self, namespace: Namespace, key: str) -> dict[str, LivingContent]:
        """Return the living contents of one partition."""
        digits = namespace.settings.hex_digits
        if digits not in self._partitions:
            parts = self._partitions[digits] = {}
            for content, living in self.contents.items():
                parts.setdefault(namespace.partition_of(content), {})[content] = living
        return dict(self._partitions[digits].get(key, {}))

    def expired(self, keep_days: float, now: float) -> frozenset[str]:
        """Return contents that have been missed for longer than `keep_days`."""
        limit = now - keep_days * 86400
        return frozenset(c for c, since in self.missed_since.items() if since < limit)

    def held_as(self, identities: Identities) -> dict[str, Held]:
        """Return who every living content is, and where it stands, by content hash."""
        return {
            content: Held(identities.uids.get(content), tuple(s.source_uri for s in living.sources))
            for content, living in self.contents.items()
        }

    @cached_property
    def claims(self) -> list[Claim]:
        """What every file claims to be, for `reconcile`. A broken sidecar pins nothing."""
        return [
            Claim(s.source_uri, s.content_hash, json.loads(s.sidecar or "{}").get("doc_uid"))
            for s in self.sources
            if s.status == "ok"
        ]


def newest_expired(namespace: Namespace) -> frozenset[str]:
    """Return the contents that the newest inventory has missed for `Keeping.removed_days`.

    Asked while a record is locked: the inventory that a run began with may name a content that
    was restored, and computed again by another run, since.
    """
    inventory = read_inventory(namespace) or Inventory()
    return inventory.expired(Keeping.removed_days, time.time())


def sources_digest(sources: tuple[SourceFile, ...]) -> str:
    """Return the digest of a set of sources: the state of raw/."""
    return hash_fields(*(s.content_fields for s in sorted(sources, key=lambda s: s.source_uri)))


@dataclass(frozen=True, slots=True)
class InventoryOutcome:
    """What taking an inventory did. `changes` are those since the inventory before."""

    inventory: Inventory
    identities: Identities
    scan: Scan
    changes: tuple[Change, ...]
    warnings: tuple[str, ...]


def lock_inventory(namespace: Namespace) -> Path:
    """Return the lock that covers the journal and the inventory of a namespace."""
    return namespace.workspace.locks / f"{namespace.name}.inventory.lock"


def take_inventory(
    namespace: Namespace,
    *,
    rehash: bool = False,
    rest_seconds: float | None = None,
    notify: Callable[[str], None],
    on_progress: Progress | None = None,
) -> InventoryOutcome:
    """Scan raw/, give every content its uid, write journal and inventory.

    Raises:
        WorkspaceError: a raw folder is gone.
        DamagedFileError: the journal is damaged in its middle.
        StorageError: the disk is full; inventory and journal are as they were or whole.
    """
    with hold_lock(lock_inventory(namespace), f"the inventory of {namespace.name}", notify):
        mended = mend_journal(namespace.journal)
        if mended:
            notify(mended)
        damage = None
        try:
            before = read_inventory(namespace) or Inventory()
        except DamagedFileError as error:
            damage = f"{error} It is being rebuilt now."
            notify(damage)
            before = Inventory()
        journal = read_journal(namespace.journal)
        lost = _lost_journal(namespace, before, journal)
        if lost:
            notify(lost)
        scan = scan_raw(
            namespace,
            previous={s.source_uri: s for s in before.sources},
            rehash=rehash,
            rest_seconds=rest_seconds,
            on_progress=on_progress,
        )
        now = time.time()
        known = {b.content_hash for b in journal.bindings} | before.contents.keys()
        living = {s.content_hash for s in scan.sources if s.status == "ok"}
        inventory = Inventory(
            scan.sources,
            {c: before.missed_since.get(c, now) for c in sorted(known - living)},
            now,
            scan.warnings,
        )
        known_before = reconcile(journal.bindings, before.claims, journal.keys)
        identities = reconcile(journal.bindings, inventory.claims, journal.keys)
        append_events(namespace.journal, identities.events)
        _write_inventory(namespace.inventory, inventory)
    return InventoryOutcome(
        inventory,
        identities,
        scan,
        compare_contents(before.held_as(known_before), inventory.held_as(identities)),
        scan.warnings + tuple(sentence for sentence in (mended, damage, lost) if sentence),
    )


def _lost_journal(namespace: Namespace, before: Inventory, journal: Journal) -> str | None:
    """Say that uids begin anew: whoever was inventoried before stood in the journal."""
    if journal.bindings or not before.contents:
        return None
    return (
        f"{namespace.journal}: the identity journal is gone. Every document got a new uid from its "
        f"file name, in path order: documents that were renamed, edited after a copy or numbered "
        f"-2 may have other uids now. Restore the file from a backup, or audit your drafts "
        "again."
    )


def current_identities(namespace: Namespace, inventory: Inventory) -> Identities:
    """Return who every content of an inventory is, from the journal as it stands."""

    def read() -> Identities:
        journal = read_journal(namespace.journal)
        return reconcile(journal.bindings, inventory.claims, journal.keys)

    return read_once([namespace.journal], ("identities", inventory.digest), read)


def current_overrides(namespace: Namespace) -> dict[str, dict[str, str]]:
    """Return the fields that `rag meta set` changed, by uid."""
    return latest_overrides(read_journal(namespace.journal).overrides)


def read_inventory(namespace: Namespace) -> Inventory | None:
    """Return the last inventory, or None where none was taken.

    Raises:
        DamagedFileError: the file is not what was written; it can be rebuilt.
        StorageError: the machine cannot read it now.
    """
    return read_once([namespace.inventory], "inventory", lambda: _read_inventory(namespace))


def _read_inventory(namespace: Namespace) -> Inventory | None:
    import pyarrow as pa

    try:
        table = read_parquet(namespace.inventory)
        meta = json.loads((table.schema.metadata or {})[b"rag_inventory"])
    except FileNotFoundError:
        return None
    except (pa.ArrowException, OSError, MemoryError, KeyError, ValueError) as error:
        raise trouble_of_machine(error, namespace.inventory) or DamagedFileError(
            f"{namespace.inventory}: the inventory is damaged ({error}). Delete the file and run "
            f"`rag ingest --namespace {namespace.name}`: it is rebuilt from raw/ and the journal."
        ) from error
    return Inventory(
        _sources_of(table), meta["missed_since"], meta["scanned_at"], tuple(meta["warnings"])
    )


def _sources_of(table: Any) -> tuple[SourceFile, ...]:
    names = [f.name for f in fields(SourceFile)]
    # By columns: a mapping a row is half of what reading 100,000 files takes.
    columns = [table.column(name).to_pylist() for name in names]
    return tuple(SourceFile(*row) for row in zip(*columns, strict=True))


def require_inventory(namespace: Namespace) -> Inventory:
    """Return the last inventory.

    Raises:
        UsageError: none was taken yet.
    """
    inventory = read_inventory(namespace)
    if inventory is None:
        raise UsageError(
            f"namespace '{namespace.name}' has no inventory yet. Run `rag ingest --namespace "
            f"{namespace.name}`, or materialize {namespace.name}/inventory first."
        )
    return inventory


def _write_inventory(path: Path, inventory: Inventory) -> None:
    import pyarrow as pa

    schema = pa.schema(
        [pa.field(name, pa.string()) for name in _TEXT_FIELDS]
        + [pa.field("citable", pa.bool_()), pa.field("size", pa.int64())]
    )
    rows = [{name: getattr(s, name) for name in schema.names} for s in inventory.sources]
    meta = {
        "digest": inventory.digest,
        "missed_since": dict(inventory.missed_since),
        "scanned_at": inventory.scanned_at,
        "warnings": list(inventory.warnings),
    }
    table = pa.Table.from_pylist(rows, schema=schema).replace_schema_metadata(
        {"rag_inventory": json.dumps(meta)}
    )
    write_parquet(path, table.schema, [table])


# Documents of a kind that a sentence names.
_NAMED = 3
