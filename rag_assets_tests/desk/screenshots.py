"""Make the desk's pictures in docs/images/ anew: `python -m rag_assets_tests.desk.screenshots`.

The workspace is made of samples/, as the demo is, with word vectors instead of models.
"""

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect

from rag_assets.desk.state import Jobs
from rag_assets.workspace import Workspace
from rag_assets_tests.desk.laboratory.visits import make_library
from rag_assets_tests.desk.served import serve_desk
from rag_assets_tests.e2e.browsing import browse
from rag_assets_tests.libraries import build, make_workspace

REPOSITORY = Path(__file__).parents[2]
IMAGES = REPOSITORY / "docs/images"
QUESTION = "Do reflective coatings on asphalt make pedestrians feel cooler or hotter at noon?"
VIEW = {"width": 1500, "height": 940}


def main() -> None:
    """Build, serve, look, save."""
    raw = REPOSITORY / "samples/raw"
    files: dict[str, str | bytes] = {
        path.relative_to(raw).as_posix(): path.read_bytes()
        for path in raw.rglob("*")
        if path.is_file()
    }
    with tempfile.TemporaryDirectory() as folder:
        workspace = make_workspace(Path(folder) / "demo", files)
        build(workspace.namespace("thesis"))
        shutil.copytree(REPOSITORY / "samples/drafts", workspace.drafts, dirs_exist_ok=True)
        shutil.copy(REPOSITORY / "samples/memo.md", workspace.drafts)
        with serve_desk(workspace) as served, browse() as page:
            page.set_viewport_size(VIEW)
            page.goto(served.opened_at("/"))
            take_pictures(page, served.url, served.desk.jobs)
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.open(make_library(Path(folder) / "lab"))
        with serve_desk(workspace) as served, browse() as page:
            page.set_viewport_size(VIEW)
            page.goto(served.opened_at("/lab/runs/new"))
            take_pictures_of_laboratory(page)
            assert served.desk.jobs.running() == []


def take_pictures(page: Page, url: str, jobs: Jobs) -> None:
    """Save the pictures."""
    page.goto(f"{url}/review/memo.md")
    page.get_by_role("button", name="Check the citations").click()
    page.wait_for_url("**/review/**")
    for language, name in (("zh", "desk-review-zh.png"), ("en", "desk-review.png")):
        page.locator(f"[name=language][value={language}]").click()
        _settle(page)
        page.screenshot(path=IMAGES / name)

    page.goto(f"{url}/ask")
    page.fill("#question", QUESTION)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.wait_for_url("**/ask/answer_v*")
    page.keyboard.press("1")
    expect(page.locator("#passage svg")).to_be_visible()
    _settle(page)
    page.screenshot(path=IMAGES / "desk-ask.png")

    page.goto(f"{url}/library/thesis")
    _settle(page)
    page.screenshot(path=IMAGES / "desk-library.png")

    page.goto(f"{url}/library/thesis/green-roofs-2024/chunks")
    page.keyboard.press("b")
    for _ in range(2):
        page.keyboard.press("j")
    _settle(page)
    page.screenshot(path=IMAGES / "desk-chunks.png")
    assert jobs.running() == []


def take_pictures_of_laboratory(page: Page) -> None:
    """Save the pictures of a run by rules and of the feedback on it."""
    page.fill("#text", "A recipe for ethylene from CO2, with high selectivity")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("article.recipe")).to_be_visible()
    _settle(page)
    page.screenshot(path=IMAGES / "desk-lab.png")

    page.keyboard.press("f")
    page.get_by_label("Score", exact=True).fill("7.5")
    for row, (name, value) in enumerate((("C2H4", "6"), ("CO", "2")), start=1):
        page.get_by_label(f"Product of row {row}").select_option(label=name)
        page.get_by_label(f"Value of row {row}").fill(value)
        if row == 1:
            page.get_by_role("button", name="One more product").click()
    page.get_by_label("What was good").fill("Copper beside molybdenum raised ethylene.")
    page.get_by_role("button", name="Show the comparison first").click()
    _settle(page)
    page.screenshot(path=IMAGES / "desk-lab-feedback.png")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="What the feedback taught")).to_be_visible()


def _settle(page: Page) -> None:
    """Wait until everything that was asked for has been loaded and put in its place."""
    page.wait_for_load_state("networkidle")
    expect(page.locator("[aria-busy=true]")).to_have_count(0)


if __name__ == "__main__":
    main()
