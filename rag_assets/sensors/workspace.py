"""Sensors of the workspace: questions in queries/, drafts in drafts/."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import dagster as dg

from rag_assets.auditing import draft_key, list_drafts
from rag_assets.evidence import list_questions, read_question
from rag_assets.model import RagError
from rag_assets.sensors.attempts import attempts_of
from rag_assets.storage import read_pointer
from rag_assets.workspace import Workspace

_KEY_TAG = "rag/partition"


def build_workspace_sensors(
    workspace: Workspace,
    questions: tuple[dg.DynamicPartitionsDefinition, str],
    drafts: tuple[dg.DynamicPartitionsDefinition, str],
) -> Sequence[dg.SensorDefinition]:
    """Return the sensors that answer new questions and audit new revisions of drafts."""
    interval = workspace.settings.sensors.interval_seconds

    def build(
        name: str,
        description: str,
        asset: dg.AssetKey,
        partitions: dg.DynamicPartitionsDefinition,
        job_name: str,
        list_files: Callable[[Workspace], Sequence[Path]],
        key_of: Callable[[Path], str],
    ) -> dg.SensorDefinition:
        @dg.sensor(
            name=name,
            job_name=job_name,
            minimum_interval_seconds=interval,
            default_status=dg.DefaultSensorStatus.RUNNING,
            description=description,
        )
        def watch(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
            fresh = Workspace.open(workspace.root)
            keys, troubles = _keys(fresh, list_files(fresh), key_of)
            return _answer(fresh, context.instance, asset, partitions, keys, troubles)

        return watch

    return [
        build("questions", "Makes an evidence pack for every new question in queries/.",
              dg.AssetKey("evidence_packs"),
              questions[0], questions[1], list_questions, lambda path: read_question(path).key),
        build("drafts", "Verifies the citations of every new revision of a draft in drafts/.",
              dg.AssetKey("citation_audits"),
              drafts[0], drafts[1], list_drafts, draft_key),
    ]  # fmt: skip


def _keys(
    workspace: Workspace, paths: Sequence[Path], key_of: Callable[[Path], str]
) -> tuple[dict[str, Path], list[str]]:
    """Return the keys of files that rest, and what is wrong with the others."""
    keys, troubles = {}, []
    for path in paths:
        rest = workspace.settings.sensors.rest_seconds
        try:
            if abs(time.time() - path.stat().st_ctime) < rest:
                continue
            keys[key_of(path)] = path
        except FileNotFoundError:
            continue  # removed since it was listed
        except RagError as error:
            troubles.append(str(error))
    return keys, troubles


def _answer(
    workspace: Workspace,
    instance: dg.DagsterInstance,
    asset: dg.AssetKey,
    partitions: dg.DynamicPartitionsDefinition,
    keys: Mapping[str, Path],
    troubles: Sequence[str],
) -> dg.SensorResult | dg.SkipReason:
    name = str(partitions.name)
    known = set(instance.get_dynamic_partitions(name))
    is_published = any(
        read_pointer(workspace.namespace(n).publications) for n in workspace.namespace_names
    )
    requests: list[dg.AddDynamicPartitionsRequest | dg.DeleteDynamicPartitionsRequest] = []
    new = [key for key in keys if key not in known]
    dead = sorted(known - keys.keys())
    if new:
        requests.append(partitions.build_add_request(new))
    if dead:
        requests.append(partitions.build_delete_request(dead))
    run = _next_run(instance, asset, list(keys)) if is_published else None
    if not requests and run is None:
        said = "; ".join(troubles) or (
            "nothing new" if is_published else "nothing is published yet"
        )
        return dg.SkipReason(said)
    return dg.SensorResult(run_requests=[run] if run else [], dynamic_partitions_requests=requests)


def _next_run(
    instance: dg.DagsterInstance, asset: dg.AssetKey, keys: Sequence[str]
) -> dg.RunRequest | None:
    """Return a request for the first key that nobody has materialized, by a run or a command."""
    done = instance.get_materialized_partitions(asset)
    for key in sorted(set(keys) - done):
        attempts = attempts_of(instance, "dagster/partition", key)
        if attempts.is_running or attempts.succeeded or attempts.is_exhausted:
            continue
        return dg.RunRequest(
            run_key=f"{key}-{attempts.number}", partition_key=key, tags={_KEY_TAG: key}
        )
    return None
