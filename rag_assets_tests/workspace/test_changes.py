"""A document that was replaced or renamed is one document, whatever became of its bytes."""

from collections.abc import Callable

import pytest

from rag_assets.workspace import Namespace, Workspace, count_changes, name_changes, take_inventory
from rag_assets_tests.laws.driver import put

Edit = Callable[[Workspace], None]
EVIDENCE = "raw/evidence"


def replaced(workspace: Workspace) -> None:
    put(workspace, "evidence/a.md", "Another text.")


def replaced_under_another_name(workspace: Workspace) -> None:
    (workspace.root / EVIDENCE / "a.md").unlink()
    put(workspace, "evidence/a-2024.md", "Another text.")
    put(workspace, "evidence/a-2024.md.meta.yaml", "doc_uid: a\n")


def renamed(workspace: Workspace) -> None:
    (workspace.root / EVIDENCE / "a.md").rename(workspace.root / EVIDENCE / "c.md")


def removed(workspace: Workspace) -> None:
    (workspace.root / EVIDENCE / "a.md").unlink()


def added(workspace: Workspace) -> None:
    put(workspace, "evidence/c.md", "A third text.")


def copied(workspace: Workspace) -> None:
    put(workspace, "evidence/c.md", "A text.")


@pytest.mark.parametrize(
    ("edit", "kind", "told"),
    [
        (replaced, "replaced", f"1 replaced ({EVIDENCE}/a.md, `a`)"),
        (replaced_under_another_name, "replaced", f"1 replaced ({EVIDENCE}/a-2024.md, `a`)"),
        (renamed, "renamed", f"1 renamed ({EVIDENCE}/a.md is now {EVIDENCE}/c.md, `a`)"),
        (removed, "removed", f"1 removed ({EVIDENCE}/a.md, `a`)"),
        (added, "added", f"1 added ({EVIDENCE}/c.md)"),
        (copied, None, ""),
    ],
)
def test_an_inventory_counts_what_became_of_a_document_once(
    workspace: Workspace, namespace: Namespace, edit: Edit, kind: str | None, told: str
) -> None:
    put(workspace, "evidence/a.md", "A text.")
    put(workspace, "evidence/b.md", "B text.")
    take_inventory(namespace, notify=lambda _: None)
    edit(workspace)
    changes = take_inventory(namespace, notify=lambda _: None).changes
    counts = count_changes(changes)
    assert counts == {"added": 0, "replaced": 0, "renamed": 0, "removed": 0} | (
        {kind: 1} if kind else {}
    )
    assert name_changes(changes) == told


def test_a_sentence_names_three_of_a_kind(workspace: Workspace, namespace: Namespace) -> None:
    for name in "abcde":
        put(workspace, f"evidence/{name}.md", f"Text {name}.")
    told = name_changes(take_inventory(namespace, notify=lambda _: None).changes)
    assert told.startswith("5 added (raw/evidence/a.md; raw/evidence/b.md; ")
    assert told.endswith("; and 2 more)")
