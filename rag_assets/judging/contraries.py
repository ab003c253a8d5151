"""Words of which one says the contrary of the other."""

from functools import lru_cache

from rag_assets.judging.lexicon import lexicon
from rag_assets.judging.term_weights import stem
from rag_assets.workspace.configuration import configs_folder

ANTONYMS_FILE = "antonyms_en.tsv"
_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "mis", "ab")
_SHORTEST = 4
# Scales of making more or less of something: who promotes it does not reduce it.
_CHANGES = frozenset({"amount", "effect", "cause"})


def are_contrary(word: str, other: str) -> bool:
    """Say whether two words of `judging_words.yaml`, or a word and its denial, are contraries.

    Args:
        word: in lower case; `other` alike.
    """
    contraries = lexicon().contraries_en
    if contraries.get(word, frozenset()) & contraries.get(f"not {other}", frozenset()):
        return True
    return differ_by_prefix(word, other)


def are_contrary_in_place(word: str, other: str) -> bool:
    """Say whether a word makes the contrary of a sentence in which it takes another's place.

    Antonyms of WordNet (Miller, "WordNet: a lexical database for English",
    1995), and verbs of which one makes more and the other less of something (promote, reduce).
    """
    if stem(other) in _antonyms().get(stem(word), frozenset()) or are_opposite(word, other):
        return True
    return any(side == -turned for side in _changes(word) for turned in _changes(other))


def are_opposite(word: str, other: str) -> bool:
    """Say whether two words are the sides of one scale: warmer, cooler."""
    directions = lexicon().directions_en
    sides = {(scale, -side) for scale, side in directions.get(other, ())}
    return any(direction in sides for direction in directions.get(word, ()))


def differ_by_prefix(word: str, other: str) -> bool:
    """Say whether one word denies the other by a prefix: usual, unusual."""
    shorter, longer = sorted((word, other), key=len)
    return len(shorter) >= _SHORTEST and any(longer == prefix + shorter for prefix in _PREFIXES)


def _changes(word: str) -> list[int]:
    directions = lexicon().directions_en.get(word, ())
    return [side for scale, side in directions if scale in _CHANGES]


@lru_cache(maxsize=1)
def _antonyms() -> dict[str, frozenset[str]]:
    """Return the stems of the antonyms of a stem."""
    found: dict[str, set[str]] = {}
    for line in (configs_folder() / ANTONYMS_FILE).read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        first, second = map(stem, line.split("\t"))
        found.setdefault(first, set()).add(second)
        found.setdefault(second, set()).add(first)
    return {word: frozenset(others - {word}) for word, others in found.items()}
