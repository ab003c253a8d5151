"""Experience through the store: histories, sameness, what is recalled and for whom."""

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from benchmarks.lesson_pairs import FITTED, LEDGER_SETS, read_pairs
from rag_assets.lab.experience import (
    Item,
    Lesson,
    add_note,
    archive_item,
    edit_item,
    find_item,
    list_items,
    restore_item,
    save_template,
)
from rag_assets.lab.feedback import Strategy
from rag_assets.lab.laboratory import Laboratory, replay_events
from rag_assets.lab.recall import Nearness, recall
from rag_assets.lab.store import Store
from rag_assets.lab.teaching import give_feedback, withdraw_feedback
from rag_assets.model import UsageError
from rag_assets.workspace import shipped_settings
from rag_assets_tests.lab.histories import STEPS
from rag_assets_tests.lab.laboratories import (
    AT,
    form,
    make_laboratory,
    put_run,
)
from rag_assets_tests.lab.pairs import contradictions, paraphrases

Steps = list[tuple[str, int, int, int]]
# Words that are near to each other by number alone; each also names its feedback.
MEANINGS = ("Copper helps ethylene", "Zinc hinders methane", "Glycine steadies the film")


class Histories:
    """The steps of `histories.py`, done to a laboratory on disk."""

    def __init__(self, root: Path) -> None:
        self.lab = make_laboratory(root)
        self.live: dict[str, str] = {}
        self.gone: set[str] = set()
        self.number = 0

    def step(self, what: str, a: int, b: int, c: int) -> None:
        run_id = f"r{a % 4}"
        match what:
            case "learn" | "relearn":
                self.give(run_id, b, c)
            case "undo" if run_id in self.live:
                withdraw_feedback(self.lab, run_id, at=AT, by="ana")
                self.gone.add(self.live.pop(run_id))
            case "note":
                with self.lab.store.writing(AT, "bo") as writing:
                    add_note(writing, {"content": f"{MEANINGS[b % 3]}.", "kind": "success"})
            case "edit" | "archive" | "restore":
                self.by_hand(what, a, b)

    def give(self, run_id: str, b: int, c: int) -> None:
        if run_id not in self.live:
            put_run(self.lab, run_id)
        self.number += 1
        word = f"word{self.number}"
        told = " ".join(f"{MEANINGS[(b + n) % 3]} ({word})." for n in range(1 + c % 2))
        give_feedback(self.lab, run_id, form(self.lab, pros=told), Strategy(), at=AT, by="ana")
        if run_id in self.live:
            self.gone.add(self.live[run_id])
        self.live[run_id] = word

    def by_hand(self, what: str, a: int, b: int) -> None:
        with self.lab.store.writing(AT, "bo") as writing:
            items = [item for item in list_items(writing) if not item.rolled_back]
            if not items:
                return
            item = items[a % len(items)]
            if what == "edit":
                words = {w for text in item.texts for w in text.split() if "word" in w}
                text = f"{MEANINGS[b % 3]} {' '.join(sorted(words))}"
                edit_item(writing, item.id, {"content": text})
            else:
                (archive_item if what == "archive" else restore_item)(writing, item.id)

    def check(self) -> None:
        with self.lab.store.reading() as reading:
            items = list_items(reading)
        standing = [one for item in items if not item.rolled_back for one in item.lessons]
        assert {lesson.run_id for lesson in standing} == set(self.live)
        assert len({lesson.id for lesson in standing}) == len(standing)
        said = " ".join(text for item in items if item.is_active for text in item.texts)
        words = {word.strip("().") for word in said.split()}
        assert words & self.gone == set()


def hold_in(steps: Steps) -> None:
    with tempfile.TemporaryDirectory() as folder:
        history = Histories(Path(folder) / "lab")
        for step in steps:
            history.step(*step)
        history.check()


@settings(max_examples=10)
@given(STEPS)
def test_histories_on_disk_lose_nothing_and_leak_nothing(steps: Steps) -> None:
    hold_in(steps)


@pytest.mark.slow
@settings(max_examples=300)
@given(STEPS)
def test_three_hundred_histories_on_disk(steps: Steps) -> None:
    hold_in(steps)


@pytest.fixture
def lab(tmp_path: Path) -> Laboratory:
    return make_laboratory(tmp_path / "lab")


def note(lab: Laboratory, content: str, **values: Any) -> str:
    with lab.store.writing(AT, "bo") as writing:
        return add_note(writing, {"content": content, **values}).id


def recalled(lab: Laboratory, question: str, role: str, **more: Any) -> list[str]:
    asked = {"k_role": 3, "k_global": 2, **more}
    return [one.item.content for one in recall(lab.store, lab.nearness, question, role, **asked)]


def test_recalled_are_three_of_the_role_and_two_of_all_each_once(lab: Laboratory) -> None:
    for number in range(5):
        note(lab, f"copper {number}", role="tio2_expert")
        note(lab, f"copper for all {number}")
        note(lab, f"copper for the node {number}", role="mof_expert")
    found = recalled(lab, "copper", "tio2_expert")
    assert (len(found), sum("for all" in one for one in found)) == (5, 2)
    assert not any("node" in one for one in found)
    assert len(recalled(lab, "copper", "global")) == 3
    assert len(set(recalled(lab, "copper", "global", k_role=2, k_global=4))) == 4
    assert recalled(lab, "copper", "tio2_expert", k_role=0, k_global=0) == []


def test_the_nearest_come_first_and_archived_ones_never(lab: Laboratory) -> None:
    near, far = note(lab, "copper raised ethylene"), note(lab, "the lamp is in the cellar")
    assert recalled(lab, "copper and ethylene", "global")[0] == "copper raised ethylene"
    with lab.store.writing(AT, "bo") as writing:
        archive_item(writing, near)
    assert recalled(lab, "copper and ethylene", "global") == ["the lamp is in the cellar"]
    with lab.store.reading() as reading:
        assert {find_item(reading, one).status for one in (near, far)} == {"active", "archived"}


def test_a_run_is_never_told_what_it_taught_itself(lab: Laboratory) -> None:
    for run_id in ("r1", "r2"):
        put_run(lab, run_id)
    told = form(lab, pros="Copper raised ethylene.")
    give_feedback(lab, "r1", told, Strategy(), at=AT, by="ana")
    assert recalled(lab, "copper", "global", for_run="r1") == []
    assert recalled(lab, "copper", "global", for_run="r2") == ["Copper raised ethylene."]
    # The second says the same, and joins: the item is the first's, and what joined it is hidden.
    other = form(lab, pros="Copper raised ethylene.")
    give_feedback(lab, "r2", other, Strategy(), at=AT, by="ana")
    (found,) = recall(lab.store, lab.nearness, "copper", "global", k_role=3, k_global=2,
                      for_run="r2")  # fmt: skip
    assert [lesson.run_id for lesson in found.item.lessons] == ["r1"]


def test_what_is_shown_is_the_projection_of_the_role_with_its_version(lab: Laboratory) -> None:
    item = note(lab, "Copper raised ethylene.", extra={"solvent": "water"})
    with lab.store.writing(AT, "bo") as writing:
        save_template(
            writing,
            "mof_expert",
            "{{ content }} In {{ extra.solvent }}{{ extra.no }}{{ extra.recipe.M1 }}.",
        )
    found = {
        role: recall(lab.store, lab.nearness, "copper", role, k_role=1, k_global=1)[0]
        for role in ("mof_expert", "tio2_expert")
    }
    assert found["mof_expert"].text == "Copper raised ethylene. In water."
    assert found["mof_expert"].template_version == 1
    assert found["tio2_expert"].text == f"mem:{item} (note)\nCopper raised ethylene."
    assert (found["tio2_expert"].template_version, found["tio2_expert"].version) == (0, 1)


@pytest.mark.parametrize(("question", "role"), [("copper", "nobody"), (" ", "global")])
def test_a_question_that_cannot_be_asked_is_refused(
    lab: Laboratory, question: str, role: str
) -> None:
    with pytest.raises(UsageError):
        recalled(lab, question, role)


def test_experience_opens_nothing_of_python(lab: Laboratory) -> None:
    with pytest.raises(UsageError, match="cannot be used"), lab.store.writing(AT, "bo") as writing:
        save_template(writing, "global", "{{ content.__class__.__mro__ }}")


@pytest.fixture(scope="module")
def nearness() -> Iterator[Nearness]:
    """Sameness by the models that the package brings."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "lab.sqlite", replay_events)
        yield Nearness(shipped_settings(), store)


def merged(nearness: Nearness, pairs: list[tuple[str, str]], **second: Any) -> int:
    """Return how many pairs become one item."""
    find = nearness.finder([text for pair in pairs for text in pair])
    count = 0
    for one, other in pairs:
        lesson = Lesson("l", "x", "r", "global", "success", "", "", other, {})
        item = Item("i", "global", "success", "reasoningbank_item", "active", "", "", one, {}, (),
                    "", "", 1)  # fmt: skip
        item = replace(item, **second)
        count += find(lesson, [item]) is not None
    return count


@pytest.mark.model
def test_two_hundred_contradictions_are_never_merged(nearness: Nearness) -> None:
    pairs = contradictions(200)
    assert (len(set(pairs)), merged(nearness, pairs)) == (200, 0)


@pytest.mark.model
def test_of_a_hundred_paraphrases_seventy_are_merged(nearness: Nearness) -> None:
    pairs = paraphrases(100)
    assert merged(nearness, pairs) >= 70
    assert merged(nearness, pairs, kind="failure") == 0
    assert merged(nearness, pairs, role="mof_expert") == 0


SHARED = Path(os.environ.get("RAG_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))


@pytest.mark.model
def test_a_word_for_another_is_the_same_by_its_meaning_and_for_the_reader(
    nearness: Nearness, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = "The {} sample was the most active one in three runs."

    def pair(one: str, other: str) -> tuple[str, str]:
        return sample.format(one), sample.format(other)

    assert merged(nearness, [pair("entire", "whole"), pair("heated", "warmed")]) == 2
    apart = [("exothermic", "endothermic"), ("second", "third"), ("anatase", "rutile"),
             ("adsorption", "desorption"), ("fluorescence", "phosphorescence")]  # fmt: skip
    assert merged(nearness, [pair(*words) for words in apart]) == 0
    monkeypatch.setattr("rag_assets.lab.recall._SUPPORTED", 9.0)
    assert merged(nearness, [pair("entire", "whole")]) == 0


@pytest.mark.model
@pytest.mark.skipif(not SHARED.is_dir(), reason=f"no {SHARED}; set RAG_SHARED_DATA")
def test_of_synonyms_of_others_two_fifths_are_merged(nearness: Nearness) -> None:
    pairs = read_pairs(SHARED / "entailment/open")["breaking_nli"]["SUPPORT"][FITTED:]
    assert merged(nearness, list(pairs)) >= 0.4 * len(pairs)


@pytest.mark.model
@pytest.mark.skipif(not SHARED.is_dir(), reason=f"no {SHARED}; set RAG_SHARED_DATA")
@pytest.mark.parametrize("place", [0, 1], ids=LEDGER_SETS)
def test_contradictions_of_others_are_never_merged(nearness: Nearness, place: int) -> None:
    """BreakingNLI, and SNLI edited by people; none of the pairs that thresholds were fitted on."""
    pairs = read_pairs(SHARED / "entailment/open")[LEDGER_SETS[place]]["REFUTE"]
    held_out = pairs[FITTED : FITTED + 200]
    assert (len(held_out), merged(nearness, held_out)) == (200, 0)
