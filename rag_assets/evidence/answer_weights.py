"""The fitted weights of quotes, and of whether a library answers a question at all."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_assets.finding import FEATURES, KINDS
from rag_assets.model import ConfigurationError, hash_fields
from rag_assets.workspace import configs_folder

WEIGHTS_FILE = "answering.json"
# Of the search: whether the passage is the one of its parent that was found, and its score beside
# the best one's.
SEARCHED = ("found", "search score")
SENTENCE_FEATURES = (*FEATURES, *KINDS, *SEARCHED)
MATCH_FEATURES = (
    "unknown", "covered", "beside", "together", "answered", "clearly", "same", "similar", "means",
    "best answered", "best clearly", "best same", "best similar", "best means", "kind",
    "likelihood", "score", "words", "across languages", "in Chinese",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AnswerWeights:
    """One weight a feature, and where they come from.

    Args:
        sentences: by SENTENCE_FEATURES; which sentence answers.
        match: by MATCH_FEATURES; whether anything does.
        bias: of `match`.
        threshold: likelihood below which nothing in the library seems to answer.
        fingerprint: SHA-256 of all of them.
    """

    sentences: NDArray[np.float64]
    match: NDArray[np.float64]
    bias: float
    threshold: float
    provenance: Mapping[str, Any]
    fingerprint: str


@lru_cache(maxsize=1)
def load_answer_weights() -> AnswerWeights:
    """Return the shipped weights.

    Raises:
        ConfigurationError: they were fitted for other features than the code measures.
    """
    path = configs_folder() / WEIGHTS_FILE
    stored = json.loads(path.read_text(encoding="utf-8"))
    names = {"sentences": SENTENCE_FEATURES, "match": MATCH_FEATURES}
    if any(set(stored[part]) != set(own) for part, own in names.items()):
        raise ConfigurationError(
            f"{path}: fitted for other features than this version measures. Run "
            "`python benchmarks/fit_answering.py`, or restore the file that came with this version."
        )
    values = {part: [float(stored[part][name]) for name in own] for part, own in names.items()}
    bias, threshold = float(stored["bias"]), float(stored["threshold"])
    return AnswerWeights(
        np.array(values["sentences"]),
        np.array(values["match"]),
        bias,
        threshold,
        stored["provenance"],
        hash_fields([*map(repr, (*values["sentences"], *values["match"], bias, threshold))]),
    )
