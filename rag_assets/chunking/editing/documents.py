"""Which document a person means: by its uid, or by a file of raw/."""

from collections.abc import Sequence
from pathlib import Path

from rag_assets.model import UsageError, require_text
from rag_assets.workspace import Namespace, current_identities, find_uid, read_inventory


def find_document(namespaces: Sequence[Namespace], name: str) -> tuple[Namespace, str]:
    """Return the namespace and the uid of the document that `name` means.

    Args:
        namespaces: where it is looked for.
        name: a uid or a citation key; a path of a file in raw/, or its end
            (`evidence/paper.pdf`, `paper.pdf`).

    Raises:
        UsageError: none or several are called so.
    """
    require_text(name, "the document's name")
    found = {
        (namespace.name, uid): namespace
        for namespace in namespaces
        for uid in _uids(namespace, name)
    }
    if len(found) == 1:
        ((_, uid), namespace) = next(iter(found.items()))
        return namespace, uid
    if not found:
        raise UsageError(
            f"no document '{name}' in {', '.join(one.name for one in namespaces) or 'raw/'}: name "
            "its uid or its file; `rag documents` lists both, `rag ingest` takes new files in."
        )
    several = ", ".join(f"{uid} (--namespace {space})" for space, uid in found)
    raise UsageError(f"'{name}' may be one of {several}: name the uid, or the namespace too.")


def _uids(namespace: Namespace, name: str) -> set[str]:
    inventory = read_inventory(namespace)
    if inventory is None:
        return set()
    uids = current_identities(namespace, inventory).uids
    if name in uids.values():
        return {name}
    if (uid := find_uid(namespace, name)) in uids.values():
        return {str(uid)}
    path = Path(name)
    given, end = path.resolve(), path.as_posix().removeprefix("./")
    return {
        uids[source.content_hash]
        for source in inventory.sources
        if source.content_hash in uids
        and (
            namespace.raw_file(source.source_uri) == given
            or f"/{source.source_uri}".endswith(f"/{end}")
        )
    }
