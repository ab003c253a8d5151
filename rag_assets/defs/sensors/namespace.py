"""Sensors of a namespace: raw files, configuration with overrides, and edits of chunks."""

from collections.abc import Sequence

import dagster as dg

from rag_assets.chunking.editing import Passages, edits_digest
from rag_assets.defs.assets import REASON_TAG, STATE_TAG
from rag_assets.defs.checks import record_stale
from rag_assets.defs.sensors.attempts import attempts_of, default_status, is_busy
from rag_assets.model import RagError, count_of, hash_fields
from rag_assets.model.settings import Watching
from rag_assets.storage import read_pointer
from rag_assets.workspace import (
    Namespace,
    Workspace,
    configuration_digest,
    look_at_raw,
    overrides_digest,
    read_inventory,
    settings_digest,
)

# Evidence first: what waits in the queue to be answered or audited should find the new files.
_PRIORITY = "1"
# A tick is ended after 60 s, and what it read is lost with it; who has more to read goes on at the
# next.
_LOOK_SECONDS = 20
Answer = dg.RunRequest | dg.SkipReason


def build_namespace_sensors(declared: Namespace, job_name: str) -> Sequence[dg.SensorDefinition]:
    """Return the sensors of one namespace; they run unless switched off in the UI."""
    interval = Watching.interval_seconds

    def reopen() -> Namespace:
        return Workspace.open(declared.workspace.root).namespace(declared.name)

    @dg.sensor(
        name=f"{declared.name}_raw_files",
        job_name=job_name,
        minimum_interval_seconds=interval,
        default_status=default_status(),
        description="Builds what changed in raw/: new, edited, removed and moved files, edited "
        "sidecars. A file that is still being written is left alone until it rests.",
    )
    def raw_files(context: dg.SensorEvaluationContext) -> Answer:
        try:
            return _look(reopen(), context, job_name)
        except RagError as error:
            return dg.SkipReason(str(error))

    @dg.sensor(
        name=f"{declared.name}_configuration",
        job_name=job_name,
        minimum_interval_seconds=interval,
        default_status=default_status(),
        description="Builds everything that a changed setting or an override (`rag meta set`) "
        "concerns; documents whose fingerprint stays the same cost nothing.",
    )
    def configuration(context: dg.SensorEvaluationContext) -> Answer:
        try:
            return _compare_configuration(reopen(), context.instance, job_name)
        except RagError as error:
            return dg.SkipReason(str(error))

    @dg.sensor(
        name=f"{declared.name}_chunk_edits",
        job_name=job_name,
        minimum_interval_seconds=interval,
        default_status=default_status(),
        description="Builds the documents whose edited chunks were published (`rag draft publish`) "
        "by a process that did not build them itself.",
    )
    def chunk_edits(context: dg.SensorEvaluationContext) -> Answer:
        try:
            return _compare_edits(reopen(), context.instance, job_name)
        except RagError as error:
            return dg.SkipReason(str(error))

    return [raw_files, configuration, chunk_edits]


def _look(namespace: Namespace, context: dg.SensorEvaluationContext, job_name: str) -> Answer:
    instance = context.instance
    # One of the two sensors waits for the other's run, and for one that was launched by hand.
    if is_busy(instance, job_name=job_name):
        return dg.SkipReason(f"a run of {job_name} is under way")
    pointer = read_pointer(namespace.publications)
    published = pointer.built_from.get("inventory") if pointer else None
    look = look_at_raw(
        namespace, published, budget_seconds=_LOOK_SECONDS, last=context.cursor or ""
    )
    # Advisory, and small: without it, as after a reset in the UI, every file is described anew.
    context.update_cursor(look.to_text())
    if not look.is_complete:
        return dg.SkipReason("hashing goes on at the next look: the budget of this one is used up")
    if look.digest == published:
        waiting = f"; {len(look.pending)} are still being written" if look.pending else ""
        return dg.SkipReason(f"{count_of(look.files, 'file')}, nothing changed{waiting}")
    if not look.files and published is None:
        return dg.SkipReason("raw/ is empty")
    reason = f"files changed in partitions {look.partitions[0]} to {look.partitions[-1]}"
    return _request(namespace, instance, look.digest, look.partitions, reason)


def _compare_configuration(
    namespace: Namespace, instance: dg.DagsterInstance, job_name: str
) -> Answer:
    pointer = read_pointer(namespace.publications)
    if pointer is None:
        return dg.SkipReason("nothing is published yet")
    built = pointer.built_from
    is_built = built.get("configuration") == settings_digest(namespace)
    if is_built and built.get("overrides") == overrides_digest(namespace):
        return dg.SkipReason("the configuration is the one that was built")
    if is_busy(instance, job_name=job_name):
        return dg.SkipReason(f"a run of {job_name} is under way")
    return _request(
        namespace,
        instance,
        configuration_digest(namespace),
        namespace.partition_keys,
        "metadata was overridden" if is_built else "the configuration changed",
    )


def _compare_edits(namespace: Namespace, instance: dg.DagsterInstance, job_name: str) -> Answer:
    pointer = read_pointer(namespace.publications)
    if pointer is None:
        return dg.SkipReason("nothing is published yet")
    digest = edits_digest(namespace)
    if pointer.built_from.get("edits", "") == digest:
        return dg.SkipReason("no edits were published since")
    inventory = read_inventory(namespace)
    if inventory is None:
        return dg.SkipReason("nothing is published yet")
    if is_busy(instance, job_name=job_name):
        return dg.SkipReason(f"a run of {job_name} is under way")
    edited = Passages(namespace, inventory).edited
    partitions = sorted({namespace.partition_of(content) for content in edited})
    return _request(
        namespace,
        instance,
        hash_fields(inventory.digest, digest),
        partitions or namespace.partition_keys[:1],
        "edits of chunks were published",
    )


def _request(
    namespace: Namespace,
    instance: dg.DagsterInstance,
    digest: str,
    partitions: Sequence[str],
    reason: str,
) -> Answer:
    """Ask for one range run; its key holds the state and the number of the attempt."""
    built = read_pointer(namespace.publications)
    # The same state may come back after another (a file removed and restored): it is a new reason,
    # and a publication that comes back has its old name, but not its old time.
    since = f"{built.current}-{built.history[0].published_at:.0f}" if built else "none"
    state = f"{namespace.name}-{digest[:16]}-after-{since}"
    attempts = attempts_of(instance, STATE_TAG, state)
    if attempts.is_exhausted:
        record_stale(namespace, instance, f"since the publication {reason}, and no run succeeds")
        return dg.SkipReason(
            f"the last {attempts.number - 1} runs for this state did not publish it (run "
            f"{attempts.last_run_id}). Mend what it names, then materialize by hand or "
            "change a file."
        )
    return dg.RunRequest(
        run_key=f"{state}-{attempts.number}",
        tags={
            STATE_TAG: state,
            REASON_TAG: attempts.describe(reason),
            "dagster/priority": _PRIORITY,
            "dagster/asset_partition_range_start": partitions[0],
            "dagster/asset_partition_range_end": partitions[-1],
        },
    )
