"""Styles, numbering and looks of a Word document: what they say of its paragraphs and runs."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Literal

from rag_assets.parsing.cleaning import ends_sentence
from rag_assets.parsing.flow import A, Piece, alpha_of, is_captioned
from rag_assets.parsing.page_styles import hides_by_style
from rag_assets.parsing.seen import LEAST_POINTS, LOWERED, RAISED, Kind, are_alike

if TYPE_CHECKING:
    from lxml.etree import _Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_OFF = frozenset({"0", "false", "off"})


def value_of(element: "_Element | None", path: str) -> str | None:
    """Return `w:val` of the descendant at `path` (names of `w:` with slashes), None without."""
    found = _find(element, path)
    return None if found is None else found.get(W + "val")


def number_of(element: "_Element | None", path: str) -> int | None:
    """Return `w:val` of the descendant at `path` as a whole number, None where it is none."""
    return whole_number(value_of(element, path))


def is_on(element: "_Element | None", path: str) -> bool:
    """Tell whether the switch at `path` is there and not switched off."""
    found = _find(element, path)
    return found is not None and found.get(W + "val", "1") not in _OFF


def _find(element: "_Element | None", path: str) -> "_Element | None":
    return None if element is None else element.find(_qualified(path))


@cache
def _qualified(path: str) -> str:
    return "/".join(W + name for name in path.split("/"))


# Word's own bound on numbers that steer a layout; a file may say anything.
_LARGEST = 32767
# Word writes no Roman number beyond this; letters repeat up to 30 times.
_MAX_ROMAN, _MAX_LETTERS = 3999, 780
_MAX_CHINESE = 9999
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
          (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_CHINESE_DIGITS = "〇一二三四五六七八九"
_FORMAL_DIGITS = "零壹贰叁肆伍陆柒捌玖"
_HEAVENLY_STEMS = "甲乙丙丁戊己庚辛壬癸"
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"


def whole_number(value: str | None) -> int | None:
    """Return a whole number within Word's bounds, None for anything else."""
    if value is None:
        return None
    try:
        number = int(value)
    except ValueError:
        return None
    return max(-_LARGEST, min(_LARGEST, number))


def format_number(value: int, form: str) -> str:
    """Return a number in one of Word's number formats (`w:numFmt`), decimal where unknown."""
    return _FORMS.get(form, str)(value)


def _roman(value: int) -> str:
    if not 0 < value <= _MAX_ROMAN:
        return str(value)
    text = ""
    for size, letters in _ROMAN:
        count, value = divmod(value, size)
        text += letters * count
    return text


def _letters(value: int) -> str:
    if not 0 < value <= _MAX_LETTERS:
        return str(value)
    return chr(ord("a") + (value - 1) % 26) * ((value - 1) // 26 + 1)


def _ordinal(value: int) -> str:
    suffix = "th" if value % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(value % 10)
    return f"{value}{suffix or 'th'}"


def _chinese(value: int) -> str:
    """Return 12 as 十二, 105 as 一百零五."""
    if not 0 < value <= _MAX_CHINESE:
        return str(value)
    text, is_gap = "", False
    for size, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = value // size % 10
        if digit:
            text += ("零" if is_gap and text else "") + _CHINESE_DIGITS[digit] + unit
        is_gap = digit == 0
    return text.removeprefix("一") if 10 <= value < 20 else text


def _digits(symbols: str) -> Callable[[int], str]:
    return lambda value: "".join(symbols[int(digit)] for digit in str(max(0, value)))


def _symbols(symbols: str) -> Callable[[int], str]:
    return lambda value: symbols[value - 1] if 0 < value <= len(symbols) else str(value)


_FORMS: dict[str, Callable[[int], str]] = {
    "none": lambda value: "",
    "lowerRoman": _roman,
    "upperRoman": lambda value: _roman(value).upper(),
    "lowerLetter": _letters,
    "upperLetter": lambda value: _letters(value).upper(),
    "ordinal": _ordinal,
    "decimalZero": lambda value: f"{value:02}",
    "chineseCounting": _chinese,
    "chineseCountingThousand": _chinese,
    "japaneseCounting": _chinese,
    "taiwaneseCounting": _chinese,
    "taiwaneseCountingThousand": _chinese,
    "ideographDigital": _digits(_CHINESE_DIGITS),
    "japaneseDigitalTenThousand": _digits(_CHINESE_DIGITS),
    "taiwaneseDigital": _digits(_CHINESE_DIGITS),
    "chineseLegalSimplified": _digits(_FORMAL_DIGITS),
    "ideographTraditional": _symbols(_HEAVENLY_STEMS),
    "decimalEnclosedCircle": _symbols(_CIRCLED),
    "decimalEnclosedCircleChinese": _symbols(_CIRCLED),
    "decimalFullWidth": _digits("０１２３４５６７８９"),
}


Role = Literal["title", "front", "author", "abstract", "caption", "code", "reference", "contents"]

# The longest chain of styles that Word itself writes has some five links.
_MAX_CHAIN = 30
_BODY_LEVEL = 9
# In half points, where nothing says otherwise (ECMA-376 part 1, 17.3.2.38).
_USUAL_SIZE = 20
# Word stores the English name whatever the user's language; other programs write their own.
_HEADING_WORDS = (
    "heading|überschrift|titre|título|titolo|titulo|kop|nagłówek|заголовок|rubrik|overskrift|"
    "nadpis|otsikko|başlık|címsor|επικεφαλίδα|naslov|antraštė|tiêu đề|标题|標題|見出し|제목"
    "|章节标题"
)
_HEADING_NAME = re.compile(rf"(?:{_HEADING_WORDS})\s*_?(?P<level>[1-9])(?:\s*char)?", re.IGNORECASE)
_CONTENTS_HEADING = frozenset({"toc heading", "contents heading", "tocheading"})
_ROLE_NAMES: dict[Role, str] = {
    "title": "(?:main |document |book |paper |article |report )?title|titel|titre|título|titolo"
    "|标题|標題|表題|제목|название|tytuł|názov|název",
    "front": "subtitle|untertitel|sous-titre|subtítulo|sottotitolo|副标题|副標題|副題|부제"
    "|подзаголовок|date|datum|affiliation|institution",
    "author": "authors?|byline|autor(?:en)?|auteurs?|作者|著者",
    "abstract": "abstract|summary|zusammenfassung|résumé|resumen|摘要",
    "caption": "(?:image |table |figure )?caption|beschriftung|légende|leyenda|didascalia"
    "|题注|題注|図表番号|캡션|название объекта",
    "code": "source code|html preformatted|preformatted text|code|code block|verbatim|listing"
    "|macro text|macro",
    "reference": "bibliography|literaturverzeichnis|bibliographie|references?|书目|文献目録",
    "contents": r"toc \d|contents \d|table of figures|目录 ?\d|目次 \d|index \d",
}
_ROLES = tuple((role, re.compile(names, re.IGNORECASE)) for role, names in _ROLE_NAMES.items())


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """What a style and those that it is based on say.

    Args:
        heading_level: from 1, None for text.
        num_id: list that its paragraphs belong to, None without.
        list_level: level in that list from 0, None where the style does not say.
        is_bold: how its text is set where the run does not say.
        size: of its text in half points.
    """

    role: Role | None = None
    heading_level: int | None = None
    num_id: int | None = None
    list_level: int | None = None
    is_bold: bool = False
    size: int = _USUAL_SIZE


class Styles:
    """The styles of a document's paragraphs and runs.

    Args:
        root: of the styles part, None where the package has none.
    """

    def __init__(self, root: "_Element | None") -> None:
        self._elements: dict[str, _Element] = {}
        self._known: dict[str | None, ParagraphStyle] = {}
        self._default: str | None = None
        self._size = number_of(root, "docDefaults/rPrDefault/rPr/sz") or _USUAL_SIZE
        path = f"{W}docDefaults/{W}rPrDefault/{W}rPr"
        self._run_defaults = [] if root is None else root.findall(path)
        self._run_properties: dict[tuple[str | None, str | None], list[_Element]] = {}
        for element in () if root is None else root.findall(W + "style"):
            kind = element.get(W + "type", "paragraph")
            if kind not in {"paragraph", "character"}:
                continue
            style_id = element.get(W + "styleId", "")
            self._elements[style_id] = element
            if kind == "paragraph" and element.get(W + "default") in {"1", "true", "on"}:
                self._default = style_id

    def style_of(self, style_id: str | None) -> ParagraphStyle:
        """Return the style of a paragraph; None is the document's default."""
        if style_id not in self._known:
            self._known[style_id] = self._resolve(style_id)
        return self._known[style_id]

    def run_properties(self, style_id: str | None, run_style: str | None) -> "list[_Element]":
        """Return the properties that the styles give a run, nearest first.

        Args:
            style_id: of its paragraph, None for the document's default.
            run_style: its own, None without.
        """
        key = style_id, run_style
        if key not in self._run_properties:
            chain = self._chain(run_style) + self._chain(style_id or self._default)
            found = [element.find(W + "rPr") for element in chain]
            self._run_properties[key] = [
                *(item for item in found if item is not None),
                *self._run_defaults,
            ]
        return self._run_properties[key]

    def paragraph_shade(self, style_id: str | None) -> str | None:
        """Return the colour that a paragraph's style puts behind it, None without."""
        for element in self._chain(style_id or self._default):
            shade = element.find(f"{W}pPr/{W}shd")
            if shade is not None and shade.get(W + "fill", "auto") != "auto":
                return str(shade.get(W + "fill"))
        return None

    def _resolve(self, style_id: str | None) -> ParagraphStyle:
        chain = self._chain(self._default if style_id is None else style_id)
        names = [_name(element) for element in chain]
        if style_id is not None and not chain:
            names = [_spaced(style_id)]  # no styles part: the id alone may still tell
        numbered = next((item for item in chain if item.find(f"{W}pPr/{W}numPr") is not None), None)
        return ParagraphStyle(
            next(filter(None, map(_role, names)), None),
            _heading_level(chain, names),
            number_of(numbered, "pPr/numPr/numId"),
            number_of(numbered, "pPr/numPr/ilvl"),
            any(is_on(item, "rPr/b") for item in chain),
            next(filter(None, (number_of(item, "rPr/sz") for item in chain)), self._size),
        )

    def _chain(self, style_id: str | None) -> "list[_Element]":
        chain: list[_Element] = []
        while style_id in self._elements and len(chain) < _MAX_CHAIN:
            chain.append(self._elements[style_id])
            style_id = value_of(chain[-1], "basedOn") or ""
        return chain


def _name(element: "_Element") -> str:
    return " ".join((value_of(element, "name") or element.get(W + "styleId", "")).split())


def _spaced(style_id: str) -> str:
    """Return `Heading1` as `Heading 1`."""
    return re.sub(r"(?<=\D)(?=\d)|(?<=[a-z])(?=[A-Z])", " ", style_id)


def _role(name: str) -> Role | None:
    return next((role for role, pattern in _ROLES if pattern.fullmatch(name)), None)


def _heading_level(chain: "list[_Element]", names: list[str]) -> int | None:
    for index, name in enumerate(names):
        if name.casefold() in _CONTENTS_HEADING:
            return 1
        outline = number_of(chain[index], "pPr/outlineLvl") if chain else None
        if outline is not None:
            return outline + 1 if 0 <= outline < _BODY_LEVEL else None
        named = _HEADING_NAME.fullmatch(name)
        if named:
            return int(named["level"])
    return None


_LEVELS = 9


@dataclass(frozen=True, slots=True)
class Mark:
    """What stands before a numbered paragraph: `-` for a bullet, else the number as printed."""

    text: str
    is_bullet: bool


@dataclass(slots=True)
class _Level:
    start: int = 1
    form: str = "decimal"
    pattern: str = ""
    restart: int | None = None
    is_legal: bool = False
    style_id: str | None = None


@dataclass(slots=True)
class _List:
    """A `w:num`: its levels, and the counters that it shares with others of its definition."""

    levels: dict[int, _Level]
    counters: dict[int, int]
    restarts: dict[int, int] = field(default_factory=dict)


class Numbering:
    """Counts the numbered paragraphs of a document in their order.

    Args:
        root: of the numbering part, None where the package has none.
    """

    def __init__(self, root: "_Element | None") -> None:
        self._definitions: dict[int, _Element] = {}
        self._by_style: dict[str, _Element] = {}
        self._nums: dict[int, _Element] = {}
        self._lists: dict[int, _List | None] = {}
        self._counters: dict[int, dict[int, int]] = {}
        if root is None:
            return
        for element in root.findall(W + "abstractNum"):
            definition = whole_number(element.get(W + "abstractNumId"))
            if definition is not None:
                self._definitions[definition] = element
            style = value_of(element, "styleLink")
            if style:
                self._by_style[style] = element
        for element in root.findall(W + "num"):
            num_id = whole_number(element.get(W + "numId"))
            if num_id is not None:
                self._nums[num_id] = element

    def level_of_style(self, num_id: int, style_id: str | None) -> int | None:
        """Return the level of a list that is bound to a paragraph style, None without."""
        found = self._list(num_id)
        levels = found.levels.items() if found else ()
        return next((depth for depth, level in levels if level.style_id == style_id), None)

    def mark(self, num_id: int, depth: int) -> Mark | None:
        """Count one paragraph and return its mark; None where it shows none.

        Args:
            num_id: of the list.
            depth: level in the list, from 0.
        """
        found = self._list(num_id)
        if found is None or depth not in found.levels:
            return None
        level = found.levels[depth]
        self._count(found, depth)
        if level.form == "bullet":
            return Mark("-", is_bullet=True)
        text = level.pattern
        for upper in range(depth + 1):
            shown = found.levels.get(upper, _Level())
            form = "decimal" if level.is_legal else shown.form
            value = found.counters.get(upper, shown.start)
            text = text.replace(f"%{upper + 1}", format_number(value, form))
        text = " ".join(text.split())
        return Mark(text, is_bullet=False) if text else None

    def _count(self, found: _List, depth: int) -> None:
        level, counters = found.levels[depth], found.counters
        if depth in found.restarts:
            counters[depth] = found.restarts.pop(depth)
        else:
            counters[depth] = counters.get(depth, level.start - 1) + 1
        for upper in range(depth):
            counters.setdefault(upper, found.levels.get(upper, _Level()).start)
        for lower in range(depth + 1, _LEVELS):
            # By default a level begins again after any higher one; 0 means never.
            bound = found.levels.get(lower, _Level()).restart
            if bound is None or (bound > 0 and depth < bound):
                counters.pop(lower, None)

    def _list(self, num_id: int) -> _List | None:
        if num_id not in self._lists:
            self._lists[num_id] = self._make_list(num_id)
        return self._lists[num_id]

    def _make_list(self, num_id: int) -> _List | None:
        num = self._nums.get(num_id)
        definition_id = number_of(num, "abstractNumId")
        if num is None or definition_id is None or definition_id not in self._definitions:
            return None
        definition = self._definitions[definition_id]
        linked = value_of(definition, "numStyleLink")
        if linked in self._by_style:
            definition = self._by_style[linked]
        levels = dict(map(_read_level, definition.findall(W + "lvl")))
        made = _List(levels, self._counters.setdefault(definition_id, {}))
        for override in num.findall(W + "lvlOverride"):
            depth = whole_number(override.get(W + "ilvl")) or 0
            replaced = override.find(W + "lvl")
            if replaced is not None:
                levels[depth] = _read_level(replaced)[1]
            start = number_of(override, "startOverride")
            if start is not None:
                made.restarts[depth] = start
        return made


def _read_level(element: "_Element") -> tuple[int, _Level]:
    form = value_of(element, "numFmt")
    if form is None and element.find(f".//{W}numFmt") is not None:
        form = element.findall(f".//{W}numFmt")[-1].get(W + "val")
    start = number_of(element, "start")
    level = _Level(
        # Counting begins at 0 where the level does not say (ECMA-376 part 1, 17.9.25).
        0 if start is None else start,
        form or "decimal",
        value_of(element, "lvlText") or "",
        number_of(element, "lvlRestart"),
        element.find(W + "isLgl") is not None,
        value_of(element, "pStyle"),
    )
    return whole_number(element.get(W + "ilvl")) or 0, level


_W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_WPS = "{http://schemas.microsoft.com/office/word/2010/wordprocessingShape}"
_WP = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
_V = "{urn:schemas-microsoft-com:vml}"
_WHITE = "ffffff"
# ECMA-376 part 1, 17.18.40.
_HIGHLIGHTS = {
    "white": _WHITE, "black": "000000", "yellow": "ffff00", "green": "00ff00", "cyan": "00ffff",
    "magenta": "ff00ff", "blue": "0000ff", "red": "ff0000", "darkBlue": "000080",
    "darkCyan": "008080", "darkGreen": "008000", "darkMagenta": "800080", "darkRed": "800000",
    "darkYellow": "808000", "darkGray": "808080", "lightGray": "c0c0c0",
}  # fmt: skip
# Styles of tables that give their cells no ground.
_PLAIN_TABLES = frozenset({"TableNormal", "TableGrid", None})
# Raised by hand, in half points.
_LEAST_SHIFT = 4
# Letters narrowed to a few percent of their width.
_LEAST_WIDTH = 10
# Beyond these a frame or paragraph is off the largest usual page (A3), in twips and in EMU.
_TWIPS = (-4000, 24_000)
_EMUS = tuple(635 * limit for limit in _TWIPS)
_OFFSET = re.compile(r"\s*-?\d{1,15}\s*")


@dataclass(frozen=True, slots=True)
class RunLook:
    """How a run is set.

    Args:
        mark: `RAISED`, `LOWERED` or "".
        unseen: why it cannot be seen, None where it can.
    """

    mark: str
    unseen: Kind | None


def look_of_run(
    run: "_Element", properties: "_Element | None", style_id: str | None, styles: Styles
) -> RunLook:
    """Return how a run looks by its own properties and those of its styles, nearest first.

    Args:
        run: `w:r`.
        properties: its `w:rPr`.
        style_id: of its paragraph.
        styles: of the document.
    """
    sources = styles.run_properties(style_id, value_of(properties, "rStyle"))
    if properties is not None:
        sources = [properties, *sources]
    place = _source(sources, "vertAlign")
    kind = value_of(place, "vertAlign")
    if kind not in {"superscript", "subscript"}:
        shift = number_of(_source(sources, "position"), "position") or 0
        kind = "superscript" if shift >= _LEAST_SHIFT else "subscript" * (shift <= -_LEAST_SHIFT)
    mark = {"superscript": RAISED, "subscript": LOWERED}.get(kind or "", "")
    return RunLook(mark, _unseen(run, sources, style_id, styles) if sources else None)


def _source(sources: "Sequence[_Element]", name: str) -> "_Element | None":
    """Return the nearest properties that say something of `name`."""
    return next((source for source in sources if source.find(W + name) is not None), None)


def _unseen(
    run: "_Element", sources: "Sequence[_Element]", style_id: str | None, styles: Styles
) -> Kind | None:
    def says(name: str) -> bool:
        return is_on(_source(sources, name), name)

    # Word sets the page numbers of a table of contents so: they are seen in print.
    is_contents = any(
        link.get(W + "anchor", "").startswith("_Toc") for link in run.iterancestors(W + "hyperlink")
    )
    if says("vanish") or (says("webHidden") and not is_contents):
        return "hidden"
    if says("strike") or says("dstrike"):
        return "struck"
    size = number_of(_source(sources, "sz"), "sz")
    width = number_of(_source(sources, "w"), "w")
    if (size is not None and size < 2 * LEAST_POINTS) or (
        width is not None and width < _LEAST_WIDTH
    ):
        return "size"
    fill = next(
        (s.find(_W14 + "textFill") for s in sources if s.find(_W14 + "textFill") is not None), None
    )
    if fill is not None and (fill.find(_W14 + "noFill") is not None or alpha_of(fill, _W14) == 0):
        return "colour"
    colour = value_of(_source(sources, "color"), "color")
    if colour in {None, "auto"}:
        return None
    return "colour" if are_alike(colour, _ground(run, sources, style_id, styles)) else None


def _ground(
    run: "_Element", sources: "Sequence[_Element]", style_id: str | None, styles: Styles
) -> str | None:
    """Return the colour behind a run, None where it is not known."""
    highlight = value_of(_source(sources, "highlight"), "highlight")
    own = _HIGHLIGHTS.get(highlight or "") or _shade(_source(sources, "shd"))
    own = own or styles.paragraph_shade(style_id)
    painted = (_painted(outer) for outer in run.iterancestors())
    return own or next((colour for colour in painted if colour != ""), _WHITE)


def _painted(outer: "_Element") -> str | None:
    """Return the colour that an element paints, "" for none, None where it is not known."""
    shaded: str | None = _shade(outer.find(W + outer.tag.rpartition("}")[2] + "Pr")) or ""
    if outer.tag == W + "tbl" and value_of(outer, "tblPr/tblStyle") not in _PLAIN_TABLES:
        return shaded or None
    if outer.tag == _WPS + "wsp":
        return _shape_fill(outer)
    if outer.tag.startswith(_V) and outer.get("filled") not in {"f", "false"}:
        return str(outer.get("fillcolor", "")).lstrip("#").partition(" ")[0]
    page = outer.find(W + "background")
    return shaded if page is None else page.get(W + "color", _WHITE)


def _shade(properties: "_Element | None") -> str | None:
    """Return the colour that `w:shd` paints, None without one."""
    shade = None if properties is None else properties.find(W + "shd")
    if shade is None:
        return None
    name = "color" if shade.get(W + "val") == "solid" else "fill"
    value = shade.get(W + name, "auto")
    return None if value == "auto" else value


def _shape_fill(shape: "_Element") -> str | None:
    """Return what fills a shape, "" for nothing, None where only its theme says so."""
    properties = shape.find(_WPS + "spPr")
    if properties is not None:
        plain = properties.find(f"{A}solidFill/{A}srgbClr")
        if plain is not None:
            return str(plain.get("val"))
        if properties.find(A + "noFill") is not None:
            return ""
        if any(child.tag.endswith("Fill") for child in properties):
            return None
    themed = shape.find(f"{_WPS}style/{A}fillRef")
    return "" if themed is None or themed.get("idx") == "0" else None


def is_paragraph_off_page(properties: "_Element | None") -> bool:
    """Tell whether a paragraph stands in a frame, or is indented, off every page."""
    if properties is None:
        return False
    frame, indent = properties.find(W + "framePr"), properties.find(W + "ind")
    places = [] if frame is None else [frame.get(W + "x"), frame.get(W + "y")]
    places += [] if indent is None else [indent.get(W + "left"), indent.get(W + "start")]
    numbers = [whole_number(place) for place in places]
    return any(n is not None and not _TWIPS[0] < n < _TWIPS[1] for n in numbers)


def is_box_unseen(content: "_Element") -> bool:
    """Tell whether the text box around `w:txbxContent` is hidden or off the page."""
    for outer in content.iterancestors():
        if outer.tag == W + "p":
            return False
        if outer.tag in {_WP + "anchor", _WP + "inline"}:
            named = outer.find(_WP + "docPr")
            if named is not None and named.get("hidden") in {"1", "true"}:
                return True
            texts = [element.text or "" for element in outer.iter(_WP + "posOffset")]
            offsets = [int(text) for text in texts if _OFFSET.fullmatch(text)]
            return any(not _EMUS[0] < offset < _EMUS[1] for offset in offsets)
        if outer.tag.startswith(_V) and hides_by_style(outer.get("style", "")):
            return True
    return False


# Characters of symbol fonts as Unicode

# Adobe's Symbol encoding, from 0x61 on the Greek letters, from 0xA0 on signs; both tables begin
# at their first code. Microsoft's fonts have the same places, moved to U+F000.
_SYMBOL_LOWER = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
_SYMBOL_UPPER = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"
_SYMBOL_HIGH = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪"
_SYMBOL = {
    **{0x61 + place: letter for place, letter in enumerate(_SYMBOL_LOWER)},
    **{0x41 + place: letter for place, letter in enumerate(_SYMBOL_UPPER)},
    **{0xA0 + place: sign for place, sign in enumerate(_SYMBOL_HIGH)},
    0x22: "∀", 0x24: "∃", 0x27: "∋", 0x2A: "∗", 0x2D: "−", 0x40: "≅", 0x5C: "∴", 0x5E: "⊥",
    0x7E: "∼", 0xF1: "〉", 0xF2: "∫",
}  # fmt: skip
# The signs that forms and lists use; the other pictures of these fonts say nothing.
_WINGDINGS = {
    0x4A: "☺", 0x4C: "☹", 0x6C: "●", 0x6E: "■", 0x6F: "□", 0x71: "❑", 0x72: "❒", 0x75: "◆",
    0x76: "❖", 0x77: "◆", 0x9F: "•", 0xA7: "▪", 0xA8: "□", 0xD8: "➢", 0xDF: "←", 0xE0: "→",
    0xE1: "↑", 0xE2: "↓", 0xE8: "➔", 0xEF: "⇦", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒",
    0xFE: "☑",
}  # fmt: skip
_WINGDINGS_2 = {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0xA3: "□", 0x97: "●"}
_FONTS = {"symbol": _SYMBOL, "wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2}


def is_symbol_font(font: str | None) -> bool:
    """Tell whether a font's characters stand for others."""
    return (font or "").casefold() in _FONTS


def symbol_text(font: str | None, code: int) -> str:
    """Return a character of a symbol font as Unicode, "" for a picture without a known meaning.

    Args:
        font: name of the font, in any case.
        code: of the character, from 0x20 or moved to 0xF020.
    """
    table = _FONTS.get((font or "").casefold())
    plain = code - 0xF000 if 0xF000 <= code <= 0xF0FF else code
    if table is not None and plain <= 0xFF:
        known = table.get(plain)
        if known is None:
            # Digits and punctuation of Symbol are those of ASCII; other fonts hold pictures.
            is_ascii = table is _SYMBOL and 0x20 <= plain < 0x7F
            known = chr(plain) if is_ascii else ""
        return known
    if 0xF020 <= code <= 0xF07E:
        return chr(plain)
    is_character = 0x20 <= code < 0x110000 and not 0xD800 <= code < 0xE000
    return chr(code) if is_character and not 0xE000 <= code < 0xF900 else ""


# Headings of documents that use no heading style: lines set apart by weight or size

# Longer lines are emphasised sentences.
_MAX_CHARACTERS = 100
# Where more of the paragraphs stand out, standing out means something else.
_MAX_SHARE = 0.4
_LARGER = 1.15
# One line that stands out is no structure.
_MIN_HEADINGS = 2
_LEADING_NUMBER = re.compile(r"(\d{1,2}(?:\.\d{1,2})*)[.、)]?\s*(?=[^\W\d_])")
_CHINESE_CHAPTER = re.compile(r"第[一二三四五六七八九十百\d]+[章编部篇]")
_CHINESE_SECTION = re.compile(r"第[一二三四五六七八九十百\d]+节|[（(][一二三四五六七八九十]+[)）]")


def mark_unstyled_headings(pieces: Sequence[Piece]) -> None:
    """Turn lines that stand out into headings where the document has none by style.

    A line stands out that is wholly bold, or larger than the text, that ends no sentence and is
    followed by text. Its level is that of its number, else the rank of its size among them.

    Args:
        pieces: of the whole document, in order; changed in place.
    """
    if any(piece.kind == "heading" for piece in pieces):
        return
    body = _body_size(pieces)
    paragraphs = [piece for piece in pieces if piece.kind in ("paragraph", "list")]
    found = [
        piece
        for index, piece in enumerate(pieces)
        if _stands_out(piece, body) and _has_text_below(pieces, index, body)
    ]
    found = _without_title(pieces, found, body)
    if not _MIN_HEADINGS <= len(found) <= _MAX_SHARE * len(paragraphs):
        return
    sizes = sorted({piece.size or body for piece in found}, reverse=True)
    for piece in found:
        numbered = _numbered_level(piece.text)
        piece.kind, piece.indent = "heading", 0
        piece.level = numbered or sizes.index(piece.size or body) + 1


def _without_title(pieces: Sequence[Piece], found: list[Piece], body: int) -> list[Piece]:
    """Take the first line for the title where it is the only one in the largest letters."""
    sizes = [piece.size or body for piece in found]
    is_title = (
        len(found) > _MIN_HEADINGS
        and found[0] is pieces[0]
        and sizes[0] > max(sizes[1:])
        and not any(piece.kind == "title" for piece in pieces)
        and _numbered_level(found[0].text) is None
    )
    if is_title:
        found[0].kind = "title"
    return found[1:] if is_title else found


def _body_size(pieces: Sequence[Piece]) -> int:
    sizes: Counter[int] = Counter()
    for piece in pieces:
        if piece.kind in ("paragraph", "list") and piece.size is not None:
            sizes[piece.size] += len(piece.text)
    return sizes.most_common(1)[0][0] if sizes else 0


def _stands_out(piece: Piece, body: int) -> bool:
    text = piece.text
    return (
        (piece.kind == "paragraph" or (piece.kind == "list" and not text.startswith("- ")))
        and len(text) <= _MAX_CHARACTERS
        and "\n" not in text
        and any(map(str.isalpha, text))
        and not ends_sentence(text)
        and text[-1] not in ",;:，；：、"
        and not is_captioned(text)
        and (piece.is_bold or (piece.size or 0) >= _LARGER * body)
    )


def _has_text_below(pieces: Sequence[Piece], index: int, body: int) -> bool:
    """Tell whether text follows that does not stand out, other such lines between them or not."""
    for piece in pieces[index + 1 :]:
        if piece.kind in ("paragraph", "list", "table", "formula") and not _stands_out(piece, body):
            return True
    return False


def _numbered_level(text: str) -> int | None:
    number = _LEADING_NUMBER.match(text)
    if number:
        return number[1].count(".") + 1
    if _CHINESE_CHAPTER.match(text):
        return 1
    return 2 if _CHINESE_SECTION.match(text) else None
