"""Names by which molecules and metals are told: configs/lab_chemistry.yaml, read once."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rag_assets.workspace import configs_folder
from rag_assets.workspace.bounded_yaml import read_yaml

CHEMISTRY_FILE = "lab_chemistry.yaml"


@dataclass(frozen=True, slots=True)
class Chemistry:
    """What the laboratory knows by name.

    Args:
        carboxylic: substances that hold –COOH though they are not called acids, in lower case.
        acids: endings of the word before "acid" of those that hold it under a name of their own.
        structures: SMILES by name.
        not_carboxylic: words before "acid" (or a part before 酸) of acids without –COOH.
        derived: words after "acid" that say that its –COOH is gone.
        linkers: words before "acid" of those that MOFs are built from and whose form does not tell.
        han_acid: finds a Chinese name of an acid, with locants before it.
        same: the one name by which a molecule is called, by its others.
        metals: symbols; `kinds` groups of them.
        host: metals of the host itself.
    """

    carboxylic: frozenset[str]
    acids: tuple[str, ...]
    structures: dict[str, str]
    not_carboxylic: tuple[str, ...]
    derived: tuple[str, ...]
    linkers: frozenset[str]
    han_acid: re.Pattern[str]
    same: dict[str, str]
    metals: frozenset[str]
    kinds: frozenset[str]
    host: frozenset[str]


@cache
def chemistry() -> Chemistry:
    """Return the names of `configs/lab_chemistry.yaml`."""
    values = read_yaml(configs_folder() / CHEMISTRY_FILE, CHEMISTRY_FILE)
    acids = values["carboxylic"]
    return Chemistry(
        frozenset(acids["names"].casefold().split()),
        ("oic", "carboxylic", *acids["acids"].split()),
        {name.casefold(): smiles for name, smiles in acids["structures"].items()},
        tuple(acids["not"].casefold().split()),
        tuple(acids["derived"].casefold().split()),
        frozenset(acids["linkers"].casefold().split()),
        _han_acid(acids["han"].split(), acids["han_not_before"].split()),
        _same(acids["same"]),
        frozenset(values["metals"].split()),
        frozenset(values["kinds"].split()),
        frozenset(values["host"].split()),
    )


def _han_acid(parts: Sequence[str], not_before: Sequence[str]) -> re.Pattern[str]:
    part = "|".join(sorted(map(re.escape, parts), key=len, reverse=True))
    # Before a ring with something on it they are its places; else words of the sentence.
    place = f"[对邻间](?=(?:(?!苯)(?:{part}))+苯|苯[二三四])"
    locants = r"(?:(?<![\w-])[\dNODL][\d,']*[-‑])?"
    return re.compile(rf"{locants}(?:{place})?(?:{part})+酸(?![{''.join(not_before)}])")


def _same(names: Mapping[str, str]) -> dict[str, str]:
    # "p-aminobenzoic" stands for "p-aminobenzoic acid": a blank parts the names.
    return {
        f"{other} acid" if other.endswith("ic") else other: name
        for name, others in names.items()
        for other in others.split()
    }
