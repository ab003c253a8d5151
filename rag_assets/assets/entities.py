"""The asset `entities`: what passages name. Only where `graph` is switched on."""

import dagster as dg

from rag_assets.assets.stage import StageCall, build_stage_asset
from rag_assets.graph import ENTITIES_VERSION, refresh_entities
from rag_assets.model import StageOutcome
from rag_assets.workspace import Namespace


def build_entities_asset(declared: Namespace) -> dg.AssetsDefinition:
    """Return the asset of one namespace."""
    return build_stage_asset(
        declared,
        "entities",
        "What passages name (formulae, names, abbreviations, titles), found by rules: search goes "
        "from what a question names to what stands beside it in a sentence.",
        {"python", "parquet"},
        str(ENTITIES_VERSION),
        _work,
    )


def _work(call: StageCall) -> dict[str, StageOutcome]:
    return refresh_entities(
        call.namespace,
        call.inventory,
        call.partitions,
        call.notify,
        on_progress=call.on_progress,
    )
