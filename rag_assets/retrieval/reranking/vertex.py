"""Google's ranking API (Vertex AI Search): spec 000's `semantic-ranker-default-004`.

By REST through google-auth: the client google-cloud-discoveryengine brings gRPC and generated
code of the whole product for one call, while google-auth comes with the other client of the extra.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import requests
from pydantic import Field

from rag_assets.model import ServiceError, hash_fields
from rag_assets.retrieval.reranking.contract import Reranker
from rag_assets.retrieval.reranking.remote import RemoteReranker, ServiceParams, read_params
from rag_assets.services import LOCATION_VARIABLE, PassingError, find_value, google_access, hide
from rag_assets.settings import RerankSettings

# Counts as code: raise it when the same answer gives other scores.
_VERSION = 1
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
            hash_fields("vertex", _VERSION, settings.model),
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


def reranker(settings: RerankSettings) -> Reranker:
    """Return the ranking API for the project that settings, environment or credentials name.

    Raises:
        ConfigurationError: a parameter is wrong; the extra, the credentials or the project are
            missing.
    """
    return VertexReranker(settings)
