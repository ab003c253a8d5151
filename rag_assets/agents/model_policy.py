"""A language model decides: one JSON action a turn, told what the last one led to."""

import json
import re
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from rag_assets.agents.policy import AgentState, Decision, NoDecisionError, World
from rag_assets.agents.tools import Toolset
from rag_assets.agents.trace import ModelTurn, Step, show_observation
from rag_assets.llm import ChatModel, ChatRequest, Message, Prompt
from rag_assets.model import UsageError

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
