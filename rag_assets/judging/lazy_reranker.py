"""The bundled English cross-encoder, loaded when a pair is first scored."""

from collections.abc import Sequence
from functools import cached_property

from rag_assets.retrieval.reranking import Reranker, load_reranker
from rag_assets.workspace.configuration import shipped_settings
from rag_assets.workspace.settings import RerankSettings

MODEL = "reranker-en"


class LazyReranker:
    """Loads its model when it is first asked; a draft in Chinese never needs it."""

    name = MODEL

    @cached_property
    def _model(self) -> Reranker:
        return load_reranker(_settings())

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of the model's files."""
        return self._model.fingerprint

    def can_read(self, text: str) -> bool:
        """Say whether the model knows enough of the words of a text."""
        return self._model.can_read(text)

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return one logit a passage."""
        return self._model.score(query, passages)


def _settings() -> RerankSettings:
    shipped = shipped_settings(None).retrieve.rerank
    return shipped.model_copy(update={"mode": "model", "provider": "bundled", "model": MODEL})
