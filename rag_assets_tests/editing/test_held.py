"""A held document folds as if it were read again, and is read again where it was cut again."""

import random

import pytest

from rag_assets.chunking.editing import DraftEditor, HeldDocuments, fold
from rag_assets.chunking.editing.stage import HeldDocument, hold_document
from rag_assets.model import UsageError
from rag_assets.workspace import Namespace
from rag_assets_tests.editing.conftest import ROOFS
from rag_assets_tests.editing.drafting import do_at_random, open_editor
from rag_assets_tests.laws.driver import build, put


def test_any_way_through_the_operations_folds_the_same(namespace: Namespace) -> None:
    editor, draw = open_editor(namespace, "roofs"), random.Random(5)
    editor.create()
    for _ in range(90):
        try:
            do_at_random(editor, draw)
        except UsageError:  # refused: nothing was done
            continue
    operations = editor.history.drafted
    held = hold_document(namespace, "roofs")
    assert len(operations) > 20
    for _ in range(40):
        chosen = list(operations[: draw.randrange(len(operations) + 1)])
        if chosen and draw.random() < 0.5:
            chosen.pop(draw.randrange(len(chosen)))
        assert held.fold(chosen) == fold(held.cut, chosen)


def test_a_draft_of_an_earlier_revision_is_what_it_was(namespace: Namespace) -> None:
    editor, draw = open_editor(namespace, "roofs"), random.Random(7)
    editor.create()
    seen = {editor.history.revision: editor.draft()}
    while len(seen) < 12:
        try:
            do_at_random(editor, draw)
        except UsageError:
            continue
        seen[editor.history.revision] = editor.draft()
    for revision in draw.sample(sorted(seen), len(seen)):
        assert editor.draft_at(revision) == seen[revision]
    assert editor.draft() == seen[editor.history.revision]


def test_a_document_is_read_once_until_it_is_cut_anew(
    namespace: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    class Counted(HeldDocument):
        def __init__(self, *given: object) -> None:
            read.append(str(given[0]))
            super().__init__(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("rag_assets.chunking.editing.stage.HeldDocument", Counted)
    held = HeldDocuments()

    def first() -> str:
        return DraftEditor(namespace, "roofs", by="ann", held=held).draft().chunks[0].text

    assert first() == first()
    assert len(read) == 1
    put(namespace.workspace, "evidence/roofs.md", ROOFS.replace("Roofs", "Gables"))
    build(namespace)
    assert "Gables" in first()
    assert len(read) == 2
