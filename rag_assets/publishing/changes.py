"""What raw/ holds otherwise than the publication that readers see: changed, moved and removed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from rag_assets.model import WorkspaceError
from rag_assets.publishing.facts import is_citable, is_lowered
from rag_assets.storage import current_folder, read_pointer
from rag_assets.workspace import (
    Change,
    Held,
    Inventory,
    Namespace,
    SourceFile,
    changed_files,
    compare_contents,
    current_overrides,
    name_changes,
    overrides_digest,
    read_inventory,
    read_journal,
    reconcile,
    scan_raw,
)


@dataclass(frozen=True, slots=True)
class RemovedDocument:
    """A uid that no file holds any more.

    Args:
        path: where its file stood last.
        copy_of: uid of the document whose bytes that file holds now.
        title: that its last parse found; None where that is no longer kept.
        missed_since: when it was first missed.
    """

    namespace: str
    doc_uid: str
    path: str
    title: str | None
    missed_since: datetime
    copy_of: str | None = None

    def __str__(self) -> str:
        """Return what became of it and what to do."""
        title = f" (“{self.title}”)" if self.title else ""
        if self.copy_of:
            return (
                f"`{self.doc_uid}`{title} is no document any more: {self.path} has held the same "
                f"bytes as `{self.copy_of}` since {self.missed_since:%Y-%m-%d}. Use "
                f"`{self.copy_of}`, or put its own text back and run `rag ingest --namespace "
                f"{self.namespace}`."
            )
        return (
            f"`{self.doc_uid}` was removed: {self.path}{title} has been missing since "
            f"{self.missed_since:%Y-%m-%d}. Put the file back and run `rag ingest --namespace "
            f"{self.namespace}`, or use another document; if you edited and renamed it at once, "
            f"pin `doc_uid: {self.doc_uid}` in the new file's sidecar."
        )


def removed_documents(namespace: Namespace) -> dict[str, RemovedDocument]:
    """Return the documents that no file held any more at the last inventory, by uid."""
    from rag_assets.parsing import read_reports

    inventory = read_inventory(namespace)
    if inventory is None:
        return {}
    journal = read_journal(namespace.journal)
    bindings = journal.bindings
    uids = reconcile(bindings, inventory.claims, journal.keys).uids
    living = set(uids.values())
    holders = {each.source_uri: uids.get(each.content_hash) for each in inventory.sources}
    last = {binding.doc_uid: binding for binding in bindings if binding.doc_uid not in living}
    titles: dict[str, str | None] = {}
    contents = {binding.content_hash for binding in last.values()}
    for partition in sorted({namespace.partition_of(content) for content in contents}):
        own = [content for content in contents if namespace.partition_of(content) == partition]
        for row in read_reports(namespace, partition, own):
            titles[row["content_hash"]] = row["title"]
    return {
        uid: RemovedDocument(
            namespace.name,
            uid,
            binding.path,
            titles.get(binding.content_hash),
            datetime.fromtimestamp(
                inventory.missed_since.get(binding.content_hash, inventory.scanned_at), UTC
            ),
            holders.get(binding.path),
        )
        for uid, binding in sorted(last.items())
    }


def unpublished_changes(namespace: Namespace, sources: Sequence[SourceFile]) -> tuple[Change, ...]:
    """Return what became of documents since the publication that readers see.

    Args:
        namespace: that has a publication.
        sources: as they stand in raw/ now.

    Raises:
        DamagedFileError: the publication's catalogue cannot be read.
    """
    now = Inventory(tuple(sources))
    journal = read_journal(namespace.journal)
    identities = reconcile(journal.bindings, now.claims, journal.keys)
    return compare_contents(_published(namespace), now.held_as(identities))


@dataclass(frozen=True, slots=True)
class SincePublication:
    """What holds now otherwise than in the publication that readers see.

    Args:
        outdated: a sentence on documents that were replaced or removed, with the command that mends
            it; None where there are none.
        not_citable: documents that the publication lets cite and that must not be cited any more,
            by uid, with the reason.
    """

    outdated: str | None = None
    not_citable: Mapping[str, str] = field(default_factory=dict)


def look_since_publication(namespace: Namespace) -> SincePublication:
    """Return what a reader of the publication must be told now.

    Where every file is as the last inventory saw it and that was published, nothing else is read.
    New files are not looked for, nor sidecars beside files that are as they were.
    """
    inventory, pointer = read_inventory(namespace), read_pointer(namespace.publications)
    if inventory is None or pointer is None:
        return SincePublication()
    lowered = {}
    if pointer.built_from.get("overrides") != overrides_digest(namespace):
        lowered = {
            uid: f"`{uid}` must not be cited: `rag meta set` says so since the publication"
            for uid, fields in current_overrides(namespace).items()
            if is_lowered(fields)
        }
    is_published = pointer.built_from.get("inventory") == inventory.digest
    if is_published and not changed_files(namespace):
        return SincePublication(not_citable=lowered)
    before = {source.source_uri: source for source in inventory.sources}
    try:
        sources = scan_raw(namespace, previous=before).sources
    except WorkspaceError as error:  # a raw folder is not there now: readers go on without it
        return SincePublication(str(error), lowered)
    changes = unpublished_changes(namespace, sources)
    told = name_changes([one for one in changes if one.kind in {"replaced", "removed"}])
    outdated = (
        f"raw/ has changed since the publication: {told}. This result uses the earlier text. Run "
        f"`rag ingest --namespace {namespace.name}` and ask again."
    )
    return SincePublication(
        outdated if told else None, _moved(namespace, Inventory(tuple(sources))) | lowered
    )


def _moved(namespace: Namespace, now: Inventory) -> dict[str, str]:
    """Return citable documents that stand now where nothing may be cited, or whose sidecar says so.

    By uid, with the reason.
    """
    found = {}
    for content, held in _published(namespace, "AND citable").items():
        living = now.contents.get(content)
        if held.doc_uid is None or living is None or is_citable(living, living.sidecar):
            continue
        barred = next((one.source_uri for one in living.sources if not one.citable), None)
        why = f"it is in {barred} now" if barred else "its sidecar says so now"
        found[held.doc_uid] = f"`{held.doc_uid}` must not be cited: {why}"
    return found


def _published(namespace: Namespace, condition: str = "") -> dict[str, Held]:
    from rag_assets.publishing.catalogue import catalogue_name, file_column, open_catalogue

    folder = current_folder(namespace.publications, namespace.name)
    with open_catalogue(folder / catalogue_name(folder.name)) as connection:
        file = file_column(connection)
        rows = connection.execute(
            f"SELECT content_hash, any_value(doc_uid), list({file} ORDER BY {file}) "
            f"FROM sources WHERE content_hash IS NOT NULL {condition} GROUP BY content_hash"
        ).fetchall()
    return {content: Held(uid, tuple(paths)) for content, uid, paths in rows}
