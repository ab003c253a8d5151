"""Office Math (OMML) as one line of text, as Word itself writes it in its linear format.

Follows UnicodeMath (Sargent, Unicode Technical Note 28): `(a+b)/2`, `x^2`, `∑_(i=1)^n x_i`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from rag_assets.parsing.raised import exponent

if TYPE_CHECKING:
    from lxml.etree import _Element

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_W_TEXT = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}t"
_A_TEXT = "{http://schemas.openxmlformats.org/drawingml/2006/main}t"
_DELETED = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}del"
MATH_TAGS = frozenset({_M + "oMath", _M + "oMathPara"})


def linear_math(element: "_Element") -> str:
    """Return a formula on one line.

    Args:
        element: `m:oMath` or `m:oMathPara`; several formulas are parted by blanks.
    """
    if element.tag == _M + "oMathPara":
        return " ".join(filter(None, (linear_math(child) for child in element)))
    return " ".join(_children(element).split())


def _children(element: "_Element | None") -> str:
    return "" if element is None else "".join(map(_render, element))


def _render(element: "_Element") -> str:
    if element.tag in (_M + "t", _W_TEXT, _A_TEXT):
        return element.text or ""
    render = _RENDERERS.get(element.tag)
    if render is not None:
        return render(element)
    return "" if element.tag.endswith("Pr") or element.tag == _DELETED else _children(element)


def _part(element: "_Element", name: str) -> str:
    return _children(element.find(_M + name)).strip()


def _operand(text: str) -> str:
    """Return `text` so that an operator binds it whole."""
    return text if len(text) <= 1 or text.isalnum() else f"({text})"


def _property(element: "_Element", properties: str, name: str, missing: str, empty: str) -> str:
    """Return a property's value: `missing` without the element, `empty` without the value."""
    found = element.find(f"{_M}{properties}/{_M}{name}")
    return missing if found is None else found.get(_M + "val", empty)


def _scripts(element: "_Element") -> str:
    below, above = _part(element, "sub"), _part(element, "sup")
    return (f"_{_operand(below)}" if below else "") + (f"^{exponent(above)}" if above else "")


def _fraction(element: "_Element") -> str:
    above, below = _operand(_part(element, "num")), _operand(_part(element, "den"))
    separator = "¦" if _property(element, "fPr", "type", "bar", "bar") == "noBar" else "/"
    return f"{above}{separator}{below}"


def _scripted(element: "_Element") -> str:
    return _operand(_part(element, "e")) + _scripts(element)


def _prescripted(element: "_Element") -> str:
    return f"{_scripts(element)} {_operand(_part(element, 'e'))}"


def _radical(element: "_Element") -> str:
    degree, inner = _part(element, "deg"), _part(element, "e")
    return f"√({degree}&{inner})" if degree else f"√{_operand(inner)}"


def _nary(element: "_Element") -> str:
    sign = _property(element, "naryPr", "chr", "∫", "")
    return f"{sign}{_scripts(element)} {_part(element, 'e')}"


def _delimited(element: "_Element") -> str:
    opening, between, closing = (
        _property(element, "dPr", name, usual, "")
        for name, usual in (("begChr", "("), ("sepChr", "|"), ("endChr", ")"))
    )
    parts = [_children(part).strip() for part in element.findall(_M + "e")]
    return opening + between.join(parts) + closing


def _function(element: "_Element") -> str:
    return f"{_part(element, 'fName')} {_operand(_part(element, 'e'))}"


def _limit_below(element: "_Element") -> str:
    return f"{_part(element, 'e')}_{_operand(_part(element, 'lim'))}"


def _limit_above(element: "_Element") -> str:
    return f"{_part(element, 'e')}^{_operand(_part(element, 'lim'))}"


def _matrix(element: "_Element") -> str:
    rows = [
        ", ".join(_children(cell).strip() for cell in row.findall(_M + "e"))
        for row in element.findall(_M + "mr")
    ]
    return f"[{'; '.join(rows)}]"


def _array(element: "_Element") -> str:
    return "; ".join(_children(row).strip() for row in element.findall(_M + "e"))


def _accented(element: "_Element") -> str:
    # A circumflex stands where the file names none (ECMA-376 part 1, 22.1.2.20).
    return _operand(_part(element, "e")) + _property(element, "accPr", "chr", "\u0302", "")


_RENDERERS: dict[str, Callable[["_Element"], str]] = {
    _M + "f": _fraction,
    _M + "sSup": _scripted,
    _M + "sSub": _scripted,
    _M + "sSubSup": _scripted,
    _M + "sPre": _prescripted,
    _M + "rad": _radical,
    _M + "nary": _nary,
    _M + "d": _delimited,
    _M + "func": _function,
    _M + "limLow": _limit_below,
    _M + "limUpp": _limit_above,
    _M + "m": _matrix,
    _M + "eqArr": _array,
    _M + "acc": _accented,
}
