"""Who a document is through edits, moves and losses: the architecture's table, row by row."""

import shutil

from rag_assets.workspace import (
    Namespace,
    Workspace,
    take_inventory,
)
from rag_assets_tests.laws.driver import (
    build,
    put,
    put_sidecar,
    silent,
    state_of,
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
