"""A model that answers from a YAML file: deterministic, for tests and demonstrations."""

import json
import math
import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from rag_assets.llm.contract import (
    Budget,
    ChatRequest,
    Completion,
    FinishReason,
    Message,
    Role,
    TokenLogprob,
    Usage,
    estimate_tokens,
)
from rag_assets.model import ConfigurationError, LanguageModelError, first_fault
from rag_assets.model.settings import Expression
from rag_assets.workspace.bounded_yaml import read_yaml

_SHOWN_CHARACTERS = 80


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ScriptedAnswer(_Part):
    """What is answered, and when. Exactly one of answer and data.

    Args:
        when: a regular expression that is searched in the last message; None for every message.
        system: the same for the system message, which tells one task from another.
        role: of the last message.
        turn: of the model in this conversation, from 1; None for every turn.
        answer: text.
        data: values that are answered as JSON.
        finish_reason: None for what fits the answer.
        probabilities: of the tokens that might have stood first, for requests that ask for them.
    """

    when: Expression | None = None
    system: Expression | None = None
    role: Role | None = None
    turn: Annotated[int, Field(ge=1)] | None = None
    answer: str | None = None
    data: Any = None
    finish_reason: FinishReason | None = None
    probabilities: dict[str, Annotated[float, Field(gt=0, le=1)]] = {}

    @model_validator(mode="after")
    def _says_one_thing(self) -> "ScriptedAnswer":
        if (self.answer is None) == (self.data is None):
            raise ValueError("needs exactly one of answer and data")
        return self


class Script(_Part):
    """The whole file.

    Args:
        model: the name that answers carry.
        answers: the first that fits is given.
        otherwise: answered where none fits; None makes that an error.
    """

    model: Annotated[str, Field(min_length=1)] = "scripted"
    answers: list[ScriptedAnswer] = []
    otherwise: str | None = None


def read_script(path: Path) -> Script:
    """Return a script.

    Raises:
        ConfigurationError: the file is missing, not YAML, or a key is unknown or wrong.
    """
    if not path.is_file():
        raise ConfigurationError(f"llm: 'script': there is no file {path} (config.yaml).")
    values = read_yaml(path)
    try:
        return Script.model_validate(values)
    except ValidationError as error:
        key, said, _ = first_fault(error)
        raise ConfigurationError(f"{path}: '{key}': {said}.") from error


def find_answer(script: Script, messages: tuple[Message, ...]) -> ScriptedAnswer | None:
    """Return the first answer that fits the conversation; None where none does."""
    last = messages[-1] if messages else Message("user")
    system = "\n".join(message.content for message in messages if message.role == "system")
    turn = 1 + sum(message.role == "assistant" for message in messages)
    for answer in script.answers:
        if (
            answer.turn in (None, turn)
            and (answer.role is None or answer.role == last.role)
            and (answer.when is None or re.search(answer.when, last.content))
            and (answer.system is None or re.search(answer.system, system))
        ):
            return answer
    return None if script.otherwise is None else ScriptedAnswer(answer=script.otherwise)


def make_completion(
    script: Script, answer: ScriptedAnswer, messages: tuple[Message, ...]
) -> Completion:
    """Return an answer as a completion; its tokens are estimated."""
    text = answer.answer or ""
    if answer.data is not None:
        text = json.dumps(answer.data, ensure_ascii=False)
    usage = Usage(
        estimate_tokens(*(message.content for message in messages)),
        estimate_tokens(text),
        is_estimated=True,
    )
    odds = sorted(answer.probabilities.items(), key=lambda item: -item[1])
    first = tuple(TokenLogprob(token, math.log(share)) for token, share in odds)
    return Completion(
        text,
        answer.finish_reason or "stop",
        usage,
        script.model,
        logprobs=(first,) if first else (),
    )


class ScriptedModel:
    """Answers from a script, in process."""

    def __init__(self, script: Script) -> None:
        self._script = script

    @property
    def name(self) -> str:
        """`scripted:<model>`."""
        return f"scripted:{self._script.model}"

    def describe(self) -> dict[str, str | int | float]:
        """Return kind and model."""
        return {"kind": "scripted", "model": self._script.model}

    def complete(self, request: ChatRequest, budget: Budget | None = None) -> Completion:
        """Return the first answer that fits.

        Raises:
            LanguageModelError: the script has none.
            BudgetError: the task has no tokens or seconds left.
        """
        found = find_answer(self._script, request.messages)
        if found is None:
            last = request.messages[-1].content if request.messages else ""
            raise LanguageModelError(
                f"the script of '{self._script.model}' has no answer to "
                f"{last[:_SHOWN_CHARACTERS]!r}: add one to its `answers`, or an `otherwise`."
            )
        completion = make_completion(self._script, found, request.messages)
        if budget is not None:
            budget.limit_call(completion.usage.prompt_tokens, 1, float("inf"))
            budget.spend(completion.usage.total)
        return completion
