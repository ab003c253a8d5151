"""Feedback in Dagster: compared and learned from once, what commands did told, no circle."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from rag_assets.assets import record_feedback
from rag_assets.definitions import build_definitions
from rag_assets.lab import (
    Laboratory,
    Outcome,
    Strategy,
    compare_again,
    find_report,
    give_feedback,
    list_items,
    list_revisions,
    living_extraction,
    withdraw_feedback,
)
from rag_assets.workspace import Workspace
from rag_assets_tests.lab.laboratories import AT, form, make_laboratory, projections, put_run

REPORTS, EXTRACTIONS, INDEX, EXPERIENCE = (
    dg.AssetKey(["lab", name])
    for name in ("feedback_reports", "memory_extractions", "experience_index", "experience")
)
WAITS = {"lab": {"experience": {"learn": False}}}


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test() as made:
        yield made


def make(root: Path, settings: dict[str, Any] | None = None) -> Laboratory:
    lab = make_laboratory(root, settings)
    put_run(lab, "r1")
    put_run(lab, "r2")
    return lab


@pytest.fixture
def lab(tmp_path: Path) -> Laboratory:
    return make(tmp_path / "lab")


@pytest.fixture
def waiting(tmp_path: Path) -> Laboratory:
    """A laboratory in which feedback does not teach as it is given."""
    return make(tmp_path / "lab", WAITS)


def give(lab: Laboratory, run: str, pros: str, **more: Any) -> Outcome:
    return give_feedback(lab, run, form(lab, pros=pros), Strategy(), at=AT, by="ana", **more)


def keys(lab: Laboratory) -> list[str]:
    with lab.store.reading() as reading:
        return [one.key for one in list_revisions(reading)]


def defs_of(lab: Laboratory) -> dg.Definitions:
    return build_definitions(Workspace.open(lab.workspace.root))


def tick(lab: Laboratory, instance: dg.DagsterInstance) -> Any:
    sensors = {one.name: one for one in defs_of(lab).sensors or ()}
    with dg.build_sensor_context(instance=instance) as context:
        return sensors["lab_feedback"](context)  # type: ignore[operator]


def test_while_nothing_happens_nothing_is_looked_at(
    lab: Laboratory, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    sensor = next(one for one in defs_of(lab).sensors or () if one.name == "lab_feedback")
    looked: list[int] = []

    def count(*given: Any) -> int:
        looked.append(1)
        return record_feedback(*given)

    monkeypatch.setattr("rag_assets.sensors.lab.record_feedback", count)

    def tick_on(cursor: str | None) -> str | None:
        with dg.build_sensor_context(instance=instance, cursor=cursor) as context:
            sensor(context)  # type: ignore[operator]
            return context.cursor

    assert tick_on(None) is None  # experience is not published yet
    run(lab, instance)
    done = tick_on(None)
    assert done is not None
    assert len(looked) == 2
    assert tick_on(done) == done
    assert len(looked) == 2
    give(lab, "r1", "Ethylene rose.")
    tick_on(done)
    assert len(looked) == 3


def run(lab: Laboratory, instance: dg.DagsterInstance, key: str | None = None, **more: Any) -> Any:
    job = defs_of(lab).resolve_job_def("learn_from_feedback")
    if key is None:
        more["asset_selection"] = [INDEX]
    else:
        instance.add_dynamic_partitions("feedback_revisions", [key])
    return job.execute_in_process(instance=instance, partition_key=key, **more)


def told(instance: dg.DagsterInstance, asset: dg.AssetKey, key: str | None = None) -> Any:
    wanted = dg.AssetRecordsFilter(asset, asset_partitions=[key] if key else None)
    newest = instance.fetch_materializations(wanted, limit=1).records[0].asset_materialization
    assert newest is not None
    return {name: value.value for name, value in newest.metadata.items()}


def passed(instance: dg.DagsterInstance, asset: dg.AssetKey, name: str) -> bool:
    found = instance.get_latest_asset_check_evaluation_record(dg.AssetCheckKey(asset, name))
    assert found is not None
    evaluation = found.evaluation
    assert isinstance(evaluation, dg.AssetCheckEvaluation)
    return evaluation.passed


def test_what_commands_did_is_recorded_and_experience_published(
    lab: Laboratory, instance: dg.DagsterInstance
) -> None:
    give(lab, "r1", "Ethylene rose.")
    (key,) = keys(lab)
    (asked,) = tick(lab, instance).run_requests
    assert instance.get_dynamic_partitions("feedback_revisions") == [key]
    assert told(instance, REPORTS, key)["score"] == 7.0
    learned = told(instance, EXTRACTIONS, key)
    assert (learned["items"], learned["learned by"]) == (1, "own sentences")
    assert passed(instance, REPORTS, "every_feedback_has_its_report")
    assert passed(instance, EXTRACTIONS, "experience_equals_its_events")
    # Nothing is left to be made of the feedback; experience is another one than before.
    assert (asked.partition_key, asked.asset_selection) == (None, [INDEX])
    head = projections(lab)
    assert run(lab, instance).success
    assert told(instance, EXPERIENCE)["items"] == 1
    assert told(instance, EXPERIENCE)["digest"] == told(instance, INDEX)["digest"]
    assert tick(lab, instance).skip_message == "nothing new"
    # A second time nothing is done and nothing is told anew.
    assert run(lab, instance, key).success
    assert projections(lab) == head
    every = instance.fetch_materializations(EXPERIENCE, limit=9).records
    assert len(every) == 1


def test_a_feedback_that_waits_is_learned_from_once(
    waiting: Laboratory, instance: dg.DagsterInstance
) -> None:
    assert give(waiting, "r1", "Ethylene rose.").learned is None
    (key,) = keys(waiting)
    # Nobody asks for it by itself: the settings say so.
    assert tick(waiting, instance).run_requests[0].asset_selection == [INDEX]
    assert key not in instance.get_materialized_partitions(EXTRACTIONS)
    ran = run(waiting, instance, key)
    assert ran.success
    with waiting.store.reading() as reading:
        first = living_extraction(reading, "r1")
        assert [item.content for item in list_items(reading)] == ["Ethylene rose."]
    assert first is not None
    assert told(instance, EXTRACTIONS, key)["version"] == first.id
    assert told(instance, EXPERIENCE)["items"] == 1
    before = projections(waiting)
    assert run(waiting, instance, key).success
    assert projections(waiting) == before


def test_with_learning_on_the_sensor_asks_for_what_waits(
    waiting: Laboratory, instance: dg.DagsterInstance
) -> None:
    give(waiting, "r1", "Ethylene rose.")
    path = waiting.workspace.root / "config.yaml"
    values = yaml.safe_load(path.read_text("utf-8"))
    del values["lab"]["experience"]
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    (asked,) = tick(waiting, instance).run_requests
    assert asked.partition_key == keys(waiting)[0]
    assert asked.tags["rag/reason"] == "not compared, or not learned from"
    assert run(waiting, instance, asked.partition_key).success
    assert tick(waiting, instance).skip_message == "nothing new"


def test_who_said_no_is_not_overruled(lab: Laboratory, instance: dg.DagsterInstance) -> None:
    put_run(lab, "old", kind="imported")
    give(lab, "r1", "Ethylene rose.", learn=False)
    give(lab, "old", "Methane rose.")
    ran = tick(lab, instance)
    assert ran.run_requests[0].asset_selection == [INDEX]
    for key, why in zip(keys(lab), ("an experiment of before", "not to teach"), strict=True):
        assert run(lab, instance, key).success
        assert why in told(instance, EXTRACTIONS, key)["taught nothing"]
    with lab.store.reading() as reading:
        assert list_items(reading) == []
    # What a person kept from learning stays so until they say otherwise.
    assert give(lab, "r1", "Ethylene rose a lot.", learn=True).learned


def test_keys_of_dead_revisions_leave_the_set(
    lab: Laboratory, instance: dg.DagsterInstance
) -> None:
    give(lab, "r1", "Ethylene rose.")
    (first,) = keys(lab)
    tick(lab, instance)
    give(lab, "r1", "Methane rose.")
    give(lab, "r1", "Ethylene rose.")
    (third,) = keys(lab)
    # It says what the first said, and is another revision: what it taught is other items.
    assert third != first
    tick(lab, instance)
    assert instance.get_dynamic_partitions("feedback_revisions") == [third]
    ran = run(lab, instance, first, raise_on_error=False)
    assert not ran.success
    withdraw_feedback(lab, "r1", at=AT, by="ana")
    tick(lab, instance)
    assert instance.get_dynamic_partitions("feedback_revisions") == []


def test_a_report_that_was_made_anew_is_told_anew(
    lab: Laboratory, instance: dg.DagsterInstance
) -> None:
    give(lab, "r1", "Ethylene rose.")
    give(lab, "r2", "Ethylene rose.")
    tick(lab, instance)
    key = keys(lab)[1]
    assert (told(instance, REPORTS, key)["version"], told(instance, REPORTS, key)["best run"]) == (
        1, "r1",
    )  # fmt: skip
    compare_again(lab, "r2", Strategy(use_method3=False), at=AT, by="ana")
    tick(lab, instance)
    assert told(instance, REPORTS, key)["version"] == 2
    assert "best run" not in told(instance, REPORTS, key)


def break_store(lab: Laboratory, *statements: str) -> None:
    lab.store.close()
    with sqlite3.connect(lab.store.path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def test_a_feedback_without_its_report_is_found_and_mended(
    lab: Laboratory, instance: dg.DagsterInstance
) -> None:
    give(lab, "r1", "Ethylene rose.")
    break_store(lab, "DELETE FROM events WHERE entity = 'report'", "DELETE FROM reports")
    (asked,) = tick(lab, instance).run_requests
    # What was learned is told; the report is missed.
    assert not passed(instance, REPORTS, "every_feedback_has_its_report")
    assert asked.partition_key == keys(lab)[0]
    ran = run(lab, instance, asked.partition_key)
    assert ran.success
    assert passed(instance, REPORTS, "every_feedback_has_its_report")
    with lab.store.reading() as reading:
        assert find_report(reading, "r1") is not None
        assert len(list_items(reading)) == 1


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        ("UPDATE items SET content = 'Lead is harmless.'", "'Lead is harmless.'"),
        ("DELETE FROM lessons", "the table 'lessons' lacks"),
        ("INSERT INTO products VALUES ('x', 1, 'Xe', 'active')", "which no event made"),
        ("UPDATE extractions SET made_at = '1999'", "its made_at is '1999'"),
    ],
)
def test_tables_that_are_not_their_events_stop_the_publication(
    lab: Laboratory, instance: dg.DagsterInstance, harm: str, said: str
) -> None:
    give(lab, "r1", "Ethylene rose.")
    (key,) = keys(lab)
    break_store(lab, harm)
    assert said in tick(lab, instance).skip_message
    ran = run(lab, instance, key, raise_on_error=False)
    checks = {one.check_name: one for one in ran.get_asset_check_evaluations()}
    assert not ran.success
    assert not checks["experience_equals_its_events"].passed
    assert said in checks["experience_equals_its_events"].metadata["told"].value
    assert instance.get_latest_materialization_event(INDEX) is None
    assert instance.get_latest_materialization_event(EXPERIENCE) is None
    lab.store.fold_anew()
    assert run(lab, instance, key).success
    assert told(instance, EXPERIENCE)["items"] == 1


def test_a_model_that_cannot_be_asked_changes_nothing_and_is_asked_three_times(
    waiting: Laboratory, instance: dg.DagsterInstance
) -> None:
    give(waiting, "r1", "Ethylene rose.")
    path = waiting.workspace.root / "config.yaml"
    values = yaml.safe_load(path.read_text("utf-8"))
    (path.parent / "script.yaml").write_text("answers: []\n", encoding="utf-8")
    values |= {"lab": {}, "llm": {"kind": "scripted", "script": "script.yaml"}}
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    before = projections(waiting)
    for _ in range(3):
        (asked,) = tick(waiting, instance).run_requests
        ran = run(waiting, instance, asked.partition_key, raise_on_error=False,
                  tags=dict(asked.tags))  # fmt: skip
        assert not ran.success
    assert projections(waiting) == before
    assert "is not tried again" in tick(waiting, instance).skip_message


def test_the_graph_has_no_circle_and_the_cycle_is_closed_by_an_external_asset(
    lab: Laboratory,
) -> None:
    graph = defs_of(lab).resolve_asset_graph()
    parents = {
        key.path[-1]: sorted(each.path[-1] for each in graph.get(key).parent_keys)
        for key in graph.get_all_asset_keys()
        if key.path[0] == "lab"
    }
    assert parents == {
        "requests": [],
        "experience": [],
        "recipe_runs": ["experience", "requests", "search_index", "search_index"],
        "feedback_reports": ["recipe_runs"],
        "memory_extractions": ["feedback_reports"],
        "experience_index": ["memory_extractions"],
    }
    assert not graph.get(EXPERIENCE).is_executable
    blocking = [key.name for key in graph.asset_check_keys if graph.get_check_spec(key).blocking]
    assert "experience_equals_its_events" in blocking
