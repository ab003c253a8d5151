"""bge-small-en: the 8-bit weights of an ONNX file, computed as an ordinary model."""

from pathlib import Path

import numpy as np
import pytest

from rag_assets.embedding import load_embedder, load_query_encoder, load_tokenizer
from rag_assets.embedding.bert_parts import BertShape
from rag_assets.embedding.bundled_files import BGE_FILE, bundled_folder
from rag_assets.embedding.onnx_weights import OnnxWeights
from rag_assets.model import ConfigurationError
from rag_assets.settings import ModelSettings

pytestmark = pytest.mark.model

MODEL = ModelSettings(kind="bundled", model="bge-small-en")
SHAPE = BertShape(hidden=384, inner=1536, layers=12, heads=12, positions=512, epsilon=1e-12)
FILE = bundled_folder(MODEL.model) / BGE_FILE
TEXTS = ["Light increases the yield.", "Courts decide.", "", "word " * 700]


def test_vectors_are_those_of_onnx_runtime_but_for_its_rounding_of_states() -> None:
    import onnxruntime
    from tokenizers import Tokenizer

    session = onnxruntime.InferenceSession(str(FILE), providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(FILE.with_name("tokenizer.json")))
    tokenizer.no_padding()
    tokenizer.enable_truncation(512)
    ours = load_embedder(MODEL).encode_passages(TEXTS)
    for text, vector in zip(TEXTS, ours, strict=True):
        ids = np.asarray([tokenizer.encode(text).ids], np.int64)
        fed = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        (states,) = session.run(["last_hidden_state"], fed)
        theirs = states[0, 0] / np.linalg.norm(states[0, 0])
        assert float(vector @ theirs) > 0.99


def test_a_text_has_the_same_vector_alone_and_among_others() -> None:
    embedder = load_embedder(MODEL)
    vectors = embedder.encode_passages(TEXTS)
    assert vectors.shape == (4, 384)
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-5
    for text, vector in zip(TEXTS, vectors, strict=True):
        assert np.abs(embedder.encode_passages([text])[0] - vector).max() < 5e-6


def test_a_question_carries_its_instruction_and_finds_its_answer() -> None:
    embedder, encoder = load_embedder(MODEL), load_query_encoder(MODEL)
    question = "Does illumination raise production?"
    asked = encoder.encode_queries([question])[0]
    assert int((embedder.encode_passages(TEXTS) @ asked).argmax()) == 0
    plain = embedder.encode_passages([question])[0]
    assert float(asked @ plain) < 0.999
    instruction = "Represent this sentence for searching relevant passages: "
    as_passage = embedder.encode_passages([instruction + question])[0]
    assert np.abs(as_passage - asked).max() < 5e-6


def test_every_tensor_has_the_shape_that_bert_gives_it() -> None:
    weights = OnnxWeights(FILE, SHAPE)
    assert weights.words([101, 102, 101]).shape == (3, SHAPE.hidden)
    assert np.array_equal(weights.words([101])[0], weights.words([7, 101])[1])
    assert weights["embeddings.position_embeddings.weight"].shape == (512, SHAPE.hidden)
    assert weights["encoder.layer.11.intermediate.dense.weight"].shape == (1536, SHAPE.hidden)
    assert weights["encoder.layer.0.output.dense.weight"].shape == (SHAPE.hidden, 1536)
    assert weights["encoder.layer.0.output.LayerNorm.bias"].shape == (SHAPE.hidden,)


def test_another_file_is_refused() -> None:
    other = BertShape(hidden=384, inner=1536, layers=6, heads=12, positions=512, epsilon=1e-12)
    with pytest.raises(ConfigurationError, match="6 layers"):
        OnnxWeights(FILE, other)


def test_what_is_no_onnx_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / BGE_FILE
    path.write_bytes(b"not a model")
    with pytest.raises(ConfigurationError, match=r"model\.onnx: not an ONNX file"):
        OnnxWeights(path, SHAPE)


def test_chinese_is_unreadable() -> None:
    tokenizer = load_tokenizer(MODEL)
    assert tokenizer.limit == 510
    assert tokenizer.unknown_share("光照显著提高了类胡萝卜素的产量。") > 0.2
    assert tokenizer.unknown_share("Light increases the yield.") == 0.0
