"""The asset `parse_reports`: how the parse of every document went, and the parses."""

import dagster as dg

from rag_assets.assets.options import RETRY_TAG, flag
from rag_assets.assets.stage import StageCall, build_stage_asset
from rag_assets.model import StageOutcome
from rag_assets.parsing import STAGE_VERSION, refresh_parse_reports
from rag_assets.workspace import Namespace


def build_parse_reports_asset(declared: Namespace) -> dg.AssetsDefinition:
    """Return the asset of one namespace."""
    return build_stage_asset(
        declared,
        "parse_reports",
        "For every document its clean text with pages and blocks, or the reason why there is "
        "none. A document that fails harms no other.",
        {"python", "parquet"},
        STAGE_VERSION,
        _work,
        has_jobs=True,
    )


def _work(call: StageCall) -> dict[str, StageOutcome]:
    with call.engine.opened(call.namespace) as engine:
        return refresh_parse_reports(
            call.namespace,
            call.inventory,
            call.partitions,
            call.notify,
            retry=flag(call.context, RETRY_TAG),
            on_progress=call.on_progress,
            execution=engine,
        )
