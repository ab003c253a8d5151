"""Files that changed since they were taken in."""

import os
from pathlib import Path

import pytest

from rag_assets.workspace import Namespace, Workspace, changed_files, take_inventory
from rag_assets_tests.laws.driver import make_workspace

ROOT = "raw"


@pytest.fixture(autouse=True)
def taken_in(workspace: Workspace, namespace: Namespace) -> None:
    for name in ("a.md", "b.md", "c.md"):
        (workspace.root / ROOT / name).write_text(f"Text of {name}.\n", encoding="utf-8")
    take_inventory(namespace, notify=lambda _: None)


def changed(namespace: Namespace) -> set[str]:
    return {uri.rpartition("/")[2] for uri in changed_files(namespace)}


def test_nothing_has_changed_at_first(namespace: Namespace) -> None:
    assert changed(namespace) == set()


def test_edited_and_removed_files_are_named(workspace: Workspace, namespace: Namespace) -> None:
    (workspace.root / ROOT / "a.md").write_text("Another text.\n", encoding="utf-8")
    (workspace.root / ROOT / "b.md").unlink()
    assert changed(namespace) == {"a.md", "b.md"}


def test_an_edit_of_the_same_size_is_seen(workspace: Workspace, namespace: Namespace) -> None:
    path = workspace.root / ROOT / "a.md"
    path.write_text(path.read_text(encoding="utf-8").upper(), encoding="utf-8")
    os.utime(path, ns=(1, 1))
    assert changed(namespace) == {"a.md"}


def test_a_touched_file_has_not_changed(workspace: Workspace, namespace: Namespace) -> None:
    os.utime(workspace.root / ROOT / "a.md", ns=(1, 1))
    assert changed(namespace) == set()


def test_files_of_nested_and_absolute_folders_are_found(tmp_path: Path) -> None:
    outside = tmp_path / "outside" / "papers"
    outside.mkdir(parents=True)
    workspace = make_workspace(tmp_path / "nested", lib={"raw": ["raw/evidence", str(outside)]})
    inside = workspace.root / "raw/evidence/deep"
    inside.mkdir(parents=True)
    for folder in (inside, outside):
        (folder / "kept.md").write_text("Kept.\n", encoding="utf-8")
        (folder / "edited.md").write_text("First.\n", encoding="utf-8")
    namespace = workspace.namespace("lib")
    take_inventory(namespace, notify=lambda _: None)
    for folder in (inside, outside):
        (folder / "edited.md").write_text("Second.\n", encoding="utf-8")
    expected = ("papers/edited.md", "raw/evidence/deep/edited.md")
    assert changed_files(namespace) == expected


def test_before_an_inventory_nothing_is_known(namespace: Namespace) -> None:
    namespace.inventory.unlink()
    assert changed(namespace) == set()
