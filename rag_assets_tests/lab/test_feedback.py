"""Feedback on runs, through the store: forms, edits, reports, learning and taking back."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from rag_assets.lab.experience import (
    add_note,
    archive_item,
    delta_of,
    edit_item,
    edit_log,
    find_item,
    list_extractions,
    list_items,
)
from rag_assets.lab.feedback import (
    FeedbackForm,
    Strategy,
    find_feedback,
    find_report,
    outdated_parts,
)
from rag_assets.lab.laboratory import Laboratory
from rag_assets.lab.products import delete_product
from rag_assets.lab.teaching import (
    compare_again,
    extract_lessons,
    facts_of,
    feedback_page,
    find_basis,
    give_feedback,
    learn_again,
    withdraw_feedback,
)
from rag_assets.model import ChangedMeanwhileError, LanguageModelError, UsageError
from rag_assets_tests.lab.laboratories import (
    AT,
    form,
    make_laboratory,
    product_ids,
    put_run,
    stored,
)


@pytest.fixture
def lab(tmp_path: Path) -> Laboratory:
    made = make_laboratory(tmp_path / "lab")
    for run_id in ("r1", "r2", "r3"):
        put_run(made, run_id)
    return made


def give(lab: Laboratory, run_id: str, given: FeedbackForm, at: str = AT, **more: Any) -> Any:
    strategy = more.pop("strategy", Strategy())
    return give_feedback(lab, run_id, given, strategy, at=at, by="ana", **more)


def active(lab: Laboratory) -> list[tuple[str, str]]:
    with lab.store.reading() as reading:
        return sorted((i.kind, i.content) for i in list_items(reading, status="active"))


def test_a_feedback_is_stored_compared_and_learned_from(lab: Laboratory) -> None:
    told = form(lab, 7.5, C2H4=3.0, CO=1.0, pros="Ethylene rose. It was stable.", cons="Slow.",
                other="Lamp was new.", recipe_index=2, as_made="half the glycine")  # fmt: skip
    outcome = give(lab, "r1", told)
    shares = [one.fraction for one in outcome.feedback.products]
    assert (outcome.changed, shares, outcome.feedback.form) == (True, [0.75, 0.25], told)
    assert outcome.report.comparison.notes == ("no_history",)
    assert active(lab) == [
        ("failure", "Slow."), ("success", "Ethylene rose."), ("success", "It was stable."),
    ]  # fmt: skip
    assert [delta.change for delta in outcome.learned] == ["add", "add", "add"]
    with lab.store.reading() as reading:
        (item, *_) = list_items(reading, status="active", kind="failure")
    assert item.lessons[0].run_id == "r1"
    assert item.lessons[0].basis == "no measurement is in it; all else: the chemist's word"
    assert (item.extra["other"], item.extra["as_made"]) == ("Lamp was new.", "half the glycine")


def test_an_edit_takes_back_all_that_was_learned_hand_edits_included(lab: Laboratory) -> None:
    give(lab, "r1", form(lab, pros="Ethylene rose."))
    with lab.store.writing(AT, "bo") as writing:
        (item,) = list_items(writing, status="active")
        edit_item(writing, item.id, {"content": "Ethylene rose, says Bo."}, reason="clearer")
    outcome = give(lab, "r1", form(lab, pros="Methane rose."))
    assert active(lab) == [("success", "Methane rose.")]
    assert [(d.change, d.is_voided) for d in outcome.taken_back] == [("add", True)]
    with lab.store.reading() as reading:
        tomb = find_item(reading, f"mem:{item.id}")
        assert (tomb.rolled_back, tomb.status, tomb.content) == (
            True, "archived", "Ethylene rose, says Bo.",
        )  # fmt: skip
        assert [row["action"] for row in edit_log(reading, item.id)] == ["edited", "rolled_back"]
        assert [e.status for e in list_extractions(reading, "r1")] == ["rolled_back", "made"]


def test_an_open_form_over_what_was_rolled_back_is_told_so(lab: Laboratory) -> None:
    give(lab, "r1", form(lab, pros="Ethylene rose."))
    with lab.store.reading() as reading:
        (item,) = list_items(reading, status="active")
    give(lab, "r1", form(lab, pros="Methane rose."))
    with (
        pytest.raises(ChangedMeanwhileError, match="rolled_back: False → True"),
        lab.store.writing(AT, "bo") as writing,
    ):
        edit_item(writing, item.id, {"title": "mine"}, seen=item.version)
    with pytest.raises(UsageError, match="was rolled back"), lab.store.writing(AT, "bo") as writing:
        edit_item(writing, item.id, {"title": "mine"})


def test_lessons_of_two_feedbacks_join_and_part(lab: Laboratory) -> None:
    give(lab, "r1", form(lab, pros="Ethylene rose with copper."))
    outcome = give(lab, "r2", form(lab, pros="Ethylene rose with copper."))
    assert [d.change for d in outcome.learned] == ["update"]
    with lab.store.reading() as reading:
        (item,) = list_items(reading, status="active")
        assert [lesson.run_id for lesson in item.lessons] == ["r1", "r2"]
    withdraw_feedback(lab, "r1", at=AT, by="ana")
    with lab.store.reading() as reading:
        (left,) = list_items(reading, status="active")
        assert [lesson.run_id for lesson in left.lessons] == ["r2"]
        assert find_item(reading, item.id).moved_to == (left.id,)


def test_an_edit_that_changes_nothing_writes_nothing(lab: Laboratory) -> None:
    given = form(lab, pros="Ethylene rose.")
    give(lab, "r1", given)
    with lab.store.reading() as reading:
        head = reading.head()
    assert not give(lab, "r1", given).changed
    assert not give(lab, "r1", form(lab, pros="  Ethylene rose. ")).changed
    with lab.store.reading() as reading:
        assert reading.head() == head


def test_a_changed_strategy_alone_makes_a_report_and_teaches_nothing(lab: Laboratory) -> None:
    given = form(lab, pros="Ethylene rose.")
    first = give(lab, "r1", given)
    outcome = give(lab, "r1", given, strategy=Strategy(text="best known: 3.1"))
    assert (outcome.report.version, outcome.learned) == (first.report.version + 1, None)
    assert outcome.report.comparison.text == "best known: 3.1"
    assert outcome.feedback.version == first.feedback.version


def test_a_deleted_feedback_is_taken_back_and_no_history(lab: Laboratory) -> None:
    give(lab, "r1", form(lab, 9.0, pros="Ethylene rose."))
    give(lab, "r2", form(lab, 5.0))
    withdraw_feedback(lab, "r1", at=AT, by="ana")
    assert active(lab) == []
    assert compare_again(lab, "r2", Strategy(), at=AT, by="a").report.comparison.history == 0  # type: ignore[union-attr]
    with pytest.raises(UsageError, match="has no feedback"):
        withdraw_feedback(lab, "r1", at=AT, by="ana")
    again = give(lab, "r1", form(lab, 8.0), at="2026-04-01T00:00:00+00:00")
    assert (again.feedback.status, again.feedback.given_at) == (
        "given",
        "2026-04-01T00:00:00+00:00",
    )


def test_the_history_is_of_the_same_set_of_products_alone(lab: Laboratory) -> None:
    give(lab, "r1", form(lab, 5.0, C2H4=1.0, CO=1.0))
    give(lab, "r2", form(lab, 6.0, C2H4=1.0, CO=1.0, CH4=1.0))
    comparison = give(lab, "r3", form(lab, 7.0, CO=3.0, C2H4=1.0)).report.comparison
    assert (comparison.history, comparison.best.run_id, comparison.mean) == (1, "r1", None)
    assert (comparison.notes, comparison.minus_best.score) == (("one_entry",), 2.0)


def test_an_edited_set_of_products_is_told_by_reports_that_used_the_old_one(
    lab: Laboratory,
) -> None:
    give(lab, "r1", form(lab, 5.0, C2H4=1.0))
    report = give(lab, "r2", form(lab, 6.0, C2H4=1.0)).report
    give(lab, "r1", form(lab, 5.0, C2H4=1.0, CO=1.0))
    with lab.store.reading() as reading:
        told, of_history = outdated_parts(reading, report)
    assert "and now there are 0" in of_history
    assert "Run r1 was compared with the products C2H4 (version 1)" in told


def test_a_deleted_product_still_counts(lab: Laboratory) -> None:
    give(lab, "r1", form(lab, 5.0, C2H4=1.0))
    with lab.store.writing(AT, "ana") as writing:
        delete_product(writing, product_ids(lab)["C2H4"])
    assert give(lab, "r2", form(lab, 6.0, C2H4=1.0)).report.comparison.history == 1


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"C2H4": -1.0}, "must be a number from 0"),
        ({"C2H4": float("nan")}, "must be a number from 0"),
        ({"score": float("inf")}, "the score must be a number"),
        ({"recipe_index": 3}, "'recipe_index' must be from 1 to 2, got 3"),
    ],
)
def test_a_form_that_cannot_be_used_is_refused_and_nothing_written(
    lab: Laboratory, changes: dict[str, Any], told: str
) -> None:
    before = stored(lab)
    with pytest.raises(UsageError, match=told):
        give(lab, "r1", form(lab, **changes))
    assert stored(lab) == before


def test_a_run_without_recipes_takes_no_feedback(lab: Laboratory) -> None:
    put_run(lab, "r9", recipes=0, state="failed", reason="the model did not answer")
    with pytest.raises(UsageError, match=r"no recipe that could have been made \(it is failed\)"):
        give(lab, "r9", form(lab))


def test_a_product_is_chosen_from_the_catalogue(lab: Laboratory) -> None:
    with pytest.raises(UsageError, match="no product of the id 'ethylene'"):
        give(lab, "r1", FeedbackForm(1.0, {"ethylene": 1.0}))


def test_values_of_zero_have_fractions_of_zero(lab: Laboratory) -> None:
    outcome = give(lab, "r1", form(lab, C2H4=0.0, CO=0.0))
    assert [one.fraction for one in outcome.feedback.products] == [0.0, 0.0]


def test_of_two_windows_the_second_is_told_what_changed(lab: Laboratory) -> None:
    first = give(lab, "r1", form(lab, 7.0)).feedback
    give(lab, "r1", form(lab, 8.0), seen=first.version)
    with pytest.raises(ChangedMeanwhileError, match=r"score: 7.0 → 8.0.*edited by ana"):
        give(lab, "r1", form(lab, 6.0), seen=first.version)


def test_runs_of_before_teach_only_where_a_person_says_so(lab: Laboratory) -> None:
    put_run(lab, "old", kind="imported", recipes=1)
    assert give(lab, "old", form(lab, pros="Ethylene rose.")).learned is None
    assert active(lab) == []
    assert learn_again(lab, "old", at=AT, by="ana").learned
    assert active(lab) == [("success", "Ethylene rose.")]
    give(lab, "old", form(lab, pros="Methane rose."))
    assert active(lab) == [("success", "Methane rose.")]


def test_without_learning_an_edit_still_takes_back(lab: Laboratory) -> None:
    give(lab, "r1", form(lab, pros="Ethylene rose."))
    give(lab, "r1", form(lab, pros="Methane rose."), learn=False)
    assert active(lab) == []


SCRIPT = {
    "answers": [
        {"system": "`pros` says", "when": '"pros": "Ethylene rose', "data": {"lessons": [
            {"role": "tio2_expert", "title": "Cu–Mo", "description": "d", "content": "Cu–Mo helps."}
        ]}},
        {"system": "`cons` says", "when": "Slow", "data": {"lessons": [
            {"role": "mof_expert", "title": "slow", "description": "", "content": "Glycine slows."}
        ]}},
        {"when": "Nonsense", "answer": "I am no JSON."},
    ],
}  # fmt: skip


@pytest.fixture
def asked(tmp_path: Path) -> Laboratory:
    root = tmp_path / "asked"
    made = make_laboratory(root, {"llm": {"kind": "scripted", "script": "answers.yaml"}})
    (root / "answers.yaml").write_text(yaml.safe_dump(SCRIPT), encoding="utf-8")
    put_run(made, "r1")
    return made


def test_a_model_is_asked_for_success_and_for_failure_apart(asked: Laboratory) -> None:
    outcome = give(asked, "r1", form(asked, pros="Ethylene rose.", cons="Slow."))
    assert active(asked) == [("failure", "Glycine slows."), ("success", "Cu–Mo helps.")]
    with asked.store.reading() as reading:
        (extraction,) = list_extractions(reading, "r1")
        assert extraction.record["asked"]["measured"][0]["fraction"] == 0.75
        assert set(extraction.record["prompts"]) == {"success", "failure"}
        assert len(delta_of(reading, extraction.id)) == len(outcome.learned) == 2


def test_a_lesson_says_what_was_measured_or_is_refused(
    asked: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [
        "Cu–Mo gave 84 % C2H4.", "CH4 was 75 %.", "C2H4 reached 3, which is 75 %, and CO 25 %.",
        "4-aminobenzoic acid kept it for 4 h.", "It lived for 40 h.", "乙烯选择性为 84%。",
    ]  # fmt: skip
    lessons = [{"role": "global", "title": "t", "description": "", "content": one} for one in said]
    script = {"answers": [{"when": "", "data": {"lessons": lessons}}]}
    path = asked.workspace.root / "answers.yaml"
    path.write_text(yaml.safe_dump(script, allow_unicode=True), encoding="utf-8")
    monkeypatch.setattr(
        "rag_assets.lab.teaching.extract_lessons",
        lambda teaching, extraction_id, model, _: extract_lessons(
            teaching, extraction_id, model, 10
        ),
    )
    outcome = give(asked, "r1", form(asked, C2H4=3.0, CO=1.0, pros="It held for 4 h."))
    assert {content for _, content in active(asked)} == {said[2], said[3]}
    with asked.store.reading() as reading:
        told = {item.content: item.lessons[0].basis for item in list_items(reading)}
    reading_of = "all else: a model's reading of the chemist's word"
    assert told[said[2]] == f"measured: C2H4 3, C2H4 75 %, CO 25 %; {reading_of}"
    assert told[said[3]] == f"no measurement is in it; the chemist's word: 4 h; {reading_of}"
    assert [one.split("says ")[1].split(",")[0] for one in outcome.refused] == [
        "84 %", "75 %", "40 h", "84%",
    ]  # fmt: skip
    with asked.store.reading() as reading:
        (extraction,) = list_extractions(reading, "r1")
    assert extraction.record["refused"] == list(outcome.refused)


def test_a_swapped_fraction_is_no_measurement() -> None:
    measured = [{"product": "C2H4", "value": 1.2, "fraction": 0.1},
                {"product": "CO", "value": 10.8, "fraction": 0.9}]  # fmt: skip
    others = {"mean": {"products": [{"product": "C2H4", "value": 2.0, "fraction": 0.33}]}}
    facts = facts_of(7, measured, others, {"atomic_ratio": "2:1"}, ["It held for 4 h."])

    def basis(said: str) -> tuple[str, list[str], list[str]]:
        return find_basis(said, facts)

    assert basis("C2H4 was 90 % and CO 10 %.")[0] == "90 %"
    assert basis("C2H4 was 10 % and CO 90 %.") == ("", ["C2H4 10 %", "CO 90 %"], [])
    # What others gave is no measurement of this one, and may be named as theirs.
    assert basis("C2H4 was 33 %.")[0] == "33 %"
    assert basis("C2H4 was 10 %, below the mean of 33 %.") == (
        "", ["C2H4 10 %", "mean: C2H4 33 %"], [],
    )  # fmt: skip
    # A number that only the experimenter says is marked as said; the recipe's are no measurement.
    assert basis("With 2:1 it held for 4 h and scored 7.") == ("", ["score 7"], ["4 h"])


def test_a_model_that_fails_leaves_everything_as_it_was(asked: Laboratory) -> None:
    give(asked, "r1", form(asked, pros="Ethylene rose."))
    before = stored(asked)
    for pros in ("Nonsense.", "Nobody has an answer."):
        with pytest.raises(LanguageModelError, match="Nothing was changed"):
            give(asked, "r1", form(asked, pros=pros))
        assert stored(asked) == before


def test_archived_notes_are_kept_and_logged(lab: Laboratory) -> None:
    with lab.store.writing(AT, "bo") as writing:
        note = add_note(writing, {"content": "Check the lamp.", "role": "mof_expert"}, "from talk")
        archive_item(writing, note.id, reason="done")
    with lab.store.reading() as reading:
        log = edit_log(reading, note.id)
        assert [(row["action"], row["reason"], row["by"]) for row in log] == [
            ("created", "from talk", "bo"), ("archived", "done", "bo"),
        ]  # fmt: skip
        assert (log[1]["before"]["status"], log[1]["after"]["status"]) == ("active", "archived")
        assert find_item(reading, note.id).status == "archived"
        assert find_feedback(reading, "r1") is None
        assert find_report(reading, "r1") is None


def test_a_report_says_that_the_history_behind_its_mean_has_changed(lab: Laboratory) -> None:
    give(lab, "r1", form(lab, 5.0))
    report = give(lab, "r2", form(lab, 6.0)).report
    with lab.store.reading() as reading:
        assert outdated_parts(reading, report) == []
    # A further run of the same kind, which the report does not list.
    give(lab, "r3", form(lab, 4.0))
    with lab.store.reading() as reading:
        (told,) = outdated_parts(reading, report)
    assert "counts 1 other run, and now there are 2" in told
    # Made again it is as it should be; without the history nothing of it is outdated.
    again = compare_again(lab, "r2", Strategy(), at=AT, by="ana").report
    alone = compare_again(lab, "r3", Strategy(use_method3=False), at=AT, by="ana").report
    with lab.store.reading() as reading:
        assert again is not None
        assert outdated_parts(reading, again) == []
    give(lab, "r1", form(lab, 9.0))
    with lab.store.reading() as reading:
        assert alone is not None
        assert outdated_parts(reading, alone) == []
        assert any("history" in each for each in outdated_parts(reading, again))


def test_unticked_alone_takes_back_what_was_learned_and_keeps_it_so(lab: Laboratory) -> None:
    said = form(lab, pros="Copper helped.")
    give(lab, "r1", said)
    assert active(lab)
    outcome = give(lab, "r1", said, learn=False)
    assert (outcome.changed, active(lab)) == (True, [])
    assert not give(lab, "r1", said, learn=False).changed
    assert not feedback_page(lab, "r1").teaches
    # An edit that says nothing of learning does not undo it.
    give(lab, "r1", form(lab, pros="Copper helped a lot."))
    assert active(lab) == []
    give(lab, "r1", form(lab, pros="Copper helped a lot."), learn=True)
    assert active(lab) == [("success", "Copper helped a lot.")]
    assert feedback_page(lab, "r1").teaches
