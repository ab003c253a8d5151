"""Who a document is: the table of the architecture's section on identity, row by row."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.embedding import model_fingerprints
from rag_assets.publishing import DocumentLine, list_documents
from rag_assets.publishing.catalogue import catalogue_name, open_catalogue
from rag_assets.publishing.verifying import citability_conflicts
from rag_assets.storage import current_folder
from rag_assets.workspace import (
    Binding,
    Claim,
    Namespace,
    Workspace,
    reconcile,
    require_inventory,
    take_inventory,
)
from rag_assets_tests.laws.driver import (
    build,
    make_workspace,
    put,
    put_sidecar,
    silent,
    state_of,
    uids_of,
)
from rag_assets_tests.laws.strategies import bindings, raw_folders

ROOFS = "# Roofs\n\nCool roofs reflect sunlight and stay cooler than dark ones.\n"
LEAF = "# 叶片\n\n二氧化碳浓度升高使植物叶片的气孔导度下降。\n"
WALLS = "# Walls\n\nNight ventilation flushes the warmth of the day out of heavy walls.\n"


def stock(namespace: Namespace) -> dict[str, str]:
    """Take the inventory and return path below raw/ → uid."""
    take_inventory(namespace, notify=silent)
    return uids_of(namespace)


def documents(namespace: Namespace) -> list[DocumentLine]:
    return list_documents(namespace, model_fingerprints(namespace.settings.embed))


def published(namespace: Namespace, columns: str, table: str = "documents") -> list[Any]:
    folder = current_folder(namespace.publications, namespace.name)
    with open_catalogue(folder / catalogue_name(folder.name)) as connection:
        return connection.execute(f"SELECT {columns} FROM {table} ORDER BY ALL").fetchall()


def test_uid_is_the_slug_of_the_stem_with_chinese_kept(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/Cool_Roofs (2021).md", ROOFS)
    put(workspace, "evidence/ＡＢＣ 叶片·气孔.md", LEAF)
    put(workspace, "evidence/---.md", WALLS)
    assert sorted(stock(namespace).values()) == ["abc-叶片-气孔", "cool-roofs-2021", "document"]


def test_edited_file_keeps_its_uid_as_a_new_version(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/roofs.md", ROOFS)
    build(namespace)
    before = published(namespace, "doc_uid, doc_id, content_hash, version")
    put(workspace, "evidence/roofs.md", ROOFS + "They are painted white.\n")
    outcome = build(namespace).published
    after = published(namespace, "doc_uid, doc_id, content_hash, version")
    assert (before[0][0], before[0][3]) == ("roofs", 1)
    assert (after[0][0], after[0][3]) == ("roofs", 2)
    assert before[0][1] != after[0][1]
    assert before[0][2] != after[0][2]
    assert outcome is not None
    assert outcome.warnings == ()


def test_file_replaced_by_another_text_keeps_its_uid_and_is_warned_of(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/roofs.md", ROOFS)
    build(namespace)
    put(workspace, "evidence/roofs.md", LEAF)
    outcome = build(namespace).published
    assert uids_of(namespace) == {"evidence/roofs.md": "roofs"}
    assert outcome is not None
    (warning,) = outcome.warnings
    assert warning.startswith("replaced: 'roofs' (raw/evidence/roofs.md)")


def test_file_removed_and_later_replaced_at_its_path_keeps_its_uid(
    workspace: Workspace, namespace: Namespace
) -> None:
    path = put(workspace, "evidence/roofs.md", ROOFS)
    stock(namespace)
    path.unlink()
    assert stock(namespace) == {}
    put(workspace, "evidence/roofs.md", WALLS)
    assert stock(namespace) == {"evidence/roofs.md": "roofs"}


def test_renamed_file_keeps_its_uid(workspace: Workspace, namespace: Namespace) -> None:
    path = put(workspace, "evidence/roofs.md", ROOFS)
    stock(namespace)
    path.rename(path.with_name("another name.md"))
    assert stock(namespace) == {"evidence/another name.md": "roofs"}


def test_citability_follows_the_place_a_file_is_moved_to(
    workspace: Workspace, namespace: Namespace
) -> None:
    path = put(workspace, "evidence/roofs.md", ROOFS)
    build(namespace)
    assert published(namespace, "doc_uid, citable, source_type") == [("roofs", True, "evidence")]
    path.rename(workspace.root / "raw/instruction/roofs.md")
    build(namespace)
    assert published(namespace, "doc_uid, citable, source_type") == [
        ("roofs", False, "instruction")
    ]
    assert published(namespace, "DISTINCT doc_uid, citable", "chunks") == [("roofs", False)]


def test_file_edited_and_renamed_at_once_is_a_new_document_and_is_shown(
    workspace: Workspace, namespace: Namespace
) -> None:
    path = put(workspace, "evidence/roofs.md", ROOFS)
    build(namespace)
    path.unlink()
    put(workspace, "evidence/roofs v2.md", ROOFS + "They are white.\n")
    build(namespace)
    lines = {line.doc_uid: line for line in documents(namespace)}
    assert lines["roofs-v2"].status == "published"
    assert lines["roofs"].status == "removed"
    assert "doc_uid: roofs" in (lines["roofs"].message or "")


def test_pin_gives_a_renamed_and_edited_file_its_old_uid(
    workspace: Workspace, namespace: Namespace
) -> None:
    path = put(workspace, "evidence/roofs.md", ROOFS)
    stock(namespace)
    path.unlink()
    put(workspace, "evidence/roofs v2.md", ROOFS + "They are white.\n")
    put_sidecar(workspace, "evidence/roofs v2.md", doc_uid="roofs")
    assert stock(namespace) == {"evidence/roofs v2.md": "roofs"}


def test_copies_are_one_document_with_two_sources(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/roofs.md", ROOFS)
    put(workspace, "evidence/copy.md", ROOFS)
    build(namespace)
    assert published(namespace, "doc_uid") == [("copy",)]
    assert published(namespace, "path, doc_uid", "sources") == [
        ("evidence/copy.md", "copy"),
        ("evidence/roofs.md", "copy"),
    ]


def test_last_source_that_goes_takes_the_document_with_it(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/roofs.md", ROOFS)
    stock(namespace)
    copy = put(workspace, "evidence/a copy.md", ROOFS)
    build(namespace)
    (workspace.root / "raw/evidence/roofs.md").unlink()
    build(namespace)
    assert published(namespace, "doc_uid, source_uri") == [("roofs", "raw/evidence/a copy.md")]
    copy.unlink()
    build(namespace)
    assert published(namespace, "doc_uid") == []


def test_original_edited_after_being_copied_gets_a_new_uid_and_it_is_said(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/roofs.md", ROOFS)
    stock(namespace)
    put(workspace, "evidence/copy.md", ROOFS)
    stock(namespace)
    put(workspace, "evidence/roofs.md", ROOFS + "They are white.\n")
    outcome = take_inventory(namespace, notify=silent)
    assert uids_of(namespace) == {"evidence/copy.md": "roofs", "evidence/roofs.md": "roofs-2"}
    (note,) = outcome.identities.notes.values()
    assert "'roofs' stays with the untouched copy" in note


def test_old_bytes_that_come_back_elsewhere_take_no_uid_from_the_edited_file(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/roofs.md", ROOFS)
    stock(namespace)
    put(workspace, "evidence/roofs.md", ROOFS + "They are white.\n")
    stock(namespace)
    put(workspace, "evidence/backup.md", ROOFS)
    assert stock(namespace) == {"evidence/backup.md": "backup", "evidence/roofs.md": "roofs"}


def test_pins_exchange_the_uids_of_two_documents(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/roofs.md", ROOFS)
    put(workspace, "evidence/walls.md", WALLS)
    stock(namespace)
    put_sidecar(workspace, "evidence/roofs.md", doc_uid="walls")
    put_sidecar(workspace, "evidence/walls.md", doc_uid="roofs")
    build(namespace)
    assert uids_of(namespace) == {"evidence/roofs.md": "walls", "evidence/walls.md": "roofs"}
    titles = published(namespace, "doc_uid, title")
    assert titles == [("roofs", "Walls"), ("walls", "Roofs")]


def test_files_that_exchange_names_take_their_uids_along(
    workspace: Workspace, namespace: Namespace
) -> None:
    roofs = put(workspace, "evidence/roofs.md", ROOFS)
    walls = put(workspace, "evidence/walls.md", WALLS)
    stock(namespace)
    roofs.rename(roofs.with_name("x.md"))
    walls.rename(roofs)
    roofs.with_name("x.md").rename(walls)
    build(namespace)
    assert uids_of(namespace) == {"evidence/roofs.md": "walls", "evidence/walls.md": "roofs"}
    assert published(namespace, "doc_uid, title") == [("roofs", "Roofs"), ("walls", "Walls")]


def test_equal_texts_of_other_bytes_are_two_documents_that_name_each_other(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/roofs.md", ROOFS)
    put(workspace, "evidence/windows.md", ROOFS.replace("\n", "\r\n"))
    build(namespace)
    rows = published(namespace, "doc_uid, same_text_as, doc_id, chunks")
    assert [row[:2] for row in rows] == [("roofs", ["windows"]), ("windows", ["roofs"])]
    assert rows[0][2] == rows[1][2]
    assert rows[0][3] == rows[1][3] > 0


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


def test_uids_come_back_from_the_journal_when_derived_files_are_lost(
    workspace: Workspace, namespace: Namespace
) -> None:
    path = put(workspace, "evidence/roofs.md", ROOFS)
    put(workspace, "evidence/walls.md", WALLS)
    build(namespace)
    path.rename(path.with_name("zz.md"))
    build(namespace)
    before = state_of(namespace)
    for name in ("data", "index", "meta/inventory"):
        shutil.rmtree(workspace.root / name)
    build(namespace)
    assert uids_of(namespace)["evidence/zz.md"] == "roofs"
    assert state_of(namespace) == before


def test_uids_come_from_stems_in_path_order_when_the_journal_is_lost_and_it_is_said(
    workspace: Workspace, namespace: Namespace
) -> None:
    path = put(workspace, "evidence/roofs.md", ROOFS)
    put(workspace, "evidence/walls.md", WALLS)
    build(namespace)
    path.rename(path.with_name("zz.md"))
    build(namespace)
    namespace.journal.unlink()
    said: list[str] = []
    outcome = take_inventory(namespace, notify=said.append)
    assert uids_of(namespace) == {"evidence/walls.md": "walls", "evidence/zz.md": "zz"}
    assert any("journal" in sentence for sentence in (*said, *outcome.warnings))


def test_nothing_is_said_of_a_journal_that_was_never_there(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/roofs.md", ROOFS)
    said: list[str] = []
    outcome = take_inventory(namespace, notify=said.append)
    assert (said, outcome.warnings) == ([], ())


def test_citation_of_an_unchanged_passage_outlives_an_edit_before_it(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/roofs.md", f"{ROOFS}\n{WALLS}")
    build(namespace)
    before = dict(published(namespace, "text, citation_id", "chunks"))
    ids = dict(published(namespace, "text, chunk_id", "chunks"))
    put(workspace, "evidence/roofs.md", f"# Preface\n\nA new word first.\n\n{ROOFS}\n{WALLS}")
    build(namespace)
    after = dict(published(namespace, "text, citation_id", "chunks"))
    (kept,) = [text for text in before if "ventilation" in text]
    assert after[kept] == before[kept]
    assert dict(published(namespace, "text, chunk_id", "chunks"))[kept] != ids[kept]
    assert before[kept].startswith("kb:lib__chunk-")


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

EXAMPLES = settings(max_examples=300, deadline=None, derandomize=True, database=None)


@EXAMPLES
@given(bindings, raw_folders())
def test_every_content_has_one_uid_of_its_own_or_is_withheld(
    journal: list[Binding], claims: list[Claim]
) -> None:
    found = reconcile(journal, claims)
    living = {claim.content_hash for claim in claims}
    assert living == found.uids.keys() | found.withheld.keys()
    assert not found.uids.keys() & found.withheld.keys()
    assert len(set(found.uids.values())) == len(found.uids)


@EXAMPLES
@given(st.lists(raw_folders(), min_size=1, max_size=5))
def test_reconciling_again_changes_nothing(folders: list[list[Claim]]) -> None:
    journal: list[Binding] = []
    for claims in folders:
        found = reconcile(journal, claims)
        journal += found.events
        again = reconcile(journal, claims)
        assert again.events == ()
        assert (again.uids, again.withheld) == (found.uids, found.withheld)


@EXAMPLES
@given(bindings, raw_folders())
def test_order_of_arrival_decides_nothing(journal: list[Binding], claims: list[Claim]) -> None:
    assert reconcile(journal, claims) == reconcile(journal, claims[::-1])


@EXAMPLES
@given(st.lists(raw_folders(), min_size=2, max_size=5))
def test_living_content_keeps_its_uid_unless_a_pin_moves_it(folders: list[list[Claim]]) -> None:
    journal: list[Binding] = []
    before: dict[str, str] = {}
    for claims in folders:
        found = reconcile(journal, claims)
        pinned = {claim.content_hash for claim in claims if claim.pin}
        for content, uid in before.items():
            if content in found.uids and content not in pinned:
                assert found.uids[content] == uid
        journal += found.events
        before = found.uids


@EXAMPLES
@given(st.lists(raw_folders(), min_size=2, max_size=5))
def test_uid_goes_on_to_other_content_only_by_an_edit_at_its_path_or_a_pin(
    folders: list[list[Claim]],
) -> None:
    journal: list[Binding] = []
    for claims in folders:
        owners = {binding.doc_uid: binding.content_hash for binding in journal}
        at_path = {binding.path: binding.doc_uid for binding in journal}
        known = {binding.content_hash for binding in journal}
        pins = {(claim.content_hash, claim.pin) for claim in claims}
        found = reconcile(journal, claims)
        for content, uid in found.uids.items():
            before = {b.doc_uid for b in journal if b.content_hash == content}
            if owners.get(uid) in {None, content} or uid in before or (content, uid) in pins:
                continue
            paths = [claim.path for claim in claims if claim.content_hash == content]
            assert content not in known
            assert any(at_path.get(path) == uid for path in paths)
        journal += found.events
