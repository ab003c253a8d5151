"""The laboratory in a browser: the whole path, languages, keys alone, no script, two windows."""

import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from rag_assets.desk.rendering import COOKIE, translations
from rag_assets.lab import queue as working
from rag_assets.lab.experience import add_note, list_items
from rag_assets.lab.laboratory import Laboratory, open_laboratory
from rag_assets.lab.products import list_products
from rag_assets.lab.runs import list_runs, record_run
from rag_assets.lab.showing import events_after, read_queue, view_run
from rag_assets.workspace import Workspace
from rag_assets_tests.desk.browsing import hindrances, in_browser, open_desk
from rag_assets_tests.desk.laboratory.test_runs import model_run
from rag_assets_tests.desk.laboratory.visits import HOSTILE, WAIT_SECONDS, name_model
from rag_assets_tests.desk.served import Served
from rag_assets_tests.lab.laboratories import AT, put_run
from rag_assets_tests.lab.scripted_runs import SEARCH, ListModel, finish, propose

pytestmark = in_browser


class Gate:
    """Lets a model answer when a test says so."""

    def __init__(self) -> None:
        self._open = threading.Semaphore(0)
        self._answers = iter(())

    def plan(self, *answers: dict[str, Any]) -> None:
        """Say what is answered next; each waits until it is let."""
        self._answers = iter(answers)

    def let(self) -> None:
        """Let one answer go."""
        self._open.release()

    def answer(self, _: object) -> dict[str, Any]:
        assert self._open.acquire(timeout=WAIT_SECONDS)
        return next(self._answers)


@dataclass
class Opened:
    """A desk in a browser, its laboratory, and the gate of its model."""

    page: Page
    served: Served
    lab: Laboratory
    gate: Gate

    def go(self, path: str) -> None:
        self.page.goto(f"{self.served.url}{path}")

    def wait(self) -> None:
        for job in self.served.desk.jobs.running():
            assert job.wait(WAIT_SECONDS)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, library: Path) -> Iterator[Opened]:
    root = Path(shutil.copytree(library, tmp_path_factory.mktemp("browsed") / "lab"))
    name_model(root, ["unused"], roles={"extract": {"kind": "none"}})
    lab, gate = open_laboratory(Workspace.open(root)), Gate()
    model = ListModel(gate.answer)
    roles = ("orchestrator", "mof_expert", "tio2_expert")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(working, "_models", lambda lab, run: dict.fromkeys(roles, model))
        with open_desk(Workspace.open(root), "/lab") as (page, served):
            yield Opened(page, served, lab, gate)


def test_from_a_request_to_what_was_learned_and_back(opened: Opened) -> None:
    page, gate = opened.page, opened.gate
    gate.plan(SEARCH, propose("C1"), finish("R1", CuW="Too many vacancies."))
    opened.go("/lab")
    page.get_by_role("link", name="Ask for recipes").last.click()
    page.get_by_label("What is it to achieve?").fill("Ethylene, selectively.")
    page.get_by_role("button", name="Ask", exact=True).click()
    # Live, step by step.
    steps = page.get_by_role("list", name="Steps")
    expect(steps).to_contain_text("The run has begun.")
    gate.let()
    expect(steps).to_contain_text("search_principles")
    shown = steps.get_by_role("listitem").count()
    opened.served.cut()
    gate.let()
    expect(steps).to_contain_text("proposed R1")
    expect(steps).to_contain_text("Note, candidates")
    # Each step once, though the stream broke in between.
    (run,) = read_queue(opened.lab).runs
    happened = events_after(opened.lab, run.id)[0][-1]["seq"]
    assert happened > shown
    expect(steps.get_by_role("listitem")).to_have_count(happened)
    gate.let()
    # The end leads to the recipes.
    recipe = page.get_by_role("heading", name="1. CuMo-TiO2 / Zr-BTB, Cu:Mo = 2:1")
    expect(recipe).to_be_visible()
    expect(page.get_by_text("CuW: Too many vacancies.")).to_be_visible()
    page.locator(".cite").first.click()
    expect(page.get_by_text("TiO2 doped with copper and molybdenum").first).to_be_visible()
    page.get_by_role("link", name="Back to the run").click()
    page.get_by_role("link", name="Tell what it gave").click()
    page.get_by_label("Score", exact=True).fill("8.5")
    page.get_by_label("Product of row 1").select_option(label="C2H4")
    page.get_by_label("Value of row 1").fill("6")
    page.get_by_role("button", name="One more product").click()
    expect(page.get_by_label("Product of row 2")).to_be_focused()
    page.get_by_label("Product of row 2").select_option(label="CO")
    page.get_by_label("Value of row 2").fill("2")
    page.get_by_label("What was good").fill("Copper beside molybdenum raised ethylene.")
    page.get_by_role("button", name="Show the comparison first").click()
    expect(page.get_by_role("cell", name="0.750")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="What the feedback taught")).to_be_visible()
    item = page.get_by_role("link", name="Copper beside molybdenum raised ethylene.")
    address = item.get_attribute("href") or ""
    item.click()
    expect(page.get_by_text("learned of feedback")).to_be_visible()
    page.go_back()
    # An edit of the feedback takes back what it taught.
    page.get_by_role("link", name="Change the feedback").click()
    page.get_by_label("What was good").fill("Molybdenum alone did it.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("link", name="Molybdenum alone did it.")).to_be_visible()
    expect(page.get_by_text("taken back", exact=False).first).to_be_visible()
    opened.go(address)
    expect(page.get_by_text("It was rolled back")).to_be_visible()
    opened.wait()


@pytest.fixture(autouse=True)
def english(opened: Opened) -> None:
    """Each test begins in English, however the one before ended."""
    opened.page.context.clear_cookies(name=COOKIE)


@pytest.fixture(scope="module")
def filled(opened: Opened) -> Opened:
    """Runs, feedback and experience whose every text would harm a page that believed it."""
    lab = opened.lab
    with lab.store.writing(AT, HOSTILE) as writing:
        record_run(writing, model_run())
        add_note(writing, {"content": HOSTILE, "title": HOSTILE, "extra": {HOSTILE: HOSTILE}},
                 HOSTILE)  # fmt: skip
    put_run(lab, "keys")
    put_run(lab, "plain")
    return opened


def pages_of(opened: Opened) -> list[str]:
    with opened.lab.store.reading() as reading:
        (note,) = (one for one in list_items(reading) if one.type == "manual_note")
        made = next(run.id for run, _ in list_runs(reading) if run.trace is not None)
    view = view_run(opened.lab, made)
    events, printed = view.events, next(c for c, s in view.sources.items() if ".pdf" in s.name)
    asked, called = (
        next(event["seq"] for event in events if event["kind"] == kind)
        for kind in ("asked", "called")
    )
    return [
        "/lab", "/lab/runs", "/lab/runs/new", "/lab/runs/m1",
        "/lab/runs/m1/feedback", f"/lab/runs/{made}", f"/lab/runs/{made}/trace",
        f"/lab/runs/{made}/trace/{asked}", f"/lab/runs/{made}/trace/{called}",
        f"/lab/runs/{made}/report", f"/lab/runs/{made}/replay",
        f"/lab/passages/{printed}?run={made}",
        "/lab/history", "/lab/experience", "/lab/experience/log",
        "/lab/experience/new", f"/lab/experience/mem:{note.id}", "/lab/settings",
        "/lab/settings/presets", "/lab/settings/experience", "/lab/settings/comparison",
        "/lab/settings/recipes", "/lab/settings/language",
    ]  # fmt: skip


def test_every_page_in_both_languages_without_hindrance_and_with_hostile_text(
    filled: Opened,
) -> None:
    page = filled.page
    for language, word in (("中文", translations("zh").gettext("Queue")), ("English", "Queue")):
        filled.go("/lab")
        page.get_by_role("button", name=language).click()
        for path in pages_of(filled):
            filled.go(path)
            expect(page.get_by_role("link", name=word, exact=True)).to_be_visible()
            # The rules look at the same elements in both; each look takes a second.
            assert language == "English" or hindrances(page) == [], path
            assert page.title() != "taken", path
            assert page.locator("main img").count() == 0, path
    filled.go("/lab/runs/m1")
    expect(page.get_by_text(HOSTILE).first).to_be_visible()


def test_an_experiment_is_reported_by_keys_alone(filled: Opened) -> None:
    page = filled.page
    filled.go("/lab/runs/keys")
    page.keyboard.press("f")
    expect(page.get_by_label("Score", exact=True)).to_be_focused()
    page.keyboard.type("7.5")
    # Enter stores nothing: it shows what would come of it.
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="at least one product")).to_be_visible()
    # The page is another one, and shows its text before it gives a field the focus.
    expect(page.get_by_label("Score", exact=True)).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Product of row 1")).to_be_focused()
    page.keyboard.type("C2")
    page.keyboard.press("Tab")
    page.keyboard.type("6")
    while page.evaluate("document.activeElement.value") != "save":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="What the feedback taught")).to_be_visible()
    expect(page.get_by_role("rowheader", name="C2H4", exact=True)).to_be_visible()
    filled.wait()


@contextmanager
def second_window(opened: Opened, **options: Any) -> Iterator[Page]:
    browser = opened.page.context.browser
    assert browser is not None
    context = browser.new_context(**options)
    other = context.new_page()
    other.goto(opened.served.opened_at("/lab"))
    yield other
    context.close()


def test_reading_and_reporting_need_no_script(filled: Opened) -> None:
    base = filled.served.url
    with second_window(filled, java_script_enabled=False) as page:
        page.goto(f"{base}/lab/runs/m1")
        expect(
            page.get_by_role("heading", name="Not supported with certainty").first
        ).to_be_visible()
        page.goto(f"{base}/lab/runs/plain/feedback")
        page.get_by_label("Score", exact=True).fill("5")
        page.get_by_label("Product of row 1").select_option(label="CO")
        page.get_by_label("Value of row 1").fill("1")
        page.get_by_role("button", name="One more product").click()
        expect(page.get_by_label("Product of row 2")).to_be_visible()
        page.get_by_role("button", name="Remove row 2").click()
        expect(page.get_by_label("Product of row 2")).to_have_count(0)
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("heading", name="What the feedback taught")).to_be_visible()
    filled.wait()


def test_of_two_windows_on_one_item_the_second_is_told(filled: Opened) -> None:
    with filled.lab.store.writing(AT, "ana") as writing:
        item = add_note(writing, {"content": "As it was."})
    path = f"/lab/experience/mem:{item.id}"
    first = filled.page
    filled.go(path)
    with second_window(filled) as second:
        second.goto(f"{filled.served.url}{path}")
        for window, text in ((first, "Of the first."), (second, "Of the second.")):
            window.keyboard.press("e")
            window.get_by_label("Text", exact=True).fill(text)
            window.get_by_role("button", name="Save").click()
        told = second.get_by_role("alert").filter(has_text="As it was.")
        expect(told).to_contain_text("Of the first.")
        expect(second.get_by_label("Text", exact=True)).to_have_value("Of the second.")
        second.get_by_role("button", name="Save").click()
        expect(second.locator("p.quote").first).to_have_text("Of the second.")
        assert re.search(r"Of the first\..*Of the second\.", second.inner_text("main"), re.DOTALL)


def test_products_are_set_up_and_a_set_fills_a_form(filled: Opened) -> None:
    page = filled.page
    filled.go("/lab/settings")
    page.get_by_label("Name of a new product").fill("CH3OH")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_label("Name of CH3OH")).to_be_visible()
    filled.go("/lab/settings/presets")
    page.get_by_label("CH3OH").check()
    page.get_by_label("CO", exact=True).check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("group", name="CH3OH + CO")).to_be_visible()
    filled.go("/lab/runs/m1/feedback")
    page.get_by_role("button", name="Take this set").click()
    expect(page.get_by_label("Value of row 1")).to_be_focused()
    names = {one.id: one.name for one in products(filled)}
    chosen = [names[each.input_value()] for each in page.get_by_label("Product of row").all()]
    assert sorted(chosen) == ["CH3OH", "CO"]


def products(opened: Opened) -> list[Any]:
    with opened.lab.store.reading() as reading:
        return list_products(reading)
