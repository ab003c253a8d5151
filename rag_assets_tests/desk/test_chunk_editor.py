"""The chunk editor by its forms: every operation, nothing overwritten unseen, publishing."""

import re
from collections.abc import Iterator
from html import unescape

import httpx
import pytest
from fastapi.testclient import TestClient

from rag_assets.chunking.editing import DraftChunk, DraftEditor
from rag_assets.desk.tools import search
from rag_assets.workspace import Namespace, Workspace
from rag_assets_tests.desk.chunk_library import HOSTILE, make_library, text_of
from rag_assets_tests.desk.served import visit
from rag_assets_tests.laws.strategies import SENTENCES
from rag_assets_tests.libraries import build, write_raw

PART = {"X-Desk-Part": "chunk"}
# Each test has a document of its own: what one drafts no other sees.
NAMES = ("forms", "moved", "refused", "parts", "waiting", "publish", "discard")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return make_library(tmp_path_factory.mktemp("chunks"), NAMES)


@pytest.fixture(scope="module")
def namespace(workspace: Workspace) -> Namespace:
    return workspace.namespace("thesis")


class Forms:
    """A window without a script: it sends what the page's forms hold."""

    def __init__(self, client: TestClient, namespace: Namespace, name: str) -> None:
        self.client, self.namespace, self.name = client, namespace, name
        self.address = f"/library/thesis/{name}/chunks"
        self.load()

    def load(self) -> None:
        self.page = self.client.get(self.address).text
        self.seen = re.search(r'name="seen" value="([^"]*)"', self.page)[1]  # type: ignore[index]

    def send(self, do: str, **fields: object) -> httpx.Response:
        """Send a form of the page that was loaded last."""
        data = {"seen": self.seen, "do": do, **{name: str(v) for name, v in fields.items()}}
        return self.client.post(self.address, data=data)

    def ask(self, do: str, **fields: object) -> None:
        """Send a form that is done, and load what the page shows then."""
        answer = self.send(do, **fields)
        assert answer.status_code == 200, unescape(answer.text)
        self.load()

    def editor(self, by: str = "Bob") -> DraftEditor:
        return DraftEditor(self.namespace, self.name, by=by)

    @property
    def chunks(self) -> tuple[DraftChunk, ...]:
        return self.editor().draft().chunks

    def key(self, order: int) -> str:
        return self.chunks[order].key


@pytest.fixture
def client(workspace: Workspace) -> Iterator[TestClient]:
    with visit(workspace) as opened:
        yield opened


def listed(page: str) -> list[str]:
    return re.findall(r'data-chunk="(\w+)"', page)


def test_every_operation_can_be_done_by_forms(client: TestClient, namespace: Namespace) -> None:
    forms = Forms(client, namespace, "forms")
    assert "edit_text" not in forms.page  # there is no draft yet
    forms.ask("create")
    cut = forms.chunks
    forms.ask("edit_text", chunk=cut[0].key, text="Roofs,\r\nas they are.")
    assert forms.chunks[0].text == "Roofs,\nas they are."
    forms.ask("disable", chunk=cut[1].key)
    assert not forms.chunks[1].is_enabled
    forms.ask("enable", chunk=cut[1].key)
    forms.ask("split_at", chunk=cut[2].key, offset=20)
    assert len(forms.chunks) == len(cut) + 1
    forms.ask("merge_with_next", chunk=forms.key(2))
    assert forms.chunks[2].text == cut[2].text
    keys = [chunk.key for chunk in forms.chunks]
    forms.ask("move_down", chunk=keys[1])
    forms.ask("move_up", chunk=keys[3])
    assert [chunk.key for chunk in forms.chunks][:4] == [keys[0], keys[2], keys[3], keys[1]]
    forms.ask("move_to", chunk=keys[1], order=1)
    forms.ask("move_before", chunk=keys[0], other=keys[3])
    forms.ask("move_after", chunk=keys[3], other=keys[1])
    assert [chunk.key for chunk in forms.chunks][:4] == [keys[1], keys[3], keys[2], keys[0]]
    other = next(c.parent_label for c in cut if c.parent_label != cut[0].parent_label)
    forms.ask("reparent", chunk=keys[0], parent=other)
    assert forms.chunks[3].parent_label == other
    number = forms.editor().history.revision
    forms.ask("undo")
    assert forms.chunks[3].parent_label == cut[0].parent_label
    forms.ask("undo", number=forms.editor().history.revision)
    assert forms.chunks[3].parent_label == other
    assert {event.by for event in forms.editor().history.events} == {"Ada"}
    assert listed(forms.page) == [chunk.key for chunk in forms.chunks]
    assert number + 2 == forms.editor().history.revision


def test_an_older_page_is_told_what_changed_and_changes_nothing(
    client: TestClient, namespace: Namespace
) -> None:
    forms = Forms(client, namespace, "moved")
    forms.ask("create")
    key = forms.key(1)
    forms.editor().edit_text(key, "What Bob has written.")
    answer = forms.send("edit_text", chunk=key, text="What Ada has written.")
    assert answer.status_code == 409
    for shown in ("Changed meanwhile.", "text edited · Bob", "What Bob has written.",
                  "What Ada has written.", "Yours, not saved"):  # fmt: skip
        assert shown in answer.text
    assert forms.chunks[1].text == "What Bob has written."
    forms.load()
    forms.ask("edit_text", chunk=forms.key(1), text="What Ada has written.")
    assert forms.chunks[1].text == "What Ada has written."
    for end in ("publish", "discard"):
        old = forms.seen
        forms.editor().disable(0) if end == "publish" else forms.editor().enable(0)
        answer = client.post(f"{forms.address}/{end}", data={"seen": old})
        assert answer.status_code == 409
        assert "Changed meanwhile." in answer.text
        assert forms.editor().history.is_open


def test_what_is_refused_says_why_and_keeps_what_was_typed(
    client: TestClient, namespace: Namespace
) -> None:
    forms = Forms(client, namespace, "refused")
    answer = forms.send("edit_text", chunk=forms.key(0), text="Before there is a draft.")
    assert answer.status_code == 400
    assert "has no draft" in unescape(answer.text)
    forms.ask("create")
    first, last = forms.key(0), forms.key(-1)
    for do, fields, why in (
        ("split_at", {"chunk": first, "offset": 3, "text": "typed"}, "is not saved"),
        ("split_at", {"chunk": first, "offset": "x"}, "must be a number"),
        ("merge_with_next", {"chunk": last}, "the last chunk"),
        ("move_up", {"chunk": first}, "no chunk -1"),
        ("reparent", {"chunk": first, "parent": HOSTILE}, "another parent"),
        ("undo", {}, "no operation to undo"),
        ("take_mine", {"number": 1}, "does not wait"),
        ("edit_text", {"chunk": "0", "text": "typed"}, "no chunk '0' any more"),
        ("burn", {"chunk": first}, "no operation 'burn'"),
    ):
        answer = forms.send(do, **fields)
        assert answer.status_code == 400, do
        assert why in unescape(answer.text), do
        assert HOSTILE not in answer.text
        assert fields.get("text", "") in answer.text
        told = client.post(
            forms.address, data={"seen": forms.seen, "do": do, **fields}, headers=PART
        )
        assert (told.status_code, "<" in told.text.replace(HOSTILE, "")) == (400, False), do
    assert forms.editor().history.revision == 1


def test_a_window_with_a_script_gets_the_rows_that_changed(
    client: TestClient, namespace: Namespace
) -> None:
    forms = Forms(client, namespace, "parts")
    forms.ask("create")
    rows, seen = listed(forms.page), forms.seen
    answer = client.post(
        forms.address,
        data={"seen": seen, "do": "split_at", "chunk": rows[2], "offset": "20"},
        headers=PART,
    )
    first, count = (
        int(re.search(rf'data-{n}="(\d+)"', answer.text)[1]) for n in ("first", "count")
    )  # type: ignore[index]
    rows[first : first + count] = listed(answer.text)
    assert rows == [chunk.key for chunk in forms.chunks]
    assert (first, count) == (2, 1)
    assert "Changed meanwhile." not in answer.text
    # Another window, which has seen the draft before that, looks at the next chunk.
    other = client.get(forms.address, params={"chunk": rows[0], "seen": seen}, headers=PART)
    assert listed(other.text) == rows[2:4]
    assert "split · Ada" in other.text
    whole = client.get(forms.address, params={"seen": f"0.{seen.partition('.')[2]}"}, headers=PART)
    assert listed(whole.text) == rows  # a draft began since: each row can be moved now


def test_an_edit_that_waits_is_shown_beside_what_is_there(
    client: TestClient, namespace: Namespace, workspace: Workspace
) -> None:
    forms = Forms(client, namespace, "waiting")
    forms.ask("create")
    at = [next(c for c in forms.chunks if s in c.text) for s in (SENTENCES[0], SENTENCES[1])]
    for n, chunk in enumerate(at):
        forms.ask("edit_text", chunk=chunk.key, text=f"What Ada wanted {n}.")
    changed = text_of("waiting").replace("Cool roofs reflect", "Warm roofs reflect")
    changed = changed.replace("strongest on calm nights", "weakest on calm nights")
    write_raw(workspace, "evidence/waiting.md", changed)
    old = forms.seen
    build(namespace)
    stale = forms.send("edit_text", chunk=at[0].key, text="Of what was cut before.")
    assert stale.status_code == 409
    assert "parsed or cut again" in stale.text
    forms.load()
    assert forms.seen != old
    conflicts = forms.editor().draft().conflicts
    assert len(conflicts) == 2
    for shown in ("Edits that wait", "What Ada wanted 0.", "Warm roofs reflect", "Cool roofs"):
        assert shown in forms.page
    asked = client.get(f"{forms.address}/publish").text
    assert asked.count('<span class="chip">waits</span>') == 2
    forms.ask("take_mine", number=conflicts[0].number)
    forms.ask("take_theirs", number=conflicts[1].number)
    draft = forms.editor().draft()
    assert draft.conflicts == ()
    texts = [chunk.text for chunk in draft.chunks]
    assert "What Ada wanted 0." in texts
    assert "What Ada wanted 1." not in texts


def test_discarding_says_what_is_given_up(client: TestClient, namespace: Namespace) -> None:
    forms = Forms(client, namespace, "discard")
    assert "There is no draft." in client.get(f"{forms.address}/discard").text
    forms.ask("create")
    assert "The draft changes nothing." in client.get(f"{forms.address}/publish").text
    forms.ask("edit_text", chunk=forms.key(0), text=HOSTILE)
    asked = client.get(f"{forms.address}/discard")
    assert HOSTILE in unescape(asked.text)
    assert HOSTILE not in asked.text
    client.post(f"{forms.address}/discard", data={"seen": forms.seen, "reason": "not so"})
    history = forms.editor().history
    assert (history.is_open, history.events[-1].reason) == (False, "not so")
    assert client.get(f"{forms.address}/burn").status_code == 400


def test_publishing_builds_what_searches_find(client: TestClient, namespace: Namespace) -> None:
    forms = Forms(client, namespace, "publish")
    forms.ask("create")
    forms.ask("edit_text", chunk=forms.key(0), text="Zebras sleep on cool roofs.")
    asked = client.get(f"{forms.address}/publish")
    assert "Zebras sleep on cool roofs." in asked.text
    client.follow_redirects = False
    sent = client.post(f"{forms.address}/publish", data={"seen": forms.seen})
    job = client.app.state.desk.jobs.get(sent.headers["location"].rpartition("/")[2])  # type: ignore[attr-defined]
    assert job.wait(240)
    assert (job.state, job.trouble, job.result) == ("done", "", forms.address)
    library = client.app.state.desk.library  # type: ignore[attr-defined]
    assert "Zebras sleep" in str(search(library, "zebras sleep", top_k=1))


def test_a_number_or_a_text_is_gone_to(client: TestClient, namespace: Namespace) -> None:
    forms = Forms(client, namespace, "forms")
    chunks = forms.chunks
    for sought, found in (("2", chunks[2]), ("ZEBRA", chunks[0]), ("999", chunks[-1])):
        page = client.get(forms.address, params={"find": sought}).text
        assert f'data-key-now="{found.key}"' in page, sought
    assert "No chunk holds this text." in client.get(forms.address, params={"find": "zebra"}).text
    found = next(c for c in chunks[1:] if "Stomata" in c.text)
    page = client.get(forms.address, params={"find": "stomata"}).text
    assert f'data-key-now="{found.key}"' in page


def test_what_is_not_there_is_said(client: TestClient) -> None:
    for path, why in (("thesis/nobody", "no document"), ("nowhere/forms", "unknown namespace")):
        answer = client.get(f"/library/{path}/chunks")
        assert answer.status_code == 400
        assert why in unescape(answer.text)


def test_printed_pages_are_shown_with_the_chunk_marked(
    client: TestClient, namespace: Namespace
) -> None:
    forms = Forms(client, namespace, "printed")
    image = re.search(r'href="(/pages/[^"]+)"', forms.page)
    assert image is not None
    picture = client.get(image[1])
    assert picture.headers["content-type"] == "image/jpeg"
    boxes = re.findall(r'<rect class="evidence" x="([\d.]+)" y="([\d.]+)"', forms.page)
    assert boxes
    assert [float(x) for x, _ in boxes] == pytest.approx([72.0] * len(boxes), abs=2)
    last = client.get(forms.address, params={"find": "second page"}).text
    assert "/2.jpg" in last
    # The panel alone waits for no picture.
    assert ".jpg" not in client.get(forms.address, headers=PART).text
