"""Packs that a command made are in Dagster's history after the next run, each once."""

from pathlib import Path

import dagster as dg
import pytest

from rag_assets.defs.assets import record_noted
from rag_assets.evidence import AskOutcome, Question, ask, note_pack, noted_packs
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import build, make_workspace

FILES = {"evidence/roofs.md": "# Roofs\n\nCool roofs reflect the light of the sun.\n"}


@pytest.fixture
def asked(tmp_path: Path) -> tuple[Workspace, AskOutcome]:
    workspace = make_workspace(tmp_path / "library", FILES)
    build(workspace.namespace("thesis"))
    outcome = ask(workspace, Question(question="What do cool roofs reflect?"))
    note_pack(workspace, outcome)
    return workspace, outcome


def test_a_noted_pack_becomes_one_materialization(asked: tuple[Workspace, AskOutcome]) -> None:
    workspace, outcome = asked
    with dg.DagsterInstance.ephemeral() as instance:
        record_noted(workspace, instance)
        record_noted(workspace, instance)
        found = instance.fetch_materializations(dg.AssetKey("evidence_packs"), limit=9).records
    (record,) = found
    assert record.partition_key == outcome.key
    assert record.asset_materialization is not None
    shown = record.asset_materialization.metadata
    assert shown["question"].value == "What do cool roofs reflect?"


def test_the_checks_of_what_was_recorded_without_a_run_are_made_too(
    asked: tuple[Workspace, AskOutcome],
) -> None:
    # Dagster draws a green tick beside checks that never ran.
    workspace, _ = asked
    packs = dg.AssetCheckKey(dg.AssetKey("evidence_packs"), "packs_cite_a_publication")
    verdicts = dg.AssetCheckKey(dg.AssetKey("citation_audits"), "verdicts_are_current")
    with dg.DagsterInstance.ephemeral() as instance:
        record_noted(workspace, instance)
        for key in (packs, verdicts):
            record = instance.get_latest_asset_check_evaluation_record(key)
            assert record is not None
            assert record.evaluation is not None
            assert record.evaluation.passed
            assert record.evaluation.metadata["count"].value == 0  # plotted over time


def test_what_cannot_be_checked_fails_its_check_and_stops_no_run(
    asked: tuple[Workspace, AskOutcome],
) -> None:
    workspace, _ = asked
    (run,) = (workspace.meta / "query_runs").glob("*.json")
    run.write_text("{", encoding="utf-8")
    key = dg.AssetCheckKey(dg.AssetKey("evidence_packs"), "packs_cite_a_publication")
    with dg.DagsterInstance.ephemeral() as instance:
        record_noted(workspace, instance)
        record = instance.get_latest_asset_check_evaluation_record(key)
    assert record is not None
    assert record.evaluation is not None
    assert not record.evaluation.passed
    assert run.name in str(record.evaluation.metadata["told"].value)


def test_a_note_is_kept_until_its_pack_was_used(asked: tuple[Workspace, AskOutcome]) -> None:
    workspace, _ = asked
    looking = noted_packs(workspace)
    next(looking)
    looking.close()  # as a process that dies while it records
    assert [outcome.key for outcome in noted_packs(workspace)] == [asked[1].key]
    assert list(noted_packs(workspace)) == []


def test_a_damaged_note_is_told_and_stops_nothing(
    asked: tuple[Workspace, AskOutcome], caplog: pytest.LogCaptureFixture
) -> None:
    workspace, outcome = asked
    (workspace.meta / "unrecorded" / f"{outcome.key}.json").write_text("{", encoding="utf-8")
    assert list(noted_packs(workspace)) == []
    assert "not shown in Dagster's history" in caplog.text


def test_a_pack_that_was_thrown_away_is_forgotten(asked: tuple[Workspace, AskOutcome]) -> None:
    workspace, outcome = asked
    outcome.json.unlink()
    assert list(noted_packs(workspace)) == []
    assert list((workspace.meta / "unrecorded").iterdir()) == []
