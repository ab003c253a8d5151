"""The chunk editor in a browser: keys alone, the mouse, no script, two windows, hostile text."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from rag_assets.chunking.editing import DraftChunk, DraftEditor
from rag_assets.workspace import Namespace, Workspace
from rag_assets_tests.desk.browsing import another_window, hindrances, in_browser, open_desk
from rag_assets_tests.desk.chunk_library import HOSTILE, make_library
from rag_assets_tests.desk.served import Served

pytestmark = in_browser
# Each test has a document of its own: what one drafts no other sees.
NAMES = ("keys", "mouse", "scriptless", "windows", "unsaved", "quick")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return make_library(tmp_path_factory.mktemp("chunks"), NAMES)


@pytest.fixture
def namespace(workspace: Workspace) -> Namespace:
    return workspace.namespace("thesis")


@pytest.fixture(scope="module")
def opened(workspace: Workspace) -> Iterator[tuple[Page, Served]]:
    with open_desk(workspace) as (page, served):
        yield page, served


@pytest.fixture
def page(opened: tuple[Page, Served]) -> Page:
    return opened[0]


@pytest.fixture
def home(opened: tuple[Page, Served]) -> str:
    return opened[1].url


def editor(namespace: Namespace, name: str) -> DraftEditor:
    return DraftEditor(namespace, name, by="Bob")


def chunks(namespace: Namespace, name: str) -> tuple[DraftChunk, ...]:
    return editor(namespace, name).draft().chunks


def begin(page: Page, home: str, namespace: Namespace, name: str) -> None:
    """Open a document whose draft is begun."""
    editor(namespace, name).create()
    page.goto(f"{home}/library/thesis/{name}/chunks")


def seen_revision(page: Page, number: int) -> None:
    """Wait until a window shows a revision and nothing is on its way."""
    wanted = f"#chunk:not([aria-busy]) [data-seen^='{number}.']"
    expect(page.locator(wanted)).to_be_attached()


def shows(page: Page, key: str) -> None:
    """Wait until a chunk is shown and nothing is on its way."""
    expect(page.locator(f"#chunk:not([aria-busy]) [data-key-now='{key}']")).to_be_attached()


def shown_keys(page: Page) -> list[str]:
    keys: list[str] = page.eval_on_selector_all(
        "#chunklist li", "rows => rows.map((row) => row.dataset.chunk)"
    )
    return keys


def chosen(page: Page) -> str:
    return page.locator("#chunklist li[aria-current]").get_attribute("data-chunk") or ""


def test_keys_alone_do_every_operation(page: Page, home: str, namespace: Namespace) -> None:
    page.goto(f"{home}/library/thesis/keys/chunks")
    press = page.keyboard.press
    press("b")
    seen_revision(page, 1)
    cut = chunks(namespace, "keys")

    press("j")
    press("j")
    press("k")
    shows(page, cut[1].key)
    press("e")
    press("Control+End")
    page.keyboard.type(" 二氧化碳")
    press("Control+Enter")
    seen_revision(page, 2)
    assert chunks(namespace, "keys")[1].text == f"{cut[1].text} 二氧化碳"
    press("Escape")

    # At the cursor, counted in characters and not in halves of them.
    press("e")
    press("Control+Home")
    page.keyboard.type("\U0001f600 ")
    press("Control+Enter")
    seen_revision(page, 3)
    press("Control+Home")
    for _ in "\U0001f600 Stomata close":
        press("ArrowRight")
    press("Alt+Enter")
    seen_revision(page, 4)
    assert [c.text for c in chunks(namespace, "keys")[1:3]] == [
        "\U0001f600 Stomata close", f"{cut[1].text.removeprefix('Stomata close ')} 二氧化碳",
    ]  # fmt: skip
    press("Escape")
    press("m")
    seen_revision(page, 5)
    press("d")
    seen_revision(page, 6)
    assert not chunks(namespace, "keys")[1].is_enabled
    expect(page.locator("#chunklist li[aria-current]")).to_contain_text("left out")
    press("d")
    seen_revision(page, 7)
    press("J")
    seen_revision(page, 8)
    press("Alt+ArrowUp")
    seen_revision(page, 9)
    press("o")
    page.keyboard.type("4")
    press("Enter")
    seen_revision(page, 10)
    moved = chunks(namespace, "keys")[4]
    assert moved.text.startswith("\U0001f600")
    assert chosen(page) == moved.key
    press("Escape")
    other = next(c.parent_label for c in cut if c.parent_label != moved.parent_label)
    press("r")
    press("Control+a")
    page.keyboard.type(other)
    press("Enter")
    seen_revision(page, 11)
    assert chunks(namespace, "keys")[4].parent_label == other
    press("Escape")
    press("u")
    seen_revision(page, 12)
    assert chunks(namespace, "keys")[4].parent_label == moved.parent_label

    # Between sentences, where the cursor stands nowhere.
    two = next(c for c in chunks(namespace, "keys") if c.text.count(". ") == 1)
    press("/")
    page.keyboard.type(str(two.order))
    press("Enter")
    shows(page, two.key)
    press("Escape")
    press("s")
    expect(page.locator("#sentences button").first).to_be_focused()
    press("Enter")
    seen_revision(page, 13)
    assert shown_keys(page) == [chunk.key for chunk in chunks(namespace, "keys")]

    press("?")
    expect(page.get_by_text("undo the last operation")).to_be_visible()
    press("p")
    expect(page.get_by_role("heading", name="Publish the draft")).to_be_visible()
    expect(page.get_by_role("button", name="Publish")).to_be_focused()
    assert hindrances(page) == []


def test_keys_pressed_before_the_answer_wait_for_it(
    page: Page, home: str, namespace: Namespace
) -> None:
    begin(page, home, namespace, "quick")
    first = chunks(namespace, "quick")[0].key
    at_once = """(keys) => { for (const key of keys)
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })); }"""
    page.evaluate(at_once, ["J", "J", "J", "d", "j", "d"])
    seen_revision(page, 6)
    now = chunks(namespace, "quick")
    assert now[3].key == first
    assert [c.order for c in now if not c.is_enabled] == [3, 4]
    assert "Changed meanwhile" not in page.inner_text("main")
    assert shown_keys(page) == [chunk.key for chunk in now]
    # What follows the key that leads into the text is typed: `d` and `u` do nothing there.
    page.evaluate(at_once, ["j", "e", "d", "u"])
    expect(page.locator("#text")).to_have_value(f"du{now[5].text}")
    page.keyboard.press("Control+Enter")
    seen_revision(page, 7)
    assert chunks(namespace, "quick")[5].text == f"du{now[5].text}"


def test_a_chunk_is_dragged_to_another_place(page: Page, home: str, namespace: Namespace) -> None:
    begin(page, home, namespace, "mouse")
    keys = shown_keys(page)
    rows = page.locator("#chunklist li")
    rows.nth(0).drag_to(rows.nth(3), target_position={"x": 60, "y": 30})
    seen_revision(page, 2)
    rows.nth(4).drag_to(rows.nth(1), target_position={"x": 60, "y": 3})
    seen_revision(page, 3)
    wanted = [keys[1], keys[4], keys[2], keys[3], keys[0], *keys[5:]]
    assert [chunk.key for chunk in chunks(namespace, "mouse")] == wanted
    assert shown_keys(page) == wanted
    assert chosen(page) == keys[4]
    rows.nth(2).click()
    shows(page, keys[2])
    expect(page.locator("#source mark")).to_have_text(chunks(namespace, "mouse")[2].printed)


def test_without_a_script_it_is_read_and_edited(
    page: Page, opened: tuple[Page, Served], namespace: Namespace
) -> None:
    window = another_window(page, has_script=False)
    window.goto(opened[1].opened_at("/library/thesis/scriptless/chunks"))
    window.click("#create")
    window.locator("#chunklist a").nth(1).click()
    chunk = chunks(namespace, "scriptless")[1]
    expect(window.locator("#source mark")).to_have_text(chunk.printed)
    expect(window.locator("#text")).to_have_value(chunk.text)
    expect(window.locator("#split")).to_be_hidden()
    window.fill("#text", "Written without a script.")
    window.click("#save")
    expect(window.locator("#chunklist li[aria-current]")).to_contain_text("Written without")
    assert chunks(namespace, "scriptless")[1].text == "Written without a script."
    window.context.close()


def test_of_two_windows_the_second_is_told(
    page: Page, opened: tuple[Page, Served], home: str, namespace: Namespace
) -> None:
    begin(page, home, namespace, "windows")
    other = another_window(page)
    other.goto(opened[1].opened_at("/library/thesis/windows/chunks"))
    for window, said in ((page, "What one wrote."), (other, "What the other wrote.")):
        window.fill("#text", said)
        window.keyboard.press("Control+Enter")
        if window is page:
            seen_revision(page, 2)
    expect(other.get_by_role("alert").filter(has_text="Changed meanwhile.")).to_be_visible()
    expect(other.locator(".meanwhile")).to_contain_text("text edited · Ada")
    expect(other.locator(".sides")).to_contain_text("What one wrote.")
    expect(other.locator("#text")).to_have_value("What the other wrote.")
    expect(other.locator("#chunklist li").first).to_contain_text("What one wrote.")
    assert chunks(namespace, "windows")[0].text == "What one wrote."
    assert hindrances(other) == []
    # It was shown: now it may be overwritten, and the first is told when it goes on.
    other.keyboard.press("Control+Enter")
    seen_revision(other, 3)
    assert chunks(namespace, "windows")[0].text == "What the other wrote."
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator(".meanwhile")).to_contain_text("text edited · Ada")
    expect(page.locator("#chunklist li").first).to_contain_text("What the other wrote.")
    other.context.close()


def test_a_text_that_is_not_saved_is_not_lost(page: Page, home: str, namespace: Namespace) -> None:
    begin(page, home, namespace, "unsaved")
    page.fill("#text", "Typed and not saved.")
    page.keyboard.press("Escape")
    for key in ("j", "m", "u"):
        page.keyboard.press(key)
        expect(page.locator("#notice")).to_contain_text("not saved")
        page.keyboard.press("Escape")
    expect(page.locator("#text")).to_have_value("Typed and not saved.")
    page.locator("#chunklist li").nth(2).click()
    expect(page.locator("#text")).to_have_value("Typed and not saved.")
    page.keyboard.press("Control+Enter")
    seen_revision(page, 2)
    assert chunks(namespace, "unsaved")[0].text == "Typed and not saved."
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator("#notice")).to_be_hidden()


def test_hostile_text_is_text(page: Page, home: str, namespace: Namespace) -> None:
    begin(page, home, namespace, "hostile")
    expect(page.get_by_role("heading", level=1)).to_contain_text(HOSTILE)
    for _ in range(2):  # as it is printed, then as a person writes it
        page.keyboard.press("e")
        page.keyboard.press("Control+End")
        page.keyboard.type(f" {HOSTILE} </textarea></template></li>")
        page.keyboard.press("Control+Enter")
        expect(page.locator("#chunklist li[aria-current]")).to_contain_text("edited")
        page.keyboard.press("Escape")
    seen_revision(page, 3)
    assert chunks(namespace, "hostile")[0].text.endswith(f"{HOSTILE} </textarea></template></li>")
    assert page.title().startswith("Chunks: <img")
    assert page.locator("main img").count() == 0


def test_both_languages_without_hindrance(page: Page, home: str) -> None:
    page.goto(f"{home}/library/thesis/printed/chunks")
    if page.locator("#create").count():
        page.click("#create")
    for button, word in (("中文", "与下一个合并"), ("English", "Merge with the next")):
        page.get_by_role("button", name=button).click()
        expect(page.get_by_role("button", name=word)).to_be_visible()
        expect(page.locator("#source .pagepicture")).to_be_visible()
        assert hindrances(page) == []


def test_in_a_long_list_the_chosen_row_is_in_sight(
    page: Page, home: str, namespace: Namespace
) -> None:
    begin(page, home, namespace, "long")
    every = chunks(namespace, "long")
    rows = page.locator("#chunklist > li")
    expect(rows).to_have_count(len(every))
    page.goto(f"{home}/library/thesis/long/chunks?chunk={every[220].key}")
    expect(rows.nth(220)).to_be_in_viewport()
    for _ in range(3):
        page.keyboard.press("j")
    shows(page, every[223].key)
    expect(page.locator("#chunklist > [aria-current]")).to_have_id(f"c-{every[223].key}")
    expect(rows.nth(223)).to_be_in_viewport()
