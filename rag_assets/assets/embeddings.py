"""The asset `embeddings`: for every chunk a vector of each model."""

import dagster as dg

from rag_assets.assets.options import ENCODERS
from rag_assets.assets.stage import StageCall, build_stage_asset
from rag_assets.embedding import embedding_models
from rag_assets.embedding.stage import EMBEDDING_VERSION, refresh_embeddings
from rag_assets.model import StageOutcome
from rag_assets.workspace import Namespace


def build_embeddings_asset(declared: Namespace) -> dg.AssetsDefinition:
    """Return the asset of one namespace."""
    return build_stage_asset(
        declared,
        "embeddings",
        "A vector of each model for every chunk, looked up by what the model was given before it "
        "is computed.",
        {"python", "parquet"},
        str(EMBEDDING_VERSION),
        _work,
        ENCODERS,
        has_jobs=True,
    )


def _work(call: StageCall) -> dict[str, StageOutcome]:
    with call.engine.opened(call.namespace) as engine:
        return refresh_embeddings(
            call.namespace,
            call.inventory,
            call.partitions,
            embedding_models(call.namespace.settings.embed),
            call.notify,
            on_progress=call.on_progress,
            execution=engine,
        )
