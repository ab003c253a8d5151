"""Laws 3 and 4 while vectors are still to come: what is published early is whole and replaced."""

from pathlib import Path
from typing import Any

import pytest

from rag_assets.embedding import model_fingerprints
from rag_assets.publishing import count_lacking, vectors_to_come
from rag_assets.retrieval import Retriever
from rag_assets.storage import current_folder, read_manifest
from rag_assets.workspace import Namespace, Workspace
from rag_assets_tests.laws.driver import STAGES, build, clean_build, put, state_of
from rag_assets_tests.laws.test_little_work import PARAGRAPHS, text_of

WITHOUT_VECTORS = tuple(stage for stage in STAGES if stage != "embeddings")


def manifest_of(namespace: Namespace) -> dict[str, Any]:
    return read_manifest(current_folder(namespace.publications, namespace.name))


def found(workspace: Workspace, question: str) -> tuple[list[str], tuple[str, ...]]:
    with Retriever(workspace, ["lib"]) as retriever:
        result = retriever.retrieve(question)
    return [hit.doc_uid for hit in result.hits], result.warnings


def test_passages_are_found_by_words_before_their_vectors_are_there(workspace: Workspace) -> None:
    namespace = workspace.namespace("lib")
    put(workspace, "evidence/roofs.md", text_of(PARAGRAPHS))
    build(namespace, WITHOUT_VECTORS)
    uids, warnings = found(workspace, "stomata close when the air is dry")
    assert uids[0] == "roofs"
    assert [text for text in warnings if "vectors are still to come" in text]
    total = manifest_of(namespace)["counts"]["chunks"]
    assert count_lacking(namespace, model_fingerprints(namespace.settings.embed)) == total > 0


def test_after_the_last_vector_the_publication_is_that_of_one_build(
    workspace: Workspace, tmp_path: Path
) -> None:
    namespace = workspace.namespace("lib")
    put(workspace, "evidence/roofs.md", text_of(PARAGRAPHS))
    build(namespace, WITHOUT_VECTORS)
    early = manifest_of(namespace)["publication"]
    build(namespace)
    assert manifest_of(namespace)["publication"] != early
    assert vectors_to_come(manifest_of(namespace)) is None
    assert state_of(namespace) == state_of(clean_build(namespace, tmp_path / "clean"))
    assert not any("vectors" in text for text in found(workspace, "stomata")[1])


@pytest.mark.slow
def test_documents_that_were_there_keep_their_vectors(workspace: Workspace) -> None:
    namespace = workspace.namespace("lib")
    put(workspace, "evidence/roofs.md", text_of(PARAGRAPHS[:2]))
    build(namespace)
    before = manifest_of(namespace)["counts"]["chunks"]
    put(workspace, "evidence/leaves.md", text_of(PARAGRAPHS[2:]))
    build(namespace, WITHOUT_VECTORS)
    manifest = manifest_of(namespace)
    assert [model["encoded"] for model in manifest["embedders"]] == [before]
    assert manifest["counts"]["chunks"] > before
    assert f"of {manifest['counts']['chunks']} passages" in (vectors_to_come(manifest) or "")
