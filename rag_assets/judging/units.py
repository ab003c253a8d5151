"""Units of measure, scales and number words, in English and Chinese."""

import re
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.judging.lexicon import read_words

_SI_PREFIXES = {
    "": 1.0, "k": 1e3, "h": 1e2, "d": 1e-1, "c": 1e-2, "m": 1e-3, "μ": 1e-6, "µ": 1e-6, "u": 1e-6,
    "n": 1e-9, "p": 1e-12,
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
_COUNTED = re.compile(r"\s[a-z-]{3,}s\b")
# So many metres or moles a litre are not written with a capital.
_MILLIONS = 20


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit.

    Args:
        name: as a reader would write it.
        kind: what it measures; two of a kind can be converted. Empty: not known.
        factor: of one unit in the base unit of its kind.
    """

    name: str
    kind: str
    factor: float


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
_NO_UNITS = frozenset({"a", "s", "x"})


@lru_cache(maxsize=1)
def _units() -> dict[str, tuple[str, float]]:
    """Return kind and factor of each name of a unit."""
    words = read_words()
    table: dict[str, tuple[str, float]] = {}
    for row in words["symbols"]:
        for prefix in ("", *row["prefixes"].split()):
            table[prefix + row["symbol"]] = (row["kind"], _SI_PREFIXES[prefix])
    for row in words["units"]:
        for name in row["names"].split():
            table[name.replace("-", " ")] = table[name] = (row["kind"], float(row["factor"]))
    return table


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what finds a unit behind a number, and a Chinese one before other characters."""
    names = sorted(_units(), key=lambda name: (-len(name), name))
    han = "|".join(re.escape(name) for name in names if not name.isascii())
    listed = "|".join(map(re.escape, names))
    # A unit by another: mg/kg, mmol l-1. The second part names the kind, and must be equal.
    by_another = r"(?P<per>/|\sper\s|\s(?=[a-z]{1,3}[-−]1))(?P<other>[a-zμµ]{1,8}[23²³]?)(?:[-−]1)?"
    return (
        re.compile(rf"(?P<gap>[\s-]?)(?P<unit>{listed})(?:{by_another})?(?![a-z])"),
        re.compile(rf"\s?(?P<unit>{han})"),
    )


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
        folded: `text` in lower case; as it is written mM is no mm.
    """
    full, han = _patterns()
    match = full.match(folded, at) or han.match(folded, at)
    if match is None:
        return None, at
    groups = match.groupdict()
    name, other = match["unit"], groups.get("other")
    if name in _NO_UNITS and groups.get("gap") and not other:
        return None, at
    kind, factor = _units()[name]
    if other and other not in _units():
        # "45 mg per sample" is 45 mg.
        return Unit(name, kind, factor), match.end("unit")
    if other:
        per, per_factor = _units()[other]
        kind, factor = f"{kind} per {per}", factor / per_factor
    shown = match.group().strip().removeprefix("-")
    if kind == "length" and text[match.end("unit") - 1] == "M":
        kind = "molar"
    return Unit(shown, kind, factor), match.end()
