"""An embedder whose model runs elsewhere: batches, several at once, each answer checked."""

import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from rag_assets.embedding.embedder import EmbeddingTokenizer, EncodeProgress
from rag_assets.model import ConfigurationError, ServiceError, UsageError, hash_text
from rag_assets.services import RefusedContentError, call_with_retries
from rag_assets.settings import ModelSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

Purpose = Literal["query", "passage"]

# Asked when a batch is refused, to tell a text that is refused from a setting that is.
_HARMLESS = "text"
_log = logging.getLogger(__name__)


class VectorService(Protocol):
    """One call of a service that turns texts into vectors. Called from several threads."""

    def request_vectors(
        self, texts: Sequence[str], purpose: Purpose
    ) -> Sequence[tuple[int, Sequence[float]]]:
        """Return what the service answered, unchecked: (its index, its vector) in its order.

        Raises:
            PassingError: may be gone at the next try.
            RefusedContentError: the service refuses these texts, or a setting sent with them.
            ServiceError: anything else.
        """


@dataclass(frozen=True)
class RequestLimits:
    """What one request may hold.

    Args:
        texts: at most, at least 1.
        tokens: at most, as far as the tokenizer at hand can tell; a longer text goes alone.
    """

    texts: int
    tokens: float = math.inf


class RemoteEmbedder:
    """A model behind a service, as an `Embedder`. Vectors are brought to length 1 here.

    A passage that the service refuses (too long for it, or against its rules) gets a vector of
    zeros, which the stage keeps as none, and stands in `refused`: one passage never stops the
    others. A
    service that is down, or refuses everything, stops the run.
    """

    def __init__(
        self,
        model: ModelSettings,
        fingerprint: str,
        dimension: int,
        service: VectorService,
        tokenizer: EmbeddingTokenizer,
        limits: RequestLimits,
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = model.model
        self.fingerprint = fingerprint
        self.dimension = dimension
        #: SHA-256 of a refused passage → what the service said of it.
        self.refused: dict[str, str] = {}
        self._model = model
        self._service = service
        self._tokenizer = tokenizer
        self._limits = limits
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
        bounded = math.isfinite(self._limits.tokens)
        sizes = self._tokenizer.count(texts) if bounded else [0] * len(texts)
        begin, held = 0, 0
        for index, size in enumerate(sizes):
            is_full = index - begin == self._limits.texts or held + size > self._limits.tokens
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
    service: VectorService,
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


_BROKEN = "Such a vector compares with nothing: look at the service's log and at its model's files."
