"""The commands that report on a workspace, through their front door; and that no key gets out."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from click.testing import CliRunner, Result

from rag_assets.cli.main import COMMANDS, build_cli
from rag_assets.running import open_instance
from rag_assets.workspace import Workspace, current_overrides
from rag_assets_tests.e2e.workspaces import NOTES, SETTINGS, saved_by
from rag_assets_tests.embedding.vector_server import DIMENSION, answer_openai
from rag_assets_tests.libraries import make_workspace
from rag_assets_tests.services.loopback import Status, serve

Rag = Callable[..., Result]
KEY, VARIABLE = "sk-never-to-be-seen-0123456789", "MADE_UP_KEY"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, parse_in_process: None) -> Workspace:
    root = tmp_path_factory.mktemp("reports") / "library"
    workspace = make_workspace(root, NOTES, {**SETTINGS, "verify": {"scorer": "similarity"}})
    draft = workspace.drafts / "chapter.md"
    draft.write_text("A green roof was 7 degrees cooler than bitumen {#roofs}.\n", "utf-8")
    for command in (("ingest",), ("verify-citations", str(draft))):
        assert call(workspace, *command).exit_code == 0
    return workspace


def call(workspace: Workspace, *arguments: object) -> Result:
    given = ["--workspace", str(workspace.root), *map(str, arguments)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["rag", *given])
        return CliRunner().invoke(build_cli(), given)


def document(ran: Result) -> Any:
    return json.loads(ran.stdout)


def test_a_verdict_is_traced_to_the_run_that_parsed_its_source(library: Workspace) -> None:
    ran = call(library, "trace", "drafts/chapter.md:1", "--json")
    assert ran.exit_code == 0, ran.output
    (chain,) = document(ran)
    parse = next(step for step in chain["steps"] if step["kind"] == "parse")
    run = parse["made_by"]["run_id"]
    judged = chain["steps"][0]["made_by"]["run_id"]
    sha256 = chain["steps"][-1]["facts"]["sha256"]
    with open_instance(library) as instance:
        for each in (run, judged):
            assert instance.get_run_by_id(each) is not None
        event = instance.get_latest_materialization_event(dg.AssetKey("citation_audits"))
        files = instance.get_latest_materialization_event(dg.AssetKey(["thesis", "inventory"]))
    assert event is not None
    assert event.asset_materialization is not None
    # In the UI: links from the audit to the partitions that its source came through.
    walked = str(event.asset_materialization.metadata["lineage"].value)
    for stage in ("chunks", "parents", "parse_reports", "raw_files"):
        assert f"/assets/thesis/{stage}?view=partitions&partition={sha256[0]}" in walked
    assert f"`raw/evidence/roofs.md`, SHA-256 `{sha256[:16]}`" in walked
    assert files is not None
    assert files.asset_materialization is not None
    listed = files.asset_materialization.metadata["table"]
    assert isinstance(listed, dg.TableMetadataValue)
    assert sha256 in [record.data["SHA-256"] for record in listed.records]
    rows = event.asset_materialization.metadata["table"]
    assert isinstance(rows, dg.TableMetadataValue)
    (row,) = (record.data for record in rows.records)
    assert (row["row"], row["line"]) == (1, 1)
    assert 0 <= float(str(row["score"])) <= 1
    shown = call(library, "trace", "chapter_citations_v001#1")
    assert run in shown.stdout
    assert call(library, "trace", "nothing").exit_code == 3


@pytest.mark.parametrize(
    ("command", "what"), [("verify-citations", "citations"), ("audit", "claims")]
)
def test_equal_drafts_in_two_folders_have_audits_of_their_own(
    library: Workspace, command: str, what: str
) -> None:
    for folder in ("first", "second"):
        (library.drafts / folder).mkdir(exist_ok=True)
        (library.drafts / folder / "intro.md").write_text("Roofs cool {#roofs}.\n", "utf-8")
    ran = call(library, command, library.drafts / "second" / "intro.md", "--json")
    assert saved_by(ran).name == f"second--intro_{what}_v001.md"
    assert (library.outputs / "audits" / f"first--intro_{what}_v001.md").is_file()


def test_reports_are_written_where_the_specification_says(library: Workspace) -> None:
    assert list((library.meta / "builds").glob("*/build_manifest.json"))
    indexes = call(library, "build-bm25")
    assert indexes.exit_code == 0
    assert "Nothing to build" in indexes.stdout
    assert list(document(call(library, "build-bm25", "--json"))) == ["thesis"]
    assert call(library, "parse").exit_code == 0
    assert (library.meta / "instruction_brief.md").is_file()
    health = call(library, "health")
    assert (library.meta / "health_report.md").is_file()
    assert "# Health of the library" in health.stdout
    told = document(call(library, "health", "--json"))
    assert health.exit_code == bool(told["todo"])


def test_metadata_is_set_in_the_form_of_the_specification(library: Workspace) -> None:
    set_to = ("--doc_uid", "roofs", "--accessed_at", "2026-03-01")
    assert call(library, "meta", "set", *set_to).exit_code == 0
    namespace = library.namespace("thesis")
    assert current_overrides(namespace)["roofs"] == {"accessed_at": "2026-03-01"}
    again = ("roofs", "year=2020", "--accessed-at", "", "--reason", "as printed")
    assert call(library, "meta", "set", *again).exit_code == 0
    assert current_overrides(namespace)["roofs"] == {"year": "2020"}
    for wrong in (
        ("--doc_uid", "roofs", "--accessed_at", "tomorrow"),
        ("--doc_uid", "roofs"),
        (),
        ("--doc_uid", "rooves", "--year", "2020"),
    ):
        assert call(library, "meta", "set", *wrong).exit_code == 3
    assert "as printed" in (library.meta / "version_log.jsonl").read_text(encoding="utf-8")


def test_a_decision_is_noted_and_a_change_without_one_is_shown(library: Workspace) -> None:
    assert document(call(library, "decide", "--json"))["decisions"] == []
    assert call(library, "decide", "Search by words").exit_code == 3
    ran = call(library, "decide", "Search by words", "--reason", "no model is at hand")
    assert ran.exit_code == 0
    assert "0001" in call(library, "decide").stdout
    config = library.root / "config.yaml"
    config.write_text(config.read_text("utf-8") + "retrieve: {top_k: 5}\n", encoding="utf-8")
    assert "retrieve.top_k" in call(library, "decide").stdout
    assert "1 since the last decision" in call(library, "status").stdout


@pytest.mark.slow
def test_a_key_stands_in_no_output_and_no_file_but_its_own(
    tmp_path: Path, parse_in_process: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with serve(answer_openai) as server:
        model = {
            "kind": "openai_compatible", "model": "made-up", "base_url": f"{server.url}/v1",
            "api_key_variable": VARIABLE, "dimension": DIMENSION, "attempts": 1,
            "backoff_seconds": 0.0, "max_tokens": 200,
        }  # fmt: skip
        more = {"verify": {"scorer": "similarity"}}
        workspace = make_workspace(
            tmp_path / "library", NOTES, {**SETTINGS, "embed": model, **more}
        )
        (workspace.drafts / "chapter.md").write_text("Roofs are cool {#roofs}.\n", "utf-8")
        missing = call(workspace, "ingest")
        assert missing.exit_code == 1
        assert VARIABLE in missing.output
        assert ".env" in missing.output
        with (workspace.root / ".env").open("a", encoding="utf-8") as handle:
            handle.write(f"{VARIABLE}={KEY}\n")
        # A service that repeats what it was given must not make it known.
        server.faults = [Status(401, message=f"Incorrect API key provided: {KEY}")]
        refused = call(workspace, "ingest")
        assert refused.exit_code == 1
        ran = [
            call(workspace, *command)
            for command in (
                ("ingest",), ("query", "Are roofs cool?"), ("status",),
                ("verify-citations", str(workspace.drafts / "chapter.md")), ("health",),
                ("trace", "chapter.md#1"), ("doctor",),
            )
        ]  # fmt: skip
        assert ran[0].exit_code == 0, ran[0].output
        assert any(KEY in str(request.headers) for request in server.requests)
    for each in (missing, refused, *ran):
        assert KEY not in each.output
    files = [path for path in workspace.root.rglob("*") if path.is_file()]
    holders = [path.name for path in files if KEY.encode() in path.read_bytes()]
    assert holders == [".env"]


def test_the_golden_path_of_a_workspace_names_commands_that_there_are(library: Workspace) -> None:
    text = (library.root / "AGENT.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`rag ([a-z][\w-]*)", text))
    assert named <= set(COMMANDS)
    path = ["parse", "chunk", "embed", "build-bm25", "query", "audit", "verify-citations",
            "export-used-sources", "trace", "replay"]  # fmt: skip
    places = [text.index(f"`rag {command}") for command in path]
    assert places == sorted(places)
