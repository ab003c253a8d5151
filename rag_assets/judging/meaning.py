"""How near a claim is in meaning to sentences: bundled models, one text at a time.

The states of tokens are compared as in Zhang et al., "BERTScore" (ICLR 2020): each token of the
claim is answered by the nearest of the source.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_assets.embedding import load_query_encoder, load_tokenizer, model_fingerprint
from rag_assets.model import hash_fields
from rag_assets.workspace.settings import ModelSettings

ENGLISH = ModelSettings(kind="bundled", model="all-MiniLM-L6-v2")
MULTILINGUAL = ModelSettings(kind="bundled", model="multilingual-e5-small")
# States in the middle keep more of the word, those at the end more of the sentence.
_LAYERS = {ENGLISH.model: (4, 6), MULTILINGUAL.model: (8, 12)}
# Above this share of unknown tokens the English model cannot read a text (see similarity.py).
_MAX_UNKNOWN_SHARE = 0.15
# Two sentences have rarely more; a table without stops can.
MOST_CHARACTERS = 600
_KEPT_TEXTS = 512
_LOWEST_SHARE = 0.25

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Nearness:
    """Cosines of a claim with a text.

    Args:
        whole: of the two texts.
        mean: over the claim's tokens, of each with the nearest of the text; last layer.
        lowest: the same over the quarter that is answered worst.
        middle_mean: as `mean`, in a middle layer; `middle_lowest` alike.
    """

    whole: float
    mean: float
    lowest: float
    middle_mean: float
    middle_lowest: float


def can_read_english(text: str) -> bool:
    """Say whether the English model knows the words of a text."""
    return _unknown_share(text) <= _MAX_UNKNOWN_SHARE


@lru_cache(maxsize=_KEPT_TEXTS)
def _unknown_share(text: str) -> float:
    return load_tokenizer(ENGLISH).unknown_share(text)


def measure_nearness(claim: str, text: str, model: ModelSettings) -> Nearness:
    """Return how near two texts are, by one of the two bundled models."""
    own, other = _states(claim, model.model), _states(text, model.model)
    middle = _answered(own[0], other[0])
    last = _answered(own[1], other[1])
    pooled = own[1].mean(axis=0), other[1].mean(axis=0)
    norm = float(np.linalg.norm(pooled[0]) * np.linalg.norm(pooled[1]))
    return Nearness(
        float(pooled[0] @ pooled[1]) / norm if norm else 0.0,
        float(last.mean()),
        _lowest(last),
        float(middle.mean()),
        _lowest(middle),
    )


def _answered(claim: Floats, text: Floats) -> Floats:
    # Special tokens answer each other and say nothing.
    inner = claim[1:-1] if len(claim) > 2 else claim
    rows = inner / np.linalg.norm(inner, axis=1, keepdims=True)
    columns = text / np.linalg.norm(text, axis=1, keepdims=True)
    best: Floats = (rows @ columns.T).max(axis=1)
    return best


def _lowest(values: Floats) -> float:
    count = max(1, int(len(values) * _LOWEST_SHARE))
    return float(np.sort(values)[:count].mean())


@lru_cache(maxsize=_KEPT_TEXTS)
def _states(text: str, name: str) -> tuple[Floats, Floats]:
    model = ENGLISH if name == ENGLISH.model else MULTILINGUAL
    encoder: Any = load_query_encoder(model)
    middle, last = encoder.encode_tokens(text[:MOST_CHARACTERS], _LAYERS[name])
    return middle, last


def meaning_fingerprint() -> str:
    """Return the SHA-256 of the two models and the layers that are looked at."""
    return hash_fields(
        model_fingerprint(ENGLISH), model_fingerprint(MULTILINGUAL), sorted(_LAYERS.items())
    )
