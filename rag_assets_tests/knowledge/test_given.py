"""What the library is given: mappings are parts, and what is wrong is said in a sentence."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from rag_assets import (
    ContextBuilder,
    KnowledgeConfig,
    KnowledgeRetriever,
    KnowledgeScope,
    KnowledgeSource,
    Workspace,
)
from rag_assets.knowledge import DraftEditor, ingest_many_sync
from rag_assets.knowledge.config import laid_over
from rag_assets.model import ConfigurationError, RagError
from rag_assets_tests.libraries import build, make_workspace

HALF = "\ud800"
WORDS = {"provider": "hashing", "model": "words"}
NOTES = {
    "evidence/roofs.md": "# Roofs\n\nA green roof was 7 degrees cooler than bitumen at noon.\n",
    "evidence/streets.md": "# Streets\n\nTrees along a street lower the radiant temperature.\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    workspace = make_workspace(tmp_path_factory.mktemp("given") / "library", NOTES)
    build(workspace.namespace("thesis"))
    return workspace


def config_of(folder: Path, **more: Any) -> dict[str, Any]:
    return {"base_config": {"vector_store": {"path": str(folder)}}, **more}


@pytest.fixture
def retriever(library: Workspace) -> KnowledgeRetriever:
    return KnowledgeRetriever.from_config(namespace="thesis", config=config_of(library.root))


def found(retriever: KnowledgeRetriever, **more: Any) -> list[str]:
    return [chunk.document_id for chunk, _ in retriever.retrieve_sync("roof street", **more).hits]


def test_parts_may_be_mappings(retriever: KnowledgeRetriever) -> None:
    assert found(retriever, scope={"document_ids": ["streets"]}) == ["streets"]
    assert found(retriever, scope={"years": [1900, 1901]}) == []
    assert len(found(retriever, knowledge={"top_k": 1})) == 1
    assert len(found(retriever, knowledge={"retrieve_config": {"top_k": 1}})) == 1
    inject = retriever.resolve_inject_config({"inject": {"format": "xml"}})
    assert inject.format == "xml"
    hits = retriever.retrieve_sync("roof").hits
    context = ContextBuilder.build_knowledge_context(
        chunks=[chunk for chunk, _ in hits], inject={"format": "json", "max_chunks": 1}
    )
    assert context.text.startswith(("[", "{"))


def test_weighted_reranking_without_weights_keeps_the_order(library: Workspace) -> None:
    orders = []
    for rerank in ({"mode": "off"}, {"mode": "weighted"}):
        config = config_of(library.root, retrieve_config={"rerank": rerank})
        with KnowledgeRetriever.from_config(namespace="thesis", config=config) as retriever:
            orders.append(found(retriever))
    assert orders[0] == orders[1]


WEIGHTED = {"mode": "weighted", "params": {"colour": 1}}


@pytest.mark.parametrize(
    ("retrieve_config", "knowledge", "key"),
    [
        ({"rerank": WEIGHTED}, None, "'retrieve_config.rerank.params.colour'"),
        ({}, {"rerank": WEIGHTED}, "'knowledge.rerank.params.colour'"),
        ({}, {"retrieve_config": {"rerank": WEIGHTED}}, "'retrieve_config.rerank.params.colour'"),
        # The key is the first one's, though the second has the section, too.
        ({"rerank": WEIGHTED}, {"rerank": {"top_n": 3}}, "'retrieve_config.rerank.params.colour'"),
        ({"rerank": {"mode": "model", "model": "x"}}, None, "retrieve_config.rerank.model: 'x'"),
        ({"fusion": {"weights": {"moon": 1}}}, None, "'retrieve_config.fusion.weights'"),
        ({"top_k": 3}, None, "'retrieve.rerank.params.colour'"),  # the namespace's own
    ],
)
def test_an_error_names_the_key_that_was_written(
    library: Workspace,
    retrieve_config: Mapping[str, Any],
    knowledge: Mapping[str, Any] | None,
    key: str,
) -> None:
    namespace = library.namespace("thesis")
    if retrieve_config == {"top_k": 3}:
        retrieve = laid_over(namespace.settings.retrieve, {"rerank": WEIGHTED}, "retrieve")
        settings = namespace.settings.model_copy(update={"retrieve": retrieve})
        namespace = replace(namespace, settings=settings)
    config = KnowledgeConfig(retrieve_config=retrieve_config)
    with KnowledgeRetriever(namespace, config) as retriever, pytest.raises(RagError) as caught:
        found(retriever, knowledge=knowledge)
    assert key in str(caught.value)


def test_a_warning_names_the_key_that_was_written(library: Workspace) -> None:
    config = config_of(library.root, retrieve_config={"tuning": {"rerank_k": 2, "pool_k": 2}})
    with KnowledgeRetriever.from_config(namespace="thesis", config=config) as retriever:
        warnings = retriever.retrieve_sync("roof").warnings
    assert any(
        "raise retrieve_config.tuning.rerank_k and retrieve_config.tuning.pool_k" in warning
        for warning in warnings
    )


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"scope": {"namespace": ["thesis"]}}, "'namespace': unknown key"),
        ({"scope": {"namespaces": "thesis"}}, "'namespaces': 'str' instances"),
        ({"scope": "thesis"}, "'scope' is str"),
        ({"scope": {"tags": [HALF]}}, "not text in UTF-8"),
        ({"knowledge": {"topk": 1}}, "'topk': unknown key"),
        ({"knowledge": 5}, "'knowledge' is int"),
        ({"document_ids": "roofs"}, "'document_ids': 'str' instances"),
        ({"top_k": "x"}, "'top_k': input should be a valid integer"),
        ({"top_k": 0}, "'top_k'"),
        ({"filters": "year>=2020"}, "'filters' must be a list"),
        ({"as_of": "2020-01-01"}, "'as_of' must be a date"),
    ],
)
def test_a_question_that_cannot_be_asked_so_is_refused(
    retriever: KnowledgeRetriever, wrong: Mapping[str, Any], said: str
) -> None:
    with pytest.raises(RagError) as caught:
        found(retriever, **wrong)
    assert said in str(caught.value)


def test_a_day_is_a_date(retriever: KnowledgeRetriever) -> None:
    assert found(retriever, as_of=date(2020, 1, 1))


@pytest.mark.parametrize("question", [None, 5, f"roof{HALF}"])
def test_a_question_is_text(retriever: KnowledgeRetriever, question: Any) -> None:
    with pytest.raises(RagError, match=r"the question (must be|is not) text"):
        retriever.retrieve_sync(question)


@pytest.mark.parametrize(
    "make",
    [
        lambda: KnowledgeSource("a.md", f"x{HALF}"),
        lambda: KnowledgeSource(f"a{HALF}.md", "x"),
        lambda: KnowledgeSource("a\0.md"),
        lambda: KnowledgeSource("a.md", 5),  # type: ignore[arg-type]
        lambda: KnowledgeSource(None, "x"),  # type: ignore[arg-type]
        lambda: KnowledgeSource("a.md", "x", metadata=[1]),  # type: ignore[arg-type]
        lambda: KnowledgeSource("a.md", "x", password=HALF),
        lambda: KnowledgeScope(namespaces="thesis"),
        lambda: KnowledgeConfig(base_config={"vector_store": {"path": "a\0"}}),
        lambda: KnowledgeConfig(base_config={"vector_store": {"path": HALF}}),
        lambda: KnowledgeSource("a.md", "x").chunk(5),  # type: ignore[arg-type]
        lambda: ContextBuilder.build_knowledge_context(chunks=[], inject={"mod": "chunk"}),
        lambda: ingest_many_sync("a.md", namespace="x"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_source_and_no_part_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(RagError):
        make()


@pytest.mark.parametrize(
    ("source", "namespace", "config", "said"),
    [
        ({}, "demo", {"embedding": {"provider": "bundled", "model": "nope"}}, "no bundled model"),
        ({}, "demo", {"embedding": {"provider": "openai", "model": "m"}}, "needs a key"),
        ({}, "demo", {"sparse_embedding": {"model": "nope"}}, "'nope' is neither a folder"),
        ({}, 5, {"embedding": WORDS}, "'namespace' must be text"),
        ({}, "Demo 1", {"embedding": WORDS}, "cannot be a namespace"),
        ({"metadata": {"year": "x"}}, "demo", {"embedding": WORDS}, "'year'"),
        ({"metadata": {"metadata": "x", "y": 1}}, "demo", {"embedding": WORDS}, "mapping"),
        ({"metadata": {"title": HALF}}, "demo", {"embedding": WORDS}, "Unicode"),
    ],
)
def test_nothing_is_written_before_it_is_known_to_work(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    source: dict[str, Any],
    namespace: Any,
    config: dict[str, Any],
    said: str,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    root = tmp_path / "library"
    given = {"base_config": {**config, "vector_store": {"path": str(root)}}}
    with pytest.raises(RagError) as caught:
        KnowledgeSource("a.md", "# A\n\nText.\n", **source).ingest_sync(
            namespace=namespace, config=given
        )
    assert said in str(caught.value)
    assert not root.exists()


def test_sizes_that_contradict_each_other_are_named_as_they_were_given(tmp_path: Path) -> None:
    child = {"min_tokens": 300, "target_tokens": 200}
    config = {
        "base_config": {"vector_store": {"path": str(tmp_path / "library")}, "embedding": WORDS},
        "chunk_config": {"parent_child": {"child": child}},
    }
    with pytest.raises(ConfigurationError, match="'chunk_config'"):
        KnowledgeSource("a.md", "# A\n\nText.\n").ingest_sync(namespace="demo", config=config)


def test_a_key_stays_and_every_operation_returns_the_draft(library: Workspace) -> None:
    editor = DraftEditor.find(library.namespace("thesis"), "roofs", by="ann")
    first, *_ = editor.create().chunks
    edited = editor.edit_text(first.key, "# Green roofs")
    assert edited.chunks[0].text == "# Green roofs"
    again = editor.edit_text(first.key, "# White roofs")
    assert (again.chunks[0].key, again.chunks[0].text) == (first.key, "# White roofs")
    assert not editor.disable(first.key).chunks[0].is_enabled
    assert editor.enable(first.key).chunks[0].is_enabled
    assert editor.undo().revision == again.revision + 3
    with pytest.raises(RagError, match="text must be text"):
        editor.edit_text(first.key, 5)  # type: ignore[arg-type]
    editor.discard()
