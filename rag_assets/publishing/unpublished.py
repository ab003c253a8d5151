"""What raw/ holds otherwise than the publication that readers see."""

from collections.abc import Sequence

from rag_assets.storage import current_folder, read_pointer
from rag_assets.workspace import (
    Change,
    Held,
    Inventory,
    Namespace,
    SourceFile,
    changed_files,
    compare_contents,
    name_changes,
    read_inventory,
    read_journal,
    reconcile,
    scan_raw,
)


def unpublished_changes(namespace: Namespace, sources: Sequence[SourceFile]) -> tuple[Change, ...]:
    """Return what became of documents since the publication that readers see.

    Args:
        namespace: that has a publication.
        sources: as they stand in raw/ now.

    Raises:
        DamagedFileError: the publication's catalogue cannot be read.
    """
    now = Inventory(tuple(sources))
    identities = reconcile(read_journal(namespace.journal).bindings, now.claims)
    return compare_contents(_published(namespace), now.held_as(identities))


def warn_of_outdated(namespace: Namespace) -> str | None:
    """Return which documents were replaced or removed since the publication that readers see.

    Where every file is as the last inventory saw it and that was published, nothing else is read.
    New files are not looked for.

    Returns:
        A sentence with the command that mends it; None where nothing is outdated.
    """
    inventory, pointer = read_inventory(namespace), read_pointer(namespace.publications)
    if inventory is None or pointer is None:
        return None
    is_published = pointer.built_from.get("inventory") == inventory.digest
    if is_published and not changed_files(namespace):
        return None
    before = {source.source_uri: source for source in inventory.sources}
    changes = unpublished_changes(namespace, scan_raw(namespace, previous=before).sources)
    told = name_changes([one for one in changes if one.kind in {"replaced", "removed"}])
    if not told:
        return None
    return (
        f"raw/ has changed since the publication: {told}. What is said here is of the text as it "
        f"was. Run `rag ingest --namespace {namespace.name}` and ask again."
    )


def _published(namespace: Namespace) -> dict[str, Held]:
    from rag_assets.publishing.catalogue import catalogue_name, open_catalogue

    folder = current_folder(namespace.publications, namespace.name)
    with open_catalogue(folder / catalogue_name(folder.name)) as connection:
        rows = connection.execute(
            "SELECT content_hash, any_value(doc_uid), list(source_uri ORDER BY source_uri) "
            "FROM sources WHERE content_hash IS NOT NULL GROUP BY content_hash"
        ).fetchall()
    return {content: Held(uid, tuple(paths)) for content, uid, paths in rows}
