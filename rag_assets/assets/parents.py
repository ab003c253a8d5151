"""The asset `parents`: pages or sections, the passages that are shown whole."""

from collections.abc import Sequence

import dagster as dg

from rag_assets.assets.stage import build_stage_asset
from rag_assets.chunking import PARENTS_VERSION
from rag_assets.chunking.stage import refresh_parents
from rag_assets.embedding import load_tokenizer
from rag_assets.model import Progress, StageOutcome
from rag_assets.storage import Notify
from rag_assets.workspace import Inventory, Namespace


def build_parents_asset(declared: Namespace) -> dg.AssetsDefinition:
    """Return the asset of one namespace."""
    return build_stage_asset(
        declared,
        "parents",
        "parse_reports",
        "Pages, or sections where there are no pages. A sentence that runs over a page end "
        "belongs whole to the page where it starts.",
        {"python", "parquet"},
        str(PARENTS_VERSION),
        _work,
    )


def _work(
    _context: dg.AssetExecutionContext,
    namespace: Namespace,
    inventory: Inventory,
    partitions: Sequence[str],
    notify: Notify,
    progress: Progress | None,
) -> dict[str, StageOutcome]:
    tokenizer = load_tokenizer(namespace.settings.embed)
    return refresh_parents(
        namespace, inventory, partitions, tokenizer, notify, on_progress=progress
    )
