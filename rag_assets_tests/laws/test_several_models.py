"""Several models in a namespace: what is encoded, kept, published and cleared when they change."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from rag_assets.embedding import HashingEmbedder, WordTokenizer, can_read, embedding_models
from rag_assets.embedding.stage import embeddings_schema, refresh_embeddings
from rag_assets.model import UsageError
from rag_assets.publishing import collect_garbage, published_models
from rag_assets.retrieval import Reader
from rag_assets.storage import current_folder, read_entries, read_manifest, read_rows
from rag_assets.workspace import Namespace, Workspace, require_inventory
from rag_assets_tests.laws.driver import (
    SMALL,
    STAGES,
    Built,
    build,
    clean_build,
    files_of,
    put,
    silent,
    state_of,
)

# Two models that read the same words and differ in the length of their vectors.
WIDE = {"kind": "hashing", "model": "wide"}
NARROW = {"kind": "hashing", "model": "narrow", "dimension": 32}
WIDE_DIMENSION, NARROW_DIMENSION = 256, 32

TEXT = "".join(
    f"# Part {number}\n\n{sentence}\n\n"
    for number, sentence in enumerate(
        (
            "Cool roofs reflect sunlight and stay cooler than dark ones on a summer day.",
            "Stomata close when the air is dry, and so the leaf saves water.",
            "二氧化碳浓度升高使植物叶片的气孔导度下降，水分利用效率因此提高。",
        )
    )
)


def configure(workspace: Workspace, *models: dict[str, Any], **chunk: Any) -> Namespace:
    """Give the namespace these models, and changes of how texts are cut."""
    settings = {**SMALL, "embed": {"models": list(models)}}
    settings["chunk"] = {**settings["chunk"], **chunk}
    text = yaml.safe_dump(settings)
    workspace.namespace_file("lib").write_text(text, encoding="utf-8")
    return Workspace.open(workspace.root).namespace("lib")


@contextmanager
def observe_encoding() -> Iterator[list[tuple[int, str]]]:
    """Yield a list that grows by (dimension of the model, passage) for all that is encoded."""
    seen: list[tuple[int, str]] = []
    original = HashingEmbedder.encode_passages

    def encode_passages(
        self: HashingEmbedder, texts: Sequence[str], on_progress: Any = None
    ) -> Any:
        seen.extend((self.dimension, text) for text in texts)
        return original(self, texts, on_progress)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HashingEmbedder, "encode_passages", encode_passages)
        yield seen


def encoded_by(namespace: Namespace) -> list[tuple[int, str]]:
    """Build and return what was encoded."""
    with observe_encoding() as seen:
        build(namespace)
    return list(seen)


def dimensions(encoded: list[tuple[int, str]]) -> set[int]:
    return {dimension for dimension, _ in encoded}


def models_held(namespace: Namespace) -> set[str]:
    """Fingerprints of the models whose vectors stand in the records."""
    held: set[str] = set()
    for partition in namespace.partition_keys:
        path = namespace.record("embeddings", partition)
        contents = read_entries(path)
        rows = read_rows(path, embeddings_schema(), contents, ["model"])
        held |= set(rows["model"].to_pylist())
    return held


def published(namespace: Namespace) -> Path:
    return current_folder(namespace.publications, namespace.name)


def columns_of(namespace: Namespace) -> list[tuple[str, str, int]]:
    """Name, column and dimension of each published model."""
    models = published_models(read_manifest(published(namespace)))
    return [(model.name, model.column, model.dimension) for model in models]


@pytest.fixture
def library(workspace: Workspace) -> Workspace:
    put(workspace, "evidence/roofs.md", TEXT)
    put(workspace, "evidence/owls.md", "# Owls\n\nOwls hunt at night and sleep by day.\n")
    return workspace


@pytest.fixture
def with_wide(library: Workspace) -> Workspace:
    assert dimensions(encoded_by(configure(library, WIDE))) == {WIDE_DIMENSION}
    return library


@pytest.fixture
def with_both(library: Workspace) -> Workspace:
    encoded = encoded_by(configure(library, WIDE, NARROW))
    assert dimensions(encoded) == {WIDE_DIMENSION, NARROW_DIMENSION}
    assert len(encoded) == len(set(encoded))
    return library


def test_second_model_encodes_every_passage_and_the_first_none(with_wide: Workspace) -> None:
    namespace = configure(with_wide, WIDE, NARROW)
    encoded = encoded_by(namespace)
    assert dimensions(encoded) == {NARROW_DIMENSION}
    assert len(encoded) == Reader(published(namespace), "lib", "lib").rows
    assert encoded_by(namespace) == []


def test_removed_model_encodes_nothing_and_is_not_published(with_both: Workspace) -> None:
    namespace = configure(with_both, NARROW)
    assert encoded_by(namespace) == []
    assert columns_of(namespace) == [("narrow", "vector", NARROW_DIMENSION)]


def test_model_that_is_taken_back_encodes_nothing(with_both: Workspace) -> None:
    build(configure(with_both, NARROW))
    assert encoded_by(configure(with_both, WIDE, NARROW)) == []


def test_vectors_of_a_removed_model_outlast_another_edit(with_both: Workspace) -> None:
    namespace = configure(with_both, NARROW)
    put(with_both, "evidence/roofs.md", TEXT + "# Last\n\nThe end of the matter.\n")
    assert len(encoded_by(namespace)) == 1
    encoded = encoded_by(configure(with_both, WIDE, NARROW))
    assert [dimension for dimension, _ in encoded] == [WIDE_DIMENSION]
    assert "The end of the matter" in encoded[0][1]


def test_reordered_models_touch_no_record_and_are_published_in_their_order(
    with_both: Workspace,
) -> None:
    namespace = configure(with_both, WIDE, NARROW)
    before = files_of(namespace.records), published(namespace)
    namespace = configure(with_both, NARROW, WIDE)
    assert encoded_by(namespace) == []
    assert files_of(namespace.records / "embeddings") == {
        path: stat for path, stat in before[0].items() if "/embeddings/" in path
    }
    assert published(namespace) != before[1]
    assert columns_of(namespace) == [
        ("narrow", "vector", NARROW_DIMENSION),
        ("wide", "vector_2", WIDE_DIMENSION),
    ]


def test_changed_model_of_the_same_name_is_encoded_anew_and_never_mixed(
    with_both: Workspace,
) -> None:
    old = published_models(read_manifest(published(configure(with_both, WIDE, NARROW))))[1]
    namespace = configure(with_both, WIDE, {**NARROW, "dimension": 48})
    encoded = encoded_by(namespace)
    assert dimensions(encoded) == {48}
    with Reader(published(namespace), "lib", "lib") as reader:
        assert len(encoded) == reader.rows
        with pytest.raises(UsageError, match="holds no vectors of the model"):
            reader.search_vectors(old.fingerprint, [0.1] * NARROW_DIMENSION, 5)
    assert columns_of(namespace)[1] == ("narrow", "vector_2", 48)


@pytest.mark.parametrize("last", [(WIDE,), (NARROW, WIDE), (WIDE, NARROW)], ids=len)
def test_clean_build_equals_a_history_of_models(
    with_both: Workspace, tmp_path: Path, last: tuple[dict[str, Any], ...]
) -> None:
    build(configure(with_both, {**NARROW, "dimension": 48}))
    put(with_both, "evidence/owls.md", "# Owls\n\nOwls hunt at dusk, too.\n")
    namespace = configure(with_both, *last)
    build(namespace)
    assert state_of(namespace) == state_of(clean_build(namespace, tmp_path / "clean"))


def test_garbage_collection_clears_vectors_of_models_that_are_gone(with_both: Workspace) -> None:
    namespace = configure(with_both, NARROW)
    build(namespace)
    state, rows = state_of(namespace), Reader(published(namespace), "lib", "lib").rows
    assert len(models_held(namespace)) == 2
    models = [model.fingerprint for model in embedding_models(namespace.settings.embed)]
    assert collect_garbage(namespace, models, silent).vectors == rows
    assert models_held(namespace) == set(models)
    assert collect_garbage(namespace, models, silent).vectors == 0
    assert state_of(namespace) == state
    assert encoded_by(namespace) == []
    assert dimensions(encoded_by(configure(with_both, NARROW, WIDE))) == {WIDE_DIMENSION}


def test_collection_before_the_next_build_keeps_the_vectors_that_it_needs(
    with_both: Workspace, tmp_path: Path
) -> None:
    namespace = configure(with_both, NARROW)
    models = [model.fingerprint for model in embedding_models(namespace.settings.embed)]
    assert collect_garbage(namespace, models, silent).vectors > 0
    assert encoded_by(namespace) == []
    assert state_of(namespace) == state_of(clean_build(namespace, tmp_path / "clean"))


def test_collection_never_leaves_an_entry_that_promises_what_is_gone(with_both: Workspace) -> None:
    namespace = configure(with_both, NARROW)
    models = [model.fingerprint for model in embedding_models(namespace.settings.embed)]
    collect_garbage(namespace, models, silent)
    assert dimensions(encoded_by(configure(with_both, WIDE, NARROW))) == {WIDE_DIMENSION}


def test_configuration_that_differs_only_in_speed_is_built_already(with_both: Workspace) -> None:
    namespace = configure(with_both, {**WIDE, "batch_tokens": 64, "device": "cpu"}, NARROW)
    before = published(namespace)
    assert encoded_by(namespace) == []
    assert published(namespace) == before


class _LatinOnly(WordTokenizer):
    """Knows no Chinese character."""

    def unknown_share(self, text: str) -> float:
        return sum(not c.isascii() for c in text) / max(1, len(text))


@pytest.fixture
def with_latin_first(library: Workspace, monkeypatch: pytest.MonkeyPatch) -> Namespace:
    """The first model reads no Chinese, the second all."""
    from rag_assets.embedding import hashing

    monkeypatch.setattr(
        hashing,
        "tokenizer",
        lambda model: _LatinOnly() if model.model == "wide" else WordTokenizer(),
    )
    return configure(library, WIDE, NARROW)


def test_passage_that_a_model_cannot_read_is_encoded_by_the_other_alone(
    with_latin_first: Namespace,
) -> None:
    encoded = encoded_by(with_latin_first)
    chinese = {dimension for dimension, text in encoded if "二氧化碳" in text}
    assert chinese == {NARROW_DIMENSION}
    assert dimensions(encoded) == {WIDE_DIMENSION, NARROW_DIMENSION}


def test_unreadable_passage_has_zeros_and_is_not_missing(with_latin_first: Namespace) -> None:
    done: Built = build(with_latin_first)
    with Reader(published(with_latin_first), "lib", "lib") as reader:
        table = reader.fetch_chunks("roofs")
        wide, narrow = reader.models
        found = reader.search_vectors(wide.fingerprint, [1.0] * WIDE_DIMENSION, 50)
        assert {can_read(_LatinOnly(), hit.text) for hit, _ in found} == {True}
    texts = table["text"].to_pylist()
    assert {can_read(_LatinOnly(), text) for text in texts} == {True, False}
    for text, first, second in zip(
        *(table[name].to_pylist() for name in ("text", wide.column, narrow.column)), strict=True
    ):
        assert any(first) == can_read(_LatinOnly(), text)
        assert np.linalg.norm(second) == pytest.approx(1, abs=1e-6)
    assert done.published is not None
    assert {fact.status for fact in done.published.facts} == {"published"}
    assert encoded_by(with_latin_first) == []


def test_figures_say_of_each_model_what_was_encoded_found_and_left_out(
    with_latin_first: Namespace,
) -> None:
    def figures(done: Built) -> dict[str, int]:
        counts: dict[str, int] = {}
        for outcome in done.stages["embeddings"].values():
            for name, count in outcome.counts.items():
                counts[name] = counts.get(name, 0) + count
        return counts

    first = figures(build(with_latin_first))
    chunks = first["embeddings"]
    unreadable = first["not readable by wide"]
    assert unreadable > 0
    assert first["encoded by wide"] == chunks - unreadable
    assert first["encoded by narrow"] == chunks
    assert first["looked up for narrow"] == first["not readable by narrow"] == 0
    second = figures(build(with_latin_first))
    assert second["encoded by wide"] == second["encoded by narrow"] == 0
    assert second["not readable by wide"] == unreadable
    put(with_latin_first.workspace, "evidence/copy.md", TEXT.replace("\n", "\r\n"))
    third = figures(build(with_latin_first))
    assert third["looked up for narrow"] - third["looked up for wide"] == unreadable
    assert third["not readable by wide"] == 2 * unreadable


def test_a_passage_that_a_service_refuses_has_no_vector_and_is_told(
    with_both: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = HashingEmbedder.encode_passages

    def refuse_stomata(self: HashingEmbedder, texts: Sequence[str], on_progress: Any = None) -> Any:
        vectors = original(self, texts, on_progress)
        for index, text in enumerate(texts):
            vectors[index] *= self.dimension == WIDE_DIMENSION or "Stomata" not in text
        return vectors

    monkeypatch.setattr(HashingEmbedder, "encode_passages", refuse_stomata)
    said: list[str] = []
    namespace = configure(with_both, WIDE, {**NARROW, "model": "strict"})
    put(with_both, "evidence/refused.md", TEXT.replace("close when", "never shut before"))
    build(namespace, [*STAGES[: STAGES.index("embeddings")]])
    refresh_embeddings(
        namespace,
        require_inventory(namespace),
        namespace.partition_keys,
        embedding_models(namespace.settings.embed),
        said.append,
    )
    build(namespace, ["search_index"])
    wide, narrow = published_models(read_manifest(published(namespace)))
    with Reader(published(namespace), "lib", "lib") as reader:
        rows = reader.fetch_chunks("refused").to_pylist()
    refused = [row for row in rows if "Stomata" in row["text"]]
    assert refused
    assert all(any(row[wide.column]) and not any(row[narrow.column]) for row in refused)
    assert all(any(row[narrow.column]) for row in rows if row not in refused)
    assert any("have no vector of strict" in sentence for sentence in said)


def test_vectors_of_a_known_passage_are_counted_as_looked_up(with_both: Workspace) -> None:
    put(with_both, "evidence/copy.md", TEXT.replace("\n", "\r\n"))
    done = build(configure(with_both, WIDE, NARROW))
    total = sum(o.counts["looked up for wide"] for o in done.stages["embeddings"].values())
    assert total > 0
    assert sum(o.counts["encoded by wide"] for o in done.stages["embeddings"].values()) == 0


def test_progress_counts_passages_over_all_models(library: Workspace) -> None:
    namespace = configure(library, WIDE, NARROW)
    build(namespace, ["inventory", "parse_reports", "parents", "chunks"])
    told: list[tuple[int, int]] = []
    refresh_embeddings(
        namespace,
        require_inventory(namespace),
        namespace.partition_keys,
        embedding_models(namespace.settings.embed),
        silent,
        on_progress=lambda _what, done, total: told.append((done, total)),
    )
    (total,) = {total for _, total in told}
    assert told == sorted(told)
    assert told[-1] == (total, total)
    assert total == sum(
        entry.rows
        for key in namespace.partition_keys
        for entry in read_entries(namespace.record("chunks", key)).values()
    )


def test_damaged_record_is_mended_and_encodes_what_it_held_alone(with_both: Workspace) -> None:
    namespace = configure(with_both, WIDE, NARROW)
    state = state_of(namespace)
    path = max((namespace.records / "embeddings").glob("*.parquet"), key=lambda p: p.stat().st_size)
    path.write_bytes(path.read_bytes()[:-40])
    assert dimensions(encoded_by(namespace)) == {WIDE_DIMENSION, NARROW_DIMENSION}
    assert state_of(namespace) == state
