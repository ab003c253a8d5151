"""The NumPy forward pass says what sentence-transformers says."""

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rag_assets.embedding import load_embedder, load_query_encoder
from rag_assets.embedding.bert_model import BertQueryEncoder, gelu, is_plain_bert
from rag_assets.embedding.model_folder import model_folder
from rag_assets.workspace.settings import EmbedSettings

SETTINGS = EmbedSettings(kind="sentence_transformers", model="all-MiniLM-L6-v2", batch_size=8)
QUESTIONS = [
    "How does light change the yield of the reaction?",
    "  spaces   and\nlines  ",
    "CO₂, naïve café — §5(1) “quoted”",
    "光合作用如何影响产量？",
    "",
    "unbelievable " * 300,
    "a",
]


@pytest.mark.model
def test_questions_have_the_vectors_of_sentence_transformers() -> None:
    ours, theirs = load_query_encoder(SETTINGS), load_embedder(SETTINGS)
    assert isinstance(ours, BertQueryEncoder)
    found, expected = ours.encode_queries(QUESTIONS), theirs.encode_queries(QUESTIONS)
    assert found.shape == expected.shape == (len(QUESTIONS), ours.dimension)
    assert found.dtype == np.float32
    assert (found * expected).sum(axis=1).min() > 1 - 1e-6
    assert np.abs(found - expected).max() < 5e-6
    assert ours.fingerprint == theirs.fingerprint


def test_a_question_is_the_same_alone_and_among_others() -> None:
    encoder = load_query_encoder(SETTINGS)
    together = encoder.encode_queries(QUESTIONS)
    for row, question in enumerate(QUESTIONS):
        assert np.array_equal(together[row], encoder.encode_queries([question])[0])


def test_a_question_needs_no_torch() -> None:
    code = (
        "import sys; from rag_assets.embedding import load_query_encoder;"
        "from rag_assets.workspace.settings import EmbedSettings;"
        "s = EmbedSettings(kind='sentence_transformers', model='all-MiniLM-L6-v2', batch_size=8);"
        "load_query_encoder(s).encode_queries(['why?']);"
        "sys.exit('torch' in sys.modules or 'sentence_transformers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


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
    source = model_folder(SETTINGS)
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
    source = model_folder(SETTINGS)
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
