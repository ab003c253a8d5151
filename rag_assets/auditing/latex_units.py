"""Numbers and units as the LaTeX package siunitx takes them, as readable text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from rag_assets.auditing.latex_source import Macro, Token, pairs

# https://ctan.org/pkg/siunitx, sections "Numbers" and "Units".

_PREFIXES = pairs(
    "quecto q ronto r yocto y zepto z atto a femto f pico p nano n micro μ milli m centi c deci d "
    "deca da deka da hecto h kilo k mega M giga G tera T peta P exa E zetta Z yotta Y kibi Ki "
    "mebi Mi gibi Gi tebi Ti"
)
_UNITS = pairs(
    "metre m meter m gram g kilogram kg second s ampere A kelvin K mole mol candela cd hertz Hz "
    "newton N pascal Pa joule J watt W coulomb C volt V farad F ohm Ω siemens S weber Wb tesla T "
    "henry H degreeCelsius °C celsius °C degC °C lumen lm lux lx becquerel Bq gray Gy sievert Sv "
    "katal kat radian rad steradian sr minute min hour h day d hectare ha litre L liter L tonne t "
    "dalton Da electronvolt eV bar bar mmHg mmHg angstrom Å degree ° arcminute ′ arcsecond ″ "
    "percent % bel B decibel dB neper Np astronomicalunit au bit bit byte B knot kn "
    "nauticalmile M atomicmassunit u permille ‰"
)
_POWERS = {"square": ("raiseto", "2"), "cubic": ("raiseto", "3"), "squared": ("tothe", "2"),
           "cubed": ("tothe", "3")}  # fmt: skip
RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_EXPONENT = re.compile(r"\s*[eEdD]\s*([-+]?\d+)$")
_UNCERTAINTY = re.compile(r"(\d*\.?(\d*))\((\d+)\)")


def write_number(typed: str) -> str:
    """Return a number as it is printed: `1.2e3` as 1.2 × 10³, `1.25(3)` as 1.25 ± 0.03."""
    number = typed.strip().replace("+-", "±").replace("\\pm", "±")
    exponent = _EXPONENT.search(number)
    if exponent is not None:
        number = number[: exponent.start()]
    number = re.sub(r"(?<=\d),(?=\d)", ".", number)
    # The uncertainty counts the last decimal places.
    number = _UNCERTAINTY.sub(
        lambda found: f"{found[1]} ± {Decimal(found[3]).scaleb(-len(found[2])):f}", number
    )
    number = re.sub(r"\s*(±|×|(?<=\d)\s*x(?=\s*\d)|[<>≤≥≈])\s*", r" \1 ", number).strip()
    number = number.replace(" x ", " × ")
    if exponent is None:
        return number
    power = "10" + exponent[1].lstrip("+").translate(RAISED)
    if not number or number in {"-", "+"}:
        return f"{number}{power}"
    return f"({number}) × {power}" if "±" in number else f"{number} × {power}"


def write_angle(typed: str) -> str:
    """Return an angle: `45` as 45°, `12;30;5` as 12°30′5″."""
    parts = zip(typed.split(";"), "°′″", strict=False)
    return "".join(f"{part.strip()}{sign}" for part, sign in parts if part.strip())


def write_unit(tokens: Sequence[Token], macros: Mapping[str, Macro]) -> str:
    r"""Return a unit as it is printed: `\micro\gram\per\litre` as μg/L.

    Args:
        macros: of the draft, for units of its own.
    """
    parts: list[tuple[str, str, bool]] = []  # name, power, whether below the line
    prefix = power = ""
    is_below = False
    found = [token for token in _expanded(tokens, macros) if token.text not in {"{", "}", "~"}]
    for before, token in zip(["", *(token.text for token in found)], found, strict=False):
        name = token.text
        if before == "raiseto":
            power = name
        elif before in {"tothe", "^"}:
            if parts:
                is_inverse = name.startswith(("-", "−"))
                unit, _, was_below = parts[-1]
                parts[-1] = (unit, name.lstrip("-−"), was_below != is_inverse)
        elif name in {"tothe", "^", "raiseto", ",", "of"} or token.kind == "space":
            continue
        elif name == "per":
            is_below = True
        elif token.kind == "word" and name in _PREFIXES:
            prefix = _PREFIXES[name]
        else:
            if token.kind == "word":  # \ug and other short ones are the unit itself
                short = f"μ{name[1:]}" if len(name) > 1 and name[0] == "u" else name
                name = _UNITS.get(name, short)
            for piece in re.findall(r"/|[^./·]+", name):
                if piece == "/":
                    is_below = True
                    continue
                parts.append((prefix + piece, power, is_below))
                prefix, power, is_below = "", "", False
    above = [name + (power if power != "1" else "").translate(RAISED)
             for name, power, is_below in parts if not is_below]  # fmt: skip
    below = [name + (power if power != "1" else "").translate(RAISED)
             for name, power, is_below in parts if is_below]  # fmt: skip
    if not above:
        return "·".join(
            name + f"-{power or 1}".translate(RAISED) for name, power, is_below in parts if is_below
        )
    shown = "·".join(below)
    return "·".join(above) + (f"/({shown})" if len(below) > 1 else f"/{shown}" if below else "")


def _expanded(
    tokens: Sequence[Token], macros: Mapping[str, Macro], depth: int = 8
) -> Iterator[Token]:
    for token in tokens:
        macro = macros.get(token.text) if token.kind == "word" and depth else None
        if token.kind == "word" and token.text in _POWERS:
            yield from (token._replace(text=text) for text in _POWERS[token.text])
        elif macro is None or macro.parameters or token.text in {**_UNITS, **_PREFIXES}:
            yield token
        else:
            yield from _expanded(macro.body, macros, depth - 1)
