"""From settings to a reranker."""

from functools import lru_cache

from rag_assets.retrieval.reranking.contract import Reranker
from rag_assets.settings import RerankSettings


def load_reranker(settings: RerankSettings) -> Reranker:
    """Return the model that `provider` and `model` name, loaded once a process.

    Raises:
        ConfigurationError: no such model on this machine, or the service is not described.
    """
    # The settings hold dictionaries, so that they are no cache key themselves.
    return _load(settings.model_dump_json())


@lru_cache(maxsize=2)
def _load(text: str) -> Reranker:
    settings = RerankSettings.model_validate_json(text)
    if settings.provider == "bundled":
        from rag_assets.retrieval.reranking import bundled

        return bundled.load_bundled(settings)
    if settings.provider == "cross_encoder":
        from rag_assets.retrieval.reranking import cross_encoder

        return cross_encoder.reranker(settings)
    if settings.provider == "http":
        from rag_assets.retrieval.reranking import http

        return http.reranker(settings)
    from rag_assets.retrieval.reranking import vertex

    return vertex.reranker(settings)
