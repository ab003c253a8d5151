"""Any service that speaks OpenAI's chat completions: Ollama, vLLM, llama.cpp, hosted ones."""

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn  # Any: what openai sends
from urllib.parse import urlsplit

from pydantic import SecretStr

from rag_assets.llm.contract import Budget, ChatRequest, Completion
from rag_assets.llm.services import (
    PassingError,
    RefusedContentError,
    call_with_retries,
    hide,
    key_advice,
    missing_extra,
    public_url,
    raise_for_status,
    shorten,
)
from rag_assets.llm.wire import completion_from_wire, prompt_tokens, request_to_wire
from rag_assets.model import ConfigurationError, LanguageModelError, ServiceError
from rag_assets.model.settings import LlmSettings

if TYPE_CHECKING:
    from openai import OpenAI

# Hosted services say so with HTTP 429, but waiting does not help.
_NO_MONEY = "insufficient_quota"
# The client adds these from OpenAI's own variables; they are nobody else's business.
_OPENAI_HOST = "api.openai.com"
_OPENAI_HEADERS = ("OpenAI-Organization", "OpenAI-Project")


class OpenAiCompatibleModel:
    """One model of one service.

    Args:
        settings: where it is, how patient we are.
        key: of the service; None where it wants none.
        sleep: how to wait between two tries.

    Raises:
        ConfigurationError: the settings name no model or a password, or the extra `openai` is
            missing.
    """

    def __init__(
        self,
        settings: LlmSettings,
        key: SecretStr | None,
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if not settings.model:
            raise ConfigurationError(
                "llm: 'model' must name a model of the service, got '' (config.yaml)."
            )
        if "@" in urlsplit(settings.base_url).netloc:
            raise ConfigurationError(
                "llm: 'base_url' holds a name or password before its host (config.yaml); secrets "
                "belong in the environment or .env: put the key into {settings.api_key_variable}."
            )
        self._settings = settings
        self._key = key
        self._sleep = sleep
        self._client = _open_client(settings, key)
        from openai import omit

        is_openai = urlsplit(settings.base_url).hostname == _OPENAI_HOST
        names = () if is_openai else _OPENAI_HEADERS
        self._left_out = dict.fromkeys(names if key else (*names, "Authorization"), omit)
        # Newer hosted models know this limit by another name and refuse the usual one.
        self._limit_name = "max_tokens"
        self._takes_seed = True

    @property
    def name(self) -> str:
        """`openai_compatible:<model>`."""
        return f"openai_compatible:{self._settings.model}"

    def describe(self) -> dict[str, str | int | float]:
        """Return kind, model, place and defaults."""
        return {
            "kind": "openai_compatible",
            "model": self._settings.model,
            "base_url": public_url(self._settings.base_url),
            "temperature": self._settings.temperature,
            "max_tokens": self._settings.max_tokens,
        }

    def complete(self, request: ChatRequest, budget: Budget | None = None) -> Completion:
        """Ask, trying again on 408, 409, 425, 429, 5xx and broken connections."""
        settings = self._settings
        attempts = 0

        def ask() -> Completion:
            nonlocal attempts
            attempts += 1
            limit, timeout = request.max_tokens or settings.max_tokens, settings.timeout_seconds
            if budget is not None:
                limit, timeout = budget.limit_call(prompt_tokens(request), limit, timeout)
            body = request_to_wire(request, settings) | {"model": settings.model}
            if budget is not None and budget.hear is not None and not request.top_logprobs:
                body |= {"stream": True, "stream_options": {"include_usage": True}}
            answer = self._create(body | {self._limit_name: limit}, timeout, budget)
            found: Any = answer.model_dump(warnings=False) if hasattr(answer, "model_dump") else {}
            if not found.get("choices") or not found["choices"][0].get("message"):
                raise PassingError("the answer is no chat completion")
            return completion_from_wire(found, request, settings.model, attempts)

        def sleep(seconds: float) -> None:
            self._sleep(seconds if budget is None else min(seconds, budget.require_time()))

        try:
            completion = call_with_retries(
                ask,
                self._what(),
                attempts=settings.attempts,
                backoff_seconds=settings.backoff_seconds,
                sleep=sleep,
            )
        except ServiceError as error:
            raise LanguageModelError(
                f"{error} ('llm' in the configuration says where the service is and how patient "
                "we are.)"
            ) from error
        except RefusedContentError as error:
            raise LanguageModelError(
                f"{self._what()}: the service refuses what it is sent: {error}. Check 'llm' in the "
                "configuration against its documentation; a shorter prompt may help."
            ) from error
        if budget is not None:
            budget.spend(completion.usage.total)
        return completion

    def _create(self, body: dict[str, Any], timeout: float, budget: Budget | None) -> Any:
        import httpx
        import openai

        call: Any = self._client.chat.completions.create
        if not self._takes_seed:
            body.pop("seed", None)
        try:
            answer = call(**body, timeout=timeout, extra_headers=self._left_out)
            return answer if "stream" not in body or budget is None else _heard(answer, budget)
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            # Some services refuse keys that they do not know.
            if "seed" in body and "seed" in error.message:
                self._takes_seed = False
                return self._create(body, timeout, budget)
            if error.param == "max_tokens" and self._limit_name == "max_tokens":
                self._limit_name = "max_completion_tokens"
                body[self._limit_name] = body.pop("max_tokens")
                return self._create(body, timeout, budget)
            self._judge_status(error)
        except openai.APIStatusError as error:
            self._judge_status(error)
        except (
            openai.APIConnectionError, openai.APIResponseValidationError, httpx.HTTPError
        ) as error:  # fmt: skip
            cause = f" ({error.__cause__})" if error.__cause__ else ""
            raise PassingError(hide(f"{error}{cause}", self._key)) from None
        except json.JSONDecodeError as error:
            raise PassingError(f"the answer is not JSON ({error})") from error

    def _judge_status(self, error: Any) -> NoReturn:
        said = hide(error.message, self._key)
        if error.code == _NO_MONEY:
            raise ServiceError(f"{self._what()}: {shorten(said)}. Waiting does not help.")
        raise_for_status(
            error.status_code,
            said,
            error.response.headers,
            what=self._what(),
            mend=key_advice(self._settings.api_key_variable),
        )

    def _what(self) -> str:
        return f"asking {self._settings.model} at {public_url(self._settings.base_url)}"


def _heard(stream: Any, budget: Budget) -> Any:
    """Return the whole answer of a stream, each piece of which the budget hears."""
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from openai.types.chat import ChatCompletion

    with stream:
        if "event-stream" not in stream.response.headers.get("content-type", ""):
            # The service does not stream.
            return ChatCompletion.construct(**json.loads(stream.response.read()))
        heard, is_ended = ChatCompletionStreamState(), False
        for chunk in stream:
            budget.require_time()
            heard.handle_chunk(chunk)
            for choice in chunk.choices:
                is_ended |= choice.finish_reason is not None
                if budget.hear is not None:
                    budget.hear(choice.delta.content or "")
    if not is_ended:
        raise PassingError("the service broke off before the end of the answer")
    return heard.current_completion_snapshot


def _open_client(settings: LlmSettings, key: SecretStr | None) -> "OpenAI":
    try:
        from openai import OpenAI
    except ImportError as error:
        raise missing_extra("openai", "llm: kind openai_compatible") from error
    return OpenAI(
        base_url=settings.base_url,
        # The client wants some key; without one of ours no Authorization is sent at all.
        api_key=key.get_secret_value() if key else "none",
        max_retries=0,
    )
