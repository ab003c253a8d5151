"""What a manifest says of its models, and what becomes of it when they change."""

from pathlib import Path
from typing import Any

import pytest

from rag_assets.embedding import embedding_models
from rag_assets.model import ConfigurationError, UsageError
from rag_assets.model.settings import EmbedSettings, ModelSettings
from rag_assets.publishing import published_models, vectors_to_come
from rag_assets.publishing.manifest import describe_embedders
from rag_assets.storage import current_folder
from rag_assets_tests.libraries import build, make_workspace

MODELS = EmbedSettings(
    models=[
        ModelSettings(kind="hashing", model="wide"),
        ModelSettings(kind="hashing", model="narrow", dimension=8, batch_texts=3),
    ]
)


def manifest(**changes: Any) -> dict[str, Any]:
    models = embedding_models(MODELS)
    embedders = describe_embedders(models, {models[0].fingerprint: 5, models[1].fingerprint: 3})
    counts = {"chunks": 5}
    return {
        "publication": "p-1", "namespace": "lib", "embedders": embedders, "counts": counts,
        **changes,
    }  # fmt: skip


def test_manifest_gives_back_the_models_with_their_settings_and_columns() -> None:
    wide, narrow = published_models(manifest())
    assert [wide.settings, narrow.settings] == MODELS.models
    assert (wide.name, wide.column, wide.dimension) == ("wide", "vector", 256)
    assert (narrow.name, narrow.column, narrow.dimension) == ("narrow", "vector_2", 8)
    assert wide.fingerprint != narrow.fingerprint


def test_a_model_that_has_not_read_all_passages_is_named() -> None:
    said = vectors_to_come(manifest()) or ""
    assert "of 5 passages have them so far: narrow 3" in said
    assert vectors_to_come(manifest(counts={"chunks": 3})) is None


def test_model_that_has_changed_since_is_refused_with_the_mend() -> None:
    made = manifest()
    made["embedders"][1]["fingerprint"] = "0" * 64
    with pytest.raises(UsageError, match=r"another version of the model 'narrow'.*rag ingest"):
        published_models(made)


def test_publication_of_an_older_version_says_what_to_do() -> None:
    made = manifest()
    made["embedder"] = made.pop("embedders")[0]
    with pytest.raises(UsageError, match=r"older version of rag-assets\. Run `rag ingest"):
        published_models(made)


def test_one_model_under_two_names_is_refused() -> None:
    twice = EmbedSettings(
        models=[ModelSettings(kind="hashing", model=name) for name in ("one", "other")]
    )
    with pytest.raises(ConfigurationError, match="'one' and 'other' give the same vectors"):
        embedding_models(twice)


def test_rows_carry_headings_and_tags_for_the_search(tmp_path: Path) -> None:
    from rag_assets.publishing.search import SearchTable

    files = {
        "evidence/roofs.md": "# Roofs\n\n## Cool ones\n\nThey reflect the light of the sun.\n",
        "evidence/roofs.md.meta.yaml": "title: On roofs\ntags: [heat, city]\n",
        "evidence/owls.txt": "Owls hunt at night.",
    }
    settings = {"embed": {"kind": "hashing"}, "chunk": {"context": "headings"}}
    namespace = make_workspace(tmp_path, files, settings).namespace("thesis")
    build(namespace)
    folder = current_folder(namespace.publications, namespace.name)
    columns = ["doc_uid", "text", "search_heading", "tags"]
    rows = SearchTable(folder).fetch(columns=columns).to_pylist()
    by_uid = {
        row["doc_uid"]: row for row in rows if "reflect" in row["text"] or "Owls" in row["text"]
    }
    assert by_uid["roofs"]["search_heading"].split("\n") == ["On roofs", "Roofs", "Cool ones"]
    assert by_uid["roofs"]["tags"] == ["heat", "city"]
    assert by_uid["owls"]["tags"] == []
