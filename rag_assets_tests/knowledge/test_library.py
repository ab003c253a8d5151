"""Sources in, passages out: the library over real small workspaces."""

import asyncio
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import rag_assets
from rag_assets import (
    ContextBuilder,
    KnowledgeConfig,
    KnowledgeRetriever,
    KnowledgeScope,
    KnowledgeSource,
    Workspace,
)
from rag_assets.knowledge.adding import add_content
from rag_assets.model import (
    ConfigurationError,
    ParseFailure,
    PublicationError,
    UsageError,
    WorkspaceError,
)
from rag_assets.publishing.facts import source_id
from rag_assets.retrieval import Reader
from rag_assets.running import RunOutcome
from rag_assets.storage import current_folder
from rag_assets.workspace import Namespace, require_inventory
from rag_assets_tests.libraries import build, make_workspace, write_raw

ROOFS = "# Roofs\n\nA green roof was 7 degrees cooler than bitumen at noon.\n"
STREETS = "# Streets\n\nTrees along a street lower the radiant temperature. Roofs are not cooler.\n"
WORDS = {"provider": "hashing", "model": "words"}


def config_at(folder: Path, **more: object) -> KnowledgeConfig:
    return KnowledgeConfig(
        base_config={"vector_store": {"path": str(folder)}, "embedding": WORDS}, **more
    )


@pytest.fixture
def without_dagster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Build by the same functions without a run around them."""

    def ingest(namespace: Namespace) -> RunOutcome:
        build(namespace)
        return RunOutcome("no-run", is_success=True, errors=(), checks=())

    monkeypatch.setattr("rag_assets.running.ingest_changes", ingest)


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.usefixtures("without_dagster")
def test_content_becomes_a_document_with_a_sidecar_that_says_where_from(tmp_path: Path) -> None:
    source = KnowledgeSource(
        "notes/Green Roofs.md",
        ROOFS,
        metadata={"title": "Cool roofs", "tags": ["roofs"], "project": "x"},
    )
    outcome = source.ingest_sync(namespace="demo", config=config_at(tmp_path))
    assert outcome.is_new
    assert outcome.doc_uid == "green-roofs"
    assert outcome.path == tmp_path / "raw/demo/evidence/ingested/green-roofs.md"
    assert outcome.path.read_text() == ROOFS
    sidecar = yaml.safe_load(outcome.path.with_name("green-roofs.md.meta.yaml").read_text())
    assert sidecar["source_uri"] == "notes/Green Roofs.md"
    assert sidecar["title"] == "Cool roofs"
    assert sidecar["metadata"]["project"] == "x"
    assert sidecar["metadata"]["source_info"]["kind"] == "content"
    namespace = Workspace.open(tmp_path).namespace("demo")
    folder = current_folder(namespace.publications, "demo")
    with Reader(folder, "demo", folder.name) as reader:
        (row,) = reader.sources().to_pylist()
        assert reader.documents().to_pylist()[0]["title"] == "Cool roofs"
    assert row["tags"] == ["roofs"]
    assert json.loads(row["metadata"])["source_uri"] == "notes/Green Roofs.md"


@pytest.mark.usefixtures("without_dagster")
def test_same_content_again_adds_nothing_and_other_content_changes_nothing(tmp_path: Path) -> None:
    config = config_at(tmp_path)
    first = KnowledgeSource("roofs.md", ROOFS).ingest_sync(namespace="demo", config=config)
    before = files(tmp_path / "raw")
    again = KnowledgeSource("other.md", ROOFS).ingest_sync(namespace="demo", config=config)
    assert not again.is_new
    assert again.doc_uid == first.doc_uid
    assert files(tmp_path / "raw") == before
    edited = KnowledgeSource("roofs.md", STREETS).ingest_sync(namespace="demo", config=config)
    assert edited.doc_uid != first.doc_uid
    after = files(tmp_path / "raw")
    assert {name: after[name] for name in before} == before
    assert len(after) == len(before) + 2


@pytest.mark.usefixtures("without_dagster")
def test_unreadable_source_is_an_error_with_its_reason(tmp_path: Path) -> None:
    with pytest.raises(ParseFailure) as caught:
        KnowledgeSource("empty.md", b"").ingest_sync(namespace="demo", config=config_at(tmp_path))
    assert caught.value.reason_code == "empty_file"


@pytest.mark.usefixtures("without_dagster")
def test_file_is_read_and_the_file_itself_stays(tmp_path: Path) -> None:
    own = tmp_path / "mine" / "roofs.md"
    own.parent.mkdir()
    own.write_text(ROOFS)
    config = config_at(tmp_path / "library")
    outcome = KnowledgeSource(own, metadata={"source_info": {"mine": 1}}).ingest_sync(
        namespace="demo", config=config
    )
    assert own.read_text() == outcome.path.read_text() == ROOFS
    kept = yaml.safe_load(outcome.path.with_name("roofs.md.meta.yaml").read_text())["metadata"]
    assert kept["source_info"] == {"mine": 1}
    assert kept["source_info_auto"]["name"] == "roofs.md"


def test_wrong_metadata_adds_nothing(tmp_path: Path) -> None:
    source = KnowledgeSource("roofs.md", ROOFS, metadata={"year": "soon"})
    with pytest.raises(UsageError, match="metadata: 'year'"):
        source.ingest_sync(namespace="demo", config=config_at(tmp_path))
    assert files(tmp_path / "raw") == {}


def test_sparse_embedder_that_is_handed_over_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="'sparse_embedder' is object: give Sparse"):
        KnowledgeSource("roofs.md", ROOFS).ingest_sync(
            namespace="demo", config=config_at(tmp_path), sparse_embedder=object()  # type: ignore[arg-type]
        )  # fmt: skip
    assert not (tmp_path / "raw").exists()


def test_how_the_bytes_were_found_is_no_part_of_the_source_id(tmp_path: Path) -> None:
    namespace = make_workspace(tmp_path, {}).namespace("thesis")
    identities = []
    for moment in ("now", "later"):
        for path in (tmp_path / "raw" / "evidence").rglob("*"):
            path.unlink() if path.is_file() else None
        told = {"source_info": moment, "source_id": f"the caller's of {moment}"}
        add_content(namespace, b"# A", "a.md", "https://a.example/a", told)
        build(namespace)
        (source,) = require_inventory(namespace).sources
        identities.append(source_id(namespace, source))
    assert identities[0] == identities[1]


def test_the_source_id_does_not_depend_on_the_order_of_tags_nor_on_the_place_in_raw(
    tmp_path: Path,
) -> None:
    namespace = make_workspace(tmp_path, {}).namespace("thesis")
    identities = set()
    for folder, tags in (("evidence", "[b, a]"), ("evidence/deeper", "[a, b]")):
        for old in (tmp_path / "raw/evidence").rglob("a.md*"):
            old.unlink()
        place = tmp_path / "raw" / folder
        place.mkdir(exist_ok=True)
        (place / "a.md").write_text("# A\n\nRoofs.\n")
        told = f"source_uri: https://a.example/a\ntags: {tags}\nmetadata: {{k: [2, 1]}}\n"
        (place / "a.md.meta.yaml").write_text(told)
        build(namespace)
        (source,) = require_inventory(namespace).sources
        identities.add(source_id(namespace, source))
    assert len(identities) == 1


def test_a_hit_says_where_its_document_is_from_and_what_its_owner_keeps_with_it(
    tmp_path: Path,
) -> None:
    namespace = make_workspace(tmp_path, {}).namespace("thesis")
    told = {"tags": ["roofs"], "project": "x", "parser": "mine", "source_info": {"kind": "http"}}
    uri = "https://a.example/roofs"
    add_content(namespace, ROOFS.encode(), "roofs.md", uri, {**told, "url": uri})
    add_content(namespace, b"# Other roofs", "roofs.md", uri, {**told, "url": uri})
    build(namespace)
    config = config_at(tmp_path)
    with KnowledgeRetriever.from_config(namespace="thesis", config=config) as retriever:
        found = retriever.retrieve_sync("green roof", top_k=1)
    ((chunk, _),) = found.hits
    known = {name: chunk.metadata[name] for name in ("source_uri", "url", "tags")}
    assert known == {"source_uri": uri, "url": uri, "tags": ["roofs"]}
    kept = chunk.metadata["document"]
    assert (kept["project"], kept["user_parser"]) == ("x", "mine")
    assert kept["source_info"] == {"kind": "http"}
    folder = current_folder(namespace.publications, "thesis")
    with Reader(folder, "thesis", folder.name) as reader:
        rows = reader.sources().to_pylist()
    assert {row["source_uri"] for row in rows} == {uri}
    assert all(row["file"].startswith("raw/evidence/ingested/roofs") for row in rows)
    assert chunk.metadata["source_id"] in {row["source_id"] for row in rows}
    assert {row["source_key"].count("::") for row in rows} == {1, 2}


def test_namespace_that_is_built_otherwise_is_refused(tmp_path: Path) -> None:
    make_workspace(tmp_path, {"evidence/roofs.md": ROOFS})
    other = KnowledgeConfig(
        base_config={"vector_store": {"path": str(tmp_path)}},
        chunk_config={"parent_child": {"child": {"max_tokens": 222}}},
    )
    with pytest.raises(ConfigurationError, match=r"chunk\.max_tokens: 222"):
        KnowledgeRetriever.from_config(namespace="thesis", config=other)
    model = KnowledgeConfig(
        base_config={
            "vector_store": {"path": str(tmp_path)},
            "embedding": {"provider": "bundled", "model": "multilingual-e5-small"},
        }
    )
    with pytest.raises(ConfigurationError, match=r"embed\.models"):
        KnowledgeRetriever.from_config(namespace="thesis", config=model)


def test_no_workspace_says_how_to_make_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAG_WORKSPACE", raising=False)
    with pytest.raises(WorkspaceError, match="vector_store"):
        KnowledgeSource("roofs.md", ROOFS).ingest_sync(namespace="demo")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two namespaces: `thesis` has roofs and streets, `more` has water."""
    root = tmp_path_factory.mktemp("library")
    workspace = make_workspace(
        root, {"evidence/roofs.md": ROOFS, "evidence/streets.md": STREETS,
               "instruction/guidance/rubric.md": "# Rubric\n\nCite what makes roofs cooler.\n"},
    )  # fmt: skip
    (root / "other").mkdir()
    (root / "namespaces" / "more.yaml").write_text("raw: [other]\nretrieve: {top_k: 1}\n")
    (root / "other" / "evidence").mkdir()
    (root / "other" / "evidence" / "water.md").write_text("# Water\n\nWater keeps roofs cooler.\n")
    for name in ("thesis", "more"):
        build(workspace.namespace(name))
    return root


def retriever_of(library: Path, **retrieve: object) -> KnowledgeRetriever:
    config = KnowledgeConfig(
        base_config={"vector_store": {"path": str(library)}}, retrieve_config=retrieve
    )
    return KnowledgeRetriever.from_config(namespace="thesis", config=config)


def uids(retriever: KnowledgeRetriever, query: str, **more: object) -> list[str]:
    result = retriever.retrieve_sync(query, **more)  # type: ignore[arg-type]
    return [chunk.document_id for chunk, _ in result.hits]


def test_question_is_answered_awaited_and_not(library: Path) -> None:
    async def ask() -> list[str]:
        async with retriever_of(library, top_k=2) as retriever:
            found = await retriever.retrieve("How much cooler was the green roof?")
            again = await asyncio.gather(*(retriever.retrieve("green roof") for _ in range(3)))
            assert len({result.hits[0][0].chunk_id for result in again}) == 1
            return [chunk.chunk_id for chunk, _ in found.hits]

    with retriever_of(library, top_k=2) as retriever:
        result = retriever.retrieve_sync("How much cooler was the green roof?")
        assert asyncio.run(ask()) == [chunk.chunk_id for chunk, _ in result.hits]
        chunk, score = result.hits[0]
        assert chunk.document_id == "roofs"
        assert chunk.citation_id.startswith("kb:thesis__chunk-")
        assert score >= result.hits[1][1]
        assert chunk.hit.explanation["kept_because"]
        context = ContextBuilder.build_knowledge_context(
            chunks=[chunk for chunk, _ in result.hits], inject=retriever.resolve_inject_config()
        )
        assert context.aliases["C1"] == chunk.citation_id
        assert "7 degrees cooler" in str(context)


def test_scope_documents_and_filters_narrow_the_search(library: Path) -> None:
    with retriever_of(library) as retriever:
        assert "rubric" in uids(retriever, "roofs cooler")
        scope = KnowledgeScope(citable_only=True)
        assert set(uids(retriever, "roofs cooler", scope=scope)) == {"roofs", "streets"}
        assert set(uids(retriever, "roofs cooler", document_ids=["streets"])) == {"streets"}
        both = KnowledgeScope(document_ids=["roofs"])
        assert uids(retriever, "roofs", scope=both, document_ids=["streets"]) == []
        only = uids(retriever, "roofs cooler", filters=["source_type=instruction"])
        assert set(only) == {"rubric"}
        with pytest.raises(UsageError, match="gone"):
            retriever.retrieve_sync("roofs", document_ids=["gone"])


def test_scope_over_several_namespaces_is_one_ranking(library: Path) -> None:
    with retriever_of(library) as retriever:
        result = retriever.retrieve_sync(
            "roofs cooler", scope=KnowledgeScope(namespaces=["thesis", "more"])
        )
        assert {chunk.namespace for chunk, _ in result.hits} == {"thesis", "more"}
        scores = [score for _, score in result.hits]
        assert scores == sorted(scores, reverse=True)
        chunks = [chunk for chunk, _ in result.hits]
        context = ContextBuilder.build_knowledge_context(chunks=chunks)
        assert {cited.split("__")[0] for cited in context.aliases.values()} == {
            "kb:thesis", "kb:more",
        }  # fmt: skip
        with pytest.raises(UsageError, match="nowhere"):
            retriever.retrieve_sync("roofs", scope=KnowledgeScope(namespaces=["nowhere"]))


def test_configuration_of_one_question_is_laid_over_the_retrievers(library: Path) -> None:
    with retriever_of(library, top_k=1, inject={"format": "xml"}) as retriever:
        assert len(uids(retriever, "roofs cooler")) == 1
        knowledge = KnowledgeConfig(retrieve_config={"top_k": 3, "inject": {"max_chunks": 2}})
        assert len(uids(retriever, "roofs cooler", knowledge=knowledge)) == 3
        inject = retriever.resolve_inject_config(knowledge)
        assert (inject.format, inject.max_chunks) == ("xml", 2)


def test_windows_are_retrieved_where_they_are_injected(library: Path) -> None:
    with retriever_of(library, window=1, inject={"mode": "window"}) as retriever:
        result = retriever.retrieve_sync("green roof")
        assert result.hits[0][0].window is not None
        context = ContextBuilder.build_knowledge_context(
            chunks=[chunk for chunk, _ in result.hits], inject=retriever.resolve_inject_config()
        )
        assert "7 degrees" in str(context)


def test_open_retriever_sees_the_next_publication(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"evidence/roofs.md": ROOFS})
    namespace = workspace.namespace("thesis")
    config = KnowledgeConfig(base_config={"vector_store": {"path": str(tmp_path)}})
    with KnowledgeRetriever.from_config(namespace="thesis", config=config) as retriever:
        with pytest.raises(PublicationError):
            retriever.retrieve_sync("trees")
        build(namespace)
        assert uids(retriever, "trees along a street") == ["roofs"]
        write_raw(workspace, "evidence/streets.md", STREETS)
        build(namespace)
        assert uids(retriever, "trees along a street")[0] == "streets"


def test_every_public_name_is_there_and_costs_nothing_before_it_is_used() -> None:
    for name in rag_assets.__all__:
        assert getattr(rag_assets, name) is not None
    assert inspect.iscoroutinefunction(KnowledgeRetriever.retrieve)
    assert inspect.iscoroutinefunction(KnowledgeSource.ingest)
    script = (
        "import sys, rag_assets; heavy = {'dagster', 'torch', 'lance', 'pyarrow', 'pymupdf'}; "
        "from rag_assets import KnowledgeRetriever, KnowledgeSource, ContextBuilder; "
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
