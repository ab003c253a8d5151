"""What is said to a language model and what it says: requests, completions, the protocol."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

from rag_assets.llm.budget import Budget
from rag_assets.model import hash_text

Role = Literal["system", "user", "assistant", "tool"]
FinishReason = Literal["stop", "length", "tool_calls", "content_filter"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants called; `arguments` is JSON as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. `tool_calls` stand in an assistant's turn, `tool_call_id` in a tool's answer."""

    role: Role
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may ask for; `parameters` is a JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call.

    Args:
        messages: the conversation, oldest first.
        task: what it is for, a short word; it is recorded, not sent.
        prompt_hash: SHA-256 of the packaged prompt that the messages were made from.
        tools: what may be called; none for text alone.
        schema: a JSON Schema that the answer must follow.
        temperature: 0 to 2; None for the settings'.
        max_tokens: of the answer; None for the settings'.
        top_logprobs: how many of the likeliest tokens are wanted at each place of the answer, with
            their logarithms; 0 for none. Not every service gives them.
        shared_messages: how many of the first messages stand in the program and come before every
            question of the task, so that a model may keep what it read of them; not sent.
    """

    messages: tuple[Message, ...]
    task: str = ""
    prompt_hash: str | None = None
    tools: tuple[Tool, ...] = ()
    schema: Mapping[str, Any] | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    top_logprobs: int = 0
    shared_messages: int = 0


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A token that stands, or might have stood, in an answer; natural logarithm, at most 0."""

    token: str
    logprob: float


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. `is_estimated` where the service did not count them."""

    prompt_tokens: int
    completion_tokens: int
    is_estimated: bool = False

    @property
    def total(self) -> int:
        """Tokens of prompt and answer."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer.

    Args:
        text: empty where the model only calls tools.
        finish_reason: `length` says that the answer is cut at `max_tokens`.
        model: as the service names it.
        attempts: how often the call was made until it succeeded.
        logprobs: for each token of the answer the likeliest ones at its place, best first; empty
            where they were not asked for or the service has none.
    """

    text: str
    finish_reason: FinishReason
    usage: Usage
    model: str
    tool_calls: tuple[ToolCall, ...] = ()
    attempts: int = 1
    logprobs: tuple[tuple[TokenLogprob, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a streamed answer; the last one has no text but the whole completion."""

    text: str
    completion: Completion | None = None


class ChatModel(Protocol):
    """A language model. Its calls may be made from several threads."""

    @property
    def name(self) -> str:
        """`<kind>:<model>`; together with a request it is the key of a recording."""
        ...

    def describe(self) -> dict[str, str | int | float]:
        """Return what is recorded of the model: never a secret."""
        ...

    def complete(self, request: ChatRequest, budget: Budget | None = None) -> Completion:
        """Return the answer.

        Raises:
            LanguageModelError: the model cannot be asked or did not answer.
            BudgetError: the task has no tokens or seconds left.
        """
        ...

    def stream(self, request: ChatRequest, budget: Budget | None = None) -> Iterator[Piece]:
        """Yield the answer as it comes; the last piece holds the completion.

        Raises:
            LanguageModelError, BudgetError: as `complete`; also in the middle of an answer.
        """
        ...


def request_to_json(request: ChatRequest) -> dict[str, Any]:
    """Return a request as values that JSON knows."""
    said = asdict(request)
    # It changes no answer.
    del said["shared_messages"]
    if not request.top_logprobs:
        # So that what was recorded before anybody asked for them keeps its key.
        del said["top_logprobs"]
    return said


def request_key(model_name: str, request: ChatRequest) -> str:
    """Return the SHA-256 under which equal requests to one model are recorded and found."""
    said = {"model": model_name, **request_to_json(request)}
    return hash_text(json.dumps(said, sort_keys=True, ensure_ascii=False))


def completion_from_json(data: Mapping[str, Any]) -> Completion:
    """Return the completion of which `asdict` made `data`."""
    return Completion(
        **{
            **data,
            "usage": Usage(**data["usage"]),
            "tool_calls": tuple(ToolCall(**call) for call in data["tool_calls"]),
            "logprobs": tuple(
                tuple(TokenLogprob(**token) for token in place)
                for place in data.get("logprobs", ())
            ),
        }
    )


def stream_whole(completion: Completion) -> Iterator[Piece]:
    """Yield an answer that is there already, word by word, as a stream does."""
    for line in completion.text.splitlines(keepends=True):
        words = line.split(" ")
        for number, word in enumerate(words):
            piece = word if number == len(words) - 1 else f"{word} "
            if piece:
                yield Piece(piece)
    yield Piece("", completion)
