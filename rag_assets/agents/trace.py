"""What an agent did, step by step: enough to do it again without a model and without a search."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import ConfigDict

from rag_assets.agents.passages import Passage, show_marks
from rag_assets.llm import Usage

_STRICT = ConfigDict(extra="forbid")

TurnError = Literal["failed", "tokens", "seconds"]
EndedBy = Literal["finish", "steps", "calls", "repairs", "failed", "tokens", "seconds"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may take.

    Args:
        steps: actions, the one that finishes among them.
        calls: of the language model.
        repairs: answers of the model that cannot be used and are asked for again, in all.
        tokens: of all prompts and answers; None for no limit.
        seconds: from the beginning; None for no limit.
    """

    steps: int
    calls: int
    repairs: int
    tokens: int | None = None
    seconds: float | None = None

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """One call of a language model.

    Args:
        request: SHA-256 of what was asked (`rag_assets.llm.contract.request_key`).
        text: as it came back, also where it cannot be used.
        fault: why it cannot be used; None where it can.
        error: why nothing came back; `error_kind` says which limit, or that the call failed.
    """

    request: str
    text: str = ""
    usage: Usage = field(default_factory=lambda: Usage(0, 0))
    fault: str | None = None
    error: str | None = None
    error_kind: TurnError | None = None

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class ObservedLine:
    """A line that a tool returned. `is_new` where its passage was never shown before."""

    label: str
    alias: str | None = None
    chunk_key: str | None = None
    content_hash: str | None = None
    is_new: bool = False

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class Observation:
    """What an action led to; `error` where the tool refused it."""

    lines: tuple[ObservedLine, ...] = ()
    notes: tuple[str, ...] = ()
    error: str | None = None

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class Step:
    """One decision of a policy.

    Args:
        number: from 1.
        by: name of the policy.
        action: name of the tool; None where the policy came to no decision, and `note` says why.
        arguments: as the policy wrote them.
        observation: None for the step that finishes, and where there is no action.
        turns: of the language model, those that could not be used too.
    """

    number: int
    by: str
    thought: str = ""
    action: str | None = None
    arguments: Mapping[str, Any] | None = None
    observation: Observation | None = None
    turns: tuple[ModelTurn, ...] = ()
    note: str | None = None

    __pydantic_config__ = _STRICT

    @property
    def tokens(self) -> int:
        """Tokens of prompts and answers."""
        return sum(turn.usage.total for turn in self.turns)


@dataclass(frozen=True, slots=True)
class Trace:
    """A whole run.

    Args:
        policy: what decided: kind, model or rules, their settings.
        passages: what was found, by alias, in the order of finding.
        ended_by: `finish`, or the limit at which it was made to finish.
        answered_by: name of the policy, or of the rules, that wrote `result`.
        result: arguments of the tool that finishes.
    """

    question: str
    brief: str
    policy: Mapping[str, str | int | float]
    limits: Limits
    tools: tuple[str, ...]
    steps: tuple[Step, ...]
    passages: Mapping[str, Passage]
    ended_by: EndedBy
    answered_by: str
    result: Mapping[str, Any]

    __pydantic_config__ = _STRICT

    @property
    def tokens(self) -> int:
        """Tokens of all calls."""
        return sum(step.tokens for step in self.steps)

    @property
    def calls(self) -> int:
        """How often the language model was asked."""
        return sum(len(step.turns) for step in self.steps)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what went otherwise than it should, in order."""
        return tuple(step.note for step in self.steps if step.note is not None)


def show_observation(observation: Observation, passages: Mapping[str, Passage]) -> str:
    """Return an observation as the policy reads it: a passage is told once."""
    if observation.error is not None:
        return f"Error: {observation.error}"
    lines = []
    for line in observation.lines:
        if line.alias is None:
            lines.append(line.label)
            continue
        text = " ".join(passages[line.alias].text.split())
        said = f'"{text}"' if line.is_new else "(shown above)"
        mark = show_marks([line.alias])
        # A label of the layout of spec 002 §3.3 stands before its mark.
        is_laid_out = line.label.startswith("> ")
        lines.append(
            f"{line.label} {mark} {said}" if is_laid_out else f"- {mark} {line.label} {said}"
        )
    return "\n".join(
        [*(lines or ["Nothing was found."]), *(f"Note: {n}" for n in observation.notes)]
    )
