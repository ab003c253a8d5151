"""Who gets a uid, and who is citable, where several files claim the same."""

from pathlib import Path

import pytest

from rag_assets.publishing.status import citability_conflicts
from rag_assets.workspace import (
    Namespace,
    Workspace,
    require_inventory,
)
from rag_assets_tests.laws.driver import (
    build,
    make_workspace,
    put,
    put_sidecar,
    uids_of,
)
from rag_assets_tests.laws.identities import (
    LEAF,
    ROOFS,
    WALLS,
    documents,
    published,
    stock,
)


def test_same_bytes_as_evidence_and_instruction_are_not_citable_until_resolved(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/roofs.md", ROOFS)
    rubric = put(workspace, "instruction/rubric.md", ROOFS)
    build(namespace)
    assert published(namespace, "DISTINCT citable", "chunks") == [(False,)]
    (sentence,) = citability_conflicts(require_inventory(namespace))
    assert "raw/evidence/roofs.md" in sentence
    assert "raw/instruction/rubric.md" in sentence
    rubric.unlink()
    build(namespace)
    assert published(namespace, "DISTINCT citable", "chunks") == [(True,)]
    assert list(citability_conflicts(require_inventory(namespace))) == []


def test_of_two_stems_alike_the_first_path_gets_the_plain_slug(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/b/roofs.md", ROOFS)
    put(workspace, "evidence/a/Roofs.md", WALLS)
    assert stock(namespace) == {"evidence/a/Roofs.md": "roofs", "evidence/b/roofs.md": "roofs-2"}


def test_newcomer_takes_no_uid_from_who_has_it(workspace: Workspace, namespace: Namespace) -> None:
    put(workspace, "evidence/b/roofs.md", ROOFS)
    stock(namespace)
    put(workspace, "evidence/a/roofs.md", WALLS)
    assert stock(namespace) == {"evidence/a/roofs.md": "roofs-2", "evidence/b/roofs.md": "roofs"}


def test_uid_of_a_removed_document_is_not_given_to_another(
    workspace: Workspace, namespace: Namespace
) -> None:
    path = put(workspace, "evidence/roofs.md", ROOFS)
    stock(namespace)
    path.unlink()
    stock(namespace)
    put(workspace, "evidence/deep/roofs.md", WALLS)
    assert stock(namespace) == {"evidence/deep/roofs.md": "roofs-2"}


def test_uid_pinned_twice_stays_with_the_first_and_withholds_the_other(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/a.md", ROOFS)
    put(workspace, "evidence/b.md", WALLS)
    put(workspace, "evidence/c.md", LEAF)
    for name in ("a", "b"):
        put_sidecar(workspace, f"evidence/{name}.md", doc_uid="shared")
    build(namespace)
    assert uids_of(namespace) == {"evidence/a.md": "shared", "evidence/c.md": "c"}
    assert published(namespace, "doc_uid") == [("c",), ("shared",)]
    (line,) = [line for line in documents(namespace) if line.status == "withheld"]
    assert line.reason_code == "uid_conflict"
    assert "raw/evidence/a.md" in (line.message or "")
    assert "raw/evidence/b.md" in (line.message or "")


def test_pin_onto_a_living_uid_withholds_the_claimant(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/walls.md", WALLS)
    stock(namespace)
    put(workspace, "evidence/a.md", ROOFS)
    put_sidecar(workspace, "evidence/a.md", doc_uid="walls")
    build(namespace)
    assert uids_of(namespace) == {"evidence/walls.md": "walls"}
    assert published(namespace, "doc_uid, title") == [("walls", "Walls")]


def test_withheld_claimant_is_published_once_its_pin_is_corrected(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/walls.md", WALLS)
    put(workspace, "evidence/a.md", ROOFS)
    stock(namespace)
    put_sidecar(workspace, "evidence/a.md", doc_uid="walls")
    assert "evidence/a.md" not in stock(namespace)
    put_sidecar(workspace, "evidence/a.md", doc_uid="roofs-2021")
    assert stock(namespace)["evidence/a.md"] == "roofs-2021"


def test_uid_stays_when_its_pin_is_removed(workspace: Workspace, namespace: Namespace) -> None:
    put(workspace, "evidence/roofs.md", ROOFS)
    sidecar = put_sidecar(workspace, "evidence/roofs.md", doc_uid="pinned")
    stock(namespace)
    sidecar.unlink()
    assert stock(namespace) == {"evidence/roofs.md": "pinned"}


def test_same_bytes_in_two_namespaces_are_two_documents(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, one={"raw": ["raw/one"]}, two={"raw": ["raw/two"]})
    put(workspace, "one/evidence/roofs.md", ROOFS)
    put(workspace, "two/evidence/coatings.md", ROOFS)
    for name in ("one", "two"):
        build(workspace.namespace(name))
    assert published(workspace.namespace("one"), "doc_key") == [("one::roofs",)]
    assert published(workspace.namespace("two"), "doc_key") == [("two::coatings",)]


def test_copies_with_other_sidecars_follow_the_first_path_and_it_is_said(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/a.md", ROOFS)
    put(workspace, "evidence/b.md", ROOFS)
    put_sidecar(workspace, "evidence/a.md", title="From a")
    put_sidecar(workspace, "evidence/b.md", title="From b")
    build(namespace)
    assert published(namespace, "title") == [("From a",)]
    (line,) = documents(namespace)
    assert any("different sidecars" in note for note in line.notes)


@pytest.mark.parametrize("lowered", [True, False])
def test_sidecar_lowers_citability_and_never_raises_it(
    workspace: Workspace, namespace: Namespace, lowered: bool
) -> None:
    place = "evidence" if lowered else "instruction"
    put(workspace, f"{place}/a.md", ROOFS)
    put_sidecar(workspace, f"{place}/a.md", citable=not lowered)
    build(namespace)
    assert published(namespace, "citable") == [(False,)]


# What holds for every journal and every folder.
