"""The assets: each gathers inputs, calls one function, reports."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from rag_assets.defs.assets.audits import DRAFTS, build_audit_assets, metadata_of_audit
from rag_assets.defs.assets.engine import ENGINE, EngineResource
from rag_assets.defs.assets.lab_runs import (
    build_lab_assets,
    opened_lab,
    record_laboratory,
)
from rag_assets.defs.assets.questions import (
    QUESTIONS,
    assets_of_question,
    build_question_assets,
    record_noted,
    register_questions,
)
from rag_assets.defs.assets.reporting import (
    REASON_TAG,
    REHASH_TAG,
    RETRY_TAG,
    STATE_TAG,
    progress_reporter,
)
from rag_assets.defs.assets.summaries import build_law_curation_asset, build_parse_summary_assets
from rag_assets.workspace.stages import stage_names, switched_on

if TYPE_CHECKING:
    import dagster as dg

    from rag_assets.workspace import Namespace


def build_namespace_assets(namespace: "Namespace") -> "Sequence[dg.AssetsDefinition]":
    """Return the assets of one namespace in the order in which data flows."""
    from rag_assets.defs.assets.stage import build_partitioned_asset

    return [
        build_partitioned_asset(namespace, name) or _builder(name)(namespace)
        for name in switched_on(stage_names(), namespace.settings)
    ]


def _builder(stage: str) -> "Callable[[Namespace], dg.AssetsDefinition]":
    """Return what builds a stage's asset: `build_<stage>_asset` in the module of its name."""
    module = import_module(f"{__name__}.{stage}")
    builder: Callable[[Namespace], dg.AssetsDefinition] = getattr(module, f"build_{stage}_asset")
    return builder
