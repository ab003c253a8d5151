"""The graph of a molecule from its SMILES, as far as names and –COOH need it; no library is asked.

After Weininger, "SMILES" (1988). Stereochemistry, isotopes and kinds of bonds are left out of the
comparison, and so are the hydrogens and charges of what is no carbon: a zwitterion and a salt's ion
are the molecule.
"""

import re
from dataclasses import dataclass, field

from rag_assets.model import hash_fields

_VALENCES = {"B": 3, "C": 4, "N": 3, "O": 2, "P": 3, "S": 2, "F": 1, "Cl": 1, "Br": 1, "I": 1}
_ORDERS = {"=": 2, "#": 3, "$": 4}
_TOKEN = re.compile(
    r"\[\d*(?P<element>[A-Z][a-z]?|[bcnops]|se|as)@{0,2}(?:H(?P<hydrogens>\d*))?"
    r"(?P<charge>[+-]+\d*)?(?::\d+)?\]"
    r"|(?P<organic>Br|Cl|[BCNOPSFI]|[bcnops])|(?P<bond>[-=#$:/\\])|(?P<ring>%\d\d|\d)"
    r"|(?P<mark>[().])"
)


@dataclass(slots=True)
class Atom:
    """An atom: its element, hydrogens, charge, and its neighbours with the order of their bonds."""

    element: str
    is_aromatic: bool
    hydrogens: int | None
    charge: int
    bonds: dict[int, int] = field(default_factory=dict)


def read_smiles(smiles: str) -> list[Atom]:
    """Return the atoms of a molecule.

    Raises:
        ValueError: it is no SMILES.
    """
    atoms = _Reading(smiles).atoms
    for one in atoms:
        if one.hydrogens is None:
            used = sum(one.bonds.values()) + one.is_aromatic
            one.hydrogens = max(0, _VALENCES[one.element] - used)
    return atoms


class _Reading:
    """Reads a SMILES token by token."""

    def __init__(self, smiles: str) -> None:
        self.atoms: list[Atom] = []
        self._rings: dict[str, tuple[int, int]] = {}
        self._branches: list[int | None] = []
        self._last: int | None = None
        self._order = 1
        at = 0
        while at < len(smiles):
            token = _TOKEN.match(smiles, at)
            if token is None or not self._take(token):
                raise ValueError(f"'{smiles[at]}' at place {at + 1} cannot stand there")
            at = token.end()
        if self._rings or self._branches or not self.atoms:
            is_open = bool(self.atoms)
            raise ValueError("a ring or branch is not closed" if is_open else "it names no atom")

    def _take(self, token: re.Match[str]) -> bool:
        """Take a token; return whether it may stand where it does."""
        if token["bond"]:
            self._order = _ORDERS.get(token["bond"], 1)
            return True
        may_stand = True
        if name := token["element"] or token["organic"]:
            self.atoms.append(_atom(token, name))
            if self._last is not None:
                self._bind(self._last, len(self.atoms) - 1, self._order)
            self._last = len(self.atoms) - 1
        elif token["ring"]:
            may_stand = self._last is not None and self._close(token["ring"], self._last)
        elif token["mark"] == "(":
            self._branches.append(self._last)
        elif token["mark"] == ")":
            may_stand = bool(self._branches)
            self._last = self._branches.pop() if may_stand else None
        else:
            self._last = None
        self._order = 1
        return may_stand

    def _close(self, ring: str, last: int) -> bool:
        if ring not in self._rings:
            self._rings[ring] = (last, self._order)
            return True
        other, before = self._rings.pop(ring)
        self._bind(other, last, max(self._order, before))
        return other != last

    def _bind(self, one: int, other: int, order: int) -> None:
        self.atoms[one].bonds[other] = self.atoms[other].bonds[one] = order


def _atom(token: re.Match[str], name: str) -> Atom:
    sign = token["charge"] or ""
    count = int(sign.lstrip("+-") or len(sign))
    hydrogens = None
    if token["element"]:
        said = token["hydrogens"]
        hydrogens = 0 if said is None else int(said or 1)
    charge = -count if sign.startswith("-") else count
    return Atom(name.capitalize(), name.islower(), hydrogens, charge)


def holds_carboxyl(atoms: list[Atom]) -> bool:
    """Say whether a carbon, bound to carbon or hydrogen, holds =O and –OH or –O⁻."""

    def is_end(bound: int, order: int) -> bool:
        oxygen = atoms[bound]
        is_alone = oxygen.element == "O" and len(oxygen.bonds) == 1
        return is_alone and (order == 2 or bool(oxygen.hydrogens) or oxygen.charge < 0)

    for one in atoms:
        ends = sorted(order for bound, order in one.bonds.items() if is_end(bound, order))
        others = [atoms[bound].element for bound, order in one.bonds.items()
                  if not is_end(bound, order)]  # fmt: skip
        if one.element == "C" and ends == [1, 2] and (others or ["C"]) == ["C"]:
            return True
    return False


def skeleton(atoms: list[Atom]) -> tuple[str, ...]:
    """Return what equal molecules have in common: each atom by all that is around it."""
    labels = [f"{one.element}{one.hydrogens if one.element == 'C' else ''}" for one in atoms]
    for _ in atoms:
        labels = [
            hash_fields([label, *sorted(labels[bound] for bound in one.bonds)])
            for label, one in zip(labels, atoms, strict=True)
        ]
    return tuple(sorted(labels))
