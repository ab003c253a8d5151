"""The asset `chunks`: the passages that are searched."""

import dagster as dg

from rag_assets.assets.stage import StageCall, build_stage_asset
from rag_assets.chunking import CHUNKING_VERSION, refresh_chunks
from rag_assets.embedding import joint_tokenizer
from rag_assets.model import StageOutcome
from rag_assets.workspace import Namespace


def build_chunks_asset(declared: Namespace) -> dg.AssetsDefinition:
    """Return the asset of one namespace."""
    return build_stage_asset(
        declared,
        "chunks",
        "Whole sentences packed to about `chunk.target_tokens`, within one parent, with their "
        "exact place in the text.",
        {"python", "parquet"},
        str(CHUNKING_VERSION),
        _work,
    )


def _work(call: StageCall) -> dict[str, StageOutcome]:
    return refresh_chunks(
        call.namespace,
        call.inventory,
        call.partitions,
        joint_tokenizer(call.namespace.settings.embed),
        call.notify,
        on_progress=call.on_progress,
    )
