"""The Dagster UI of a workspace as a person sees it, in headless Chromium, with its daemon."""

import hashlib
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from rag_assets.auditing import draft_key
from rag_assets.running import STAGES, materialize_partition, materialize_stages
from rag_assets.workspace import Namespace, Workspace, shipped_settings
from rag_assets.workspace.stages import switched_on
from rag_assets_tests.e2e.browsing import (
    CHROMIUM,
    NO_CHROMIUM,
    SEE_MILLISECONDS,
    Server,
    browse,
    serve,
)
from rag_assets_tests.libraries import make_workspace

pytestmark = [pytest.mark.ui, pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)]
expect.set_options(timeout=SEE_MILLISECONDS)

NOTE = "# Roofs\n\nA green roof was 7 degrees cooler than bitumen at noon.\n"
BROKEN = b"%PDF-1.7 and nothing of a PDF after it"
RUNS = """query($tags: [ExecutionTag!]) {
  runsOrError(filter: {tags: $tags, statuses: [SUCCESS, FAILURE]}) {
    ... on Runs { results { status assetSelection { path } } }
  }
}"""

IDS = "{ runsOrError { ... on Runs { results { runId } } } }"


@pytest.fixture(scope="module")
def namespace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Namespace]:
    root = tmp_path_factory.mktemp("ui") / "library"
    files: dict[str, str | bytes] = {
        "evidence/roofs.md": NOTE,
        "evidence/broken.pdf": BROKEN,
        "evidence/empty.md": b"",
    }
    workspace = make_workspace(root, files)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAG_WORKSPACE", str(root))
        patch.setenv("DAGSTER_HOME", str(workspace.dagster_home))
        outcome = materialize_stages(workspace.namespace("thesis"), STAGES)
        assert outcome.is_published, outcome.errors
        draft = workspace.drafts / "chapter.md"
        draft.write_text("A green roof was 7 degrees cooler than bitumen at noon. {#roofs}\n")
        audit = materialize_partition(workspace, "citation_audits", draft_key(draft))
        assert audit.is_success, audit.errors
    yield Workspace.open(root).namespace("thesis")


@pytest.fixture(scope="module")
def server(namespace: Namespace) -> Iterator[Server]:
    root = namespace.workspace.root
    with serve(root, root / "ui.log") as running:
        yield running


@pytest.fixture(scope="module")
def page(server: Server) -> Iterator[Page]:
    with browse() as opened:
        yield opened


def partition_of(namespace: Namespace, content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    return namespace.partition_of(hashlib.sha256(data).hexdigest())


def open_partition(page: Page, server: Server, asset: str, partition: str) -> None:
    page.goto(f"{server.url}/assets/thesis/{asset}?view=partitions&partition={partition}")


def test_the_asset_graph_shows_every_stage(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/locations/rag_assets/asset-groups/thesis/lineage")
    shown = switched_on(STAGES, shipped_settings())
    for stage in (*shown, "evidence_packs", "agent_answers", "citation_audits"):
        expect(page.get_by_text(stage, exact=True).first).to_be_visible()


def test_a_partition_shows_its_documents_and_a_preview(
    page: Page, server: Server, namespace: Namespace
) -> None:
    open_partition(page, server, "parse_reports", partition_of(namespace, NOTE))
    expect(page.get_by_role("cell", name="raw/evidence/roofs.md", exact=True)).to_be_visible()
    expect(page.get_by_role("cell", name="markdown", exact=True)).to_be_visible()
    # As it is written: nothing of a document is rendered.
    expect(page.get_by_text("# Roofs", exact=False).first).to_be_visible()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("raw/evidence/empty.md", b"", "The file is empty (0 bytes)"),
        ("raw/evidence/broken.pdf", BROKEN, "The PDF cannot be opened"),
    ],
)
def test_a_failed_document_is_seen_in_its_partition(
    page: Page, server: Server, namespace: Namespace, name: str, content: bytes, said: str
) -> None:
    open_partition(page, server, "parse_reports", partition_of(namespace, content))
    row = page.get_by_role("row").filter(has=page.get_by_role("cell", name=name, exact=True)).last
    expect(row.get_by_role("cell", name="failed", exact=True)).to_be_visible()
    expect(row.get_by_text(said)).to_be_visible()


def test_the_overview_shows_the_totals_of_the_last_run(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/assets/thesis/parse_reports?view=overview")
    for name, value in (("whole run: documents", "3"), ("whole run: failed", "2")):
        row = page.get_by_role("row").filter(has=page.get_by_text(name, exact=True)).last
        expect(row.get_by_text(value, exact=True)).to_be_visible()


def test_a_link_leads_from_the_overview_to_a_partition_with_documents(
    page: Page, server: Server, namespace: Namespace
) -> None:
    page.goto(f"{server.url}/assets/thesis/chunks?view=overview")
    page.get_by_role("link", name=partition_of(namespace, NOTE), exact=True).first.click()
    expect(page.get_by_role("cell", name="raw/evidence/roofs.md", exact=True)).to_be_visible()


def test_the_lineage_of_an_audit_leads_to_the_document(
    page: Page, server: Server, namespace: Namespace
) -> None:
    page.goto(f"{server.url}/assets/citation_audits?view=overview")
    link = f"parse_reports {partition_of(namespace, NOTE)}"
    page.get_by_role("link", name=link, exact=True).first.click()
    expect(page.get_by_role("cell", name="raw/evidence/roofs.md", exact=True)).to_be_visible()


def test_when_raw_was_looked_at_stands_with_the_freshness_of_a_publication(
    page: Page, server: Server
) -> None:
    page.goto(f"{server.url}/assets/thesis/search_index?view=checks")
    page.get_by_text("publication_is_fresh").first.click()
    expect(
        page.get_by_text(re.compile("raw/ held 3 files when it was looked at")).first
    ).to_be_visible()


def test_failed_documents_are_told_on_the_checks_tab(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/assets/thesis/parse_reports?view=checks")
    told = page.get_by_text(re.compile(r"broken\.pdf: failed.* · .*empty\.md: failed"))
    expect(told.first).to_be_visible()
    expect(
        page.get_by_text(re.compile("^Every file of raw/ could be read, parsed and named, or"))
    ).to_be_visible()


def test_all_assets_of_all_groups_can_be_materialized_at_once(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/asset-groups")
    page.get_by_role("button", name=re.compile("Materialize all")).click()
    launch = page.get_by_role("dialog").get_by_role("button", name="Launch backfill")
    expect(launch).to_be_enabled()


def test_every_sensor_has_a_switch_and_none_runs_unless_it_was_asked_for(
    page: Page, server: Server
) -> None:
    page.goto(f"{server.url}/automation")
    for name in (
        "thesis_raw_files", "thesis_configuration", "thesis_chunk_edits", "questions", "drafts",
    ):  # fmt: skip
        expect(page.get_by_text(name, exact=True)).to_be_visible()
    expect(page.locator("input[type=checkbox]:checked")).to_have_count(0)


@pytest.mark.slow
def test_a_partition_is_materialized_by_a_click(page: Page, server: Server) -> None:
    open_partition(page, server, "chunks", "a")
    page.get_by_role("button", name="Materialize").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Launch 1 run").click()
    [run] = server.wait("the clicked run", lambda: finished_runs(server, "a"), 240)
    assert run == {"status": "SUCCESS", "assetSelection": [{"path": ["thesis", "chunks"]}]}


def finished_runs(server: Server, partition: str) -> list[dict[str, object]]:
    tags = [{"key": "dagster/partition", "value": partition}]
    found: list[dict[str, object]] = server.ask(RUNS, tags=tags)["runsOrError"]["results"]
    return found


@pytest.mark.slow
def test_a_run_of_a_command_can_be_executed_again_from_the_ui(page: Page, server: Server) -> None:
    # The run that built the workspace was made by a command; it is the oldest.
    [*_, built] = server.ask(IDS)["runsOrError"]["results"]
    page.goto(f"{server.url}/runs/{built['runId']}")
    again = page.get_by_role("button", name=re.compile("Re-execute"))
    expect(again.first).to_be_enabled()
    again.first.click()
    # The page of the new run, whose log comes line by line through the guard's websocket.
    page.wait_for_url(lambda url: "/runs/" in url and built["runId"] not in url)
    expect(page.get_by_text("RUN_SUCCESS").first).to_be_visible(timeout=240_000)
