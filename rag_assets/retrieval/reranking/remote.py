"""What the rerankers behind services share: parameters, batches, retries, checked scores."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import requests
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from rag_assets.model import ConfigurationError, ServiceError
from rag_assets.services import (
    PassingError,
    RefusedContentError,
    call_with_retries,
    hide,
    raise_for_status,
)

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
