"""The asset `raw_files`: the living files of each partition."""

import dagster as dg

from rag_assets.assets.stage import StageCall, build_stage_asset
from rag_assets.model import StageOutcome
from rag_assets.stages import describe_raw_files
from rag_assets.workspace import Namespace


def build_raw_files_asset(declared: Namespace) -> dg.AssetsDefinition:
    """Return the asset of one namespace."""
    return build_stage_asset(
        declared,
        "raw_files",
        "The files of raw/ whose content belongs to the partition. Their bytes stay in place.",
        {"file"},
        "1",
        _work,
    )


def _work(call: StageCall) -> dict[str, StageOutcome]:
    return describe_raw_files(call.namespace, call.inventory, call.partitions)
