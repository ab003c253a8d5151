"""The asset `chunks`: the passages that are searched."""

from collections.abc import Sequence

import dagster as dg

from rag_assets.assets.stage import build_stage_asset
from rag_assets.chunking import CHUNKING_VERSION
from rag_assets.chunking.stage import refresh_chunks
from rag_assets.embedding import load_tokenizer
from rag_assets.model import Progress, StageOutcome
from rag_assets.storage import Notify
from rag_assets.workspace import Inventory, Namespace


def build_chunks_asset(declared: Namespace) -> dg.AssetsDefinition:
    """Return the asset of one namespace."""
    return build_stage_asset(
        declared,
        "chunks",
        "parents",
        "Whole sentences packed to about `chunk.target_tokens`, within one parent, with their "
        "exact place in the text.",
        {"python", "parquet"},
        str(CHUNKING_VERSION),
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
    return refresh_chunks(namespace, inventory, partitions, tokenizer, notify, on_progress=progress)
