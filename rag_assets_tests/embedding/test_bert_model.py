"""The NumPy forward pass says what torch says."""

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rag_assets.embedding import load_embedder, load_query_encoder
from rag_assets.embedding.bert_folder import is_plain_bert
from rag_assets.embedding.bert_model import BertQueryEncoder, gelu
from rag_assets.embedding.bundled_files import bundled_folder
from rag_assets.settings import ModelSettings

SETTINGS = ModelSettings(kind="bundled", model="all-MiniLM-L6-v2")
E5 = ModelSettings(kind="bundled", model="multilingual-e5-small")
QUESTIONS = [
    "How does light change the yield of the reaction?",
    "  spaces   and\nlines  ",
    "CO₂, naïve café — §5(1) “quoted”",
    "光合作用如何影响产量？",
    "",
    "unbelievable " * 300,
    "a",
]


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.parametrize("model", [SETTINGS, E5], ids=lambda model: model.model)
def test_questions_have_the_vectors_of_torch(model: ModelSettings) -> None:
    ours, theirs = load_query_encoder(model), load_embedder(model)
    assert isinstance(ours, BertQueryEncoder)
    found, expected = ours.encode_queries(QUESTIONS), theirs.encode_queries(QUESTIONS)
    assert found.shape == expected.shape == (len(QUESTIONS), ours.dimension)
    assert found.dtype == np.float32
    assert np.abs(found - expected).max() < 5e-6
    assert ours.fingerprint == theirs.fingerprint


@pytest.mark.slow
@pytest.mark.model
def test_minilm_has_the_vectors_of_sentence_transformers() -> None:
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(bundled_folder("all-MiniLM-L6-v2")), device="cpu")
    expected = theirs.encode(QUESTIONS, normalize_embeddings=True)
    assert np.abs(load_query_encoder(SETTINGS).encode_queries(QUESTIONS) - expected).max() < 5e-6
    assert np.abs(load_embedder(SETTINGS).encode_passages(QUESTIONS) - expected).max() < 5e-6


def test_a_question_is_the_same_alone_and_among_others() -> None:
    encoder = load_query_encoder(SETTINGS)
    together = encoder.encode_queries(QUESTIONS)
    for row, question in enumerate(QUESTIONS):
        assert np.array_equal(together[row], encoder.encode_queries([question])[0])


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "multilingual-e5-small", "bge-small-en"])
def test_a_question_needs_no_torch(name: str) -> None:
    code = (
        "import sys; from rag_assets.embedding import load_query_encoder, load_tokenizer;"
        "from rag_assets.settings import ModelSettings;"
        f"m = ModelSettings(kind='bundled', model={name!r});"
        "load_tokenizer(m).unknown_share('why?');"
        "load_query_encoder(m).encode_queries(['why?']);"
        "print([m for m in ('torch', 'sentence_transformers', 'transformers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
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
    source = bundled_folder(SETTINGS.model)
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
    source = bundled_folder(SETTINGS.model)
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    assert not is_plain_bert(folder)
    (folder / "model.safetensors").symlink_to(source / "model.safetensors")
    modules = json.loads((folder / "modules.json").read_text("utf-8"))
    modules.insert(2, {"idx": 2, "name": "2", "path": "2_Dense", "type": "a.models.Dense"})
    (folder / "modules.json").write_text(json.dumps(modules), "utf-8")
    assert not is_plain_bert(folder)


def test_gelu_is_exact_to_single_precision() -> None:
    values = np.linspace(-12, 12, 4001, dtype=np.float32)
    exact = [0.5 * x * (1 + math.erf(x / math.sqrt(2))) for x in values.astype(float)]
    assert np.abs(gelu(values) - exact).max() < 2e-6
