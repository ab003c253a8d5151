"""A plain BERT in ONNX Runtime: the vectors of torch in float32, near them in whole numbers."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rag_assets.embedding import (
    load_embedder,
    load_query_encoder,
    load_tokenizer,
    model_fingerprint,
)
from rag_assets.embedding.bert import is_plain_bert
from rag_assets.embedding.bundled_files import BGE_FILE, bundled_folder
from rag_assets.model import ConfigurationError
from rag_assets.model.settings import ModelSettings

MODELS = ("all-MiniLM-L6-v2", "bge-small-en", "multilingual-e5-small")
TEXTS = [
    "How does light change the yield of the reaction?",
    "Cool roofs reflect sunlight and stay cooler than dark ones on a summer day in the city.",
    "  spaces   and\nlines  ",
    "CO₂, naïve café — §5(1) “quoted”",
    "光合作用如何影响产量？",
    "",
    "unbelievable " * 300,
    "a",
]


def settings(name: str, dtype: str = "float32", device: str = "auto") -> ModelSettings:
    return ModelSettings.model_validate(
        {"kind": "bundled", "model": name, "dtype": dtype, "device": device}
    )


@pytest.mark.slow
@pytest.mark.model
def test_minilm_has_the_vectors_of_sentence_transformers() -> None:
    from sentence_transformers import SentenceTransformer

    model = settings("all-MiniLM-L6-v2")
    theirs = SentenceTransformer(str(bundled_folder(model.model)), device="cpu")
    expected = theirs.encode(TEXTS, normalize_embeddings=True)
    assert np.abs(load_query_encoder(model).encode_queries(TEXTS) - expected).max() < 5e-6
    assert np.abs(load_embedder(model).encode_passages(TEXTS) - expected).max() < 5e-6


@pytest.mark.model
def test_bge_has_the_vectors_of_its_own_file_but_for_its_rounding_of_states() -> None:
    import onnxruntime
    from tokenizers import Tokenizer

    file = bundled_folder("bge-small-en") / BGE_FILE
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(file.with_name("tokenizer.json")))
    tokenizer.no_padding()
    tokenizer.enable_truncation(512)
    texts = ["Light increases the yield.", "Courts decide.", "", "word " * 700]
    ours = load_embedder(settings("bge-small-en")).encode_passages(texts)
    for text, vector in zip(texts, ours, strict=True):
        ids = np.asarray([tokenizer.encode(text).ids], np.int64)
        fed = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        (states,) = session.run(["last_hidden_state"], fed)
        theirs = states[0, 0] / np.linalg.norm(states[0, 0])
        assert float(vector @ theirs) > 0.99


@pytest.mark.model
def test_a_question_carries_its_instruction_and_finds_its_answer() -> None:
    model = settings("bge-small-en")
    embedder, encoder = load_embedder(model), load_query_encoder(model)
    question = "Does illumination raise production?"
    asked = encoder.encode_queries([question])[0]
    passages = embedder.encode_passages(["Courts decide.", "Light increases the yield."])
    assert int((passages @ asked).argmax()) == 1
    instruction = "Represent this sentence for searching relevant passages: "
    as_passage = embedder.encode_passages([instruction + question])[0]
    assert np.abs(as_passage - asked).max() < 5e-6


@pytest.mark.model
def test_bge_cannot_read_chinese() -> None:
    tokenizer = load_tokenizer(settings("bge-small-en"))
    assert tokenizer.limit == 510
    assert tokenizer.unknown_share("光照显著提高了类胡萝卜素的产量。") > 0.2
    assert tokenizer.unknown_share("Light increases the yield.") == 0.0


@pytest.mark.parametrize("name", MODELS)
def test_whole_numbers_point_where_float32_points(name: str) -> None:
    whole, exact = settings(name, "int8"), settings(name)
    assert model_fingerprint(whole) != model_fingerprint(exact)
    found = load_embedder(whole).encode_passages(TEXTS)
    expected = load_embedder(exact).encode_passages(TEXTS)
    assert (found * expected).sum(axis=1).min() > 0.97


@pytest.mark.parametrize("name", MODELS)
def test_a_text_is_the_same_alone_and_among_others(name: str) -> None:
    model = settings(name, "int8")
    embedder, encoder = load_embedder(model), load_query_encoder(model)
    together, asked = embedder.encode_passages(TEXTS * 8), encoder.encode_queries(TEXTS)
    for row, text in enumerate(TEXTS):
        alone = embedder.encode_passages([text])[0]
        assert np.array_equal(together[row], alone)
        assert np.array_equal(together[row + len(TEXTS)], alone)
        assert np.array_equal(asked[row], encoder.encode_queries([text])[0])


def test_questions_are_of_the_same_model_in_float32() -> None:
    model, exact = settings("all-MiniLM-L6-v2", "int8"), settings("all-MiniLM-L6-v2")
    encoder = load_query_encoder(model)
    assert encoder.fingerprint == load_embedder(model).fingerprint
    found, expected = encoder.encode_queries(TEXTS), load_embedder(exact).encode_queries(TEXTS)
    assert np.array_equal(found, expected)
    assert load_query_encoder(exact) is load_embedder(exact)


def test_progress_is_told_to_the_last_text() -> None:
    told: list[tuple[int, int]] = []
    embedder = load_embedder(settings("all-MiniLM-L6-v2", "int8"))
    embedder.encode_passages(["a"] * 40, on_progress=lambda done, total: told.append((done, total)))
    assert told == [(32, 40), (40, 40)]


@pytest.mark.parametrize(("dtype", "device"), [("int8", "cuda"), ("float16", "auto")])
def test_e5_and_bge_are_computed_on_the_processor(dtype: str, device: str) -> None:
    for name in ("bge-small-en", "multilingual-e5-small"):
        with pytest.raises(ConfigurationError, match="computed on the processor, in int8"):
            load_embedder(settings(name, dtype, device))


def test_whole_numbers_are_for_processors() -> None:
    with pytest.raises(ConfigurationError, match="float16 for a GPU"):
        load_embedder(settings("all-MiniLM-L6-v2", "int8", "cuda"))


def test_no_torch_is_imported_for_passages_and_questions() -> None:
    code = (
        "import sys\nfrom rag_assets.embedding import *\n"
        "from rag_assets.model.settings import ModelSettings\n"
        "for name in sys.argv[1:]:\n"
        "    model = ModelSettings(kind='bundled', model=name, dtype='int8')\n"
        "    load_embedder(model).encode_passages(['cool roofs'])\n"
        "    load_tokenizer(model).unknown_share('why?')\n"
        "    load_query_encoder(model).encode_queries(['why?'])\n"
        "print([m for m in ('torch', 'sentence_transformers', 'transformers') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *MODELS], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("config.json", {"model_type": "mpnet"}),
        ("config.json", {"hidden_act": "relu"}),
        ("config.json", {"position_embedding_type": "relative_key"}),
        ("sentence_bert_config.json", {"do_lower_case": True}),
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}),
        ("1_Pooling/config.json", {"pooling_mode": "lasttoken"}),
        ("1_Pooling/config.json", {"include_prompt": False}),
    ],
)
def test_any_other_model_is_left_to_sentence_transformers(
    tmp_path: Path, name: str, changes: dict[str, object]
) -> None:
    folder = tmp_path / "model"
    source = bundled_folder("all-MiniLM-L6-v2")
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    (folder / "model.safetensors").symlink_to(source / "model.safetensors")
    assert is_plain_bert(folder)
    path = folder / name
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changes}), "utf-8")
    assert not is_plain_bert(folder)


def test_a_further_module_or_missing_weights_are_left_to_sentence_transformers(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "model"
    source = bundled_folder("all-MiniLM-L6-v2")
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    assert not is_plain_bert(folder)
    (folder / "model.safetensors").symlink_to(source / "model.safetensors")
    modules = json.loads((folder / "modules.json").read_text("utf-8"))
    modules.insert(2, {"idx": 2, "name": "2", "path": "2_Dense", "type": "a.models.Dense"})
    (folder / "modules.json").write_text(json.dumps(modules), "utf-8")
    assert not is_plain_bert(folder)
