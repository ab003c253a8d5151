"""The review page by requests: forms without a script, text of others as text, no other file."""

import html
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from rag_assets.auditing.judgements import judgements_of
from rag_assets.auditing.settling import read_settlements
from rag_assets.desk import Desk
from rag_assets.workspace import Workspace
from rag_assets_tests.desk.served import visit
from rag_assets_tests.libraries import build, write_raw
from rag_assets_tests.reviewing.drafts import DAY, DRAFT, NAME, draft_workspace

HOSTILE = "<img src=x onerror=alert(1)>"
PAGE = f"/review/{NAME}"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draft_workspace(tmp_path_factory.mktemp("reviewed") / "library").root


@pytest.fixture
def workspace(built: Path, tmp_path: Path) -> Workspace:
    return Workspace.open(shutil.copytree(built, tmp_path / "library"))


@pytest.fixture
def client(workspace: Workspace) -> Iterator[TestClient]:
    with visit(workspace) as opened:
        desk = desk_of(opened)
        desk.reviews.keep(desk.library, NAME, as_of=DAY)
        yield opened


def desk_of(client: TestClient) -> Desk:
    desk: Desk = client.app.state.desk  # type: ignore[attr-defined]
    return desk


def fields(page: str, task: str) -> dict[str, str]:
    """Return the hidden fields and texts of the form with a task, as a browser sends them."""
    for form in re.findall(r"<form[^>]*>.*?</form>", page, re.DOTALL):
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))
        if hidden.get("task") == task:
            texts = dict(
                re.findall(r'<textarea[^>]*name="(\w+)"[^>]*>(.*?)</textarea>', form, re.DOTALL)
            )
            return {name: html.unescape(value) for name, value in (hidden | texts).items()}
    raise AssertionError(f"no form with the task {task}")


def test_drafts_are_listed_and_one_that_was_not_checked_offers_to_be(
    workspace: Workspace,
) -> None:
    with visit(workspace) as client:
        assert "none yet" in client.get("/review").text
        assert "Check the citations" in client.get(PAGE).text
        answer = client.post(PAGE, data={"task": "check"}, follow_redirects=False)
        key = answer.headers["location"].removeprefix("/work/")
        job = desk_of(client).jobs.get(key)
        assert job is not None
        assert job.wait(120)
        assert (job.state, job.result) == ("done", PAGE)
        assert "1 of 4, 4 open" in client.get(f"/work/{key}").text
        assert "2 OK" in client.get("/review").text


def test_the_first_page_counts_what_is_not_reviewed_also_where_nothing_is_ok(
    client: TestClient, workspace: Workspace
) -> None:
    assert "4 not reviewed" in client.get("/").text
    form = fields(client.get(PAGE).text, "judge") | {"decision": "accepted", "comment": ""}
    client.post(PAGE, data=form)
    assert "3 not reviewed" in client.get("/").text
    (workspace.drafts / NAME).write_text("Nobody knows {#nothing}.\n")
    desk = desk_of(client)
    desk.reviews.check(desk.library, NAME, as_of=DAY)
    assert "0 OK" in client.get("/").text


def test_a_judgement_by_a_form_alone_leads_to_the_next_open_one(
    client: TestClient, workspace: Workspace
) -> None:
    first = client.get(PAGE).text
    assert "Nobody paints trains" in first
    form = fields(first, "judge") | {"decision": "supported", "comment": f"{HOSTILE}\r\nnext"}
    second = client.post(PAGE, data=form).text
    assert "2 of 4, 3 open" in second
    (kept,) = judgements_of(workspace).every
    assert (kept.by, kept.decision, kept.comment) == ("Ada", "supported", f"{HOSTILE}\nnext")
    shown = client.get(f"{PAGE}?item={form['item']}").text
    assert HOSTILE not in shown
    assert html.escape(HOSTILE) in shown
    assert "The machine: MISSING." in shown
    again = fields(shown, "judge") | {"decision": "withdrawn"}
    assert "1 of 4, 4 open" in client.post(PAGE, data=again).text


def test_the_second_of_two_windows_is_told(client: TestClient, workspace: Workspace) -> None:
    form = fields(client.get(PAGE).text, "judge")
    client.post(PAGE, data=form | {"decision": "supported"})
    late = client.post(PAGE, data=form | {"decision": "unsupported"})
    assert late.status_code == 409
    assert "Ada has judged this citation meanwhile (supported" in html.unescape(late.text)
    part = client.post(PAGE, data=form | {"decision": "x"}, headers={"X-Desk-Part": "item"})
    assert part.status_code == 400
    assert part.text.startswith("'decision' must be one of accepted")
    assert len(judgements_of(workspace).every) == 1


def test_a_source_that_was_published_since_is_told(
    client: TestClient, workspace: Workspace
) -> None:
    page = client.get(PAGE).text
    write_raw(workspace, "evidence/leaf.md", "# Leaves\n\nOther words.\n")
    build(workspace.namespace("thesis"))
    stale = "The source or the pairing has changed since this was judged."
    assert stale in client.get(PAGE).text
    roofs = next(
        one
        for one in re.findall(r'data-item="(\w+)"', client.get(PAGE).text)
        if "Cool roofs" in client.get(f"{PAGE}?item={one}").text.split("</blockquote>")[0]
    )
    assert stale not in client.get(f"{PAGE}?item={roofs}").text
    desk = desk_of(client)
    desk.reviews.check(desk.library, NAME, as_of=DAY)
    late = client.post(PAGE, data=fields(page, "judge") | {"decision": "supported"})
    assert (late.status_code, judgements_of(workspace).every) == (409, ())
    assert "`leaf` has changed since this page was loaded" in late.text


def test_a_sentence_is_edited_in_place_by_a_form_alone(
    client: TestClient, workspace: Workspace
) -> None:
    form = fields(client.get(f"{PAGE}?panel=edit").text, "edit")
    assert form["after"] == form["before"] == "Nobody paints trains on Sundays {#leaf}."
    sent = form | {"after": f"Stomata close {HOSTILE} {{#leaf}}."}
    page = client.post(PAGE, data=sent).text
    assert "The new revision is written" in page
    assert HOSTILE not in page
    assert html.escape(HOSTILE) in page
    text = (workspace.drafts / NAME).read_text(encoding="utf-8")
    assert text == DRAFT.replace("Nobody paints trains on Sundays {#leaf}.", sent["after"])
    late = client.post(PAGE, data=form)
    assert late.status_code == 409
    assert "was edited since this page was loaded" in late.text


def test_another_passage_is_looked_for_and_chosen(client: TestClient, workspace: Workspace) -> None:
    listed = client.get(f"{PAGE}?panel=others&words=salt").text
    (chosen,) = re.findall(r'href="([^"]*chosen=[^"]*)"', listed)
    page = client.get(html.unescape(chosen)).text
    assert "Chosen passage" in page
    client.post(PAGE, data=fields(page, "judge") | {"decision": "supported"})
    (kept,) = judgements_of(workspace).every
    assert kept.chosen is not None
    assert "salt" in kept.chosen.text


def test_the_list_of_sources_is_written_and_the_report_is_one_file(
    client: TestClient, workspace: Workspace
) -> None:
    page = client.get(f"{PAGE}?panel=sources").text
    for standing in (">supported<", ">not supported<", "listed, not cited"):
        assert standing in page
    made = client.post(PAGE, data=fields(page, "sources")).text
    assert "outputs/used_sources_v001.bib" in made
    assert (workspace.outputs / "used_sources_v001.bib").is_file()
    report = client.get(f"{PAGE}?get=report")
    assert report.headers["content-disposition"].startswith("attachment")
    assert "<script" not in report.text
    answer = client.post(PAGE, data={"task": "keep"}, follow_redirects=False)
    job = desk_of(client).jobs.get(answer.headers["location"].removeprefix("/work/"))
    assert job is not None
    assert job.wait(120)
    assert job.result == f"{PAGE}?panel=sources&said=chapter_citations_v001.html"


def test_filter_and_list_show_what_is_open(client: TestClient) -> None:
    form = fields(client.get(f"{PAGE}?show=open").text, "judge")
    assert form["show"] == "open"
    page = client.post(PAGE, data=form | {"decision": "supported"}).text
    assert page.count('data-item="') == 1 + 3 + 2  # the one that is shown, the list, the places
    assert "Nobody paints trains" not in page


@pytest.mark.parametrize(
    "path", ["../config.yaml", "..%2Fconfig.yaml", "%2Fetc%2Fpasswd", "other.md", "a%00.md"]
)
def test_no_other_file_is_read_or_written(
    client: TestClient, workspace: Workspace, path: str
) -> None:
    before = (workspace.root / "config.yaml").read_bytes()
    assert client.get(f"/review/{path}").status_code in (400, 404)
    sent = {"task": "edit", "digest": "", "start": "0", "end": "1", "before": "", "after": "x"}
    assert client.post(f"/review/{path}", data=sent).status_code in (400, 404, 405)
    assert (workspace.root / "config.yaml").read_bytes() == before


def test_data_is_never_translated(client: TestClient) -> None:
    english = client.get(PAGE).text
    client.post("/language", data={"language": "zh", "back": "/"})
    chinese = client.get(PAGE).text
    assert "下一条" in chinese
    for data in ("Nobody paints trains on Sundays", "leaf"):
        assert (data in english, data in chinese) == (True, True)
    # Verdict and reason are ours, and are.
    assert ("MISSING" in english, "MISSING" in chinese) == (True, False)
    assert "来源没有这样说" in chinese


def test_the_order_of_the_text_is_chosen_once_for_all_pages(client: TestClient) -> None:
    def sentence(page: str) -> str:
        return page.split('<blockquote class="quote">')[1][:40]

    assert sentence(client.get(PAGE).text).startswith("Nobody paints trains")
    first = client.get(f"{PAGE}?order=text").text
    assert sentence(first).startswith("Cool roofs reflect")
    # The form and the next page know it by a cookie; what comes next is next in the text.
    after = client.post(PAGE, data=fields(first, "judge") | {"decision": "accepted"}).text
    assert sentence(after).startswith("Stomata close")
    assert "2 of 4, 3 open" in after
    assert sentence(client.get(f"{PAGE}?order=urgency").text).startswith("Nobody paints trains")


def test_a_draft_edited_elsewhere_does_not_stop_its_review(
    client: TestClient, workspace: Workspace
) -> None:
    form = fields(client.get(PAGE).text, "judge") | {"decision": "unsupported"}
    draft = workspace.drafts / NAME
    draft.write_text(DRAFT.replace("Taxes fell", "Taxes rose").replace(" ", "  "), encoding="utf-8")
    shown = client.post(PAGE, data=form)
    assert shown.status_code == 200
    assert "The draft was edited since this check." in shown.text
    assert 'class="trouble"' not in shown.text
    assert [one.decision for one in judgements_of(workspace).every] == ["unsupported"]
    gone = fields(client.get(PAGE).text, "judge") | {"decision": "accepted"}
    draft.write_text("# Draft\n\nOther words {#roofs}.\n", encoding="utf-8")
    assert client.post(PAGE, data=gone).status_code == 409


def test_hostile_names_titles_and_drafts_are_text(tmp_path: Path) -> None:
    text = f"Moss {HOSTILE} grows on stones {{#moss}}. Roofs are cool {{#{HOSTILE[:4]}}}.\n"
    workspace = draft_workspace(tmp_path / "library", text)
    write_raw(workspace, "evidence/moss.md", f"# {HOSTILE}\n\nMoss grows on stones.\n")
    build(workspace.namespace("thesis"))
    name = f"{HOSTILE}.md"
    (workspace.drafts / NAME).rename(workspace.drafts / name)
    with visit(workspace) as client:
        desk = desk_of(client)
        desk.reviews.keep(desk.library, name, as_of=DAY)
        listed = client.get("/review").text
        (address,) = re.findall(r'href="(/review/[^"]+)"', listed)
        for page in (listed, client.get(address).text, client.get(f"{address}?order=text").text):
            assert "<img" not in page
            assert html.escape(HOSTILE) in page


LISTED = (
    "# Draft\n\nRoofs are cool (Keller, 2021). Leaves close (Leaf, 2019).\n\n## References\n\n"
    f"Keller, A. (2021). Roofs of many cities and their heat{HOSTILE}. *Roofs*, 3.\n\n"
    "Leaf, L. (2019). Leaves and the dry air around them. *Leaves*, 1.\n"
)


def test_an_entry_is_settled_by_a_click_and_its_citations_are_judged_again(
    workspace: Workspace,
) -> None:
    (workspace.drafts / NAME).write_text(LISTED, encoding="utf-8")
    with visit(workspace) as client:
        desk = desk_of(client)
        desk.reviews.keep(desk.library, NAME, as_of=DAY)
        page = client.get(PAGE).text
        assert "Citations without a document: 2." in page
        listed = client.get(f"{PAGE}?panel=references").text
        assert HOSTILE not in listed
        assert listed.count(">no document<") == 2
        form = fields(listed, "settle")
        settled = client.post(PAGE, data=form | {"document": "thesis:roofs"}).text
        assert "Kept for good" in settled
        assert "Citations without a document: 1." in settled
        assert "you settled it" in settled
        kept = read_settlements(workspace)
        assert list(kept.values()) == [("thesis", "roofs")]
        # Who sits at the desk is written down; what is settled can be taken back.
        assert '"by": "Ada"' in workspace.reference_journal.read_text()
        client.post(PAGE, data=form | {"document": "open"})
        assert read_settlements(workspace) == {}
        # Beside the citation too: by a part of key or title; the page stays at the citation.
        said = fields(client.get(PAGE).text, "settle") | {"chosen": "Leav"}
        assert "Saved for all drafts" in client.post(PAGE, data=said).text
        assert set(read_settlements(workspace).values()) == {("thesis", "leaf")}
        doubtful = client.post(PAGE, data=said | {"chosen": "o"})
        assert (doubtful.status_code, "fits 2 documents" in doubtful.text) == (400, True)
        client.post(PAGE, data=form | {"document": "open"})
        wrong = client.post(PAGE, data=form | {"document": "nowhere"})
        assert wrong.status_code == 400
        assert "There is no document `nowhere`" in html.unescape(wrong.text)
        client.headers.pop("X-Desk-Form")
        unsigned = {name: value for name, value in form.items() if name != "form_token"}
        refused = client.post(PAGE, data=unsigned | {"document": "thesis:roofs"})
        assert refused.status_code == 400
        assert read_settlements(workspace) == {}


def test_documents_are_shown_by_their_keys(client: TestClient) -> None:
    page = client.get(f"{PAGE}?panel=sources").text
    assert 'href="/library/thesis/leaf" title="' in page


def test_a_citation_without_an_entry_is_paired_as_it_is_written(workspace: Workspace) -> None:
    text = "# Draft\n\nRoofs are cool {#keller}. Leaves close [9].\n\n"
    text += "## References\n\n[1] Moss, M. Moss. 2020.\n"
    (workspace.drafts / NAME).write_text(text, encoding="utf-8")
    with visit(workspace) as client:
        desk = desk_of(client)
        review = desk.reviews.check(desk.library, NAME, as_of=DAY)
        pages = {one.row.cites: client.get(f"{PAGE}?item={one.key}").text for one in review.items}
        paired = client.post(PAGE, data=fields(pages["keller"], "settle") | {"chosen": "roofs"})
        assert "Saved for all drafts" in paired.text
        assert 'title="Roofs (roofs)">roofs</a>' in paired.text
        assert read_settlements(workspace) == {"keller": ("thesis", "roofs")}
        # A number means another work in each draft.
        assert "The reference list of the draft has no entry for it." in pages["[9]"]
