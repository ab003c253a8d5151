"""Models behind an OpenAI-compatible endpoint, through the client `openai` (an extra)."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from rag_assets.embedding.embedder import EmbeddingTokenizer
from rag_assets.embedding.remote import (
    Purpose,
    RemoteEmbedder,
    RequestLimits,
    request_checked,
)
from rag_assets.embedding.remote_tokenizer import remote_tokenizer
from rag_assets.model import ConfigurationError, ServiceError, hash_fields
from rag_assets.services import (
    PassingError,
    RefusedContentError,
    hide,
    key_advice,
    missing_extra,
    public_url,
    raise_for_status,
    require_key,
)
from rag_assets.settings import ModelSettings

if TYPE_CHECKING:
    from openai import OpenAI

# Counts as code: raise it when the same answer gives other vectors.
_VERSION = 1
_OPENAI_URL = "https://api.openai.com/v1"
_OPENAI_KEY = "OPENAI_API_KEY"
# What small open models take; the hosted ones take more (8191, text-embedding-3).
_DEFAULT_TOKENS = 512


def tokenizer(model: ModelSettings) -> EmbeddingTokenizer:
    """Return what counts the model's tokens, on this machine. See `remote_tokenizer`."""
    return remote_tokenizer(model, _DEFAULT_TOKENS)


def fingerprint(model: ModelSettings) -> str:
    """Return the SHA-256 of all that decides a vector, as far as it can be known from here."""
    return hash_fields(
        model.kind, _VERSION, _endpoint(model), model.model, model.dimension,
        model.query_prompt or "", model.passage_prompt or "",
    )  # fmt: skip


def dimension(model: ModelSettings) -> int:
    """Return the length of the vectors; where the settings do not say, asked once a process.

    Raises:
        ConfigurationError: the key or the extra is missing, or the settings are refused.
        ServiceError: the service is down after all tries, or answers nonsense.
    """
    return model.dimension or _ask_dimension(model)


def embedder(model: ModelSettings) -> RemoteEmbedder:
    """Return the model. Nothing is sent before there is something to encode or to ask.

    Raises:
        ConfigurationError: the key or the extra is missing.
    """
    service = OpenAIService(model)
    return RemoteEmbedder(
        model,
        fingerprint(model),
        dimension(model),
        service,
        tokenizer(model),
        RequestLimits(model.batch_texts),
    )


@lru_cache(maxsize=8)
def _ask_dimension(model: ModelSettings) -> int:
    try:
        found = request_checked(model, OpenAIService(model), ["text"], "passage", None)
    except RefusedContentError as error:
        raise ConfigurationError(
            f"{model.model}: the service refuses what it is sent: {error}. Check `model` and "
            "`base_url` under embed.models against its documentation."
        ) from error
    return int(found.shape[1])


def _endpoint(model: ModelSettings) -> str:
    return public_url(model.base_url or _OPENAI_URL)


class OpenAIService:
    """The call `POST /embeddings`, without the client's own retries: ours are in the settings."""

    def __init__(self, model: ModelSettings) -> None:
        self._model = model
        self._what = f"embedding by {model.model}"
        # A key goes only where the settings send it: never OpenAI's to another host.
        self._variable = model.api_key_variable or (None if model.base_url else _OPENAI_KEY)
        self._key = require_key(self._variable, self._what) if self._variable else None
        self._client = _make_client(model, self._key, self._what)
        self._left_out = _left_out_headers(model, self._key)

    def request_vectors(
        self, texts: Sequence[str], purpose: Purpose
    ) -> list[tuple[int, list[float]]]:
        """Return (index, vector) as the service answered. See `VectorService`."""
        del purpose  # the endpoint makes no difference; prompts do
        import openai

        sent: dict[str, Any] = (
            {"dimensions": self._model.dimension} if self._model.dimension else {}
        )
        try:
            answer: Any = self._client.embeddings.create(
                input=list(texts),
                model=self._model.model,
                encoding_format="float",
                extra_headers=self._left_out,
                **sent,
            )
        except openai.APIStatusError as error:
            raise_for_status(
                error.status_code,
                hide(error.message, self._key),
                error.response.headers,
                what=self._what,
                mend=key_advice(self._variable or "api_key_variable"),
            )
        except openai.APIConnectionError as error:
            raise PassingError(_say_cause(error)) from error
        except (openai.APIResponseValidationError, ValueError) as error:
            # JSON that breaks off, which a cut connection leaves behind.
            raise PassingError(f"an answer that is no JSON ({error})") from error
        items = getattr(answer, "data", None)
        if not isinstance(items, list) or not all(isinstance(i.embedding, list) for i in items):
            raise ServiceError(
                f"{self._what}: {_endpoint(self._model)} answered something else than embeddings. "
                "Check base_url: most services want it to end in /v1."
            )
        return [(item.index, item.embedding) for item in items]


def _make_client(model: ModelSettings, key: SecretStr | None, what: str) -> "OpenAI":
    try:
        from openai import OpenAI
    except ImportError as error:
        raise missing_extra("openai", f"{what} (kind: openai_compatible)") from error
    return OpenAI(
        # The client wants some key; without one of ours no Authorization is sent at all.
        api_key=key.get_secret_value() if key else "none",
        base_url=model.base_url or _OPENAI_URL,
        timeout=model.timeout_seconds,
        max_retries=0,
    )


def _left_out_headers(model: ModelSettings, key: SecretStr | None) -> dict[str, Any]:
    """Return what the client would add of its own accord, from OpenAI's variables."""
    from openai import omit

    names = ["OpenAI-Organization", "OpenAI-Project"] if model.base_url else []
    return dict.fromkeys(names if key else [*names, "Authorization"], omit)


def _say_cause(error: BaseException) -> str:
    cause = error.__cause__
    return f"{error} ({type(cause).__name__})" if cause else str(error)
