"""What a person asks about a namespace: its documents, what is built, stale, missing or wrong."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_assets.chunking import has_stale_chunks
from rag_assets.chunking.editing import (
    History,
    count_passages,
    edits_digest,
    has_stale_edits,
    read_histories,
)
from rag_assets.embedding import joint_tokenizer
from rag_assets.model import PublicationError, StorageError, WorkspaceError, count_of
from rag_assets.parsing import has_stale_parses, read_reports
from rag_assets.publishing.changes import removed_documents, unpublished_changes
from rag_assets.publishing.facts import DocumentFacts, document_year, gather_facts, is_citable
from rag_assets.publishing.records import RecordState, collect
from rag_assets.storage import Pointer, current_folder, is_complete, read_manifest, read_pointer
from rag_assets.workspace import (
    Change,
    Inventory,
    Look,
    Namespace,
    changed_partitions,
    code_digest,
    current_identities,
    current_overrides,
    look_at_raw,
    name_changes,
    overrides_digest,
    read_inventory,
    read_journal,
    require_inventory,
    settings_digest,
)

UNUSED = {"failed": "could not be read", "withheld": "withheld", "refused": "refused"}
"""Documents that nobody finds until a person does something: status, and what became of them."""

# A document that nobody can read has a uid all the same.
_ACCEPTED = {"failed": "; `rag meta set UID archived=true --reason …` leaves one out for good"}
# Files still being written that are named.
_NAMED = 3


@dataclass(frozen=True, slots=True)
class DocumentLine:
    """One line of `rag documents`.

    Args:
        status: `published`, `archived`, `pending`, `failed`, `withheld`, `refused`, or `removed`
            for a uid that no file holds any more.
        notes: on what it is and whether it may be cited.
        warnings: what its parser was in doubt about, each a sentence a person can act on.
        citation_key: what people cite it by; None before its first publication.
        year: of publication, None where nothing says it.
    """

    namespace: str
    doc_uid: str | None
    status: str
    citable: bool
    paths: tuple[str, ...]
    title: str
    reason_code: str | None = None
    message: str | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    citation_key: str | None = None
    year: int | None = None


def list_documents(namespace: Namespace, models: Sequence[str]) -> list[DocumentLine]:
    """Return every document of a namespace, then refused files, then removed documents.

    Args:
        models: fingerprints of the configured models.
    """
    inventory = read_inventory(namespace)
    if inventory is None:
        return []
    facts = collect(namespace, inventory, models).facts
    identities = current_identities(namespace, inventory)
    histories = read_histories(namespace)
    lines = [
        DocumentLine(
            namespace.name, f.doc_uid, f.status, f.citable,
            tuple(s.source_uri for s in f.living.sources), f.title, f.reason_code, f.message,
            tuple(_notes(f, identities.notes.get(f.content_hash), histories.get(f.doc_uid or ""))),
            tuple(f.report["warnings"]) if f.report else (), f.citation_key, document_year(f),
        )
        for f in facts
    ]  # fmt: skip
    lines.sort(key=lambda line: (line.doc_uid or "", line.paths))
    lines += [
        DocumentLine(namespace.name, None, "refused", False, (s.source_uri,), "", s.reason_code,
                     s.message)
        for s in inventory.sources
        if s.status != "ok"
    ]  # fmt: skip
    lines += [
        DocumentLine(
            namespace.name, uid, "removed", False, (gone.path,), gone.title or "", "removed",
            str(gone), tuple(_kept_edits(histories.get(uid))),
        )
        for uid, gone in removed_documents(namespace).items()
    ]  # fmt: skip
    return lines


def _kept_edits(history: History | None) -> list[str]:
    """Tell of edits whose document is gone, or is called otherwise now."""
    if history is None or not history.published:
        return []
    count = len(history.published)
    verbs = ("is", "holds") if count == 1 else ("are", "hold")
    told = (
        f"{count_of(count, 'edit')} of its chunks {verbs[0]} kept, and {verbs[1]} again where a "
        f"file has this uid (a sidecar can pin it: `doc_uid: {history.doc_uid}`)."
    )
    return [told]


def _notes(facts: DocumentFacts, note: str | None, history: History | None) -> list[str]:
    notes = [note] if note else []
    if history is not None and history.is_open:
        begun = next(event for event in reversed(history.events) if event.event == "create")
        notes.append(
            f"a draft of its chunks is open, begun by {begun.by} at {begun.at}; `rag draft show "
            f"{facts.doc_uid}` shows it."
        )
    if facts.living.conflicting_places:
        citable, other = facts.living.conflicting_places
        notes.append(
            f"not citable: {citable.source_uri} and {other.source_uri} hold the same bytes; remove "
            "one of them."
        )
    if facts.living.has_differing_sidecars:
        notes.append(
            f"its copies have different sidecars; that of {facts.living.speaking_file.name} holds."
        )
    return notes


def describe_namespace(namespace: Namespace, models: Sequence[str]) -> dict[str, Any]:
    """Return what `rag status` says of a namespace, as plain values.

    `stale` are sentences on what a build would bring up to date, `mend` is the command that does;
    `amiss` are sentences on documents that no build mends, with the command that lists them. On a
    machine that only reads, `read_from` says from where its copy is, and nothing is stale.

    Args:
        models: fingerprints of the configured models.

    Raises:
        WorkspaceError: a raw folder is gone.
    """
    pointer = read_pointer(namespace.publications)
    if namespace.is_built_elsewhere:
        return _describe_read(namespace, pointer)
    published = pointer.built_from.get("inventory") if pointer else None
    look = look_at_raw(namespace, published)
    inventory = read_inventory(namespace)
    is_changed = pointer is not None and look.digest != published
    changes = unpublished_changes(namespace, look.sources) if is_changed else ()
    told = {change.doc_uid for change in changes}
    statuses: Counter[str] = Counter()
    lacking = waiting = 0
    edits_waiting: list[str] = []
    if inventory is not None:
        records = collect(namespace, inventory, models)
        statuses.update(fact.status for fact in records.facts)
        lacking = sum(
            fact.status == "published" and len(records.encoded[fact.content_hash]) < len(models)
            for fact in records.facts
        )
        edits_waiting = _edits_waiting(records)
        statuses["refused"] = sum(source.status != "ok" for source in inventory.sources)
        # Those that raw/ has changed since are told as that.
        waiting = sum(
            fact.status == "pending" and fact.doc_uid not in told for fact in records.facts
        )
    stale = _stale(namespace, pointer, look, changes, waiting, lacking)
    is_overridden = pointer is not None and pointer.built_from.get("overrides") != overrides_digest(
        namespace
    )
    if pointer is not None and pointer.built_from.get("edits", "") != edits_digest(namespace):
        stale.append("edits of chunks (`rag draft`) were published since the last build")
    if is_overridden:
        stale.append(
            "metadata was overridden (`rag meta set`) since the publication; the next one "
            "applies it"
        )
    return {
        "namespace": namespace.name,
        "publication": pointer.current if pointer else None,
        "published_at": pointer.history[0].published_at if pointer else None,
        "files": look.files,
        "documents": dict(sorted(statuses.items())),
        "being_written": list(look.pending),
        "counts": _counts(namespace),
        "stale": stale,
        "mend": f"rag ingest --namespace {namespace.name}" if stale else None,
        "amiss": [*_amiss(namespace, statuses), *edits_waiting],
    }


def _describe_read(namespace: Namespace, pointer: Pointer | None) -> dict[str, Any]:
    counts = _counts(namespace)
    return {
        "namespace": namespace.name,
        "publication": pointer.current if pointer else None,
        "published_at": pointer.history[0].published_at if pointer else None,
        "read_from": namespace.workspace.settings.store,
        "files": 0,
        "documents": {"published": counts["documents"]} if counts else {},
        "being_written": [],
        "counts": counts,
        "stale": [],
        "mend": None,
        "amiss": [],
    }


def partitions_to_build(namespace: Namespace) -> tuple[str, ...]:
    """Return the partitions that a build must refresh, at least one, or () for all of them.

    Few where the publication is that of the last inventory, by the present settings, code and edits
    of chunks: then those with contents that have come or gone since.

    Raises:
        WorkspaceError: a raw folder is gone.
    """
    pointer, inventory = read_pointer(namespace.publications), read_inventory(namespace)
    if pointer is None or inventory is None or has_stale_parses(namespace, inventory):
        return ()
    due = {
        "inventory": inventory.digest,
        "configuration": settings_digest(namespace),
        "code": code_digest(),
        "edits": edits_digest(namespace),
    }
    if any(pointer.built_from.get(name, "") != digest for name, digest in due.items()):
        return ()
    return changed_partitions(namespace) or namespace.partition_keys[:1]


def describe_settled(namespace: Namespace, models: Sequence[str]) -> dict[str, Any] | None:
    """Return what `describe_namespace` does where an ingest would find nothing to do, else None.

    So where files, configuration, code and metadata are those of the publication, every document
    has its passages and vectors, and no parse is missing or may be tried again. Nothing is built.

    Args:
        models: fingerprints of the configured models.
    """
    try:
        pointer, inventory = read_pointer(namespace.publications), read_inventory(namespace)
        if pointer is None or inventory is None or pointer.built_from.get("code") != code_digest():
            return None
        if not is_complete(namespace.publications, pointer.current):
            return None
        state = describe_namespace(namespace, models)
        return None if state["stale"] or has_stale_parses(namespace, inventory) else state
    except (StorageError, WorkspaceError):
        return None  # the run that follows says so, and mends what it can


def holds_texts(namespace: Namespace) -> bool:
    """Say whether the publication has the texts of all files as they are now; vectors may lack.

    That is what checks of drafts read.
    """
    try:
        inventory = read_inventory(namespace)
        state = describe_namespace(namespace, ())
        if inventory is None or set(state["stale"]) - {_NOT_WHOLE}:
            return False
        if state["documents"].get("published", 0) != state["counts"]["documents"]:
            return False  # a run that stopped has made records since
        tokenizer = joint_tokenizer(namespace.settings.embed)
        return not (
            has_stale_parses(namespace, inventory)
            or has_stale_chunks(namespace, inventory, tokenizer)
            or has_stale_edits(namespace, inventory)
        )
    except (StorageError, WorkspaceError):
        return False  # the run that follows says so, and mends what it can


# What is stale where only a part of the stages was run, as for a check of a draft.
_NOT_WHOLE = "not every stage has been run with the present configuration yet"


def _stale(
    namespace: Namespace,
    pointer: Pointer | None,
    look: Look,
    changes: Sequence[Change],
    pending: int,
    lacking: int,
) -> list[str]:
    """Return what only a build of every stage brings up to date.

    Args:
        changes: of documents since the publication.
        pending: other documents that are not cut into passages yet.
        lacking: documents that have passages, and not the vectors of all models.
    """
    stale = []
    if pointer is None:
        stale.append("nothing is published yet")
    elif look.digest != pointer.built_from.get("inventory"):
        # Of sidecars, copies and refused files there is no more to say.
        told = name_changes(changes)
        stale.append(f"raw/ has changed since the publication{told and f': {told}'}")
    built = pointer and pointer.built_from.get("configuration")
    if built and built != settings_digest(namespace):
        stale.append("the configuration has changed since the last whole build")
    elif pointer and not built and not pending and not lacking:
        stale.append(_NOT_WHOLE)
    if pending:
        verb = "is" if pending == 1 else "are"
        stale.append(f"{count_of(pending, 'document')} {verb} not built yet")
    if lacking:
        stale.append(
            f"{count_of(lacking, 'document')} can be found by words alone; vectors are to come"
        )
    store = namespace.object_store
    if store is not None and not store.is_shared():
        stale.append(f"readers of {store.url} do not see the last publication yet")
    if not look.is_complete:
        stale.append("not all changed files are hashed yet")
    elif look.pending:
        more = len(look.pending) - _NAMED
        named = ", ".join(look.pending[:_NAMED]) + (f" and {more} more" if more > 0 else "")
        verb = "is" if len(look.pending) == 1 else "are"
        stale.append(f"{named} {verb} still being written; take it in when it is whole")
    return stale


def lacks_documents(state: Mapping[str, Any]) -> bool:
    """Say whether a described namespace has files that nobody finds, and no person accepts."""
    return any(state["documents"].get(status) for status in UNUSED)


def _amiss(namespace: Namespace, statuses: Mapping[str, int]) -> list[str]:
    return [
        f"{count_of(statuses[status], 'file' if status == 'refused' else 'document')} {what}: "
        f"`rag documents --namespace {namespace.name} --status {status}` says which and why"
        + _ACCEPTED.get(status, "")
        for status, what in UNUSED.items()
        if statuses[status]
    ]


def _edits_waiting(records: RecordState) -> list[str]:
    waiting = {
        str(entry.note["doc_uid"]): len(entry.note["waiting"])
        for entry in records.made.values()
        if entry.note.get("waiting")
    }
    return [
        f"{count_of(count, 'edit')} of '{uid}' {'waits' if count == 1 else 'wait'}, since the text "
        f"is another now: `rag draft show {uid}` shows both"
        for uid, count in sorted(waiting.items())
    ]


def _counts(namespace: Namespace) -> dict[str, int]:
    pointer = read_pointer(namespace.publications)
    if pointer is None:
        return {}
    try:
        manifest = read_manifest(namespace.publications / pointer.current)
    except FileNotFoundError as error:
        raise PublicationError(
            f"publication {pointer.current} of '{namespace.name}' is gone. Run `rag ingest`."
        ) from error
    return dict(manifest["counts"])


def troubled_documents(namespace: Namespace) -> Iterator[str]:
    """Yield a sentence for every file that cannot be searched: failed, refused or withheld."""
    inventory = require_inventory(namespace)
    for source in inventory.sources:
        if source.status != "ok":
            yield f"{source.source_uri}: refused: {source.reason_code}: {source.message}"
    reports = {
        row["content_hash"]: row
        for partition in namespace.partition_keys
        if (living := inventory.partition(namespace, partition))
        for row in read_reports(namespace, partition, living)
    }
    identities, journal = current_identities(namespace, inventory), read_journal(namespace.journal)
    overrides = current_overrides(namespace)
    for fact in gather_facts(inventory, identities, journal, overrides, reports, (), {}):
        if fact.status in {"failed", "withheld"}:
            name = fact.living.first.source_uri
            yield f"{name}: {fact.status}: {fact.reason_code}: {fact.message}"


def citability_conflicts(inventory: Inventory) -> Iterator[str]:
    """Yield a sentence for bytes that lie both where evidence lies and where it does not."""
    for living in inventory.contents.values():
        if living.conflicting_places:
            citable, other = living.conflicting_places
            yield (
                f"{citable.source_uri} and {other.source_uri} hold the same bytes: not citable "
                "until one of them is removed"
            )


def index_differences(namespace: Namespace, models: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for every way in which the publication differs from the records.

    Where another run, or a person, has changed these since it was made, it is compared with itself:
    the next publication is that run's to judge, and `describe_namespace` says that one is due.

    Args:
        models: fingerprints of the configured models, in their order.
    """
    from rag_assets.publishing.catalogue import catalogue_name, open_catalogue
    from rag_assets.publishing.search import SearchTable

    inventory = require_inventory(namespace)
    folder = current_folder(namespace.publications, namespace.name)
    manifest = read_manifest(folder)
    records = collect(namespace, inventory, models)
    is_of_now = (
        manifest["inventory_digest"] == inventory.digest and manifest["stages"] == records.digests
    )
    with open_catalogue(folder / catalogue_name(folder.name)) as connection:
        rows = connection.execute("SELECT doc_uid, chunks FROM documents").fetchall()
        held = connection.execute(
            "SELECT count(*), count(DISTINCT chunk_id) FROM chunks"
        ).fetchone()
        if is_of_now:
            expected = {
                fact.doc_uid: count_passages(records.made[fact.content_hash])
                for fact in records.facts
                if fact.status == "published"
            }
        else:
            expected = dict(
                connection.execute(
                    "SELECT doc_uid, count(chunk_id) FROM documents LEFT JOIN chunks "
                    "USING (doc_uid) GROUP BY doc_uid"
                ).fetchall()
            )
    if dict(rows) != expected:
        yield f"{folder.name}: the catalogue lists other documents or chunk counts than the records"
    searchable = SearchTable(folder).rows
    if held != (sum(expected.values()), sum(expected.values())) or searchable != held[0]:
        yield (
            f"{folder.name}: {searchable} chunks can be searched and {held} are in the catalogue, "
            f"the records hold {sum(expected.values())}"
        )


def uncitable_evidence(namespace: Namespace) -> Iterator[str]:
    """Yield a sentence for every document that is published as citable and must not be.

    Nothing where raw/ or the overrides have changed since it was published: that is no fault of the
    publication, and the next one goes by them.
    """
    from rag_assets.publishing.catalogue import catalogue_name, open_catalogue

    inventory = require_inventory(namespace)
    identities = current_identities(namespace, inventory)
    overrides = current_overrides(namespace)
    made_of = {"inventory": inventory.digest, "overrides": overrides_digest(namespace)}
    folder = current_folder(namespace.publications, namespace.name)
    pointer = read_pointer(namespace.publications)
    if pointer is None or not made_of.items() <= pointer.built_from.items():
        return
    allowed = {
        uid
        for content, uid in identities.uids.items()
        if is_citable(
            inventory.contents[content],
            {**inventory.contents[content].sidecar, **overrides.get(uid, {})},
        )
    }
    with open_catalogue(folder / catalogue_name(folder.name)) as connection:
        rows = connection.execute(
            "SELECT DISTINCT doc_uid FROM chunks WHERE citable ORDER BY doc_uid"
        ).fetchall()
    yield from (
        f"'{uid}' is published as citable, but its place or sidecar forbids it"
        for (uid,) in rows
        if uid not in allowed
    )
