"""How much a word tells: inverse document frequencies, frozen, so that no index changes them."""

import json
from functools import lru_cache

import snowballstemmer

from rag_assets.workspace.configuration import configs_folder

WEIGHTS_FILE = "term_weights.json"
_STEMMER = snowballstemmer.stemmer("english")
# What the table does not hold is rarer than all it holds.
_UNKNOWN = 1.0


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Return the stem of a lower-case English word (Porter 2); other words as they are."""
    return str(_STEMMER.stemWord(word)) if word.isascii() and word.isalpha() else word


def term_weight(unit: str) -> float:
    """Return the weight, 0 to 1, of a unit of `evidence.wording.content_units`.

    A unit that the table does not hold is rare and weighs most.
    """
    weights = _weights()
    found = weights.get(unit)
    return found if found is not None else weights.get(stem(unit), _UNKNOWN)


@lru_cache(maxsize=1)
def _weights() -> dict[str, float]:
    file = configs_folder() / WEIGHTS_FILE
    stored = json.loads(file.read_text(encoding="utf-8"))
    # Stored by weight, which keeps the file small and its changes readable.
    return {
        unit: float(weight) for weight, units in stored["weights"].items() for unit in units.split()
    }
