"""Materialize assets the way every command does: same definitions, same instance, one run."""

import errno
import gc
import logging
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.model import Progress, RagError
from rag_assets.parsing import worker_started_ahead
from rag_assets.publishing import partitions_to_build
from rag_assets.running.instance import load_definitions, open_instance
from rag_assets.storage import describe_trouble, hold_lock, number_in, reading_once
from rag_assets.workspace import Namespace, Workspace
from rag_assets.workspace.stages import (
    PARSE_SUMMARIES,
    PARSES,
    partitioned,
    stage_names,
    switched_on,
)

if TYPE_CHECKING:
    import dagster as dg

    from rag_assets.model.settings import ParseSettings

# Said without words, or with none that name the reason.
_OF_MEMORY = frozenset({"MemoryError", "ArrowMemoryError", "_ArrayMemoryError"})
STAGES = stage_names()
# After a run of the library, how long a worker waits for the next.
_KEEP_SECONDS = 60.0
_log = logging.getLogger(__name__)
# The runs of `ingest_changes` that have not begun, by workspace and namespace.
_next_runs: dict[tuple[Path, str], "Future[RunOutcome]"] = {}
_queue = threading.Lock()


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """One asset check of a run."""

    asset: str
    name: str
    passed: bool
    severity: str
    description: str


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What a run did.

    Args:
        is_success: the run succeeded and no check of severity ERROR failed.
        is_published: nothing kept what the run made from its place: no step failed, and no check
            that stops the others.
        errors: sentences of the steps that failed.
        metadata: asset → plain metadata of its last materialization in the run; for a
            partitioned asset partition → metadata.
    """

    run_id: str
    is_success: bool
    errors: tuple[str, ...]
    checks: tuple[CheckOutcome, ...] = field(repr=False)
    metadata: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    is_published: bool = True


def materialize_stages(
    namespace: Namespace,
    stages: Sequence[str],
    *,
    tags: Mapping[str, str] | None = None,
    on_progress: Progress | None = None,
    will_parse: bool = False,
    partitions: Sequence[str] = (),
    keep_seconds: float = 0.0,
) -> RunOutcome:
    """Materialize stages of a namespace in one run.

    Args:
        stages: those that the namespace's settings switch off are left out.
        will_parse: files are known to have changed: a parsing worker starts while Dagster does.
        partitions: the first and the last of these, and all between; all without.
        keep_seconds: how long that worker waits for another run of this process.
    """
    stages = switched_on(stages, namespace.settings)
    keys = partitions or namespace.partition_keys
    range_tags = {
        "dagster/asset_partition_range_start": keys[0],
        "dagster/asset_partition_range_end": keys[-1],
    }
    return _run(
        namespace.workspace,
        [*([namespace.name, stage] for stage in stages), *_summaries(stages)],
        {**(range_tags if partitioned(stages) else {}), **(tags or {})},
        on_progress,
        # Elsewhere workers are not this process's.
        namespace.settings.parse if will_parse and namespace.settings.engine == "local" else None,
        keep_seconds,
    )


def _summaries(stages: Sequence[str]) -> Sequence[Sequence[str]]:
    return [[name] for name in PARSE_SUMMARIES] if PARSES in stages else []


def ingest(namespace: Namespace, *, on_progress: Progress | None = None) -> RunOutcome:
    """Run every stage of a namespace, from raw/ to a publication; see `materialize_stages`."""
    return materialize_stages(namespace, STAGES, on_progress=on_progress)


@reading_once()
def ingest_changes(namespace: Namespace, *, on_progress: Progress | None = None) -> RunOutcome:
    """Run every stage over the partitions in which something changed since the publication.

    For who adds a file and wants it found at once, and then another. Where a build with other
    settings or code is due, it is a run over all partitions, as `ingest`. The worker that parses is
    kept for a minute, in case there is more.

    Runs of a namespace go one after the other, in this process and in others. All threads that come
    while one is going share the next, and its outcome.
    """
    key = (namespace.workspace.root, namespace.name)
    with _queue:
        is_first = key not in _next_runs
        shared = _next_runs.setdefault(key, Future())

    def leave_queue() -> None:
        with _queue:
            if _next_runs.get(key) is shared:
                del _next_runs[key]

    if is_first:
        lock = namespace.workspace.locks / f"{namespace.name}.ingest.lock"
        try:
            with hold_lock(lock, f"what is ingested into {namespace.name}", _log.info):
                leave_queue()  # what is added from here on may come too late for this run
                outcome = materialize_stages(
                    namespace,
                    STAGES,
                    will_parse=True,
                    on_progress=on_progress,
                    partitions=partitions_to_build(namespace),
                    keep_seconds=_KEEP_SECONDS,
                )
        except BaseException as error:
            leave_queue()
            shared.set_exception(error)
            raise
        shared.set_result(outcome)
    return shared.result()


def materialize_partition(
    workspace: Workspace,
    asset: str,
    partition: str,
    *,
    on_progress: Progress | None = None,
) -> RunOutcome:
    """Materialize one dynamic partition of a workspace asset, registering its key first."""
    from rag_assets.definitions import DYNAMIC_PARTITIONS

    with open_instance(workspace) as instance:
        instance.add_dynamic_partitions(DYNAMIC_PARTITIONS[asset], [partition])
    return _run(workspace, [[asset]], {"dagster/partition": partition}, on_progress)


def audit_file(
    workspace: Workspace, run: RunOutcome, asset: str, partition: str, draft: Path
) -> Path:
    """Return the audit that a run has stored for a draft, of which there may be equal copies."""
    metadata = run.metadata[asset][partition]
    name = draft.relative_to(workspace.root.absolute()).as_posix()
    return Path(metadata.get("copies", {}).get(name) or metadata["file"])


@reading_once()
def _run(
    workspace: Workspace,
    keys: Sequence[Sequence[str]],
    tags: Mapping[str, str],
    on_progress: Progress | None,
    parses: "ParseSettings | None" = None,
    keep_seconds: float = 0.0,
) -> RunOutcome:
    with ExitStack() as stack:
        if parses is not None:
            stack.enter_context(worker_started_ahead(parses, keep_seconds))
        import dagster as dg

        from rag_assets.defs.assets import progress_reporter, record_noted, register_questions
        from rag_assets.defs.checks import WORKSPACE_CHECKS, refresh_checks
        from rag_assets.running.origins import execute_assets

        instance = stack.enter_context(open_instance(workspace))
        definitions = load_definitions(workspace)
        record_noted(workspace, instance)
        register_questions(workspace, instance)
        token = progress_reporter.set(on_progress)
        # What is loaded stays: looking it through for garbage was a tenth of a short run's time.
        gc.freeze()
        try:
            run = execute_assets(
                definitions, instance, [dg.AssetKey(list(key)) for key in keys], tags
            )
        finally:
            gc.unfreeze()
            progress_reporter.reset(token)
        outcome = _read_outcome(instance, run)
        refresh_checks(
            workspace, instance, WORKSPACE_CHECKS.difference(check.name for check in outcome.checks)
        )
        return outcome


def _read_outcome(instance: "dg.DagsterInstance", run: "dg.DagsterRun") -> RunOutcome:
    errors: list[str] = []
    checks: list[CheckOutcome] = []
    metadata: dict[str, dict[str, Any]] = {}
    for record in instance.all_logs(run.run_id):
        event = record.dagster_event
        if event is None:
            continue
        if event.is_step_failure or event.is_run_failure:
            errors.extend(_error_sentences(event))
        elif event.is_step_materialization:
            found = event.step_materialization_data.materialization
            plain = {name: _plain(value) for name, value in found.metadata.items()}
            shown = metadata.setdefault(found.asset_key.to_user_string(), {})
            if found.partition:
                shown[found.partition] = plain
            else:
                shown.update(plain)
        elif event.event_type_value == "ASSET_CHECK_EVALUATION":
            checks.append(_check_outcome(event))
    failed = any(not check.passed and check.severity == "ERROR" for check in checks)
    return RunOutcome(
        run.run_id,
        run.is_success and not failed,
        tuple(dict.fromkeys(errors)),
        tuple(sorted(checks, key=lambda check: (check.asset, check.name))),
        metadata,
        run.is_success,
    )


def _error_sentences(event: "dg.DagsterEvent") -> list[str]:
    """Return the innermost error that we raised on purpose, else the innermost of all."""
    data: Any = event.event_specific_data
    error = getattr(data, "error", None)
    chain = []
    while error is not None:
        chain.append(error)
        error = error.cause
    if not chain:
        return []
    ours = {kind.__name__ for kind in _subclasses(RagError)}
    own = next((e for e in chain if e.cls_name in ours), None)
    found = own or chain[-1]
    message = found.message.strip()
    prefix = f"{found.cls_name}: "
    if own:
        return [message.split(prefix, 1)[-1].strip()]
    number = errno.ENOMEM if found.cls_name in _OF_MEMORY else number_in(message)
    trouble = describe_trouble(number, event.step_key or "the run", "finished")
    return [f"{trouble} ({message.splitlines()[-1]})" if trouble else message]


def _subclasses(kind: type) -> set[type]:
    children: list[type] = kind.__subclasses__()
    return {kind}.union(*map(_subclasses, children))


def _check_outcome(event: "dg.DagsterEvent") -> CheckOutcome:
    evaluation = event.asset_check_evaluation_data
    told = evaluation.metadata.get("told")
    return CheckOutcome(
        evaluation.asset_key.to_user_string(),
        evaluation.check_name,
        bool(evaluation.passed),
        evaluation.severity.value,
        str(told.value) if told else evaluation.description or "",
    )


def _plain(value: "dg.MetadataValue[Any]") -> Any:
    import dagster as dg

    if isinstance(value, dg.TableMetadataValue):
        return [dict(record.data) for record in value.records]
    return value.value
