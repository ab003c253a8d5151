"""From settings to a reranker."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from rag_assets.model.settings import RerankSettings


class Reranker(Protocol):
    """Judges how well passages answer a question, each by itself."""

    @property
    def name(self) -> str:
        """What a person calls the model."""

    @property
    def fingerprint(self) -> str:
        """Digest of all that decides a score, as far as it can be known from here."""

    def can_read(self, text: str) -> bool:
        """Return whether the model knows the language of `text`.

        A question it cannot read is not reranked, and a passage it cannot read keeps its place;
        both are said. A service that states no limit returns True.
        """

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return one finite score a passage, in their order; the higher, the better the answer.

        Args:
            query: one question.
            passages: texts; may be empty.
        """


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
    if settings.provider in {"bundled", "cross_encoder"}:
        from rag_assets.retrieval.reranking import local

        is_bundled = settings.provider == "bundled"
        return local.load_bundled(settings) if is_bundled else local.load_cross_encoder(settings)
    from rag_assets.retrieval.reranking.services import HttpReranker, VertexReranker

    return HttpReranker(settings) if settings.provider == "http" else VertexReranker(settings)
