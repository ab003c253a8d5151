"""Models of Google's Vertex AI, through the client `google-genai` (an extra)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rag_assets.embedding.embedder import EmbeddingTokenizer
from rag_assets.embedding.remote import Purpose, RemoteEmbedder, RequestLimits
from rag_assets.embedding.remote_tokenizer import remote_tokenizer
from rag_assets.model import ServiceError, hash_fields
from rag_assets.services import (
    LOCATION_VARIABLE,
    PassingError,
    find_value,
    google_access,
    hide,
    key_advice,
    missing_extra,
    public_url,
    raise_for_status,
    require_key,
)
from rag_assets.settings import ModelSettings

if TYPE_CHECKING:
    from google.genai import Client

# Counts as code: raise it when the same answer gives other vectors.
_VERSION = 1
# spec 000 §5. The model itself has 3072; shorter vectors are its first ones, of length below 1.
_DEFAULT_DIMENSION = 1536
TASKS: dict[Purpose, str] = {"query": "RETRIEVAL_QUERY", "passage": "RETRIEVAL_DOCUMENT"}
# The service's limits (Vertex AI, "Get text embeddings", November 2026).
_DEFAULT_TOKENS = 2048
_REQUEST_TEXTS = 250
_REQUEST_TOKENS = 20_000
# Words stand for tokens where no tokenizer is named: what looks like so many may be twice as many.
_REQUEST_WORDS = _REQUEST_TOKENS // 2
_DEFAULT_LOCATION = "global"
_MILLISECONDS = 1000


def tokenizer(model: ModelSettings) -> EmbeddingTokenizer:
    """Return what counts the model's tokens, on this machine. See `remote_tokenizer`."""
    return remote_tokenizer(model, _DEFAULT_TOKENS)


def fingerprint(model: ModelSettings) -> str:
    """Return the SHA-256 of all that decides a vector: not who asks for it, nor from where."""
    return hash_fields(
        model.kind, _VERSION, model.model, dimension(model), sorted(TASKS.values()),
        public_url(model.base_url or ""), model.query_prompt or "", model.passage_prompt or "",
    )  # fmt: skip


def dimension(model: ModelSettings) -> int:
    """Return the length of the vectors, which the service is asked for."""
    return model.dimension or _DEFAULT_DIMENSION


def embedder(model: ModelSettings) -> RemoteEmbedder:
    """Return the model. Nothing is sent before there is something to encode.

    Raises:
        ConfigurationError: the extra, the key, the credentials or the project are missing.
    """
    return RemoteEmbedder(
        model,
        fingerprint(model),
        dimension(model),
        VertexService(model),
        tokenizer(model),
        RequestLimits(
            min(model.batch_texts, _REQUEST_TEXTS),
            _REQUEST_TOKENS if model.tokenizer else _REQUEST_WORDS,
        ),
    )


class VertexService:
    """The client's `embed_content`, without retries of its own: ours are in the settings."""

    def __init__(self, model: ModelSettings) -> None:
        self._model = model
        self._what = f"embedding by {model.model}"
        variable = model.api_key_variable
        self._key = require_key(variable, self._what) if variable else None
        self._mend = (
            key_advice(variable)
            if variable
            else "Run `gcloud auth application-default login`, and see that the account has the "
            "role Vertex AI User in this project and that the API is switched on."
        )
        self._client = self._make_client()

    def request_vectors(
        self, texts: Sequence[str], purpose: Purpose
    ) -> list[tuple[int, list[float]]]:
        """Return (position, vector) as the service answered. See `VectorService`."""
        import httpx2
        from google.auth.exceptions import RefreshError, TransportError
        from google.genai import errors, types

        try:
            answer = self._client.models.embed_content(
                model=self._model.model,
                # A content a text: the newer models make one vector of several strings.
                contents=[types.Content(parts=[types.Part(text=text)]) for text in texts],
                config=types.EmbedContentConfig(
                    task_type=TASKS[purpose],
                    output_dimensionality=dimension(self._model),
                    auto_truncate=False,
                ),
            )
        except errors.APIError as error:
            raise_for_status(
                error.code,
                hide(str(error.message or error.status or ""), self._key),
                getattr(error.response, "headers", None) or {},
                what=self._what,
                mend=self._mend,
            )
        except (httpx2.TransportError, TransportError) as error:
            said = hide(str(error), self._key)
            raise PassingError(f"{type(error).__name__} {said}".strip()) from None
        except RefreshError as error:
            raise ServiceError(
                f"{self._what}: Google does not accept the credentials. {self._mend}"
            ) from error
        except ValueError as error:
            # JSON that breaks off, which a cut connection leaves behind.
            raise PassingError(f"an answer that is no JSON ({error})") from error
        return [(place, item.values or []) for place, item in enumerate(answer.embeddings or [])]

    def _make_client(self) -> "Client":
        model = self._model
        try:
            from google import genai
            from google.genai import types
        except ImportError as error:
            raise missing_extra("vertex", f"{self._what} (kind: vertex)") from error
        place: dict[str, Any] = {
            "location": model.location or find_value(LOCATION_VARIABLE) or _DEFAULT_LOCATION
        }
        if self._key is not None:
            place = {"project": model.project, **place} if model.project else {}
            place["api_key"] = self._key.get_secret_value()
        else:
            access = google_access(model.project, self._what)
            place |= {"project": access.project, "credentials": access.credentials}
        return genai.Client(
            vertexai=True,
            http_options=types.HttpOptions(
                base_url=model.base_url, timeout=int(model.timeout_seconds * _MILLISECONDS)
            ),
            **place,
        )
