"""The assets of the stages that are partitioned by content hash: one frame, one entry a stage."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import dagster as dg

from rag_assets.chunking import (
    CHUNKING_VERSION,
    PARENTS_VERSION,
    refresh_chunks,
    refresh_parents,
)
from rag_assets.chunking.editing import EDITING_VERSION, refresh_chunk_edits
from rag_assets.defs.assets.engine import ENGINE, EngineResource
from rag_assets.defs.assets.reporting import (
    ENCODERS,
    OWNERS,
    RETRY_TAG,
    flag,
    progress_reporter,
    reopen_namespace,
    report_partitions,
    signed_work,
)
from rag_assets.embedding import embedding_models, joint_tokenizer
from rag_assets.embedding.stage import EMBEDDING_VERSION, refresh_embeddings
from rag_assets.model import Progress, StageOutcome
from rag_assets.parsing import STAGE_VERSION, refresh_parse_reports
from rag_assets.publishing.graph import ENTITIES_VERSION, refresh_entities
from rag_assets.storage import Notify
from rag_assets.workspace import Inventory, Namespace, require_inventory
from rag_assets.workspace.stages import describe_raw_files, read_by


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


def _parse(call: StageCall) -> dict[str, StageOutcome]:
    with call.engine.opened(call.namespace) as engine:
        return refresh_parse_reports(
            call.namespace, call.inventory, call.partitions, call.notify,
            retry=flag(call.context, RETRY_TAG), on_progress=call.on_progress, execution=engine,
        )  # fmt: skip


def _embed(call: StageCall) -> dict[str, StageOutcome]:
    with call.engine.opened(call.namespace) as engine:
        return refresh_embeddings(
            call.namespace, call.inventory, call.partitions,
            embedding_models(call.namespace.settings.embed), call.notify,
            on_progress=call.on_progress, execution=engine,
        )  # fmt: skip


def _cut(refresh: Callable[..., dict[str, StageOutcome]]) -> Work:
    """Return the work of a stage that counts tokens as all models together do."""
    return lambda call: refresh(
        call.namespace, call.inventory, call.partitions,
        joint_tokenizer(call.namespace.settings.embed), call.notify, on_progress=call.on_progress,
    )  # fmt: skip


_TABLE = {"python", "parquet"}
# Stage → description, kinds, code version, work, pool, whether it gives jobs to an engine.
_STAGES: dict[str, tuple[str, set[str], str, Work, str | None, bool]] = {
    "raw_files": (
        ("The files of raw/ whose content belongs to the partition. Their bytes stay in place."),
        {"file"}, "1",
        lambda call: describe_raw_files(call.namespace, call.inventory, call.partitions),
        None, False,
    ),
    "parse_reports": (
        ("For every document its clean text with pages and blocks, or the reason why there is "
        "none. A document that fails harms no other."),
        _TABLE, STAGE_VERSION, _parse, None, True,
    ),
    "parents": (
        ("Pages, or sections where there are no pages. A sentence that runs over a page end "
        "belongs whole to the page where it starts."),
        _TABLE, str(PARENTS_VERSION), _cut(refresh_parents), None, False,
    ),
    "chunks": (
        ("Whole sentences packed to about `chunk.target_tokens`, within one parent, with their "
        "exact place in the text."),
        _TABLE, str(CHUNKING_VERSION), _cut(refresh_chunks), None, False,
    ),
    "chunk_edits": (
        ("Published edits of chunks (`rag draft`), applied again whenever a document, its parse or "
        "its cut changes; edits that no longer fit wait and are listed."),
        _TABLE, str(EDITING_VERSION), _cut(refresh_chunk_edits), None, False,
    ),
    "embeddings": (
        ("A vector of each model for every chunk, looked up by what the model was given before it "
        "is computed."),
        _TABLE, str(EMBEDDING_VERSION), _embed, ENCODERS, True,
    ),
    "entities": (
        ("What passages name (formulae, names, abbreviations, titles), found by rules: search goes "
        "from what a question names to what stands beside it in a sentence."),
        _TABLE, str(ENTITIES_VERSION),
        lambda call: refresh_entities(
            call.namespace, call.inventory, call.partitions, call.notify,
            on_progress=call.on_progress,
        ),
        None, False,
    ),
}  # fmt: skip


def build_partitioned_asset(declared: Namespace, name: str) -> dg.AssetsDefinition | None:
    """Return the asset of a stage that the package knows as partitioned; None for another."""
    if name not in _STAGES:
        return None
    description, kinds, version, work, pool, has_jobs = _STAGES[name]
    return build_stage_asset(
        declared, name, description, kinds, version, work, pool, has_jobs=has_jobs
    )
