"""The sensor of the journals of edits: it asks for the partitions of what was published."""

import pytest

from rag_assets.chunking.editing import DraftEditor
from rag_assets.workspace import Namespace, current_identities, require_inventory
from rag_assets_tests.libraries import build
from rag_assets_tests.sensors.conftest import Ask
from rag_assets_tests.sensors.test_raw_files_sensor import refused, requested, span

NAME = "thesis_chunk_edits"


@pytest.fixture
def built(namespace: Namespace) -> Namespace:
    (namespace.workspace.root / "raw/evidence/note.md").write_text("# Leaves\n\nStomata close.\n")
    (namespace.workspace.root / "raw/evidence/roof.md").write_text("# Roofs\n\nRoofs are cool.\n")
    build(namespace)
    return namespace


def test_a_published_draft_asks_for_its_partition_once(ask: Ask, built: Namespace) -> None:
    assert refused(ask(NAME)) == "no edits were published since"
    editor = DraftEditor(built, "note", by="ann")
    editor.create()
    editor.edit_text(0, "Stomata open.")
    assert "no edits" in refused(ask(NAME)), "a draft is not published yet"
    editor.publish()
    request = requested(ask(NAME))
    uids = current_identities(built, require_inventory(built)).uids
    (content,) = [content for content, uid in uids.items() if uid == "note"]
    assert span(request) == (built.partition_of(content),) * 2
    assert request.tags["rag/reason"] == "edits of chunks were published"
    build(built)
    assert refused(ask(NAME)) == "no edits were published since"


def test_before_the_first_publication_there_is_nothing_to_edit(ask: Ask) -> None:
    assert refused(ask(NAME)) == "nothing is published yet"
