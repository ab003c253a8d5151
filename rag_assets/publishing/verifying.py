"""Statements about the publication that readers see."""

from collections.abc import Iterator, Sequence

from rag_assets.editing import count_passages
from rag_assets.parsing import read_reports
from rag_assets.publishing.facts import gather_facts, is_citable
from rag_assets.publishing.record_state import collect
from rag_assets.storage import current_folder, read_manifest, read_pointer
from rag_assets.workspace import (
    Inventory,
    Namespace,
    current_identities,
    current_overrides,
    overrides_digest,
    read_journal,
    require_inventory,
)


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
    from rag_assets.publishing.search_reading import SearchTable

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
