"""What speaks against two lessons being the same, however near they are in meaning.

“More Cu helps” and “less Cu helps” are neighbours in every embedding. How often each rule fires,
and what would be merged without it, is counted by `python -m benchmarks.lesson_pairs`
(docs/laboratory.md). Words are in configs/lab_words.yaml.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from rag_assets.judging import is_negated, read_quantities
from rag_assets.lab.acids import acids_at
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
        effects: patterns by what a part does to a product: `up`, `down`, `none`.
        substances: formula by name, lower case; `elements` the symbol by name.
        names: English name by formula or symbol.
    """

    marks: dict[str, re.Pattern[str]]
    effects: dict[str, tuple[re.Pattern[str], ...]]
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
    effects = {
        name: (marks[name], _pattern(more)) if name in marks else tuple(map(re.compile, more))
        for name, more in words["effects"].items()
    }
    return LabWords(
        marks,
        effects,
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


_KEPT_TEXTS = 20_000
# A formula: symbols with counts, with what joins metals (Cu–Mo, Cu/Mo).
_FORMULA = re.compile(r"(?<![A-Za-z])(?:[A-Z][a-z]?(?:\d+(?:\.\d+)?)?)+(?![a-z])")
_PART = re.compile(r"([A-Z][a-z]?)(\d+(?:\.\d+)?)?")
# Endings by which chemists name alcohols, amines, aldehydes, solvents, … ("examine" is none).
_SYSTEMATIC = re.compile(
    r"(?<![a-z0-9'-])(?<!\d,)(?:\d{1,2},)*[a-z0-9'-]*"
    r"(?:anol|enol|erol|itol|diol|ethane|propane|butane|hexane|benzene"
    r"|toluene|styrene|glycol|(?<!ex)amine|imine|azole|idine|ophene|aldehyde|nitrile|amide|furan"
    r"|sulfide|sulfoxide|acetate|ketone)s?(?![a-z])"
)
_ACID = re.compile(r"\b[\w,()\[\]-]*ic acids?\b|\b[\w-]{4,}(?:oate|ylate)s?\b")
_TOKEN = re.compile(rf"{HAN.pattern}|(?:(?!{HAN.pattern})[^\W_])+(?:'t)?")
# Of two texts of which so much is equal, word for word, what was exchanged decides.
_MOSTLY_EQUAL = 0.6
# From here two words have most of their letters in common, in the same order.
_SPELLED_ALIKE = 0.6
# So many words more on one side may be a verb with its object: “… broke through the limits of …”.
_TURNING_WORDS = 2
# What the reaction may give.
PRODUCTS = frozenset({"C2H4", "CH4", "CO", "C2H6", "CH3OH", "C2H5OH", "HCOOH", "H2"})
# Meanings of words by which two statements on the same may say opposites.
_TURNING = frozenset({"up", "down", "not"})


def find_differences(one: str, other: str) -> tuple[str, ...]:
    """Return the ids of the rules by which two lessons differ; none for equal texts."""
    if _plain(one) == _plain(other):
        return ()
    return tuple(name for name, differs in RULES.items() if differs(one, other))


def exchanged_words(one: str, other: str) -> tuple[tuple[str, str], ...]:
    """Return the words that stand in one text instead of those of the other, in their order.

    None where that is not all: where one says words more, in Chinese, whose words are not parted
    here, and where they are spelled alike: “adsorption” and “desorption” are neighbours in every
    embedding by their letters.
    """
    first, second = _marked(one)[0], _marked(other)[0]
    pairs = [
        (" ".join(first[a:b]), " ".join(second[c:d]))
        for tag, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
        if tag != "equal"
    ]
    are_told_apart = all(
        mine and others and not HAN.search(mine + others)
        and SequenceMatcher(None, mine, others, autojunk=False).ratio() < _SPELLED_ALIKE
        for mine, others in pairs
    )  # fmt: skip
    return tuple(pairs) if are_told_apart else ()


def contradict(one: str, other: str) -> bool:
    """Say whether two statements on the same substances say opposites of the same."""
    shared = _content(one) & _content(other)
    of_less = min(len(_content(one)), len(_content(other)))
    if not named_substances(one) & named_substances(other) or len(shared) < _MOSTLY_EQUAL * of_less:
        return False
    first, second = _turning(one), _turning(other)
    numbers = [{unit: value for value, unit in _numbers(text) if unit} for text in (one, other)]
    return (
        (bool(first) and bool(second) and not first & second)
        or is_negated(one) != is_negated(other)
        or any(numbers[1].get(unit, value) != value for unit, value in numbers[0].items())
    )


def _turning(text: str) -> set[str]:
    return {part for meaning in _marks(text) for part in meaning.split(",")} & _TURNING


@lru_cache(maxsize=_KEPT_TEXTS)
def _numbers(text: str) -> Counter[tuple[float, str]]:
    """Return the quantities, those inside formulas left out: they are of the substance."""
    return Counter(
        (round(one.value, 9), one.unit.kind) for one in read_quantities(without_formulas(text))
    )


@lru_cache(maxsize=_KEPT_TEXTS)
def named_substances(text: str) -> frozenset[str]:
    """Return the elements, formulas and molecules that a text names, each by one name."""
    words = lab_words()
    known = set(words.substances.values())
    folded = unicodedata.normalize("NFKC", text)
    lower = folded.lower()
    found = set()
    for match in _FORMULA.finditer(folded):
        found |= _read_formula(match.group(), known)
    for name, formula in words.substances.items():
        if re.search(_named(name), lower):
            found.add(formula)
            lower = re.sub(_named(name), " ", lower)
    # An acid of the table has one name, in whichever language it was written.
    for start, end, acid in acids_at(lower):
        found.add(f"molecule:{acid}")
        lower = lower[:start] + " " * (end - start) + lower[end:]
    found |= {symbol for name, symbol in words.elements.items() if re.search(_named(name), lower)}
    found |= {f"acid:{match.group().rstrip('s')}" for match in _ACID.finditer(lower)}
    found |= {f"molecule:{name}" for name in words.molecules if re.search(_named(name), lower)}
    found |= {f"molecule:{match.group().rstrip('s')}" for match in _SYSTEMATIC.finditer(lower)}
    return frozenset(found)


def products_at(text: str) -> list[tuple[int, int, str]]:
    """Return where a text names what the reaction may give: start, end, formula."""
    found = [
        (*match.span(), match.group())
        for match in _FORMULA.finditer(text)
        if match.group() in PRODUCTS
    ]
    lower = text.lower()
    for start, end, acid in acids_at(lower):
        if acid != "formic acid":  # 苯甲酸 is no 甲酸
            lower = lower[:start] + " " * (end - start) + lower[end:]
    for name, formula in lab_words().substances.items():
        if formula in PRODUCTS:
            found += [(*match.span(), formula) for match in re.finditer(_named(name), lower)]
    return sorted(found)


def spell_out(text: str) -> str:
    """Return a text with formulas and symbols by their names, as a model knows them better.

    “Cu–Mo” is no neighbour of “copper and molybdenum” in an embedding; a Chinese text is left as
    it is.
    """
    if HAN.search(text):
        return text
    names = lab_words().names

    def spelled(match: re.Match[str]) -> str:
        formula = match.group()
        if formula in names and formula not in WORDS_TOO:
            return names[formula]
        parts = _PART.findall(formula)
        if len(parts) > 1 and all(symbol in names and not count for symbol, count in parts):
            return " and ".join(names[symbol] for symbol, _ in parts)
        return formula

    return _FORMULA.sub(spelled, unicodedata.normalize("NFKC", text))


def _read_formula(formula: str, known: set[str]) -> set[str]:
    parts = _PART.findall(formula)
    symbols = [symbol for symbol, _ in parts]
    if not set(symbols) <= SYMBOLS or (len(parts) == 1 and formula in WORDS_TOO):
        return set()
    if formula in known:
        return {formula}
    counted = {f"formula:{formula}"} if any(count for _, count in parts) else set()
    return set(symbols) | counted


def _named(name: str) -> str:
    return re.escape(name) if HAN.search(name) else rf"\b{re.escape(name)}\b"


def without_formulas(text: str) -> str:
    """Return a text with blanks in place of its formulas: their numbers are none of its own."""
    folded = unicodedata.normalize("NFKC", text)

    def blank(match: re.Match[str]) -> str:
        symbols = {symbol for symbol, _ in _PART.findall(match.group())}
        return " " * len(match.group()) if symbols <= SYMBOLS else match.group()

    return _FORMULA.sub(blank, folded)


@lru_cache(maxsize=_KEPT_TEXTS)
def _marked(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a text's tokens in order, each with what it marks: a direction, a pole, a denial."""
    words = lab_words()
    plain = words.reaction.sub(lambda m: "reaction".ljust(len(m.group())), _plain(text))
    marks = [
        (match.start(), meaning)
        for meaning, pattern in words.marks.items()
        for match in pattern.finditer(plain)
    ]
    tokens, meanings = [], []
    for match in _TOKEN.finditer(plain):
        within = {meaning for at, meaning in marks if match.start() <= at < match.end()}
        tokens.append(match.group())
        meanings.append(",".join(sorted(within)))
    return tuple(tokens), tuple(meanings)


def _marks(text: str) -> Counter[str]:
    return Counter(meaning for meaning in _marked(text)[1] if meaning)


def _bound(text: str, shared: frozenset[str]) -> tuple[str, ...]:
    """Return marks and shared words in their order: what is said of which."""
    return tuple(
        meaning or _stem(token)
        for token, meaning in zip(*_marked(text), strict=True)
        if meaning or _stem(token) in shared
    )


@lru_cache(maxsize=_KEPT_TEXTS)
def _content(text: str) -> frozenset[str]:
    ignored = lab_words().ignored
    return frozenset(
        _stem(token)
        for token, meaning in zip(*_marked(text), strict=True)
        if not meaning and token not in ignored
    )


@lru_cache(maxsize=_KEPT_TEXTS)
def _stem(token: str) -> str:
    from snowballstemmer import stemmer

    stemmed: str = stemmer("english").stemWord(token)
    return stemmed


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).lower().replace("’", "'").split())


def _other_order(one: str, other: str) -> bool:
    """Where marks of several meanings stand, or a comparison: of what each is said."""
    if not _depends_on_order(_marks(one)):
        return False
    shared = _content(one) & _content(other)
    return _bound(one, shared) != _bound(other, shared)


def _depends_on_order(marks: Counter[str]) -> bool:
    found = {part for meaning in marks for part in meaning.split(",")}
    directions = found & {"up", "down"}
    both_poles = any(f"{part[:-1]}-" in found for part in found if part.endswith("+"))
    return (
        len(directions) == 2
        or ("not" in found and bool(directions))
        or both_poles
        or any(part.startswith("order") for part in found)
    )


def _exchanged(one: str, other: str) -> bool:
    """Of texts that are all but equal: a word stands instead of another, or one more."""
    ignored = lab_words().ignored
    sides = []
    for text in (one, other):
        pairs = [
            meaning or _stem(token)
            for token, meaning in zip(*_marked(text), strict=True)
            if meaning or token not in ignored
        ]
        sides.append(pairs)
    if sorted(sides[0]) == sorted(sides[1]):
        return False  # moved, not exchanged
    matcher = SequenceMatcher(None, sides[0], sides[1], autojunk=False)
    if matcher.ratio() < _MOSTLY_EQUAL:
        return False
    return any(tag != "equal" for tag, *_ in matcher.get_opcodes())


def _other_words(one: str, other: str) -> bool:
    """Each says something of its own that nobody knows to be the same, a ring, a necklace; or one
    says more by words that may turn what is said.
    """
    first, second = (_content(spell_out(text)) for text in (one, other))
    own, others = first - second, second - first
    return bool(own and others) or _count_words(own | others) >= _TURNING_WORDS


def _count_words(stems: frozenset[str]) -> float:
    # A Chinese word has two characters, each of which is a token here.
    return sum(0.5 if HAN.search(stem) else 1 for stem in stems)


# Signs that two lessons are not the same; each is symmetric.
RULES: dict[str, Callable[[str, str], bool]] = {
    "other-numbers": lambda one, other: _numbers(one) != _numbers(other),
    "other-substances": lambda one, other: named_substances(one) != named_substances(other),
    # One says more where the other says less, or speaks of an opposite.
    "other-directions": lambda one, other: _marks(one) != _marks(other),
    "other-denial": lambda one, other: is_negated(one) != is_negated(other),
    # What is said of one thing is said of another.
    "other-order": _other_order,
    # They are equal but for a word, and nobody knows that it means the same.
    "exchanged-word": _exchanged,
    # Each has words that the other lacks.
    "other-words": _other_words,
}
# What no rule decides: whether a word that stands instead of another means the same.
REWORDED = frozenset({"exchanged-word", "other-words"})
