"""How recipes are made: plans, tasks of roles, the note, citations, bounds."""

import itertools
import json
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest

from rag_assets.answering.agents import Limits
from rag_assets.lab import worlds
from rag_assets.lab.chemistry import Carboxyl
from rag_assets.lab.showing import replay_trace
from rag_assets.lab.trace import TurnAliases, fold_note
from rag_assets.llm import Budget, ChatRequest
from rag_assets.model import RecordingError, UsageError
from rag_assets.model.settings import RecipeRule
from rag_assets_tests.lab.scripted_runs import (
    DOWN,
    LESSON,
    LIMITS,
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
    source,
    task,
)


def replayed(made: Made) -> Made:
    """The run, after its trace gave the same again."""
    again, outcome = replay_trace(made.text, "trace")
    assert again == made.text
    assert outcome == made.outcome
    return made


def prompt(made: Made, number: int) -> str:
    """What the model read at its n-th call, from 1."""
    return str(made.models["orchestrator"].requests[number - 1].messages[1].content)


def test_a_run_searches_notes_proposes_and_finishes() -> None:
    made = replayed(
        run(
            SEARCH,
            plan(act("note", section="evidence", text="Cu and Mo couple CO [C1].")),
            MODULATION,
            propose("C1"),
            propose("C1", small_molecule_modifier={"name": "glycine"}),
            finish("R2", R1="It costs more [C1]."),
        )
    )
    (recipe,) = made.outcome.recipes
    assert made.outcome.state == "done"
    assert recipe.small_molecule_modifier.name == "glycine"
    assert recipe.linker == "BTB"
    # Marks are of one prompt: C1 was the first passage that was shown then.
    assert recipe.grounds[0].citations == (kb("coupling"),)
    assert (recipe.rank, recipe.why_ranked) == (1, "Reason of R2.")
    (dropped,) = recipe.dropped
    assert (dropped.why, dropped.citations) == ("It costs more.", (kb("coupling"),))
    assert "4-aminobenzoic acid" in dropped.what
    note = made.outcome.note
    assert [entry.citations for entry in note.entries("evidence")] == [(kb("coupling"),)]
    assert [entry.key for entry in note.entries("candidates")] == ["R1", "R2"]
    assert "left out: It costs more." in note.entries("candidates")[0].text
    assert any("BTB" in entry.text for entry in note.entries("constraints"))


def test_the_trace_keeps_prompts_answers_marks_and_what_was_found() -> None:
    made = run(SEARCH, propose("C2"), finish("R1"))
    asked = made.kinds("asked")
    assert asked[1]["aliases"] == {"C1": kb("coupling"), "C2": kb("tungsten")}
    assert "couple" in asked[1]["request"]["messages"][1]["content"]
    assert json.loads(asked[1]["turn"]["text"])["plan"][0]["action"] == "propose"
    (called,) = made.kinds("called")
    assert called["observed"]["sources"][0]["citation"] == kb("coupling")
    assert made.events[0]["job"]["limits"]["calls"] == LIMITS.calls
    assert made.kinds("proposed")[0]["recipe"]["M1"] == "Cu"
    assert made.events[-1]["kind"] == "ended"


def test_a_task_goes_to_its_role_and_what_it_found_goes_back() -> None:
    made = replayed(
        run(
            plan(task("Which acid?"), act("search_principles", query="later")),
            MODULATION,
            plan(thought="Take 4-aminobenzoic acid."),
            propose("C1"),
            finish("R1"),
        )
    )
    roles = [event["role"] for event in made.kinds("asked")]
    assert roles == ["orchestrator", "mof_expert", "mof_expert", "orchestrator", "orchestrator"]
    systems = [one.messages[0].content for one in made.models["orchestrator"].requests]
    assert "small-molecule modifiers" in systems[1]
    assert "finish" not in [
        line.split(":")[0].removeprefix("- ") for line in systems[1].splitlines()
    ]
    # The parent's plan and thought are told again, and what the task ended with.
    assert "thought there: Because." in prompt(made, 2)
    assert "still planned there: search_principles" in prompt(made, 2)
    assert 'task 1.1 ended: "Take 4-aminobenzoic acid."' in prompt(made, 4)
    assert made.outcome.state == "done"


@pytest.mark.parametrize(
    ("cited", "said"),
    [
        ("C9", r"\[C9\] names nothing that is shown now"),
        ("[C9]", r"\[C9\] names nothing"),
        (kb("nowhere"), "no source that this run was shown"),
        ("mem:7f0c0d5e-0000-4000-8000-00000000dead", "no source that this run was shown"),
        ("Smith 2020", "no source that this run was shown"),
    ],
)
def test_an_unknown_citation_is_refused(cited: str, said: str) -> None:
    made = replayed(run(SEARCH, propose(cited), propose("C1"), finish("R1")))
    (fault,) = made.faults
    assert re.search(said, fault)
    assert made.outcome.recipes[0].grounds[0].citations == (kb("coupling"),)


@pytest.mark.parametrize(
    "text",
    ["It works [C7].", f"It works [{kb('nowhere')}].", "It works (mem:abc-1).", "So [C1-C9] say.",
     "So [c1] says."],
)  # fmt: skip
def test_an_unknown_mark_in_a_text_is_refused(text: str) -> None:
    note = plan(act("note", section="decisions", text=text))
    made = run(SEARCH, note, note, note)
    assert len(made.faults) == 3
    assert made.outcome.state == "failed"
    assert not made.outcome.note.entries("decisions")


def test_a_mark_of_an_earlier_prompt_is_none_of_this_one() -> None:
    """Marks hold for one action: C1 is the first passage shown, whatever it was before."""
    made = run(
        SEARCH, MODULATION, MODULATION, MODULATION,
        plan(act("note", section="evidence", text="Acids. [C1]")),
        propose("C1"), finish("R1"),
    )  # fmt: skip
    assert made.outcome.note.entries("evidence")[0].citations == (kb("acids"),)


def test_canonical_citations_of_what_was_shown_are_taken() -> None:
    aliases = TurnAliases({kb("acids"): source("acids")})
    assert aliases.take(f"It works [{kb('acids')}].") == ("It works .", (kb("acids"),))
    with pytest.raises(UsageError, match="a text is needed"):
        aliases.take(f"[{kb('acids')}]")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("This is no JSON.", "Invalid JSON"),
        ({"plan": []}, "thought"),
        (plan({"do": "it"}), "plan"),
        (plan(act("make_coffee")), "there is no tool 'make_coffee'"),
        (plan(act("search_principles")), "search_principles"),
        (plan(), "ends by the action finish"),
        (propose("C1", small_molecule_modifier={"name": "benzenesulfonic acid"}), "–COOH"),
        (propose("C1", small_molecule_modifier={"name": "imidazole"}), "Give its SMILES"),
        (propose("C1", M1="S"), "is no metal of the periodic table"),
        (propose("C1", linker="BDC"), "linker"),
        (propose(), "one ground at least"),
        (propose(grounds=[{"statement": "So it is.", "basis": "default"}]), "one ground at least"),
        (propose("C1", M2="Unobtainium"), "no metal of the periodic table"),
        (
            propose("C1", small_molecule_modifier={"name": "glycine", "smiles": "OC(=O)c1ccccc1"}),
            "another molecule than glycine",
        ),
        (finish("R1"), "never proposed"),
        (finish(), "exactly 1 recipe"),
        (finish("R1", "R2"), "exactly 1 recipe"),
        (plan(act("note", section="evidence", text="Nobody said it.")), "cites what it is from"),
        (plan(act("note", section="risks", text="x", op="replace", key="r9")), "has no 'r9'"),
        (plan(act("note", section="candidates", text="x", op="upsert", key="R1")), "program's"),
        (
            plan(act("note", section="constraints", text="x", op="replace", key="rule2")),
            "program's",
        ),
    ],
)
def test_an_answer_that_cannot_be_used_is_asked_for_again_with_its_fault(
    wrong: Any, said: str
) -> None:
    made = replayed(run(SEARCH, wrong, propose("C1"), finish("R1")))
    (fault,) = made.faults
    assert said in fault
    last = made.models["orchestrator"].requests[2].messages[-1].content
    assert fault in last
    assert made.outcome.state == "done"


def test_the_number_of_repairs_is_bounded_and_a_task_that_fails_goes_back() -> None:
    made = replayed(
        run(plan(task("Which acid?")), "no", "no", "no", SEARCH, propose("C1"), finish("R1"))
    )
    assert made.kinds("task_failed")[0]["number"] == "1.1"
    assert "task 1.1 failed: 3 answers in a row could not be used" in prompt(made, 5)
    assert made.outcome.state == "done"
    alone = replayed(run("no"))
    assert (alone.outcome.state, alone.outcome.ended_by) == ("failed", "repairs")
    assert len(alone.kinds("asked")) == 3


def test_a_tool_that_fails_is_told_and_the_run_goes_on() -> None:
    broken = plan(act("search_principles", query="broken"))
    made = replayed(run(broken, SEARCH, propose("C1"), finish("R1")))
    assert "search_principles failed: the index of kb_shelf" in prompt(made, 2)
    assert made.outcome.state == "done"


def test_a_model_that_is_down_fails_the_run() -> None:
    made = replayed(run(SEARCH, DOWN))
    assert (made.outcome.state, made.outcome.ended_by) == ("failed", "failed")
    assert made.outcome.reason == "the service is down."


@pytest.mark.parametrize(
    ("limits", "ended_by"),
    [
        (Limits(7, 60, 2, None, None), "steps"),
        (Limits(40, 5, 2, None, None), "calls"),
        (Limits(40, 60, 2, 9_000, None), "tokens"),
    ],
)
def test_a_model_that_never_ends_is_ended(limits: Limits, ended_by: str) -> None:
    made = replayed(run(onward(), limits=limits))
    assert (made.outcome.state, made.outcome.ended_by) == ("failed", ended_by)
    assert len(made.kinds("asked")) <= limits.calls
    assert len(made.kinds("called")) <= limits.steps


def onward() -> Callable[[ChatRequest], Any]:
    """Answer by one search after the other."""
    numbers = itertools.count()
    return lambda _: plan(act("search_principles", query=f"metal {next(numbers)}"))


def test_time_ends_a_run() -> None:
    ticks = itertools.count()
    made = replayed(
        run(onward(), clock=lambda: float(next(ticks)), limits=Limits(40, 60, 2, None, 9.0))
    )
    assert made.outcome.ended_by == "seconds"
    assert made.kinds("stopped") or made.kinds("asked")[-1]["turn"]["error"]


def test_tasks_within_tasks_are_bounded() -> None:
    made = replayed(run(plan(task("Deeper.", "tio2_expert")), depth=3))
    assert max(event["depth"] for event in made.kinds("task")) == 3
    assert "as deep as they may be" in made.faults[0]
    assert made.outcome.state == "failed"


def test_at_a_limit_a_run_with_enough_recipes_ends_with_them_unranked() -> None:
    made = replayed(run(SEARCH, propose("C1"), propose("C1"), onward(), wanted=2,
                        limits=Limits(40, 9, 2, None, None)))  # fmt: skip
    assert (made.outcome.state, made.outcome.ended_by) == ("done", "calls")
    assert [one.rank for one in made.outcome.recipes] == [1, 2]
    assert "before the model ranked" in made.outcome.recipes[0].why_ranked


def test_repeated_recipes_are_never_asked_for_again() -> None:
    made = replayed(run(SEARCH, propose("C1"), propose("C1"), finish("R1", "R2"), wanted=2))
    first, second = made.outcome.recipes
    assert first.small_molecule_modifier == second.small_molecule_modifier
    assert made.faults == []
    every = " ".join(m.content for r in made.models["orchestrator"].requests for m in r.messages)
    assert not any(word in every.lower() for word in ("diverse", "diversity", "different from"))


@pytest.mark.parametrize("after", range(6))
def test_a_canceled_run_ends_before_its_next_call(after: int) -> None:
    shelf = Shelf()
    calls: list[str] = []

    def count(request: ChatRequest) -> Any:
        calls.append("model")
        return plan(act("search_principles", query=f"metal {len(calls)}"))

    made = replayed(
        run(count, shelf=shelf, is_canceled=lambda: len(calls) + len(shelf.asked) >= after)
    )
    assert len(calls) + len(shelf.asked) == after
    assert (made.outcome.state, made.outcome.ended_by) == ("canceled", "canceled")


def test_experience_is_recalled_when_asked_and_cited_as_such() -> None:
    shelf = Shelf([lesson()])
    ground = {"statement": "It was good.", "basis": "experience", "citations": ["C1"]}
    made = replayed(
        run(
            plan(act("recall_experience", question="What worked?")),
            propose(grounds=[ground]),
            finish("R1"),
            shelf=shelf,
        )
    )
    assert made.outcome.recipes[0].grounds[0].citations == (LESSON,)
    assert shelf.asked == [("orchestrator", "What worked?")]
    # Never unasked.
    unasked = Shelf([lesson()])
    quiet = run(SEARCH, propose("C1"), finish("R1"), shelf=unasked)
    assert "L-histidine gave much" not in quiet.text
    assert ("orchestrator", "What worked?") not in unasked.asked


def test_a_role_recalls_its_own_experience() -> None:
    shelf = Shelf([lesson()])
    recalls = plan(act("recall_experience", question="acids?"))
    run(plan(task("Which acid?")), recalls, DOWN, shelf=shelf)
    assert shelf.asked == [("mof_expert", "acids?")]


def test_experience_under_another_basis_is_refused() -> None:
    ground = {"statement": "It was good.", "basis": "evidence", "citations": ["C1"]}
    made = run(plan(act("recall_experience", question="?!")), propose(grounds=[ground]), DOWN,
               shelf=Shelf([lesson()]))  # fmt: skip
    assert "basis 'evidence' cites a passage" in made.faults[0]


def test_a_passage_is_read_by_its_mark() -> None:
    shelf = Shelf()
    run(SEARCH, plan(act("read_passage", source="[C2]")), DOWN, shelf=shelf)
    assert shelf.asked[-1] == ("read", kb("tungsten"))


def test_history_informs_and_cannot_be_cited() -> None:
    made = run(plan(act("look_up_history")), propose("C1"), DOWN)
    assert "run r0: CuZn-TiO2, score 5" in prompt(made, 2)
    assert "nothing is shown" in made.faults[0]


def test_every_revision_of_the_note_can_be_shown() -> None:
    made = run(
        plan(act("note", section="risks", text="Mo may leach.", key="mo")),
        plan(act("note", section="risks", text="Mo leaches in acid.", op="replace", key="mo")),
        plan(act("note", section="questions", text="Which lamp?", op="upsert", key="lamp")),
        DOWN,
    )
    noted = [event for event in made.kinds("noted") if event["by"] != "program"]
    texts = [fold_note(made.events, event["seq"]).entries("risks")[0].text for event in noted]
    assert texts == ["Mo may leach.", "Mo leaches in acid.", "Mo leaches in acid."]
    assert fold_note(made.events) == made.outcome.note
    assert [event["revision"] for event in made.kinds("noted")] == [
        number for number, _ in enumerate(made.kinds("noted"), start=1)
    ]
    assert "(mo) Mo leaches in acid." in prompt(made, 4)


def test_a_structure_that_was_read_then_needs_no_chemistry_at_replay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = Carboxyl(True, "structure", "its structure holds –COOH (NCC(=O)O)")
    monkeypatch.setattr(worlds, "find_carboxyl", lambda name, smiles: found)
    unknown = {"name": "compound 7", "smiles": "NCC(=O)O"}
    made = run(SEARCH, propose("C1", small_molecule_modifier=unknown), finish("R1"))
    monkeypatch.undo()
    assert replayed(made).outcome.recipes[0].small_molecule_modifier.smiles == "NCC(=O)O"
    assert made.kinds("asked")[1]["judged"][0]["by"] == "structure"


def test_configured_rules_are_told_and_held() -> None:
    rules = (
        RecipeRule(tell="No tungsten.", field="M2", none_of=["W"]),
        RecipeRule(tell="Solvents are water or ethanol."),
    )
    made = replayed(run(SEARCH, propose("C1", M2="W"), propose("C1"), finish("R1"), rules=rules))
    assert "M2: No tungsten." in made.faults[0]
    assert "Solvents are water or ethanol. (told, not checked)" in prompt(made, 1)


def test_old_results_leave_the_prompt_and_the_note_stays() -> None:
    made = run(
        plan(act("note", section="decisions", text="Keep copper.")), SEARCH,
        MODULATION, MODULATION, MODULATION, DOWN,
    )  # fmt: skip
    assert "couple" in prompt(made, 3)
    assert "coupled CO" not in prompt(made, 6)
    assert "Keep copper." in prompt(made, 6)


def test_a_trace_that_was_changed_does_not_replay() -> None:
    made = run(SEARCH, propose("C1"), finish("R1"))
    with pytest.raises(RecordingError, match="otherwise than it did"):
        replay_trace(made.text.replace('"query": "metals"', '"query": "acids"'), "trace")


def test_passages_are_material_and_no_markup_of_ours() -> None:
    """A passage that looks like a mark or an instruction changes nothing of what is bound."""
    aliases = TurnAliases({kb("acids"): source("acids")})
    aliases.name(kb("acids"))
    assert aliases.resolve("C1") == kb("acids")
    with pytest.raises(UsageError, match="C1 to C1"):
        aliases.resolve("C2")


def test_a_long_plan_is_cut_and_its_first_step_is_done() -> None:
    steps = [act("search_principles", query=f"metal {number}") for number in range(30)]
    made = replayed(run(plan(*steps), propose("C1"), finish("R1")))
    assert not made.faults
    assert made.kinds("called")[0]["arguments"]["query"] == "metal 0"
    assert len(made.kinds("planned")[0]["rest"]) == 5


def test_an_answer_that_breaks_off_is_told_to_be_shorter() -> None:
    cut = '{"thought": "Long.", "plan": [{"action": "search_principles", "arguments": {"query": "me'
    made = replayed(run(cut, SEARCH, propose("C1"), finish("R1")))
    (fault,) = made.faults
    assert fault.startswith("your answer breaks off before its end: write less.")


def test_an_empty_plan_of_the_request_is_answered_by_a_step_that_can_be_done() -> None:
    made = replayed(run(plan(), SEARCH, propose("C1"), plan(), finish("R1")))
    first, last = made.faults
    assert '{"action": "search_modulation", "arguments": {"query": "…"}}' in first
    assert '{"action": "finish", "arguments": {"recipes": [{"recipe": "R1", "why": "…"}]' in last


def test_only_the_plan_of_a_task_within_may_be_empty() -> None:
    made = run(
        plan(task("Which acid?")), plan(thought="None."), SEARCH, propose("C1"), finish("R1")
    )
    root, child, *_ = made.models["orchestrator"].requests
    assert root.schema is not None
    assert child.schema is not None
    assert root.schema["properties"]["plan"]["minItems"] == 1
    assert "minItems" not in child.schema["properties"]["plan"]


def test_the_note_registers_every_claim_of_the_result_with_its_citations() -> None:
    made = replayed(run(SEARCH, propose("C1"), finish("R1")))
    (recipe,) = made.outcome.recipes
    registered = {e.text: e.citations for e in made.outcome.note.entries("evidence")}
    claims = {g.statement: g.citations for g in recipe.grounds if g.citations}
    assert claims
    assert registered == claims


def test_a_look_that_comes_again_is_refused_with_its_result() -> None:
    shelf = Shelf()
    again = plan(act("search_principles", query=" Metals"))
    made = replayed(
        run(SEARCH, MODULATION, again, propose("C3"), finish("R1"), shelf=shelf, shown=2)
    )
    assert shelf.asked == [("principles", "metals"), ("modulation", "acids")]
    assert made.outcome.recipes[0].grounds[0].citations == (kb("coupling"),)
    heard = [r.messages[1].content for r in made.models["orchestrator"].requests]
    refused = "refused: it was made before, and found 2 results, shown again above"
    assert [refused in each for each in heard[:4]] == [False] * 3 + [True]
    assert made.kinds("repeated")[0]["first"] == made.kinds("called")[0]["seq"]


def test_a_task_that_only_repeats_itself_fails() -> None:
    answers = (plan(task("Which acid?")), MODULATION, MODULATION, MODULATION, MODULATION)
    made = replayed(run(*answers, SEARCH, propose("C1"), finish("R1")))
    assert "it asked 3 times again: search_modulation" in made.kinds("task_failed")[0]["why"]
    assert made.outcome.state == "done"
    alone = replayed(run(SEARCH))
    assert (alone.outcome.ended_by, len(alone.kinds("asked"))) == ("repairs", 4)
    # With enough recipes they are the result, as at any limit.
    enough = replayed(run(SEARCH, propose("C1"), SEARCH))
    assert (enough.outcome.state, enough.outcome.ended_by) == ("done", "repairs")
    # In between it may look at the same again.
    note = plan(act("note", section="risks", text="Mo may leach."))
    made = run(SEARCH, SEARCH, SEARCH, note, SEARCH, SEARCH, propose("C1"), finish("R1"))
    assert made.outcome.state == "done"


def test_an_answer_that_takes_too_long_is_not_waited_for() -> None:
    let_go = threading.Event()

    def hangs(request: ChatRequest) -> Any:
        let_go.wait()
        return SEARCH

    clock = itertools.count(0.0, step=100.0)
    limit = Budget(None, 150.0, clock=lambda: next(clock))
    try:
        made = replayed(run(hangs, limit_call=lambda: limit))
    finally:
        let_go.set()
    assert (made.outcome.state, made.outcome.ended_by) == ("failed", "failed")
    assert "'lab.recipes.call_seconds'" in made.outcome.reason


def test_the_time_of_a_run_ends_a_call_that_hangs() -> None:
    let_go = threading.Event()

    def hangs(request: ChatRequest) -> Any:
        let_go.wait()
        return SEARCH

    # Begun and asked in time, over when it is looked at next.
    clock = itertools.chain([0.0, 0.0], itertools.repeat(10.0))
    try:
        made = replayed(run(hangs, clock=lambda: next(clock), limits=Limits(40, 60, 2, None, 9.0)))
    finally:
        let_go.set()
    assert (made.outcome.state, made.outcome.ended_by) == ("failed", "seconds")
