"""What `rag doctor` looks at in a workspace's laboratory."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from rag_assets.model import RagError, count_of
from rag_assets.workspace import Workspace

# File systems over a network, as the kernel calls them: SQLite's locks do not hold there.
_NETWORK = ("nfs", "cifs", "smb", "afs", "9p", "fuse.sshfs", "ceph", "glusterfs", "lustre")


def laboratory_faults(workspace: Workspace) -> Iterator[tuple[str, str | None]]:
    """Yield what was found of a laboratory, each with its mend, None where it is fine.

    Nothing for a workspace that has none; of such a one no module of laboratories is loaded.
    """
    try:
        if workspace.settings.lab is None:
            return
    except RagError as error:
        yield str(error), "correct what the message names"
        return
    from rag_assets.lab.laboratory import lab_file, open_laboratory

    path = lab_file(workspace)
    if not path.is_file():
        yield f"there is no {path}", "rag lab init"
        return
    kind = file_system_of(path)
    if kind.startswith(_NETWORK):
        yield (
            f"{path} lies on a network file system ({kind}), where two writers can damage it",
            "keep the workspace on a disk of this machine",
        )
    try:
        lab = open_laboratory(workspace)
        with lab.store.reading() as reading:
            told = count_of(reading.head(), "change")
    except RagError as error:
        yield str(error), "do what the message says"
        return
    yield told, None


def file_system_of(path: Path, mounts: Sequence[tuple[str, str]] | None = None) -> str:
    """Return the kind of the file system that a path lies on; empty where nobody knows.

    Args:
        mounts: mount points with their kinds; those of this machine without.
    """
    if mounts is None:
        import psutil

        mounts = [(each.mountpoint, each.fstype) for each in psutil.disk_partitions(all=True)]
    whole = path.resolve()
    holding = [(point, kind) for point, kind in mounts if whole.is_relative_to(point)]
    return max(holding, key=lambda each: len(each[0]), default=("", ""))[1]
