"""Drafts: a journal of operations, one editor wins, and a publication that says what was edited."""

import json
import multiprocessing
from pathlib import Path

import pytest
from click.testing import CliRunner

from rag_assets.auditing.published import open_published
from rag_assets.chunking.editing import DraftEditor, has_stale_edits
from rag_assets.chunking.editing.journal import journal_key, read_history
from rag_assets.cli.main import build_cli
from rag_assets.embedding import model_fingerprints
from rag_assets.evidence.making import make_pack
from rag_assets.evidence.pack import pack_from_json, pack_to_json
from rag_assets.evidence.question import Question
from rag_assets.evidence.rendering import render_pack
from rag_assets.model import DamagedFileError, DraftMovedError, UsageError
from rag_assets.publishing import list_documents
from rag_assets.retrieval import Reader
from rag_assets.storage import current_folder
from rag_assets.tracing import trace
from rag_assets.tracing.querying import open_sql
from rag_assets.workspace import Namespace, Workspace, require_inventory
from rag_assets_tests.editing.conftest import ROOFS
from rag_assets_tests.editing.drafting import AT, open_editor
from rag_assets_tests.laws.driver import build, observe_encoding, put

EDIT_STAGES = ("chunk_edits", "embeddings", "search_index")


def found(namespace: Namespace, query: str) -> list[str]:
    folder = current_folder(namespace.publications, namespace.name)
    with Reader(folder, namespace.name, folder.name) as reader:
        return [hit.text for hit, _ in reader.search_text(query, 5)]


def texts(namespace: Namespace, uid: str = "roofs") -> list[str]:
    folder = current_folder(namespace.publications, namespace.name)
    with Reader(folder, namespace.name, folder.name) as reader:
        rows = reader.fetch_chunks(uid, ["text", "edited"]).to_pylist()
    return [row["edited"] or row["text"] for row in rows]


def waiting(namespace: Namespace) -> list[tuple[int, str, str]]:
    with open_sql(namespace.workspace) as connection:
        query = "SELECT number, seen, now FROM chunk_edits WHERE status = 'waiting' ORDER BY ALL"
        return connection.execute(query).fetchall()


def notes(namespace: Namespace) -> list[str]:
    lines = list_documents(namespace, model_fingerprints(namespace.settings.embed))
    return [note for line in lines for note in line.notes]


def statuses(namespace: Namespace) -> list[tuple[str, str, int]]:
    with open_sql(namespace.workspace) as connection:
        return connection.execute("SELECT doc_uid, status, operations FROM drafts").fetchall()


def publish_edit(namespace: Namespace, text: str = "Zebras keep cool.") -> str:
    """Edit the second chunk, publish it; returns what is printed there."""
    editor = open_editor(namespace, "roofs")
    editor.create()
    chunk = editor.draft().chunks[1]
    editor.edit_text(chunk.key, text, reason="a scan")
    editor.publish()
    return chunk.printed


def test_a_published_edit_is_found_and_costs_its_own_vector_alone(namespace: Namespace) -> None:
    printed = publish_edit(namespace)
    assert has_stale_edits(namespace, require_inventory(namespace))
    assert found(namespace, "zebras") == [], "nothing is published before the build"
    with observe_encoding() as encoded:
        build(namespace, EDIT_STAGES)
    assert encoded == ["Zebras keep cool."]
    assert found(namespace, "zebras") == [printed], "what is printed stays the text"
    assert not has_stale_edits(namespace, require_inventory(namespace))
    assert statuses(namespace) == [("roofs", "published", 1)]


def test_a_draft_that_is_not_published_changes_nothing(namespace: Namespace) -> None:
    before = current_folder(namespace.publications, "lib").name
    editor = open_editor(namespace, "roofs")
    editor.create()
    editor.disable(0)
    build(namespace)
    assert current_folder(namespace.publications, "lib").name == before
    (note,) = notes(namespace)
    assert "a draft of its chunks is open, begun by ann at 2026-03-01T12:00:00+00:00" in note
    assert statuses(namespace) == [("roofs", "draft", 1)]
    editor.discard()
    assert notes(namespace) == []
    assert statuses(namespace) == [("roofs", "archived", 0)]
    assert open_editor(namespace, "roofs").draft().chunks[0].is_enabled


def test_of_two_editors_one_is_told(namespace: Namespace) -> None:
    open_editor(namespace, "roofs").create()
    ann, bob = open_editor(namespace, "roofs"), open_editor(namespace, "roofs", by="bob")
    ann.disable(0)
    with pytest.raises(DraftMovedError, match=r"ann: operation.*you have seen 1"):
        bob.edit_text(1, "Bob's text.")
    assert read_history(namespace, "roofs").revision == 2
    with pytest.raises(DraftMovedError):
        type(ann)(namespace, "roofs", by="bob", revision=1)
    again = open_editor(namespace, "roofs", by="bob")
    again.edit_text(1, "Bob's text.")
    events = read_history(namespace, "roofs").events
    assert [(each.number, each.by) for each in events] == [(1, "ann"), (2, "ann"), (3, "bob")]
    assert {each.at for each in events} == {AT.isoformat()}


def _race(root: Path, name: str, gate, told) -> None:
    namespace = Workspace.open(root).namespace("lib")
    editor = open_editor(namespace, "roofs", by=name)
    gate.wait()
    try:
        editor.edit_text(1, f"Text of {name}.")
        told.put((name, "won"))
    except DraftMovedError:
        told.put((name, "told"))


def test_of_processes_that_edit_at_once_one_wins(namespace: Namespace) -> None:
    open_editor(namespace, "roofs").create()
    spawn = multiprocessing.get_context("spawn")
    gate, told = spawn.Barrier(3), spawn.Queue()
    root = namespace.workspace.root
    racers = [
        spawn.Process(target=_race, args=(root, name, gate, told)) for name in ("a", "b", "c")
    ]
    for racer in racers:
        racer.start()
    outcomes = dict(told.get(timeout=300) for _ in racers)
    for racer in racers:
        racer.join()
    assert sorted(outcomes.values()) == ["told", "told", "won"]
    assert read_history(namespace, "roofs").revision == 2


def test_undo_is_an_operation_and_keeps_what_others_build_on(namespace: Namespace) -> None:
    editor = open_editor(namespace, "roofs")
    editor.create()
    editor.edit_text(1, "Zebras keep cool.")
    editor.split_at(1, len("Zebras"))
    with pytest.raises(UsageError, match="operations 3 build on operation 2"):
        editor.undo(2)
    editor.undo()
    assert [c.text for c in editor.draft().chunks][1] == "Zebras keep cool."
    editor.undo(4)  # takes the undoing back
    assert [c.text for c in editor.draft().chunks][1:3] == ["Zebras", "keep cool."]
    assert editor.history.revision == 5
    with pytest.raises(UsageError, match="no operation 9"):
        editor.undo(9)


REFUSED = [
    (lambda e: e.edit_text(0, " \n"), "is empty"),
    (lambda e: e.edit_text(0, e.draft().chunks[0].text), "this text already"),
    (lambda e: e.edit_text(0, "long " * 20_000), "at most 50000"),
    (lambda e: e.split_at(0, 0), "must be inside"),
    (lambda e: e.merge_with_next(len(e.draft().chunks) - 1), "last chunk"),
    (lambda e: e.move_after(0, 0), "beside itself"),
    (lambda e: e.reparent(0, "p999"), "got 'p999'"),
    (lambda e: e.enable(0), "enabled already"),
    (lambda e: e.disable("nothing"), "no chunk 'nothing'"),
    (lambda e: e.create(), "has a draft already"),
    (lambda e: e.publish(), "changes nothing"),
]


@pytest.mark.parametrize("end", ["publish", "discard"])
def test_ending_a_draft_again_enters_nothing(namespace: Namespace, end: str) -> None:
    editor = open_editor(namespace, "roofs")
    with pytest.raises(UsageError, match="has no draft"):
        getattr(editor, end)()
    editor.create()
    editor.edit_text(0, "Zebras keep cool.")
    getattr(editor, end)()
    for seen in (2, 3, None):  # a command that is repeated names the revision of before
        again = DraftEditor(namespace, "roofs", by="ann", revision=seen)
        getattr(again, end)()
        assert again.history.revision == 3
    with pytest.raises(DraftMovedError):
        DraftEditor(namespace, "roofs", by="bob", revision=2)
    other = {"publish": "discard", "discard": "publish"}[end]
    with pytest.raises(UsageError, match="has no draft"):
        getattr(again, other)()


def test_what_cannot_be_done_is_refused_and_written_nowhere(namespace: Namespace) -> None:
    editor = open_editor(namespace, "roofs")
    with pytest.raises(UsageError, match="has no draft"):
        editor.disable(0)
    editor.create()
    for do, told in REFUSED:
        with pytest.raises(UsageError, match=told):
            do(editor)
    assert read_history(namespace, "roofs").revision == 1
    with pytest.raises(UsageError, match="no document 'nobody'"):
        open_editor(namespace, "nobody")
    with pytest.raises(UsageError, match="say who edits"):
        open_editor(namespace, "roofs", by=" ")


def test_edits_outlive_an_edit_of_the_file_and_another_cut(namespace: Namespace) -> None:
    publish_edit(namespace)
    build(namespace)
    put(namespace.workspace, "evidence/roofs.md", f"A new beginning of it all.\n\n{ROOFS}")
    build(namespace)
    assert "Zebras keep cool." in texts(namespace)
    assert waiting(namespace) == []
    wider = {"target_tokens": 40, "min_tokens": 20, "max_tokens": 60, "parent_tokens": 120}
    changed = namespace.settings.model_copy(
        update={"chunk": namespace.settings.chunk.model_copy(update=wider)}
    )
    other = type(namespace)(namespace.workspace, namespace.name, changed)
    build(other)
    assert "Zebras keep cool." in texts(other)
    assert waiting(other) == []


def test_an_edit_of_the_passage_itself_makes_a_conflict_that_waits(namespace: Namespace) -> None:
    printed = publish_edit(namespace)
    build(namespace)
    now = printed.replace("leaf", "plant")
    put(namespace.workspace, "evidence/roofs.md", ROOFS.replace(printed, now))
    built = build(namespace)
    assert waiting(namespace) == [(2, printed, now)]
    assert "Zebras keep cool." not in texts(namespace)
    assert now in texts(namespace)
    warnings = [w for o in built.stages["chunk_edits"].values() for w in o.warnings]
    assert len(warnings) == 1
    assert "roofs: 1 edit could not be applied" in warnings[0]
    edit = ["edit", "roofs", "disable", "0"]
    command = ["--workspace", str(namespace.workspace.root), "draft", *edit]
    assert "1 edit waits: `rag draft show roofs`" in CliRunner().invoke(build_cli(), command).stderr
    assert (
        CliRunner().invoke(build_cli(), [*command[:3], "edit", "roofs", "discard"]).exit_code == 0
    )
    # The old text comes back: so does the edit.
    put(namespace.workspace, "evidence/roofs.md", ROOFS)
    build(namespace)
    assert "Zebras keep cool." in texts(namespace)
    assert waiting(namespace) == []


def test_a_pack_says_that_a_passage_was_edited_and_shows_what_is_printed(
    namespace: Namespace,
) -> None:
    editor = open_editor(namespace, "leaf")
    editor.create()
    chunk = editor.draft().chunks[0]
    text = chunk.text.replace("Stomata", "Zebra-like stomata")
    editor.edit_text(0, text)
    editor.publish()
    build(namespace)
    pack = make_pack(namespace.workspace, Question(question="zebra-like stomata"))
    (item,) = [item for item in pack.items if item.edited is not None]
    assert item.snippet == chunk.printed
    assert item.edited == text
    assert item.exact_quote in chunk.printed
    assert "This passage was edited" in render_pack(pack)
    assert pack_from_json(json.loads(json.dumps(pack_to_json(pack)))) == pack
    others = [each for each in pack_to_json(pack)["items"] if "edited" not in each]
    assert len(others) == len(pack.items) - 1


def test_a_disabled_chunk_is_found_by_no_search_and_trace_says_so(namespace: Namespace) -> None:
    editor = open_editor(namespace, "roofs")
    editor.create()
    chunk = editor.draft().chunks[0]
    editor.disable(0, reason="a running head")
    editor.publish()
    before = len(texts(namespace))
    build(namespace)
    assert len(texts(namespace)) == before - 1
    assert chunk.text not in texts(namespace)
    with open_sql(namespace.workspace) as connection:
        ((name,),) = connection.execute("SELECT unnest(disabled_ids) FROM chunk_edits").fetchall()
    with pytest.raises(UsageError, match=r"no search finds it: disable by ann .*a running head"):
        trace(namespace.workspace, name)


def test_a_damaged_journal_is_named_with_its_line(namespace: Namespace) -> None:
    publish_edit(namespace)
    path = namespace.workspace.store.place(journal_key(namespace, "roofs"))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DamagedFileError, match=r"roofs-\w+\.jsonl, line 3"):
        open_editor(namespace, "roofs")


def test_verdicts_read_what_is_printed(namespace: Namespace) -> None:
    editor = open_editor(namespace, "roofs")
    editor.create()
    first, second = editor.draft().chunks[:2]
    editor.disable(0)
    editor.edit_text(1, "Zebras keep cool.")
    editor.publish()
    build(namespace)
    with open_published(namespace.workspace) as library:
        (ref,) = library.find("roofs", None)
        document = library.load(ref)
    assert second.printed in [passage.text for passage in document.passages]
    assert not any("Zebras" in passage.text for passage in document.passages)
    # It supports nothing any more, but a quotation of it is one of the document.
    assert first.printed not in [passage.text for passage in document.passages]
    assert [passage.text for passage in document.unsaid] == [first.printed]
    with open_sql(namespace.workspace) as connection:
        query = "SELECT unnest(disabled_ids) FROM chunk_edits"
        assert connection.execute(query).fetchall() == [(document.unsaid[0].citation_id,)]


def test_edits_of_a_document_that_is_gone_are_kept_and_told(namespace: Namespace) -> None:
    publish_edit(namespace)
    build(namespace)
    path = namespace.workspace.root / "raw/evidence/roofs.md"
    path.rename(path.with_name("other name.md"))
    build(namespace)
    assert "Zebras keep cool." in texts(namespace), "a renamed file keeps its uid and its edits"
    path.with_name("other name.md").unlink()
    build(namespace)
    assert [
        "1 edit of its chunks is kept, and holds again" in note for note in notes(namespace)
    ] == [True]
    put(namespace.workspace, "evidence/roofs.md", ROOFS)
    build(namespace)
    assert "Zebras keep cool." in texts(namespace)
