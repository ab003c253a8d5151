"""How cells of a workbook look: formats of numbers, and what of them cannot be seen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag_assets.parsing.raised import LEVEL, LOWERED, RAISED, settle_raised
from rag_assets.parsing.sheets.formats import (
    NumberFormat,
    built_in_format,
    compile_format,
    show_general,
)
from rag_assets.parsing.unseen import LEAST_POINTS, Kind, Unseen, are_alike

if TYPE_CHECKING:
    from lxml.etree import _Element

_WHITE, _BLACK = "ffffff", "000000"
# ISO 29500-1 §18.8.27 and §20.1.6.2: colours by number, and those of the theme that are black or
# white in every theme that Excel ships.
_INDEXED = {"0": _BLACK, "1": _WHITE, "8": _BLACK, "9": _WHITE, "64": _BLACK, "65": _WHITE}
_THEMED = {"0": _WHITE, "1": _BLACK}
_MARKS = {"superscript": RAISED, "subscript": LOWERED}


@dataclass(frozen=True, slots=True)
class CellStyle:
    """What a cell's style says.

    Args:
        show: shows a number.
        ground: colour behind its text, None where it is not known.
        unseen: why none of its text can be seen, None where it can.
        hides_numbers: its format shows no number.
        hides_text: its format shows no text.
    """

    show: NumberFormat = show_general
    ground: str | None = _WHITE
    unseen: Kind | None = None
    hides_numbers: bool = False
    hides_text: bool = False


def read_styles(root: "_Element", *, from_1904: bool) -> list[CellStyle]:
    """Return the styles of a workbook's cells, by the number that cells refer to.

    Args:
        root: of the styles part.
        from_1904: whether days count from 1904.
    """
    codes = {
        int(element.get("numFmtId", "0")): element.get("formatCode", "General")
        for element in root.iter("{*}numFmt")
        if element.get("numFmtId", "0").isdecimal()
    }
    fonts = dict(enumerate(map(_read_font, root.findall("{*}fonts/{*}font"))))
    fills = dict(enumerate(map(_read_fill, root.findall("{*}fills/{*}fill"))))
    styles = []
    for style in root.findall("{*}cellXfs/{*}xf"):
        number = _number(style, "numFmtId")
        code = codes.get(number) or built_in_format(number)
        font = fonts.get(_number(style, "fontId"), Run())
        ground = fills.get(_number(style, "fillId"), _WHITE)
        sections = [section.strip() for section in code.split(";")]
        styles.append(
            CellStyle(
                compile_format(code, from_1904=from_1904),
                ground,
                font.kind_on(ground),
                hides_numbers=len(sections) > 1 and not any(sections[:3]),
                hides_text=len(sections) > 3 and not sections[3],
            )
        )
    return styles


def _number(element: "_Element", name: str) -> int:
    value = element.get(name, "0")
    return int(value) if value.isdecimal() else 0


def _read_fill(fill: "_Element") -> str | None:
    """Return the colour that fills a cell, None where it is not known."""
    pattern = fill.find("{*}patternFill")
    if pattern is None:
        return None  # a gradient
    kind = pattern.get("patternType", "none")
    if kind in {"none", "gray125"}:
        return _WHITE
    colour = pattern.find("{*}fgColor")
    return None if kind != "solid" or colour is None else colour_of(dict(colour.attrib))


def _read_font(font: "_Element") -> "Run":
    run = Run()
    for child in font:
        run.read(str(child.tag).rpartition("}")[2], dict(child.attrib))
    return run


def colour_of(attributes: Mapping[str, str]) -> str | None:
    """Return a colour as six hexadecimal digits, None where only the theme says it."""
    if attributes.get("tint", "0").strip("-0.") != "":
        return None
    if "rgb" in attributes:
        return attributes["rgb"][-6:].lower()
    if "theme" in attributes:
        return _THEMED.get(attributes["theme"])
    return _INDEXED.get(attributes.get("indexed", ""))


@dataclass(slots=True)
class Run:
    """A run of a cell's rich text, or a font."""

    text: list[str] = field(default_factory=list)
    mark: str = ""
    kind: Kind | None = None
    colour: str | None = None

    def read(self, name: str, attributes: Mapping[str, str]) -> None:
        """Read one property of the run."""
        value = attributes.get("val", "1")
        if name == "strike" and value not in {"0", "false"}:
            self.kind = "struck"
        elif name == "sz" and value.replace(".", "", 1).isdecimal():
            self.kind = "size" if float(value) < LEAST_POINTS else self.kind
        elif name == "vertAlign":
            self.mark = _MARKS.get(value, "")
        elif name == "color":
            self.colour = colour_of(attributes)

    def kind_on(self, ground: str | None) -> Kind | None:
        """Return why the run cannot be seen on a ground, None where it can."""
        if self.kind is None and are_alike(self.colour, ground):
            return "colour"
        return self.kind


@dataclass(slots=True)
class RichText:
    """The text of a cell while its XML is read; phonetic guides are no part of it."""

    runs: list[Run] = field(default_factory=lambda: [Run()])
    _open: int = 0
    _phonetic: int = 0
    _properties: int = 0

    def clear(self) -> None:
        """Forget what was read."""
        self.runs = [Run()]

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Read the begin of an element."""
        if name == "r":
            self.runs.append(Run())
        elif name == "rPr":
            self._properties += 1
        elif self._properties:
            self.runs[-1].read(name, attributes)
        elif name in {"t", "v"}:
            self._open += 1
        elif name == "rPh":
            self._phonetic += 1

    def end(self, name: str) -> None:
        """Read the end of an element."""
        if name == "r":
            self.runs.append(Run())
        elif name == "rPr":
            self._properties -= 1
        elif name in {"t", "v"} and not self._properties:
            self._open -= 1
        elif name == "rPh":
            self._phonetic -= 1

    def add(self, text: str) -> None:
        """Add characters where they are shown."""
        if self._open and not self._phonetic:
            self.runs[-1].text.append(text)


def settle_runs(runs: "list[Run]", ground: str | None, unseen: Unseen) -> str:
    """Return the text of a cell's runs as it is seen on its ground; the rest is counted."""
    shown: list[str] = []
    for run in runs:
        text = "".join(run.text)
        kind = run.kind_on(ground)
        if kind is not None:
            unseen.add(kind, text)
        elif text:
            shown.append(f"{run.mark}{text}{LEVEL}" if run.mark else text)
    return settle_raised("".join(shown))
