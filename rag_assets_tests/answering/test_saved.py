"""Question files with `mode: answer`: asset, notes, commands."""

import hashlib
import json
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from rag_assets.answering import answer_saved
from rag_assets.definitions import build_definitions
from rag_assets.defs.assets import record_noted, register_questions
from rag_assets.evidence import SavedQuestion, read_question
from rag_assets.model import UsageError
from rag_assets.workspace import Workspace
from rag_assets_tests.agents.toys import act
from rag_assets_tests.answering.test_storing import configured, run_rag

TEXT = "How much cooler are green roofs than bitumen?"
TRUE = "The response rate was 58%"
LIE = "The response rate was 85%"
SCRIPT: dict[str, Any] = {
    "model": "writer",
    "answers": [
        {"turn": 1, **act("search_by_section", query=TRUE, k=1)},
        {"turn": 2, **act("finish", answer=f"{TRUE} [C1]. {LIE} [C1].", sources=["C1"])},
    ],
}
ANSWERS, PACKS = dg.AssetKey("agent_answers"), dg.AssetKey("evidence_packs")


def saved_question(workspace: Workspace, name: str = "roofs", **more: Any) -> SavedQuestion:
    """Return a question file of the workspace."""
    path = workspace.queries / f"{name}.yaml"
    values = {"question": TEXT, "mode": "answer", **more}
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    return read_question(path)


def scripted(workspace: Workspace) -> Workspace:
    """Return the workspace with a model that says a truth and a lie; the facts are compared."""
    roles = {"agent": {"kind": "scripted", "script": "writer.yaml"}}
    made = configured(workspace, llm={"roles": roles}, verify={"scorer": "facts"})
    (made.root / "writer.yaml").write_text(yaml.safe_dump(SCRIPT), encoding="utf-8")
    return made


def materialize(
    workspace: Workspace,
    instance: dg.DagsterInstance,
    keys: list[str],
    asset: dg.AssetKey = ANSWERS,
) -> dg.ExecuteInProcessResult:
    """Run the asset for some partitions, with its checks."""
    instance.add_dynamic_partitions("questions", keys)
    job = build_definitions(workspace).resolve_implicit_global_asset_job_def()
    tags = (
        {"dagster/partition": keys[0]}
        if len(keys) == 1
        else {
            "dagster/asset_partition_range_start": keys[0],
            "dagster/asset_partition_range_end": keys[-1],
        }
    )
    return job.execute_in_process(
        asset_selection=[asset], instance=instance, tags=tags, raise_on_error=False
    )


def shown(run: dg.ExecuteInProcessResult) -> dict[str, Any]:
    """Return the metadata of the one materialization of a run."""
    [event] = run.asset_materializations_for_node("agent_answers")
    return {
        name: value if isinstance(value, dg.TableMetadataValue) else value.value
        for name, value in event.metadata.items()
    }


def test_rules_make_an_answer_and_nothing_the_second_time(
    own: Workspace,
) -> None:
    saved = saved_question(own)
    with dg.DagsterInstance.ephemeral() as instance:
        run = materialize(own, instance, [saved.key])
        assert run.success
        first = shown(run)
        again = shown(materialize(own, instance, [saved.key]))
    assert first["language model"].endswith("answered by rules, from what the sources say")
    assert first["policy"].startswith("rules:")
    assert first["kept statements"] > 0
    assert "no language model wrote this" in first["answer"]
    assert "green-roofs-2024" in first["lineage"]
    assert (first["is new"], again["is new"]) == (True, False)
    assert again["file"] == first["file"] == str(own.outputs / "answer_v001.md")
    assert run_rag("replay", first["file"]).exit_code == 0


def test_a_model_answers_and_its_lie_stands_apart(own: Workspace) -> None:
    workspace = scripted(own)
    saved = saved_question(workspace)
    with dg.DagsterInstance.ephemeral() as instance:
        run = materialize(workspace, instance, [saved.key])
        assert run.success
    found = shown(run)
    assert (found["kept statements"], found["set apart"]) == (1, 1)
    assert found["language model"] == "scripted:writer; answered by scripted:writer"
    assert found["answer"].index(TRUE) < found["answer"].index(LIE)
    [apart] = found["not supported by what was found"].records
    assert apart.data["statement"] == f"{LIE}."


def test_a_run_of_any_stage_makes_the_keys_of_questions_known(own: Workspace) -> None:
    saved = saved_question(own)
    (own.queries / "bad.yaml").write_text("mode: answer\n")
    (own.queries / "broken.yaml").write_text("mode: [\n")
    digest = hashlib.sha256(saved.path.read_bytes()).hexdigest()
    assert saved.key == f"roofs-{digest[:12]}"
    with dg.DagsterInstance.ephemeral() as instance:
        register_questions(own, instance)
        register_questions(own, instance)
        assert instance.get_dynamic_partitions("questions") == [saved.key]


def test_all_questions_at_once_are_those_of_each_mode(own: Workspace) -> None:
    answer, pack = saved_question(own), saved_question(own, "z", mode="evidence")
    with dg.DagsterInstance.ephemeral() as instance:
        run = materialize(own, instance, [answer.key, pack.key])
        assert run.success
        told = {
            event.partition: "passed over" in event.metadata
            for event in run.asset_materializations_for_node("agent_answers")
        }
        assert told == {answer.key: False, pack.key: True}
        alone = materialize(own, instance, [pack.key])
        assert not alone.success
    assert [one.name for one in own.outputs.glob("*.md")] == ["answer_v001.md"]


def test_the_commands_take_files_of_either_mode(own: Workspace) -> None:
    saved = saved_question(own, policy="rules", agentic=False, doc="green-roofs-2024")
    at = ("--workspace", own.root)
    asked = run_rag(*at, "ask", saved.path)
    assert asked.exit_code == 0, asked.output
    data = json.loads(run_rag(*at, "query", "--file", saved.path, "--json").stdout)
    assert (data["schema"], data["mode"]) == ("rag-assets/answer/1", "single")
    assert data["route"]["origin"] == "rules"
    assert [one.name for one in own.outputs.glob("answer*.json")] == ["answer_v001.json"]
    with dg.DagsterInstance.ephemeral() as instance:
        record_noted(own, instance)
        assert instance.get_materialized_partitions(ANSWERS) == {saved.key}
    pack = saved_question(own, "pack", mode="evidence")
    wrong = run_rag(*at, "ask", "--file", pack.path)
    assert (wrong.exit_code, "mode: answer" in wrong.output) == (3, True)
    assert run_rag(*at, "query", pack.path).exit_code == 0
    both = run_rag(*at, "ask", saved.path, "--no-agent")
    assert (both.exit_code, "in the file" in both.output) == (3, True)
    explained = run_rag(*at, "query", saved.path, "--explain")
    assert (explained.exit_code, "of packs" in explained.output) == (3, True)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"top_k": 3}, "'top_k' says nothing with mode 'answer'"),
        ({"mode": "evidence", "policy": "rules"}, "'policy' says nothing with mode 'evidence'"),
        ({"policy": "guess"}, "'policy'"),
    ],
)
def test_what_says_nothing_in_a_mode_is_refused(
    tmp_path: Path, values: dict[str, Any], told: str
) -> None:
    path = tmp_path / "q.yaml"
    path.write_text(yaml.safe_dump({"question": TEXT, "mode": "answer", **values}))
    with pytest.raises(UsageError, match=told):
        read_question(path)


def test_a_file_says_how_many_actions_lead_to_its_answer(own: Workspace) -> None:
    made = answer_saved(own, saved_question(own, question="Who sells ice?", max_iterations=2))
    trace = made.answer.trace
    assert (len(trace.steps), trace.limits.steps) == (2, 2)
