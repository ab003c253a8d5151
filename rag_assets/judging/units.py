"""Units of measure, scales and number words, in English and Chinese."""

import re
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.judging.lexicon import read_words

_SI_PREFIXES = {
    "f": 1e-15, "p": 1e-12, "n": 1e-9, "u": 1e-6, "μ": 1e-6, "m": 1e-3, "c": 1e-2, "d": 1e-1,
    "h": 1e2, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15,
}  # fmt: skip
_PREFIX_WORDS = {
    "f": ("femto", "飞"), "p": ("pico", "皮"), "n": ("nano", "纳"), "μ": ("micro", "微"),
    "m": ("milli", "毫"), "c": ("centi", "厘"), "d": ("deci", "分"), "k": ("kilo", "千"),
    "M": ("mega", "兆"), "G": ("giga", "吉"), "T": ("tera", "太"),
}  # fmt: skip
_SCALES = {
    "dozen": 12.0, "hundred": 100.0,
    "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "mn": 1e6, "bn": 1e9,
    "千": 1e3, "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "万亿": 1e12,
}  # fmt: skip


_SCALE = re.compile(
    r"[\s-]?(?P<scale>" + "|".join(sorted(_SCALES, key=len, reverse=True)) + r")(?![a-z])"
)
# 100k, $5M, 175B parameters; the letters are units, too.
_SUFFIXES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_SUFFIX = re.compile(r"[kmbt](?![a-z0-9])")
_COUNTED = re.compile(
    r"\s(?!(?:under|for|and|in|at|with|to|by|from|on|of|over)\b)(?:[a-z-]+\s){0,2}[a-z-]{3,}s\b"
)
# So many metres or moles a litre are not written with a capital.
_MILLIONS = 20


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit.

    Args:
        name: as a reader would write it.
        kind: what it measures; two of a kind can be converted. Empty: not known.
        factor: of one unit in the base unit of its kind.
        per: of a unit by another (mg/kg) the factor of the other; its kind is “mass per mass”.
    """

    name: str
    kind: str
    factor: float
    per: float = 1.0


def _currencies() -> dict[str, Unit]:
    table = {
        "dollars": "$ us$ usd", "euros": "€ eur", "sterling": "£ gbp", "yuan": "¥ rmb cny",
        "yen": "jpy", "hong kong dollars": "hk$ hkd", "australian dollars": "a$ au$ aud",
        "canadian dollars": "c$ ca$ cad", "new zealand dollars": "nz$ nzd",
        "singapore dollars": "s$ sgd", "taiwan dollars": "nt$ twd", "reais": "r$ brl",
        "rupees": "₹ inr", "francs": "chf", "won": "₩ krw",
    }  # fmt: skip
    return {sign: Unit(kind, kind, 1) for kind, signs in table.items() for sign in signs.split()}


# Before a number.
CURRENCIES = _currencies()
# Beside a number these letters are more often a word or a name than a unit.
_NO_UNITS = frozenset({"a", "s", "x", "A", "B", "S"})
_ONE_SIGN = str.maketrans({"\N{MICRO SIGN}": "μ", "\N{OHM SIGN}": "Ω"})
# Of a word or name: Gram-positive, 4J27.
_NO_PART = r"(?![A-Za-z\d]|-(?:positive|negative)|(?<=升)[到至高])"
_BEFORE_A_UNIT = r"(?P<gap>\\[,;: ]|[\s~-]|\\)?"


@lru_cache(maxsize=1)
def _units() -> tuple[dict[str, tuple[str, float]], dict[str, tuple[str, float]]]:
    """Return kind and factor of symbols as they are written, and of names in any letters."""
    words = read_words()
    symbols: dict[str, tuple[str, float]] = {}
    names: dict[str, tuple[str, float]] = {}
    for row in words["units"]:
        for name in row["names"].split():
            names[name.replace("-", " ")] = names[name] = (row["kind"], float(row["factor"]))
    for row in words["symbols"]:
        for prefix in ("", *row["prefixes"].split()):
            unit = row["kind"], _SI_PREFIXES.get(prefix, 1.0)
            symbols[prefix + row["symbol"]] = unit
            # MG is a mg; of mw the likelier stands first in the file. A small b is a mark.
            if prefix or len(row["symbol"]) > 1:
                names.setdefault((prefix + row["symbol"]).casefold(), unit)
            latin, han = _PREFIX_WORDS.get(prefix, ("", ""))
            if latin or not prefix:
                for word in row.get("en", "").split():
                    names.setdefault(latin + word, unit)
                    names.setdefault(f"{latin}{word}s", unit)
                for word in row.get("zh", "").split():
                    names.setdefault(han + word, unit)
    return symbols, names


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return what finds a symbol behind a number, a name, and a Chinese name before others."""
    symbols, names = (sorted(each, key=lambda name: (-len(name), name)) for each in _units())
    han = "|".join(re.escape(name) for name in names if not name.isascii())
    # A unit by another: mg/kg, mmol l-1. The second part names the kind, and must be equal.
    by_another = (
        r"(?:(?P<per>\s?/\s?|\sper\s|每|\san?\s(?=(?:hour|day|week|month|year)\b)|[\s·⋅]?(?=[A-Za-z]{1,3}[-−]1))"
        rf"(?P<other>[A-Za-zμΩ]{{1,12}}[23²³]?|{han})(?:[-−]1)?)?"
    )
    listed = ("|".join(map(re.escape, each)) for each in (symbols, names))
    either = (rf"{_BEFORE_A_UNIT}(?P<unit>{one}){by_another}{_NO_PART}" for one in listed)
    symbol, name = map(re.compile, either)
    return symbol, name, re.compile(rf"\s?(?P<unit>{han})(?!(?<=升)[到至高])")


def read_scale(
    text: str, folded: str, at: int, value: float, *, is_money: bool
) -> tuple[float, int]:
    """Return what a number is multiplied by (million, 万, k) and where that ends; 1 for nothing.

    Args:
        folded: `text` in lower case.
        at: where the number ends.
    """
    match = _SCALE.match(folded, at)
    if match:
        return _SCALES[match["scale"]], match.end()
    if not _SUFFIX.match(folded, at):
        return 1.0, at
    letter, is_small = folded[at], text[at].islower()
    is_counted = not is_small and bool(_COUNTED.match(folded, at + 1))
    is_many = text[at] == "M" and value >= _MILLIONS
    if is_money or is_counted or is_many or text[at] == "k":
        return _SUFFIXES[letter], at + 1
    return 1.0, at


def read_unit(text: str, folded: str, at: int) -> tuple[Unit | None, int]:
    """Return the unit that stands at an offset and where it ends.

    Args:
        folded: `text` in lower case; as it is written mM is no mm, and MW no mW.
    """
    symbol, name, han = _patterns()
    written = symbol.match(text.translate(_ONE_SIGN), at)
    match = name.match(folded, at) or han.match(folded, at)
    if written and (match is None or written.end("unit") >= match.end("unit")):
        match = written
    if match is None:
        return None, at
    groups = match.groupdict()
    found, other = match["unit"], groups.get("other")
    per = find_unit(other) if other else None
    if found in _NO_UNITS and groups.get("gap") and per is None:
        return None, at
    base = find_unit(found)
    if base is None:
        raise AssertionError(f"{found} is listed")
    if per is None:
        # "45 mg per sample" is 45 mg.
        return base, match.end("unit")
    kind, factor = f"{base.kind} per {per.kind}", base.factor / per.factor
    if kind == "amount per volume":
        kind = "molar"
    return Unit(match.group().strip("-~\\,;: "), kind, factor, per.factor), match.end()


def find_unit(name: str) -> Unit | None:
    """Return the unit of a name or symbol; None where there is none."""
    symbols, names = _units()
    found = symbols.get(name) or names.get(name.casefold())
    return None if found is None else Unit(name, *found)
