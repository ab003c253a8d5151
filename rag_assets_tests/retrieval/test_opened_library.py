"""A library that stays open while publications come and go, asked by several threads."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rag_assets.auditing import audit_citations
from rag_assets.auditing.storing import audit_claims
from rag_assets.evidence import ask
from rag_assets.model import PublicationError
from rag_assets.retrieval import OpenedLibrary, Reader, Retriever
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import build, make_workspace

ROOFS = "# Roofs\n\nA green roof was 7 degrees cooler than bitumen at noon.\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = make_workspace(tmp_path, {"evidence/roofs.md": ROOFS})
    build(made.namespace("thesis"))
    return made


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of publications, one for each time that one is opened."""
    names: list[str] = []
    original = Reader.__init__

    def count(self: Reader, folder: Path, namespace: str, name: str) -> None:
        names.append(name)
        original(self, folder, namespace, name)

    monkeypatch.setattr(Reader, "__init__", count)
    return names


def found(library: OpenedLibrary, question: str) -> set[str]:
    with Retriever(library) as retriever:
        return {hit.doc_uid for hit in retriever.retrieve(question).hits}


def change(workspace: Workspace, name: str, text: str) -> None:
    (workspace.root / "raw" / "evidence" / name).write_text(text, "utf-8")
    build(workspace.namespace("thesis"))


def test_many_questions_open_a_publication_once(workspace: Workspace, opened: list[str]) -> None:
    with OpenedLibrary(workspace) as library:
        for question in ("cool roofs", "bitumen", "noon"):
            assert found(library, question) == {"roofs"}
    assert len(opened) == 1


@pytest.mark.parametrize("command", ["query", "citations", "claims"])
def test_a_question_and_an_audit_open_each_publication_once(
    workspace: Workspace, opened: list[str], command: str
) -> None:
    draft = workspace.drafts / "chapter.md"
    draft.parent.mkdir(exist_ok=True)
    draft.write_text("Roofs always cool cities by 7 degrees {#roofs}. All roofs cool.\n", "utf-8")
    if command == "query":
        ask(workspace, "How cool are roofs?")
    elif command == "citations":
        audit_citations(workspace, draft)
    else:
        audit_claims(workspace, draft)
    assert len(opened) == 1


def test_the_next_question_sees_what_was_published_meanwhile(
    workspace: Workspace, opened: list[str]
) -> None:
    with OpenedLibrary(workspace) as library:
        with library.hold() as held:
            change(workspace, "walls.md", "# Walls\n\nA green wall was cooler than brick.\n")
            before = set(held.readers["thesis"].documents()["doc_uid"].to_pylist())
            assert found(library, "green") == {"roofs", "walls"}
            # What is held is still whole: the catalogue of the older publication answers.
            assert before == {"roofs"}
            assert held.readers["thesis"].fetch_documents(["roofs"]).num_rows == 1
        assert found(library, "green") == {"roofs", "walls"}
    assert len(opened) == len(set(opened)) == 2


def test_what_nobody_holds_is_let_go_once_another_is_current(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[str] = []
    original = Reader.close
    monkeypatch.setattr(Reader, "close", lambda self: (closed.append(self.name), original(self))[1])
    with OpenedLibrary(workspace) as library:
        with library.hold() as held:
            first = held.names["thesis"]
        change(workspace, "walls.md", "# Walls\n\nA green wall was cooler than brick.\n")
        assert closed == []
        found(library, "green")
        assert closed == [first]


def test_threads_ask_at_once_and_answers_are_those_of_one(workspace: Workspace) -> None:
    for number in range(5):
        change(workspace, f"wall-{number}.md", f"# Wall {number}\n\nWall {number} was cool.\n")
    questions = [f"Wall {number}" for number in range(5)] * 4
    with OpenedLibrary(workspace) as library:
        alone = [found(library, question) for question in questions]
        barrier = threading.Barrier(4)

        def work(own: list[str]) -> list[set[str]]:
            barrier.wait()
            return [found(library, question) for question in own]

        with ThreadPoolExecutor(4) as pool:
            parts = list(pool.map(work, [questions[start::4] for start in range(4)]))
    assert [parts[index % 4][index // 4] for index in range(len(questions))] == alone


def test_nothing_is_published(tmp_path: Path) -> None:
    empty = make_workspace(tmp_path, {})
    with OpenedLibrary(empty) as library:
        with library.hold() as held:
            assert held.readers == {}
            assert "thesis" in held.missing
        with pytest.raises(PublicationError, match="rag ingest"), Retriever(library):
            pass
