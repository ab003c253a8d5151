"""Fifty runs of a model that does everything wrong now and then: all end, all replay, none lies."""

import random
import re
from collections import Counter
from typing import Any

import pytest

from rag_assets.answering.agents import Limits
from rag_assets.lab.showing import replay_trace
from rag_assets.llm import ChatRequest
from rag_assets_tests.lab.scripted_runs import (
    DOWN,
    MODULATION,
    SEARCH,
    Made,
    Shelf,
    act,
    finish,
    kb,
    lesson,
    plan,
    propose,
    run,
    task,
)

RUNS = 50
WRONG: dict[str, Any] = {
    "no JSON": "Sure! Here is my plan:",
    "half of it": '{"thought": "x", "plan": [{"action": "finish"',
    "unknown mark": propose("C99"),
    "unknown passage": propose("kb:kb_shelf__chunk-0000000000000000"),
    "unknown item": propose("mem:00000000-0000-4000-8000-000000000000"),
    "no carboxyl group": propose(small_molecule_modifier={"name": "benzenesulfonic acid"}),
    "no name that tells": propose(small_molecule_modifier={"name": "compound 7"}),
    "wrong number": finish("R1", "R2", "R3", "R4"),
    "unknown tool": plan(act("buy", what="glycine")),
    "ends too early": plan(),
}
RIGHT: dict[str, Any] = {
    "search": SEARCH,
    "modulation": MODULATION,
    "tool error": plan(act("search_modulation", query="broken")),
    "recall": plan(act("recall_experience", question="What worked?")),
    "history": plan(act("look_up_history")),
    "note": plan(act("note", section="risks", text="Mo may leach.", op="upsert", key="mo")),
    "cited note": plan(act("note", section="evidence", text="It couples CO [C1].")),
    "task": plan(task("Which acid?", "mof_expert")),
    "end of a task": plan(thought="I found it."),
    "propose": propose("C1"),
    "propose alone": propose(),
}


def scripted(seed: int) -> tuple[Made, int, list[str]]:
    dice = random.Random(seed)
    wanted = dice.randint(1, 3)

    def rank(request: ChatRequest) -> Any:
        """End the task; of the request itself propose what is missing, then finish."""
        if "- finish:" not in request.messages[0].content:
            return plan(thought="Back to the task above.")
        keys = re.findall(r"^- (R\d+): ", request.messages[1].content, re.MULTILINE)
        if len(keys) < wanted:
            return propose("C1") if "[C1]" in request.messages[1].content else SEARCH
        return finish(*keys[:wanted], **dict.fromkeys(keys[wanted:], "Enough."))

    names: list[str] = []
    answers: list[Any] = []
    for _ in range(dice.randint(3, 25)):
        kind = WRONG if dice.random() < 0.2 else RIGHT
        names.append(dice.choice(sorted(kind)))
        answers.append(kind[names[-1]])
    last = dice.choice(["finish", "finish", "endless", "down", "canceled", "late"])
    names.append(last)
    answers.append({"finish": rank, "down": DOWN}.get(last, SEARCH))
    shelf = Shelf([lesson()])
    ticks = iter(range(10_000))
    stop_at = dice.randint(1, 12)
    made = run(
        *answers, wanted=wanted, shelf=shelf, depth=dice.randint(1, 4),
        limits=Limits(dice.choice([6, 40]), dice.choice([9, 60]), 2, 300_000, 30.0),
        clock=lambda: float(next(ticks)) if last == "late" else 0.0,
        is_canceled=lambda: last == "canceled" and len(shelf.asked) >= stop_at,
    )  # fmt: skip
    return made, wanted, names


@pytest.mark.parametrize("seed", range(RUNS))
def test_a_run_with_faults_ends_and_is_made_again_byte_for_byte(seed: int) -> None:
    made, wanted, _ = scripted(seed)
    again, outcome = replay_trace(made.text, "trace")
    assert again == made.text
    assert outcome == made.outcome
    assert made.events[-1]["kind"] == "ended"
    assert len(made.outcome.recipes) in {0, wanted}
    assert made.outcome.recipes or made.outcome.reason
    shown = {
        one["citation"]
        for event in made.kinds("called")
        if event["observed"]
        for one in event["observed"]["sources"]
    }
    cited = {c for recipe in made.outcome.recipes for g in recipe.grounds for c in g.citations}
    cited |= {
        c for name in ("evidence", "risks", "candidates")
        for entry in made.outcome.note.entries(name) for c in entry.citations
    }  # fmt: skip
    assert cited <= shown
    assert kb("nowhere") not in cited


def test_the_fifty_runs_meet_every_fault_and_every_end() -> None:
    ended: Counter[str] = Counter()
    met: set[str] = set()
    faults = 0
    for seed in range(RUNS):
        made, _, names = scripted(seed)
        ended[made.outcome.ended_by] += 1
        met |= set(names)
        faults += len(made.faults)
    assert set(WRONG) | set(RIGHT) <= met
    assert {"finish", "steps", "calls", "seconds", "repairs", "failed", "canceled"} <= set(ended)
    assert faults > RUNS
