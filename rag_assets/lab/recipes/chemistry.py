"""Names by which molecules and metals are told: configs/lab_chemistry.yaml, read once."""

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
        not_carboxylic: words before "acid" (or a part before 酸) of acids without –COOH.
        derived: words after "acid" that say that its –COOH is gone.
        linkers: words before "acid" of those that MOFs are built from.
        metals: symbols; `other_elements` those that are no metals.
        host: metals of the host itself.
    """

    carboxylic: frozenset[str]
    not_carboxylic: tuple[str, ...]
    derived: tuple[str, ...]
    linkers: frozenset[str]
    metals: frozenset[str]
    other_elements: frozenset[str]
    host: frozenset[str]


@cache
def chemistry() -> Chemistry:
    """Return the names of `configs/lab_chemistry.yaml`."""
    values = read_yaml(configs_folder() / CHEMISTRY_FILE, CHEMISTRY_FILE)
    acids = values["carboxylic"]
    return Chemistry(
        frozenset(acids["names"].casefold().split()),
        tuple(acids["not"].casefold().split()),
        tuple(acids["derived"].casefold().split()),
        frozenset(acids["linkers"].casefold().split()),
        frozenset(values["metals"].split()),
        frozenset(values["other_elements"].split()),
        frozenset(values["host"].split()),
    )
