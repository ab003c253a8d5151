"""Questions of all kinds, the same in each language, as a model sees them.

They stand for whatever else might be asked. Against them is told how near a passage is to one
question, in whichever language it is written, whatever else the library holds; and their means
tell how a model sees the languages themselves. The shipped vectors are made by
`benchmarks/encode_usual_questions.py`; of other models they are made when they are first needed.
"""

import base64
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.model import hash_fields
from rag_assets.workspace import configs_folder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag_assets.settings import ModelSettings

    Floats = NDArray[np.float64]

TEXTS_FILE = "usual_questions.tsv"
VECTORS_FILE = "usual_questions.json"
# The columns of the texts, and how vectors are stored.
LANGUAGES = ("en", "zh")
STORED = np.dtype("<f2")


def read_texts() -> list[list[str]]:
    """Return the questions: the same one in each of LANGUAGES."""
    lines = (configs_folder() / TEXTS_FILE).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines]


def stored_questions(fingerprint: str) -> "Mapping[str, Floats]":
    """Return the vectors of a model's questions by language, each of length 1.

    Returns:
        Shape (questions, dimension) each; empty for a model whose vectors are not shipped.
    """
    return _stored(configs_folder() / VECTORS_FILE).get(fingerprint, {})


def usual_questions(fingerprint: str, model: "ModelSettings") -> "Mapping[str, Floats]":
    """Return what `stored_questions` does, encoded now where they are not stored.

    Raises:
        ConfigurationError: no such model on this machine.
    """
    return stored_questions(fingerprint) or _encoded(fingerprint, model)


def stored_digest() -> str:
    """Return what identifies the stored vectors, for the record of a search."""
    return hash_fields((configs_folder() / VECTORS_FILE).read_text("utf-8"))[:16]


@lru_cache(maxsize=8)
def _encoded(_fingerprint: str, model: "ModelSettings") -> "Mapping[str, Floats]":
    from rag_assets.embedding import encode_questions

    columns = zip(LANGUAGES, zip(*read_texts(), strict=True), strict=True)
    return {language: _unit(encode_questions(model, texts)) for language, texts in columns}


@lru_cache(maxsize=4)
def _stored(path: Path) -> "dict[str, dict[str, Floats]]":
    models = json.loads(path.read_text("utf-8"))["models"]
    return {
        str(fingerprint): {
            language: _unit(
                np.frombuffer(base64.b64decode(text), STORED).reshape(-1, model["dimension"])
            )
            for language, text in model["vectors"].items()
        }
        for model in models
        for fingerprint in model["fingerprints"]
    }


def _unit(vectors: object) -> "Floats":
    found = np.asarray(vectors, np.float64)
    unit: Floats = found / np.linalg.norm(found, axis=1, keepdims=True)
    return unit
