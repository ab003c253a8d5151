"""The asset `parents`: pages or sections, the passages that are shown whole."""

import dagster as dg

from rag_assets.assets.stage import StageCall, build_stage_asset
from rag_assets.chunking import PARENTS_VERSION, refresh_parents
from rag_assets.embedding import joint_tokenizer
from rag_assets.model import StageOutcome
from rag_assets.workspace import Namespace


def build_parents_asset(declared: Namespace) -> dg.AssetsDefinition:
    """Return the asset of one namespace."""
    return build_stage_asset(
        declared,
        "parents",
        "Pages, or sections where there are no pages. A sentence that runs over a page end "
        "belongs whole to the page where it starts.",
        {"python", "parquet"},
        str(PARENTS_VERSION),
        _work,
    )


def _work(call: StageCall) -> dict[str, StageOutcome]:
    return refresh_parents(
        call.namespace,
        call.inventory,
        call.partitions,
        joint_tokenizer(call.namespace.settings.embed),
        call.notify,
        on_progress=call.on_progress,
    )
