"""Whether a molecule holds a carboxyl group: by its structure, else by its name."""

import re
from dataclasses import dataclass
from typing import Literal

from rag_assets.lab.recipes.chemistry import chemistry
from rag_assets.lab.recipes.structure import holds_carboxyl, read_smiles, skeleton

# On carbon or hydrogen, so that carbonic and carbamic acids are none; a carboxylate counts, since
# amino acids are drawn as zwitterions.
_CARBOXYL = "[$([CX3H1]),$([CX3][#6])](=O)[$([OX2H1]),$([OX1-])]"
_ACID = re.compile(r"\bacids?\b(?P<after>.*)")
_WORD = re.compile(r"[^\W\d_]+")

Means = Literal["structure", "name"]


@dataclass(frozen=True, slots=True)
class Carboxyl:
    """Whether a molecule holds –COOH.

    Args:
        holds: None where it cannot be told.
        by: what told it; None where nothing did.
        why: a clause for the one who reads it.
    """

    holds: bool | None
    by: Means | None
    why: str


def find_carboxyl(name: str, smiles: str | None) -> Carboxyl:
    """Say whether a molecule holds –COOH; a structure that can be read decides alone.

    Args:
        name: as it is called, English or Chinese.
        smiles: its structure; read by RDKit where that is installed (extra `chem`), else as far
            as –COOH needs it.
    """
    return _by_structure(smiles) if smiles else _by_name(name)


def disagreement(name: str, smiles: str) -> str | None:
    """Return what is wrong with a name beside a structure, "" for nothing; None where the name is
    not one of those whose structure is known.

    Args:
        smiles: one that can be read.
    """
    known = chemistry()
    plain = " ".join(name.partition("(")[0].split()).casefold()
    # An amino acid without a mark is the natural one.
    own = known.same.get(plain, plain).casefold()
    wanted = known.structures.get(own) or known.structures.get(f"l-{own.removeprefix('d-')}")
    if wanted is None:
        by_name = _by_name(name)
        return f"{by_name.why}, and {smiles} does" if by_name.holds is False else None
    if skeleton(read_smiles(smiles)) == skeleton(read_smiles(wanted)):
        return ""
    return f"{smiles} is another molecule than {name}, which is {wanted}"


def has_rdkit() -> bool:
    """Say whether structures can be read here."""
    from importlib.util import find_spec

    return find_spec("rdkit") is not None


def _by_structure(smiles: str) -> Carboxyl:
    """Return what the structure says, read by RDKit where it is installed."""
    if has_rdkit():
        from rdkit import Chem, RDLogger

        RDLogger.DisableLog("rdApp.*")
        molecule = Chem.MolFromSmiles(smiles)
        if molecule is None:
            return Carboxyl(None, "structure", f"RDKit cannot read its SMILES ({smiles!r})")
        holds, by = molecule.HasSubstructMatch(Chem.MolFromSmarts(_CARBOXYL)), ""
    else:
        try:
            holds = holds_carboxyl(read_smiles(smiles))
        except ValueError as error:
            return Carboxyl(None, "structure", f"its SMILES {smiles!r} cannot be read: {error}")
        by = "; valences were not checked, which takes RDKit"
    said = "holds" if holds else "holds no"
    return Carboxyl(holds, "structure", f"its structure {said} –COOH ({smiles}{by})")


def _by_name(name: str) -> Carboxyl:
    plain = " ".join(name.casefold().split())
    if "酸" in plain:
        return _by_chinese_name(name, plain)
    words = _WORD.findall(plain)
    if any("carboxy" in word and not word.startswith("carboxyla") for word in words):
        return Carboxyl(True, "name", f"'{name}' names a carboxyl group")
    acid = _ACID.search(plain)
    if acid is not None:
        return _by_acid(name, _WORD.findall(plain[: acid.start()]), _WORD.findall(acid["after"]))
    # "L-histidine", "glycine (Gly)": the last word before a bracket is the substance.
    head = _WORD.findall(plain.partition("(")[0])
    if head and head[-1] in chemistry().carboxylic:
        return Carboxyl(True, "name", f"{head[-1]} holds –COOH")
    return Carboxyl(None, None, f"the name '{name}' does not tell")


def _by_acid(name: str, before: list[str], after: list[str]) -> Carboxyl:
    """Return what the words around "acid" say."""
    known = chemistry()
    gone = next((word for word in after if word in known.derived), None)
    if gone is not None:
        return Carboxyl(None, None, f"'{name}' is an acid's {gone}: what is left is not told")
    # "ethanesulfonic", "aminomethylphosphonic": the kind of acid ends the word.
    last = before[-1] if before else ""
    other = next((one for one in known.not_carboxylic if last.endswith(one)), None)
    if other is not None:
        return Carboxyl(False, "name", f"'{name}' is a {other} acid, which holds no –COOH")
    if last.endswith(known.acids) or last == "amino" or last in known.carboxylic:
        return Carboxyl(True, "name", f"'{name}' is called a carboxylic or amino acid")
    return Carboxyl(None, None, f"the name '{name}' does not tell which kind of acid it is")


def _by_chinese_name(name: str, plain: str) -> Carboxyl:
    known = chemistry()
    _, _, after = plain.partition("酸")
    gone = next((word for word in known.derived if word in after), None)
    if gone is not None:
        return Carboxyl(None, None, f"'{name}' is an acid's {gone}: what is left is not told")
    head = plain.partition("酸")[0]
    other = next((one for one in known.not_carboxylic if head.endswith(one)), None)
    if other is not None:
        return Carboxyl(False, "name", f"'{name}' is no carboxylic acid")
    if any(found.end() == len(head) + 1 for found in known.han_acid.finditer(f"{head}酸")):
        return Carboxyl(True, "name", f"'{name}' is called a carboxylic or amino acid")
    return Carboxyl(None, None, f"the name '{name}' does not tell which acid it is")
