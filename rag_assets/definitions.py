"""The one Definitions object: workspace → namespaces → assets, checks, sensors, jobs."""

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import dagster as dg

from rag_assets.defs.assets import (
    DRAFTS,
    ENGINE,
    QUESTIONS,
    EngineResource,
    build_audit_assets,
    build_lab_assets,
    build_law_curation_asset,
    build_namespace_assets,
    build_parse_summary_assets,
    build_question_assets,
)
from rag_assets.defs.checks import (
    build_namespace_checks,
    build_workspace_checks,
)
from rag_assets.defs.sensors import (
    build_lab_sensors,
    build_namespace_sensors,
    build_workspace_sensors,
)
from rag_assets.workspace import Namespace, Workspace, require_own_environment
from rag_assets.workspace.stages import PARSE_SUMMARIES, PARSES

_log = logging.getLogger(__name__)

# One object, so that the definitions of several namespaces merge.
RESOURCES: Mapping[str, object] = MappingProxyType({ENGINE: EngineResource()})

# The name of each workspace asset's dynamic partitions.
DYNAMIC_PARTITIONS = {
    "evidence_packs": str(QUESTIONS.name),
    "agent_answers": str(QUESTIONS.name),
    "citation_audits": str(DRAFTS.name),
    "claim_audits": str(DRAFTS.name),
}


def build_namespace_definitions(
    namespace: Namespace,
    summaries: Sequence[str] = (),
    resources: Mapping[str, object] = RESOURCES,
) -> dg.Definitions:
    """Return the assets, checks, sensors and the job of one namespace.

    Args:
        summaries: assets of the workspace that its job makes besides; none where it stands alone.
        resources: what the assets need; none where the code location binds `engine` itself.
    """
    with _quiet():
        group = build_namespace_assets(namespace)
        job = dg.define_asset_job(
            f"{namespace.name}_ingest",
            selection=dg.AssetSelection.assets(*(asset.key for asset in group), *summaries),
            description=f"Everything from raw/ to the publication of '{namespace.name}'.",
            # Wherever it is loaded: the stages' own processes work side by side.
            executor_def=dg.in_process_executor,
        )
        return dg.Definitions(
            assets=group,
            asset_checks=build_namespace_checks(namespace),
            sensors=build_namespace_sensors(namespace, job.name),
            jobs=[job],
            resources=resources,
        )


def build_definitions(workspace: Workspace) -> dg.Definitions:
    """Return everything that Dagster runs for a workspace, each run in one process."""
    executor = dg.Definitions(executor=dg.in_process_executor)
    return dg.Definitions.merge(build_workspace_definitions(workspace), executor)


def build_workspace_definitions(
    workspace: Workspace, resources: Mapping[str, object] = RESOURCES
) -> dg.Definitions:
    """Return everything of a workspace, for a code location that may hold other things too.

    Its resources are those of `build_namespace_definitions`.

    A namespace whose file cannot be read is left out: the others go on. Whoever asks for the
    definitions says so (`defs`, the sensors of questions and drafts, the commands).
    """
    namespaces = workspace.sound_namespaces()[0]
    parts = [build_namespace_definitions(each, PARSE_SUMMARIES, resources) for each in namespaces]
    indexes, parses = (
        [dg.AssetKey([namespace.name, stage]) for namespace in namespaces]
        for stage in ("search_index", PARSES)
    )
    with _quiet():
        shared = _build_shared(workspace, indexes, parses)
        laws = [each for each in namespaces if each.settings.chunk.mode == "law"]
        return dg.Definitions.merge(
            *parts, shared, _build_curation(workspace, laws),
            _build_laboratory(workspace),
        )  # fmt: skip


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep still about features in beta.

    It would be one paragraph for each asset, on every start, about `backfill_policy`; the release
    of Dagster is pinned and a test holds the graph.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)
        warnings.simplefilter("ignore", dg.PreviewWarning)
        yield


def _build_shared(
    workspace: Workspace, indexes: Sequence[dg.AssetKey], parses: Sequence[dg.AssetKey]
) -> dg.Definitions:
    """Return what belongs to the workspace as a whole."""
    summaries = build_parse_summary_assets(workspace, parses)
    made = build_question_assets(workspace, indexes)
    audits = build_audit_assets(workspace, indexes)
    questions_job = dg.define_asset_job(
        "answer_question",
        selection=made,
        description="One evidence pack or one answer for one question.",
    )
    drafts_job = dg.define_asset_job(
        "audit_draft",
        selection=audits,
        description="The citations and the claims of one revision of a draft.",
    )
    return dg.Definitions(
        assets=[*summaries, *made, *audits],
        asset_checks=build_workspace_checks(workspace),
        sensors=build_workspace_sensors(
            workspace, (QUESTIONS, questions_job.name), (DRAFTS, drafts_job.name)
        ),
        jobs=[questions_job, drafts_job],
    )


def _build_curation(workspace: Workspace, laws: Sequence[Namespace]) -> dg.Definitions:
    """Return what looks through the laws of a workspace; nothing where it has none.

    No job of a namespace makes it: it reads every file of a vault, also where one was edited.
    """
    if not laws:
        return dg.Definitions()
    parses = [dg.AssetKey([namespace.name, PARSES]) for namespace in laws]
    return dg.Definitions(assets=[build_law_curation_asset(workspace, parses)])


def _build_laboratory(workspace: Workspace) -> dg.Definitions:
    """Return what makes recipes and learns of them; nothing where there is no laboratory."""
    if workspace.settings.lab is None:
        return dg.Definitions()
    bases = workspace.settings.lab.bases
    upstream = [
        dg.AssetKey([name, "search_index"]) for name in (bases.principles, bases.modulation)
    ]
    job = dg.define_asset_job(
        "make_recipes",
        selection=dg.AssetSelection.keys("lab/recipe_runs"),
        description="The runs that request files ask for, and those that wait in the queue.",
    )
    return dg.Definitions(
        assets=build_lab_assets(workspace, upstream),
        sensors=build_lab_sensors(workspace, job.name),
        jobs=[job],
    )


@dg.definitions
def defs() -> dg.Definitions:
    """Return the definitions of the workspace that RAG_WORKSPACE or the current folder names.

    A function, so that importing this module needs no workspace.
    """
    require_own_environment(Path.cwd())
    workspace = Workspace.find()
    for trouble in workspace.sound_namespaces()[1]:
        _log.error("left out of the code location until it is fixed: %s", trouble)
    return build_definitions(workspace)
