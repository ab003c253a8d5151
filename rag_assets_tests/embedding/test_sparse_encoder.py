"""Sparse encoders of sentence-transformers; the models are made here."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from rag_assets.embedding import encode_questions, load_tokenizer, model_dimension
from rag_assets.embedding import model_fingerprint as fingerprint
from rag_assets.embedding.bundled_files import bundled_folder
from rag_assets.embedding.sparse_encoder import SparseEncoder, load_sparse_encoder, token_weights
from rag_assets.model import ConfigurationError
from rag_assets.model.settings import ModelSettings
from rag_assets_tests.sparse_models import save_layered_encoder, save_word_encoder

pytestmark = [pytest.mark.slow, pytest.mark.model]

TEXTS = ["Light increases the yield.", "", "Courts decide on the yield of bonds. " * 12, "yield"]


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> ModelSettings:
    return settings(save_word_encoder(tmp_path_factory.mktemp("words")))


@pytest.fixture(scope="module")
def layered(tmp_path_factory: pytest.TempPathFactory) -> ModelSettings:
    return settings(save_layered_encoder(tmp_path_factory.mktemp("layered")), dimension=12)


def settings(folder: Path, dimension: int | None = None) -> ModelSettings:
    return ModelSettings(
        kind="sparse_encoder", model=str(folder), dimension=dimension, batch_tokens=40
    )


def weights(model: SparseEncoder, text: str) -> dict[int, float]:
    tokens, found = token_weights(model.encode_passages([text])[0])
    return dict(zip(tokens.tolist(), found.tolist(), strict=True))


def test_a_vector_gives_each_word_of_a_text_its_weight(words: ModelSettings) -> None:
    model = load_sparse_encoder(words)
    light, both = weights(model, "light"), weights(model, "Light, yield and light!")
    assert len(light) == 1
    assert both == light | weights(model, "yield")
    size = model_dimension(words)
    (place, weight), *_ = light.items()
    assert weight == pytest.approx(2 * place / (size - 1), abs=1e-4)
    assert weights(model, "of the") == {}


def test_vectors_come_in_the_order_of_the_texts_whatever_their_batch(
    layered: ModelSettings,
) -> None:
    model = load_sparse_encoder(layered)
    told: list[tuple[int, int]] = []
    found = model.encode_passages(TEXTS, lambda *figures: told.append(figures))
    assert told[-1] == (4, 4)
    assert len(told) > 1
    for text, vector in zip(TEXTS, found, strict=True):
        (alone,) = model.encode_passages([text])
        assert np.array_equal(token_weights(vector)[0], token_weights(alone)[0])
        assert np.abs(vector - alone).max() < 1e-3
    assert model.encode_passages([]) == []


def test_dimension_keeps_the_largest_weights(layered: ModelSettings) -> None:
    whole = weights(load_sparse_encoder(layered.model_copy(update={"dimension": 500})), "A roof")
    kept = weights(load_sparse_encoder(layered), "A roof")
    assert len(kept) == 12
    assert sorted(kept.values()) == sorted(whole.values())[-12:]
    assert kept.items() <= whole.items()


def test_questions_are_pairs_too(words: ModelSettings) -> None:
    (asked,) = encode_questions(words, ["light"])
    assert asked == load_sparse_encoder(words).encode_passages(["light"])[0].tolist()


def test_a_fingerprint_is_of_the_files_and_what_is_kept(
    words: ModelSettings, tmp_path: Path
) -> None:
    copy = settings(Path(shutil.copytree(words.model, tmp_path / "copy")))
    assert fingerprint(copy) == fingerprint(words)
    assert fingerprint(copy.model_copy(update={"dimension": 9})) != fingerprint(words)
    assert fingerprint(copy.model_copy(update={"batch_tokens": 9})) == fingerprint(words)
    first = load_sparse_encoder(copy)
    path = Path(copy.model) / "model.safetensors"
    held = path.read_bytes()
    path.write_bytes(held[:-4] + b"\0\0\0\0")
    assert fingerprint(copy) != fingerprint(words)
    assert load_sparse_encoder(copy) is not first


def test_a_text_may_be_as_long_as_the_model_takes(
    words: ModelSettings, layered: ModelSettings
) -> None:
    assert load_tokenizer(layered).limit == 62
    assert load_tokenizer(layered.model_copy(update={"max_tokens": 32})).limit == 30
    assert load_tokenizer(words).limit > 62


def test_a_dense_model_is_refused() -> None:
    folder = bundled_folder("all-MiniLM-L6-v2")
    with pytest.raises(ConfigurationError, match=r"is no sparse encoder.*sentence_transformers"):
        load_sparse_encoder(settings(folder))
