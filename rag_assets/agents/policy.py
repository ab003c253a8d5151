"""Who decides what an agent does next: the protocol that models and rules follow."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from rag_assets.agents.passages import Passage
from rag_assets.agents.tools import Found
from rag_assets.agents.trace import Limits, ModelTurn, Step
from rag_assets.llm import ChatRequest

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
