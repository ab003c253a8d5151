"""The asset `chunk_edits`: what people published of their drafts, applied to the chunks."""

import dagster as dg

from rag_assets.assets.stage import StageCall, build_stage_asset
from rag_assets.editing import EDITING_VERSION, refresh_chunk_edits
from rag_assets.embedding import joint_tokenizer
from rag_assets.model import StageOutcome
from rag_assets.workspace import Namespace


def build_chunk_edits_asset(declared: Namespace) -> dg.AssetsDefinition:
    """Return the asset of one namespace."""
    return build_stage_asset(
        declared,
        "chunk_edits",
        "Published edits of chunks (`rag draft`), applied anew wherever a document, its parse or "
        "its cut has changed; what can be applied no more waits and is told.",
        {"python", "parquet"},
        str(EDITING_VERSION),
        _work,
    )


def _work(call: StageCall) -> dict[str, StageOutcome]:
    return refresh_chunk_edits(
        call.namespace,
        call.inventory,
        call.partitions,
        joint_tokenizer(call.namespace.settings.embed),
        call.notify,
        on_progress=call.on_progress,
    )
