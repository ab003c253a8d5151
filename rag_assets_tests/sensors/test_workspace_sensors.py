"""The sensors `questions` and `drafts`, as the daemon asks them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
import yaml

from rag_assets.auditing import draft_key
from rag_assets.evidence import read_question
from rag_assets.storage import read_pointer
from rag_assets.workspace import Workspace, shipped_file

from .conftest import Ask, at, finish_run, publish_as_seen


def result(answer: object) -> dg.SensorResult:
    assert isinstance(answer, dg.SensorResult), answer
    return answer


def refused(answer: object) -> str:
    assert isinstance(answer, dg.SkipReason), answer
    return answer.skip_message or ""


def apply(instance: dg.DagsterInstance, answer: dg.SensorResult) -> None:
    """Do with the dynamic partitions what the daemon does."""
    for request in answer.dynamic_partitions_requests or []:
        if isinstance(request, dg.AddDynamicPartitionsRequest):
            instance.add_dynamic_partitions(
                request.partitions_def_name, list(request.partition_keys)
            )
        else:
            for key in request.partition_keys:
                instance.delete_dynamic_partition(request.partitions_def_name, key)


def write_question(workspace: Workspace, name: str, text: str) -> str:
    path = workspace.queries / name
    path.write_text(f"question: {text}\n")
    return read_question(path).key


def published_now(workspace: Workspace) -> str:
    pointer = read_pointer(workspace.namespace("thesis").publications)
    assert pointer is not None
    return pointer.current


@pytest.fixture
def published(workspace: Workspace, later: datetime) -> None:
    (workspace.root / "raw/evidence/note.md").write_text("Leaves cool the street.")
    publish_as_seen(workspace)


@pytest.mark.usefixtures("published")
def test_a_new_question_is_registered_and_asked_in_the_same_tick(
    ask: Ask, workspace: Workspace
) -> None:
    key = write_question(workspace, "夜间通风.yaml", "夜间通风能降温吗？")
    answer = result(ask("questions"))
    [added] = answer.dynamic_partitions_requests or []
    assert list(added.partition_keys) == [key]
    [run] = answer.run_requests or []
    assert run.partition_key == key
    assert run.tags["rag/partition"].startswith(f"{key}@")


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize(
    ("mode", "asset"),
    [("evidence", "evidence_packs"), ("papers", "evidence_packs"), ("answer", "agent_answers")],
)
def test_a_question_is_made_what_its_mode_asks_for_and_nothing_else(
    ask: Ask, workspace: Workspace, instance: dg.DagsterInstance, mode: str, asset: str
) -> None:
    key = write_question(workspace, "q.yaml", f"Do leaves cool?\nmode: {mode}")
    answer = result(ask("questions"))
    apply(instance, answer)
    [run] = answer.run_requests or []
    assert list(run.asset_selection or ()) == [dg.AssetKey(asset)]
    instance.report_runless_asset_event(dg.AssetMaterialization(asset_key=asset, partition=key))
    assert refused(ask("questions")) == "nothing new"


@pytest.mark.usefixtures("published")
def test_a_new_draft_is_registered_and_audited(ask: Ask, workspace: Workspace) -> None:
    draft = workspace.drafts / "chapter.md"
    draft.write_text("Leaves cool. {#note}\n")
    [run] = result(ask("drafts")).run_requests or []
    assert run.partition_key == draft_key(draft)


@pytest.mark.usefixtures("published")
def test_several_questions_ask_for_one_run_a_tick(
    ask: Ask, workspace: Workspace, instance: dg.DagsterInstance
) -> None:
    keys = {write_question(workspace, f"q{n}.yaml", f"Question {n}?") for n in range(3)}
    asked = set()
    for _ in range(3):
        answer = result(ask("questions"))
        apply(instance, answer)
        [run] = answer.run_requests or []
        asked.add(run.partition_key)
        finish_run(instance, run, dg.DagsterRunStatus.SUCCESS)
    assert asked == keys
    assert refused(ask("questions")) == "nothing new"


@pytest.mark.usefixtures("published")
def test_an_edited_question_has_a_new_key_and_the_dead_one_leaves(
    ask: Ask, workspace: Workspace, instance: dg.DagsterInstance
) -> None:
    write_question(workspace, "q.yaml", "Do leaves cool?")
    apply(instance, result(ask("questions")))
    after = write_question(workspace, "q.yaml", "Do leaves cool at night?")
    apply(instance, result(ask("questions")))
    assert instance.get_dynamic_partitions("questions") == [after]


def test_a_question_that_was_only_touched_keeps_its_key(
    ask: Ask, workspace: Workspace, instance: dg.DagsterInstance
) -> None:
    publish_as_seen(workspace)
    key = write_question(workspace, "q.yaml", "Do leaves cool?")
    instance.add_dynamic_partitions("questions", [key])  # as a command does that asks it
    written = (workspace.queries / "q.yaml").stat().st_ctime
    with at(datetime.fromtimestamp(written, UTC) + timedelta(seconds=1)):
        assert refused(ask("questions")) == "q.yaml is still being written"
    assert instance.get_dynamic_partitions("questions") == [key]


@pytest.mark.usefixtures("later")
def test_before_the_first_publication_nothing_is_asked(ask: Ask, workspace: Workspace) -> None:
    write_question(workspace, "q.yaml", "Do leaves cool?")
    answer = result(ask("questions"))
    assert not answer.run_requests
    assert answer.dynamic_partitions_requests


@pytest.mark.usefixtures("published")
def test_what_a_command_has_answered_is_not_asked_again(
    ask: Ask, workspace: Workspace, instance: dg.DagsterInstance
) -> None:
    key = write_question(workspace, "q.yaml", "Do leaves cool?")
    instance.add_dynamic_partitions("questions", [key])
    instance.report_runless_asset_event(
        dg.AssetMaterialization(asset_key="evidence_packs", partition=key)
    )
    assert refused(ask("questions")) == "nothing new"


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("status", [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE])
def test_what_a_run_by_hand_left_out_is_asked_for(
    ask: Ask, workspace: Workspace, instance: dg.DagsterInstance, status: dg.DagsterRunStatus
) -> None:
    draft = workspace.drafts / "chapter.md"
    draft.write_text("Leaves cool. {#note}\n")
    key = draft_key(draft)
    instance.add_dynamic_partitions("drafts", [key])
    finish_run(instance, dg.RunRequest(partition_key=key), status)
    instance.report_runless_asset_event(
        dg.AssetMaterialization(asset_key="citation_audits", partition=key)
    )
    [run] = result(ask("drafts")).run_requests or []
    assert run.asset_selection == [dg.AssetKey("claim_audits")]
    finish_run(instance, run, dg.DagsterRunStatus.STARTED)
    assert refused(ask("drafts")) == "nothing new"


@pytest.mark.usefixtures("published")
def test_a_question_is_tried_three_times_at_most_and_that_is_said(
    ask: Ask, workspace: Workspace, instance: dg.DagsterInstance
) -> None:
    key = write_question(workspace, "q.yaml", "Do leaves cool?")
    keys = []
    for _ in range(3):
        answer = result(ask("questions"))
        apply(instance, answer)
        [run] = answer.run_requests or []
        keys.append(run.run_key)
        finish_run(instance, run, dg.DagsterRunStatus.FAILURE)
    assert len(set(keys)) == 3
    assert f"'{key}' is not tried again: its last 3 runs failed" in refused(ask("questions"))
    # What it failed of may be gone.
    (workspace.root / "raw/evidence/other.md").write_text("Pumps need grease.")
    publish_as_seen(workspace)
    [run] = result(ask("questions")).run_requests or []
    assert run.partition_key == key
    assert run.run_key not in keys


@pytest.mark.usefixtures("published")
def test_a_file_that_is_no_question_is_named_and_the_others_are_asked(
    ask: Ask, workspace: Workspace, instance: dg.DagsterInstance
) -> None:
    (workspace.queries / "bad.yaml").write_text("qestion: Do leaves cool?\n")
    assert "bad.yaml" in refused(ask("questions"))
    good = write_question(workspace, "good.yaml", "Do leaves cool?")
    [run] = result(ask("questions")).run_requests or []
    assert run.partition_key == good


@pytest.mark.usefixtures("published")
def test_a_broken_configuration_is_said(ask: Ask, workspace: Workspace) -> None:
    (workspace.root / "config.yaml").write_text("embd: {}\n")
    assert "unknown key 'embd'" in refused(ask("questions"))


@pytest.mark.usefixtures("published")
def test_a_removed_workspace_is_said(ask: Ask, workspace: Workspace, tmp_path: Path) -> None:
    workspace.root.rename(tmp_path / "moved")
    assert "is not a workspace" in refused(ask("drafts"))


@pytest.mark.usefixtures("published")
def test_answers_leave_a_place_in_the_queue_for_new_evidence(
    ask: Ask, workspace: Workspace
) -> None:
    shipped = yaml.safe_load(shipped_file("dagster.yaml").read_text())["run_coordinator"]["config"]
    [limit] = shipped["tag_concurrency_limits"]
    assert limit["limit"] < shipped["max_concurrent_runs"]
    write_question(workspace, "q.yaml", "Do leaves cool?")
    [run] = result(ask("questions")).run_requests or []
    assert limit["key"] in run.tags


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the draft has no text"),
        ("Le café refroidit. {#note}\n".encode("latin-1"), "UTF-8"),
        (b"---\nnamespaces: {a: [}\n---\nLeaves cool. {#note}\n", "front matter"),
        (b"---\nnamespaces: [gone]\n---\nLeaves cool. {#note}\n", "unknown namespace 'gone'"),
    ],
)
def test_a_draft_that_cannot_be_read_gets_no_run_and_is_named_until_it_is_edited(
    ask: Ask, workspace: Workspace, instance: dg.DagsterInstance, content: bytes, said: str
) -> None:
    draft = workspace.drafts / "chapter.md"
    draft.write_bytes(content)
    answer = result(ask("drafts"))
    assert not answer.run_requests
    apply(instance, answer)
    told = refused(ask("drafts"))
    assert told.startswith("no run for drafts/chapter.md: ")
    assert said in told
    assert refused(ask("drafts")) == told
    draft.write_text("Leaves cool. {#note}\n")
    [run] = result(ask("drafts")).run_requests or []
    assert run.partition_key == draft_key(draft)


@pytest.mark.usefixtures("published")
def test_an_unreadable_draft_keeps_no_other_from_its_audit(ask: Ask, workspace: Workspace) -> None:
    (workspace.drafts / "a.md").write_bytes(b"")
    good = workspace.drafts / "b.md"
    good.write_text("Leaves cool. {#note}\n")
    [run] = result(ask("drafts")).run_requests or []
    assert run.partition_key == draft_key(good)


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize(
    ("more", "said"),
    [("filters: ['yer>=2020']", "'yer' is no filter"), ("namespaces: [gone]", "unknown namespace")],
)
def test_a_question_that_could_only_fail_gets_no_run(
    ask: Ask, workspace: Workspace, instance: dg.DagsterInstance, more: str, said: str
) -> None:
    (workspace.queries / "q.yaml").write_text(f"question: Do leaves cool?\n{more}\n")
    answer = result(ask("questions"))
    assert not answer.run_requests
    apply(instance, answer)
    assert said in refused(ask("questions"))
