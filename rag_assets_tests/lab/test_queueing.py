"""Requests, the queue and its worker, over a small library: cancel, kill, run again, replay."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from rag_assets.cli.main import build_cli
from rag_assets.lab import queue as working
from rag_assets.lab.laboratory import Laboratory, open_laboratory
from rag_assets.lab.queue import (
    cancel_run,
    claim_next,
    is_worked_on,
    notes_before,
    parse_request,
    queue_again,
    submit_request,
    trace_file,
    work,
)
from rag_assets.lab.runs import Run, list_runs, read_run
from rag_assets.lab.showing import render_run, replay_run, view_run
from rag_assets.lab.tools import LabLibrary
from rag_assets.lab.trace import Observed, Source, read_trace
from rag_assets.llm import Budget, ChatRequest, Completion, estimate_tokens, open_chat_model
from rag_assets.model import (
    BudgetError,
    ConfigurationError,
    DamagedFileError,
    LockedError,
    RecordingError,
    UsageError,
)
from rag_assets.workspace import Workspace, configuration_digest
from rag_assets_tests.lab.bases import make_bases
from rag_assets_tests.lab.laboratories import AT, form, put_run
from rag_assets_tests.lab.scripted_runs import (
    DOWN,
    MODULATION,
    SEARCH,
    ListModel,
    act,
    finish,
    plan,
    propose,
)
from rag_assets_tests.libraries import make_workspace

ASKED = {"text": "A recipe for ethylene from CO2."}


@pytest.fixture
def root(tmp_path: Path, library: Path) -> Path:
    """A copy of the small library, with a laboratory of its own."""
    import shutil

    made = tmp_path / "lab"
    shutil.copytree(library, made)
    return made


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bases(tmp_path_factory.mktemp("bases") / "lab").root


@pytest.fixture
def lab(root: Path) -> Iterator[Laboratory]:
    opened = open_laboratory(Workspace.open(root))
    yield opened


def with_model(root: Path, answers: list[dict[str, Any]], **more: Any) -> Laboratory:
    """The laboratory with a scripted model, as settings name one."""
    (root / "script.yaml").write_text(yaml.safe_dump({"answers": answers}), encoding="utf-8")
    path = root / "config.yaml"
    llm = {"llm": {"kind": "scripted", "script": "script.yaml", **more}}
    path.write_text(path.read_text("utf-8") + yaml.safe_dump(llm), encoding="utf-8")
    return open_laboratory(Workspace.open(root))


def ask(lab: Laboratory, **more: Any) -> list[Run]:
    return submit_request(lab, parse_request({**ASKED, **more}), at=AT, by="ana")


def do(lab: Laboratory, **more: Any) -> list[Run]:
    return work(lab, now=lambda: AT, clock=lambda: 0.0, **more)


def state_of(lab: Laboratory, run_id: str) -> Run:
    with lab.store.reading() as reading:
        return read_run(reading, run_id)[0]


def patch_models(monkeypatch: pytest.MonkeyPatch, *answers: Any) -> ListModel:
    """Let every role be asked of one list of answers, unrecorded."""
    model = ListModel(*answers)
    roles = ("orchestrator", "mof_expert", "tio2_expert")
    monkeypatch.setattr(working, "_models", lambda lab, run: dict.fromkeys(roles, model))
    return model


def by_model(lab: Laboratory, monkeypatch: pytest.MonkeyPatch, *answers: Any, **more: Any) -> Run:
    """Queue and make one run of a list of answers; return it."""
    patch_models(monkeypatch, *answers)
    run = ask_model(lab, **more)
    do(lab)
    return state_of(lab, run.id)


def ask_model(lab: Laboratory, **more: Any) -> Run:
    """Queue a run of models that a test puts in their place."""
    (run,) = ask(lab, **more)
    with lab.store.writing(AT, "test") as writing:
        from rag_assets.lab.runs import record_run

        request = {**run.request, "policy": "model"}
        record_run(writing, run.model_copy(update={"kind": "model", "request": request}))
    return run


GOOD = (SEARCH, propose("C1"), finish("R1"))


def test_a_request_becomes_runs_of_the_same_input_and_each_gives_its_recipes(
    lab: Laboratory,
) -> None:
    queued = ask(lab, n=3, recipes_per_run=1)
    assert [run.id.rpartition("-")[2] for run in queued] == ["r1", "r2", "r3"]
    assert all(run.state == "queued" and run.kind == "collect" for run in queued)
    ended = do(lab)
    assert [run.state for run in ended] == ["done"] * 3
    assert len({run.recipes for run in ended}) == 1
    recipe = state_of(lab, queued[0].id).recipes[0]
    assert (recipe.M1, recipe.M2, recipe.atomic_ratio) == ("Cu", "Mo", "2:1")
    assert all(c.startswith("kb:kb_") for g in recipe.grounds for c in g.citations)
    # Asked again it makes further runs.
    assert [run.id.rpartition("-")[2] for run in ask(lab, n=2)] == ["r4", "r5"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"n": 0}, "'n'"), ({"n": 6}, "'n'"), ({"recipes_per_run": 4}, "'recipes_per_run'"),
        ({"recipes_per_run": 0}, "'recipes_per_run'"), ({"text": "  …  "}, "'text'"),
        ({"text": ""}, "'text'"), ({"temperature": 3}, "'temperature'"),
        ({"metals": "Cu"}, "'metals'"),
    ],
)  # fmt: skip
def test_a_request_that_cannot_be_used_is_refused(values: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_request({**ASKED, **values})


def test_bases_and_models_are_wanted_before_anything_is_queued(lab: Laboratory, root: Path) -> None:
    with pytest.raises(ConfigurationError, match="names none for orchestrator, mof_expert"):
        ask(lab, policy="model")
    (root / "namespaces" / "kb_modulation.yaml").unlink()
    missing = open_laboratory(Workspace.open(root))
    with pytest.raises(ConfigurationError, match="rag namespace add kb_modulation --template"):
        ask(missing)
    with lab.store.reading() as reading:
        assert list_runs(reading) == []


def test_a_model_of_the_settings_makes_a_run_and_its_calls_are_kept(root: Path) -> None:
    lab = with_model(
        root,
        [
            {"when": "Proposed so far", "data": finish("R1")},
            {"when": r"\[C1\]", "data": propose("C1")},
            {"data": SEARCH},
        ],
    )
    (run,) = ask(lab, temperature=0.7)
    (ended,) = do(lab)
    assert ended.state == "done", ended.reason
    assert ended.kind == "model"
    assert ended.snapshot["decided_by"] == dict.fromkeys(
        ("orchestrator", "mof_expert", "tio2_expert"), "scripted:scripted"
    )
    events = read_trace(trace_file(lab.workspace, ended))
    asked = [event for event in events if event["kind"] == "asked"]
    assert all(event["request"]["temperature"] == 0.7 for event in asked)
    assert len(list(trace_file(lab.workspace, ended).parent.glob("calls/*/*.json"))) == len(asked)
    snapshot = events[0]["job"]["snapshot"]
    assert snapshot["request"]["recipes_per_run"] == 1
    assert snapshot["request"]["n"] == 1
    # When each event came is kept beside the trace, which has no clock.
    view = view_run(lab, run.id)
    assert [event["elapsed"] for event in view.events] == ["0:00"] * len(events)
    assert view.events[-1]["tokens"] > 0
    assert set(snapshot["publications"]) == {"kb_principles", "kb_modulation"}
    assert replay_run(lab, run.id).is_same


def test_runs_of_one_request_differ_by_their_seeds_at_temperature_0_7(root: Path) -> None:
    answers = [
        {"when": "Proposed so far", "data": finish("R1")},
        {"when": r"\[C1\]", "data": propose("C1")},
        {"data": SEARCH},
    ]
    lab = with_model(root, answers, roles={"mof_expert": {"temperature": 0.2}})
    queued = ask(lab, n=3)
    assert notes_before(lab, queued, None) == []
    said: list[str] = []
    ended = do(lab, notify=said.append)
    seeds = set()
    for run in ended:
        begun, *events = read_trace(trace_file(lab.workspace, run))
        seeds.add(begun["job"]["seed"])
        assert begun["job"]["models"]["mof_expert"]["sampled_temperature"] == 0.2
        asked = [event["request"]["temperature"] for event in events if event["kind"] == "asked"]
        assert set(asked) == {0.7}
    assert len(seeds) == 3
    assert any(line.startswith("  0:00  ") and "search_principles" in line for line in said)
    assert all(replay_run(lab, run.id).is_same for run in ended)


def test_a_canceled_run_that_waits_never_begins(lab: Laboratory) -> None:
    first, second = ask(lab, n=2)
    canceled = cancel_run(lab, first.id, at=AT, by="ana")
    assert canceled.reason == "canceled by ana before it began"
    assert [run.id for run in do(lab)] == [second.id]
    assert state_of(lab, first.id).state == "canceled"
    assert not trace_file(lab.workspace, state_of(lab, first.id)).exists()
    with pytest.raises(UsageError, match="there is nothing to cancel"):
        cancel_run(lab, second.id, at=AT, by="ana")


def test_a_canceled_run_that_works_stops_before_its_next_call(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancel(request: object) -> Any:
        (running,) = [run for run, _ in _runs(lab) if run.state == "running"]
        cancel_run(lab, running.id, at=AT, by="ana")
        return MODULATION

    model_calls = [SEARCH, cancel]
    ended = by_model(lab, monkeypatch, *model_calls)
    assert (ended.state, ended.reason) == ("canceled", "canceled by ana while it worked")
    events = read_trace(trace_file(lab.workspace, ended))
    # The call that was under way ends; none follows.
    assert [e["kind"] for e in events if e["kind"] in {"asked", "called", "stopped"}] == [
        "asked", "called", "asked", "stopped",
    ]  # fmt: skip
    assert replay_run(lab, ended.id).is_same


def _runs(lab: Laboratory) -> list[tuple[Run, int]]:
    with lab.store.reading() as reading:
        return list_runs(reading)


def test_a_run_that_is_canceled_while_it_finishes_stays_canceled(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def finish_late(request: object) -> Any:
        (running,) = [run for run, _ in _runs(lab) if run.state == "running"]
        cancel_run(lab, running.id, at=AT, by="ana")
        return finish("R1")

    ended = by_model(lab, monkeypatch, SEARCH, propose("C1"), finish_late)
    assert (ended.state, ended.recipes) == ("canceled", ())
    assert ended.trace is not None
    assert replay_run(lab, ended.id).is_same


def test_a_hung_call_holds_nothing_once_its_run_is_canceled(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go = threading.Event()
    tried: list[Budget] = []

    class Hanging(ListModel):
        def complete(self, request: ChatRequest, budget: Budget | None = None) -> Completion:
            assert budget is not None
            if self.requests:
                (running,) = [run for run, _ in _runs(lab) if run.state == "running"]
                cancel_run(lab, running.id, at=AT, by="ana")
                tried.append(budget)
                let_go.wait()
            return super().complete(request, budget)

    model = Hanging(*GOOD)
    roles = ("orchestrator", "mof_expert", "tio2_expert")
    monkeypatch.setattr(working, "_models", lambda lab, run: dict.fromkeys(roles, model))
    first, second = ask_model(lab), ask(lab, text="Another one.")[0]
    try:
        ended = do(lab)
    finally:
        let_go.set()
    # The one behind it in the queue is made though the call never came back.
    assert [(run.id, run.state) for run in ended] == [(first.id, "canceled"), (second.id, "done")]
    assert replay_run(lab, first.id).is_same
    # It is not tried again.
    with pytest.raises(BudgetError, match="stopped"):
        tried[0].limit_call(1, 1, 1.0)


def test_a_reader_that_hangs_holds_nothing_either(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go = threading.Event()

    def hangs(*_: object) -> Any:
        (running,) = [run for run, _ in _runs(lab) if run.state == "running"]
        cancel_run(lab, running.id, at=AT, by="ana")
        let_go.wait()

    monkeypatch.setattr(working, "_open_reader", hangs)
    try:
        ended = by_model(lab, monkeypatch, *GOOD)
    finally:
        let_go.set()
    assert (ended.state, ended.recipes) == ("canceled", ())
    assert replay_run(lab, ended.id).is_same


def test_a_model_does_not_judge_what_it_wrote(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripted model says yes to everything, and nobody asks it."""
    lab = with_model(root, [{"when": "", "answer": "yes"}])
    writer = open_chat_model(lab.workspace)
    assert writer is not None
    assert working._open_reader(lab, {writer.name}).name == "facts"
    assert working._open_reader(lab, {"another"}).name == "llm"
    ended = by_model(lab, monkeypatch, *GOOD)
    (support,) = [g.support for g in ended.recipes[0].grounds if g.support]
    assert support.verdict == "not_judged"


LONG = "Copper and molybdenum on TiO2 couple CO. " * 60


@pytest.mark.parametrize("context", [None, 4096])
def test_prompts_are_cut_to_the_models_context(
    root: Path, monkeypatch: pytest.MonkeyPatch, context: int | None
) -> None:
    path = root / "config.yaml"
    llm = {"llm": {"context_tokens": context}}
    path.write_text(path.read_text("utf-8") + yaml.safe_dump(llm), encoding="utf-8")
    lab = open_laboratory(Workspace.open(root))
    looked = Observed(tuple(Source(f"kb:b__chunk-{n}", LONG, "h", "t", "", "b") for n in range(6)))
    monkeypatch.setattr(LabLibrary, "search", lambda *_: looked)
    notes = [plan(act("note", section="risks", text="It may be so. " * 50)) for _ in range(8)]
    answers = [SEARCH, "no JSON " * 200, *notes, propose("C1"), finish("R1")]
    model = ListModel(*answers)
    roles = ("orchestrator", "mof_expert", "tio2_expert")
    monkeypatch.setattr(working, "_models", lambda lab, run: dict.fromkeys(roles, model))
    run = ask_model(lab)
    do(lab)
    assert state_of(lab, run.id).state == "done"
    sizes = [estimate_tokens(*(m.content for m in one.messages)) for one in model.requests]
    asked = [e for e in read_trace(trace_file(lab.workspace, state_of(lab, run.id)))
             if e["kind"] == "asked"]  # fmt: skip
    cuts = [event["cut"] for event in asked if "cut" in event]
    if context is None:
        assert max(sizes) > 4096
        assert cuts == []
    else:
        answer = model.requests[0].max_tokens
        assert answer is not None
        assert max(sizes) + answer <= context
        # Shortened before they are dropped, and the trace says what was.
        assert "cut to the model's context: 180 characters a passage" in cuts[0]
        assert all("[C1] t: " in one.messages[1].content for one in model.requests[1:])
    assert replay_run(lab, run.id).is_same


def test_a_context_that_holds_no_prompt_is_told_beforehand(root: Path) -> None:
    lab = with_model(root, [{"when": "", "answer": "yes"}], context_tokens=1024)
    (run,) = ask(lab)
    (ended,) = do(lab)
    assert (ended.id, ended.state) == (run.id, "failed")
    assert "llm.context_tokens leaves 820 tokens for a prompt of orchestrator" in ended.reason


def test_a_failed_run_fails_alone_and_is_begun_again(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = by_model(lab, monkeypatch, SEARCH, DOWN)
    assert (failed.state, failed.reason) == ("failed", "the service is down.")
    first = trace_file(lab.workspace, failed)
    patch_models(monkeypatch, *GOOD)
    queue_again(lab, failed.id, at=AT, by="ana")
    (again,) = do(lab)
    assert (again.id, again.state, again.reason) == (failed.id, "done", "")
    assert first.exists()
    assert trace_file(lab.workspace, again) != first
    with pytest.raises(UsageError, match="only one that failed or was canceled"):
        queue_again(lab, failed.id, at=AT, by="ana")


def test_a_fault_of_the_program_fails_the_run_and_is_raised(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(request: object) -> Any:
        raise ZeroDivisionError("a fault of ours")

    with pytest.raises(ZeroDivisionError):
        by_model(lab, monkeypatch, SEARCH, broken)
    (run, _), *_ = _runs(lab)
    assert (run.state, run.reason) == (
        "failed", "this program failed: ZeroDivisionError: a fault of ours",
    )  # fmt: skip
    patch_models(monkeypatch, *GOOD)
    (next_run,) = ask(lab)
    assert [one.id for one in do(lab)] == [next_run.id]
    # As far as it went it is made again.
    assert replay_run(lab, run.id).is_same


def test_a_base_without_publication_fails_the_run_with_the_mend(lab: Laboratory) -> None:
    import shutil

    (run,) = ask(lab)
    shutil.rmtree(lab.workspace.root / "index" / "kb_modulation")
    (ended,) = do(lab)
    assert ended.state == "failed"
    assert "rag ingest" in ended.reason
    with pytest.raises(UsageError, match="has no trace: it is failed"):
        replay_run(lab, run.id)


KILLED = """
import os, signal, sys
from rag_assets.lab import engine
from rag_assets.lab.laboratory import open_laboratory
from rag_assets.lab.queue import work
from rag_assets.workspace import Workspace, configuration_digest

looks = []
whole = engine.RunState.look
def look(self, *given):
    looks.append(given)
    if len(looks) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return whole(self, *given)
engine.RunState.look = look
lab = open_laboratory(Workspace.open(__import__("pathlib").Path(sys.argv[1])))
work(lab, now=lambda: "2026-03-01T09:00:00+00:00", clock=lambda: 0.0)
"""


def test_a_killed_worker_blocks_nothing(lab: Laboratory, root: Path) -> None:
    first, second = ask(lab, n=2)
    killed = subprocess.run([sys.executable, "-c", KILLED, str(root)], check=False)
    ran = CliRunner().invoke(build_cli(), ["--workspace", str(root), "lab", "queue"])
    assert f"running   {first.id}  (its process has ended" in ran.output
    assert not is_worked_on(lab.workspace)
    assert killed.returncode == -signal.SIGKILL
    assert state_of(lab, first.id).state == "running"
    said: list[str] = []
    ended = do(lab, notify=said.append)
    assert [(run.id, run.state) for run in ended] == [(first.id, "failed"), (second.id, "done")]
    assert "ended unexpectedly" in ended[0].reason
    assert f"rag lab run {first.id} --again" in ended[0].reason
    assert said[0].startswith(f"{first.id}: failed")
    # What it had done is kept, frozen, and made again as far as it goes.
    assert ended[0].trace is not None
    assert replay_run(lab, first.id).is_same
    queue_again(lab, first.id, at=AT, by="ana")
    assert [(run.id, run.state) for run in do(lab)] == [(first.id, "done")]


def test_one_worker_works_at_a_time(lab: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def second_worker(*given: Any) -> Any:
        with pytest.raises(LockedError, match="another process works on the queue"):
            do(lab)
        assert is_worked_on(lab.workspace)
        said.append("refused")
        return MODULATION

    monkeypatch.setattr(working, "_WAIT_SECONDS", 0.1)
    by_model(lab, monkeypatch, second_worker, DOWN)
    assert said == ["refused"]


def test_a_run_is_claimed_once(lab: Laboratory) -> None:
    first, second = ask(lab, n=2)
    taken = claim_next(lab, at=AT)
    assert taken is not None
    assert (taken.id, taken.state) == (first.id, "running")
    other = claim_next(lab, at=AT, only=first.id)
    assert other is None
    last = claim_next(lab, at=AT)
    assert last is not None
    assert last.id == second.id


def test_a_changed_trace_is_told(lab: Laboratory) -> None:
    (run,) = ask(lab)
    do(lab)
    path = trace_file(lab.workspace, state_of(lab, run.id))
    path.write_text(path.read_text("utf-8").replace("ethylene", "methane"), encoding="utf-8")
    with pytest.raises(DamagedFileError, match="the trace was changed since"):
        replay_run(lab, run.id)
    path.unlink()
    with pytest.raises(DamagedFileError, match="is gone"):
        replay_run(lab, run.id)


def test_replay_needs_neither_library_nor_model(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    ended = by_model(lab, monkeypatch, *GOOD)
    for name in ("index", "raw"):
        shutil.rmtree(lab.workspace.root / name)
    monkeypatch.setattr(working, "_models", _refuse)
    assert replay_run(lab, ended.id).is_same


def _refuse(*given: object) -> Any:
    raise AssertionError("no model is to be opened")


def test_other_prompts_are_another_version(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rag_assets.lab import showing

    ended = by_model(lab, monkeypatch, *GOOD)
    monkeypatch.setattr(showing, "prompt_hashes", lambda: {"lab_recipes": "other"})
    with pytest.raises(RecordingError, match="its prompts are not those of this version"):
        replay_run(lab, ended.id)


def test_a_run_never_sees_what_itself_taught(lab: Laboratory) -> None:
    from rag_assets.lab.feedback import Strategy
    from rag_assets.lab.products import add_product
    from rag_assets.lab.teaching import give_feedback

    with lab.store.writing(AT, "ana") as writing:
        for name in ("C2H4", "CO"):
            add_product(writing, name)
    for run_id in ("r1", "r2"):
        put_run(lab, run_id)
        given = form(lab, 8.0, pros=f"Copper and molybdenum were selective in {run_id}.")
        give_feedback(lab, run_id, given, Strategy(), at=AT, by="ana")
    for run_id, seen in (("r1", "r2"), ("r2", "r1")):
        with LabLibrary(lab, lab.workspace, run_id) as library:
            recalled = library.recall("orchestrator", "What about copper?")
            history = library.history("")
        texts = [one.text for one in recalled.sources]
        assert any(seen in text for text in texts)
        assert not any(run_id in text for text in texts)
        assert not any(f"run {run_id}:" in line for line in history.lines)
        assert any(f"run {seen}:" in line for line in history.lines)
        assert all(one.citation.startswith("mem:") for one in recalled.sources)


def test_tools_find_passages_with_their_place_and_read_around_them(lab: Laboratory) -> None:
    with LabLibrary(lab, lab.workspace, "r9") as library:
        found = library.search("principles", "copper and molybdenum")
        (source, *_) = found.sources
        assert source.base == "kb_principles"
        assert source.citation.startswith("kb:kb_principles__chunk-")
        assert source.name == "raw/kb_principles/coupling.md"
        assert source.found_by["ranks"]
        assert library.read(source.citation).sources
        with pytest.raises(UsageError, match="was not found by this run"):
            library.read("kb:kb_principles__chunk-0000")


def test_a_run_is_shown_as_an_experimenter_reads_it(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = by_model(lab, monkeypatch, *GOOD)
    page = render_run(ended, read_trace(trace_file(lab.workspace, ended)))
    assert "### 1. CuMo-TiO2 / Zr-BTB, Cu:Mo = 2:1, 4-aminobenzoic acid" in page
    assert "Cu and Mo couple CO. [1] *(literature; not judged)*" in page
    assert "No ground was given for it. *(default, not cited)*" in page
    assert "raw/kb_principles/coupling.md" in page
    assert "> TiO2 doped with copper and molybdenum coupled CO" in page
    (rules,) = ask(lab, policy="collect")
    do(lab)
    collected = state_of(lab, rules.id)
    shown = render_run(collected, read_trace(trace_file(lab.workspace, collected)))
    assert "Collected without a language model" in shown


NO_LAB = """
import sys
from rag_assets.cli.main import build_cli
from rag_assets.workspace import Workspace, configuration_digest
Workspace.open(__import__("pathlib").Path(sys.argv[1])).namespaces()
import rag_assets.definitions
print([name for name in sys.modules if name.startswith("rag_assets.lab.")])
print("rdkit" in sys.modules)
"""


def test_a_workspace_without_a_laboratory_loads_none_of_it(tmp_path: Path) -> None:
    make_workspace(tmp_path / "plain", {"evidence/a.md": "# A\n\nText.\n"})
    environment = {**os.environ, "RAG_WORKSPACE": str(tmp_path / "plain")}
    ran = subprocess.run(
        [sys.executable, "-c", NO_LAB, str(tmp_path / "plain")], check=True, text=True,
        capture_output=True, env=environment,
    )  # fmt: skip
    assert ran.stdout.splitlines() == ["[]", "False"]


def test_a_role_may_have_a_model_of_its_own(root: Path) -> None:
    other = [{"data": {"thought": "Take glycine.", "plan": []}}]
    script = {"model": "expert", "answers": other}
    (root / "expert.yaml").write_text(yaml.safe_dump(script), encoding="utf-8")
    first = {"thought": "Ask.", "plan": [{"task": "Which acid?", "role": "mof_expert"}]}
    answers = [
        {"when": "Proposed so far", "data": finish("R1")},
        {"when": r"\[C1\]", "data": propose("C1")},
        {"when": "Take glycine", "data": SEARCH},
        {"data": first},
    ]
    lab = with_model(root, answers, roles={"mof_expert": {"script": "expert.yaml"}})
    (run,) = ask(lab)
    (ended,) = do(lab)
    assert ended.state == "done", ended.reason
    assert ended.snapshot["decided_by"] == {
        "orchestrator": "scripted:scripted", "mof_expert": "scripted:expert",
        "tio2_expert": "scripted:scripted",
    }  # fmt: skip
    assert replay_run(lab, run.id).is_same


def test_a_laboratory_and_its_rules_make_no_publication_stale(lab: Laboratory, root: Path) -> None:
    def digest() -> str:
        return configuration_digest(Workspace.open(root).namespace("kb_principles"))

    config = root / "config.yaml"
    values = yaml.safe_load(config.read_text("utf-8"))
    with_lab = digest()
    values["lab"]["recipes"]["rules"] = [{"tell": "No lead.", "field": "M2", "none_of": ["Pb"]}]
    config.write_text(yaml.safe_dump(values), encoding="utf-8")
    assert digest() == with_lab
    del values["lab"]
    config.write_text(yaml.safe_dump(values), encoding="utf-8")
    assert digest() == with_lab
