"""Where a run takes its answers from: a model and tools that are there, or a trace of a run."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from rag_assets.agents.tools import Found, FoundLine, Toolset
from rag_assets.agents.trace import ModelTurn, Observation, Step, Trace, TurnError
from rag_assets.llm import Budget, ChatModel, ChatRequest, request_key
from rag_assets.model import BudgetError, LanguageModelError, RecordingError, UsageError

_Context = TypeVar("_Context")
Watch = Callable[[str], None]


def unwatched(_: str) -> None:
    """Tell nobody."""


class LiveWorld(Generic[_Context]):
    """Asks the model, calls the tools, looks at the clock.

    Args:
        tools: what may be called.
        context: what the tools work on.
        model: None where only rules decide.
        budget: tokens and seconds of the whole run, with the clock that it was given.
        watch: is told in a line what is done, for who waits; what it raises ends the run.
    """

    def __init__(
        self,
        tools: Toolset[_Context],
        context: _Context,
        model: ChatModel | None,
        budget: Budget,
        watch: Watch = unwatched,
    ) -> None:
        self._watch = watch
        self._called: set[str] = set()
        self._tools = tools
        self._context = context
        self._model = model
        self._budget = budget

    @property
    def model_name(self) -> str:
        """The model's name, empty without one."""
        return self._model.name if self._model is not None else ""

    def ask(self, request: ChatRequest) -> ModelTurn:
        """Return what the model answers, or why it does not."""
        if self._model is None:
            raise UsageError("a model is asked in a run that was given none")
        key = request_key(self._model.name, request)
        self._watch(f"asks {self._model.name}")
        try:
            found = self._model.complete(request, self._budget)
        except LanguageModelError as error:
            return ModelTurn(key, error=str(error), error_kind=self._kind(error))
        return ModelTurn(key, found.text, found.usage)

    def _kind(self, error: LanguageModelError) -> TurnError:
        if not isinstance(error, BudgetError):
            return "failed"
        return "seconds" if self.is_time_over(0) else "tokens"

    def call(self, name: str, arguments: Mapping[str, Any]) -> Found:
        """Return what a tool finds.

        Raises:
            UsageError: it was called so before; what it found then stands above.
        """
        call = f"{name} {json.dumps(arguments, sort_keys=True, default=str)}"
        if call in self._called:
            raise UsageError(
                f"{name} was called with these arguments before, and found what stands above. Use "
                "other words or another section, or finish."
            )
        self._called.add(call)
        told = ", ".join(f"{key}: {value}" for key, value in arguments.items() if value)
        self._watch(f"{name} ({told})")
        found: Found = self._tools.get(name).call(self._context, arguments)
        return found

    def is_time_over(self, steps_done: int) -> bool:  # noqa: ARG002 - of recorded worlds
        """Say whether the seconds are used up."""
        try:
            self._budget.require_time()
        except BudgetError:
            return True
        return False


class RecordedWorld:
    """Answers as a trace has it: no model, no search, no clock.

    Raises:
        RecordingError: of `ask` and `call`, where the run asks otherwise than it did.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._turns: Iterator[ModelTurn] = (t for step in trace.steps for t in step.turns)
        self._calls: Iterator[Step] = (s for s in trace.steps if s.observation is not None)

    def ask(self, request: ChatRequest) -> ModelTurn:
        """Return the next recorded answer to the same request."""
        turn = next(self._turns, None)
        key = request_key(str(self._trace.policy.get("name", "")), request)
        if turn is None or turn.request != key:
            raise RecordingError(
                "the run asks the model otherwise than it did: another version of rag-assets, or "
                "of a prompt, made this trace. Ask the question again."
            )
        # What a policy says of an answer it says again.
        return ModelTurn(key, turn.text, turn.usage, None, turn.error, turn.error_kind)

    def call(self, name: str, arguments: Mapping[str, Any]) -> Found:
        """Return what the next recorded call of the same tool found."""
        step = next(self._calls, None)
        if step is None or step.observation is None or (
            (step.action, dict(step.arguments or {})) != (name, dict(arguments))
        ):  # fmt: skip
            raise RecordingError(
                f"the run calls {name} otherwise than it did: another version of rag-assets made "
                "this trace. Ask the question again."
            )
        if step.observation.error is not None:
            raise UsageError(step.observation.error)
        return self._found(step.observation)

    def _found(self, observation: Observation) -> Found:
        lines = tuple(
            FoundLine(line.label, self._trace.passages[line.alias] if line.alias else None)
            for line in observation.lines
        )
        return Found(lines, observation.notes)

    def is_time_over(self, steps_done: int) -> bool:
        """Say whether the recorded run ended here for lack of time."""
        return self._trace.ended_by == "seconds" and steps_done >= len(self._trace.steps)
