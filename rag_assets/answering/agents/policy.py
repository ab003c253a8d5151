"""Who decides what an agent does next: models and rules."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

from rag_assets.answering.agents.tools import Found, Toolset
from rag_assets.answering.agents.trace import Limits, ModelTurn, Passage, Step, show_observation
from rag_assets.llm import ChatModel, ChatRequest, Message, Prompt
from rag_assets.model import UsageError

NoDecision = Literal["calls", "repairs", "failed", "tokens", "seconds"]


class World(Protocol):
    """All that a run takes from outside: the model's answers, the tools, the time."""

    def ask(self, request: ChatRequest) -> ModelTurn:
        """Return what the model answers, or why it does not; never raises for that."""
        ...

    def call(self, name: str, arguments: Mapping[str, Any]) -> Found:
        """Return what a tool finds.

        Raises:
            RagError: the tool cannot be called so; the text says why.
        """
        ...

    def is_time_over(self, steps_done: int) -> bool:
        """Say whether the run has no time left before its next step."""
        ...


@dataclass(frozen=True, slots=True)
class AgentState:
    """What a policy knows when it decides.

    Args:
        question: as it was asked.
        brief: what else the policy is told, such as a route; empty for nothing.
        steps: all so far, those without an action too.
        passages: by alias, in the order of finding.
    """

    question: str
    brief: str
    steps: tuple[Step, ...]
    passages: Mapping[str, Passage]
    limits: Limits

    @property
    def acted(self) -> tuple[Step, ...]:
        """The steps that were actions."""
        return tuple(step for step in self.steps if step.action is not None)

    @property
    def steps_left(self) -> int:
        """How many actions may follow, the one that finishes among them."""
        return self.limits.steps - len(self.acted)

    @property
    def calls_made(self) -> int:
        """How often the model was asked."""
        return sum(len(step.turns) for step in self.steps)

    @property
    def repairs_made(self) -> int:
        """How many of the model's answers could not be used."""
        return sum(turn.fault is not None for step in self.steps for turn in step.turns)


@dataclass(frozen=True, slots=True)
class Decision:
    """The next action. `turns` of the model led to it."""

    action: str
    arguments: Mapping[str, Any]
    thought: str = ""
    turns: tuple[ModelTurn, ...] = ()


class NoDecisionError(Exception):
    """A policy cannot decide: a limit is reached, or the model's answers cannot be used.

    Args:
        turns: of the model, none of which could be used.
    """

    def __init__(self, kind: NoDecision, reason: str, turns: tuple[ModelTurn, ...]) -> None:
        super().__init__(reason)
        self.kind: NoDecision = kind
        self.reason = reason
        self.turns = turns


class Policy(Protocol):
    """Decides from what was found so far."""

    @property
    def name(self) -> str:
        """`<kind>:<name>`: of a model, or of rules."""
        ...

    def describe(self) -> dict[str, str | int | float]:
        """Return what is recorded of it: never a secret."""
        ...

    def decide(self, state: AgentState, world: World) -> Decision:
        """Return the next action, with arguments that its tool takes.

        Raises:
            NoDecisionError: there is none.
        """
        ...


class RulesPolicy:
    """Decides by a function of the state alone; asks nobody.

    Args:
        name: of the rules; raise a number in it when the same state is decided otherwise.
        decide: from the state to the next action.
    """

    def __init__(self, name: str, decide: Callable[[AgentState], Decision]) -> None:
        self._name = name
        self._decide = decide

    @property
    def name(self) -> str:
        """`rules:<name>`."""
        return f"rules:{self._name}"

    def describe(self) -> dict[str, str | int | float]:
        """Return the kind and the name."""
        return {"kind": "rules", "name": self.name}

    def decide(self, state: AgentState, world: World) -> Decision:  # noqa: ARG002 - asks nobody
        """Return what the function says."""
        return self._decide(state)


# Small models put their JSON between fences, or say a word before it.
_FENCED = re.compile(r"```(?:json)?\s*(\{.*\})\s*```", re.DOTALL)
_FORM = (
    "Answer with one JSON object and nothing else: "
    '{"thought": "one sentence", "action": "name of a tool", "arguments": {…}}'
)


class ModelAction(BaseModel):
    """What the model is asked for each turn."""

    model_config = ConfigDict(extra="forbid")

    thought: str
    action: str
    arguments: dict[str, Any]


class ModelPolicy:
    """Asks a chat model for the next action.

    Args:
        model: what is asked; only its name and description are used here, the world asks it.
        prompt: the role, the strategy and the rules of the task.
        tools: what may be done.
        task: a short word under which calls are recorded.
    """

    def __init__(
        self, name: str, described: dict[str, str | int | float], prompt: Prompt,
        tools: Toolset[Any], task: str = "agent",
    ) -> None:  # fmt: skip
        self._name = name
        self._described = described
        self._prompt = prompt
        self._tools = tools
        self._task = task

    @classmethod
    def of(
        cls, model: ChatModel, prompt: Prompt, tools: Toolset[Any], task: str = "agent"
    ) -> "ModelPolicy":
        """Return the policy of a model."""
        return cls(model.name, model.describe(), prompt, tools, task)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    def describe(self) -> dict[str, str | int | float]:
        """Return what the model says of itself."""
        return {**self._described, "name": self._name}

    def decide(self, state: AgentState, world: World) -> Decision:
        """Return the model's action; an answer that cannot be used is asked for again."""
        messages = self.messages(state)
        turns: list[ModelTurn] = []
        while True:
            if state.calls_made + len(turns) >= state.limits.calls:
                reason = f"the model may be asked {state.limits.calls} times; that is reached"
                raise NoDecisionError("calls", reason, tuple(turns))
            turn = world.ask(self._request(messages))
            if turn.error is not None:
                kind = turn.error_kind or "failed"
                raise NoDecisionError(kind, turn.error, (*turns, turn))
            found = self._read(turn.text)
            if isinstance(found, ModelAction):
                turns.append(turn)
                return Decision(found.action, found.arguments, found.thought, tuple(turns))
            turns.append(replace(turn, fault=found))
            if state.repairs_made + len(turns) > state.limits.repairs:
                reason = (
                    f"{self._name} answered {state.repairs_made + len(turns)} times what cannot be "
                    f"used, the last time: {found}"
                )
                raise NoDecisionError("repairs", reason, tuple(turns))
            messages = (
                *messages,
                Message("assistant", turn.text),
                Message("user", f"That cannot be used: {found} {_FORM}"),
            )

    def messages(self, state: AgentState) -> tuple[Message, ...]:
        """Return the conversation: the task, then each action and what it led to."""
        asked = f"Question: {state.question}"
        if state.brief:
            asked = f"{state.brief}\n\n{asked}"
        messages = [
            Message("system", f"{self._prompt.text}\n\n# Tools\n{self._listed()}\n\n{_FORM}")
        ]
        said = [f"{asked}\n\n{self._left(state.limits.steps)}"]
        for number, step in enumerate(state.acted, start=1):
            if step.observation is None:
                continue
            messages += [Message("user", said[-1]), Message("assistant", _action_text(step))]
            seen = show_observation(step.observation, state.passages)
            said.append(f"Observation:\n{seen}\n\n{self._left(state.limits.steps - number)}")
        return (*messages, Message("user", said[-1]))

    def _left(self, count: int) -> str:
        if count <= 1:
            return f"This is your last action: {self._tools.finish.name}."
        return f"Actions left: {count}, {self._tools.finish.name} included."

    def _listed(self) -> str:
        tools = (*self._tools.tools.values(), self._tools.finish)
        return "\n".join(
            f"- {tool.name}: {tool.description}\n  arguments: "
            + json.dumps(_plain(tool.schema()), ensure_ascii=False)
            for tool in tools
        )

    def _request(self, messages: tuple[Message, ...]) -> ChatRequest:
        return ChatRequest(
            messages,
            task=self._task,
            prompt_hash=self._prompt.hash,
            schema=ModelAction.model_json_schema(),
        )

    def _read(self, text: str) -> ModelAction | str:
        """Return the action that a text holds, or what is wrong with it."""
        fenced = _FENCED.search(text)
        try:
            action = ModelAction.model_validate_json(fenced[1] if fenced else text)
            self._tools.get(action.action).check(action.arguments)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = ".".join(map(str, first["loc"])) or "the whole"
            return f"{key}: {first['msg']}."
        except UsageError as error:
            return str(error)
        return action


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without the titles that pydantic makes of names: they cost tokens."""
    return {
        key: {name: _untitled(value) for name, value in found.items()}
        if key in {"properties", "$defs"}
        else found
        for key, found in schema.items()
        if key != "title"
    }


def _untitled(value: dict[str, Any]) -> dict[str, Any]:
    return {key: found for key, found in value.items() if key != "title"}


def _action_text(step: Step) -> str:
    said = {"thought": step.thought, "action": step.action, "arguments": step.arguments}
    return json.dumps(said, ensure_ascii=False)
