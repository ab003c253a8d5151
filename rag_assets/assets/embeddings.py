"""The asset `embeddings`: a vector for every chunk."""

from collections.abc import Sequence

import dagster as dg

from rag_assets.assets.stage import build_stage_asset
from rag_assets.embedding import load_embedder, model_dimension, model_fingerprint
from rag_assets.embedding.stage import EMBEDDING_VERSION, refresh_embeddings
from rag_assets.model import Progress, StageOutcome
from rag_assets.storage import Notify
from rag_assets.workspace import Inventory, Namespace


def build_embeddings_asset(declared: Namespace) -> dg.AssetsDefinition:
    """Return the asset of one namespace."""
    return build_stage_asset(
        declared,
        "embeddings",
        "chunks",
        "A vector for every chunk, looked up by what the model was given before it is computed.",
        {"python", "pytorch", "parquet"},
        str(EMBEDDING_VERSION),
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
    settings = namespace.settings.embed
    return refresh_embeddings(
        namespace,
        inventory,
        partitions,
        model_fingerprint(settings),
        model_dimension(settings),
        lambda: load_embedder(settings),
        notify,
        on_progress=progress,
    )
