"""The asset `raw_files`: the living files of each partition."""

from collections.abc import Sequence

import dagster as dg

from rag_assets.assets.stage import build_stage_asset
from rag_assets.model import Progress, StageOutcome
from rag_assets.storage import Notify
from rag_assets.workspace import Inventory, Namespace, describe_raw_files


def build_raw_files_asset(declared: Namespace) -> dg.AssetsDefinition:
    """Return the asset of one namespace."""
    return build_stage_asset(
        declared,
        "raw_files",
        "inventory",
        "The files of raw/ whose content belongs to the partition. Their bytes stay in place.",
        {"file"},
        "1",
        _work,
    )


def _work(
    _context: dg.AssetExecutionContext,
    namespace: Namespace,
    inventory: Inventory,
    partitions: Sequence[str],
    _notify: Notify,
    _progress: Progress | None,
) -> dict[str, StageOutcome]:
    return describe_raw_files(namespace, inventory, partitions)
