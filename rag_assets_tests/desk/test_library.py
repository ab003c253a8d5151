"""Library: documents with status and reasons; what was read of them; files dropped in."""

import re
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Page, expect

from rag_assets.workspace import Workspace
from rag_assets_tests.desk.browsing import hindrances, in_browser, open_desk
from rag_assets_tests.desk.served import visit
from rag_assets_tests.libraries import build, make_workspace

HOSTILE = "<b onclick=alert(1)>"
FILES: dict[str, str | bytes] = {
    "evidence/roofs.md": f"# Roofs {HOSTILE}\n\nA green roof was 7 degrees cooler.\n\n"
    "## Noon\n\nHot.\n",
    "evidence/broken.pdf": b"%PDF-1.7 and nothing of a PDF after it",
    "evidence/树荫.md": "# 树荫\n\n行道树使行人感到凉爽。\n",
}


@pytest.fixture
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    made = make_workspace(tmp_path_factory.mktemp("library") / "library", FILES)
    build(made.namespace("thesis"))
    return made


@pytest.fixture
def client(workspace: Workspace) -> Iterator[TestClient]:
    with visit(workspace) as opened:
        yield opened


def test_each_document_says_how_it_stands(client: TestClient) -> None:
    for path in ("/", "/library"):
        shown = client.get(path).text
        assert 'status=failed">1 failed</a>' in shown
        assert 'status=published">2 published</a>' in shown
    # The first page says why, and what to do.
    assert "broken.pdf" in client.get("/").text
    assert "damaged file" in client.get("/").text
    listed = client.get("/library/thesis").text
    # What has a trouble comes first, with its reason and what to do.
    assert listed.index("damaged file") < listed.index("roofs.md")
    assert "roofs.md" not in client.get("/library/thesis?status=failed").text
    assert HOSTILE not in listed
    assert client.get("/library/nowhere").status_code == 400


def test_a_failed_document_is_left_out_and_taken_back(client: TestClient) -> None:
    page = client.get("/library/thesis?status=failed").text
    found = re.search(r'action="(/library/thesis/[^"]+/archived)"', page)
    assert found
    assert found[1] in client.get("/").text
    for archived, status in (("true", "archived"), ("", "failed")):
        assert client.post(found[1], data={"archived": archived}).status_code == 200
        assert f'status={status}">1 ' in client.get("/library").text


def test_a_document_shows_what_was_read(client: TestClient) -> None:
    for view, said in (("chunks", "roofs:0"), ("sections", "› Noon"), ("blocks", "heading")):
        shown = client.get(f"/library/thesis/roofs?view={view}").text
        assert said in shown, view
        assert "A green roof was 7 degrees cooler." in shown
        assert HOSTILE not in shown
    assert "partition=" in client.get("/library/thesis/roofs").text
    assert client.get("/library/thesis/roofs?number=2").status_code == 400
    assert client.get("/library/thesis/roofs?view=bytes").status_code == 422
    assert client.get("/library/thesis/nobody").status_code == 400


@pytest.mark.parametrize("name", ["../../AGENT.md", "..\\..\\AGENT.md", "/etc/passwd"])
def test_a_file_that_is_sent_stays_below_raw(
    client: TestClient, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("rag_assets.desk.library._build", lambda *_: "/library/thesis")
    (workspace.root / "AGENT.md").write_bytes(b"Before.")
    sent = client.post("/library/thesis/files", files={"file": (name, b"Text of its own.")})
    assert sent.status_code == 200
    assert (workspace.root / "AGENT.md").read_bytes() == b"Before."
    (added,) = (
        path
        for path in (workspace.root / "raw/evidence/ingested").iterdir()
        if not path.name.endswith(".meta.yaml")
    )
    assert added.read_bytes() == b"Text of its own."


def test_no_file_is_told(client: TestClient) -> None:
    sent = client.post("/library/thesis/files", files={"file": ("", b"")})
    assert sent.status_code == 400


def test_a_file_that_no_parser_reads_is_refused(client: TestClient, workspace: Workspace) -> None:
    files = [("file", ("a.md", b"Text.")), ("file", ("tool.exe", b"\x7fELF" + bytes(range(256))))]
    sent = client.post("/library/thesis/files", files=files)
    assert sent.status_code == 400
    assert "tool.exe was not added" in sent.text
    assert not (workspace.root / "raw/evidence/ingested").exists()


class TestInBrowser:
    pytestmark = in_browser

    def test_from_a_file_to_its_page(
        self, workspace: Workspace, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        note = tmp_path_factory.mktemp("dropped") / "canals.md"
        note.write_text("# Canals\n\nWater cools a street by two degrees.\n")
        with open_desk(workspace, "/library/thesis") as (page, _):
            self._both_languages(page)
            page.set_input_files("input[type=file]", note)
            expect(page.locator("ol.steps li").first).to_be_visible()
            page.wait_for_url("**/library/thesis")
            page.get_by_role("link", name="Canals").click()
            expect(page.locator("main")).to_contain_text("Water cools a street by two degrees.")
            page.locator("#view-blocks").click()
            expect(page.locator("#view-blocks")).to_have_attribute("aria-current", "page")
            assert "view=blocks" in page.url
            assert hindrances(page) == []

    def test_a_draft_is_dropped_on_the_first_page(self, workspace: Workspace) -> None:
        drop = """name => { const files = new DataTransfer();
            files.items.add(new File(["A green roof was 7 degrees cooler {#roofs}."], name));
            for (const kind of ["dragover", "drop"]) document.querySelector("h1").dispatchEvent(
              new DragEvent(kind, {dataTransfer: files, bubbles: true, cancelable: true})); }"""
        with open_desk(workspace) as (page, served):
            page.evaluate(drop, "tables.xlsx")
            expect(page.locator(".trouble")).to_contain_text("tables.xlsx is not a draft")
            page.goto(served.url)
            page.evaluate(drop, "chapter.md")
            page.wait_for_url("**/review/chapter.md")
            page.goto(served.url)
            line = page.get_by_role("listitem").filter(has_text="chapter.md")
            expect(line).to_contain_text(re.compile(r"need attention|1 OK"))
            assert hindrances(page) == []
            (workspace.drafts / "chapter.md").write_text("Another text.")
            page.reload()
            expect(line).to_contain_text("edited since it was checked")

    def _both_languages(self, page: Page) -> None:
        for button, word in (("中文", "须知"), ("English", "What to know")):
            page.get_by_role("button", name=button).click()
            expect(page.get_by_role("columnheader", name=word)).to_be_visible()
            assert hindrances(page) == []
