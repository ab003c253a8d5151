"""Sensors of the workspace: questions in queries/, drafts in drafts/."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from rag_assets import __version__
from rag_assets.auditing import draft_key, list_drafts
from rag_assets.evidence import list_questions, read_question
from rag_assets.model import RagError, hash_fields
from rag_assets.sensors.attempts import attempts_of, is_busy
from rag_assets.storage import read_pointer
from rag_assets.workspace import Workspace, config_hash

_KEY_TAG = "rag/partition"
_STATE_TAG = "rag/state"


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
        assets: Sequence[dg.AssetKey],
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
            try:
                fresh = Workspace.open(workspace.root)
                files = _read_files(fresh, list_files(fresh), key_of)
                return _answer(fresh, context.instance, assets, partitions, files)
            except RagError as error:
                return dg.SkipReason(str(error))

        return watch

    return [
        build("questions", "Makes an evidence pack for every new question in queries/.",
              [dg.AssetKey("evidence_packs")],
              questions[0], questions[1], list_questions, lambda path: read_question(path).key),
        build("drafts", "Verifies the citations of every new revision of a draft in drafts/, and "
              "audits its claims.",
              [dg.AssetKey("citation_audits"), dg.AssetKey("claim_audits")],
              drafts[0], drafts[1], list_drafts, draft_key),
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Files:
    """What one look at queries/ or drafts/ found.

    Args:
        keys: of the files that rest.
        moving: names of files that were changed a moment ago; their keys are not known.
        troubles: what is wrong with the others.
    """

    keys: tuple[str, ...]
    moving: tuple[str, ...]
    troubles: tuple[str, ...]


def _read_files(
    workspace: Workspace, paths: Sequence[Path], key_of: Callable[[Path], str]
) -> _Files:
    keys, moving, troubles = list[str](), list[str](), list[str]()
    rest = workspace.settings.sensors.rest_seconds
    for path in paths:
        try:
            if abs(time.time() - path.stat().st_ctime) < rest:
                moving.append(path.name)
            else:
                keys.append(key_of(path))
        except FileNotFoundError:
            continue  # removed since it was listed
        except RagError as error:
            troubles.append(str(error))
    return _Files(tuple(dict.fromkeys(keys)), tuple(moving), tuple(troubles))


def _answer(
    workspace: Workspace,
    instance: dg.DagsterInstance,
    assets: Sequence[dg.AssetKey],
    partitions: dg.DynamicPartitionsDefinition,
    files: _Files,
) -> dg.SensorResult | dg.SkipReason:
    name = str(partitions.name)
    known = set(instance.get_dynamic_partitions(name))
    is_published = any(
        read_pointer(workspace.namespace(n).publications) for n in workspace.namespace_names
    )
    requests: list[dg.AddDynamicPartitionsRequest | dg.DeleteDynamicPartitionsRequest] = []
    new = [key for key in files.keys if key not in known]
    # A file that is not still may be one whose key is known (it was touched, not changed).
    dead = [] if files.moving else sorted(known.difference(files.keys))
    if new:
        requests.append(partitions.build_add_request(new))
    if dead:
        requests.append(partitions.build_delete_request(dead))
    run, given_up = None, list[str]()
    if is_published:
        run, given_up = _next_run(instance, assets, files.keys, _circumstances(workspace))
    if not requests and run is None:
        waiting = [f"{name} is still being written" for name in files.moving]
        said = [*files.troubles, *given_up, *waiting]
        if not said:
            said = ["nothing new" if is_published else "nothing is published yet"]
        return dg.SkipReason("; ".join(said))
    return dg.SensorResult(run_requests=[run] if run else [], dynamic_partitions_requests=requests)


def _circumstances(workspace: Workspace) -> str:
    """Return what a run depends on beside its file: under others, one that failed may succeed."""
    names = workspace.namespace_names
    pointers = [read_pointer(workspace.namespace(name).publications) for name in names]
    published = [pointer.current if pointer else "" for pointer in pointers]
    return hash_fields(__version__, config_hash(workspace), list(names), published)[:8]


def _next_run(
    instance: dg.DagsterInstance,
    assets: Sequence[dg.AssetKey],
    keys: Sequence[str],
    circumstances: str,
) -> tuple[dg.RunRequest | None, list[str]]:
    """Return a request for what nobody materialized of the first key that lacks something.

    Also returns what is not tried again, in sentences.
    """
    given_up = []
    done = {asset: set[object](instance.get_materialized_partitions(asset)) for asset in assets}
    for key in sorted(set(keys) - set.intersection(*done.values())):
        # A run by hand may have made one asset of several; only this sensor's runs make all.
        state = f"{key}@{circumstances}"
        attempts = attempts_of(instance, _STATE_TAG, state)
        is_made = attempts_of(instance, _KEY_TAG, key).succeeded
        if is_made or is_busy(instance, "dagster/partition", key):
            continue
        if attempts.is_exhausted:
            given_up.append(
                f"'{key}' is not tried again: its last {attempts.failed} runs failed (run "
                f"{attempts.last_run_id}). Mend what it names, then edit the file or materialize "
                "the partition by hand."
            )
            continue
        tags = {_KEY_TAG: key, _STATE_TAG: state, "rag/attempt": str(attempts.number)}
        return dg.RunRequest(
            run_key=f"{state}-{attempts.number}",
            partition_key=key,
            tags=tags,
            asset_selection=[asset for asset in assets if key not in done[asset]],
        ), given_up
    return None, given_up
