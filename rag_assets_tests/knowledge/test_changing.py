"""Several sources in one run, sources that are retired, and addresses that are read again."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from rag_assets import KnowledgeConfig, KnowledgeRetriever, KnowledgeSource, Workspace
from rag_assets.knowledge import LibraryChange, ingest_many_sync, retire_sync
from rag_assets.model import ParseFailure, UsageError
from rag_assets.running import RunOutcome
from rag_assets.tracing import open_sql
from rag_assets.workspace import Namespace
from rag_assets_tests.libraries import build

ROOFS = "# Roofs\n\nA green roof was 7 degrees cooler than bitumen at noon.\n"
STREETS = "# Streets\n\nTrees along a street lower the radiant temperature.\n"


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Build by the same functions without a run around them; a name for each time."""
    done: list[str] = []

    def ingest_changes(namespace: Namespace) -> RunOutcome:
        build(namespace)
        done.append(namespace.name)
        return RunOutcome("no-run", is_success=True, errors=(), checks=())

    monkeypatch.setattr("rag_assets.running.ingest_changes", ingest_changes)
    return done


@pytest.fixture
def config(tmp_path: Path) -> KnowledgeConfig:
    return KnowledgeConfig(
        base_config={
            "vector_store": {"path": str(tmp_path / "library")},
            "embedding": {"provider": "hashing", "model": "words"},
        }
    )


def change(config: KnowledgeConfig, *sources: KnowledgeSource, **more: object) -> LibraryChange:
    return ingest_many_sync(sources, namespace="demo", config=config, **more)  # type: ignore[arg-type]


def found(config: KnowledgeConfig, question: str) -> set[str]:
    with KnowledgeRetriever.from_config(namespace="demo", config=config) as retriever:
        hits = retriever.retrieve_sync(question, top_k=10).hits
    return {chunk.document_id for chunk, _ in hits}


def statuses(config: KnowledgeConfig) -> dict[str, str]:
    place = config.base_config.vector_store
    assert place is not None
    with open_sql(Workspace.open(Path(str(place.path)))) as connection:
        query = "SELECT metadata->>'doc_uid', status FROM knowledge_docs"
        return dict(connection.execute(query).fetchall())


def test_many_sources_are_one_run_and_one_that_cannot_be_read_harms_no_other(
    config: KnowledgeConfig, runs: list[str], tmp_path: Path
) -> None:
    gone = KnowledgeSource(tmp_path / "gone.md")
    empty = KnowledgeSource("empty.md", b"")
    roofs, streets = KnowledgeSource("roofs.md", ROOFS), KnowledgeSource("streets.md", STREETS)
    outcome = change(config, roofs, gone, empty, streets)
    assert runs == ["demo"]
    assert [each.doc_uid for each in outcome.ingested] == ["roofs", "streets"]
    assert all(each.is_new and each.run is outcome.run for each in outcome.ingested)
    (first, missing), (second, unread) = outcome.failed
    assert (first, second) == (gone, empty)
    assert isinstance(missing, UsageError)
    assert isinstance(unread, ParseFailure)
    assert found(config, "roofs") == {"roofs", "streets"}


def test_nothing_to_do_is_no_run(config: KnowledgeConfig, runs: list[str], tmp_path: Path) -> None:
    outcome = change(config, KnowledgeSource(tmp_path / "gone.md"))
    assert (runs, outcome.run, len(outcome.failed)) == ([], None, 1)
    assert change(config).run is None


def test_a_source_is_retired_where_another_takes_its_place(
    config: KnowledgeConfig, runs: list[str]
) -> None:
    change(config, KnowledgeSource("roofs.md", ROOFS), KnowledgeSource("streets.md", STREETS))
    old = KnowledgeSource("roofs.md", ROOFS)
    new = KnowledgeSource("new roofs.md", ROOFS.replace("7", "8"))
    outcome = change(config, new, retire=[old])
    assert len(runs) == 2
    assert (outcome.retired, outcome.ingested[0].doc_uid) == (("roofs",), "new-roofs")
    assert found(config, "green roof") == {"new-roofs", "streets"}
    assert statuses(config) == {
        "roofs": "archived", "new-roofs": "published", "streets": "published",
    }  # fmt: skip
    assert outcome.ingested[0].path.with_name("roofs.md").read_text() == ROOFS


@pytest.mark.parametrize("name", ["streets.md", "streets", "ingested/streets.md"])
def test_a_source_is_named_as_it_was_given_or_by_its_document(
    config: KnowledgeConfig, runs: list[str], name: str
) -> None:
    change(config, KnowledgeSource("roofs.md", ROOFS), KnowledgeSource("streets.md", STREETS))
    assert retire_sync(name, namespace="demo", config=config, reason="old").retired == ("streets",)
    assert found(config, "roofs and streets") == {"roofs"}
    # It is out already: there is nothing to run for.
    again = retire_sync(name, namespace="demo", config=config)
    assert (again.retired, again.run, len(runs)) == ((), None, 2)


def test_all_documents_of_a_source_are_retired_and_nothing_where_one_name_is_wrong(
    config: KnowledgeConfig, runs: list[str]
) -> None:
    change(config, KnowledgeSource("roofs.md", ROOFS))
    change(config, KnowledgeSource("roofs.md", STREETS))
    with pytest.raises(UsageError, match=r"no document 'gone\.md'"):
        retire_sync("roofs.md", "gone.md", namespace="demo", config=config)
    assert set(statuses(config).values()) == {"published"}
    outcome = retire_sync(KnowledgeSource("roofs.md"), namespace="demo", config=config)
    assert len(outcome.retired) == 2
    assert set(statuses(config).values()) == {"archived"}


@pytest.mark.usefixtures("runs")
def test_a_retired_source_that_is_ingested_again_is_taken_in_again(config: KnowledgeConfig) -> None:
    roofs = KnowledgeSource("roofs.md", ROOFS)
    change(config, roofs, KnowledgeSource("streets.md", STREETS))
    retire_sync(roofs, namespace="demo", config=config)
    again = roofs.ingest_sync(namespace="demo", config=config)
    assert (again.doc_uid, again.is_new) == ("roofs", False)
    assert found(config, "green roof") == {"roofs", "streets"}


class Page:
    """One page behind HTTP, with its version, and what was asked for it."""

    def __init__(self) -> None:
        self.body, self.etag = ROOFS.encode(), '"v1"'
        self.asked: list[dict[str, str]] = []


@pytest.fixture
def page() -> Iterator[tuple[Page, str]]:
    state = Page()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

        def do_GET(self) -> None:
            state.asked.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(200)
            self.send_header("ETag", state.etag)
            self.send_header("Content-Type", "text/markdown")
            self.send_header("Content-Length", str(len(state.body)))
            self.end_headers()
            self.wfile.write(state.body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield state, f"http://127.0.0.1:{server.server_port}/roofs.md"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.usefixtures("runs")
def test_an_address_that_is_read_again_is_new_where_it_holds_other_bytes(
    config: KnowledgeConfig, page: tuple[Page, str], tmp_path: Path
) -> None:
    state, url = page
    change(config, KnowledgeSource("first.md", STREETS))
    allowed = {"download": {"private_addresses": True}}
    place = tmp_path / "library/namespaces/demo.yaml"
    place.write_text(place.read_text() + yaml.safe_dump(allowed))
    source = KnowledgeSource(url)
    first = source.ingest_sync(namespace="demo", config=config)
    again = source.ingest_sync(namespace="demo", config=config)
    assert (first.is_new, again.is_new, again.doc_uid) == (True, False, first.doc_uid)
    state.body, state.etag = ROOFS.replace("7", "8").encode(), '"v2"'
    changed = source.ingest_sync(namespace="demo", config=config)
    assert changed.is_new
    assert changed.doc_uid != first.doc_uid


def test_an_address_of_this_machine_is_refused_unless_it_is_allowed(
    config: KnowledgeConfig, runs: list[str], page: tuple[Page, str]
) -> None:
    state, url = page
    outcome = change(config, KnowledgeSource(url))
    ((_, error),) = outcome.failed
    assert "download.private_addresses: true" in str(error)
    assert (state.asked, runs) == ([], [])
