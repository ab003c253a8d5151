"""Molecules and metals: –COOH by structure or by name, and what a text names of them.

Heuristics; what they decide and miss is in docs/laboratory.md. Names are in
configs/lab_chemistry.yaml.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from rag_assets.chunking import split_sentences
from rag_assets.lab.acids import acid_of, acids, acids_at
from rag_assets.lab.differences import SYMBOLS, WORDS_TOO, lab_words
from rag_assets.model import hash_fields
from rag_assets.workspace import configs_folder
from rag_assets.workspace.bounded_yaml import read_yaml

CHEMISTRY_FILE = "lab_chemistry.yaml"


@dataclass(frozen=True, slots=True)
class Chemistry:
    """What the laboratory knows of metals: symbols, `kinds` of them, those of the `host` itself."""

    metals: frozenset[str]
    kinds: frozenset[str]
    host: frozenset[str]


@cache
def chemistry() -> Chemistry:
    """Return the metals of `configs/lab_chemistry.yaml`."""
    values = read_yaml(configs_folder() / CHEMISTRY_FILE, CHEMISTRY_FILE)
    return Chemistry(*(frozenset(values[name].split()) for name in ("metals", "kinds", "host")))


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
            sign = token["charge"] or ""
            count = int(sign.lstrip("+-") or len(sign))
            hydrogens = None
            if token["element"]:
                said = token["hydrogens"]
                hydrogens = 0 if said is None else int(said or 1)
            charge = -count if sign.startswith("-") else count
            self.atoms.append(Atom(name.capitalize(), name.islower(), hydrogens, charge))
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


# On carbon or hydrogen, so that carbonic and carbamic acids are none; a carboxylate counts, since
# amino acids are drawn as zwitterions.
_CARBOXYL = "[$([CX3H1]),$([CX3][#6])](=O)[$([OX2H1]),$([OX1-])]"
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
    if smiles:
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
    main = acid_of(name)
    if main is None:
        return Carboxyl(None, None, f"'{name}' is none of the acids that are known by name")
    structure = acids().structures[main]
    return Carboxyl(True, "name", f"{name} is {structure}, which holds –COOH")


def disagreement(name: str, smiles: str) -> str | None:
    """Return what is wrong with a name beside a structure, "" for nothing; None where the name is
    not one of those whose structure is known.

    Args:
        smiles: one that can be read.
    """
    main = acid_of(name)
    if main is None:
        return None
    wanted = acids().structures[main]
    if skeleton(read_smiles(smiles)) == skeleton(read_smiles(wanted)):
        return ""
    return f"{smiles} is another molecule than {name}, which is {wanted}"


def has_rdkit() -> bool:
    """Say whether structures can be read here."""
    from importlib.util import find_spec

    return find_spec("rdkit") is not None


_AROUND = 60


# One of them makes a sentence one on modifying: a molecule decides how a framework grows, is fixed
# to it, is at its sites, takes the place of another, or is counted in equivalents.
_MODIFYING = re.compile(
    r"modulat|调节剂|调制剂|调控|竞争配体"
    r"|modif|graft|anchor|functionali|capp(?:ed|ing)|tether|decorat|install|immobili|incorporat"
    r"|post-?synth|修饰|接枝|嫁接|锚定|改性|功能化|负载|引入|封端"
    r"|microenvironment|ligand|coordinat|\bnodes?\b|zr6|zr-oxo|defect|open metal"
    r"|微环境|配体|配位|节点|缺陷"
    r"|exchang|replac|substitut|compet(?:ing|iti)|取代|交换|置换|代替"
    r"|\bequiv|\beq\.|当量",
    re.IGNORECASE,
)
_LISTED_BEFORE = r"(?:[^.;。；，]{0,30}(?: acid(?:s)?,? (?:and|or)|酸[、和与及或])\s*)?$"
_LISTED_BEHIND = r"^(?:(?:,|\s+and|\s+or|[、和与及或])\s*[\w-]+(?:\s?acid|酸))*"
# What says before or behind a molecule that it is no modifier there: what the reaction gave, ...
_BEFORE = re.compile(
    r"(?:(?:reduc|convert|hydrogenat|oxidi[sz]|transform)\w*\b[^.;]{0,30}\b(?:in)?to|"
    r"(?:yields?|production|formation|selectivity|evolution|generation|rates?) "
    r"(?:of|to|for|towards?)|(?:produc|generat|yield|form)(?:e|es|ed|ing|s)?|"
    r"products?(?: (?:is|are|was|were))?|"
    r"产物[为是]?|生成|还原[为成到]|转化[为成]|得到|制得)\s*" + _LISTED_BEFORE,
    re.IGNORECASE,
)
_BEHIND = (
    re.compile(
        _LISTED_BEHIND + r"(?:\s*(?:was|is|were|are|as)\b)?\s*(?:(?:the|an?|main|major|only|sole|"
        r"liquid|desired|by-?)\s*)*(?:products?\b|yields?\b|selectivity|production|generation|"
        r"evolution|produced|formed|generated|的?产率|的?选择性|的?产量|[为是].{0,4}产物)",
        re.IGNORECASE,
    ),
    # ... what the framework is built from, ...
    re.compile(
        r"^[^.;，。]{0,20}?(?:\bas (?:the |an? )?(?:organic |bridging )?(?:linker|ligand|building "
        r"block)\b|[为是作](?:\S{0,4})(?:连接体|有机配体|桥联配体))",
        re.IGNORECASE,
    ),
    # ... a donor, a solvent, an acid.
    re.compile(
        r"^[^.;,，。]{0,20}?(?:sacrificial|scavenger|electron donor|hole acceptor|solvent|"
        r"electrolyte|\bpH\b|牺牲剂|电子给体|溶剂|电解液)",
        re.IGNORECASE,
    ),
)


def modifiers_at(
    sentence: str, *, everything: bool = False, anywhere: bool = False
) -> Iterator[tuple[int, int, str]]:
    """Yield the modifiers that a sentence names, in order: start, end, and one name each.

    Args:
        everything: whatever it tells of, as of a lesson of a laboratory.
        anywhere: also where the sentence does not tell of modifying; products, linkers and
            solvents are left out all the same.
    """
    if not everything and not anywhere and not _MODIFYING.search(sentence):
        return
    for start, end, name in acids_at(sentence):
        before, behind = sentence[max(0, start - _AROUND) : start], sentence[end : end + _AROUND]
        is_other = (
            name in acids().linkers
            or _BEFORE.search(before)
            or any(one.search(behind) for one in _BEHIND)
        )
        if everything or not is_other:
            yield start, end, name


_FORMULA = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z][a-z]?\d*(?:\.\d+)?)+(?![A-Za-z0-9])")
_PART = re.compile(r"([A-Z][a-z]?)(\d*(?:\.\d+)?)")
# "W-TiO2", "In/TiO2", and not "In-situ".
_BESIDE = re.compile(r"[-–—/@+](?:[A-Z]|dop|load|co-?dop|modif|decorat)")
# A passage tells of dopants, not of supports or products.
_DOPES = re.compile(
    r"dop|loaded|decorat|deposit|bimetal|dual|single[- ]atom|co-?catal|modif|substitut|"
    r"TiO2|titania|掺杂|负载|修饰|双金属|单原子",
    re.IGNORECASE,
)
# Sentences on apparatus, reagents and calculations name metals that dope nothing.
_NOT_OF_CATALYSTS = re.compile(
    r"electrode|reagent|purchas|[- ]grade|lamp|foil|VASP|pseudopotential|standard solution|"
    r"electrolyte|cell line|X-ray|XRD|diffract|microscop|spectromet",
    re.IGNORECASE,
)
# A salt is what a catalyst was made from, and does not say what it is.
_SALT = re.compile(
    r"\s*(?:\([IV]+\))?\s*(?:nitrate|chloride|hydroxide|acetate|sulfate|sulphate|carbonate|"
    r"bicarbonate|isopropoxide|butoxide|fluoride|bromide|iodide|oxide|phosphate|citrate)"
    r"|\s*\((?:NO|OH|SO|CO|CH|OAc|Ac|C2|NH|PO|Cl)",
    re.IGNORECASE,
)
# Behind a number they are volts and watts.
LETTER = re.compile(r"(?<![A-Za-z0-9–—/:-])(?<!\d )([VW])(?![A-Za-z0-9–—/:-])")
# What follows makes a compound of it: "Ga2 O3", "Bi2 WO6".
_COMPOUND = re.compile(r" (?:O|S|N|Cl|F|Br|WO|VO|MoO)\d*(?![A-Za-z])")
# PDFs set indices apart: "Ga 2 O 3".
_SPACED = re.compile(r"\b((?:[A-Z][a-z]?\d*)+) (\d{1,2})(?= ?[A-Z(\-/,.;)]| |$)")
# Of a range, "1:2–1:5" or "1:2-5", no ratio is meant.
_NO_RANGE = r"(?!\d|[.:]\d|:|\s?[-–—~至到]\s?\d)"
_NUMBERS = re.compile(rf"(?<![\d.:–—~-])(\d+(?:\.\d+)?)\s*[:∶]\s*(\d+(?:\.\d+)?){_NO_RANGE}")
_EQUATION = re.compile(
    r"([A-Z][a-z]?)\s*[:/∶]\s*([A-Z][a-z]?)\s*(?:(?:atomic|molar|mole)?\s*ratios?\s*)?"
    r"(?:=|of|is|was|at|为)?\s*(\d+(?:\.\d+)?)\s*[:∶]\s*"
    rf"(\d+(?:\.\d+)?){_NO_RANGE}"
)
# A sentence that begins so says what became of what the one before names.
_GOES_ON = re.compile(
    r"(?:It|This|These|They|However|But|Yet|Instead|Unfortunately)\b|[它其这但]|然而|不过"
)
_RATIO_WORD = re.compile(r"ratio|atomic|molar|比", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Named:
    """What one text names.

    Args:
        metals: symbols, in the order of naming.
        modifiers: molecules with –COOH, in lower case, by one name each (`lab_acids.tsv`).
        ratios: of two metals, `(first, second)` to `2:1`.
        sentences: by metal, modifier or pair of metals, the sentences that name it, as they
            stand in the text but for white space; with the next one where that begins with "It".
    """

    metals: tuple[str, ...]
    modifiers: tuple[str, ...]
    ratios: dict[tuple[str, str], str]
    sentences: dict[str | tuple[str, str], tuple[str, ...]]


def name_parts(text: str, *, everything: bool = False) -> Named:
    """Return the dopants, modifiers and ratios that a text names.

    Args:
        everything: all of it counts, as of a lesson of a laboratory; else metals where the text
            tells of doping, and molecules in sentences that tell of modifying.
    """
    metals: list[str] = []
    modifiers: list[str] = []
    ratios: dict[tuple[str, str], str] = {}
    sentences: dict[str | tuple[str, str], tuple[str, ...]] = {}
    dopes = everything or tells_of_doping(text)
    # A sentence does not go on behind a heading or a paragraph.
    ends = [match.end() for match in re.finditer(r"^#.*\n|\n\s*\n", text, re.MULTILINE)]
    spans = split_sentences(text, ends)
    for number, (start, end) in enumerate(spans, start=1):
        sentence = fold(text[start:end])
        named: list[str | tuple[str, str]] = []
        if dopes:
            own = list(dict.fromkeys(symbol for _, _, symbol in metals_at(sentence)))
            written = ratios_in(sentence, own)
            metals += own
            ratios = written | ratios
            named += [*own, *written]
        molecules = [name for _, _, name in modifiers_at(sentence, everything=everything)]
        modifiers += molecules
        named += molecules
        following = text[slice(*spans[number])] if number < len(spans) else ""
        goes_on = not sentence.startswith("#") and _GOES_ON.match(following.lstrip())
        told = text[start : spans[number][1] if goes_on else end]
        for one in dict.fromkeys(named):
            sentences[one] = (*sentences.get(one, ()), " ".join(told.split()))
    return Named(tuple(dict.fromkeys(metals)), tuple(dict.fromkeys(modifiers)), ratios, sentences)


def tells_of_doping(text: str) -> bool:
    """Say whether the metals that a text names may be dopants."""
    return _DOPES.search(fold(text)) is not None


def fold(text: str) -> str:
    """Return a text as it is read: letters in one form, indices beside their element."""
    return _SPACED.sub(r"\1\2", unicodedata.normalize("NFKC", text))


def metals_at(sentence: str) -> list[tuple[int, int, str]]:
    """Return where a folded sentence names dopants, in order: start, end, symbol."""
    dopants = chemistry().metals - chemistry().host
    found: list[tuple[int, int, str]] = []
    if _NOT_OF_CATALYSTS.search(sentence):
        # A ratio of two is one of the catalyst's all the same, under whichever lamp.
        for match in _EQUATION.finditer(sentence):
            if {match[1], match[2]} <= dopants:
                found += [(*match.span(1), match[1]), (*match.span(2), match[2])]
        return found
    for match in _FORMULA.finditer(sentence):
        symbols = [symbol for symbol, _ in _PART.findall(match.group())]
        # An oxide or a salt names a compound; UV and PL are no elements.
        if set(symbols) <= dopants and _is_meant(match, symbols, sentence):
            found += [(*match.span(), symbol) for symbol in symbols]
    lower = sentence.lower()
    for name, symbol in lab_words().elements.items():
        if symbol in dopants:
            edge = r"\b" if name.isascii() else ""
            found += [
                (*m.span(), symbol)
                for m in re.finditer(rf"{edge}{name}{edge}", lower)
                if not _SALT.match(lower, m.end())
            ]
    return sorted(found, key=lambda each: each[0])


def _is_meant(match: re.Match[str], symbols: list[str], sentence: str) -> bool:
    if _SALT.match(sentence, match.end()) or _COMPOUND.match(sentence, match.end()):
        return False
    if any(len(symbol) == 2 for symbol in symbols) and not set(symbols) <= WORDS_TOO:
        return set(symbols) <= SYMBOLS
    # U87-MG is a line of cells, W-TiO2 a catalyst.
    return _BESIDE.match(sentence, match.end()) is not None and match.group() in symbols


def ratios_in(sentence: str, metals: Sequence[str]) -> dict[tuple[str, str], str]:
    """Return the ratio `2:1` of each pair of some metals of which a folded sentence tells one."""
    told: dict[tuple[str, str], set[str]] = {}
    for match in _FORMULA.finditer(sentence):
        parts = _PART.findall(match.group())
        if len(parts) == 2 and all(symbol in metals and count for symbol, count in parts):
            (first, one), (second, other) = parts
            told.setdefault((first, second), set()).add(f"{one}:{other}")
    # Of several ratios in one sentence it is not told which is meant.
    found = {pair: ratios.pop() for pair, ratios in told.items() if len(ratios) == 1}
    for first, second, one, other in _EQUATION.findall(sentence):
        if first in metals and second in metals:
            found.setdefault((first, second), f"{one}:{other}")
    if (
        len({*metals, *LETTER.findall(sentence)}) == 2
        and not told
        and not found
        and _RATIO_WORD.search(sentence)
    ):
        written = {f"{a}:{b}" for a, b in _NUMBERS.findall(sentence)}
        if len(written) == 1:
            found.setdefault((metals[0], metals[1]), written.pop())
    return found
