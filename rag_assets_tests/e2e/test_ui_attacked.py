"""What a text that the UI shows, or another page in the browser, can do to a workspace: nothing."""

import functools
import http.server
import json
import threading
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Page, expect

from rag_assets.running import STAGES, materialize_stages
from rag_assets.workspace import Namespace, Workspace
from rag_assets_tests.e2e.browsing import (
    CHROMIUM,
    NO_CHROMIUM,
    SEE_MILLISECONDS,
    Server,
    browse,
    serve,
)
from rag_assets_tests.e2e.test_ui_ended import JOB, LAUNCH
from rag_assets_tests.e2e.workspaces import marked_processes
from rag_assets_tests.libraries import make_workspace
from rag_assets_tests.shadows import imported_from, plant_shadows

pytestmark = [
    pytest.mark.slow,
    pytest.mark.ui,
    pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM),
]
expect.set_options(timeout=SEE_MILLISECONDS)

WIPE = (
    'mutation { wipeAssets(assetPartitionRanges: [{assetKey: {path: ["thesis", "inventory"]}}]) '
    "{ __typename } }"
)
BY_ADDRESS = "/graphql?" + urllib.parse.urlencode({"query": WIPE})
REMOTE = "http://127.0.0.1:9/picture.png"
TEXT = f"""# Roofs

A green roof was 7 degrees cooler ![a]({BY_ADDRESS}) than bitumen ![b]({REMOTE}) at noon.

```
~~~
</code></pre><img src="{REMOTE}"> <script>fetch("{REMOTE}")</script>
"""
NAME = "![a](b) <img src=x>`` [c](d).md"
HISTORY = """{ assetOrError(assetKey: {path: ["thesis", "inventory"]}) {
  ... on Asset { assetMaterializations(limit: 5) { runId } } } }"""

ENDED = """{ runsOrError(filter: {statuses: [SUCCESS], pipelineName: "__ASSET_JOB"}) {
  ... on Runs { results { runId } } } }"""


@pytest.fixture(scope="module")
def namespace(tmp_path_factory: pytest.TempPathFactory) -> Namespace:
    root = tmp_path_factory.mktemp("attacked") / "library"
    files: dict[str, str | bytes] = {f"evidence/{NAME}": TEXT, f"evidence/{NAME}.pdf": b"%PDF-1.7"}
    workspace = make_workspace(root, files)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAG_WORKSPACE", str(root))
        patch.setenv("DAGSTER_HOME", str(workspace.dagster_home))
        outcome = materialize_stages(workspace.namespace("thesis"), STAGES)
    assert outcome.is_published, outcome.errors  # the broken PDF fails a check, and no more
    plant_shadows(root)
    return Workspace.open(root).namespace("thesis")


@pytest.fixture(scope="module")
def server(namespace: Namespace) -> Iterator[Server]:
    root = namespace.workspace.root
    with serve(root, root / "ui.log") as running:
        yield running


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browse() as opened:
        yield opened


def history(server: Server) -> list[object]:
    found: list[object] = server.ask(HISTORY)["assetOrError"].get("assetMaterializations", [])
    return found


def test_a_hostile_document_is_shown_and_does_nothing(
    page: Page, server: Server, namespace: Namespace
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for stage in ("inventory", "parse_reports", "chunks", "search_index"):
        for partition in namespace.partition_keys if stage in {"parse_reports", "chunks"} else [""]:
            if partition and not (namespace.parsed_folder(partition)).exists():
                continue
            view = f"view=partitions&partition={partition}" if partition else "view=overview"
            page.goto(f"{server.url}/assets/thesis/{stage}?{view}")
            expect(page.get_by_text(NAME).first).to_be_visible()
            assert page.locator(f'img[src*="graphql"], img[src="{REMOTE}"]').count() == 0
    page.goto(f"{server.url}/assets/thesis/parse_reports?view=checks")
    expect(page.get_by_text(NAME).first).to_be_visible()
    mutating = [url for url in asked if "query=" in url and "/graphql" in url]
    assert not mutating
    assert REMOTE not in asked
    assert history(server)


PAGE = """<!doctype html><title>asking</title><img src="{ui}{by_address}">
<form method="post" action="{ui}{by_address}" target="shown"></form>
<form method="post" action="{ui}/graphql" enctype="text/plain" target="shown"></form>
<iframe name="shown"></iframe><iframe src="{ui}/assets/thesis/inventory"></iframe>
<script>
const body = {body};
const posts = ["text/plain", "application/json", "text/plain; application/json"].map(type =>
  fetch("{ui}/graphql", {{method: "POST", mode: type == "application/json" ? "cors" : "no-cors",
    headers: {{"Content-Type": type}}, body}}).catch(String));
const socket = new Promise(done => {{
  const opened = new WebSocket("ws://{host}/graphql", "graphql-ws");
  opened.onopen = () => done("opened"); opened.onerror = () => done("refused");
}});
for (const form of document.forms) form.submit();
Promise.all([...posts, fetch("{ui}{by_address}", {{mode: "no-cors"}}).catch(String), socket])
  .then(all => document.title = "asked " + all.at(-1));
</script>"""


@pytest.fixture
def elsewhere(server: Server, tmp_path: Path) -> Iterator[str]:
    """A page of another origin that asks in every way a page has."""
    body = json.dumps(json.dumps({"query": WIPE}))
    host = server.url.removeprefix("http://")
    told = PAGE.format(ui=server.url, host=host, by_address=BY_ADDRESS, body=body)
    (tmp_path / "index.html").write_text(told, encoding="utf-8")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as other:
        thread = threading.Thread(target=other.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{other.server_port}/index.html"
        other.shutdown()
        thread.join()


def test_a_page_of_another_origin_does_nothing(
    page: Page, server: Server, elsewhere: str, tmp_path: Path
) -> None:
    before = history(server)
    assert before
    for address in (elsewhere, (tmp_path / "index.html").as_uri()):
        page.goto(address)
        expect(page).to_have_title("asked refused")
        assert history(server) == before


def test_the_ui_needs_nothing_that_its_policy_refuses(page: Page, server: Server) -> None:
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    for path in ("/assets/thesis/inventory", "/runs", "/automation", "/locations", "/graphql"):
        page.goto(f"{server.url}{path}", wait_until="networkidle" if path == "/graphql" else "load")
        expect(page.locator("#graphiql, nav, [class*=AppTop]").first).to_be_visible()
    assert not [text for text in refused if "Content Security Policy" in text]


@pytest.mark.parametrize("which", ["code-server", "grpc"])
def test_a_code_server_that_was_killed_is_started_again(server: Server, which: str) -> None:
    family = marked_processes(server.mark)
    killed = [each for each in family if which in each.cmdline()]
    assert killed
    ids = {each.pid for each in family}
    for each in killed:
        each.kill()
    psutil.wait_procs(killed)

    def is_back() -> bool:
        found = [p for p in marked_processes(server.mark) if which in p.cmdline()]
        return any(each.pid not in ids for each in found) and server.is_ready()

    server.wait("the code server", is_back, 240)
    assert "The code server died and is started again" in server.log.read_text(encoding="utf-8")


def test_modules_of_the_workspace_are_not_imported(server: Server, namespace: Namespace) -> None:
    def is_launched() -> bool:
        launched = server.ask(LAUNCH, job=JOB)["launchPipelineExecution"]
        return bool(launched["__typename"] == "LaunchRunSuccess")

    # A code server that was killed before is being loaded again.
    server.wait("the launch", is_launched, 60)
    server.wait("the run", lambda: server.ask(ENDED)["runsOrError"]["results"], 240)
    assert imported_from(namespace.workspace.root) == []


def test_a_program_of_the_user_may_still_wipe(server: Server) -> None:
    """The last: what was refused above would have worked."""
    server.ask(WIPE)
    assert not history(server)
