"""Any publication that stands has a build manifest, written once."""

import json
from pathlib import Path

import pytest

from rag_assets.model import UsageError
from rag_assets.storage import Maker, working_as
from rag_assets.tracing import write_build_manifest
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import build, make_workspace, write_raw

FILES = {
    "evidence/roofs.md": "# Roofs\n\nA green roof was cooler.\n",
    "evidence/empty.md": "",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path / "library", FILES)


def test_an_earlier_publication_has_a_manifest_of_its_own_inputs(workspace: Workspace) -> None:
    namespace = workspace.namespace("thesis")
    with working_as(Maker("run-1", "4", "c" * 64, "0.1")):
        first = build(namespace).publication
    write_raw(workspace, "evidence/walls.md", "# Walls\n\nPlanted walls were cooler.\n")
    with working_as(Maker("run-2", "4", "c" * 64, "0.1")):
        second = build(namespace).publication
    one, two = (write_build_manifest(namespace, name) for name in (first, second))
    assert [each["doc_uid"] for each in one.content["inputs"]] == ["roofs"]
    assert [each["doc_uid"] for each in two.content["inputs"]] == ["roofs", "walls"]
    assert [each["path"] for each in one.content["not_published"]] == ["raw/evidence/empty.md"]
    assert (one.content["run_id"], two.content["run_id"]) == ("run-1", "run-2")
    assert two.content["stages"]["chunks"]["run_ids"] == ["run-1", "run-2"]
    assert two.content["stages"]["chunks"]["computed_in_this_build"] == 1
    chunks = json.loads(two.path.with_name("chunk_manifest.json").read_text(encoding="utf-8"))
    assert [(each["doc_uid"], each["is_reused"]) for each in chunks["documents"]] == [
        ("roofs", True), ("walls", False),
    ]  # fmt: skip
    assert chunks["settings"]["target_tokens"] == namespace.settings.chunk.target_tokens


def test_a_manifest_is_written_once(workspace: Workspace) -> None:
    namespace = workspace.namespace("thesis")
    publication = build(namespace).publication
    made = write_build_manifest(namespace, publication)
    before = made.path.read_bytes()
    again = write_build_manifest(namespace, publication)
    assert (made.is_new, again.is_new) == (True, False)
    assert made.path.read_bytes() == before
    assert again.content == made.content


def test_a_publication_that_does_not_stand_is_named(workspace: Workspace) -> None:
    namespace = workspace.namespace("thesis")
    build(namespace)
    with pytest.raises(UsageError, match="is unknown; these exist"):
        write_build_manifest(namespace, "p-0000")
