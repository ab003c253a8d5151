"""A sparse encoder beside BM25: declared, built, searched and explained."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from rag_assets import KnowledgeConfig, KnowledgeRetriever, KnowledgeSource, Workspace
from rag_assets.embedding import HashingEmbedder
from rag_assets.knowledge import SparseEmbeddingConfig
from rag_assets.model import ConfigurationError
from rag_assets.retrieval import Hit, Reader
from rag_assets.running import RunOutcome
from rag_assets.storage import current_folder
from rag_assets.workspace import Namespace, shipped_settings
from rag_assets_tests.libraries import build
from rag_assets_tests.sparse_models import save_word_encoder

pytestmark = pytest.mark.model

ROOFS = "# Roofs\n\nA green roof was 7 degrees cooler than bitumen at noon.\n"
OWLS = "# Owls\n\nOwls hunt at night and sleep by day.\n"
WORDS = {"provider": "hashing", "model": "words"}


@pytest.fixture(autouse=True)
def _without_dagster(monkeypatch: pytest.MonkeyPatch) -> None:
    def ingest(namespace: Namespace) -> RunOutcome:
        build(namespace)
        return RunOutcome("no-run", is_success=True, errors=(), checks=())

    monkeypatch.setattr("rag_assets.running.ingest_changes", ingest)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_word_encoder(tmp_path_factory.mktemp("encoder")))


def config_at(folder: Path, **base: Any) -> KnowledgeConfig:
    return KnowledgeConfig(
        base_config={"vector_store": {"path": str(folder)}, "embedding": WORDS, **base}
    )


@pytest.fixture
def library(tmp_path: Path, encoder: str) -> Path:
    sparse = SparseEmbeddingConfig(model=encoder)
    for name, text in (("roofs.md", ROOFS), ("owls.md", OWLS)):
        KnowledgeSource(name, text).ingest_sync(
            namespace="demo", config=config_at(tmp_path), sparse_embedder=sparse
        )
    return tmp_path


def reader_of(root: Path) -> Reader:
    namespace = Workspace.open(root).namespace("demo")
    folder = current_folder(namespace.publications, "demo")
    return Reader(folder, "demo", folder.name)


def test_ingest_declares_it_and_the_publication_holds_its_weights(
    library: Path, encoder: str
) -> None:
    written = yaml.safe_load((library / "namespaces/demo.yaml").read_text("utf-8"))
    assert written["embed"]["models"] == [
        {"kind": "hashing", "model": "words"},
        {"kind": "sparse_encoder", "model": encoder},
    ]
    with reader_of(library) as reader:
        assert [model.column for model in reader.models] == ["vector", "sparse_vector"]
        assert reader.fingerprints == (reader.models[0].fingerprint,)
        for row in reader.fetch_chunks("owls").to_pylist():
            assert row["sparse_vector"]
            assert all(pair["weight"] > 0 for pair in row["sparse_vector"])


def test_hybrid_asks_it_beside_the_words_and_semantic_does_not(library: Path, encoder: str) -> None:
    found: dict[str, list[Hit]] = {}
    with KnowledgeRetriever.from_config(namespace="demo", config=config_at(library)) as retriever:
        for method in ("hybrid", "semantic", "lexical"):
            how = KnowledgeConfig(retrieve_config={"method": method})
            result = retriever.retrieve_sync("When do owls hunt?", knowledge=how)
            found[method] = [chunk.hit for chunk, _ in result.hits]
    best, last = found["hybrid"]
    assert best.doc_uid == "owls"
    assert best.ranks == {"lexical": 1, "words": 1, encoder: 1}
    weights = best.explanation["weights"]
    assert weights["lexical"] == weights[encoder] < weights["words"]
    assert best.scores[encoder] > 0
    # It shares no word with the question: the encoder scores what others found.
    assert encoder not in last.ranks
    assert last.scores[encoder] == 0
    assert all(hit.scores.keys() == {"words"} for hit in found["semantic"])
    assert all(hit.scores.keys() == {"lexical"} for hit in found["lexical"])


def test_an_encoder_that_comes_later_encodes_alone(
    tmp_path: Path, encoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    KnowledgeSource("owls.md", OWLS).ingest_sync(namespace="demo", config=config_at(tmp_path))
    path = tmp_path / "namespaces/demo.yaml"
    written = yaml.safe_load(path.read_text("utf-8"))
    written["embed"]["models"].append({"kind": "sparse_encoder", "model": encoder})
    path.write_text(yaml.safe_dump(written), encoding="utf-8")
    encoded: list[str] = []

    def encode(_: HashingEmbedder, texts: Sequence[str], on_progress: Any = None) -> None:
        encoded.extend(texts)

    monkeypatch.setattr(HashingEmbedder, "encode_passages", encode)
    build(Workspace.open(tmp_path).namespace("demo"))
    assert encoded == []
    with reader_of(tmp_path) as reader:
        assert all(row["sparse_vector"] for row in reader.fetch_chunks("owls").to_pylist())


def test_without_another_model_the_shipped_ones_stand_before_it(
    tmp_path: Path, encoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Namespace] = []

    def ingest(namespace: Namespace) -> RunOutcome:
        seen.append(namespace)
        return RunOutcome(
            "no-run", is_success=False, errors=("stopped here",), checks=(), is_published=False
        )

    monkeypatch.setattr("rag_assets.running.ingest_changes", ingest)
    config = KnowledgeConfig(base_config={"vector_store": {"path": str(tmp_path)}})
    with pytest.raises(Exception, match="stopped here"):
        KnowledgeSource("owls.md", OWLS).ingest_sync(
            namespace="demo", config=config, sparse_embedder={"model": encoder, "dimension": 64}
        )
    *dense, sparse = seen[0].settings.embed.models
    assert dense == shipped_settings().embed.models
    assert (sparse.kind, sparse.model, sparse.dimension) == ("sparse_encoder", encoder, 64)


def test_another_encoder_than_the_namespace_has_is_refused(library: Path, encoder: str) -> None:
    source = KnowledgeSource("owls.md", OWLS)
    with pytest.raises(ConfigurationError, match=r"built otherwise.*dimension"):
        source.ingest_sync(
            namespace="demo",
            config=config_at(library),
            sparse_embedder={"model": encoder, "dimension": 5},
        )
    with pytest.raises(ConfigurationError, match="names 'other'"):
        source.ingest_sync(
            namespace="demo",
            config=config_at(library, sparse_embedding={"model": "other"}),
            sparse_embedder={"model": encoder},
        )
