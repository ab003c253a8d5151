"""The real model. One load serves all tests of this module."""

import sys

import numpy as np
import pytest

from rag_assets.embedding import Embedder, load_embedder, model_dimension, model_fingerprint
from rag_assets.workspace.settings import EmbedSettings

pytestmark = pytest.mark.model

SETTINGS = EmbedSettings(kind="sentence_transformers", model="all-MiniLM-L6-v2", batch_size=2)
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
    assert told == [(32, 50), (50, 50)]
    sys.stderr.flush()
    assert capfd.readouterr() == ("", "")
