"""A question in one language over passages in another: its vector moves to their language.

Part of a multilingual vector says in which language a text is written. That part is the same for
all questions of a language, and it favours whatever passages of the other language happen to look
like it. It is the difference of the two languages' centres (Libovický et al. 2020, "On the
Language Neutrality of Pre-trained Multilingual Representations"), and is added. The centres are
means over the same questions in both languages (`benchmarks/fit_language_centres.py`).
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.model import hash_fields
from rag_assets.workspace.configuration import configs_folder

if TYPE_CHECKING:
    from rag_assets.retrieval.queries import AskedQuery

CENTRES_FILE = "language_centres.json"

Vector = Sequence[float]


def vectors_for(query: "AskedQuery", fingerprint: str, passages: Mapping[str, int]) -> list[Vector]:
    """Return the vectors of a question, moved where it was asked in no language of the passages.

    Args:
        query: with vectors.
        fingerprint: of the model that made them.
        passages: how many are written in each language; the commonest counts.

    Returns:
        One vector a wording, not of length 1 where it was moved. As they are where the passages'
        commonest language is one of the question's, or where a centre is not known.
    """
    own = list(query.vectors[fingerprint])
    if not passages:
        return own
    theirs = max(passages, key=lambda language: (passages[language], language))
    centres = _read(configs_folder() / CENTRES_FILE).get(fingerprint, {})
    if theirs in query.languages or theirs not in centres or query.language not in centres:
        return own
    shift = [b - a for a, b in zip(centres[query.language], centres[theirs], strict=True)]
    return [[x + by for x, by in zip(vector, shift, strict=True)] for vector in own]


def centres_digest() -> str:
    """Return what identifies the centres that are known, for the record of a search."""
    return hash_fields(_read(configs_folder() / CENTRES_FILE))[:16]


@lru_cache(maxsize=4)
def _read(path: Path) -> dict[str, dict[str, list[float]]]:
    """Return the centres of each model's questions, by its fingerprint and their language."""
    models: list[dict[str, dict[str, list[float]]]] = json.loads(path.read_text("utf-8"))["models"]
    return {str(model["fingerprint"]): model["centres"] for model in models}
