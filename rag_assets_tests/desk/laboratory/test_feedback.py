"""The feedback on a run: the form, what is said of the comparison, conflicts, what was learned."""

import re
from pathlib import Path

import pytest

from rag_assets.lab import teaching
from rag_assets.lab.feedback import find_feedback
from rag_assets.lab.products import save_preset
from rag_assets.model import LanguageModelError
from rag_assets_tests.desk.laboratory.visits import (
    HOSTILE,
    Visit,
    field_of,
    text_of,
    visit_laboratory,
)
from rag_assets_tests.lab.laboratories import AT, put_run


@pytest.fixture
def three(visited: Visit) -> Visit:
    """Three runs that could be reported on."""
    for name in ("r1", "r2", "r3"):
        put_run(visited.lab, name)
    return visited


def given(visited: Visit, run_id: str) -> object:
    with visited.lab.store.reading() as reading:
        return find_feedback(reading, run_id)


def test_what_is_typed_is_stored_with_fractions_compared_and_learned(three: Visit) -> None:
    answer = three.give("r1", as_made="half the glycine", recipe_index="2", cons="Slow.")
    assert str(answer.url).endswith("/lab/runs/r1/report")
    stored = given(three, "r1")
    assert (stored.score, stored.recipe_index, stored.as_made) == (7.5, 2, "half the glycine")
    assert [(one.value, one.fraction) for one in stored.products] == [(6, 0.75), (2, 0.25)]
    text = text_of(answer)
    assert "Copper helps. success · active" in text
    assert "Slow. failure · active" in text
    assert "Tell what is known instead" in text
    # Any number is a score; ten is a hint.
    assert "Out of 10 for most people; any number is taken." in three.see("/lab/runs/r2/feedback")
    three.give("r2", score="-120.25")
    assert given(three, "r2").score == -120.25


def test_rows_come_and_go_and_a_set_fills_them_without_a_script(three: Visit) -> None:
    ids = three.products()
    with three.lab.store.writing(AT, "ana") as writing:
        preset = save_preset(writing, [ids["CO"], ids["CH4"]])
    path = "/lab/runs/r1/feedback"
    form = three.feedback_form(pros=HOSTILE)
    assert "0.750" in three.post(path, **{**form, "do": "add"}).text
    shown = three.post(path, **{**form, "do": "add"}).text
    assert len(re.findall('<select name="product"', shown)) == 3
    shown = three.post(path, **{**form, "do": "remove-1"})
    assert re.findall(r'name="value" value="([^"]*)"', shown.text) == ["2"]
    assert HOSTILE in text_of(shown)
    assert "<img" not in shown.text
    shown = three.post(path, **{**form, "do": "preset", "preset": preset.id}).text
    # What was typed for a product of the set stays with it.
    assert re.findall(r'name="value" value="([^"]*)"', shown) == ["2", ""]
    assert "CO + CH4" in shown
    assert given(three, "r1") is None
    # Products are chosen, never typed.
    assert 'type="text" name="product"' not in shown


def test_what_cannot_be_stored_is_said_and_stays_typed(three: Visit) -> None:
    ids = three.products()
    for changes, said in (
        ({"score": "many"}, "'score' must be a number"),
        ({"value": ["6", "-2"]}, "must be a number from 0"),
        ({"value": ["6", "inf"]}, "must be a number from 0"),
        ({"product": [ids["CO"], ids["CO"]]}, "named above"),
        ({"product": ["", ids["CO"]]}, "has a value and no product"),
        ({"product": ["", ""], "value": ["", ""]}, "at least one product"),
        ({"recipe_index": "7"}, "must be from 1 to 2"),
        ({"product": ["made-up", ids["CO"]]}, "no product of the id"),
        ({"chosen": ["r1"]}, "cannot be compared with itself"),
        ({"chosen": ["r2"]}, "r2 has no feedback"),
    ):
        answer = three.give("r1", pros="Typed words.", **changes)
        assert said in text_of(answer), changes
        assert "Typed words." in answer.text
        assert given(three, "r1") is None


def test_all_values_zero_are_said_and_every_fraction_is_zero(three: Visit) -> None:
    form = three.feedback_form(value=["0", "0"], do="preview")
    assert "every fraction is 0" in text_of(three.post("/lab/runs/r1/feedback", **form))
    three.give("r1", value=["0", "0"])
    assert [one.fraction for one in given(three, "r1").products] == [0.0, 0.0]


def test_what_a_history_allows_is_said_before_saving(three: Visit) -> None:
    path = "/lab/runs/r3/feedback"

    def said(**more: object) -> str:
        form = three.feedback_form(do="preview", **more)
        return text_of(three.post(path, **form))

    assert "Tell what is known instead" in said()
    three.give("r1", score="4")
    assert "One other run has the same set of products" in said()
    three.give("r2", score="8")
    shown = said(score="7")
    assert "Mean and maximum of all other runs of the same set" in shown
    assert "Mean score 6 (2)" in shown
    assert "This run less mean +1" in shown
    # Sharing a product is not enough.
    assert "Tell what is known instead" in said(
        product=[three.products()["C2H4"]], value=["3"], score="1"
    )
    # Method 1 alone: over the chosen runs.
    assert "Mean score 4 (1)" in said(method3="", chosen=["r1"])
    # As soon as a set is there, and nothing is measured yet.
    form = three.feedback_form(do="add", value=["", ""], score="")
    assert "Mean and maximum" in text_of(three.post(path, **form))


def test_the_report_shows_figures_differences_and_can_be_made_otherwise(three: Visit) -> None:
    three.give("r1", score="4")
    three.give("r2", score="8", value=["3", "3"])
    answer = three.give("r3", score="7", text="Literature: 9.", chosen=["r1"])
    text = text_of(answer)
    assert "this run mean maximum this run less mean this run less best" in text
    assert "best of the same products r2 chosen r1" in text
    assert "Score 7 6 8 +1 -1 8 4" in text
    assert "Literature: 9." in text
    assert "over the whole history of the same set of products: 2 runs" in text
    seen = field_of(three.get("/lab/runs/r3/report"), "seen")
    again = three.post("/lab/runs/r3/report", seen=seen, text="", chosen=["r1"])
    assert "over the chosen runs: 1" in text_of(again)
    # Somebody else's report is not overwritten unseen.
    stale = three.post("/lab/runs/r3/report", 409, seen=seen, text="x")
    assert "version 2" in stale.text
    three.give("r1", seen="1", score="5")
    assert "has other values since" in three.see("/lab/runs/r3/report")
    # With other products it is of another kind from then on; the report says what it used.
    three.give("r1", seen="2", product=[three.products()["CO"]], value=["1"])
    told = three.see("/lab/runs/r3/report")
    assert "compared with the products C2H4, CO (version 1); it has CO since version 3" in told
    # One click makes it again, with the same strategy.
    again = three.get("/lab/runs/r3/report")
    made = three.post("/lab/runs/r3/report", seen=field_of(again, "seen"), do="again")
    assert "What this report rests on has changed." not in text_of(made)
    assert "over the chosen runs: 1" in text_of(made)


def test_an_edit_takes_back_what_was_learned_with_edits_by_hand(three: Visit) -> None:
    three.give("r1")
    (item,) = three.items(status="active")
    edit = {"seen": str(item.version), "do": "edit", "role": item.role, "kind": item.kind,
            "title": "", "description": "", "content": "By hand.", "reason": "clearer"}  # fmt: skip
    three.post(f"/lab/experience/mem:{item.id}", **edit)
    page = three.see("/lab/runs/r1/feedback")
    assert "is taken back, with every edit by hand since" in page
    three.give("r1", seen="1", pros="Molybdenum helps.")
    (learned,) = three.items(status="active")
    assert learned.content == "Molybdenum helps."
    tomb = three.see(f"/lab/experience/mem:{item.id}")
    assert "It was rolled back" in tomb
    assert "By hand." in tomb
    assert "Change it" not in tomb
    assert "taken back Copper" not in tomb
    report = three.see("/lab/runs/r1/report")
    assert "taken back" in report
    assert "rolled back" in three.see("/lab/experience/log")


def test_the_second_window_is_told_what_the_first_changed_and_keeps_its_words(
    three: Visit,
) -> None:
    path = "/lab/runs/r1/feedback"
    three.give("r1", score="9", pros="First window.")
    answer = three.give("r1", score="2", pros="Second window.")
    text = text_of(answer)
    assert "is at version 1, and you have seen 0" in text
    assert "score: 9.0" in text
    assert "'product_id': 'C2H4'" in text
    assert "Second window." in answer.text
    assert "What is stored now" in text
    assert "First window." in text
    assert given(three, "r1").score == 9
    # It stays kept until it is stored, or dropped.
    assert "Second window." in three.get(path).text
    assert field_of(three.get(path), "seen") == "1"
    three.give("r1", seen="1", score="2", pros="Second window.")
    assert given(three, "r1").score == 2
    assert "could not be stored" not in three.see(path)
    three.give("r1", seen="1", pros="Third.")
    three.post(path, seen="2", do="discard")
    assert "Third." not in three.get(path).text


def test_a_model_that_fails_changes_nothing_and_loses_no_word(
    three: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    three.give("r1", pros="Copper helps.")
    before = three.items()

    def fail(*_: object) -> None:
        raise LanguageModelError("the service is down.")

    monkeypatch.setattr(teaching, "extract_lessons", fail)
    answer = three.give("r1", seen="1", pros="Long words of an evening.")
    text = text_of(answer)
    assert "the service is down. Nothing was changed" in text
    assert "Long words of an evening." in answer.text
    assert three.items() == before
    assert given(three, "r1").pros == "Copper helps."


def test_saving_what_stands_there_changes_nothing(three: Visit) -> None:
    three.give("r1")
    with three.lab.store.reading() as reading:
        head = reading.head()
    three.give("r1", seen="1")
    with three.lab.store.reading() as reading:
        assert reading.head() == head


def test_a_feedback_is_deleted_and_what_it_taught_with_it(three: Visit) -> None:
    three.give("r1")
    page = three.get("/lab/runs/r1/feedback")
    assert "nothing is learned in its place" in text_of(page)
    three.post("/lab/runs/r1/feedback/delete", 409, seen="7")
    three.post("/lab/runs/r1/feedback/delete", seen="1")
    assert given(three, "r1").status == "deleted"
    assert three.items(status="active") == []
    assert "Tell what it gave" in three.see("/lab/runs/r1")
    # And can be given again.
    three.give("r1", seen="2", score="3")
    assert given(three, "r1").score == 3


def test_a_feedback_is_learned_from_again_or_not_at_all(three: Visit) -> None:
    three.give("r1", learn="")
    assert three.items() == []
    assert "It was not learned from." in three.see("/lab/runs/r1/report")
    three.post("/lab/runs/r1/feedback/learn", seen="1")
    three.wait()
    (item,) = three.items(status="active")
    assert item.content == "Copper helps."


def test_a_deleted_product_stays_in_a_feedback_that_names_it(three: Visit) -> None:
    three.give("r1")
    co = three.products()["CO"]
    three.post("/lab/settings", do="delete", which=co, seen="1")
    page = three.get("/lab/runs/r1/feedback")
    assert f'<option value="{co}" selected>CO (deleted)</option>' in page.text
    assert f'<option value="{co}"' not in three.get("/lab/runs/r2/feedback").text
    three.give("r1", seen="1", score="1")
    assert len(given(three, "r1").products) == 2


def test_short_history_is_only_counted_where_the_settings_say_so(root: Path) -> None:
    with visit_laboratory(root) as visited:
        put_run(visited.lab, "r1")
        form = {"seen": "0", "method3": "", "short_history": "note"}
        visited.post("/lab/settings/comparison", **form)
        shown = visited.post("/lab/runs/r1/feedback", **visited.feedback_form(do="add", method3=""))
        assert "Other runs of this set of products: 0" in text_of(shown)
        fresh = visited.get("/lab/runs/r1/feedback").text
        assert 'name="method3" value="1">' in fresh
