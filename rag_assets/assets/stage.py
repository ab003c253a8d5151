"""The frame of a stage that is partitioned by content hash; each stage has a module of its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import dagster as dg

from rag_assets.assets.engine import ENGINE, EngineResource
from rag_assets.assets.options import (
    OWNERS,
    progress_reporter,
    reopen_namespace,
    signed_work,
)
from rag_assets.assets.reporting import report_partitions
from rag_assets.model import Progress, StageOutcome
from rag_assets.stages import read_by
from rag_assets.storage import Notify
from rag_assets.workspace import Inventory, Namespace, require_inventory


@dataclass(frozen=True, slots=True)
class StageCall:
    """What a stage works on in one run."""

    context: dg.AssetExecutionContext
    namespace: Namespace
    inventory: Inventory
    partitions: Sequence[str]
    notify: Notify
    on_progress: Progress | None

    @property
    def engine(self) -> EngineResource:
        """What does its jobs; only of a stage that was built with `has_jobs`."""
        resource: EngineResource = self.context.resources.engine
        return resource


Work = Callable[[StageCall], dict[str, StageOutcome]]


def partitions_of(namespace: Namespace) -> dg.StaticPartitionsDefinition:
    """Return the static partitions: the first digits of the content hash."""
    return dg.StaticPartitionsDefinition(list(namespace.partition_keys))


def stage_before(declared: Namespace, name: str) -> list[dg.AssetKey]:
    """Return the assets that a stage reads, as its dependencies."""
    return [dg.AssetKey([declared.name, each]) for each in read_by(name, declared.settings)]


def build_stage_asset(
    declared: Namespace,
    name: str,
    description: str,
    kinds: set[str],
    code_version: str,
    work: Work,
    pool: str | None = None,
    *,
    has_jobs: bool = False,
) -> dg.AssetsDefinition:
    """Return the asset of one stage: gather inputs, call `work`, report each partition.

    Args:
        pool: of which a team's Dagster lets only so many steps run at a time.
        has_jobs: it gives jobs to an engine.
    """

    @dg.asset(
        key=[declared.name, name],
        deps=stage_before(declared, name),
        group_name=declared.name,
        description=description,
        kinds=kinds,
        owners=OWNERS,
        code_version=code_version,
        partitions_def=partitions_of(declared),
        backfill_policy=dg.BackfillPolicy.single_run(),
        pool=pool,
        required_resource_keys={ENGINE} if has_jobs else set(),
    )
    def stage(context: dg.AssetExecutionContext) -> None:
        namespace = reopen_namespace(
            declared.workspace, declared.name, declared.settings.hex_digits
        )
        call = StageCall(
            context,
            namespace,
            require_inventory(namespace),
            context.partition_keys,
            context.log.info,
            progress_reporter.get(),
        )
        with signed_work(context, namespace, code_version):
            outcomes = work(call)
        told = {ENGINE: call.engine.told(namespace)} if has_jobs else {}
        report_partitions(context, outcomes, told)

    return stage
