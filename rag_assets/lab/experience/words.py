"""Words of lessons: configs/lab_words.yaml, read once, as patterns."""

import re
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.model import HAN
from rag_assets.workspace import configs_folder
from rag_assets.workspace.bounded_yaml import read_yaml

WORDS_FILE = "lab_words.yaml"
# The symbols of all elements but those that are words (I, In, As, At, Be, He, No) where they stand
# alone; in a formula with others they count.
SYMBOLS = frozenset(
    re.findall(
        r"\w+",
        "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As "
        "Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu "
        "Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Th U",
    )
)
WORDS_TOO = frozenset({"I", "In", "As", "At", "Be", "He", "No", "C", "K", "H"})


@dataclass(frozen=True, slots=True)
class LabWords:
    """The file's words.

    Args:
        marks: pattern by what a match means: `up`, `down`, `not`, `order`, `<n>+` and `<n>-` for
            the poles of the opposites.
        substances: formula by name, lower case; `elements` the symbol by name.
        names: English name by formula or symbol.
    """

    marks: dict[str, re.Pattern[str]]
    reaction: re.Pattern[str]
    ignored: frozenset[str]
    substances: dict[str, str]
    elements: dict[str, str]
    names: dict[str, str]
    molecules: frozenset[str]


@lru_cache(maxsize=1)
def lab_words() -> LabWords:
    """Return the words, read when they are first needed."""
    words = read_yaml(configs_folder() / WORDS_FILE, WORDS_FILE)
    marks = {
        "up": _pattern(words["directions"]["up"]),
        "down": _pattern(words["directions"]["down"]),
        "not": _pattern(words["denials"]),
        "order": _pattern(words["orders"]),
        "order in time": _pattern(words["orders_in_time"], unless=r"\s*\d"),
    }
    for number, (one, other) in enumerate(words["opposites"]):
        marks |= {f"{number}+": _pattern(one), f"{number}-": _pattern(other)}
    elements = dict(pair.split(":") for pair in words["elements"].split())
    # The first name of each is the one that a model reads.
    names = {symbol: name for name, symbol in reversed(elements.items()) if not HAN.search(name)}
    return LabWords(
        marks,
        re.compile(words["reaction"]),
        frozenset(words["ignored"].split()),
        {name: formula for formula, names in words["substances"].items() for name in names},
        elements,
        names | {formula: names[0] for formula, names in words["substances"].items()},
        frozenset(words["molecules"].split()),
    )


def _pattern(words: str, unless: str | None = None) -> re.Pattern[str]:
    parts = []
    for word in words.split():
        if HAN.search(word):
            parts.append(re.escape(word))
        elif word.endswith("="):
            parts.append(rf"\b{re.escape(word[:-1])}\b")
        else:
            parts.append(rf"\b{re.escape(word)}\w*")
    return re.compile(f"(?:{'|'.join(parts)})" + (f"(?!{unless})" if unless else ""))
