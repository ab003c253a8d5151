"""Formulas of web pages as one line of text: `1.33 × 10^-4`, `(a+b)/c`, `sqrt(2)`, `x_i^2`."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any  # Any: elements of lxml

from rag_assets.parsing.seen import exponent, lowered, raised

_NOTHING = frozenset({"annotation", "annotation-xml", "mphantom", "none", "mprescripts"})
_SPACED = frozenset("=≈≠<>≤≥±×·⋅→∈≡∼∝")
# An application of a function, an invisible product, comma and sum (MathML 3, section 7.4.4).
_INVISIBLE = {"\u2061": "", "\u2062": "", "\u2063": ",", "\u2064": " "}
# Stands between factors until the formula is whole: of 1/(2x) both belong to the denominator.
_TIMES = "\u2062"
_ATOM = re.compile(rf"\w*|\d+(?:[.,]\d+)*|\W|[d∂]{_TIMES}?\w|\w+\([^()]*\)")
_FACTORS = re.compile(rf"[−-]?[\w.,^∂{_TIMES}]+")
_INDEX = re.compile(r"\w+")
_PRIMES = re.compile(r"[′″‴'*∗†]+|[∘°]")
_RELATION = re.compile(r"\s*[=≈≠<>≤≥≡∼∝→]")
# Signs over a letter: the combining character, and the name over more than a letter.
_ACCENTS = {
    "¯": ("\u0304", "bar"), "‾": ("\u0304", "bar"), "―": ("\u0304", "bar"), "_": ("\u0304", "bar"),
    "^": ("\u0302", "hat"), "ˆ": ("\u0302", "hat"), "~": ("\u0303", "tilde"),
    "˜": ("\u0303", "tilde"), "→": ("\u20d7", "vec"), "⃗": ("\u20d7", "vec"),
    "˙": ("\u0307", "dot"), ".": ("\u0307", "dot"), "¨": ("\u0308", "ddot"),
    "ˇ": ("\u030c", "check"),
}  # fmt: skip
_LINES_UNDER = frozenset({"", "_", "\u0332", "¯", "⏟", "⏞", "︸", "︷"})


def linear_formula(element: Any) -> str:
    """Return a `math` element on one line, of its TeX source where it has no MathML.

    A script alone, as in `CO$_2$`, is marked for `settle_raised` like any other.
    """
    alone = _edge(element, 0) if len(element) == 1 else element
    if _name(alone) in {"msup", "msub"} and len(alone) == 2 and not _render(alone[0]):
        mark = raised if _name(alone) == "msup" else lowered
        return mark(_render(alone[1]).replace(_TIMES, "").strip())
    text = " ".join(_render(element).replace(_TIMES, "").split())
    if text:
        return text
    notes = (note for note in element.iter("annotation") if "tex" in (note.get("encoding") or ""))
    source = next((note.text for note in notes if note.text), element.get("alttext"))
    return linear_tex(source or "")


def _name(element: Any) -> str:
    return element.tag.rpartition(":")[2] if isinstance(element.tag, str) else ""


def _render(element: Any) -> str:
    tag, text = _name(element), element.text or ""
    children = [child for child in element if _name(child)]
    written = unicodedata.normalize("NFKC", text.strip())
    if tag in _NOTHING or "strike" in (element.get("notation") or ""):
        written = ""
    elif tag in {"semantics", "maction"}:
        written = _row(children[:1])
    elif tag in {"mtext", "ms"}:
        written = re.sub(r"\s+", " ", text) + _row(children)
    elif tag == "mspace":
        written = " "
    elif tag == "mo":
        sign = text.strip()
        written = f" {sign} " if sign in _SPACED else _INVISIBLE.get(sign, sign)
    elif tag == "mfenced":
        written = _fenced(element, [_render(child).strip() for child in children])
    elif tag == "mmultiscripts":
        written = _multiscripts(children)
    elif tag == "msqrt":
        written = f"sqrt({_row(children).strip()})"
    elif tag == "mfrac" and element.get("linethickness") in {"0", "0pt", "0px"}:
        written = " choose ".join(_render(child).strip() for child in children)
    elif tag in MATHML and children:
        parts = children[1:] if tag == "mlabeledtr" else children
        written = MATHML[tag]([_render(child).strip() for child in parts])
    else:
        written += _row(children)
    return written


def _fenced(element: Any, parts: Sequence[str]) -> str:
    signs = "".join((element.get("separators") or ",").split()) or ","
    between = [f"{signs[min(i, len(signs) - 1)]} {part}" for i, part in enumerate(parts[1:])]
    inner = "".join([*parts[:1], *between])
    return f"{element.get('open', '(')}{inner}{element.get('close', ')')}"


def _row(children: Sequence[Any]) -> str:
    """Return elements side by side: apart where two numbers or words would become one."""
    line, before = "", None
    for child in children:
        text = _render(child)
        if not text:
            continue
        if line and before is not None:
            left, right = line[-1], text[0]
            if (left.isalnum() or left in ")]}") and (right.isalnum() or right in "([√"):
                sides = (_edge(before, -1), _edge(child, 0))
                is_word = any(len(side.text or "") > 1 and side.text.isalpha() for side in sides)
                # H_2O has one reading, x_i y and c^2 m have not without the blank.
                is_built = len(sides[0]) > 0 and not (
                    _name(sides[0]) == "msub" and left.isdigit() and right.isalpha()
                )
                is_fraction = _name(sides[1]) == "mfrac" or _name(sides[0]) == "mfrac"
                is_apart = (left.isdigit() and right.isdigit()) or is_fraction
                is_apart = is_apart or (right.isalnum() and (is_word or is_built))
                line += " " if is_apart else _TIMES if right.isalnum() and left.isalnum() else ""
        line, before = line + text, child
    return line


def _edge(element: Any, place: int) -> Any:
    """Return the first or last part of a group that is no group."""
    while _name(element) in {"math", "mrow", "mstyle", "mpadded", "semantics"} and len(element):
        element = element[0 if _name(element) == "semantics" else place]
    return element


def _multiscripts(children: Sequence[Any]) -> str:
    tags = [_name(child) for child in children]
    bound = tags.index("mprescripts") if "mprescripts" in tags else len(children)
    sides = []
    for scripts in (children[1:bound], children[bound + 1 :]):
        parts = [_render(script).strip() for script in scripts]
        signs = (("_", "^")[i % 2] + exponent(part) for i, part in enumerate(parts) if part)
        sides.append("".join(signs))
    return f"{sides[1]}{_render(children[0]).strip() if children else ''}{sides[0]}"


def _is_bracketed(text: str) -> bool:
    """Tell whether one pair of brackets holds all of a text."""
    depth = 0
    for place, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth <= 0 and place < len(text) - 1:
            return False
    return len(text) > 1


def _operand(text: str) -> str:
    return text if _ATOM.fullmatch(text) or _is_bracketed(text) else f"({text})"


def _script(text: str) -> str:
    return text if _is_bracketed(text) else exponent(text)


def _superscript(parts: Sequence[str]) -> str:
    base = _operand(parts[0])
    if _PRIMES.fullmatch(parts[-1]):
        return base + parts[-1].replace("∘", "°")
    return f"{base}^{_script(parts[-1])}"


def _subscript(parts: Sequence[str]) -> str:
    if len(parts) < 2:
        return parts[0]
    index = parts[1].replace(_TIMES, "")
    index = index if _INDEX.fullmatch(index) else f"({index})"
    return f"{_operand(parts[0])}_{index}"


def _scripts(parts: Sequence[str]) -> str:
    raised = _superscript(["", parts[2]]) if len(parts) > 2 and parts[2] else ""
    return _subscript(parts[:2]) + raised


def _fraction(parts: Sequence[str]) -> str:
    over = parts[0] if _FACTORS.fullmatch(parts[0]) else _operand(parts[0])
    if len(parts) < 2:
        return over
    is_power = re.fullmatch(r"\w+\^-?\w+", parts[1])
    return f"{over}/{parts[1] if is_power else _operand(parts[1])}"


def _nth_root(parts: Sequence[str]) -> str:
    is_root = len(parts) > 1 and parts[1]
    return f"{_operand(parts[0])}^(1/{_operand(parts[1])})" if is_root else f"sqrt({parts[0]})"


def _over(parts: Sequence[str]) -> str:
    base, sign = parts[0], parts[-1].strip()
    if sign in _ACCENTS:
        combining, name = _ACCENTS[sign]
        return base + combining if len(base) == 1 else f"{name}({base})"
    return base if sign in _LINES_UNDER else f"{base}^({sign})"


def _cells(parts: Sequence[str]) -> str:
    """Return a row: its cells are parted, those of an equation written in columns are not."""
    line = ""
    for part in filter(None, parts):
        line += part if not line else f" {part}" if _RELATION.match(part) else f", {part}"
    return line


# By the name of the element: from the texts of its children.
MATHML: dict[str, Callable[[Sequence[str]], str]] = {
    "msup": _superscript,
    "mover": _over,
    "msub": _subscript,
    "munder": lambda parts: parts[0] if parts[-1] in _LINES_UNDER else _subscript(parts),
    "msubsup": _scripts,
    "munderover": _scripts,
    "mfrac": _fraction,
    "msqrt": lambda parts: f"sqrt({''.join(parts)})",
    "mroot": _nth_root,
    "mtr": _cells,
    "mlabeledtr": _cells,
    "mtable": "; ".join,
}

# TeX, where a page has nothing else: groups from the innermost on, then macros by pylatexenc.
_TEX_STYLE = re.compile(r"\\(?:display|text|script)style\b\s*|\\(?:left|right|[bB]igg?[lr]?)(?=\W)")
_TEX_GROUPS: tuple[tuple[re.Pattern[str], Callable[[Sequence[str]], str]], ...] = (
    (re.compile(r"\\[dtc]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}"), _fraction),
    (re.compile(r"\\sqrt\s*\[([^\]{}]*)\]\s*\{([^{}]*)\}"), lambda parts: _nth_root(parts[::-1])),
    (re.compile(r"\\sqrt\s*\{([^{}]*)\}"), lambda parts: f"sqrt({parts[0]})"),
    (re.compile(r"\^\s*\{([^{}]*)\}"), lambda parts: f"^{_script(parts[0])}"),
    (re.compile(r"_\s*\{([^{}]*)\}"), lambda parts: _subscript(["", *parts])),
    (re.compile(r"(?<!\\)\\(?:math[a-z]+|text[a-z]*|operatorname|mbox)\s*\{([^{}]*)\}"), "".join),
    (re.compile(r"(?<![\\\w}\]])\{([^{}]*)\}"), "".join),
)


def linear_tex(source: str) -> str:
    """Return a formula in TeX on one line, as `linear_formula` writes it."""
    from pylatexenc.latex2text import (
        LatexNodes2Text,
        MacroTextSpec,
        get_default_latex_context_db,
    )

    macros = get_default_latex_context_db()
    # What it does not know it would drop.
    unknown = MacroTextSpec("", simplify_repl=lambda node: f"\\{node.macroname} ")
    macros.set_unknown_macro_spec(unknown)
    plain = LatexNodes2Text(math_mode="text", latex_context=macros).latex_to_text
    text, before = re.sub(r"\s+([{^_])", r"\1", _TEX_STYLE.sub("", source)), ""
    if text.count("{") != text.count("}"):
        return " ".join(source.split())
    while text != before:
        before = text
        for pattern, write in _TEX_GROUPS:
            if found := pattern.search(text):
                written = write([plain(part) for part in found.groups()])
                text = text[: found.start()] + written + text[found.end() :]
    return " ".join(re.sub(rf"([{''.join(_SPACED)}])", r" \1 ", plain(text)).split())
