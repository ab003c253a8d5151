"""Ask: a question becomes an answer whose citations open on their pages."""

import re
from collections.abc import Iterator
from html import unescape

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Page, expect

from rag_assets.workspace import Workspace
from rag_assets_tests.desk.browsing import another_window, hindrances, in_browser, open_desk
from rag_assets_tests.desk.served import Served, visit
from rag_assets_tests.libraries import build, make_workspace

HOSTILE = "<script>document.title='taken'</script>"
NOTE = f"# Roofs {HOSTILE}\n\nA green roof was 7 degrees cooler than bitumen at noon.\n"
QUESTION = "How much cooler was a green roof at noon?"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    files = {"evidence/roofs.md": NOTE, "evidence/树荫.md": "# 树荫\n\n行道树使行人感到凉爽。\n"}
    made = make_workspace(tmp_path_factory.mktemp("ask") / "library", dict(files))
    build(made.namespace("thesis"))
    return made


@pytest.fixture
def client(workspace: Workspace) -> Iterator[TestClient]:
    with visit(workspace) as opened:
        yield opened


def asked(client: TestClient, **fields: str) -> str:
    """Ask, wait for the work to end and return the page that it leads to."""
    begun = client.post("/ask", data=fields, follow_redirects=False)
    assert begun.status_code == 303, begun.text
    place = begun.headers["location"]
    job = client.app.state.desk.jobs.get(place.removeprefix("/work/"))  # type: ignore[attr-defined]
    assert job.wait(60)
    return client.get(place).text


def test_an_answer_and_a_pack_show_their_quotes(client: TestClient) -> None:
    for way in ("answer", "pack"):
        shown = asked(client, question=QUESTION, way=way)
        assert "A green roof was 7 degrees cooler than bitumen at noon." in shown
        passage = client.get(
            unescape(re.findall(r'href="(/passages/[^"]+)"', shown)[0].replace("&amp;", "&"))
        )
        assert (
            "<mark>A green roof was 7 degrees cooler than bitumen at noon.</mark>" in passage.text
        )
        assert "raw/evidence/roofs.md" in passage.text
    history = client.get("/ask").text
    assert history.count(QUESTION) == 2


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"question": " "}, "no text"),
        ({"question": "x", "way": "oracle"}, "no way to ask"),
        ({"question": "x", "namespace": "nowhere"}, "nowhere"),
    ],
)
def test_what_cannot_be_asked_is_told(
    client: TestClient, fields: dict[str, str], said: str
) -> None:
    answer = client.post("/ask", data=fields)
    assert answer.status_code == 400
    assert said in answer.text


def test_work_that_fails_says_why(client: TestClient) -> None:
    # No namespace holds a statute.
    assert "statute" in asked(client, question="罚款多少？", way="law")
    assert "leave them out" in asked(client, question="罚款", way="law", filters="year>=2020")


@pytest.mark.parametrize(
    "name", ["answer_v999", "..%2f..%2fconfig", "answer_v001.json", "run_v001"]
)
def test_only_answers_are_read(client: TestClient, name: str) -> None:
    assert client.get(f"/ask/{name}").status_code in (400, 404)


def test_a_citation_that_nothing_holds_is_told(client: TestClient) -> None:
    answer = client.get("/passages/kb:thesis__chunk-0000000000000000")
    assert answer.status_code == 400
    assert "no current publication holds" in answer.text
    assert client.get(f"/pages/thesis/{'0' * 64}/1.jpg").status_code == 404
    assert client.get("/pages/thesis/nohash/1.jpg").status_code == 422


def test_a_passage_goes_to_the_end_of_a_draft(client: TestClient, workspace: Workspace) -> None:
    drafts = workspace.drafts
    drafts.mkdir(exist_ok=True)
    (drafts / "chapter.md").write_bytes(b"# One\r\n\r\nText.\r\n")
    (drafts / "empty.md").write_text("")
    (drafts / "chapter.tex").write_text("Text.\n")
    (drafts / "old.txt").write_bytes("Räume.".encode("latin-1"))
    shown = asked(client, question=QUESTION, way="pack")
    place = unescape(re.findall(r'href="(/passages/[^"]+)"', shown)[0])
    fields = dict(re.findall(r'name="(quote|cite)" value="([^"]*)"', client.get(place).text))
    address = place.partition("?")[0]
    for name in ("chapter.md", "empty.md", "chapter.md"):
        put = client.post(address, data={**fields, "draft": name})
        assert put.status_code == 200, put.text
    sentence = "“A green roof was 7 degrees cooler than bitumen at noon.” {#roofs}"
    assert (drafts / "empty.md").read_text() == f"{sentence}\n"
    written = (drafts / "chapter.md").read_bytes().decode()
    assert written == f"# One\r\n\r\nText.\r\n\r\n{sentence}\r\n\r\n{sentence}\r\n"
    # The draft is remembered, and what cannot be done is told.
    assert "<option selected>chapter.md" in client.get(place).text
    for name in ("chapter.tex", "old.txt", "../config.yaml", "nobody.md"):
        before = (drafts / "old.txt").read_bytes()
        assert client.post(address, data={**fields, "draft": name}).status_code == 400
        assert (drafts / "old.txt").read_bytes() == before
    assert client.post(address, data={"draft": "chapter.md"}).status_code == 400
    log = (workspace.meta / "version_log.jsonl").read_text()
    assert log.count('"field": "passage"') == 3


class TestInBrowser:
    pytestmark = in_browser

    @pytest.fixture(scope="class")
    def opened(self, workspace: Workspace) -> Iterator[tuple[Page, Served]]:
        with open_desk(workspace, "/ask") as opened:
            yield opened

    @pytest.fixture
    def page(self, opened: tuple[Page, Served]) -> Page:
        return opened[0]

    def test_by_keyboard_alone_from_question_to_page(
        self, page: Page, workspace: Workspace
    ) -> None:
        workspace.drafts.mkdir(exist_ok=True)
        for old in workspace.drafts.iterdir():
            old.unlink()
        (workspace.drafts / "chapter.md").write_text("# One\n")
        page.keyboard.press("/")
        page.keyboard.type(QUESTION)
        for _ in range(4):  # the ways are one stop, then what is folded, then the button
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('button.main')"):
                break
        page.keyboard.press("Enter")
        page.wait_for_url("**/ask/answer_v*")
        page.keyboard.press("1")
        expect(page.locator("#passage mark")).to_have_text(
            "A green roof was 7 degrees cooler than bitumen at noon."
        )
        expect(page.locator("#passage")).to_contain_text(HOSTILE)
        assert "taken" not in page.title()
        assert hindrances(page) == []
        page.keyboard.press("d")
        expect(page.locator("#put")).to_contain_text("It stands at the end of the draft now:")
        assert "“A green roof was 7 degrees" in (workspace.drafts / "chapter.md").read_text()

    def test_reading_and_asking_need_no_script(self, opened: tuple[Page, Served]) -> None:
        page = another_window(opened[0], has_script=False)
        page.goto(opened[1].opened_at("/ask"))
        page.fill("#question", QUESTION)
        page.get_by_role("button", name="Ask", exact=True).click()
        (key,) = re.findall(r"/work/(\w+)", page.url)
        job = opened[1].desk.jobs.get(key)
        assert job is not None
        assert job.wait(60)
        page.reload()
        page.get_by_role("link", name="Show on its page").first.click()
        expect(page.locator("mark")).to_have_text(
            "A green roof was 7 degrees cooler than bitumen at noon."
        )
        page.goto(f"{opened[1].url}/library/thesis/roofs?view=blocks")
        expect(page.locator("main")).to_contain_text("A green roof was 7 degrees cooler")
        page.context.close()

    def test_both_languages_without_hindrance(self, page: Page) -> None:
        page.get_by_role("link", name="Ask", exact=True).click()
        page.get_by_role("button", name="中文").click()
        expect(page.get_by_role("heading", name="以前的问题")).to_be_visible()
        assert hindrances(page) == []
        page.get_by_role("link", name=QUESTION).first.click()
        expect(page.get_by_text("在原页上显示").first).to_be_visible()
        expect(page.locator("blockquote").first).to_contain_text("A green roof")
        assert hindrances(page) == []
