"""Documents that raw/ held once and holds no more: what is still known of them."""

from dataclasses import dataclass
from datetime import UTC, datetime

from rag_assets.workspace import Namespace, read_inventory, read_journal, reconcile


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
    bindings = read_journal(namespace.journal).bindings
    uids = reconcile(bindings, inventory.claims).uids
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
