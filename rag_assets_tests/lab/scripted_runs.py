"""Runs of a made-up laboratory: a shelf of passages, models that answer from a list."""

import json
from collections.abc import Callable, Sequence
from typing import Any, cast

from rag_assets.answering.agents import Limits
from rag_assets.judging import Scorer
from rag_assets.judging.facts import FactsScorer
from rag_assets.lab.collecting import COLLECT_NAME, collect_recipes
from rag_assets.lab.engine import run_recipes
from rag_assets.lab.prompts import RecipeJob, RunOutcome, prompt_hashes
from rag_assets.lab.tools import LabLibrary
from rag_assets.lab.trace import Observed, Source, TraceWriter
from rag_assets.lab.weighing import ScorerWeigh
from rag_assets.lab.worlds import LabWorld, LiveLab
from rag_assets.llm import Budget, ChatRequest, Completion, Usage
from rag_assets.model import LanguageModelError, UsageError, hash_text

SHELF = {
    "coupling": "TiO2 doped with copper and molybdenum coupled CO to ethylene. The Cu:Mo atomic "
    "ratio of 2:1 was the most selective.",
    "tungsten": "CuW-TiO2 had many oxygen vacancies.",
    "acids": "Zr nodes were modified with 4-aminobenzoic acid; Cu and Mo doped TiO2 then gave more "
    "ethylene. Modification with glycine did less.",
    "protons": "L-histidine anchored at Zr nodes relays protons.",
}
LIMITS = Limits(steps=40, calls=60, repairs=2, tokens=400_000, seconds=3600.0)
LESSON = "mem:7f0c0d5e-0000-4000-8000-000000000001"


def kb(name: str) -> str:
    return f"kb:kb_shelf__chunk-{hash_text(name)[:16]}"


def source(name: str) -> Source:
    text = SHELF[name]
    return Source(kb(name), text, hash_text(text), name.title(), "p. 1", "kb_shelf", name, name)


def lesson(**found_by: Any) -> Source:
    text = "Copper and molybdenum with L-histidine gave much ethylene."
    where = "experience of success from run r1: CuMo-TiO2 / Zr-BTB, Cu:Mo = 3:1, L-histidine"
    found = {"kind": "success", "well_scored": True, **found_by}
    return Source(
        LESSON, text, hash_text(text), "Cu and Mo", where, "experience", version=2,
        taught_by=("r1",), found_by=found,
    )  # fmt: skip


class Shelf:
    """What the tools look into; counts what was asked."""

    def __init__(self, lessons: Sequence[Source] = ()) -> None:
        self.asked: list[tuple[str, str]] = []
        self._lessons = tuple(lessons)

    def search(self, base: str, query: str) -> Observed:
        self.asked.append((base, query))
        if "broken" in query:
            raise UsageError("the index of kb_shelf cannot be read: rag ingest.")
        names = ("coupling", "tungsten") if base == "principles" else ("acids", "protons")
        return Observed(tuple(source(name) for name in names))

    def recall(self, role: str, question: str) -> Observed:
        self.asked.append((role, question))
        return Observed(self._lessons)

    def history(self, query: str) -> Observed:
        self.asked.append(("history", query))
        return Observed((), ("run r0: CuZn-TiO2, score 5",))

    def read(self, citation: str) -> Observed:
        self.asked.append(("read", citation))
        return Observed((source("acids"), source("protons")))


Answer = str | dict[str, Any] | Exception | Callable[[ChatRequest], Any]


class ListModel:
    """Answers in order; the last answer comes again for ever."""

    def __init__(self, *answers: Answer, name: str = "listed:demo") -> None:
        self.name = name
        self.requests: list[ChatRequest] = []
        self._answers = answers

    def describe(self) -> dict[str, str | int | float]:
        return {"kind": "listed", "temperature": 0.0}

    def complete(self, request: ChatRequest, budget: Budget | None = None) -> Completion:
        answer = self._answers[min(len(self.requests), len(self._answers) - 1)]
        self.requests.append(request)
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, Exception):
            raise answer
        text = answer if isinstance(answer, str) else json.dumps(answer)
        usage = Usage(sum(len(m.content) for m in request.messages) // 4, len(text) // 4)
        if budget is not None:
            budget.limit_call(usage.prompt_tokens, 1, float("inf"))
            budget.spend(usage.total)
        return Completion(text, "stop", usage, "demo")


def plan(*steps: dict[str, Any], thought: str = "Because.") -> dict[str, Any]:
    return {"thought": thought, "plan": list(steps)}


def act(action: str, **arguments: Any) -> dict[str, Any]:
    return {"action": action, "arguments": arguments}


def task(text: str, role: str = "mof_expert") -> dict[str, Any]:
    return {"task": text, "role": role}


def propose(*cited: str, **changes: Any) -> dict[str, Any]:
    ground = {"statement": "Cu and Mo couple CO.", "basis": "evidence", "field": "M1",
              "citations": list(cited)}  # fmt: skip
    values = {"M1": "Cu", "M2": "Mo", "atomic_ratio": "2:1",
              "small_molecule_modifier": {"name": "4-aminobenzoic acid"},
              "grounds": [ground] if cited else []}  # fmt: skip
    return plan(act("propose", **{**values, **changes}))


def finish(*keys: str, **dropped: str) -> dict[str, Any]:
    return plan(
        act(
            "finish",
            recipes=[{"recipe": key, "why": f"Reason of {key}."} for key in keys],
            dropped=[{"what": what, "why": why} for what, why in dropped.items()],
        )
    )


SEARCH = plan(act("search_principles", query="metals"))
MODULATION = plan(act("search_modulation", query="acids"))
DOWN = LanguageModelError("the service is down.")


class Made:
    """A run with its trace."""

    def __init__(self, outcome: RunOutcome, lines: list[str], models: dict[str, ListModel]) -> None:
        self.outcome = outcome
        self.text = "".join(lines)
        self.events = [json.loads(line) for line in lines]
        self.models = models

    def kinds(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["kind"] == kind]

    @property
    def faults(self) -> list[str]:
        return [e["turn"]["fault"] for e in self.kinds("asked") if e["turn"]["fault"]]


def job(
    models: dict[str, ListModel], *, wanted: int = 1, limits: Limits = LIMITS, depth: int = 4,
    text: str = "A recipe for ethylene.", **more: Any,
) -> RecipeJob:  # fmt: skip
    described = {role: {**one.describe(), "name": one.name} for role, one in models.items()}
    values: dict[str, Any] = {
        "run_id": "r9", "text": text, "wanted": wanted, "policy": "model" if models else "collect",
        "rules": (), "depth": depth, "limits": limits, "shown": 3, "models": described,
        "temperature": None, "prompts": prompt_hashes() if models else {},
        "snapshot": {"decided_by": COLLECT_NAME},
    }  # fmt: skip
    return RecipeJob(**{**values, **more})


def run(
    *answers: Answer,
    shelf: Shelf | None = None,
    is_canceled: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = lambda: 0.0,
    world: Callable[[LabWorld], LabWorld] = lambda live: live,
    scorer: Callable[[], Scorer] = FactsScorer,
    limit_call: Callable[[], Budget] = Budget,
    **more: Any,
) -> Made:
    """Run one list of answers for all roles, or rules where there is none."""
    models: dict[str, ListModel] = {}
    if answers:
        model = ListModel(*answers)
        models = dict.fromkeys(("orchestrator", "mof_expert", "tio2_expert"), model)
    made = job(models, **more)
    budget = Budget(made.limits.tokens, made.limits.seconds, clock=clock)
    live = LiveLab(
        cast("LabLibrary", shelf or Shelf()), models, budget, ScorerWeigh(scorer), is_canceled,
        limit_call,
    )  # fmt: skip
    lines: list[str] = []
    outcome = run_recipes(made, world(live), TraceWriter(lines.append), collect_recipes)
    return Made(outcome, lines, models)
