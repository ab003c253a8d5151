"""What is said to a language model and what it says: requests, budgets, completions, prompts."""

import json
import threading
import time
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from rag_assets.model import AnswerError, BudgetError, first_fault, hash_text

Role = Literal["system", "user", "assistant"]
FinishReason = Literal["stop", "length", "content_filter"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str = ""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call.

    Args:
        messages: the conversation, oldest first.
        task: what it is for, a short word; it is recorded, not sent.
        prompt_hash: SHA-256 of the packaged prompt that the messages were made from.
        schema: a JSON Schema that the answer must follow.
        temperature: 0 to 2; None for the settings'.
        max_tokens: of the answer; None for the settings'.
        seed: of the sampling; None leaves it to the model.
        top_logprobs: how many of the likeliest tokens are wanted at each place of the answer, with
            their logarithms; 0 for none. Not every service gives them.
        shared_messages: how many of the first messages stand in the program and come before every
            question of the task, so that a model may keep what it read of them; not sent.
    """

    messages: tuple[Message, ...]
    task: str = ""
    prompt_hash: str | None = None
    schema: Mapping[str, Any] | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
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
    attempts: int = 1
    logprobs: tuple[tuple[TokenLogprob, ...], ...] = ()


# English is about four bytes a token, Chinese at least three bytes a token: three is on the safe
# side of both.
_BYTES_PER_TOKEN = 3


def estimate_tokens(*texts: str) -> int:
    """Return about how many tokens texts are, rather too many than too few."""
    return sum(-(-len(text.encode()) // _BYTES_PER_TOKEN) for text in texts)


class Budget:
    """What all calls of one task may use together. Calls may come from several threads.

    Args:
        tokens: of prompts and answers; None for no limit.
        seconds: of wall time from now; None for no limit.
        clock: seconds from any beginning.
    """

    def __init__(
        self,
        tokens: int | None = None,
        seconds: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.hear: Callable[[str], None] | None = None
        self._tokens = tokens
        self._seconds = seconds
        self._clock = clock
        self._started = clock()
        self._used = [0]  # shared with the budgets of single calls
        self._is_stopped = False
        self._lock = threading.Lock()

    def of_call(self, hear: Callable[[str], None]) -> "Budget":
        """Return this budget for one call, which can be stopped alone.

        Args:
            hear: called with each piece of the answer while the model writes it.
        """
        own = copy(self)
        own.hear = hear
        return own

    def stop(self) -> None:
        """Let no further call of the task begin; one that runs is left alone."""
        self._is_stopped = True

    def limit_call(self, prompt_tokens: int, max_tokens: int, seconds: float) -> tuple[int, float]:
        """Return (tokens of the answer, seconds) that one call may take of what is left.

        Args:
            prompt_tokens: of the prompt, about.
            max_tokens: of the answer, as it would be without a budget; `seconds` likewise.

        Raises:
            BudgetError: not even one token or no time is left.
        """
        room = max_tokens
        if self._tokens is not None:
            room = min(max_tokens, self._tokens - self._used[0] - prompt_tokens)
            if room < 1:
                raise BudgetError(
                    f"the task may use {self._tokens} tokens; {self._used[0]} are used and the "
                    f"next prompt has about {prompt_tokens}. Give it more, or a smaller task."
                )
        return room, min(seconds, self.require_time())

    def require_time(self) -> float:
        """Return the seconds that are left, infinite without a limit.

        Raises:
            BudgetError: none are, or the task was stopped.
        """
        if self._is_stopped:
            raise BudgetError("the task was stopped.")
        if self._seconds is None:
            return float("inf")
        left = self._seconds - (self._clock() - self._started)
        if left <= 0:
            raise BudgetError(
                f"the task may take {self._seconds:g} seconds and they are over. Give it more "
                "time, a smaller task or a faster model."
            )
        return left

    def spend(self, tokens: int) -> None:
        """Take what a call has used from the budget."""
        with self._lock:
            self._used[0] += tokens


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


def request_to_json(request: ChatRequest) -> dict[str, Any]:
    """Return a request as values that JSON knows."""
    said = asdict(request)
    # It changes no answer.
    del said["shared_messages"]
    # Recordings of earlier versions, which could offer tools, keep their keys.
    said["tools"] = []
    for message in said["messages"]:
        message |= {"tool_calls": [], "tool_call_id": None}
    if not request.top_logprobs:
        del said["top_logprobs"]
    if request.seed is None:
        del said["seed"]
    return said


def request_key(model_name: str, request: ChatRequest) -> str:
    """Return the SHA-256 under which equal requests to one model are recorded and found."""
    said = {"model": model_name, **request_to_json(request)}
    return hash_text(json.dumps(said, sort_keys=True, ensure_ascii=False))


def completion_from_json(data: Mapping[str, Any]) -> Completion:
    """Return the completion of which `asdict` made `data`."""
    values = {key: value for key, value in data.items() if key != "tool_calls"}
    places = data.get("logprobs", ())
    logprobs = tuple(tuple(TokenLogprob(**token) for token in place) for place in places)
    return Completion(**{**values, "usage": Usage(**data["usage"]), "logprobs": logprobs})


@dataclass(frozen=True, slots=True)
class Prompt:
    """A packaged prompt; `hash` is the SHA-256 of its text."""

    name: str
    text: str
    hash: str


@cache
def load_prompt(name: str) -> Prompt:
    """Return the prompt `prompts/<name>.txt`.

    Raises:
        FileNotFoundError: the package has no such prompt.
    """
    path = files("rag_assets.llm") / "prompts" / f"{name}.txt"
    text = path.read_text(encoding="utf-8").strip()
    return Prompt(name, text, hash_text(text))


_SHOWN_CHARACTERS = 200
_Answer = TypeVar("_Answer", bound=BaseModel)


def complete_as(
    model: ChatModel, request: ChatRequest, answer: type[_Answer], budget: Budget | None = None
) -> _Answer:
    """Return the answer as values; its JSON Schema is sent with the request.

    Raises:
        AnswerError: what came back is not such values; `answer` holds it.
        LanguageModelError, BudgetError: as `ChatModel.complete`.
    """
    completion = model.complete(replace(request, schema=answer.model_json_schema()), budget)
    try:
        return answer.model_validate_json(completion.text)
    except ValidationError as error:
        key, said, _ = first_fault(error)
        raise AnswerError(
            f"{model.name} was asked for {answer.__name__} as JSON; {key or 'the whole'}: {said}, "
            f"got {completion.text[:_SHOWN_CHARACTERS]!r}. A model that follows JSON Schemas, or "
            "more 'llm.max_tokens', fixes it.",
            completion.text,
        ) from error
