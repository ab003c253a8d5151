"""Workspaces whose derived files are kept in a bucket, for tests of every room."""

import shutil
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from rag_assets.storage import mount_store
from rag_assets.workspace import WORKSPACE_MARKER, Workspace
from rag_assets_tests.storage.folder_bucket import FolderBucket, hold_lease


@contextmanager
def served_from(buckets: Callable[[str], Any]) -> Iterator[None]:
    """Open every address with a function of the test's, for this process."""
    patch = pytest.MonkeyPatch()
    for name, held in (("s3", {"open_bucket": buckets}), ("leases", {"hold_lease": hold_lease})):
        module = types.ModuleType(f"rag_assets.storage.{name}")
        module.__dict__.update(held)
        patch.setitem(sys.modules, module.__name__, module)
    try:
        yield
    finally:
        patch.undo()


@contextmanager
def folder_buckets(root: Path) -> Iterator[dict[str, FolderBucket]]:
    """Serve every address from a folder below `root`; yields the buckets that were opened."""
    opened: dict[str, FolderBucket] = {}

    def open_bucket(url: str) -> FolderBucket:
        if url not in opened:
            opened[url] = FolderBucket(root / url.removeprefix("s3://").replace("/", "+"))
        return opened[url]

    with served_from(open_bucket):
        yield opened


def keep_in(workspace: Workspace, url: str | None) -> Workspace:
    """Let a workspace keep what is derived in a bucket, or on its disk again."""
    path = workspace.root / WORKSPACE_MARKER
    told = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    told.pop("store", None)
    path.write_text(yaml.safe_dump(told | ({"store": url} if url else {})), encoding="utf-8")
    return Workspace.open(workspace.root)


def other_machine(workspace: Workspace, root: Path, *shared: str) -> Workspace:
    """A folder with the configuration alone, and links to what the machines share."""
    root.mkdir(parents=True)
    for name in ("config.yaml", "namespaces"):
        source = workspace.root / name
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, root / name)
    for name in shared:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(workspace.root / name)
    return Workspace.open(root)


def forget_mount(workspace: Workspace) -> None:
    """Let this process know nothing of a folder any more."""
    mount_store(workspace.root, None)
