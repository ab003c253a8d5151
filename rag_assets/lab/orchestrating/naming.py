"""Which dopants, ratios and modifiers a text names: what `policy: collect` reads.

Heuristics; what each decides and misses stands in docs/laboratory.md.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from rag_assets.chunking import split_sentences
from rag_assets.lab.experience.words import SYMBOLS, WORDS_TOO, lab_words
from rag_assets.lab.orchestrating.modifying import modifiers_in
from rag_assets.lab.recipes import chemistry

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
# What follows makes a compound of it: "Ga2 O3", "Bi2 WO6".
_COMPOUND = re.compile(r" (?:O|S|N|Cl|F|Br|WO|VO|MoO)\d*(?![A-Za-z])")
# PDFs set indices apart: "Ga 2 O 3".
_SPACED = re.compile(r"\b((?:[A-Z][a-z]?\d*)+) (\d{1,2})(?= ?[A-Z(\-/,.;)]| |$)")
# Of a range, "1:2–1:5" or "1:2-5", no ratio is meant.
_NO_RANGE = r"(?![\d.:]|\s?[-–—~至到]\s?\d)"
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
        modifiers: molecules with –COOH, in lower case, by one name each (`lab_chemistry.yaml`).
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
    dopes = everything or _DOPES.search(_folded(text)) is not None
    spans = split_sentences(text, _line_ends(text))
    for number, (start, end) in enumerate(spans, start=1):
        sentence = _folded(text[start:end])
        named: list[str | tuple[str, str]] = []
        if dopes:
            own = list(dict.fromkeys(_metals(sentence)))
            written = _ratios(sentence, own)
            metals += own
            ratios = written | ratios
            named += [*own, *written]
        molecules = list(modifiers_in(sentence, everything=everything))
        modifiers += molecules
        named += molecules
        following = text[slice(*spans[number])] if number < len(spans) else ""
        goes_on = not sentence.startswith("#") and _GOES_ON.match(following.lstrip())
        told = text[start : spans[number][1] if goes_on else end]
        for one in dict.fromkeys(named):
            sentences[one] = (*sentences.get(one, ()), " ".join(told.split()))
    return Named(tuple(dict.fromkeys(metals)), tuple(dict.fromkeys(modifiers)), ratios, sentences)


def _folded(text: str) -> str:
    """Return a text as it is read: letters in one form, indices beside their element."""
    return _SPACED.sub(r"\1\2", unicodedata.normalize("NFKC", text))


def _line_ends(text: str) -> list[int]:
    """Return where headings and paragraphs end: a sentence does not go on behind them."""
    return [match.end() for match in re.finditer(r"^#.*\n|\n\s*\n", text, re.MULTILINE)]


def _metals(sentence: str) -> Iterator[str]:
    known = chemistry()
    dopants = known.metals - known.host
    found: list[tuple[int, str]] = []
    if _NOT_OF_CATALYSTS.search(sentence):
        # A ratio of two is one of the catalyst's all the same, under whichever lamp.
        for first, second, _, _ in _EQUATION.findall(sentence):
            if {first, second} <= dopants:
                yield from (first, second)
        return
    for match in _FORMULA.finditer(sentence):
        parts = _PART.findall(match.group())
        symbols = [symbol for symbol, _ in parts]
        # An oxide or a salt names a compound; UV and PL are no elements.
        if set(symbols) <= dopants and _is_meant(match, symbols, sentence):
            found += [(match.start(), symbol) for symbol in symbols]
    lower = sentence.lower()
    for name, symbol in lab_words().elements.items():
        if symbol in dopants:
            edge = r"\b" if name.isascii() else ""
            found += [
                (m.start(), symbol)
                for m in re.finditer(rf"{edge}{name}{edge}", lower)
                if not _SALT.match(lower, m.end())
            ]
    for _, symbol in sorted(found, key=lambda each: each[0]):
        yield symbol


def _is_meant(match: re.Match[str], symbols: list[str], sentence: str) -> bool:
    if _SALT.match(sentence, match.end()) or _COMPOUND.match(sentence, match.end()):
        return False
    if any(len(symbol) == 2 for symbol in symbols) and not set(symbols) <= WORDS_TOO:
        return set(symbols) <= SYMBOLS
    # U87-MG is a line of cells, W-TiO2 a catalyst.
    return _BESIDE.match(sentence, match.end()) is not None and match.group() in symbols


def _ratios(sentence: str, metals: list[str]) -> dict[tuple[str, str], str]:
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
    if len(metals) == 2 and not told and not found and _RATIO_WORD.search(sentence):
        written = {f"{a}:{b}" for a, b in _NUMBERS.findall(sentence)}
        if len(written) == 1:
            found.setdefault((metals[0], metals[1]), written.pop())
    return found
