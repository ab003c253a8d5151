"""The asset `parse_reports`: how the parse of every document went, and the parses."""

from collections.abc import Sequence

import dagster as dg

from rag_assets.assets.options import RETRY_TAG, flag
from rag_assets.assets.stage import build_stage_asset
from rag_assets.model import Progress, StageOutcome
from rag_assets.parsing.fingerprints import STAGE_VERSION
from rag_assets.parsing.stage import refresh_parse_reports
from rag_assets.storage import Notify
from rag_assets.workspace import Inventory, Namespace


def build_parse_reports_asset(declared: Namespace) -> dg.AssetsDefinition:
    """Return the asset of one namespace."""
    return build_stage_asset(
        declared,
        "parse_reports",
        "raw_files",
        "For every document its clean text with pages and blocks, or the reason why there is "
        "none. A document that fails harms no other.",
        {"python", "parquet"},
        STAGE_VERSION,
        _work,
    )


def _work(
    context: dg.AssetExecutionContext,
    namespace: Namespace,
    inventory: Inventory,
    partitions: Sequence[str],
    notify: Notify,
    progress: Progress | None,
) -> dict[str, StageOutcome]:
    return refresh_parse_reports(
        namespace,
        inventory,
        partitions,
        notify,
        retry=flag(context, RETRY_TAG),
        on_progress=progress,
    )
