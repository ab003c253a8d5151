"""Numbers and units as the LaTeX package siunitx takes them, as readable text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag_assets.auditing.latex_source import Macro, Token

# https://ctan.org/pkg/siunitx, sections "Numbers" and "Units".

_PREFIXES = {
    "quecto": "q", "ronto": "r", "yocto": "y", "zepto": "z", "atto": "a", "femto": "f",
    "pico": "p", "nano": "n", "micro": "μ", "milli": "m", "centi": "c", "deci": "d", "deca": "da",
    "deka": "da", "hecto": "h", "kilo": "k", "mega": "M", "giga": "G", "tera": "T", "peta": "P",
    "exa": "E", "zetta": "Z", "yotta": "Y", "kibi": "Ki", "mebi": "Mi", "gibi": "Gi", "tebi": "Ti",
}  # fmt: skip
_UNITS = {
    "metre": "m", "meter": "m", "gram": "g", "kilogram": "kg", "second": "s", "ampere": "A",
    "kelvin": "K", "mole": "mol", "candela": "cd", "hertz": "Hz", "newton": "N", "pascal": "Pa",
    "joule": "J", "watt": "W", "coulomb": "C", "volt": "V", "farad": "F", "ohm": "Ω",
    "siemens": "S", "weber": "Wb", "tesla": "T", "henry": "H", "degreeCelsius": "°C",
    "celsius": "°C", "degC": "°C", "lumen": "lm", "lux": "lx", "becquerel": "Bq", "gray": "Gy",
    "sievert": "Sv", "katal": "kat", "radian": "rad", "steradian": "sr", "minute": "min",
    "hour": "h", "day": "d", "hectare": "ha", "litre": "L", "liter": "L", "tonne": "t",
    "dalton": "Da", "electronvolt": "eV", "bar": "bar", "mmHg": "mmHg", "angstrom": "Å",
    "degree": "°", "arcminute": "′", "arcsecond": "″", "percent": "%", "bel": "B",
    "decibel": "dB", "neper": "Np", "astronomicalunit": "au", "bit": "bit", "byte": "B",
    "knot": "kn", "nauticalmile": "M", "atomicmassunit": "u", "permille": "‰",
}  # fmt: skip
_POWERS = {
    "square": ("raiseto", "2"), "cubic": ("raiseto", "3"), "squared": ("tothe", "2"),
    "cubed": ("tothe", "3"),
}  # fmt: skip
_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_EXPONENT = re.compile(r"\s*[eEdD]\s*([-+]?\d+)$")
_UNCERTAINTY = re.compile(r"(\d*)(?:[.,](\d+))?\((\d+)\)")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")


def write_number(typed: str) -> str:
    """Return a number as it is printed: `1.2e3` as 1.2 × 10³, `1.25(3)` as 1.25 ± 0.03."""
    number = typed.strip().replace("+-", "±").replace("\\pm", "±")
    exponent = _EXPONENT.search(number)
    if exponent is not None:
        number = number[: exponent.start()]
    number = _DECIMAL_COMMA.sub(".", _UNCERTAINTY.sub(_spread, number))
    number = re.sub(r"\s*(±|×|(?<=\d)\s*x(?=\s*\d)|[<>≤≥≈])\s*", r" \1 ", number).strip()
    number = number.replace(" x ", " × ")
    if exponent is None:
        return number
    power = "10" + exponent[1].lstrip("+").translate(_RAISED)
    if not number or number in {"-", "+"}:
        return f"{number}{power}"
    return f"({number}) × {power}" if "±" in number else f"{number} × {power}"


def _spread(match: re.Match[str]) -> str:
    """Return `1.25(3)` with its uncertainty as a number: it is one of the last places."""
    whole, decimals, digits = match[1], match[2] or "", match[3]
    places = digits.rjust(len(decimals) + 1, "0")
    cut = len(places) - len(decimals)
    spread = f"{places[:cut].lstrip('0') or '0'}.{places[cut:]}" if decimals else digits
    number = f"{whole}.{decimals}" if decimals else whole
    return f"{number} ± {spread}"


def write_angle(typed: str) -> str:
    """Return an angle: `45` as 45°, `12;30;5` as 12°30′5″."""
    parts = typed.split(";")
    return "".join(
        f"{part.strip()}{sign}" for part, sign in zip(parts, "°′″", strict=False) if part.strip()
    )


@dataclass(slots=True)
class _Part:
    """A unit within a compound one."""

    name: str
    power: str = ""
    is_below: bool = False

    @property
    def shown(self) -> str:
        return self.name + (self.power.translate(_RAISED) if self.power not in {"", "1"} else "")


def write_unit(tokens: Sequence[Token], macros: Mapping[str, Macro]) -> str:
    r"""Return a unit as it is printed: `\micro\gram\per\litre` as μg/L.

    Args:
        macros: of the draft, for units of its own.
    """
    parts: list[_Part] = []
    prefix = power = ""
    is_below = False
    found = [token for token in _expanded(tokens, macros) if token.text not in {"{", "}", "~"}]
    for at, token in enumerate(found):
        name, before = token.text, found[at - 1].text if at else ""
        if before in {"tothe", "^", "raiseto"}:
            if before == "raiseto":
                power = name
            elif parts:
                parts[-1].power = name
        elif name in {"tothe", "^", "raiseto", ",", "of"} or token.kind in {"space", "newline"}:
            continue
        elif name == "per":
            is_below = True
        elif token.kind == "word" and name in _PREFIXES:
            prefix = _PREFIXES[name]
        else:
            written = _called(name) if token.kind == "word" else name
            for piece in re.findall(r"/|[^./·]+", written):
                if piece == "/":
                    is_below = True
                    continue
                parts.append(_Part(prefix + piece, power, is_below))
                prefix, power, is_below = "", "", False
    return _joined(parts)


def _expanded(
    tokens: Sequence[Token], macros: Mapping[str, Macro], depth: int = 8
) -> Iterator[Token]:
    for token in tokens:
        macro = macros.get(token.text) if token.kind == "word" and depth else None
        if token.kind == "word" and token.text in _POWERS:
            yield from (token._replace(text=text) for text in _POWERS[token.text])
        elif macro is None or macro.parameters or token.text in _UNITS:
            yield token
        else:
            yield from _expanded(macro.body, macros, depth - 1)


def _called(name: str) -> str:
    r"""Return a unit by its command; `\ug` and other short ones are the unit itself."""
    if name in _UNITS:
        return _UNITS[name]
    return f"μ{name[1:]}" if len(name) > 1 and name[0] == "u" else name.lstrip("%") or "%"


def _joined(parts: Sequence[_Part]) -> str:
    for part in parts:
        if part.power.startswith(("-", "−")):
            part.is_below, part.power = not part.is_below, part.power[1:]
    above = "·".join(part.shown for part in parts if not part.is_below)
    below = [part for part in parts if part.is_below]
    if not above:
        return "·".join(
            f"{one.name}{('-' + (one.power or '1')).translate(_RAISED)}" for one in below
        )
    if not below:
        return above
    shown = "·".join(part.shown for part in below)
    return f"{above}/{shown}" if len(below) == 1 else f"{above}/({shown})"
