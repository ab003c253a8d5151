"""Real models in torch. One load serves all tests of this module."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.embedding import (
    Embedder,
    load_embedder,
    load_query_encoder,
    model_dimension,
    model_fingerprint,
)
from rag_assets.embedding.bundled_files import bundled_folder
from rag_assets.embedding.sentence_model import SentenceEmbedder, token_batches
from rag_assets.model import ConfigurationError
from rag_assets.model.settings import ModelSettings

pytestmark = pytest.mark.model

SETTINGS = ModelSettings(kind="bundled", model="all-MiniLM-L6-v2", batch_tokens=250)
TEXTS = ["Light increases the yield.", "word " * 120, "", "Courts decide.", "光合作用"]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return load_embedder(SETTINGS)


def test_vectors_have_length_one_and_come_in_the_order_of_the_texts(embedder: Embedder) -> None:
    vectors = embedder.encode_passages(TEXTS)
    assert vectors.shape == (5, embedder.dimension)
    assert vectors.dtype == np.float32
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-5
    for text, vector in zip(TEXTS, vectors, strict=True):
        assert float(vector @ embedder.encode_passages([text])[0]) > 1 - 1e-6


def test_a_question_is_nearest_to_its_answer(embedder: Embedder) -> None:
    question = embedder.encode_queries(["Does illumination raise production?"])[0]
    scores = embedder.encode_passages(TEXTS) @ question
    assert int(scores.argmax()) == 0


def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert embedder.encode_passages([]).shape == (0, 384)


def test_the_model_is_loaded_once_a_process(embedder: Embedder) -> None:
    assert load_embedder(SETTINGS) is embedder
    assert embedder.fingerprint == model_fingerprint(SETTINGS)
    assert embedder.dimension == model_dimension(SETTINGS)


def test_encoding_prints_nothing_and_tells_progress(
    embedder: Embedder, capfd: pytest.CaptureFixture[str]
) -> None:
    told: list[tuple[int, int]] = []
    embedder.encode_passages(TEXTS * 10, lambda done, total: told.append((done, total)))
    assert told[-1] == (50, 50)
    assert told == sorted(told)
    sys.stderr.flush()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_near_full_precision(embedder: Embedder, dtype: str) -> None:
    half = load_embedder(SETTINGS.model_copy(update={"dtype": dtype}))
    found = half.encode_passages(TEXTS)
    assert found.dtype == np.float32
    assert (found * embedder.encode_passages(TEXTS)).sum(axis=1).min() > 0.99


def test_a_cut_vector_is_the_beginning_of_the_whole_one(embedder: Embedder) -> None:
    short = load_embedder(SETTINGS.model_copy(update={"dimension": 64}))
    whole = embedder.encode_passages(TEXTS)[:, :64]
    expected = whole / np.linalg.norm(whole, axis=1, keepdims=True)
    assert np.abs(short.encode_passages(TEXTS) - expected).max() < 1e-6
    question = load_query_encoder(SETTINGS.model_copy(update={"dimension": 64}))
    assert np.abs(question.encode_queries(TEXTS) - expected).max() < 1e-5


def test_text_behind_max_tokens_is_not_read() -> None:
    short = load_embedder(SETTINGS.model_copy(update={"max_tokens": 16}))
    first, second = short.encode_passages(["word " * 14 + "light", "word " * 14 + "court"])
    assert float(first @ second) > 1 - 1e-6


def test_a_missing_device_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"torch finds no 'cuda:7' here.*auto, cpu"):
        load_embedder(SETTINGS.model_copy(update={"device": "cuda:7"}))


def test_a_model_that_is_no_plain_bert_goes_through_sentence_transformers(
    tmp_path: Path, embedder: Embedder
) -> None:
    """MiniLM with another activation stated: a folder that this package cannot compute itself."""
    folder = tmp_path / "model"
    shutil.copytree(bundled_folder("all-MiniLM-L6-v2"), folder)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, "hidden_act": "gelu_new"}), "utf-8")
    model = ModelSettings(kind="sentence_transformers", model=str(folder), batch_tokens=300)
    other = load_embedder(model)
    assert isinstance(other, SentenceEmbedder)
    found, plain = other.encode_passages(TEXTS), embedder.encode_passages(TEXTS)
    assert np.abs(np.linalg.norm(found, axis=1) - 1).max() < 1e-5
    assert (found * plain).sum(axis=1).min() > 0.99
    assert np.abs(load_query_encoder(model).encode_queries(TEXTS) - found).max() < 1e-5


@given(st.lists(st.integers(0, 300)), st.integers(1, 500))
def test_each_text_is_in_one_batch_and_no_batch_is_too_large(sizes: list[int], most: int) -> None:
    batches = list(token_batches(sizes, most))
    assert sorted(index for batch in batches for index in batch) == list(range(len(sizes)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(sizes[index] for index in batch) <= most
