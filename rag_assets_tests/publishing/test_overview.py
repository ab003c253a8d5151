"""`rag status` says what no build mends, and what waits for the next publication."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from rag_assets.chunking.stage import refresh_chunks, refresh_parents
from rag_assets.embedding import embedding_models, joint_tokenizer, model_fingerprints
from rag_assets.embedding.stage import refresh_embeddings
from rag_assets.model.settings import Watching
from rag_assets.parsing.stage import refresh_parse_reports
from rag_assets.publishing import describe_namespace, list_documents, publish
from rag_assets.workspace import (
    Namespace,
    Workspace,
    require_inventory,
    set_metadata,
    take_inventory,
)
from rag_assets_tests.libraries import HASHING, build, make_workspace
from rag_assets_tests.parsing.made_up_pdfs import make_pdf, paragraph


@pytest.fixture(autouse=True)
def files_rest_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watching, "rest_seconds", 0.0)


def state_of(namespace: Namespace) -> dict[str, Any]:
    return describe_namespace(namespace, model_fingerprints(namespace.settings.embed))


def test_files_that_failed_are_counted_with_the_command_that_names_them(tmp_path: Path) -> None:
    files = {"evidence/a.md": "# A\n\nRoofs are cool.\n", "evidence/broken.pdf": "%PDF-1.7"}
    namespace = make_workspace(tmp_path, files, HASHING).namespace("thesis")
    build(namespace)
    state = state_of(namespace)
    assert (state["stale"], state["mend"]) == ([], None)
    (sentence,) = state["amiss"]
    assert sentence.startswith("1 document could not be read")
    assert "`rag documents --namespace thesis --status failed`" in sentence


def test_an_override_waits_for_the_next_publication_and_for_no_more(tmp_path: Path) -> None:
    files = {"evidence/a.md": "# A\n\nRoofs are cool.\n"}
    namespace = make_workspace(tmp_path, files, HASHING).namespace("thesis")
    build(namespace)
    set_metadata(namespace, "a", "title", "On roofs", "as printed")
    state = state_of(namespace)
    assert state["mend"] == "rag ingest --namespace thesis"
    assert "metadata was overridden" in str(state["stale"])
    # As `rag ingest` does: the other stages are left alone.
    publish(namespace, embedding_models(namespace.settings.embed), lambda _: None)
    assert state_of(namespace)["stale"] == []


def test_stages_run_one_by_one_leave_nothing_stale_but_what_is(tmp_path: Path) -> None:
    files = {"evidence/a.md": "# A\n\nRoofs are cool.\n"}
    namespace = make_workspace(tmp_path, files, HASHING).namespace("thesis")
    models = embedding_models(namespace.settings.embed)
    take_inventory(namespace, notify=print)
    inventory = require_inventory(namespace)
    keys, tokenizer = namespace.partition_keys, joint_tokenizer(namespace.settings.embed)
    refresh_parse_reports(namespace, inventory, keys, print)
    refresh_parents(namespace, inventory, keys, tokenizer, print)
    refresh_chunks(namespace, inventory, keys, tokenizer, print)
    publish(namespace, models, print)
    told = str(state_of(namespace)["stale"])
    assert ("vectors are to come" in told, "configuration" in told) == (True, False)
    refresh_embeddings(namespace, inventory, keys, models, print)
    publish(namespace, models, print)
    assert state_of(namespace)["stale"] == []
    changed = {**HASHING, "chunk": {"target_tokens": 100}}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(changed), encoding="utf-8")
    namespace = Workspace.open(tmp_path).namespace("thesis")
    publish(namespace, models, print)
    assert state_of(namespace)["stale"] == [
        "the configuration has changed since the last whole build"
    ]


def test_a_pdf_that_was_cut_off_has_a_note_in_the_list_of_documents(tmp_path: Path) -> None:
    whole = make_pdf([paragraph("Roofs are cool.") for _ in range(3)])
    files: dict[str, str | bytes] = {"evidence/cut.pdf": whole[: len(whole) * 3 // 4]}
    namespace = make_workspace(tmp_path, files).namespace("thesis")
    build(namespace)
    (line,) = list_documents(namespace, model_fingerprints(namespace.settings.embed))
    assert line.status == "published"
    assert any("text may be missing" in warning for warning in line.warnings)
