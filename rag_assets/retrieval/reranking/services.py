"""What the rerankers behind services share: parameters, batches, retries, checked scores."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

import requests
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from rag_assets.llm.services import (
    LOCATION_VARIABLE,
    PassingError,
    RefusedContentError,
    call_with_retries,
    find_value,
    google_access,
    hide,
    key_advice,
    public_url,
    raise_for_status,
    require_key,
)
from rag_assets.model import ConfigurationError, ServiceError, hash_fields
from rag_assets.model.settings import RerankSettings

Params = TypeVar("Params", bound="ServiceParams")

_SUCCESS = 200
_TRANSPORT_ERRORS = (
    requests.ConnectionError,
    requests.Timeout,
    requests.exceptions.ChunkedEncodingError,
    requests.exceptions.ContentDecodingError,
)
_ADVICE = "Look at the service's log, or switch it off by `retrieve.rerank.mode: off`."


class ServiceParams(BaseModel):
    """`retrieve.rerank.params` of every reranker that is a service.

    Args:
        weight: share of the rerank score where it is mixed with the fused one; not used here.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    batch: int = Field(ge=1)
    attempts: int = Field(default=4, ge=1)
    backoff_seconds: float = Field(default=1.0, ge=0)
    timeout_seconds: float = Field(default=30.0, gt=0)
    weight: float | None = None


def read_params(model: type[Params], given: Mapping[str, Any]) -> Params:
    """Return the parameters as their model has them.

    Raises:
        ConfigurationError: an unknown name, a missing or a wrong value; all are named.
    """
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()
        )
        raise ConfigurationError(
            f"retrieve.rerank.params: {wrong}. It may hold {', '.join(sorted(model.model_fields))}."
        ) from error


class RemoteReranker(ABC):
    """A reranker behind one HTTP call.

    Args:
        key: stands in no error and no log.
        mend: what to do where the key or the account is refused.
        check: what to check where the service refuses what it is sent.
    """

    def __init__(
        self,
        name: str,
        fingerprint: str,
        params: ServiceParams,
        *,
        key: SecretStr | None,
        mend: str,
        check: str,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self._params = params
        self._key = key
        self._mend = mend
        self._check = check
        self._sleep = sleep
        self._what = f"reranking by {name}"

    @abstractmethod
    def send(self, query: str, passages: Sequence[str]) -> requests.Response:
        """Send one request and return what came back, whatever its status."""

    @abstractmethod
    def read_pairs(self, answer: Any) -> Iterator[tuple[Any, Any]]:
        """Yield (index, score) from the answer's JSON, unchecked, in any order."""

    def can_read(self, text: str) -> bool:  # noqa: ARG002 - the Protocol's signature
        """Return True: the service states no languages."""
        return True

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return one score a passage, in their order.

        Raises:
            ConfigurationError: the service refuses what it is sent.
            ServiceError: the service is down after all tries, or answers nonsense.
        """
        scores: list[float] = []
        for begin in range(0, len(passages), self._params.batch):
            scores += self._score_batch(query, passages[begin : begin + self._params.batch])
        return scores

    def _score_batch(self, query: str, passages: Sequence[str]) -> list[float]:
        try:
            answer = call_with_retries(
                lambda: self._ask(query, passages),
                self._what,
                attempts=self._params.attempts,
                backoff_seconds=self._params.backoff_seconds,
                sleep=self._sleep,
            )
        except RefusedContentError as error:
            raise ConfigurationError(
                f"{self._what}: the service refuses what it is sent: {error}. {self._check}"
            ) from error
        return self._place(self.read_pairs(answer), len(passages))

    def _ask(self, query: str, passages: Sequence[str]) -> Any:
        try:
            answer = self.send(query, passages)
            if answer.status_code != _SUCCESS:
                raise_for_status(
                    answer.status_code,
                    hide(answer.text, self._key),
                    answer.headers,
                    what=self._what,
                    mend=self._mend,
                )
            return answer.json()
        except requests.JSONDecodeError as error:
            # JSON that breaks off, which a cut connection leaves behind.
            raise PassingError(f"an answer that is no JSON ({error})") from error
        except _TRANSPORT_ERRORS as error:
            raise PassingError(f"{type(error).__name__}: {hide(str(error), self._key)}") from None

    def _place(self, pairs: Iterator[tuple[Any, Any]], size: int) -> list[float]:
        """Return the scores in the order of the passages, each index there exactly once."""
        found: dict[int, float] = {}
        for index, score in pairs:
            if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < size:
                raise self._nonsense(f"index {index!r} for {size} passages")
            if index in found:
                raise self._nonsense(f"index {index} twice")
            if not isinstance(score, int | float) or not math.isfinite(score):
                raise self._nonsense(f"{score!r} as the score of index {index}")
            found[index] = float(score)
        if len(found) < size:
            missing = next(index for index in range(size) if index not in found)
            raise self._nonsense(
                f"{len(found)} scores for {size} passages, none of index {missing}"
            )
        return [found[index] for index in range(size)]

    def _nonsense(self, answered: str) -> ServiceError:
        return ServiceError(f"{self._what}: the service answered {answered}. {_ADVICE}")


# Rerankers behind an HTTP endpoint of the usual form: Cohere, Jina, vLLM, TEI and their like.


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


# Google's ranking API (Vertex AI Search): spec 000's `semantic-ranker-default-004`.
#
# By REST through google-auth: the client google-cloud-discoveryengine brings gRPC and generated
# code of the whole product for one call, while google-auth comes with the other client of the
# extra.


# Counts as code: raise it when the same answer gives other scores.
_VERTEX_VERSION = 1
_DEFAULT_LOCATION = "global"
# The service's limit (Discovery Engine, RankRequest, November 2026).
_REQUEST_PASSAGES = 200
_MEND = (
    "Run `gcloud auth application-default login`, and see that the account has the role Discovery "
    "Engine Viewer in this project and that the Discovery Engine API is switched on."
)


class VertexParams(ServiceParams):
    """`retrieve.rerank.params` of `provider: vertex`.

    Args:
        url: of the API; another one for tests and proxies.
        project: else GOOGLE_CLOUD_PROJECT, else the one in the credentials.
        location: else GOOGLE_CLOUD_LOCATION, else `global`.
    """

    url: str = Field(default="https://discoveryengine.googleapis.com/v1", pattern=r"^https?://")
    project: str | None = None
    location: str | None = None
    batch: int = Field(default=_REQUEST_PASSAGES, ge=1, le=_REQUEST_PASSAGES)


class VertexReranker(RemoteReranker):
    """`rankingConfigs/default_ranking_config:rank`; scores from 0 to 1, to two decimals."""

    def __init__(
        self, settings: RerankSettings, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        params = read_params(VertexParams, settings.params)
        super().__init__(
            settings.model,
            hash_fields("vertex", _VERTEX_VERSION, settings.model),
            params,
            key=None,
            mend=_MEND,
            check="Check retrieve.rerank: `model`, and `project` and `location` in its params.",
            sleep=sleep,
        )
        access = google_access(params.project, self._what)
        # Here, since only now it is known that the extra is installed.
        from google.auth.transport.requests import AuthorizedSession

        make_session: Any = AuthorizedSession  # untyped
        self._session: requests.Session = make_session(access.credentials)
        self._project = access.project
        location = params.location or find_value(LOCATION_VARIABLE) or _DEFAULT_LOCATION
        self._url = (
            f"{params.url.rstrip('/')}/projects/{access.project}/locations/{location}"
            "/rankingConfigs/default_ranking_config:rank"
        )

    def send(self, query: str, passages: Sequence[str]) -> requests.Response:
        """Send one request, with a token that google-auth fetches and renews."""
        from google.auth.exceptions import RefreshError, TransportError

        records = [{"id": str(index), "content": text} for index, text in enumerate(passages)]
        try:
            return self._session.post(
                self._url,
                json={
                    "model": self.name,
                    "query": query,
                    "records": records,
                    "topN": len(passages),
                    "ignoreRecordDetailsInResponse": True,
                },
                headers={"X-Goog-User-Project": self._project},
                timeout=self._params.timeout_seconds,
            )
        except RefreshError as error:
            raise ServiceError(
                f"{self._what}: Google does not accept the credentials. {_MEND}"
            ) from error
        except TransportError as error:
            raise PassingError(f"{type(error).__name__}: {hide(str(error), None)}") from None

    def read_pairs(self, answer: Any) -> Iterator[tuple[Any, Any]]:
        """Yield (index, score); a record without a score has 0, which Google's JSON leaves out."""
        records = answer.get("records") if isinstance(answer, dict) else None
        for record in records or []:
            name = str(record.get("id"))
            yield int(name) if name.isdecimal() else name, record.get("score", 0.0)
