"""A run publishes before it encodes, where that takes long and takes nothing away."""

from pathlib import Path
from typing import Any

import pytest

from rag_assets.defs.assets import first_index
from rag_assets.publishing import vectors_to_come
from rag_assets.running import ingest
from rag_assets.storage import current_folder, read_manifest, read_pointer
from rag_assets.workspace import Namespace, Workspace
from rag_assets_tests.libraries import make_workspace, write_raw

FILES = {"evidence/roofs.md": "# Roofs\n\nCool roofs reflect the light of the sun.\n"}


@pytest.fixture
def namespace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Namespace:
    monkeypatch.setattr(first_index, "_FEWEST", 1)
    return make_workspace(tmp_path / "library", FILES).namespace("thesis")


def run(namespace: Namespace) -> tuple[dict[str, Any], list[str]]:
    """Return what the asset says of its part of an ingest, and the news of the run."""
    news: list[str] = []
    again = Workspace.open(namespace.workspace.root).namespace("thesis")
    done = ingest(again, on_progress=lambda what, _, total: None if total else news.append(what))
    assert done.is_success, done.errors
    return dict(done.metadata["thesis/first_index"]), news


def names(namespace: Namespace) -> list[str]:
    pointer = read_pointer(namespace.publications)
    assert pointer is not None
    return [entry.publication for entry in pointer.history]


def test_new_documents_can_be_asked_before_their_vectors_are_there(namespace: Namespace) -> None:
    said, news = run(namespace)
    assert said["published"]
    assert [line.partition(";")[0] for line in news] == ["You can query thesis now"]
    last, first = names(namespace)
    assert first == said["publication"]
    assert vectors_to_come(read_manifest(namespace.publications / first)) is not None
    assert current_folder(namespace.publications, "thesis").name == last
    assert vectors_to_come(read_manifest(namespace.publications / last)) is None


@pytest.mark.slow
def test_few_vectors_wait_for_the_one_publication(
    namespace: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_index, "_FEWEST", 1000)
    said, news = run(namespace)
    assert (said["published"], news, len(names(namespace))) == (False, [], 1)


@pytest.mark.slow
def test_vectors_that_any_record_holds_are_not_to_come(namespace: Namespace) -> None:
    long = "".join(f"## Part {n}\n\nRoof number {n} reflects light.\n\n" for n in range(30))
    write_raw(namespace.workspace, "evidence/long.md", long)
    run(namespace)
    write_raw(namespace.workspace, "evidence/long.md", long.replace("number 7", "number seven"))
    said, _ = run(namespace)
    assert said["vectors to come"] == 1


def test_what_can_be_found_keeps_its_vectors_while_all_is_cut_anew(namespace: Namespace) -> None:
    run(namespace)
    before = names(namespace)
    write_raw(namespace.workspace, "evidence/leaves.md", "# Leaves\n\nLeaves give shade.\n")
    config = namespace.workspace.root / "config.yaml"
    config.write_text(
        config.read_text(encoding="utf-8") + "\nchunk: {min_tokens: 5}\n", encoding="utf-8"
    )
    said, _ = run(namespace)
    assert not said["published"]
    assert len(names(namespace)) == len(before) + 1
