"""How cells of a workbook look: formats of numbers, and what of them cannot be seen."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

from rag_assets.parsing.seen import (
    LEAST_POINTS,
    LEVEL,
    LOWERED,
    RAISED,
    Kind,
    Unseen,
    are_alike,
    settle_raised,
)

if TYPE_CHECKING:
    from lxml.etree import _Element


# Numbers as a sheet shows them: formats of ISO 29500-1 §18.8.30 and .31, dates as ISO 8601

NumberFormat = Callable[[float], str]

# ISO 29500-1 §18.8.30: formats that a file does not spell out. 27 to 36 and 50 to 58 are dates in
# the East Asian versions and unused in the others.
_BUILT_IN: Mapping[int, str] = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%",
    11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 14: "m/d/yyyy", 15: "d-mmm-yy", 16: "d-mmm",
    17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss",
    22: "m/d/yyyy h:mm", 37: "#,##0", 38: "#,##0", 39: "#,##0.00", 40: "#,##0.00", 45: "mm:ss",
    46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
    **dict.fromkeys([*range(27, 32), 36, *range(50, 59)], "yyyy-mm-dd"),
    **dict.fromkeys(range(32, 36), "h:mm:ss"),
}  # fmt: skip

# One step of a format: literal text, a bracket, padding, or a code.
_STEP = re.compile(r'"([^"]*)"|\\(.)|\[([^\]]*)\]|_(?:.)|\*(?:.)|(AM/PM|A/P|General|.)', re.DOTALL)
_CURRENCY = re.compile(r"\$([^-]*)(?:-.*)?", re.DOTALL)
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
_CELL_DIGITS = 15  # significant digits that Excel keeps and shows
_MAX_DECIMALS = 30  # as many as Excel allows
_DECIMAL_DIGITS = 27  # one less than decimal's default precision, since rounding may add one
_LAST_DAY = 2_958_466  # the day after 9999-12-31
_FIRST_TRUE_DAY = 61  # Excel's calendar has a 29 February 1900, day 60
_EPOCH, _EARLY_EPOCH, _EPOCH_1904 = (
    datetime(1899, 12, 30),
    datetime(1899, 12, 31),
    datetime(1904, 1, 1),
)


@dataclass(frozen=True, slots=True)
class _Section:
    """One section of a format, its literals apart from its codes."""

    prefix: str
    codes: str
    suffix: str
    elapsed: bool


def show_general(value: float) -> str:
    """Return a number without a format: whole where it is, at most 15 significant digits."""
    if value == int(value) and abs(value) < 10**_CELL_DIGITS:
        return str(int(value))
    return format(value, f".{_CELL_DIGITS}g").replace("e", "E")


def built_in_format(number: int) -> str:
    """Return the code of a format that files refer to by number alone."""
    return _BUILT_IN.get(number, "General")


def compile_format(code: str, *, from_1904: bool = False) -> NumberFormat:
    """Return what shows numbers as a format code does.

    Dates and times come out as ISO 8601 (`2024-03-01`, `2024-03`, `14:05`), durations as
    hours:minutes:seconds. Grouping marks are left out, so that a number is searched and compared
    as one; colours and conditions count for nothing.

    Args:
        code: as in `numFmt/@formatCode`; of its sections the first shows all numbers.
        from_1904: whether days count from 1904 (old Macintosh workbooks).
    """
    section = _read_section(_first_section(code))
    codes = section.codes.lower()
    if "general" in codes or not codes.strip():
        return lambda value: f"{section.prefix}{show_general(value)}{section.suffix}"
    if section.elapsed:
        return show_duration
    without_clock = codes.replace("am/pm", "").replace("a/p", "")
    if re.search("[ymdhs年月日]", without_clock) and not re.search("[0#?]", without_clock[:1]):
        return _date_format(codes, from_1904=from_1904)
    if "/" in codes or "e+" in codes or "e-" in codes or not re.search("[0#?]", codes):
        return show_general
    return _decimal_format(section)


def iso_date(value: datetime, *, with_time: bool) -> str:
    """Return `2024-03-01`, with `14:05` or `14:05:09` behind it where asked for."""
    day = value.strftime("%Y-%m-%d").rjust(10, "0")
    return f"{day} {_clock(value)}" if with_time else day


def _clock(value: datetime) -> str:
    return value.strftime("%H:%M:%S" if value.second else "%H:%M")


def _first_section(code: str) -> str:
    quoted = False
    for index, character in enumerate(code):
        if character == '"':
            quoted = not quoted
        elif character == ";" and not quoted and code[index - 1 : index] != "\\":
            return code[:index]
    return code


def _read_section(code: str) -> _Section:
    prefix, codes, suffix = "", "", ""
    elapsed = False
    for match in _STEP.finditer(code):
        quoted, escaped, bracket, plain = match.groups()
        literal = quoted or escaped or ""
        if bracket is not None:
            elapsed = elapsed or _ELAPSED.fullmatch(bracket) is not None
            currency = _CURRENCY.fullmatch(bracket)
            literal = currency.group(1) if currency else ""
        elif plain is not None and plain in "$€£¥￥+-() ":
            literal = plain if plain in "$€£¥￥" else ""
            codes += "" if literal else plain if plain in "+-" and codes else ""
        elif plain is not None:
            codes += plain
        if codes:
            suffix += literal
        else:
            prefix += literal
    return _Section(prefix, codes, suffix, elapsed)


def _decimal_format(section: _Section) -> NumberFormat:
    whole, _, fraction = section.codes.partition(".")
    decimals = min(len(re.findall("[0#?]", fraction)), _MAX_DECIMALS)
    fixed = min(len(re.findall("0", fraction)), _MAX_DECIMALS)
    digits = whole.count("0")
    last = max(section.codes.rfind(placeholder) for placeholder in "0#?")
    thousands = len(section.codes[last + 1 :]) - len(section.codes[last + 1 :].lstrip(","))
    percent = section.codes.count("%")
    shift = 2 * percent - 3 * thousands
    suffix = section.suffix + "%" * percent
    quantum = Decimal(1).scaleb(-decimals)

    def show(value: float) -> str:
        exact = Decimal(format(value, f".{_CELL_DIGITS}g")).scaleb(shift)
        if exact.adjusted() + decimals >= _DECIMAL_DIGITS:
            return show_general(value)
        rounded = format(abs(exact).quantize(quantum, ROUND_HALF_UP), "f")
        integer, _, rest = rounded.partition(".")
        while len(rest) > fixed and rest.endswith("0"):
            rest = rest[:-1]
        shown = integer.zfill(digits) + ("." + rest if rest else "")
        sign = "-" if value < 0 and shown.strip("0.") else ""
        return f"{sign}{section.prefix}{shown}{suffix}"

    return show


def _date_format(codes: str, *, from_1904: bool) -> NumberFormat:
    has_clock = "h" in codes or "s" in codes
    has_year = "y" in codes or "e" in codes
    has_day = "d" in codes
    has_month = "m" in codes and (not has_clock or has_year or has_day)
    only = {(True, False, False): "%Y", (True, True, False): "%Y-%m"}.get(
        (has_year, has_month, has_day)
    )

    def show(value: float) -> str:
        if not 0 <= value < _LAST_DAY:
            return show_general(value)
        moment = _moment(value, from_1904=from_1904)
        if not (has_year or has_month or has_day) or (value < 1 and not from_1904):
            return _clock(moment)
        if only is not None and not has_clock:
            return moment.strftime(only)
        return iso_date(moment, with_time=has_clock and moment.time() != time.min)

    return show


def _moment(days: float, *, from_1904: bool) -> datetime:
    epoch = _EPOCH if days >= _FIRST_TRUE_DAY else _EARLY_EPOCH
    epoch = _EPOCH_1904 if from_1904 else epoch
    return epoch + timedelta(seconds=round(days * 86_400))


def show_duration(value: float) -> str:
    """Return a number of days as hours:minutes:seconds, hours beyond 24."""
    seconds = round(abs(value) * 86_400)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{'-' if value < 0 else ''}{hour}:{minute:02}:{second:02}"


# How cells look, and what of them cannot be seen

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
