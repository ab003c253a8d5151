"""Decide, act, observe, until the policy finishes or a limit makes it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rag_assets.agents.passages import AliasRegistry
from rag_assets.agents.policy import (
    AgentState,
    Decision,
    NoDecision,
    NoDecisionError,
    Policy,
    World,
)
from rag_assets.agents.tools import Toolset
from rag_assets.agents.trace import (
    EndedBy,
    Limits,
    Observation,
    ObservedLine,
    Step,
    Trace,
)
from rag_assets.agents.worlds import RecordedWorld
from rag_assets.model import RagError, RecordingError, hide_credentials

# Who decided an action that was given before the policy was asked.
OPENING = "opening"
# These end the run; after the others rules may still go on.
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
        if world.is_time_over(len(steps)):
            return _finish_at(job, state, "seconds")
        by = OPENING if waiting else policy.name
        try:
            decision = waiting.pop(0) if waiting else policy.decide(state, world)
        except NoDecisionError as error:
            is_last = error.kind in _LIMITS or job.fallback is None or policy is job.fallback
            steps.append(_undecided(len(steps) + 1, policy, error))
            if is_last or job.fallback is None:
                return _finish_at(job, _with_steps(state, steps), error.kind)
            policy = job.fallback
            continue
        step = Step(
            len(steps) + 1, by, decision.thought, decision.action,
            dict(decision.arguments), turns=decision.turns,
        )  # fmt: skip
        if decision.action == job.tools.finish.name:
            result = job.tools.finish.check(decision.arguments)
            return _trace(job, _with_steps(state, [*steps, step]), "finish", policy.name, result)
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
        return _with_observation(step, Observation(error=hide_credentials(str(error))))
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
    return _with_observation(step, Observation(tuple(lines), found.notes))


def _with_observation(step: Step, observation: Observation) -> Step:
    return Step(
        step.number, step.by, step.thought, step.action, step.arguments, observation, step.turns
    )


def _undecided(number: int, policy: Policy, error: NoDecisionError) -> Step:
    return Step(number, policy.name, turns=error.turns, note=error.reason)


def _with_steps(state: AgentState, steps: list[Step]) -> AgentState:
    return AgentState(state.question, state.brief, tuple(steps), state.passages, state.limits)


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
