"""MathML as one line of text: `1.33 × 10^-4`, `1/2`, `sqrt(2)`, `x_i^2`."""

from collections.abc import Callable
from typing import Any

from rag_assets.parsing.raised import exponent

_UNSEEN = frozenset({"annotation", "annotation-xml", "mphantom", "mspace", "none", "mprescripts"})
_SPACED = frozenset("=≈≠<>≤≥±×·⋅→∈≡∼∝")
_STRUCK = ("strike",)


def linear_formula(element: Any) -> str:
    """Return a formula, or a part of one, on one line."""
    return " ".join(_render(element).split())


def is_number(element: Any) -> bool:
    """Tell whether a formula is made of numbers alone: running text, written without `$`."""
    named = any((e.text or "").strip() not in {"", "e", "π"} for e in element.iter("mi"))
    return not named and next(element.iter("mn"), None) is not None


def _render(element: Any) -> str:
    tag = element.tag if isinstance(element.tag, str) else ""
    if tag in _UNSEEN or "strike" in (element.get("notation") or ""):
        return ""
    if tag == "semantics":
        return _render(element[0]) if len(element) else ""
    if tag == "mo":
        sign = (element.text or "").strip().replace("\u2062", "").replace("\u2061", "")
        return f" {sign} " if sign in _SPACED else sign
    render = _RENDERERS.get(tag)
    children = [child for child in element if isinstance(child.tag, str)]
    if render is not None and children:
        return render([_render(child).strip() for child in children])
    return (element.text or "").strip() + "".join(map(_render, children))


def _operand(text: str) -> str:
    return text if len(text) <= 1 or text.isalnum() else f"({text})"


def _raised(parts: list[str]) -> str:
    return f"{_operand(parts[0])}^{exponent(parts[-1])}"


def _lowered(parts: list[str]) -> str:
    return f"{_operand(parts[0])}_{_operand(parts[1])}" if len(parts) > 1 else parts[0]


def _both(parts: list[str]) -> str:
    return _lowered(parts[:2]) + (f"^{exponent(parts[2])}" if len(parts) > 2 else "")


def _fraction(parts: list[str]) -> str:
    return "/".join(map(_operand, parts[:2]))


def _root(parts: list[str]) -> str:
    return f"{_operand(parts[0])}^(1/{parts[1]})" if len(parts) > 1 else f"sqrt({parts[0]})"


def _before(parts: list[str]) -> str:
    """Return a base with scripts, the empty ones of `none` and `mprescripts` among them."""
    return parts[0] + "".join(f"_{_operand(part)}" for part in parts[1:] if part)


_RENDERERS: dict[str, Callable[[list[str]], str]] = {
    "msup": _raised,
    "mover": lambda parts: parts[0],
    "msub": _lowered,
    "munder": _lowered,
    "msubsup": _both,
    "munderover": _both,
    "mmultiscripts": _before,
    "mfrac": _fraction,
    "msqrt": lambda parts: f"sqrt({''.join(parts)})",
    "mroot": _root,
    "mtr": ", ".join,
    "mtable": lambda rows: f"[{'; '.join(rows)}]",
    "mfenced": lambda parts: f"({', '.join(parts)})",
}
