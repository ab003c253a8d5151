"""`rag ui` with its daemon: what is dropped into the workspace is taken up with no command."""

import hashlib
from collections.abc import Callable, Iterator

import pymupdf
import pytest

from rag_assets.retrieval import Reader
from rag_assets.storage import current_folder
from rag_assets.workspace import Namespace, read_journal
from rag_assets_tests.e2e.browsing import Server, serve
from rag_assets_tests.e2e.workspaces import NOTES, SETTINGS
from rag_assets_tests.libraries import build, make_workspace

pytestmark = [pytest.mark.ui, pytest.mark.slow]

# A bound for a machine that others use as well; the benchmark says what it takes.
TAKEN_SECONDS = 300
TICKS = """query($sensor: SensorSelector!) {
  sensorOrError(sensorSelector: $sensor) {
    ... on Sensor { sensorState { ticks(limit: 50) { status skipReason runIds } } }
  }
}"""


@pytest.fixture(scope="module")
def namespace(tmp_path_factory: pytest.TempPathFactory) -> Namespace:
    root = tmp_path_factory.mktemp("daemon") / "library"
    namespace = make_workspace(root, NOTES, SETTINGS).namespace("thesis")
    build(namespace)
    return namespace


@pytest.fixture(scope="module")
def server(namespace: Namespace) -> Iterator[Server]:
    root = namespace.workspace.root
    with serve(root, root / "ui.log", "--sensors") as running:
        yield running


def skip_reasons(server: Server, sensor: str) -> list[str]:
    selector = {
        "sensorName": sensor,
        "repositoryName": "__repository__",
        "repositoryLocationName": "rag_assets",
    }
    state = server.ask(TICKS, sensor=selector)["sensorOrError"]["sensorState"]
    assert not [tick for tick in state["ticks"] if tick["status"] == "FAILURE"]
    return [tick["skipReason"] for tick in state["ticks"] if tick["skipReason"]]


def says(server: Server, sensor: str, words: str) -> Callable[[], bool]:
    return lambda: any(words in reason for reason in skip_reasons(server, sensor))


def found_uids(namespace: Namespace, word: str) -> set[str]:
    folder = current_folder(namespace.publications, namespace.name)
    with Reader(folder, namespace.name, folder.name) as reader:
        return {hit.doc_uid for hit, _ in reader.search_text(word, 10)}


def test_a_pdf_that_is_being_copied_is_taken_once_it_rests_and_becomes_searchable(
    namespace: Namespace, server: Server
) -> None:
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), "A pond cools the air beside it by one degree.")
    data: bytes = document.tobytes()
    quiet = says(server, "thesis_raw_files", "4 files, nothing changed")
    server.wait("a quiet look", quiet, TAKEN_SECONDS)
    dropped = namespace.workspace.root / "raw/evidence/ponds.pdf"
    moving = says(server, "thesis_raw_files", "1 are still being written")
    with dropped.open("wb", buffering=0) as copy:
        done = copy.write(data[: len(data) // 2])

        def seen_while_it_grows() -> bool:
            nonlocal done
            done += copy.write(data[done : done + 1])
            return moving()

        server.wait("the half copy to be seen", seen_while_it_grows, TAKEN_SECONDS)
        copy.write(data[done:])
    server.wait("the pond", lambda: "ponds" in found_uids(namespace, "pond"), TAKEN_SECONDS)
    bound = [b for b in read_journal(namespace.journal).bindings if b.doc_uid == "ponds"]
    assert [b.content_hash for b in bound] == [hashlib.sha256(data).hexdigest()]


def test_a_question_that_is_dropped_is_answered(namespace: Namespace, server: Server) -> None:
    workspace = namespace.workspace
    (workspace.queries / "roofs.yaml").write_text("question: How cool is a green roof?\n")
    pack = workspace.outputs / "evidence_pack_v001.md"
    server.wait("the pack", pack.exists, TAKEN_SECONDS)
    assert "green roof was 7 degrees cooler" in pack.read_text(encoding="utf-8")
    server.wait("rest", says(server, "questions", "nothing new"), TAKEN_SECONDS)
