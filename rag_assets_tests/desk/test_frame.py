"""What all pages have: languages, keys, streams of work, no hindrance; in a browser."""

import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from rag_assets.desk import Desk
from rag_assets.desk.state import Job
from rag_assets.model import UsageError
from rag_assets_tests.desk.browsing import hindrances, in_browser, open_desk
from rag_assets_tests.desk.served import Served
from rag_assets_tests.libraries import make_workspace

pytestmark = in_browser
HOSTILE = "<img src=x onerror=document.title='taken'>"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Page, Served]]:
    workspace = make_workspace(tmp_path_factory.mktemp("desk") / "library", {})
    workspace.drafts.mkdir(exist_ok=True)
    (workspace.drafts / f"{HOSTILE}.md").write_text("Text.\n")
    with open_desk(workspace) as (page, served):
        yield page, served


@pytest.fixture
def served(opened: tuple[Page, Served]) -> Served:
    return opened[1]


@pytest.fixture
def desk(served: Served) -> Desk:
    return served.desk


@pytest.fixture
def page(opened: tuple[Page, Served]) -> Page:
    page, served = opened
    page.goto(served.url)
    return page


class Conversation:
    """Work that says what a test hands it."""

    def __init__(self, desk: Desk, result: str = "/") -> None:
        self._said = threading.Semaphore(0)
        self._sentences: list[str | None] = []
        self._result = result
        self.job = desk.jobs.start("talk", self._talk)

    def say(self, sentence: str | None) -> None:
        """Let the work say a sentence; None ends it."""
        self._sentences.append(sentence)
        self._said.release()

    def _talk(self, job: Job) -> str:
        while True:
            self._said.acquire()
            sentence = self._sentences.pop(0)
            if sentence is None:
                return self._result
            if sentence == "trouble":
                raise UsageError("there is trouble.")
            job.tell(sentence)


def test_both_languages_without_hindrance(page: Page) -> None:
    for button, heading in (("中文", "草稿"), ("English", "Drafts")):
        page.get_by_role("button", name=button).click()
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
        assert hindrances(page) == []


def test_a_hostile_name_is_text(page: Page) -> None:
    expect(page.get_by_role("link", name=HOSTILE)).to_be_visible()
    assert "taken" not in page.title()


def test_work_is_followed_live_and_leads_to_its_result(page: Page, desk: Desk) -> None:
    talk = Conversation(desk, "/health")
    talk.say("first")
    page.goto(f"{page.url}work/{talk.job.key}")
    for sentence in ("second", HOSTILE):
        talk.say(sentence)
        expect(page.get_by_role("listitem").filter(has_text=sentence)).to_be_visible()
    assert page.locator("ol.steps li").all_inner_texts() == ["first", "second", HOSTILE]
    assert hindrances(page) == []
    talk.say(None)
    page.wait_for_url("**/health")


def test_a_stream_that_broke_goes_on_where_it_was(page: Page, served: Served) -> None:
    talk = Conversation(served.desk)
    home = page.url
    page.goto(f"{home}work/{talk.job.key}")
    talk.say("before")
    expect(page.locator("ol.steps li")).to_have_text(["before"])
    # A stream that ends without saying so, as a server that stops: the browser connects again.
    with page.expect_request("**/stream*") as again:
        served.cut()
    talk.say("after")
    expect(page.locator("ol.steps li")).to_have_text(["before", "after"])
    assert again.value.all_headers()["last-event-id"] == "1"
    talk.say(None)
    page.wait_for_url(home)


def test_work_that_fails_says_why_and_cancelled_work_ends(page: Page, desk: Desk) -> None:
    home = page.url
    talk = Conversation(desk)
    page.goto(f"{home}work/{talk.job.key}")
    talk.say("trouble")
    expect(page.locator("p.trouble")).to_have_text("there is trouble.")
    other = Conversation(desk)
    page.goto(f"{home}work/{other.job.key}")
    with page.expect_response("**/cancel"):
        page.get_by_role("button", name="Cancel").click()
    other.say("too late")
    expect(page.locator("main")).to_contain_text("Cancelled.")
    assert other.job.told == []
