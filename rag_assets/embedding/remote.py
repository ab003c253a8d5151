"""Models behind a service: an OpenAI-compatible endpoint (`openai`) or Vertex AI (`google-genai`).

Batches, several at once, each answer checked. Both clients are extras, without retries of their
own: ours are in the settings.
"""

import copy
import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rag_assets.embedding.embedder import EmbeddingTokenizer, EncodeProgress
from rag_assets.embedding.hashing import WordTokenizer
from rag_assets.embedding.model_folder import TOKENIZER_FILE, FileTokenizer
from rag_assets.llm.services import (
    LOCATION_VARIABLE,
    PassingError,
    RefusedContentError,
    call_with_retries,
    find_value,
    google_access,
    hide,
    key_advice,
    missing_extra,
    public_url,
    raise_for_status,
    require_key,
)
from rag_assets.model import ConfigurationError, ServiceError, UsageError, hash_fields, hash_text
from rag_assets.model.settings import ModelSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

Purpose = Literal["query", "passage"]

# Count as code: raise it when the same answer gives other vectors, or the same text other counts.
_VERSION = 1
_TOKENIZER_VERSION = 1
_OPENAI_URL = "https://api.openai.com/v1"
_OPENAI_KEY = "OPENAI_API_KEY"
TASKS: dict[Purpose, str] = {"query": "RETRIEVAL_QUERY", "passage": "RETRIEVAL_DOCUMENT"}
# spec 000 §5. The model itself has 3072; shorter vectors are its first ones, of length below 1.
_VERTEX_DIMENSION = 1536
# What small open models take, where `max_tokens` does not say; the hosted ones take more (8191,
# text-embedding-3). Then what Vertex AI takes ("Get text embeddings", November 2026).
_OPENAI_TOKENS, _VERTEX_TOKENS = 512, 2048
_REQUEST_TEXTS = 250
_REQUEST_TOKENS = 20_000
# Words stand for tokens where no tokenizer is named: what looks like so many may be twice as many.
_REQUEST_WORDS = _REQUEST_TOKENS // 2
_VERTEX_LOCATION = "global"
# Byte-pair and unigram vocabularies of some 100,000 entries cut English prose into about 1.3
# tokens a word and Chinese into 0.7 to 1.3 a character; with 1.5 a text that is taken to fit does.
_TOKENS_PER_WORD = 1.5
# The model adds at most so many of its own, such as [CLS] and [SEP].
_SPECIAL_TOKENS = 2
# Asked when a batch is refused, to tell a text that is refused from a setting that is.
_HARMLESS = "text"
_BROKEN = "Such a vector compares with nothing: look at the service's log and at its model's files."
_log = logging.getLogger(__name__)


def tokenizer(model: ModelSettings) -> EmbeddingTokenizer:
    """Return what counts the model's tokens, on this machine.

    `tokenizer` in its settings may name a tokenizer.json, a folder that holds one, or a bundled
    model; without it words and CJK characters stand for tokens, and the limit is cut by a third.

    Raises:
        ConfigurationError: there is no such tokenizer, or the prompt leaves no room.
    """
    is_vertex = model.kind == "vertex"
    tokens = model.max_tokens or (_VERTEX_TOKENS if is_vertex else _OPENAI_TOKENS)
    if model.tokenizer is None:
        counting: EmbeddingTokenizer = WordTokenizer()
        room = int(tokens / _TOKENS_PER_WORD)
    else:
        counting = _named_tokenizer(model.tokenizer)
        room = tokens - _SPECIAL_TOKENS
    limit = room - counting.count([model.passage_prompt or ""])[0]
    if limit < 1:
        raise ConfigurationError(
            f"embed.models: {model.model}: the passage_prompt leaves no room for a text within "
            f"{tokens} tokens. Shorten it, or set max_tokens to what the model takes."
        )
    limited: Any = copy.copy(counting)
    limited.limit = limit
    limited.fingerprint = hash_fields("remote", _TOKENIZER_VERSION, counting.fingerprint, limit)
    found: EmbeddingTokenizer = limited
    return found


def _named_tokenizer(name: str) -> EmbeddingTokenizer:
    path = Path(name).expanduser()
    if path.is_dir():
        path /= TOKENIZER_FILE
    if path.is_file():
        return FileTokenizer(path)
    from rag_assets.embedding.models import load_tokenizer

    try:
        return load_tokenizer(ModelSettings(kind="bundled", model=name))
    except ConfigurationError as error:
        raise ConfigurationError(
            f"embed.models: tokenizer {name!r} is neither a tokenizer.json, nor a folder that "
            f"holds one, nor a bundled model ({error}) Leave it out to count words."
        ) from error


def fingerprint(model: ModelSettings) -> str:
    """Return the SHA-256 of all that decides a vector, as far as it can be known from here.

    Not who asks for it, nor from where.
    """
    prompts = model.query_prompt or "", model.passage_prompt or ""
    if model.kind == "vertex":
        return hash_fields(
            model.kind, _VERSION, model.model, dimension(model), sorted(TASKS.values()),
            public_url(model.base_url or ""), *prompts,
        )  # fmt: skip
    url = public_url(model.base_url or _OPENAI_URL)
    return hash_fields(model.kind, _VERSION, url, model.model, model.dimension, *prompts)


def dimension(model: ModelSettings) -> int:
    """Return the length of the vectors; where the settings do not say, OpenAI's is asked once.

    Raises:
        ConfigurationError: the key or the extra is missing, or the settings are refused.
        ServiceError: the service is down after all tries, or answers nonsense.
    """
    return model.dimension or (
        _VERTEX_DIMENSION if model.kind == "vertex" else _ask_dimension(model)
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


def embedder(model: ModelSettings) -> "RemoteEmbedder":
    """Return the model. Nothing is sent before there is something to encode or to ask.

    Raises:
        ConfigurationError: the extra, the key, the credentials or the project are missing.
    """
    if model.kind == "vertex":
        return RemoteEmbedder(
            model,
            VertexService(model),
            min(model.batch_texts, _REQUEST_TEXTS),
            _REQUEST_TOKENS if model.tokenizer else _REQUEST_WORDS,
        )
    return RemoteEmbedder(model, OpenAIService(model), model.batch_texts)


class RemoteEmbedder:
    """A model behind a service, as an `Embedder`. Vectors are brought to length 1 here.

    A passage that the service refuses (too long for it, or against its rules) gets a vector of
    zeros, which the stage keeps as none, and is named in `refused`: one passage never stops the
    others. A service that is down, or refuses everything, stops the run.

    Args:
        most_texts: of one request, at least 1.
        most_tokens: of one request, as far as the tokenizer at hand can tell; a longer text goes
            alone.
    """

    def __init__(
        self,
        model: ModelSettings,
        service: "OpenAIService | VertexService",
        most_texts: int,
        most_tokens: float = math.inf,
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = model.model
        self.fingerprint = fingerprint(model)
        self.dimension = dimension(model)
        #: SHA-256 of a refused passage → what the service said of it.
        self.refused: dict[str, str] = {}
        self._model = model
        self._service = service
        self._most_texts, self._most_tokens = most_texts, most_tokens
        self._sleep = sleep
        self._has_answered = False

    def encode_passages(
        self, texts: Sequence[str], on_progress: EncodeProgress | None = None
    ) -> "Floats":
        """Return the vectors of `texts`; zeros for one that the service refuses.

        Raises:
            ConfigurationError: the service refuses whatever it is sent with these settings.
            ServiceError: the service is down after all tries, or answers nonsense.
        """
        import numpy as np

        prompt = self._model.passage_prompt or ""
        given = [prompt + text for text in texts]
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        batches = list(self._batches(given))
        done = 0
        with ThreadPoolExecutor(self._model.concurrency, "embedding") as pool:
            asked = {
                pool.submit(self._encode_batch, given[begin:end]): slice(begin, end)
                for begin, end in batches
            }
            try:
                for finished in as_completed(asked):
                    place = asked[finished]
                    vectors[place] = finished.result()
                    done += place.stop - place.start
                    if on_progress:
                        on_progress(done, len(texts))
            finally:
                # After an error nothing more is sent, since every request may cost money.
                pool.shutdown(wait=True, cancel_futures=True)
        return vectors

    def encode_queries(self, texts: Sequence[str]) -> "Floats":
        """Return the vectors of questions.

        Raises:
            UsageError: the service refuses a question.
            ConfigurationError: the service refuses whatever it is sent with these settings.
            ServiceError: the service is down after all tries, or answers nonsense.
        """
        import numpy as np

        prompt = self._model.query_prompt or ""
        given = [prompt + text for text in texts]
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for begin, end in self._batches(given):
            try:
                vectors[begin:end] = self._call(given[begin:end], "query")
            except RefusedContentError as error:
                self._check_settings("query", error)
                raise UsageError(
                    f"{self.name} refuses the question: {error}. Ask it in fewer or other words."
                ) from error
        return vectors

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield where each request begins and ends, within both limits."""
        bounded = math.isfinite(self._most_tokens)
        sizes = tokenizer(self._model).count(texts) if bounded else [0] * len(texts)
        begin, held = 0, 0
        for index, size in enumerate(sizes):
            is_full = index - begin == self._most_texts or held + size > self._most_tokens
            if index > begin and is_full:
                yield begin, index
                begin, held = index, 0
            held += size
        if texts:
            yield begin, len(texts)

    def _encode_batch(self, texts: Sequence[str]) -> "Floats":
        """Return the vectors of one request's passages; halved until what is refused is found."""
        import numpy as np

        try:
            return self._call(texts, "passage")
        except RefusedContentError as error:
            self._check_settings("passage", error)
            if len(texts) == 1:
                self.refused[hash_text(texts[0])] = str(error)
                _log.warning(
                    "%s refuses a passage (%s): it has no vector of this model. It begins: %.60r",
                    self.name, error, texts[0],
                )  # fmt: skip
                return np.zeros((1, self.dimension), np.float32)
            _log.info("%s refuses %d passages at once: %s", self.name, len(texts), error)
        middle = len(texts) // 2
        return np.concatenate(
            [self._encode_batch(texts[:middle]), self._encode_batch(texts[middle:])]
        )

    def _check_settings(self, purpose: Purpose, refusal: RefusedContentError) -> None:
        """Raise where a harmless text is refused as well: then it is not the text's fault."""
        if self._has_answered:
            return
        try:
            self._call([_HARMLESS], purpose)
        except RefusedContentError:
            raise ConfigurationError(
                f"{self.name}: the service refuses what it is sent: {refusal}. Check `model`, "
                "`dimension` and `base_url` under embed.models against its documentation; a model "
                "whose vectors cannot be cut short wants no `dimension`."
            ) from refusal

    def _call(self, texts: Sequence[str], purpose: Purpose) -> "Floats":
        found = request_checked(
            self._model, self._service, texts, purpose, self.dimension, self._sleep
        )
        self._has_answered = True
        return found


def request_checked(
    model: ModelSettings,
    service: "OpenAIService | VertexService",
    texts: Sequence[str],
    purpose: Purpose,
    dimension: int | None,
    sleep: Callable[[float], None] = time.sleep,
) -> "Floats":
    """Return the vectors of one request, tried again where trouble passes, each of length 1.

    Args:
        dimension: what each vector must have; None takes what comes, if all have the same.

    Raises:
        RefusedContentError: the service refuses these texts.
        ServiceError: the service is down after all tries, or answers nonsense.
    """
    import numpy as np

    answer = call_with_retries(
        lambda: service.request_vectors(texts, purpose),
        f"embedding by {model.model}",
        attempts=model.attempts,
        backoff_seconds=model.backoff_seconds,
        sleep=sleep,
    )
    where = f"embedding by {model.model}: the service answered"
    if len(answer) != len(texts):
        raise ServiceError(
            f"{where} {len(answer)} vectors for {len(texts)} texts, so none can be told to which "
            "text it belongs. Set `batch_texts: 1` under embed.models if the service takes one "
            "text at a time."
        )
    for due, (index, _) in enumerate(answer):
        if index != due:
            raise ServiceError(
                f"{where} index {index} where index {due} was due, so its vectors cannot be told "
                "apart. Set `batch_texts: 1` under embed.models, or use another service."
            )
    wanted = dimension or len(answer[0][1])
    for index, vector in answer:
        if len(vector) != wanted:
            raise ServiceError(
                f"{where} a vector of {len(vector)} numbers (index {index}), where {wanted} were "
                "due. Set `dimension` of this model under embed.models to what it gives."
            )
    vectors = np.array([vector for _, vector in answer], np.float64)
    lengths = np.linalg.norm(vectors, axis=1)
    for broken in np.flatnonzero(~np.isfinite(lengths)):
        raise ServiceError(f"{where} NaN or infinity in the vector of index {broken}. {_BROKEN}")
    for broken in np.flatnonzero(lengths == 0):
        raise ServiceError(f"{where} a vector of zeros at index {broken}. {_BROKEN}")
    found: Floats = (vectors / lengths[:, None]).astype(np.float32)
    return found


class OpenAIService:
    """The call `POST /embeddings`, without the client's own retries: ours are in the settings."""

    def __init__(self, model: ModelSettings) -> None:
        self._model = model
        self._what = f"embedding by {model.model}"
        # A key goes only where the settings send it: never OpenAI's to another host.
        self._variable = model.api_key_variable or (None if model.base_url else _OPENAI_KEY)
        self._key = require_key(self._variable, self._what) if self._variable else None
        try:
            from openai import OpenAI, omit
        except ImportError as error:
            what = f"{self._what} (kind: openai_compatible)"
            raise missing_extra("openai", what) from error
        self._client = OpenAI(
            # The client wants some key; without one of ours no Authorization is sent at all.
            api_key=self._key.get_secret_value() if self._key else "none",
            base_url=model.base_url or _OPENAI_URL,
            timeout=model.timeout_seconds,
            max_retries=0,
        )
        # What the client would add of itself, from OpenAI's variables.
        names = ["OpenAI-Organization", "OpenAI-Project"] if model.base_url else []
        self._left_out: dict[str, Any] = dict.fromkeys(
            names if self._key else [*names, "Authorization"], omit
        )

    def request_vectors(
        self, texts: Sequence[str], purpose: Purpose
    ) -> list[tuple[int, list[float]]]:
        """Return (index, vector) as the service answered, unchecked; called from several threads.

        Raises:
            PassingError: may be gone at the next try.
            RefusedContentError: the service refuses these texts, or a setting sent with them.
            ServiceError: anything else.
        """
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
            cause = f" ({type(error.__cause__).__name__})" if error.__cause__ else ""
            raise PassingError(f"{error}{cause}") from error
        except (openai.APIResponseValidationError, ValueError) as error:
            # JSON that breaks off, which a cut connection leaves behind.
            raise PassingError(f"an answer that is no JSON ({error})") from error
        items = getattr(answer, "data", None)
        if not isinstance(items, list) or not all(isinstance(i.embedding, list) for i in items):
            url = public_url(self._model.base_url or _OPENAI_URL)
            raise ServiceError(
                f"{self._what}: {url} answered something else than embeddings. Check base_url: "
                "most services want it to end in /v1."
            )
        return [(item.index, item.embedding) for item in items]


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
        try:
            from google import genai
            from google.genai import types
        except ImportError as error:
            raise missing_extra("vertex", f"{self._what} (kind: vertex)") from error
        place: dict[str, Any] = {
            "location": model.location or find_value(LOCATION_VARIABLE) or _VERTEX_LOCATION
        }
        if self._key is not None:
            place = {"project": model.project, **place} if model.project else {}
            place["api_key"] = self._key.get_secret_value()
        else:
            access = google_access(model.project, self._what)
            place |= {"project": access.project, "credentials": access.credentials}
        self._client = genai.Client(
            vertexai=True,
            http_options=types.HttpOptions(
                base_url=model.base_url, timeout=int(model.timeout_seconds * 1000)
            ),
            **place,
        )

    def request_vectors(
        self, texts: Sequence[str], purpose: Purpose
    ) -> list[tuple[int, list[float]]]:
        """Return (position, vector) as the service answered. See `OpenAIService`."""
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
