"""The asset `embeddings`: a vector for every chunk."""

import dagster as dg

from rag_assets.assets.stage import StageCall, build_stage_asset
from rag_assets.embedding import load_embedder, model_dimension, model_fingerprint
from rag_assets.embedding.stage import EMBEDDING_VERSION, refresh_embeddings
from rag_assets.model import StageOutcome
from rag_assets.workspace import Namespace


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


def _work(call: StageCall) -> dict[str, StageOutcome]:
    settings = call.namespace.settings.embed
    return refresh_embeddings(
        call.namespace,
        call.inventory,
        call.partitions,
        model_fingerprint(settings),
        model_dimension(settings),
        lambda: load_embedder(settings),
        call.notify,
        on_progress=call.on_progress,
    )
