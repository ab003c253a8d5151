"""The chat completions protocol, as a hosted service and llama.cpp both speak it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any  # Any: JSON of the protocol

from rag_assets.llm.contract import (
    ChatRequest,
    Completion,
    FinishReason,
    TokenLogprob,
    Usage,
    estimate_tokens,
)
from rag_assets.model.settings import LlmSettings

_FINISHES: Mapping[str, FinishReason] = {"length": "length", "content_filter": "content_filter"}


def request_to_wire(request: ChatRequest, settings: LlmSettings) -> dict[str, Any]:
    """Return the body of a call, without the model and the limit of the answer."""
    temperature = request.temperature
    body: dict[str, Any] = {
        "messages": [asdict(message) for message in request.messages],
        "temperature": settings.temperature if temperature is None else temperature,
    }
    if request.seed is not None:
        body["seed"] = request.seed
    if request.top_logprobs:
        body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    if request.schema is not None:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {
                "name": request.task or "answer",
                "schema": request.schema,
                "strict": _is_strict(request.schema),
            },
        }
    return body


def completion_from_wire(
    answer: Mapping[str, Any], request: ChatRequest, model: str, attempts: int = 1
) -> Completion:
    """Return what a service answered.

    Args:
        answer: with at least one choice that has a message.
        model: the name to record where the service gives none.
    """
    choice = answer["choices"][0]
    text = choice["message"].get("content") or ""
    used = answer.get("usage")
    if used:
        usage = Usage(int(used["prompt_tokens"] or 0), int(used["completion_tokens"] or 0))
    else:
        usage = Usage(prompt_tokens(request), estimate_tokens(text), is_estimated=True)
    places = (choice.get("logprobs") or {}).get("content") or ()
    logprobs = tuple(
        tuple(
            TokenLogprob(str(token["token"]), float(token["logprob"]))
            for token in place.get("top_logprobs") or ()
        )
        for place in places
    )
    finish = _FINISHES.get(choice.get("finish_reason") or "", "stop")
    return Completion(text, finish, usage, answer.get("model") or model, attempts, logprobs)


def prompt_tokens(request: ChatRequest) -> int:
    """Return about how many tokens a prompt is."""
    return estimate_tokens(*(message.content for message in request.messages))


def _is_strict(schema: Any) -> bool:
    """Say whether hosted services can enforce a schema: objects closed, every key required."""
    if isinstance(schema, Mapping):
        if schema.get("type") == "object" and (
            schema.get("additionalProperties") is not False
            or set(schema.get("required", ())) != set(schema.get("properties", {}))
        ):
            return False
        return all(_is_strict(value) for value in schema.values())
    if isinstance(schema, Sequence) and not isinstance(schema, str):
        return all(_is_strict(value) for value in schema)
    return True
