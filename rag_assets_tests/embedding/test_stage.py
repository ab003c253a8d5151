"""The stage `embeddings`: no lock while it encodes, engines that it is given, two runs at once."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_assets.embedding import HashingEmbedder, embedding_models, stage
from rag_assets.embedding.stage import embeddings_schema, prune_vectors, refresh_embeddings
from rag_assets.model import StageOutcome
from rag_assets.storage import hold_lock, read_rows
from rag_assets.storage.execution import Execution, LocalExecution
from rag_assets.workspace import Namespace, require_inventory
from rag_assets.workspace.stages import claim_lock, stage_lock
from rag_assets_tests.execution.elsewhere import Elsewhere
from rag_assets_tests.laws.driver import (
    build,
    clean_build,
    make_workspace,
    observe_encoding,
    put,
    silent,
    state_of,
)

BEFORE = ("inventory", "parse_reports", "parents", "chunks")
_WAIT_SECONDS = 120


@pytest.fixture
def namespace(tmp_path: Path) -> Namespace:
    """Notes that are cut into chunks and not encoded."""
    workspace = make_workspace(tmp_path / "library")
    for number in range(6):
        text = f"# Note {number}\n\nRoof {number} is cool.\n\n# Shade\n\nTree {number} shades.\n"
        put(workspace, f"evidence/{number}.md", text)
    namespace = workspace.namespace("lib")
    build(namespace, BEFORE)
    return namespace


def encode(
    namespace: Namespace, notify: Callable[[str], None] = silent, execution: Execution | None = None
) -> dict[str, StageOutcome]:
    return refresh_embeddings(
        namespace,
        require_inventory(namespace),
        namespace.partition_keys,
        embedding_models(namespace.settings.embed),
        notify,
        execution=execution,
    )


def encoded_by(outcomes: dict[str, StageOutcome]) -> int:
    return sum(outcome.counts["encoded by words"] for outcome in outcomes.values())


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Callable[[], None]]]:
    """What is called, once each, in the middle of the next encodings."""
    original = HashingEmbedder.encode_passages
    calls: list[Callable[[], None]] = []

    def encode_passages(self: HashingEmbedder, texts: Any, on_progress: Any = None) -> Any:
        if calls:
            calls.pop(0)()
        return original(self, texts, on_progress)

    monkeypatch.setattr(HashingEmbedder, "encode_passages", encode_passages)
    yield calls
    assert not calls


def test_the_lock_of_a_partition_is_free_while_its_passages_are_encoded(
    namespace: Namespace, meanwhile: list[Callable[[], None]]
) -> None:
    def take_every_lock() -> None:
        for partition in namespace.partition_keys:
            with hold_lock(stage_lock(namespace, "embeddings", partition), "", silent, seconds=0):
                pass
            prune_vectors(namespace, partition, ["another model"], silent)

    meanwhile.append(take_every_lock)
    assert encoded_by(encode(namespace)) == 12


def test_two_runs_encode_no_passage_twice(
    namespace: Namespace, meanwhile: list[Callable[[], None]], tmp_path: Path
) -> None:
    reached, goes_on = threading.Event(), threading.Event()

    def wait() -> None:
        reached.set()
        assert goes_on.wait(_WAIT_SECONDS)

    meanwhile.append(wait)
    found: list[dict[str, StageOutcome]] = []
    said: list[str] = []

    def notify(sentence: str) -> None:
        said.append(sentence)
        goes_on.set()

    with observe_encoding() as encoded:
        first = threading.Thread(target=lambda: found.append(encode(namespace)))
        first.start()
        assert reached.wait(_WAIT_SECONDS)
        second = encode(namespace, notify)
        goes_on.set()
        first.join(_WAIT_SECONDS)
    assert "waiting for another process that is writing embeddings" in said[0]
    assert len(encoded) == len(set(encoded)) == 12
    assert encoded_by(found[0]) + encoded_by(second) == 12
    assert {k: o.digest for k, o in found[0].items()} == {k: o.digest for k, o in second.items()}
    build(namespace)
    assert state_of(namespace) == state_of(clean_build(namespace, tmp_path / "clean"))


def test_a_run_that_was_overtaken_writes_nothing(
    namespace: Namespace, meanwhile: list[Callable[[], None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs that do not see each other's claims, as on two machines."""
    stage = "rag_assets.embedding.stage.claim_lock"
    written: dict[Path, int] = {}

    def overtake() -> None:
        other = namespace.workspace.locks / "other"
        with monkeypatch.context() as patch:
            patch.setattr(stage, lambda *names: other / claim_lock(*names).name)
            encode(namespace)
        written.update(
            (path, path.stat().st_ino) for path in namespace.records.glob("embeddings/*.parquet")
        )

    meanwhile.append(overtake)
    outcomes = encode(namespace)
    assert written
    assert {path: path.stat().st_ino for path in written} == written
    assert sum(outcome.computed for outcome in outcomes.values()) == 0
    assert sum(outcome.counts["documents"] for outcome in outcomes.values()) == 6


def test_chunks_that_another_run_has_cut_meanwhile_are_encoded_as_they_are_now(
    namespace: Namespace, meanwhile: list[Callable[[], None]], tmp_path: Path
) -> None:
    def cut_otherwise() -> None:
        path = namespace.workspace.namespace_file("lib")
        path.write_text(path.read_text().replace("max_tokens: 24", "max_tokens: 20"))
        put(namespace.workspace, "evidence/0.md", "# Note\n\nAnother note.\n")
        build(namespace.workspace.namespace("lib"), BEFORE)

    meanwhile.append(cut_otherwise)
    encode(namespace)
    late = namespace.workspace.namespace("lib")
    build(late)
    assert state_of(late) == state_of(clean_build(late, tmp_path / "clean"))


def test_another_engine_gives_the_same_rows(
    namespace: Namespace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(stage, "JOB_TEXTS", 1)
    said = encode(namespace, execution=Elsewhere())
    assert encoded_by(said) == 12
    build(namespace)
    monkeypatch.undo()
    clean = clean_build(namespace, tmp_path / "clean")
    for partition in namespace.partition_keys:
        ours, theirs = (
            read_rows(each.record("embeddings", partition), embeddings_schema(), None)
            for each in (namespace, clean)
        )
        assert ours.equals(theirs)
    assert state_of(namespace) == state_of(clean)


def test_jobs_are_cut_by_number_and_joined_in_order(
    namespace: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "JOB_TEXTS", 3)
    (model,) = embedding_models(namespace.settings.embed)
    texts = [f"roof {number}" for number in range(8)]
    told: list[tuple[int, int]] = []
    found = stage.encode_texts(
        model, texts, LocalExecution(), silent, lambda *figures: told.append(figures)
    )
    assert np.array_equal(np.array(found), model.embedder().encode_passages(texts))
    assert told[-1] == (8, 8)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
