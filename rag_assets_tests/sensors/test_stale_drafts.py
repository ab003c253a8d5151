"""The sensor `drafts` after a source has changed, over a workspace that is really built."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from rag_assets.auditing import audit_citations, draft_key
from rag_assets.workspace import Workspace
from rag_assets_tests.laws.driver import build, make_workspace, put

from .conftest import Ask, at, finish_run

ROOFS = "# Roofs\n\nCool roofs reflect sunlight and stay cooler than dark ones.\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = make_workspace(tmp_path / "library")
    with (workspace.root / "config.yaml").open("a", encoding="utf-8") as config:
        config.write("verify:\n  scorer: similarity\n")
    workspace = Workspace.open(workspace.root)
    put(workspace, "evidence/roofs.md", ROOFS)
    build(workspace.namespace("lib"))
    draft_of(workspace).write_text("Cool roofs stay cooler {#roofs}.\n", encoding="utf-8")
    return workspace


@pytest.fixture
def resting() -> Iterator[None]:
    with at(datetime.now(UTC) + timedelta(hours=1)):
        yield


def draft_of(workspace: Workspace) -> Path:
    return workspace.drafts / "chapter.md"


def record_audits(workspace: Workspace, instance: dg.DagsterInstance) -> str:
    """Audit the draft and record both assets, as a run does. Returns the partition."""
    audit_citations(workspace, draft_of(workspace))
    key = draft_key(draft_of(workspace))
    instance.add_dynamic_partitions("drafts", [key])
    for asset in ("citation_audits", "claim_audits"):
        instance.report_runless_asset_event(dg.AssetMaterialization(asset_key=asset, partition=key))
    return key


def is_nothing_new(answer: object) -> bool:
    return isinstance(answer, dg.SkipReason) and answer.skip_message == "nothing new"


@pytest.mark.usefixtures("resting")
def test_a_draft_is_judged_again_once_when_its_source_has_changed(
    ask: Ask, workspace: Workspace, instance: dg.DagsterInstance
) -> None:
    key = record_audits(workspace, instance)
    assert is_nothing_new(ask("drafts"))
    put(workspace, "evidence/roofs.md", ROOFS.replace("sunlight", "no sunlight"))
    build(workspace.namespace("lib"))
    answer = ask("drafts")
    assert isinstance(answer, dg.SensorResult)
    [run] = answer.run_requests or []
    assert run.partition_key == key
    assert set(run.asset_selection or ()) == {
        dg.AssetKey("citation_audits"),
        dg.AssetKey("claim_audits"),
    }
    assert run.tags["rag/reason"] == "its audit is out of date"
    finish_run(instance, run, dg.DagsterRunStatus.SUCCESS)
    assert is_nothing_new(ask("drafts"))


@pytest.mark.usefixtures("resting")
def test_a_source_that_the_draft_does_not_cite_asks_for_no_run(
    ask: Ask, workspace: Workspace, instance: dg.DagsterInstance
) -> None:
    record_audits(workspace, instance)
    put(workspace, "evidence/pumps.md", "Pumps need grease.\n")
    build(workspace.namespace("lib"))
    assert is_nothing_new(ask("drafts"))


@pytest.mark.usefixtures("resting")
def test_stale_verdicts_are_tried_three_times_at_most(
    ask: Ask, workspace: Workspace, instance: dg.DagsterInstance
) -> None:
    record_audits(workspace, instance)
    put(workspace, "evidence/roofs.md", "Roofs are dark.\n")
    build(workspace.namespace("lib"))
    for _ in range(3):
        answer = ask("drafts")
        assert isinstance(answer, dg.SensorResult)
        [run] = answer.run_requests or []
        finish_run(instance, run, dg.DagsterRunStatus.FAILURE)
    last = ask("drafts")
    assert isinstance(last, dg.SkipReason)
    assert "is not tried again: its last 3 runs failed" in (last.skip_message or "")


@pytest.mark.usefixtures("resting")
def test_a_copy_of_an_audited_draft_gets_an_audit_too(
    ask: Ask, workspace: Workspace, instance: dg.DagsterInstance
) -> None:
    key = record_audits(workspace, instance)
    copy = workspace.drafts / "older" / "chapter.md"
    copy.parent.mkdir()
    copy.write_bytes(draft_of(workspace).read_bytes())
    answer = ask("drafts")
    assert isinstance(answer, dg.SensorResult)
    [run] = answer.run_requests or []
    assert run.partition_key == key
    audit_citations(workspace, copy)
    assert is_nothing_new(ask("drafts"))
