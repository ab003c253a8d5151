"""Which molecules with –COOH a sentence names as modifiers: a register of cues, each with examples.

A sentence has to tell of putting molecules at the nodes of a framework; in it every acid counts
that is no product of the reaction, no linker and no reagent of another kind. What each cue decides
and what all of them miss stands in docs/laboratory.md.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rag_assets.lab.recipes import chemistry, find_carboxyl

_ACID = re.compile(r"(?<![\w-])(?:[A-Za-z0-9,']+-)*[A-Za-z]*[a-z]ic acid\b")
# Acids that are no kind of molecule by themselves.
_UNSPECIFIC = frozenset(
    {"organic acid", "carboxylic acid", "amic acid", "氨基酸", "羧酸", "有机酸", "脂肪酸"}
)
# Several carboxyl groups on a ring, or several rings with one: what frameworks are built from.
_LINKER = re.compile(
    r"(?:(?:di|tri|tetra|hexa|poly)carboxylic|phthalic|(?:di|tri|tris|bis|tetra|tetrakis)-?benzoic)"
    r" acid$|(?:苯|萘|吡啶|噻吩|呋喃|吡唑|芘)[二三四](?:甲|羧)酸$"
)
_SEVERAL = re.compile(r"(?:bis|tris|tetrakis|di|tri)\($")
_AROUND = 60


@dataclass(frozen=True, slots=True)
class Cue:
    """One sign, found by its words.

    Args:
        id: stable name.
        says: what it says where it fires.
        fires: a sentence, and the modifiers that it names; `silent` one where the cue's words are
            missing, or mean another thing.
        words: of a cue for modifying, anywhere in the sentence; of one against a molecule, before
            it (`before`) or behind it (`behind`).
    """

    id: str
    says: str
    fires: tuple[str, tuple[str, ...]]
    silent: tuple[str, tuple[str, ...]]
    words: re.Pattern[str] | None = None
    before: re.Pattern[str] | None = None
    behind: re.Pattern[str] | None = None


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# One of them makes a sentence one on modifying.
MODIFYING = (
    Cue(
        "modulator", "A molecule decides how a framework grows.",
        ("Zr-BTB was grown with benzoic acid as modulator.", ("benzoic acid",)),
        ("Zr-BTB was washed with benzoic acid.", ()),
        words=_words(r"modulat|调节剂|调制剂|调控|竞争配体"),
    ),
    Cue(
        "attached", "A molecule is fixed to a framework.",
        ("Stearic acid was tethered to the sheets.", ("stearic acid",)),
        ("Stearic acid was bought.", ()),
        words=_words(
            r"modif|graft|anchor|functionali|capp(?:ed|ing)|tether|decorat|install|immobili|incorporat|"
            r"post-?synth|修饰|接枝|嫁接|锚定|改性|功能化|负载|引入|封端"
        ),
    ),
    Cue(
        "surroundings", "It tells of the sites where modifiers sit.",
        ("Glutamic acid coordinated to Zr.", ("L-glutamic acid",)),
        ("Glutamic acid dissolved.", ()),
        words=_words(
            r"microenvironment|ligand|coordinat|\bnodes?\b|zr6|zr-oxo|defect|open metal|"
            r"微环境|配体|配位|节点|缺陷"
        ),
    ),
    Cue(
        "exchanged", "One molecule takes the place of another.",
        ("Formate was exchanged for 4-aminobenzoic acid.", ("4-aminobenzoic acid",)),
        ("4-aminobenzoic acid is a vitamin.", ()),
        words=_words(r"exchang|replac|substitut|compet(?:ing|iti)|取代|交换|置换|代替"),
    ),
    Cue(
        "dosed", "It is counted in equivalents, as modulators are.",
        ("It grew in the presence of 30 equivalents of acetic acid.", ("acetic acid",)),
        ("It grew in acetic acid.", ()),
        words=_words(r"\bequiv|\beq\.|当量"),
    ),
)  # fmt: skip

_LISTED_BEFORE = r"(?:[^.;。；，]{0,30}(?: acid(?:s)?,? (?:and|or)|酸[、和与及或])\s*)?$"
_LISTED_BEHIND = r"^(?:(?:,|\s+and|\s+or|[、和与及或])\s*[\w-]+(?:\s?acid|酸))*"
# One of them says that a molecule is no modifier there.
OTHERWISE = (
    Cue(
        "product", "It is what the reaction gave.",
        ("CO2 was reduced to formic acid over defective TiO2.", ()),
        ("The defects were capped by formic acid.", ("formic acid",)),
        before=_words(
            r"(?:(?:reduc|convert|hydrogenat|oxidi[sz]|transform)\w*\b[^.;]{0,30}\b(?:in)?to|"
            r"(?:yields?|production|formation|selectivity|evolution|generation|rates?) "
            r"(?:of|to|for|towards?)|(?:produc|generat|yield|form)(?:e|es|ed|ing|s)?|"
            r"products?(?: (?:is|are|was|were))?|"
            r"产物[为是]?|生成|还原[为成到]|转化[为成]|得到|制得)\s*"
            + _LISTED_BEFORE
        ),
        behind=_words(
            _LISTED_BEHIND + r"(?:\s*(?:was|is|were|are|as)\b)?\s*(?:(?:the|an?|main|major|only|"
            r"sole|liquid|desired|by-?)\s*)*(?:products?\b|yields?\b|selectivity|production|"
            r"generation|evolution|produced|formed|generated|的?产率|的?选择性|的?产量|[为是].{0,4}产物)"
        ),
    ),
    Cue(
        "linker", "It is called what the framework is built from.",
        ("Fumaric acid was used as linker beside the modulator.", ()),
        ("Fumaric acid was used beside the linker as modulator.", ("fumaric acid",)),
        behind=_words(
            r"^[^.;，。]{0,20}?(?:\bas (?:the |an? )?(?:organic |bridging )?(?:linker|ligand|"
            r"building block)\b|[为是作](?:\S{0,4})(?:连接体|有机配体|桥联配体))"
        ),
    ),
    Cue(
        "reagent", "It does another work: a donor, a solvent, an acid.",
        ("Lactic acid was the sacrificial agent for the modified MOF.", ()),
        ("The MOF was modified with lactic acid, without a sacrificial agent.", ("lactic acid",)),
        behind=_words(
            r"^[^.;,，。]{0,20}?(?:sacrificial|scavenger|electron donor|hole acceptor|solvent|"
            r"electrolyte|\bpH\b|牺牲剂|电子给体|溶剂|电解液)"
        ),
    ),
)  # fmt: skip


def modifiers_in(sentence: str, *, everything: bool = False) -> Iterator[str]:
    """Yield the modifiers that a sentence names, in order, by one name each.

    Args:
        everything: whatever it tells of, as of a lesson of a laboratory.
    """
    if not everything and not any(c.words.search(sentence) for c in MODIFYING if c.words):
        return
    found = sorted(_named(sentence), key=lambda each: each[0])
    for start, end, name in found:
        if everything or not _is_otherwise(sentence, start, end):
            yield chemistry().same.get(name, name)


def _named(sentence: str) -> Iterator[tuple[int, int, str]]:
    for match in (*_ACID.finditer(sentence), *chemistry().han_acid.finditer(sentence)):
        name = match.group()
        name = name.lower() if not re.match(r"[DLNO]-", name) else name
        is_one = (
            name not in _UNSPECIFIC
            and name.split()[0] not in chemistry().linkers
            and not _LINKER.search(name)
            and not _SEVERAL.search(sentence[: match.start()])
        )
        if is_one and find_carboxyl(name, None).holds:
            yield *match.span(), name
    for known in sorted(chemistry().carboxylic):
        for match in re.finditer(rf"\b(?:[DL]-)?{known}\b", sentence, re.IGNORECASE):
            name = match.group()
            plain = f"{name[:2].upper()}{name[2:].lower()}" if name[1] == "-" else name.lower()
            yield *match.span(), plain


def _is_otherwise(sentence: str, start: int, end: int) -> bool:
    before, behind = sentence[max(0, start - _AROUND) : start], sentence[end : end + _AROUND]
    return any(
        (cue.before is not None and cue.before.search(before))
        or (cue.behind is not None and cue.behind.search(behind))
        for cue in OTHERWISE
    )
