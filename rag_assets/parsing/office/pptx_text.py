"""The paragraphs of a shape: running text, bullets, numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag_assets.model import BlockKind
from rag_assets.parsing.office.drawing import MC, A, alpha_of, solid_colour
from rag_assets.parsing.office.flow import Piece, clean_inline
from rag_assets.parsing.office.math import MATH_TAGS, linear_math
from rag_assets.parsing.office.numbers import format_number, whole_number
from rag_assets.parsing.raised import LEVEL, LOWERED, RAISED, settle_raised
from rag_assets.parsing.unseen import LEAST_POINTS, Kind, Unseen, are_alike

if TYPE_CHECKING:
    from lxml.etree import _Element

_MARKS = ("buNone", "buChar", "buAutoNum", "buBlip")
_INDENT = 2
_LEVELS = 9
_NUMBER_FORMS = (
    ("arabic", "decimal"), ("alphaLc", "lowerLetter"), ("alphaUc", "upperLetter"),
    ("romanLc", "lowerRoman"), ("romanUc", "upperRoman"), ("circle", "decimalEnclosedCircle"),
    ("ea", "chineseCounting"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ground:
    """What the text of a shape stands on.

    Args:
        unseen: what was left out so far.
        colour: behind the text, None where it is not known.
    """

    unseen: Unseen = field(default_factory=Unseen)
    colour: str | None = None


class TextReader:
    """Reads the paragraphs of one shape.

    Args:
        body: `p:txBody` of the shape.
        styles: list styles that decide on bullets, nearest first.
        ground: what the text stands on.
    """

    def __init__(self, body: "_Element", styles: "Sequence[_Element]", ground: Ground) -> None:
        self._ground = ground
        self._body = body
        self._styles = styles
        self._counts: dict[int, tuple[str, int]] = {}

    def pieces(self, kind: BlockKind = "paragraph") -> list[Piece]:
        """Return the paragraphs; those with a bullet or number as list items.

        Args:
            kind: of the paragraphs without one.
        """
        found: list[Piece] = []
        for paragraph in self._body.findall(A + "p"):
            text, is_formula = paragraph_text(paragraph, self._ground)
            if not text:
                continue
            properties = paragraph.find(A + "pPr")
            depth = whole_number(properties.get("lvl")) if properties is not None else None
            depth = max(0, min(depth or 0, _LEVELS - 1))
            mark = self._mark(properties, depth)
            if mark is not None:
                indent = _INDENT * depth
                item = Piece("list", f"{mark} {text}", depth + 1, indent=indent, opens=not found)
                found.append(item)
            else:
                found.append(Piece("formula" if is_formula else kind, text))
        return found

    def _mark(self, properties: "_Element | None", depth: int) -> str | None:
        sources = [properties, *(style.find(f"{A}lvl{depth + 1}pPr") for style in self._styles)]
        for source in sources:
            if source is None:
                continue
            for name in _MARKS:
                found = source.find(A + name)
                if found is not None:
                    return self._render(name, found, depth)
        return None

    def _render(self, name: str, element: "_Element", depth: int) -> str | None:
        for deeper in range(depth + 1, _LEVELS):
            self._counts.pop(deeper, None)
        if name != "buAutoNum":
            self._counts.pop(depth, None)
            return None if name == "buNone" else "-"
        form = element.get("type", "arabicPeriod")
        start = whole_number(element.get("startAt")) or 1
        known, count = self._counts.get(depth, (form, start - 1))
        count = count + 1 if known == form else start
        self._counts[depth] = (form, count)
        number = next(
            (
                format_number(count, ours)
                for prefix, ours in _NUMBER_FORMS
                if form.startswith(prefix)
            ),
            str(count),
        )
        if form.endswith("ParenBoth"):
            return f"({number})"
        return f"{number})" if form.endswith("ParenR") else f"{number}."


def paragraph_text(paragraph: "_Element", ground: Ground) -> tuple[str, bool]:
    """Return a paragraph's clean text, and whether it is a formula and nothing else."""
    parts: list[str] = []
    formulas: list[str] = []
    _collect(paragraph, parts, formulas, ground)
    text = clean_inline(settle_raised("".join(parts)))
    return text, bool(formulas) and "".join(text.split()) == "".join("".join(formulas).split())


def _collect(element: "_Element", parts: list[str], formulas: list[str], ground: Ground) -> None:
    for child in element:
        if child.tag == A + "t":
            parts.append(child.text or "")
        elif child.tag == A + "br":
            parts.append("\n")
        elif child.tag in MATH_TAGS:
            formula = linear_math(child)
            formulas.append(formula)
            parts.append(f" {formula} ")
        elif child.tag == A + "r":
            _collect_run(child, parts, formulas, ground)
        elif child.tag == MC + "AlternateContent":
            before = len(parts)
            for alternative in child:
                _collect(alternative, parts, formulas, ground)
                if len(parts) > before:
                    break
        elif not child.tag.endswith("Pr"):
            _collect(child, parts, formulas, ground)


def _collect_run(run: "_Element", parts: list[str], formulas: list[str], ground: Ground) -> None:
    properties = run.find(A + "rPr")
    kind = None if properties is None else _unseen(properties, ground.colour)
    if kind is not None:
        ground.unseen.add(kind, "".join(text.text or "" for text in run.iter(A + "t")))
        return
    shift = 0 if properties is None else whole_number(properties.get("baseline")) or 0
    if shift:
        parts.append(RAISED if shift > 0 else LOWERED)
    _collect(run, parts, formulas, ground)
    if shift:
        parts.append(LEVEL)


def _unseen(properties: "_Element", ground: str | None) -> Kind | None:
    """Return why a run cannot be seen, None where it can."""
    if properties.get("strike", "noStrike") != "noStrike":
        return "struck"
    size = whole_number(properties.get("sz"))
    if size is not None and size < 100 * LEAST_POINTS:
        return "size"
    if properties.find(A + "noFill") is not None:
        return "colour"
    fill = properties.find(A + "solidFill")
    if fill is None:
        return None
    is_clear = alpha_of(fill, A) == 0
    return "colour" if is_clear or are_alike(solid_colour(fill), ground) else None
