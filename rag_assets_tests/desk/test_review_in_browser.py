"""The review page in a browser, on the draft of the samples: keys alone, no script, two windows."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from rag_assets.auditing.judgements import judgements_of
from rag_assets.workspace import Workspace
from rag_assets_tests.desk.browsing import another_window, hindrances, in_browser, open_desk
from rag_assets_tests.desk.served import Served
from rag_assets_tests.libraries import HASHING, build, make_workspace
from rag_assets_tests.reviewing.drafts import DAY

pytestmark = in_browser
SAMPLES = Path(__file__).parents[2] / "samples"
NAME = "thesis-chapter-2.md"
PAGE = f"/review/{NAME}"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Page, Served]]:
    settings = {**HASHING, "verify": {"scorer": "facts"}}
    workspace = make_workspace(tmp_path_factory.mktemp("desk") / "library", {}, settings)
    for folder in ("raw/evidence", "drafts"):
        shutil.copytree(SAMPLES / folder, workspace.root / folder, dirs_exist_ok=True)
    build(workspace.namespace("thesis"))
    with open_desk(workspace) as (page, served):
        served.desk.reviews.keep(served.desk.library, NAME, as_of=DAY)
        yield page, served


@pytest.fixture
def served(opened: tuple[Page, Served]) -> Served:
    return opened[1]


@pytest.fixture
def workspace(served: Served) -> Workspace:
    """The workspace with the draft of the samples and no judgement."""
    workspace = served.desk.workspace
    shutil.copyfile(SAMPLES / "drafts" / NAME, workspace.drafts / NAME)
    workspace.judgement_journal.unlink(missing_ok=True)
    return workspace


@pytest.fixture
def page(opened: tuple[Page, Served], workspace: Workspace) -> Page:
    page, served = opened
    page.goto(served.url + PAGE)
    expect(place(page)).to_contain_text("1 of")
    return page


def place(page: Page) -> Locator:
    return page.locator("#item [role=status]").first


def press(page: Page, key: str, then: str) -> None:
    """Press a key and wait until the place says `then`."""
    page.keyboard.press(key)
    expect(place(page)).to_contain_text(then)


def decisions(workspace: Workspace) -> list[str]:
    return [one.decision for one in judgements_of(workspace).every]


def test_a_draft_is_judged_by_keys_alone(page: Page, workspace: Workspace) -> None:
    press(page, "j", "2 of 23, 23 open")
    press(page, "k", "1 of 23, 23 open")
    press(page, "a", "2 of 23, 22 open")
    page.reload()
    expect(place(page)).to_contain_text("2 of 23, 22 open")
    expect(page.locator("#draft .flag").first).to_contain_text("✓")
    press(page, "w", "3 of 23, 21 open")
    page.keyboard.press("c")
    page.keyboard.type("says it of rooms, j k n")
    page.keyboard.press("Escape")
    press(page, "x", "4 of 23, 20 open")
    press(page, "k", "3 of 23")
    expect(page.locator("#item .person")).to_contain_text("needs work")
    expect(page.locator("#item q").first).to_have_text("says it of rooms, j k n")
    press(page, "z", "3 of 23, 21 open")
    expect(page.locator("#item .person")).to_have_count(0)
    press(page, "n", "4 of 23, 21 open")
    kept = judgements_of(workspace).every
    assert [one.decision for one in kept] == ["supported", "unsupported", "needs_work", "withdrawn"]
    assert (kept[2].comment, kept[2].by) == ("says it of rooms, j k n", "Ada")


def test_what_is_typed_into_a_field_decides_nothing(page: Page, workspace: Workspace) -> None:
    words = page.locator("#words")
    # Twice: a browser gives the focus to a field that opens once a page.
    for typed, then in (("PS and BOP", "2 of"), ("a w x s u", "3 of")):
        page.keyboard.press("o")
        page.keyboard.type(typed)  # at once, as one types; the panel is still on its way
        expect(words).to_have_value(typed)
        page.keyboard.press("Enter")
        page.keyboard.type(" a")
        expect(page.locator("#item")).not_to_have_attribute("aria-busy", "true")
        page.keyboard.press("Escape")
        press(page, "j", f"{then} 23, 23 open")
    page.keyboard.press("e")
    page.keyboard.type("a w x ")
    expect(page.locator("#after")).to_have_value(re.compile("a w x "))
    page.keyboard.press("Escape")
    assert decisions(workspace) == []


def test_a_key_counts_for_what_is_shown(page: Page, workspace: Workspace) -> None:
    # The second is pressed before the next item is there to be seen.
    page.keyboard.type("aa")
    expect(place(page)).to_contain_text("2 of 23, 22 open")
    page.reload()
    assert decisions(workspace) == ["supported"]


def test_the_evidence_is_marked_on_the_page_of_the_source(page: Page) -> None:
    expect(page.locator("#picture .evidence").first).to_be_visible()
    press(page, "j", "2 of 23")
    mark, window = page.locator("#picture .evidence").first, page.locator("#picture")
    expect(mark).to_be_visible()
    around, inside = window.bounding_box(), mark.bounding_box()
    assert around is not None
    assert inside is not None
    assert around["y"] <= inside["y"] <= around["y"] + around["height"]
    is_drawn = "image => new Promise(done => { const i = new Image(); i.onload = () => done(true);"
    loaded = page.locator("#picture image").evaluate(
        is_drawn + " i.onerror = () => done(false); i.src = image.href.baseVal; })"
    )
    assert loaded


def test_the_draft_follows_the_item(page: Page) -> None:
    expect(page.locator("#draft ol.list")).to_be_visible()
    page.keyboard.press("v")
    expect(page.locator("#draft .block").first).to_be_visible()
    first = page.locator("#draft [aria-current]").inner_text()
    press(page, "j", "2 of 23")
    expect(page.locator("#draft [aria-current]")).not_to_have_text(first)
    assert page.locator("#draft [aria-current]").count() == 1
    page.keyboard.press("v")
    expect(page.locator("#draft ol.list")).to_be_visible()


def test_another_passage_is_chosen_by_keys(page: Page, workspace: Workspace) -> None:
    page.keyboard.press("o")
    expect(page.locator("#words")).to_be_focused()
    page.keyboard.type("questionnaire")
    page.keyboard.press("Enter")
    expect(page.locator("#item ol.list li")).to_have_count(3)
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    expect(page.locator("#item")).to_contain_text("Chosen passage")
    expect(page.locator("#picture .evidence").first).to_be_visible()
    press(page, "a", "2 of 23, 22 open")
    (kept,) = judgements_of(workspace).every
    assert kept.chosen is not None
    assert "questionnaire" in kept.chosen.text


def test_a_sentence_is_edited_by_keys_and_judged_again(page: Page, workspace: Workspace) -> None:
    page.keyboard.press("e")
    field = page.locator("#after")
    expect(field).to_be_focused()
    field.press("Control+a")
    page.keyboard.type("The harbour <b>was</b> 58.3 °C warm {#green-roofs-2024}.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("The new revision is written")
    expect(page.locator("#item blockquote").first).to_contain_text("<b>was</b> 58.3 °C")
    assert "The harbour <b>was</b> 58.3" in (workspace.drafts / NAME).read_text(encoding="utf-8")


def test_two_windows_the_second_judgement_is_told(
    page: Page, served: Served, workspace: Workspace
) -> None:
    other = another_window(page)
    other.goto(served.opened_at(PAGE))
    expect(place(other)).to_contain_text("1 of")
    press(page, "a", "2 of 23, 22 open")
    other.keyboard.press("w")
    expect(other.locator("#notice")).to_contain_text("Ada has judged this citation meanwhile")
    expect(place(other)).to_contain_text("1 of")
    other.context.close()
    assert decisions(workspace) == ["supported"]


def test_without_a_script_it_is_read_and_judged(
    page: Page, served: Served, workspace: Workspace
) -> None:
    plain = another_window(page, has_script=False)
    plain.goto(served.opened_at(PAGE))
    plain.get_by_role("link", name="Page of the source").click()
    expect(plain.locator("#picture .evidence").first).to_be_visible()
    plain.get_by_label("Comment").fill("by hand")
    plain.get_by_role("button", name="Needs work").click()
    expect(place(plain)).to_contain_text("2 of 23, 22 open")
    plain.get_by_role("link", name="Next", exact=False).first.click()
    expect(place(plain)).to_contain_text("3 of 23")
    plain.get_by_role("link", name="Other passage").click()
    expect(plain.get_by_role("heading", name="Passages of the source")).to_be_visible()
    plain.context.close()
    assert decisions(workspace) == ["needs_work"]


def test_both_languages_without_hindrance(page: Page) -> None:
    for name, heading in (("中文", "来源段落"), ("English", "Passage of the source")):
        page.get_by_role("button", name=name).click()
        expect(page.locator("#item .where")).to_contain_text(heading)
        assert hindrances(page) == []
        for key in ("?", "o"):
            page.keyboard.press(key)
        expect(page.locator("#words")).to_be_visible()
        assert hindrances(page) == []
    page.goto(page.url.split("/review")[0] + "/review")
    assert hindrances(page) == []


def test_after_a_judgement_the_next_item_has_the_focus_and_clicks_leave_the_keys(
    page: Page,
) -> None:
    page.get_by_role("button", name="Needs work").click()
    expect(place(page)).to_contain_text("2 of 23, 22 open")
    expect(page.locator("#item")).to_be_focused()
    press(page, "a", "3 of 23, 21 open")
    for clicked in ("#draft a.said >> nth=5", "#picture", "h1", "summary[data-key]"):
        page.click(clicked)
        expect(page.locator("[aria-busy=true]")).to_have_count(0)
        press(page, "n", "7 of 23")
        press(page, "k", "6 of 23")


def test_what_decides_is_above_the_fold_and_in_order_on_a_phone(page: Page) -> None:
    parts = [".quote", ".cited", "mark", "#picture .evidence"]
    for width, height in ((1400, 900), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        page.reload()
        expect(page.locator("#picture .evidence").first).to_be_visible()
        boxes = [page.locator(f"#item {one}").first.bounding_box() for one in parts]
        tops = [box["y"] for box in boxes if box is not None]
        assert len(tops) == len(parts)
        bar = page.locator("#decide").bounding_box()
        assert bar is not None
        assert max(tops) < min(bar["y"], height) if width > 1000 else tops == sorted(tops)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
