"""What a page calls: runs as they are viewed and followed, forms, history, settings, conflicts."""

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rag_assets.lab import teaching
from rag_assets.lab.experience import DEFAULT_TEMPLATE, list_templates, save_template
from rag_assets.lab.feedback import Strategy
from rag_assets.lab.laboratory import (
    Laboratory,
    open_laboratory,
    read_lab_settings,
    save_lab_settings,
)
from rag_assets.lab.queue import parse_request, submit_request, trace_file, work
from rag_assets.lab.showing import (
    TraceStep,
    events_after,
    read_queue,
    render_run,
    trace_tree,
    view_run,
)
from rag_assets.lab.teaching import (
    compare_again,
    feedback_page,
    give_feedback,
    learn_again,
    list_history,
    preview_comparison,
    withdraw_feedback,
)
from rag_assets.lab.trace import read_trace
from rag_assets.model import ChangedMeanwhileError, UsageError
from rag_assets.workspace import Workspace
from rag_assets_tests.lab.bases import make_bases
from rag_assets_tests.lab.laboratories import AT, form, make_laboratory, put_run
from rag_assets_tests.lab.scripted_runs import MODULATION, finish, plan, propose, run, task


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bases(tmp_path_factory.mktemp("bases") / "lab").root


@pytest.fixture
def made(tmp_path: Path, library: Path) -> Iterator[Laboratory]:
    """A laboratory with one run that rules made."""
    root = tmp_path / "lab"
    shutil.copytree(library, root)
    lab = open_laboratory(Workspace.open(root))
    request = parse_request({"text": "Ethylene."})
    submit_request(lab, request, at=AT, by="ana")
    work(lab, now=lambda: AT, clock=lambda: 0.0)
    yield lab


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Laboratory]:
    opened = make_laboratory(tmp_path / "lab")
    for name in ("r1", "r2", "r3"):
        put_run(opened, name)
    yield opened


def give(lab: Laboratory, run_id: str, score: float = 7.0, **more: Any) -> Any:
    seen = more.pop("seen", None)
    strategy = more.pop("strategy", Strategy())
    return give_feedback(
        lab, run_id, form(lab, score, **more), strategy, at=AT, by="ana", seen=seen, learn=False
    )


# --- runs --------------------------------------------------------------------------------------


def test_a_run_is_viewed_with_its_sources_its_tree_and_its_note_at_any_step(
    made: Laboratory,
) -> None:
    (one,) = read_queue(made).runs
    view = view_run(made, one.id)
    assert view.run.state == "done"
    (recipe,) = view.run.recipes
    for ground in recipe.grounds:
        for citation in ground.citations:
            assert view.sources[citation].text
    quoted = next(ground for ground in recipe.grounds if ground.field == "M1")
    assert view.quote_of(quoted) in view.sources[quoted.citations[0]].text
    assert view.note.revision > view.note_at(1).revision == 0
    assert sum(1 for _ in flat(view.tree)) == len(view.events)
    assert not view.apart


def test_the_recipes_of_a_run_outlive_its_trace(made: Laboratory) -> None:
    (one,) = read_queue(made).runs
    trace_file(made.workspace, one).unlink()
    view = view_run(made, one.id)
    assert "the trace of this run is gone" in view.fault
    page = render_run(view.run, view.events, view.fault)
    assert "CuMo-TiO2" in page
    assert "Its trace cannot be shown" in page


def test_a_run_is_followed_from_any_event_and_a_half_written_line_waits(made: Laboratory) -> None:
    (one,) = read_queue(made).runs
    whole, is_over = events_after(made, one.id)
    assert is_over
    assert whole[-1]["seq"] == len(whole) > 10
    assert events_after(made, one.id, 10)[0][0]["seq"] == 11
    assert events_after(made, one.id, len(whole)) == ((), True)
    path = trace_file(made.workspace, one)
    text = path.read_text("utf-8")
    path.write_text(text[:-20], encoding="utf-8")
    assert events_after(made, one.id)[0] == whole[:-1]
    path.unlink()
    assert events_after(made, one.id)[0] == ()


def test_one_laboratory_serves_threads(made: Laboratory) -> None:
    (one,) = read_queue(made).runs
    with ThreadPoolExecutor(4) as threads:
        views = list(threads.map(lambda _: view_run(made, one.id).version, range(20)))
    assert len(set(views)) == 1


def flat(steps: tuple[TraceStep, ...]) -> Iterator[TraceStep]:
    for step in steps:
        yield step
        yield from flat(step.children)


def test_the_steps_of_a_task_stand_below_it() -> None:
    traced = run(
        plan(task("Which acid?")), MODULATION, plan(thought="4-aminobenzoic acid."),
        MODULATION, propose("C1"), finish("R1"),
    )  # fmt: skip
    tree = trace_tree(traced.events)
    assert [step.seq for step in flat(tree)] == [event["seq"] for event in traced.events]
    (root,) = (step for step in tree if step.kind == "task")
    (child,) = (step for step in root.children if step.kind == "task")
    assert child.title == "task 1.1 for mof_expert: Which acid?"
    assert {step.kind for step in child.children} >= {"asked", "planned", "called"}
    assert [step.kind for step in root.children if step.kind == "task_ended"] == ["task_ended"]
    # What is registered of the result is noted with the citations that hold it.
    assert [step.kind for step in tree[-3:]] == ["weighed", "noted", "ended"]
    # A trace that breaks off within a task is one, too.
    assert sum(1 for _ in flat(trace_tree(traced.events[:12]))) == 12


def test_a_task_that_failed_closes_those_within_it() -> None:
    bad = "no JSON"
    traced = run(
        plan(task("Outer.")), plan(task("Inner.")), bad, bad, bad, plan(thought="Done."),
        MODULATION, propose("C1"), finish("R1"),
    )  # fmt: skip
    tree = trace_tree(traced.events)
    assert [step.seq for step in flat(tree)] == [event["seq"] for event in traced.events]
    (root,) = (step for step in tree if step.kind == "task")
    (outer,) = (step for step in root.children if step.kind == "task")
    assert [step.kind for step in outer.children if "fail" in step.kind] == ["task_failed"]


# --- forms -------------------------------------------------------------------------------------


def test_a_form_begins_with_what_stands_there_and_its_version(lab: Laboratory) -> None:
    page = feedback_page(lab, "r1")
    assert (page.feedback, page.version, page.report) == (None, 0, None)
    assert [one.name for one in page.products] == ["C2H4", "CH4", "CO"]
    assert page.teaches
    give(lab, "r1", seen=page.version)
    page = feedback_page(lab, "r1")
    assert page.feedback is not None
    assert (page.feedback.score, page.version) == (7.0, 1)
    assert page.report is not None
    withdraw_feedback(lab, "r1", at=AT, by="ana", seen=1)
    page = feedback_page(lab, "r1")
    assert (page.feedback, page.version, page.report) == (None, 2, None)


def test_of_two_who_give_the_first_feedback_the_second_is_told(lab: Laboratory) -> None:
    give(lab, "r1", 8.0, seen=0)
    with pytest.raises(ChangedMeanwhileError, match=r"you have seen 0\. Meanwhile: .*score: 8"):
        give(lab, "r1", 3.0, seen=0)
    assert list_history(lab)[0].score == 8.0


def test_a_first_feedback_that_comes_while_a_model_is_asked_is_not_overwritten(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = teaching._extract

    def slow(*arguments: Any) -> Any:
        give(lab, "r1", 8.0)
        return real(*arguments)

    monkeypatch.setattr(teaching, "_extract", slow)
    with pytest.raises(ChangedMeanwhileError):
        give_feedback(lab, "r1", form(lab, 3.0, pros="Good."), Strategy(), at=AT, by="eva", seen=0)
    assert [row.score for row in list_history(lab)] == [8.0]


def test_a_report_and_a_lesson_are_made_again_from_what_was_seen(lab: Laboratory) -> None:
    report = give(lab, "r1").report
    with pytest.raises(ChangedMeanwhileError):
        compare_again(lab, "r1", Strategy(text="a"), at=AT, by="eva", seen=report.version + 1)
    compare_again(lab, "r1", Strategy(text="a"), at=AT, by="eva", seen=report.version)
    with pytest.raises(ChangedMeanwhileError, match="text: '' → 'a'"):
        compare_again(lab, "r1", Strategy(text="b"), at=AT, by="ana", seen=report.version)
    give(lab, "r1", 4.0)
    with pytest.raises(ChangedMeanwhileError):
        learn_again(lab, "r1", at=AT, by="ana", seen=1)


def test_a_comparison_is_shown_before_it_is_stored(lab: Laboratory) -> None:
    give(lab, "r1", 8.0)
    give(lab, "r2", 4.0)
    found = preview_comparison(lab, "r3", form(lab, 5.0), Strategy())
    assert found.mean is not None
    assert (found.mean.score, found.notes) == (6.0, ("mean_and_maximum",))
    assert feedback_page(lab, "r3").feedback is None
    assert give(lab, "r3", 5.0).report.comparison.mean == found.mean


def test_history_has_what_was_made_and_measured_the_newest_first(lab: Laboratory) -> None:
    give(lab, "r1", 8.0, C2H4=6.0, CO=2.0, pros="Much ethylene.")
    give(lab, "r2", 4.0, recipe_index=2, as_made="half of it")
    rows = list_history(lab)
    assert [row.run_id for row in rows] == ["r2", "r1"]
    assert rows[0].as_made == "half of it"
    assert rows[1].products == (("C2H4", 6.0, 0.75), ("CO", 2.0, 0.25))
    assert rows[1].set_name == "C2H4 + CO"
    withdraw_feedback(lab, "r2", at=AT, by="ana")
    assert [row.run_id for row in list_history(lab)] == ["r1"]


# --- settings ----------------------------------------------------------------------------------


def test_settings_are_saved_over_the_file_with_versions_and_taken_back(lab: Laboratory) -> None:
    assert lab.settings.experience.k_role == 3
    rule = {"tell": "No lead.", "field": "M2", "none_of": ["Pb"]}
    saved = save_lab_settings(
        lab, {"experience.k_role": 5, "recipes.rules": [rule]}, at=AT, by="ana", seen=0
    )
    assert saved.version == 1
    assert lab.settings.experience.k_role == 5
    assert lab.settings.recipes.rules[0].none_of == ["Pb"]
    assert lab.written.experience.k_role == 3
    assert lab.settings.experience.k_global == 2
    with pytest.raises(ChangedMeanwhileError, match="you have seen 0"):
        save_lab_settings(lab, {"experience.k_role": 9}, at=AT, by="eva", seen=0)
    again = save_lab_settings(lab, {"experience.k_role": 5}, at=AT, by="ana", seen=1)
    assert again.version == 1
    save_lab_settings(lab, {"experience.k_role": None}, at=AT, by="ana", seen=1)
    assert lab.settings.experience.k_role == 3
    with lab.store.reading() as reading:
        assert read_lab_settings(reading).values == {
            "recipes.rules": [{"tell": "No lead.", "field": "M2", "none_of": ["Pb"]}]
        }


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"experience.k_role": -1}, "experience.k_role"),
        ({"comparison.short_history": "cry"}, "comparison.short_history"),
        ({"recipes.rules": [{"tell": "x", "field": "M1"}]}, "rules"),
        ({"recipes.metals": ["Cu"]}, "no setting that is saved here"),
        ({"bases.principles": None}, "no setting that is saved here"),
    ],
)
def test_settings_that_break_a_rule_are_refused(
    lab: Laboratory, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        save_lab_settings(lab, changes, at=AT, by="ana")
    with lab.store.reading() as reading:
        assert read_lab_settings(reading).version == 0


def test_a_run_keeps_the_settings_that_it_had(made: Laboratory) -> None:
    (first,) = read_queue(made).runs
    save_lab_settings(made, {"experience.k_role": 7}, at=AT, by="ana")
    submit_request(made, parse_request({"text": "Once more."}), at=AT, by="ana")
    (second,) = work(made, now=lambda: AT, clock=lambda: 0.0)
    read = [read_trace(trace_file(made.workspace, one))[0] for one in (first, second)]
    kept = [event["job"]["snapshot"]["settings"]["experience"]["k_role"] for event in read]
    assert kept == [3, 7]
    assert json.loads(json.dumps(second.snapshot["settings"]))["experience"]["k_role"] == 7


def test_every_version_of_a_template_can_be_read_and_none_is_overwritten_unseen(
    lab: Laboratory,
) -> None:
    with lab.store.writing(AT, "ana") as writing:
        save_template(writing, "mof_expert", "{{ content }}", seen=0)
    with (
        pytest.raises(ChangedMeanwhileError),
        lab.store.writing(AT, "eva") as writing,
    ):
        save_template(writing, "mof_expert", "{{ title }}", seen=0)
    with lab.store.reading() as reading:
        found = list_templates(reading, "mof_expert")
    assert [(one.version, one.text) for one in found] == [
        (0, DEFAULT_TEMPLATE), (1, "{{ content }}"),
    ]  # fmt: skip
