"""Passages in ONNX Runtime: the vectors of torch in float32, near them in whole numbers."""

import subprocess
import sys

import numpy as np
import pytest

from rag_assets.embedding import load_embedder, load_query_encoder, model_fingerprint
from rag_assets.model import ConfigurationError
from rag_assets.settings import ModelSettings

MODELS = ("all-MiniLM-L6-v2", "bge-small-en", "multilingual-e5-small")
TEXTS = [
    "Cool roofs reflect sunlight and stay cooler than dark ones on a summer day in the city.",
    "  spaces   and\nlines  ",
    "光合作用如何影响产量？",
    "",
    "unbelievable " * 300,
]


def settings(name: str, dtype: str, device: str = "auto") -> ModelSettings:
    return ModelSettings.model_validate(
        {"kind": "bundled", "model": name, "dtype": dtype, "device": device}
    )


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.parametrize("name", MODELS)
def test_in_float32_a_processor_gives_the_vectors_of_torch(name: str) -> None:
    ours = load_embedder(settings(name, "float32", "cpu"))
    theirs = load_embedder(settings(name, "float32"))
    assert type(ours) is not type(theirs)
    assert ours.fingerprint == theirs.fingerprint
    expected = theirs.encode_passages(TEXTS)
    assert np.abs(ours.encode_passages(TEXTS) - expected).max() < 5e-6


@pytest.mark.parametrize("name", MODELS)
def test_whole_numbers_point_where_float32_points(name: str) -> None:
    whole, exact = settings(name, "int8"), settings(name, "float32", "cpu")
    assert model_fingerprint(whole) != model_fingerprint(exact)
    found = load_embedder(whole).encode_passages(TEXTS)
    expected = load_embedder(exact).encode_passages(TEXTS)
    assert (found * expected).sum(axis=1).min() > 0.97


@pytest.mark.parametrize("name", MODELS)
def test_a_passage_is_the_same_alone_and_among_others(name: str) -> None:
    embedder = load_embedder(settings(name, "int8"))
    together = embedder.encode_passages(TEXTS * 8)
    for row, text in enumerate(TEXTS):
        alone = embedder.encode_passages([text])[0]
        assert np.array_equal(together[row], alone)
        assert np.array_equal(together[row + len(TEXTS)], alone)


def test_questions_are_of_the_same_model() -> None:
    model = settings("all-MiniLM-L6-v2", "int8")
    assert load_query_encoder(model).fingerprint == load_embedder(model).fingerprint


def test_progress_is_told_to_the_last_text() -> None:
    told: list[tuple[int, int]] = []
    embedder = load_embedder(settings("all-MiniLM-L6-v2", "int8"))
    embedder.encode_passages(["a"] * 40, on_progress=lambda done, total: told.append((done, total)))
    assert told == [(32, 40), (40, 40)]


def test_whole_numbers_are_for_processors_and_plain_berts() -> None:
    with pytest.raises(ConfigurationError, match="float16 for a GPU"):
        load_embedder(settings("bge-small-en", "int8", "cuda"))


def test_no_torch_is_imported_to_encode_passages() -> None:
    code = (
        "import sys\nfrom rag_assets.embedding import load_embedder\n"
        "from rag_assets.settings import ModelSettings\n"
        "for name in sys.argv[1:]:\n"
        "    model = ModelSettings(kind='bundled', model=name, dtype='int8')\n"
        "    load_embedder(model).encode_passages(['cool roofs'])\n"
        "print([m for m in ('torch', 'sentence_transformers', 'transformers') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *MODELS], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
