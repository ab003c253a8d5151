"""The cross-encoder's states: the same pass as its score, the same whatever was read before."""

import numpy as np

from rag_assets.judging.pair_reading import LAYERS, BundledPairReader
from rag_assets.retrieval.reranking.bundled import load_bundled
from rag_assets.workspace import shipped_settings

CLAIM = "Green roofs lower the temperature of offices."
TEXT = "In summer the planted roofs kept the offices two degrees cooler."


def test_states_come_with_the_score_of_the_plain_model() -> None:
    reading = BundledPairReader().read(CLAIM, TEXT)
    plain = load_bundled(shipped_settings(None).retrieve.rerank)
    assert [reading.logit] == plain.score(CLAIM, [TEXT])
    assert reading.states.shape == (len(LAYERS), 3, 384)
    assert BundledPairReader().fingerprint != plain.fingerprint


def test_a_pair_is_read_alike_whatever_was_read_before() -> None:
    reader = BundledPairReader()
    first = reader.read(CLAIM, TEXT)
    reader.read(CLAIM, TEXT * 30)
    assert np.array_equal(reader.read(CLAIM, TEXT).states, first.states)


def test_claim_and_source_have_states_of_their_own() -> None:
    first, claim, source = BundledPairReader().read(CLAIM, TEXT).states[0]
    assert not np.allclose(claim, source, atol=0.1)
    assert not np.allclose(first, claim, atol=0.1)
    # Another source: its own mean moves further than that of the claim beside it.
    other = BundledPairReader().read(CLAIM, "Cats sleep all day.").states[0]
    assert np.linalg.norm(other[2] - source) > np.linalg.norm(other[1] - claim) > 0
