"""bge-small-en by ONNX Runtime."""

import numpy as np
import pytest

from rag_assets.embedding import load_embedder, load_query_encoder, load_tokenizer
from rag_assets.workspace.settings import ModelSettings

pytestmark = pytest.mark.model

MODEL = ModelSettings(kind="bundled", model="bge-small-en")
TEXTS = ["Light increases the yield.", "Courts decide.", "", "word " * 700]


def test_a_text_has_the_same_vector_alone_and_among_others() -> None:
    embedder = load_embedder(MODEL)
    told: list[tuple[int, int]] = []
    vectors = embedder.encode_passages(TEXTS, lambda done, total: told.append((done, total)))
    assert vectors.shape == (4, 384)
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-5
    for text, vector in zip(TEXTS, vectors, strict=True):
        assert np.array_equal(embedder.encode_passages([text])[0], vector)
    assert told == [(4, 4)]


def test_a_question_carries_its_instruction_and_finds_its_answer() -> None:
    embedder, encoder = load_embedder(MODEL), load_query_encoder(MODEL)
    question = "Does illumination raise production?"
    asked = encoder.encode_queries([question])[0]
    assert int((embedder.encode_passages(TEXTS) @ asked).argmax()) == 0
    plain = embedder.encode_passages([question])[0]
    assert float(asked @ plain) < 0.999
    instruction = "Represent this sentence for searching relevant passages: "
    assert np.array_equal(embedder.encode_passages([instruction + question])[0], asked)


def test_chinese_is_unreadable() -> None:
    tokenizer = load_tokenizer(MODEL)
    assert tokenizer.limit == 510
    assert tokenizer.unknown_share("光照显著提高了类胡萝卜素的产量。") > 0.2
    assert tokenizer.unknown_share("Light increases the yield.") == 0.0
