"""Any service that speaks OpenAI's chat completions: Ollama, vLLM, llama.cpp, hosted ones."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar  # Any: what openai sends
from urllib.parse import urlsplit

from pydantic import SecretStr

from rag_assets.llm.budget import Budget, estimate_tokens
from rag_assets.llm.contract import ChatRequest, Completion, FinishReason, Piece, ToolCall, Usage
from rag_assets.llm.wire import (
    is_strict_schema,
    joined_calls,
    logprobs_from_wire,
    message_to_wire,
    tool_to_wire,
)
from rag_assets.model import ConfigurationError, LanguageModelError, ServiceError
from rag_assets.services import (
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
from rag_assets.settings import LlmSettings

if TYPE_CHECKING:
    from openai import OpenAI

_SHOWN_CHARACTERS = 60
# Hosted services say so with HTTP 429, but waiting does not help.
_NO_MONEY = "insufficient_quota"
_FINISHES: Mapping[str, FinishReason] = {
    "stop": "stop", "length": "length", "tool_calls": "tool_calls",
    "function_call": "tool_calls", "content_filter": "content_filter",
}  # fmt: skip
# The client adds these from OpenAI's own variables; they are nobody else's business.
_OPENAI_HOST = "api.openai.com"
_OPENAI_HEADERS = ("OpenAI-Organization", "OpenAI-Project")

_Answer = TypeVar("_Answer")


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
                f"stand in the environment or .env: put the key into {settings.api_key_variable}."
            )
        self._settings = settings
        self._key = key
        self._sleep = sleep
        self._client = _open_client(settings, key)
        self._left_out = _left_out_headers(settings, key)
        # Newer hosted models know this limit by another name and refuse the usual one.
        self._limit_name = "max_tokens"

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

        def ask(attempt: int) -> Completion:
            body, timeout = self._prepare(request, budget)
            answer = self._create(body, timeout, stream=False)
            return self._read(answer, request, attempt)

        completion = self._retried(ask, budget)
        if budget is not None:
            budget.spend(completion.usage.total)
        return completion

    def stream(self, request: ChatRequest, budget: Budget | None = None) -> Iterator[Piece]:
        """Ask and yield pieces; what was yielded is never asked again, so a break is an error."""

        def begin(attempt: int) -> tuple[Iterator[Any], list[Any], int]:
            body, timeout = self._prepare(request, budget)
            chunks = iter(self._create(body, timeout, stream=True))
            first = self._next(chunks)
            if first is None:
                raise PassingError("the stream ended before it began")
            return chunks, [first], attempt

        chunks, ahead, attempts = self._retried(begin, budget)
        said: list[str] = []
        calls: list[Any] = []
        finish: str | None = None
        usage, model = None, self._settings.model
        try:
            while (chunk := ahead.pop() if ahead else self._next(chunks)) is not None:
                if budget is not None:
                    budget.require_time()
                usage, model = chunk.usage or usage, chunk.model or model
                for choice in chunk.choices[:1]:
                    finish = choice.finish_reason or finish
                    calls.extend(choice.delta.tool_calls or ())
                    if choice.delta.content:
                        said.append(choice.delta.content)
                        yield Piece(choice.delta.content)
        except PassingError as error:
            raise self._broken("".join(said), str(error)) from error
        text = "".join(said)
        if finish is None:
            raise self._broken(text, "the stream ended without saying why")
        tool_calls = joined_calls(calls)
        used = _usage(usage) or _estimate(request, text, tool_calls)
        if budget is not None:
            budget.spend(used.total)
        yield Piece(
            "", Completion(text, _finish(finish), used, model, tool_calls, attempts=attempts)
        )

    def _prepare(self, request: ChatRequest, budget: Budget | None) -> tuple[dict[str, Any], float]:
        """Return the body of the call and its seconds."""
        settings = self._settings
        limit, timeout = request.max_tokens or settings.max_tokens, settings.timeout_seconds
        if budget is not None:
            limit, timeout = budget.limit_call(_prompt_tokens(request), limit, timeout)
        temperature = request.temperature
        body: dict[str, Any] = {
            "model": settings.model,
            "messages": [message_to_wire(message) for message in request.messages],
            "temperature": settings.temperature if temperature is None else temperature,
            self._limit_name: limit,
        }
        if request.top_logprobs:
            body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
        if request.tools:
            body["tools"] = [tool_to_wire(tool) for tool in request.tools]
        if request.schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {
                    "name": request.task or "answer",
                    "schema": request.schema,
                    "strict": is_strict_schema(request.schema),
                },
            }
        return body, timeout

    def _create(self, body: dict[str, Any], timeout: float, *, stream: bool) -> Any:
        import openai

        more = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
        call: Any = self._client.chat.completions.create
        try:
            return call(**body, **more, timeout=timeout, extra_headers=self._left_out)
        except openai.BadRequestError as error:
            if error.param == "max_tokens" and self._limit_name == "max_tokens":
                self._limit_name = "max_completion_tokens"
                body[self._limit_name] = body.pop("max_tokens")
                return self._create(body, timeout, stream=stream)
            self._judge_status(error)
        except openai.APIStatusError as error:
            self._judge_status(error)
        except (openai.APIConnectionError, openai.APIResponseValidationError) as error:
            raise PassingError(hide(_said(error), self._key)) from None
        except json.JSONDecodeError as error:
            raise PassingError(f"the answer is not JSON ({error})") from error

    def _next(self, chunks: Iterator[Any]) -> Any:
        """Return the next chunk of a stream, None at its end."""
        import openai

        try:
            return next(chunks, None)
        except openai.APIStatusError as error:
            self._judge_status(error)
        except openai.APIError as error:  # also an `error` event in the middle of the stream
            raise PassingError(hide(_said(error), self._key)) from None
        except json.JSONDecodeError as error:
            raise PassingError(f"the answer is not JSON ({error})") from error

    def _read(self, answer: Any, request: ChatRequest, attempt: int) -> Completion:
        choices = getattr(answer, "choices", None)
        if not choices or choices[0].message is None:
            raise PassingError("the answer is no chat completion")
        message, text = choices[0].message, choices[0].message.content or ""
        calls = tuple(
            ToolCall(call.id, call.function.name, call.function.arguments)
            for call in message.tool_calls or ()
            if call.type == "function"
        )
        used = _usage(answer.usage) or _estimate(request, text, calls)
        model = answer.model or self._settings.model
        return Completion(
            text, _finish(choices[0].finish_reason), used, model, calls, attempt,
            logprobs_from_wire(choices[0].logprobs),
        )  # fmt: skip

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

    def _broken(self, text: str, why: str) -> LanguageModelError:
        return LanguageModelError(
            f"{self._what()}: the answer broke off after {len(text)} characters "
            f"({text[-_SHOWN_CHARACTERS:]!r}; {hide(why, self._key)}). Ask again; `complete` does "
            "so by itself."
        )

    def _retried(self, call: Callable[[int], _Answer], budget: Budget | None) -> _Answer:
        """Call with the number of the attempt, from 1, until it succeeds or patience ends."""
        settings = self._settings
        attempts = 0

        def ask() -> _Answer:
            nonlocal attempts
            attempts += 1
            return call(attempts)

        def sleep(seconds: float) -> None:
            self._sleep(seconds if budget is None else min(seconds, budget.require_time()))

        try:
            return call_with_retries(
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

    def _what(self) -> str:
        return f"asking {self._settings.model} at {public_url(self._settings.base_url)}"


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


def _left_out_headers(settings: LlmSettings, key: SecretStr | None) -> dict[str, Any]:
    from openai import omit

    is_openai = urlsplit(settings.base_url).hostname == _OPENAI_HOST
    names = () if is_openai else _OPENAI_HEADERS
    return dict.fromkeys(names if key else (*names, "Authorization"), omit)


def _said(error: Exception) -> str:
    cause = f" ({error.__cause__})" if error.__cause__ else ""
    return f"{error}{cause}"


def _finish(reason: str | None) -> FinishReason:
    return _FINISHES.get(reason or "stop", "stop")


def _usage(found: Any) -> Usage | None:
    if found is None:
        return None
    return Usage(int(found.prompt_tokens or 0), int(found.completion_tokens or 0))


def _prompt_tokens(request: ChatRequest) -> int:
    said = (message.content for message in request.messages)
    offered = (json.dumps(tool_to_wire(tool)) for tool in request.tools)
    return estimate_tokens(*said, *offered)


def _estimate(request: ChatRequest, text: str, calls: tuple[ToolCall, ...]) -> Usage:
    said = estimate_tokens(text, *(call.arguments for call in calls))
    return Usage(_prompt_tokens(request), said, is_estimated=True)
