"""Rules that find entities in a sentence: formulae, designations, names, titles, abbreviations.

Each is in a register, with a text on which it fires and one on which it does not;
`python -m benchmarks.graph_search` counts how often each fires. They are tried in this order, and
what one has taken is no other's.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from rag_assets.model import HAN_RANGES, TextRule

_SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"
_SYMBOLS = (
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se "
    "Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy "
    "Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu"
)
# Symbols of two letters that are no words and no usual initials.
_ALONE = "Al Ti Cr Mn Fe Ni Cu Zn Ga Ge Zr Nb Ru Rh Pd Ag Cd Sn Te Ce Nd Hf Ta Ir Pt Hg Pb Bi"
_SYMBOL = "(?:" + "|".join(sorted(_SYMBOLS.split(), key=len, reverse=True)) + ")"
_COUNT = rf"[\d{_SUBSCRIPTS}]{{0,3}}(?:[.][\d{_SUBSCRIPTS}]{{1,2}})?"
_GROUP = rf"(?:{_SYMBOL}{_COUNT}|\((?:{_SYMBOL}{_COUNT}){{1,6}}\)[\d{_SUBSCRIPTS}]{{1,2}})"
_FORMULA = re.compile(
    rf"(?<![\w.])(?:{_GROUP}){{2,12}}(?![\w(])|(?<![\w.]){_GROUP}(?<=\d)(?![\w(])"
)
_DIGIT = re.compile(rf"[\d{_SUBSCRIPTS}]")
_ELEMENT = re.compile(rf"(?<![\w.&-])(?:{'|'.join(_ALONE.split())})(?![\w.'’])")
_DESIGNATION = re.compile(
    r"(?<![\w./-])(?=[^\s]*[A-Z])(?:[A-Za-z]{1,8}[-‑–]?\d{1,4}[A-Za-z]{0,3}"
    r"(?:[-‑–][A-Z][A-Za-z\d]{0,5})?|\d{1,2}[A-Z]{2,5})(?![\w/])"
)
_CAPITALS = re.compile(r"(?<![\w.&-])[A-Z][A-Z&]{1,6}s?(?![\w&])")
_WORD = r"[A-ZÀ-ÖØ-Þ](?:[^\W\d_]|['’](?=[^\W\d_]{2})|-(?=[^\W\d_])|\.(?=[A-Z]))*"
_INITIAL = r"[A-Z]\.(?=\s?[A-Z])"
_PART = rf"(?:{_INITIAL}|{_WORD})"
_JOIN = r"(?:\s(?:of|de|der|van|von|da|du|la|le|al|bin|and the|of the|for the|in the|&)(?=\s))?"
_NAME = re.compile(rf"(?<![\w.'’-]){_PART}(?:{_JOIN}\s{_PART}){{0,7}}")
_CHINESE_TITLE = re.compile(r"《([^《》\n]{2,40})》")
_QUOTED = re.compile(r"[“\"「]([^“”\"「」\n.。!?！？]{2,48})[”\"」]")
_HAN_ENDS = re.compile(
    rf"(?<![{HAN_RANGES}])[{HAN_RANGES}]{{2,14}}?(?:公司|大学|学院|研究院|研究所|委员会|法院|银行|协会)"
)
_MOST_QUOTED_WORDS = 6
# A listed name counts in any letter case from this length; a shorter one (CO, Cu) as written.
LEAST_IN_ANY_CASE = 4
_HAN_AT = re.compile(f"[{HAN_RANGES}]")
_SPACE = re.compile(r"\s+")
_DASH = re.compile("[‐‑‒–—−]")
_EDGE = "\"'“”‘’.,;:()[]《》「」"
# Capitalised because a sentence begins with them; they are no name alone, nor the first of one.
_OPENERS_LIST = (
    "a about according after all also although among an and another any are as at because before "
    "being between both but by can did do does during each either even every few finally first for "
    "from furthermore had has have he her here his how however i if in instead into is it its many "
    "may moreover most much neither no nor not of on once one only or other our over several she "
    "similarly since so some such than that the their then there therefore these they this those "
    "though through thus to two under until upon using was we were what when where whether which "
    "while who whom whose why will with within without would you your figure fig table section "
    "results methods conclusions background objective introduction abstract"
)
_OPENERS = frozenset(_OPENERS_LIST.split())


@dataclass(frozen=True, slots=True)
class EntityRule(TextRule):
    """A rule that finds entities in a sentence.

    Args:
        spans: gives half-open spans in the sentence.
        called: entities by normalised spelling, of those that are called otherwise.
    """

    spans: Callable[[str], Iterator[tuple[int, int]]] = lambda _: iter(())
    called: Mapping[str, str] = field(default_factory=dict)


def _rule(
    identity: str,
    languages: tuple[str, ...],
    says: str,
    fires: str,
    silent: str,
    spans: Callable[[str], Iterator[tuple[int, int]]],
) -> EntityRule:
    check = lambda text: next(spans(text), None) is not None  # noqa: E731 - one line a rule
    return EntityRule(identity, languages, says, fires, silent, check, spans)


def _all(pattern: re.Pattern[str], group: int = 0) -> Callable[[str], Iterator[tuple[int, int]]]:
    return lambda text: (found.span(group) for found in pattern.finditer(text))


def _quoted(text: str) -> Iterator[tuple[int, int]]:
    for found in _QUOTED.finditer(text):
        if len(found[1].split()) <= _MOST_QUOTED_WORDS:
            yield found.span(1)


def _capitals(text: str) -> Iterator[tuple[int, int]]:
    # A line in capitals shouts; it abbreviates nothing.
    if not (text.isupper() and " " in text):
        yield from _all(_CAPITALS)(text)


def _designations(text: str) -> Iterator[tuple[int, int]]:
    # H2 and TiO2 are formulae.
    return (
        found.span() for found in _DESIGNATION.finditer(text) if not _FORMULA.fullmatch(found[0])
    )


def _formulae(text: str) -> Iterator[tuple[int, int]]:
    for found in _FORMULA.finditer(text):
        # NaCl and TiO2 are formulae; NO, CNN and HeLa's like are read by other rules.
        mixed = re.search(r"[a-z]", found[0]) and len(re.findall(_SYMBOL, found[0])) > 1
        if _DIGIT.search(found[0]) or mixed:
            yield found.span()


def _names(text: str) -> Iterator[tuple[int, int]]:
    if text.isupper():
        return
    first = re.search(r"\w", text)
    for found in _NAME.finditer(text):
        start, end = found.span()
        while (word := re.match(rf"{_PART}{_JOIN}\s?", text[start:end])) and (
            re.split(r"\s", word[0])[0].strip(".").lower() in _OPENERS
        ):
            start += word.end()
        opens = first is not None and start == first.start()
        is_one_word = " " not in text[start:end]
        if end - start > 2 and not (opens and is_one_word):
            yield start, end


def normalise(name: str) -> str:
    """Return the key of a name: NFKC, case folded, without "the", quotes and a final 's."""
    text = _DASH.sub("-", unicodedata.normalize("NFKC", name))
    text = _SPACE.sub(" ", text).strip(f" {_EDGE}").casefold()
    return text.removesuffix("'s").removesuffix("’s").removeprefix("the ").strip()


def entity_rules(names: Sequence[Sequence[str]]) -> tuple[EntityRule, ...]:
    """Return the rules, with one for the names of a namespace's settings before all others.

    Args:
        names: the spellings of each; the first is its name.
    """
    if not names:
        return ENTITY_RULES
    return (_listed(tuple(map(tuple, names))), *ENTITY_RULES)


@lru_cache(maxsize=8)
def _listed(names: tuple[tuple[str, ...], ...]) -> EntityRule:
    spellings = sorted({one for own in names for one in own}, key=lambda one: (-len(one), one))
    rule = _rule(
        "listed",
        ("en", "zh"),
        "a name of `graph.names`",
        names[0][0],
        "",
        _all(re.compile("|".join(map(_spelt, spellings)))),
    )
    # Where two names share a spelling the one that is listed first has it.
    called = {normalise(one): normalise(own[0]) for own in reversed(names) for one in own}
    return replace(rule, called=called)


def _spelt(spelling: str) -> str:
    """Return a pattern for a spelling, its spaces, dashes and digits in any form."""
    parts = re.split(r"(\s+|[-‐‑‒–—−]|\d)", unicodedata.normalize("NFKC", spelling).strip())
    pattern = "".join(
        r"\s+" if part.isspace()
        else "[-‐‑‒–—−]" if _DASH.fullmatch(part) or part == "-"
        else f"[{part}{_SUBSCRIPTS[int(part)]}]" if part in "0123456789" and part
        else re.escape(part)
        for part in parts
    )  # fmt: skip
    first = "" if _HAN_AT.match(spelling[0]) else r"(?<!\w)"
    last = "" if _HAN_AT.match(spelling[-1]) else r"(?!\w)"
    case = "(?i:" if len(normalise(spelling)) >= LEAST_IN_ANY_CASE else "(?:"
    return f"{first}{case}{pattern}){last}"


ENTITY_RULES = (
    _rule(
        "title",
        ("zh",),
        "a title in 《》",
        "根据《劳动合同法》的规定。",
        "根据劳动合同的规定。",
        _all(_CHINESE_TITLE, 1),
    ),
    _rule(
        "quoted",
        ("en", "zh"),
        f"a quotation of at most {_MOST_QUOTED_WORDS} words within one sentence",
        "They call it “urban heat island”.",
        'She said: "The roofs were cooler than all of the other ones in town."',
        _quoted,
    ),
    _rule(
        "designation",
        ("en", "zh"),
        "letters with a number, as things are designated: UiO-66, GPT-4",
        "UiO-66-NH2 is a framework.",
        "It was built in 1966 for 40 people.",
        _designations,
    ),
    _rule(
        "formula",
        ("en", "zh"),
        "a chemical formula of known symbols, with a number or a small letter",
        "We doped TiO₂ with nitrogen.",
        "A CNN was trained on NO data.",
        _formulae,
    ),
    _rule(
        "element",
        ("en", "zh"),
        "the symbol of an element, of those that are no words",
        "Loading Cu onto the support",
        "As In Be the words are no elements",
        _all(_ELEMENT),
    ),
    _rule(
        "organisation",
        ("zh",),
        "a run of Chinese characters that ends as organisations are called",
        "清华大学发布了报告。",
        "屋顶的温度下降了。",
        _all(_HAN_ENDS),
    ),
    _rule(
        "abbreviation",
        ("en", "zh"),
        "two to seven capitals",
        "The UHI effect was strong.",
        "The effect was strong.",
        _capitals,
    ),
    _rule(
        "name",
        ("en",),
        "capitalised words, joined by of, de, van …; one alone not where a sentence begins",
        "It was directed by Tim Burton in London.",
        "Roofs were cooler than streets.",
        _names,
    ),
)
