"""A page as it is seen: hidden and struck text taken out of its tree, raised text marked.

The tree is changed before any extractor reads it. Of its own style sheets are read the selectors by
tag, class, id and attribute, descendants and children included, in the order of CSS's cascade.
Rules that hold only in a state (`:hover`), for print or for a width of the window are not.
"""

import colorsys
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any  # Any: elements of lxml

from rag_assets.parsing.seen import (
    LEAST_POINTS,
    LEVEL,
    LOWERED,
    NOTE_MARK,
    RAISED,
    Kind,
    Unseen,
    are_alike,
)

# An element as the cascade sees it: its tag in lower case and its attributes.
Node = tuple[str, Mapping[str, str]]
Declarations = dict[str, str]

_WHITE, _BLACK = "ffffff", "000000"
# The sixteen names of HTML 4.01 and those of near-white grounds (CSS Color 4, section 6.1).
_NAMES = {
    "white": _WHITE, "black": _BLACK, "red": "ff0000", "lime": "00ff00", "blue": "0000ff",
    "yellow": "ffff00", "aqua": "00ffff", "cyan": "00ffff", "fuchsia": "ff00ff",
    "magenta": "ff00ff", "gray": "808080", "grey": "808080", "silver": "c0c0c0",
    "maroon": "800000", "green": "008000", "navy": "000080", "olive": "808000",
    "purple": "800080", "teal": "008080", "snow": "fffafa", "ivory": "fffff0",
    "ghostwhite": "f8f8ff", "whitesmoke": "f5f5f5", "floralwhite": "fffaf0", "azure": "f0ffff",
    "mintcream": "f5fffa", "aliceblue": "f0f8ff", "seashell": "fff5ee", "honeydew": "f0fff0",
    "canvas": _WHITE, "canvastext": _BLACK, "orange": "ffa500", "gold": "ffd700",
}  # fmt: skip
_COMMENT = re.compile(r"/\*.*?\*/|<!--|-->", re.DOTALL)
_NAME = r"(?:[\w-]|\\.)+"
_COMPOUND = re.compile(rf"(\*|[\w-]+)?((?:[.#]{_NAME}|\[[^\]]*\])*)")
_SIMPLE = re.compile(rf"([.#])({_NAME})|\[\s*([\w-]+)\s*(?:([~^$*|]?=)\s*[\"']?(.*?)[\"']?\s*)?\]")
_LENGTH = re.compile(r"(-?(?:\d+\.?\d*|\.\d+))(px|pt|pc|in|cm|mm|em|rem|ex|ch|vw|vh|%)?")
_PIXELS = {
    "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 37.8, "mm": 3.78, "em": 16.0,
    "rem": 16.0, "ex": 8.0, "ch": 8.0, "vw": 10.0, "vh": 8.0, "%": 8.0,
}  # fmt: skip
# No window is so far above or left of its page, nor so wide: text there is off the screen.
_OFF_SCREEN = (-500.0, 5000.0)
_LEAST_OPACITY = 0.05
_LEAST_PIXELS = LEAST_POINTS * 4 / 3
_NOTHING = re.compile(
    r"rect\(\s*(-?[\d.]+)(?:px)?(?:[\s,]+\1(?:px)?){3}\s*\)|inset\(\s*(?:5\d|[6-9]\d|100)\S*%.*"
    r"|circle\(\s*0(?:px|%)?[\s)].*|polygon\(\s*(\S+\s+[^\s,]+)(?:\s*,\s*\2)*\s*\)"
)
_SHRUNK = re.compile(
    r"scale(?:[xy]|3d)?\(\s*0?\.?0+(?:\s*[,)])|rotate[xy]\(\s*-?90deg", re.IGNORECASE
)
_MOVED = re.compile(r"translate(?:x|y|3d)?\(\s*([^,)]+)(?:,\s*([^,)]+))?", re.IGNORECASE)
_INHERITING = frozenset({"inherit", "initial", "unset", "revert", "currentcolor"})
_READ = {
    name: name
    for name in (
        "display", "visibility", "content-visibility", "opacity", "zoom", "filter", "position",
        "left", "right", "top", "bottom", "text-indent", "margin-left", "clip", "clip-path",
        "transform", "translate", "scale", "overflow", "overflow-x", "overflow-y", "height",
        "max-height", "width", "max-width", "font-size", "color", "background-color",
        "background-image", "background-clip", "text-decoration", "-webkit-text-fill-color",
        "vertical-align", "unicode-bidi", "list-style-type",
    )
} | {
    "text-decoration-line": "text-decoration", "-webkit-background-clip": "background-clip",
    "-webkit-clip-path": "clip-path", "-webkit-transform": "transform",
}  # fmt: skip
# By the type that the attribute of a list names (CSS Lists 3; HTML standard, section 4.4.5).
_LIST_TYPES = {
    "decimal": "1", "lower-alpha": "a", "lower-latin": "a", "upper-alpha": "A",
    "upper-latin": "A", "lower-roman": "i", "upper-roman": "I", "none": "none", "disc": "disc",
}  # fmt: skip
_CONDITION = re.compile(r"\(([^()]*)\)")
# Of a usual window, in pixels.
_WINDOW_WIDTH = 1280
_COMPARE: Mapping[str, Callable[[str, str], bool]] = {
    "": lambda found, value: True,
    "=": lambda found, value: found == value,
    "~=": lambda found, value: value in found.split(),
    "|=": lambda found, value: found.split("-")[0] == value,
    "^=": lambda found, value: bool(value) and found.startswith(value),
    "$=": lambda found, value: bool(value) and found.endswith(value),
    "*=": lambda found, value: bool(value) and value in found,
}
_MOST_RULES = 20_000
_MOST_NESTED = 5


@dataclass(frozen=True, slots=True)
class _Rule:
    selector: tuple[re.Match[str], ...]
    weight: tuple[int, ...]
    declared: Declarations


@dataclass(frozen=True, slots=True)
class Look:
    """What an element's own text inherits.

    Args:
        ground: colour behind it, None where it is not known.
        is_clear: its letters have no colour at all.
        pixels: size of its letters.
    """

    colour: str | None = _BLACK
    ground: str | None = _WHITE
    is_clear: bool = False
    pixels: float = 16.0
    is_visible: bool = True

    @property
    def unseen(self) -> Kind | None:
        """Why the text cannot be seen, None where it can."""
        if not self.is_visible:
            return "hidden"
        if self.pixels < _LEAST_PIXELS:
            return "size"
        return "colour" if self.is_clear or are_alike(self.colour, self.ground) else None


@dataclass(slots=True)
class StyleSheet:
    """The rules of a page that can hide text.

    Args:
        is_whole: no other style sheet is linked; then a ground that no rule names is white.
    """

    is_whole: bool = True
    _rules: dict[str, list[_Rule]] = field(default_factory=dict)

    def add(self, source: str) -> None:
        """Add the rules of one `<style>` element."""
        count = sum(map(len, self._rules.values()))
        for prelude, body in _blocks(_COMMENT.sub(" ", source), 0):
            declared = _declarations(body)
            if not declared or count >= _MOST_RULES:
                continue
            for selector in prelude.split(","):
                parts = selector.replace(">", " ").lower().split()
                compounds = [_COMPOUND.fullmatch(part) for part in parts]
                found = [compound for compound in compounds if compound is not None]
                if not found or len(found) < len(compounds):
                    continue  # a state, a pseudo-element, a sibling
                count += 1
                rule = _Rule(tuple(found), (*_weight(found), count), declared)
                self._rules.setdefault(_key(found[-1]), []).append(rule)

    def declared(self, node: Node, above: Sequence[Node]) -> Declarations:
        """Return what holds for an element, its `style` attribute included.

        Args:
            node: the element.
            above: what it stands in, outermost first.
        """
        tag, attributes = node
        own = _declarations(attributes.get("style", ""))
        found: list[_Rule] = []
        if self._rules:
            classes = attributes.get("class", "").lower().split()
            identifier = attributes.get("id", "").lower()
            keys = [tag, "*", *(f".{name}" for name in classes), f"#{identifier}"]
            for key in dict.fromkeys(keys):
                found += (r for r in self._rules.get(key, ()) if _matches(r.selector, node, above))
        if not found:
            return {key.removeprefix("!"): value for key, value in own.items()}
        layers = [rule.declared for rule in sorted(found, key=lambda rule: rule.weight)] + [own]
        weak = {k: v for layer in layers for k, v in layer.items() if k[0] != "!"}
        strong = {k[1:]: v for layer in layers for k, v in layer.items() if k[0] == "!"}
        return weak | strong


def hides(node: Node, declared: Declarations) -> Kind | None:
    """Return why nothing inside an element can be seen, None where something may be."""
    tag, attributes = node
    if tag in {"del", "s", "strike"} or "line-through" in declared.get("text-decoration", ""):
        return "struck"
    if (
        ("hidden" in attributes and "display" not in declared)
        or tag in {"template", "noscript"}
        or (tag == "dialog" and "open" not in attributes)
        or declared.get("display") == "none"
        or declared.get("content-visibility") == "hidden"
        or _number(declared.get("opacity")) < _LEAST_OPACITY
        or _number(declared.get("zoom")) == 0
        or re.search(r"opacity\(\s*0?\.?0*%?\s*\)", declared.get("filter", ""))
    ):
        return "hidden"
    return "place" if _is_out_of_sight(declared) else None


def hides_by_style(style: str) -> Kind | None:
    """Return why nothing can be seen of an element with this `style` attribute."""
    declared = _declarations(style)
    if declared.get("visibility") == "hidden":
        return "hidden"
    return hides(("", {}), declared)


def _is_out_of_sight(declared: Declarations) -> bool:
    is_placed = declared.get("position") in {"absolute", "fixed"}
    is_moved = is_placed or declared.get("position") == "relative"
    transform = f"{declared.get('transform', '')} {declared.get('translate', '')}"
    moves = [move for match in _MOVED.finditer(transform) for move in match.groups() if move]
    if is_moved:
        moves += (declared[side] for side in ("left", "top", "right", "bottom") if side in declared)
    moves += (declared[name] for name in ("text-indent", "margin-left") if name in declared)
    if any(_is_off_screen(move) for move in moves):
        return True
    if is_placed and _NOTHING.fullmatch(declared.get("clip", "")):
        return True
    if _NOTHING.fullmatch(declared.get("clip-path", "")) or _SHRUNK.search(transform):
        return True
    if _number(declared.get("scale")) == 0:
        return True
    is_cut = any(
        declared.get(name) in {"hidden", "clip"}
        for name in ("overflow", "overflow-x", "overflow-y")
    )
    sides = ("height", "max-height", "width", "max-width")
    return is_cut and any(_pixels(declared.get(side), 99.0) <= 1 for side in sides)


def _is_off_screen(move: str) -> bool:
    length = _LENGTH.fullmatch(move.strip())
    if length is None:
        return False
    if length[2] in {"vw", "vh"}:
        return float(length[1]) <= -100 or float(length[1]) >= 200
    pixels = float(length[1]) * _PIXELS[length[2] or "px"]
    return length[2] != "%" and not _OFF_SCREEN[0] < pixels < _OFF_SCREEN[1]


def look_of(node: Node, declared: Declarations, outer: Look, *, is_whole: bool) -> Look:
    """Return how an element's own text looks.

    Args:
        node: the element.
        declared: for it.
        outer: of what it stands in.
        is_whole: of its style sheet.
    """
    tag, attributes = node
    ground, pixels = outer.ground, outer.pixels
    if declared.get("background-image", "none") != "none" or (
        not is_whole and ("class" in attributes or "id" in attributes)
    ):
        ground = None  # a picture, or what the other sheet says
    painted = declared.get("background-color") or attributes.get("bgcolor", "")
    if painted and not _is_clear(painted) and painted not in _INHERITING:
        ground = _colour(painted)
    named = declared.get("-webkit-text-fill-color") or declared.get("color")
    named = named or (attributes.get("color", "") if tag == "font" else "")
    colour, is_clear = outer.colour, outer.is_clear
    if named and named not in _INHERITING:
        # Letters without a fill are seen where the ground is cut to their shape.
        is_clear = _is_clear(named) and "text" not in declared.get("background-clip", "")
        colour = _colour(named)
    size = _LENGTH.fullmatch(declared.get("font-size", ""))
    if size is not None:
        is_relative = size[2] in {"em", "%", "ex", "ch"}
        unit = {"%": 0.01, "ex": 0.5, "ch": 0.5}.get(size[2] or "", 1.0)
        scale = outer.pixels * unit if is_relative else _PIXELS[size[2] or "px"]
        pixels = float(size[1]) * scale
    elif declared.get("font-size", "larger") not in {*_INHERITING, "smaller", "larger"}:
        pixels = 16.0
    seen = declared.get("visibility")
    is_visible = outer.is_visible if seen is None else seen not in {"hidden", "collapse"}
    return Look(colour, ground, is_clear, pixels, is_visible)


def _blocks(source: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield (selectors, declarations) of the rules that hold for a window of any width."""
    place = 0
    while (opening := source.find("{", place)) >= 0:
        end, level = opening + 1, 1
        while level and end < len(source):
            level += {"{": 1, "}": -1}.get(source[end], 0)
            end += 1
        prelude, body = (
            source[place:opening].rpartition(";")[2].strip(),
            source[opening + 1 : end - 1],
        )
        if not prelude.startswith("@"):
            yield prelude, body
        elif depth < _MOST_NESTED and _holds(prelude.lower()):
            yield from _blocks(body, depth + 1)
        place = end


def _holds(prelude: str) -> bool:
    """Tell whether the rules inside an at-rule hold on a screen of usual width."""
    if not prelude.startswith("@media"):
        return prelude.startswith(("@supports", "@layer"))
    return any(_fits_screen(query) for query in prelude.removeprefix("@media").split(","))


def _fits_screen(query: str) -> bool:
    if "print" in query or "not " in query:
        return False
    for condition in _CONDITION.findall(query):
        name, _, value = condition.partition(":")
        width = _pixels(value.strip(), -1.0)
        if width < 0 or name.strip() not in {"min-width", "max-width"}:
            return False
        if (width > _WINDOW_WIDTH) == (name.strip() == "min-width"):
            return False
    return True


def _key(compound: re.Match[str]) -> str:
    """Return by what the rules of a selector's last part are found."""
    names = [simple for simple in _SIMPLE.finditer(compound[2]) if simple[1]]
    return f"{names[0][1]}{_unescaped(names[0][2])}" if names else compound[1] or "*"


def _unescaped(name: str) -> str:
    return name.replace("\\", "")


def _weight(compounds: Sequence[re.Match[str]]) -> tuple[int, int, int]:
    ids = sum(compound[2].count("#") for compound in compounds)
    others = sum(len(_SIMPLE.findall(compound[2])) for compound in compounds) - ids
    return ids, others, sum((compound[1] or "*") != "*" for compound in compounds)


def _matches(selector: Sequence[re.Match[str]], node: Node, above: Sequence[Node]) -> bool:
    if not _fits(selector[-1], node):
        return False
    rest = list(selector[:-1])
    for outer in reversed(above):
        if rest and _fits(rest[-1], outer):
            rest.pop()
    return not rest


def _fits(compound: re.Match[str], node: Node) -> bool:
    tag, attributes = node
    if (compound[1] or "*") not in {"*", tag}:
        return False
    for kind, name, attribute, operator, value in _SIMPLE.findall(compound[2]):
        if kind == ".":
            fits = _unescaped(name) in attributes.get("class", "").lower().split()
        elif kind == "#":
            fits = _unescaped(name) == attributes.get("id", "").lower()
        else:
            found = attributes.get(attribute)
            fits = found is not None and _COMPARE[operator](found.lower(), value)
        if not fits:
            return False
    return True


def _declarations(source: str) -> Declarations:
    """Return what is declared of all that can hide text; of an important one the name has a `!`."""
    found: Declarations = {}
    for part in source.split(";"):
        name, _, value = part.partition(":")
        name, value = name.strip().lower(), " ".join(value.lower().split())
        mark = "!" if "!" in value else ""
        value = value.partition("!")[0].strip()
        if name == "background":
            found[f"{mark}background-color"] = _first_colour(value)
            if "url(" in value or "gradient(" in value:
                found[f"{mark}background-image"] = value
        elif name == "font":
            size = re.search(r"(?<![\w.-])(\d[\d.]*(?:px|pt|em|rem|%)|0)(?=[\s/])", value)
            found |= {f"{mark}font-size": size[1]} if size else {}
        elif name == "list-style":
            types = [word for word in value.split() if word in _LIST_TYPES]
            found |= {f"{mark}list-style-type": types[0]} if types else {}
        elif name == "inset":
            found[f"{mark}left"] = value.split(" ")[-1]
        elif value and name in _READ:
            found[mark + _READ[name]] = value
    return found


def _first_colour(value: str) -> str:
    for word in re.findall(r"#\w+|(?:rgb|hsl)a?\([^)]*\)|[a-z]+", value):
        if _is_clear(word) or _colour(word) is not None:
            return str(word)
    return "unset"


def _colour(value: str) -> str | None:
    """Return a colour as six hexadecimal digits, None where it is not known."""
    value = value.strip().lower()
    if value in _NAMES:
        return _NAMES[value]
    digits = value.removeprefix("#")
    if re.fullmatch(r"[0-9a-f]+", digits) and len(digits) in {3, 4, 6, 8}:
        return digits[:6] if len(digits) > 4 else "".join(2 * digit for digit in digits[:3])
    numbers = re.findall(r"[\d.]+%?", value)
    if value.startswith("rgb") and len(numbers) >= 3:
        parts = [float(n[:-1]) * 2.55 if n[-1] == "%" else float(n) for n in numbers[:3]]
        return bytes(min(255, round(part)) for part in parts).hex()
    if value.startswith("hsl") and len(numbers) >= 3:
        hue, saturation, light = (float(n.rstrip("%")) for n in numbers[:3])
        channels = colorsys.hls_to_rgb(hue / 360 % 1, min(1, light / 100), min(1, saturation / 100))
        return bytes(round(255 * channel) for channel in channels).hex()
    return None


def _is_clear(value: str) -> bool:
    """Tell whether a colour is transparent."""
    if value == "transparent" or re.fullmatch(r"#(?:\w{3}0|\w{6}0[0-9a-f])", value):
        return True
    numbers = re.findall(r"[\d.]+", value) if re.match("rgb|hsl", value) else []
    return len(numbers) == 4 and _number(numbers[3]) < _LEAST_OPACITY


def _number(value: str | None) -> float:
    """Return a plain number or percentage, 1 for what is none."""
    found = re.fullmatch(r"(-?(?:\d+\.?\d*|\.\d+))(%)?", value or "")
    return float(found[1]) / (100 if found[2] else 1) if found else 1.0


def _pixels(value: str | None, usual: float) -> float:
    length = _LENGTH.fullmatch(value or "")
    return float(length[1]) * _PIXELS[length[2] or "px"] if length else usual


# What a page holds beside its text; nobody takes it for text.
_NO_TEXT = frozenset({"head", "script", "style", "textarea", "select", "svg", "iframe", "object"})
# Turns the direction of text, which `finish_document` drops and notes.
_OVERRIDE = "\u202d"
# What `<noscript>` holds is read as text.
_TAG = re.compile(r"<[^<>]*>")


def leave_unseen(tree: Any) -> Unseen:
    """Take out of a page what a reader does not see, and return what that was.

    Raised and lowered text is marked for `settle_raised`, lists get the type of their marks.
    """
    import lxml.etree

    linked = tree.xpath("//link[contains(@rel, 'stylesheet')]")
    sheet, unseen = StyleSheet(is_whole=not linked), Unseen()
    for style in tree.iter("style"):
        if "print" not in (style.get("media") or ""):
            sheet.add(style.text or "")
    walk = _Walk(sheet, unseen)
    events = lxml.etree.iterwalk(tree, events=("start", "end"))
    for event, element in events:
        if event == "end":
            walk.leave(element)
        elif not walk.enter(element):
            events.skip_subtree()
    for element in walk.gone:
        element.drop_tree()
    return unseen


@dataclass(slots=True)
class _Walk:
    sheet: StyleSheet
    unseen: Unseen
    nodes: list[Node] = field(default_factory=list)
    stack: list[tuple[Any, Look, bool]] = field(default_factory=lambda: [(None, Look(), False)])
    gone: list[Any] = field(default_factory=list)

    def enter(self, element: Any) -> bool:
        """Read the begin of an element; return whether what is inside is looked at."""
        tag = element.tag if isinstance(element.tag, str) else ""
        if not tag or tag in _NO_TEXT:
            return False
        node = (tag, element.attrib)
        declared = self.sheet.declared(node, self.nodes)
        kind = hides(node, declared)
        if kind is not None:
            self.unseen.add(kind, _TAG.sub(" ", " ".join(_texts(element))))
            self.gone.append(element)
            return False
        if tag in {"ol", "ul", "li"} and declared.get("list-style-type") in _LIST_TYPES:
            element.set("type", _LIST_TYPES[declared["list-style-type"]])
        look = look_of(node, declared, self.stack[-1][1], is_whole=self.sheet.is_whole)
        element.text = self._seen(element.text, look)
        if tag == "bdo" or "override" in declared.get("unicode-bidi", ""):
            element.text = _OVERRIDE + (element.text or "")
        mark = _mark_of(element, tag, declared)
        if mark:
            element.text = mark + (element.text or "")
        self.nodes.append(node)
        self.stack.append((element, look, bool(mark)))
        return True

    def leave(self, element: Any) -> None:
        """Read the end of an element and the text behind it."""
        is_marked = False
        if self.stack[-1][0] is element:
            _, _, is_marked = self.stack.pop()
            self.nodes.pop()
        element.tail = self._seen(element.tail, self.stack[-1][1])
        if is_marked:
            element.tail = LEVEL + (element.tail or "")

    def _seen(self, text: str | None, look: Look) -> str | None:
        if look.unseen is None or not text or not text.strip():
            return text
        self.unseen.add(look.unseen, text)
        return " "


def _texts(element: Any) -> Iterator[str]:
    for inner in element.iter():
        if inner.tag not in _NO_TEXT and isinstance(inner.tag, str):
            yield inner.text or ""
        if inner is not element:
            yield inner.tail or ""


def _mark_of(element: Any, tag: str, declared: Declarations) -> str:
    place = declared.get("vertical-align", {"sup": "super", "sub": "sub"}.get(tag))
    if place == "sub":
        return LOWERED
    if place != "super":
        return ""
    return NOTE_MARK if next(element.iter("a"), None) is not None else RAISED
