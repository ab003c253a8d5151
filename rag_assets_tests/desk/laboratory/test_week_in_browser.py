"""A chemist's week in a browser, wide and narrow, in both languages: what is seen on each page."""

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from rag_assets.desk.rendering import COOKIE, Language, translations
from rag_assets.lab.feedback import find_report, outdated_parts
from rag_assets.lab.importing import import_experiments, read_sheet
from rag_assets.lab.laboratory import Laboratory, open_laboratory
from rag_assets.lab.recipes import formula, show_rules
from rag_assets.lab.runs import list_runs
from rag_assets.lab.showing import TraceStep, view_run
from rag_assets.model import HAN
from rag_assets.workspace import Workspace
from rag_assets_tests.desk.browsing import in_browser, open_desk
from rag_assets_tests.desk.laboratory.visits import ASKED
from rag_assets_tests.desk.served import Served
from rag_assets_tests.lab.bases import PAPERS
from rag_assets_tests.lab.laboratories import AT, PRODUCTS

pytestmark = in_browser
SHEET = (
    "catalyst,modifier,C2H4,CO,score,date\nCu0.5Mo1.5-TiO2,甘氨酸,{},1,5,2024-05-31\n"
    "MoCu-TiO2,glycine,2,1,4,\n"
)
GOOD = "Copper and molybdenum with glycine raised ethylene."
# What stands beyond the right edge, and in no box that scrolls by itself.
BEYOND = """() => [...document.querySelectorAll("body *")].filter((each) => {
  const box = each.getBoundingClientRect();
  if (!box.width || box.right <= innerWidth + 1) return false;
  for (let up = each; up; up = up.parentElement)
    if (["auto", "scroll"].includes(getComputedStyle(up).overflowX) || up.matches(".skip, .unseen"))
      return false;
  return true;
}).map((each) => each.outerHTML.slice(0, 200))"""
SHOWN = """() => {
  const found = [document.title.split(" · ")[0]];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const parent = walk.currentNode.parentElement;
    const is_kept = parent.closest("script, noscript, code, pre, textarea, kbd, .language");
    if (!is_kept) found.push(walk.currentNode.data);
  }
  for (const each of document.querySelectorAll("[aria-label], [placeholder]"))
    found.push(each.getAttribute("aria-label") || each.placeholder);
  return found;
}"""


class Week:
    """One week: a window of a width, in a language."""

    def __init__(self, page: Page, served: Served, lab: Laboratory, language: Language) -> None:
        self.page, self.served, self.lab = page, served, lab
        self.say = translations(language).gettext

    def go(self, path: str) -> None:
        self.page.goto(f"{self.served.url}{path}")

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=self.say(name), exact=True).click()

    def ask(self, text: str) -> str:
        """Ask for recipes by the form; return the run's id."""
        self.go("/lab/runs/new")
        self.page.get_by_label(self.say("What is it to achieve?")).fill(text)
        self.press("Ask")
        expect(self.page.locator("article.recipe").first).to_be_visible()
        return self.page.url.rpartition("/")[2]

    def measure(self, *values: tuple[str, str]) -> None:
        """Type the measured values; a row is added for each after the first."""
        for row, (name, value) in enumerate(values):
            if row:
                self.press("One more product")
                expect(self.page.locator("[name=value]")).to_have_count(row + 1)
            self.page.locator("[name=product]").nth(row).select_option(label=name)
            self.page.locator("[name=value]").nth(row).fill(value)

    def shares(self) -> list[str]:
        return self.page.locator(".share").all_inner_texts()


def data_of(lab: Laboratory) -> str:
    """Return what is data or a program's record, which no page translates."""
    strings = [ASKED, *PAPERS.values(), *PRODUCTS, *show_rules(()), "English"]

    def collect(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            for key, each in value.items():
                yield from (key, *collect(each))
        elif isinstance(value, list):
            for each in value:
                yield from collect(each)
        else:
            yield str(value)

    def titles(steps: Sequence[TraceStep]) -> Iterator[str]:
        for step in steps:
            yield from (step.title, *titles(step.children))

    for line in lab.store.export():
        strings += collect(json.loads(line))
    with lab.store.reading() as reading:
        runs = [run for run, _ in list_runs(reading)]
        reports = [report for run in runs if (report := find_report(reading, run.id))]
        strings += [told for one in reports for told in outdated_parts(reading, one)]
    for run in runs:
        view = view_run(lab, run.id)
        strings += [*map(formula, run.recipes), *titles(view.tree), *collect(list(view.events))]
        strings += [one.label for one in view.sources.values()]
    return "\n".join(" ".join(one.split()) for one in strings)


def is_data(text: str, data: str) -> bool:
    """Say whether a text without Chinese is made of data alone, each part of it."""
    parts = re.split(r" · | ·$|: |; |, |/p-|characters \d+–\d+|^\d+\. |^\(| \(", text)
    return all(part in data for part in parts)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [1400, 390])
def test_a_week_of_a_chemist(width: int, language: Language, library: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(library, tmp_path / "lab"))
    lab = open_laboratory(Workspace.open(root))
    with open_desk(Workspace.open(root), "/lab") as (page, served):
        page.set_viewport_size({"width": width, "height": 900})
        page.context.add_cookies([{"name": COOKIE, "value": language, "url": served.url}])
        week = Week(page, served, lab, language)
        visit_pages(week, live_a_week(week), tmp_path / "pictures")


def live_a_week(week: Week) -> list[str]:
    """Go through the week; return the addresses of its pages."""
    page, say = week.page, week.say
    run_id = week.ask(ASKED)
    # What the experiment gave, with its fractions while they are typed.
    page.get_by_role("link", name=re.compile(say("Tell what it gave"))).click()
    page.get_by_label(say("Score"), exact=True).fill("8")
    week.measure(("C2H4", "6"), ("CO", "2"))
    expect(page.locator(".share").first).to_have_text("0.750")
    assert week.shares() == ["0.750", "0.250"]
    for typed, shown in (("x", "–"), ("1e308", "1.000"), ("0", "0.000"), ("14", "0.875")):
        page.locator("[name=value]").first.fill(typed)
        assert week.shares()[0] == shown
    page.locator("[name=value]").last.fill("0")
    page.locator("[name=value]").first.fill("0")
    expect(page.get_by_text(say("All values are 0: every fraction is 0."))).to_be_visible()
    page.locator("[name=value]").first.fill("15")
    page.locator("[name=value]").last.fill("1")
    # A tie is rounded as the page itself does.
    assert week.shares() == ["0.938", "0.062"]
    page.locator("#pros").fill("Molybdenum alone did it.")
    week.press("Save")
    report = f"/lab/runs/{run_id}/report"
    page.wait_for_url(f"**{report}")
    page.locator("#learned ~ ul a").first.click()
    first_lesson = page.url.removeprefix(week.served.url)
    # The chemist reads it and thinks again: the lesson is another one.
    week.go(f"/lab/runs/{run_id}/feedback")
    assert week.shares() == ["0.938", "0.062"]
    page.locator("#pros").fill(GOOD)
    week.press("Save")
    expect(page.get_by_role("link", name=GOOD)).to_be_visible()
    week.go(first_lesson)
    expect(page.locator(".facts .badge")).to_have_text(say("rolled back"))
    # Older experiments of the same products arrive: the report says so, and is made again.
    settings = week.lab.workspace.settings.parse
    sheet = read_sheet("old.csv", SHEET.format(3).encode(), PRODUCTS, settings)
    stored = import_experiments(week.lab, sheet, at=AT, by="ana", learn=False)
    week.go(report)
    expect(page.get_by_text(say("What this report rests on has changed."))).to_be_visible()
    picture_of_report = page.url
    week.press("Make the report again")
    expect(page.get_by_role("heading", name=say("What the feedback taught"))).to_be_visible()
    expect(page.get_by_text(say("What this report rests on has changed."))).to_have_count(0)
    assert page.url == picture_of_report
    week.go("/lab/history")
    expect(page.locator("main")).to_contain_text("2024-05-31")
    expect(page.locator("main")).to_contain_text("2026-03-01")
    # The next request is told the lesson.
    again = week.ask("A recipe with copper, molybdenum and glycine for ethylene.")
    expect(page.locator(".basis-experience").first).to_be_visible()
    page.locator("a.cite[title^='mem:']").first.click()
    expect(page.locator("main")).to_contain_text(GOOD)
    lesson = page.url.removeprefix(week.served.url)
    week.go(f"/lab/runs/{again}")
    cited = page.locator("a.cite[title^='kb:']").first.get_attribute("href") or ""
    # A year later another one makes the report old once more.
    sheet = read_sheet("new.csv", SHEET.format(4).encode(), PRODUCTS, settings)
    import_experiments(week.lab, sheet, at=AT, by="ana", learn=False)
    trace = f"/lab/runs/{run_id}/trace"
    return [
        "/lab", "/lab/runs", "/lab/runs/new", f"/lab/runs/{run_id}", f"/lab/runs/{again}",
        f"/lab/runs/{stored.runs[0]}", f"/lab/runs/{run_id}/feedback", report, trace,
        f"{trace}/3", f"/lab/runs/{run_id}/replay", cited, lesson, first_lesson, "/lab/history",
        "/lab/experience", "/lab/experience?role=global&question=ethylene", "/lab/experience/log",
        "/lab/experience/new", "/lab/settings", "/lab/settings/presets",
        "/lab/settings/experience", "/lab/settings/comparison", "/lab/settings/recipes",
        "/lab/settings/language",
    ]  # fmt: skip


def visit_pages(week: Week, addresses: list[str], pictures: Path) -> None:
    """Open each page, take its picture, and look for what hinders or is not translated."""
    page, faults, data = week.page, list[str](), data_of(week.lab)
    pictures.mkdir()
    for number, address in enumerate(addresses):
        week.go(address)
        name = re.sub(r"\W+", "-", address)[:60]
        page.screenshot(path=pictures / f"{number:02}{name}.png", full_page=True)
        wide = page.evaluate("document.scrollingElement.scrollWidth > innerWidth")
        beyond = page.evaluate(BEYOND)
        if wide or beyond:
            faults.append(f"{address} scrolls sideways: {beyond[:3]}")
        if week.say("Queue") != "Queue":
            for text in page.evaluate(SHOWN):
                plain = " ".join(text.split())
                is_english = re.search(r"[A-Za-z]{3}", plain) and not HAN.search(plain)
                if is_english and not is_data(plain, data):
                    faults.append(f"{address} is not translated: {plain}")
    assert not faults, "\n".join(faults)
