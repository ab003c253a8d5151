"""Rerankers behind an HTTP endpoint of the usual form: Cohere, Jina, vLLM, TEI and their like."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import requests
from pydantic import Field

from rag_assets.model import ServiceError, hash_fields
from rag_assets.retrieval.reranking.contract import Reranker
from rag_assets.retrieval.reranking.remote import RemoteReranker, ServiceParams, read_params
from rag_assets.services import key_advice, public_url, require_key
from rag_assets.settings import RerankSettings

# Counts as code: raise it when the same answer gives other scores.
_VERSION = 1


class HttpParams(ServiceParams):
    """`retrieve.rerank.params` of `provider: http`.

    Args:
        url: the whole path: http://127.0.0.1:8080/rerank, https://api.cohere.com/v2/rerank.
        form: `cohere`, {model, query, documents, top_n} → results of {index, relevance_score}
            (Cohere, Jina, Voyage, vLLM, LocalAI …), or `tei`, {query, texts} → a list of {index,
            score} (Text Embeddings Inference).
        batch: passages a request; Text Embeddings Inference takes 32 unless told otherwise.
    """

    url: str = Field(pattern=r"^https?://")
    form: Literal["cohere", "tei"] = "cohere"
    api_key_variable: str | None = Field(default=None, pattern=r"^[A-Z][A-Z0-9_]*$")
    batch: int = Field(default=32, ge=1)


class HttpReranker(RemoteReranker):
    """`POST url` with a question and passages; the higher a score, the better."""

    def __init__(
        self, settings: RerankSettings, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        params = read_params(HttpParams, settings.params)
        variable = params.api_key_variable
        super().__init__(
            settings.model,
            hash_fields("http", _VERSION, public_url(params.url), params.form, settings.model),
            params,
            key=require_key(variable, f"reranking by {settings.model}") if variable else None,
            mend=key_advice(variable) if variable else "Name `api_key_variable` in its params.",
            check="Check retrieve.rerank: `model`, and `url`, `form` and `batch` in its params.",
            sleep=sleep,
        )
        self._url, self._form = params.url, params.form

    def send(self, query: str, passages: Sequence[str]) -> requests.Response:
        """Send one request in the form that the settings name."""
        body: dict[str, Any] = {"query": query}
        if self._form == "tei":
            # A passage too long for the model is judged by its beginning, as the others do.
            body |= {"texts": list(passages), "truncate": True}
        else:
            body |= {"model": self.name, "documents": list(passages), "top_n": len(passages)}
        headers = {"Authorization": f"Bearer {self._key.get_secret_value()}"} if self._key else {}
        return requests.post(
            self._url, json=body, headers=headers, timeout=self._params.timeout_seconds
        )

    def read_pairs(self, answer: Any) -> Iterator[tuple[Any, Any]]:
        """Yield (index, score): Cohere and Jina say `results`, Voyage `data`, TEI gives a list."""
        items = answer.get("results", answer.get("data")) if isinstance(answer, dict) else answer
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise ServiceError(
                f"{self._what}: {public_url(self._url)} answered something else than scores. Check "
                "`url` in retrieve.rerank.params: it names the whole path, such as "
                "http://127.0.0.1:8080/rerank."
            )
        for item in items:
            yield item.get("index"), item.get("relevance_score", item.get("score"))


def reranker(settings: RerankSettings) -> Reranker:
    """Return the service that `settings.params` describes. Nothing is sent yet.

    Raises:
        ConfigurationError: a parameter is wrong or the key is missing.
    """
    return HttpReranker(settings)
