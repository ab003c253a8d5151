"""Decide, act, observe, until the policy finishes or a limit makes it."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from rag_assets.answering.agents.policy import (
    AgentState,
    Decision,
    NoDecision,
    NoDecisionError,
    Policy,
    World,
)
from rag_assets.answering.agents.tools import Found, FoundLine, Toolset
from rag_assets.answering.agents.trace import (
    AliasRegistry,
    EndedBy,
    Limits,
    ModelTurn,
    Observation,
    ObservedLine,
    Step,
    Trace,
    TurnError,
)
from rag_assets.llm import Budget, ChatModel, ChatRequest, request_key
from rag_assets.model import (
    BudgetError,
    LanguageModelError,
    RagError,
    RecordingError,
    UsageError,
    hide_credentials,
)

_Context = TypeVar("_Context")
Watch = Callable[[str], None]
_SHOWN_CHARACTERS = 80


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
        self._watch(f"Asking {self._model.name.partition(':')[2]}")
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
        told = str(next(iter(arguments.values()), ""))
        self._watch(f"{name.replace('_', ' ').capitalize()}: {told[:_SHOWN_CHARACTERS]}")
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


# Who decided an action that was given before the policy was asked.
OPENING = "opening"
# These end the run where something was found; after the others rules may still go on.
_LIMITS: frozenset[NoDecision] = frozenset({"calls", "tokens", "seconds"})


@dataclass(frozen=True, slots=True)
class AgentJob:
    """What is to be done, and who decides.

    Args:
        brief: what else the policy is told; empty for nothing.
        finisher: makes the arguments of `finish` from what was found, where a limit ends the run;
            `finisher_name` is recorded as who answered.
        fallback: goes on where the policy's model does not answer or cannot be used; None to
            finish then.
        opening: actions that are done before the policy is asked.
    """

    question: str
    brief: str
    tools: Toolset[Any]
    policy: Policy
    limits: Limits
    finisher: Callable[[AgentState], Mapping[str, Any]]
    finisher_name: str
    fallback: Policy | None = None
    opening: tuple[Decision, ...] = ()


def run_agent(job: AgentJob, world: World) -> Trace:
    """Return the trace of a run.

    A tool that refuses its arguments is an observation, so that the policy can do better. At a
    limit the run finishes from what was found, and the trace says which limit it was.
    """
    registry = AliasRegistry()
    steps: list[Step] = []
    policy = job.policy
    waiting = list(job.opening)
    while True:
        state = AgentState(job.question, job.brief, tuple(steps), registry.passages, job.limits)
        if state.steps_left < 1:
            return _finish_at(job, state, "steps")
        if registry.passages and world.is_time_over(len(steps)):
            return _finish_at(job, state, "seconds")
        by = OPENING if waiting else policy.name
        try:
            decision = waiting.pop(0) if waiting else policy.decide(state, world)
        except NoDecisionError as error:
            # Where nothing was found yet rules search in the model's place.
            is_limit = error.kind in _LIMITS and bool(registry.passages)
            is_last = is_limit or job.fallback is None or policy is job.fallback
            number = len(steps) + 1
            steps.append(Step(number, policy.name, turns=error.turns, note=error.reason))
            if is_last or job.fallback is None:
                return _finish_at(job, replace(state, steps=tuple(steps)), error.kind)
            policy = job.fallback
            continue
        step = Step(
            len(steps) + 1, by, decision.thought, decision.action,
            dict(decision.arguments), turns=decision.turns,
        )  # fmt: skip
        if decision.action == job.tools.finish.name:
            result = job.tools.finish.check(decision.arguments)
            return _trace(job, replace(state, steps=(*steps, step)), "finish", policy.name, result)
        steps.append(_observed(step, world, registry))


def replay_agent(job: AgentJob, trace: Trace) -> Trace:
    """Return the trace of the same run, made again from its recorded answers and observations.

    Raises:
        RecordingError: the run goes another way than it did.
    """
    return run_agent(job, RecordedWorld(trace))


def _observed(step: Step, world: World, registry: AliasRegistry) -> Step:
    try:
        found = world.call(step.action or "", step.arguments or {})
    except RecordingError:
        raise
    except RagError as error:
        return replace(step, observation=Observation(error=hide_credentials(str(error))))
    lines = []
    for line in found.lines:
        if line.passage is None:
            lines.append(ObservedLine(line.label))
            continue
        alias, is_new = registry.register(line.passage)
        lines.append(
            ObservedLine(
                line.label, alias, line.passage.chunk_key, line.passage.content_hash, is_new
            )
        )
    return replace(step, observation=Observation(tuple(lines), found.notes))


def _finish_at(job: AgentJob, state: AgentState, limit: EndedBy) -> Trace:
    result = job.tools.finish.check(job.finisher(state))
    return _trace(job, state, limit, job.finisher_name, result)


def _trace(
    job: AgentJob, state: AgentState, ended_by: EndedBy, answered_by: str, result: Mapping[str, Any]
) -> Trace:
    return Trace(
        job.question, job.brief, job.policy.describe(), job.limits, job.tools.names, state.steps,
        state.passages, ended_by, answered_by, result,
    )  # fmt: skip
