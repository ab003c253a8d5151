"""What a page draws, and which of its text cannot be seen for it."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import count, islice
from typing import Any, Literal

from rag_assets.model import Box
from rag_assets.parsing.pdf.opening import load_pymupdf

# A page that is interpreted once: what it draws, in order, its characters and its picture.

TEXT_BLOCK, PICTURE_BLOCK, VECTOR_BLOCK = 0, 1, 3
# What PyMuPDF writes into a block instead of text.
_VECTOR = re.compile(r"\s*<vector (\w+), color: #(\w+), alpha: (\d+), is-rect: (\w+)")
# What differs by less than a tenth of the range in every channel the eye cannot tell apart.
SAME_COLOUR = 25
WHITE = (255, 255, 255)
_OPAQUE = 255
# Fine enough for the strokes of 4 point labels: at 1 the letters run into one grey.
DOTS_PER_POINT = 2

Span = dict[str, Any]
Colour = tuple[int, int, int]


class DrawnPage:
    """A page that is interpreted once, and then read and drawn as often as needed.

    Places are those of the page before it is turned.

    Args:
        page: a `pymupdf.Page`.
        flags: with which its text is read.

    All raise RuntimeError where MuPDF cannot read or draw the page.
    """

    def __init__(self, page: Any, flags: int) -> None:
        self.page = page
        self.flags = flags
        rotation = page.rotation
        if rotation:
            page.set_rotation(0)
        self._list = page.get_displaylist()
        if rotation:
            page.set_rotation(rotation)

    @cached_property
    def blocks(self) -> list[tuple[Any, ...]]:
        """What is drawn, in order: box, text of the glyphs or description, number, kind of block.

        Pictures are only listed: their bytes are read with a dictionary alone.
        """
        pymupdf = load_pymupdf()
        more = pymupdf.TEXT_COLLECT_VECTORS | pymupdf.TEXT_PRESERVE_IMAGES
        blocks: list[tuple[Any, ...]] = self._read(more).extractBLOCKS()
        return blocks

    def content(self) -> dict[str, Any]:
        """Return the text as `page.get_text("dict")` does, in half the time."""
        pymupdf = load_pymupdf()
        found: dict[str, Any] = pymupdf.TextPage(self._list.get_textpage(self.flags)).extractDICT()
        return found

    def glyph_lines(self) -> list[dict[str, Any]]:
        """Return the lines of text as their glyphs are, whatever text the file gives for them."""
        return list(lines_of(self._read().extractDICT()["blocks"]))

    def characters(self, spans: Sequence[Span]) -> dict[int, list[dict[str, Any]]]:
        """Return by a span's identity its characters with their boxes; none where they differ."""
        # Not from the display list, which leaves blanks out.
        read = self.page.get_text("rawdict", flags=self.flags, clip=self.around(spans), sort=False)
        found = {
            (one["origin"], len(one["chars"])): one["chars"]
            for line in lines_of(read["blocks"])
            for one in line["spans"]
        }
        return {id(span): found.get((span["origin"], len(span["text"])), []) for span in spans}

    def around(self, spans: Sequence[Span]) -> Any:
        """Return the part of the page that holds some spans, in whole points."""
        left, top, right, bottom = zip(*(span["bbox"] for span in spans), strict=True)
        box = load_pymupdf().Rect(min(left), min(top), max(right), max(bottom))
        return (box & self._list.rect).irect

    def picture(self, area: Any) -> Any:
        """Return the dots of an area, as integers by row, column and channel."""
        import numpy as np

        matrix = load_pymupdf().Matrix(DOTS_PER_POINT, DOTS_PER_POINT)
        pixmap = self._list.get_pixmap(matrix=matrix, clip=area)
        dots = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3)
        return dots.astype(np.int16)

    def _read(self, more_flags: int = 0) -> Any:
        pymupdf = load_pymupdf()
        flags = self.flags | more_flags | pymupdf.TEXT_IGNORE_ACTUALTEXT
        return pymupdf.TextPage(self._list.get_textpage(flags))


def lines_of(blocks: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the lines of a dictionary's blocks."""
    for block in blocks:
        yield from block.get("lines", ())


def middle_of(box: Sequence[float]) -> tuple[float, float]:
    """Return the middle of a box."""
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def paint_of(vector: Sequence[Any]) -> tuple[Colour, bool, bool]:
    """Return the colour of a vector, whether it is a stroke, and whether it hides a rectangle."""
    described = _VECTOR.match(vector[4])
    if described is None:
        raise RuntimeError(f"this PyMuPDF describes a drawing in another way: {vector[4]!r}")
    how, colour, alpha, is_rectangle = described.groups()
    is_box = how == "filled" and is_rectangle == "true" and int(alpha) == _OPAQUE
    return seen_colour(int(colour, 16), int(alpha)), how == "stroked", is_box


@cache
def seen_colour(colour: int, alpha: int) -> Colour:
    """Return the colour that a colour with an opacity has on white paper; both up to 255."""
    red, green, blue = (
        round((alpha * (colour >> shift & 255) + (255 - alpha) * 255) / 255) for shift in (16, 8, 0)
    )
    return red, green, blue


@cache
def is_same_colour(one: Colour, other: Colour) -> bool:
    """Tell whether the eye cannot tell two colours apart."""
    return all(abs(a - b) <= SAME_COLOUR for a, b in zip(one, other, strict=True))


# Where a PDF page holds images, drawings and rules; asked only where a sign calls for it.

# Rules are drawn as thin strokes or as thin filled rectangles.
MAX_RULE_POINTS = 2.5
_MIN_RULE_POINTS = 15.0
# Tables draw a vertical rule in pieces, one a row, which meet or leave the width of a border.
_MIN_BAR_PIECE_POINTS, _MAX_BAR_GAP_POINTS = 4.0, 3.0
# Shorter bars are marks on the axes of plots. Those of a table begin or end at a horizontal rule,
# or as far from it as LaTeX's booktabs leave white.
_MIN_BAR_POINTS, _MAX_BAR_OFFSET_POINTS = 8.0, 6.0
# Bars whose middles are nearer to each other are one, printed as the borders of two cells.
SAME_BAR_POINTS = 1.5
# The first words of MuPDF's description of a stroke; one that is wider is a filled area.
_STROKE, _MAX_WIDE_STROKE = "\n<vector stroked", 6.0
_MASK = "<image: None"
# A map or a scatter plot may hold a hundred thousand paths; so many show its place.
_MAX_GRAPHICS = 20_000


@dataclass(frozen=True, slots=True)
class Graphic:
    """Something on a page that is not text.

    Args:
        kind: `rule` is a long thin horizontal line, `bar` a vertical one.
        box: on the page as shown.
    """

    kind: Literal["image", "path", "rule", "bar"]
    box: Box


# Captions of figures and tables in the languages of the specs and some others.
FIGURE_WORDS = (
    r"(?:Extended Data |Supplementa(?:ry|l) |Online )?(?:Figures?|Figs?\b\.?)|Schemes?|Charts?"
    r"|Plates?|Abbildung|Abb\.|Figura|Рисунок|Рис\.|Схема|图|圖|附图"
)
TABLE_WORDS = (
    r"(?:Extended Data |Supplementa(?:ry|l) |Online )?Tables?|Tab\.|Tabelle|Tableau|Tabela|Tabla"
    r"|Quadro|Таблица|Табл\.|表|附表|续表"
)
OTHER_WORDS = r"Algorithms?|Alg\.|Listing|Box|算法|Алгоритм|Листинг|Algorithme|Algoritmo"
NUMBER = (
    r"(?:(?-i:[A-Z]{0,2})[-.]?\d+(?:[.\-–]\d+)*[a-z]?"
    r"|(?<=\s)(?-i:[IVXL]+|[A-Z])(?![^\W_]))"
)
CAPTION_START = re.compile(
    rf"(?:{FIGURE_WORDS}|{TABLE_WORDS}|{OTHER_WORDS})\s{{0,2}}{NUMBER}", re.IGNORECASE
)


def read_graphics(drawn: DrawnPage, matrix: Any, width: float, height: float) -> list[Graphic]:
    """Return the images, drawings and rules of a page, without reading their content.

    Args:
        drawn: the page.
        matrix: how it is turned, None where it is not; `width` and `height` are those then.

    Raises:
        RuntimeError: MuPDF cannot read the page.
    """
    found: list[Graphic] = []
    for x0, y0, x1, y1, text, _, kind in drawn.blocks:
        if kind == TEXT_BLOCK:
            continue
        box = (x0, y0, x1, y1)
        if kind == VECTOR_BLOCK and text.startswith(_STROKE):
            # MuPDF widens a stroke by its width on each side, not by half of it.
            excess = min(x1 - x0, y1 - y0, _MAX_WIDE_STROKE) / 4
            box = (x0 + excess, y0 + excess, x1 - excess, y1 - excess)
        if matrix is not None:
            turned = load_pymupdf().Rect(box) * matrix
            box = (turned.x0, turned.y0, turned.x1, turned.y1)
        # Masks are ink in the form of a picture: a rule may be one of one dot.
        is_image = kind == PICTURE_BLOCK and not text.startswith(_MASK)
        graphic = _graphic(is_image, box, width, height)
        if graphic is not None:
            found.append(graphic)
            if len(found) >= _MAX_GRAPHICS:
                break
    return found


def join_bars(graphics: Sequence[Graphic], rules: Sequence[Box]) -> list[Box]:
    """Return the vertical rules of tables from left to right, their pieces joined.

    Args:
        graphics: of a page; `rules` are the horizontal ones.
    """
    pieces = sorted(
        (
            graphic.box
            for graphic in graphics
            if graphic.kind in ("bar", "path")
            and graphic.box[2] - graphic.box[0] <= MAX_RULE_POINTS
            and graphic.box[3] - graphic.box[1] >= _MIN_BAR_PIECE_POINTS
        ),
        key=lambda box: (round(box[0] + box[2]), box[1]),
    )
    joined: list[Box] = []
    for box in pieces:
        last = joined[-1] if joined else None
        if (
            last is not None
            and abs(last[0] + last[2] - box[0] - box[2]) <= 2 * SAME_BAR_POINTS
            and last[1] <= box[1] <= last[3] + _MAX_BAR_GAP_POINTS
        ):
            joined[-1] = (last[0], last[1], last[2], max(last[3], box[3]))
        else:
            joined.append(box)
    kept = (
        bar
        for bar in joined
        if bar[3] - bar[1] >= _MIN_BAR_POINTS
        and any(
            rule[0] - SAME_BAR_POINTS <= bar[0] <= rule[2] + SAME_BAR_POINTS
            and min(abs(rule[1] - bar[1]), abs(rule[1] - bar[3])) <= _MAX_BAR_OFFSET_POINTS
            for rule in rules
        )
    )
    return sorted(kept, key=lambda box: box[0] + box[2])


def _graphic(is_image: bool, box: Box, width: float, height: float) -> Graphic | None:
    left, top, right, bottom = box
    # What is cut off by the page's edge is its background or decoration.
    is_bleeding = min(left, top, width - right, height - bottom) <= 0
    if (is_bleeding and not is_image) or right < 0 or bottom < 0:
        return None
    clipped = (max(0.0, left), max(0.0, top), min(width, right), min(height, bottom))
    wide, high = clipped[2] - clipped[0], clipped[3] - clipped[1]
    if wide < 0 or high < 0:
        return None
    if is_image:
        return Graphic("image", clipped)
    if high <= MAX_RULE_POINTS and wide >= _MIN_RULE_POINTS:
        return Graphic("rule", clipped)
    if wide <= MAX_RULE_POINTS and high >= _MIN_RULE_POINTS:
        return Graphic("bar", clipped)
    return Graphic("path", clipped)


# Struck text of a page: the characters that a thin line is drawn through.
#
# A page has no struck text as such. Programs draw a line or a low rectangle from the left edge of
# the first struck character to the right edge of the last one, and so does the note `StrikeOut`.

# In sizes of the font: how thick the line may be, between which heights above the base line it is
# drawn, and how far from the edges of characters it may begin and end. Fraction bars, rules of
# tables and underlines are elsewhere; grid lines of plots reach further. On 109 papers nothing is
# found, and 69 pages have a rule somewhere in the middle of a line.
_MAX_THICKNESS = 0.2
_HEIGHTS = (0.12, 0.55)
_MAX_OFFSET = 0.35
_STRUCK_MIN_RULE_POINTS = 3.0

_Line = dict[str, Any]


def find_struck(lines: Sequence[_Line], drawn: DrawnPage) -> Iterator[tuple[Span, int]]:
    """Yield the struck characters of lines: the span, and the place in its text."""
    import numpy as np

    rules = [block for block in drawn.blocks if _is_rule(block)]
    if not rules or not lines:
        return
    middles = np.array([middle_of(rule) for rule in rules])
    boxes = np.array([line["bbox"] for line in lines])[:, None]
    held = ((boxes[..., :2] < middles) & (middles < boxes[..., 2:])).all(axis=2)
    near = [
        (lines[row], rules[number])
        for row, number in np.argwhere(held).tolist()
        if _is_within(lines[row], rules[number])
    ]
    if near:
        characters = drawn.characters([span for line, _ in near for span in line["spans"]])
        for line, rule in near:
            yield from _crossed(line, rule, characters)


def _is_rule(block: Sequence[Any]) -> bool:
    x0, y0, x1, y1, _, _, kind = block
    wide, high = x1 - x0, y1 - y0
    return bool(
        kind == VECTOR_BLOCK and min(wide, high) < _STRUCK_MIN_RULE_POINTS <= max(wide, high)
    )


def _is_within(line: _Line, rule: Sequence[Any]) -> bool:
    """Tell whether a rule that is seen may be drawn through a part of a line, and not beyond it."""
    if is_same_colour(paint_of(rule)[0], WHITE):
        return False
    left, top, right, bottom = _levelled(rule, line)
    first, _, last, _ = _levelled(line["bbox"], line)
    for span in line["spans"]:
        start, _, end, _ = _levelled(span["bbox"], line)
        reach = _MAX_OFFSET * span["size"]
        if (
            bottom - top < _MAX_THICKNESS * span["size"]
            and first - reach < left < end
            and start < right < last + reach
            and _is_through(line, span["origin"], span["size"], (top + bottom) / 2)
        ):
            return True
    return False


def _crossed(
    line: _Line, rule: Sequence[Any], characters: dict[int, list[dict[str, Any]]]
) -> list[tuple[Span, int]]:
    """Return the characters of a line that a rule crosses: none where it fits to no word."""
    left, top, right, bottom = _levelled(rule, line)
    crossed = []
    for span in line["spans"]:
        for place, character in enumerate(characters[id(span)]):
            start, _, end, _ = _levelled(character["bbox"], line)
            if not character["c"].isspace() and left < (start + end) / 2 < right:
                crossed.append((start, end, character["origin"], span, place))
    if not crossed:
        return []
    size = max(span["size"] for *_, span, _ in crossed)
    reach = _MAX_OFFSET * size
    is_fitting = abs(crossed[0][0] - left) < reach and abs(crossed[-1][1] - right) < reach
    # The rule of a fraction passes by what is above it and what is below it.
    if not is_fitting or not all(
        _is_through(line, origin, size, (top + bottom) / 2)
        for _, _, origin, span, _ in crossed
        if span["size"] == size
    ):
        return []
    return [(span, place) for *_, span, place in crossed]


def _is_through(line: _Line, origin: tuple[float, float], size: float, height: float) -> bool:
    lowest, highest = (share * size for share in _HEIGHTS)
    return lowest < _levelled(origin * 2, line)[1] - height < highest


def _levelled(box: Sequence[Any], line: _Line) -> Box:
    """Return a box as if the text of a line ran to the right."""
    right, down = line["dir"]
    x0, y0, x1, y1 = box[:4]
    left, end = sorted((x0 * right + y0 * down, x1 * right + y1 * down))
    top, bottom = sorted((y0 * right - x0 * down, y1 * right - x1 * down))
    return left, top, end, bottom


# Text that a page holds but does not show, or shows struck: it is not read as what a page says.

_TEXT_MODE = re.compile(rb"(?<![\d.])[0-7](?=\s+Tr\b)")
_INVISIBLE_MODE = b"3"
# Text on pictures is black as a rule; the eye of a reader sees other colours where they differ.
_MAX_DARK = 60
# Square points a character: text of 1 point. Labels in diagrams are set down to 2 points, which
# is 2 square points a character.
_MAX_TINY_AREA = 0.6
_MAX_TINY_SIZE = 4.0
# Width of a character by its height, or the reverse: set with a scale of 10 % or less. The
# narrowest text of 109 papers has 0.15. Boxes of text that runs aslant tell nothing.
_MAX_FLAT_RATIO = 0.06
_MIN_STRAIGHT = 0.99
# Lower or narrower fills are rules, marks of plots and strokes of drawings: they cover no word.
_MIN_FILL_POINTS = 4.0
_MIN_COVERED_SHARE = 0.5
_MAX_LINE_HEIGHTS = 2.5
# More fills are a map or a plot, whose labels are no sentences.
_MAX_FILLS = 5_000
# A page with a picture of at least half its size and hardly any text that is seen is a scan with
# its recognised text: so much may be stamped on it (an archive's line on every page).
_SCAN_SHARE, _MAX_STAMP_CHARACTERS, _MAX_STAMP_SHARE = 0.5, 60, 0.2
# Places that are nearer to each other, up and down the page, are drawn as one picture.
_MAX_GAP_POINTS = 12.0
# The box of a character reaches into the lines above and below it; its letter is in the middle.
_TRIM_SHARE = 0.2
# One thin character may leave no dot. Two narrow ones are half as wide as their size.
_MIN_HIDDEN_RUN = 2
_MIN_GAP_SIZES = 0.4
_CLIPPING = 64  # bit of `char_flags`: text that a picture is painted through


@dataclass(frozen=True, slots=True)
class _Paint:
    """A fill, a stroke or a picture: `place` counts what is drawn, `colour` is None for a picture.

    The colour is the one that white paper has below it. A box is a rectangle that hides its ground.
    """

    place: int
    box: Box
    colour: Colour | None
    is_stroke: bool = False
    is_box: bool = False


@dataclass(slots=True)
class _Ground:
    """What is painted where a span is.

    Args:
        colours: those that may be its ground, from the nearest down to the first box or the paper;
            None for a picture, and for a stroke, which may be a frame or a thick line below it.
        has_picture: one of them is a picture.
        is_covered: a paint is drawn over a part of it; `is_below_picture`: a picture is.
        is_printed_over: a box is drawn over it, and other text in its place.
    """

    colours: list[Colour | None]
    has_picture: bool = False
    is_covered: bool = False
    is_below_picture: bool = False
    is_printed_over: bool = False


def drop_hidden(content: dict[str, Any], drawn: DrawnPage) -> tuple[list[str], bool]:
    """Take out of a page's text what nobody sees on the page, and what is struck.

    Nobody sees text without ink (invisible mode, no opacity), in the colour of its ground, covered
    by what is drawn later, too small or too narrow to read, and text that the file gives in place
    of other glyphs (`ActualText`). The recognised text of a scan stays.

    Args:
        content: a page's text as `get_text("dict")` gives it; changed in place.
        drawn: the page.

    Returns:
        The texts that were taken out, and whether the page is a scan with its recognised text.

    Raises:
        RuntimeError: MuPDF cannot read or draw the page.
    """
    if not content["blocks"]:
        return [], False
    found = []
    printed = "".join([block[4] for block in drawn.blocks if block[6] == TEXT_BLOCK])
    if "".join(printed.split()) != "".join(
        "".join(map(_text, lines_of(content["blocks"]))).split()
    ):
        found = _replace_by_glyphs(content, drawn.glyph_lines())
    lines = list(lines_of(content["blocks"]))
    spans = [span for line in lines for span in line["spans"]]
    hidden, doubtful = _judge(lines, drawn.blocks)
    unseen = _without_ink(drawn, [span for span in spans if id(span) in doubtful], doubtful)
    missing = sum(len(span["text"].strip()) for span in hidden) + sum(map(len, unseen.values()))
    seen = sum(len(span["text"].strip()) for span in spans) - missing
    paper = drawn.page.rect.width * drawn.page.rect.height
    if seen <= max(_MAX_STAMP_CHARACTERS, _MAX_STAMP_SHARE * missing) and any(
        kind == PICTURE_BLOCK and (x1 - x0) * (y1 - y0) >= _SCAN_SHARE * paper
        for x0, y0, x1, y1, _, _, kind in drawn.blocks
    ):
        return found, missing > 0
    unseen |= {id(span): set(range(len(span["text"]))) for span in hidden}
    for span, place in find_struck(lines, drawn):
        unseen.setdefault(id(span), set()).add(place)
    return found + _remove(content, unseen) if unseen else found, False


def _text(line: dict[str, Any]) -> str:
    return "".join([span["text"] for span in line["spans"]])


def _letters(text: str) -> str:
    """Return the letters and digits of a text, in one case: small capitals differ in that alone."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _is_readable(text: str) -> bool:
    """Tell whether glyphs have characters of their own, not a part of a Chinese one by its look."""
    return not any(
        character == "\ufffd"
        or "\u2e80" <= character <= "\u2fdf"
        or unicodedata.category(character) in ("Co", "Cn", "Cc")
        for character in text
    )


def _replace_by_glyphs(content: dict[str, Any], printed: Sequence[dict[str, Any]]) -> list[str]:
    """Give lines whose `ActualText` has other letters than its glyphs the text of the glyphs.

    Glyphs without readable characters are what `ActualText` is for.
    """
    glyphs = [(line, _text(line)) for line in printed]
    on_page = _letters("".join(text for _, text in glyphs))
    if on_page == _letters("".join(map(_text, lines_of(content["blocks"])))):
        return []
    found = []
    for line in lines_of(content["blocks"]):
        stated = _text(line)
        if not _letters(stated) or _letters(stated) in on_page:
            continue
        x0, y0, x1, y1 = line["bbox"]
        here = [
            (other, text)
            for other, text in glyphs
            if min(x1, other["bbox"][2]) > max(x0, other["bbox"][0])
            and y0 < (other["bbox"][1] + other["bbox"][3]) / 2 < y1
        ]
        shown = "".join(text for _, text in here)
        if _letters(shown) and _is_readable(shown) and _letters(shown) != _letters(stated):
            line["spans"] = [span for other, _ in here for span in other["spans"]]
            found.append(stated)
    return found


def _holds(box: Sequence[float], point: tuple[float, float]) -> bool:
    return box[0] <= point[0] <= box[2] and box[1] <= point[1] <= box[3]


def _judge(
    lines: Sequence[dict[str, Any]], drawn: Sequence[Sequence[Any]]
) -> tuple[list[Span], dict[int, bool]]:
    """Return the spans that are hidden, and by identity those that the drawn page decides.

    Of the latter whether a picture is drawn over them.
    """
    hidden, plain, doubtful = _by_own_look(lines)
    grounds = _grounds(plain, drawn)
    for place, span in enumerate(plain):
        colour = seen_colour(span["color"], span["alpha"])
        ground = grounds.get(place)
        if ground is None:
            if _is_light(span):
                hidden.append(span)
            continue
        is_same = any(below and is_same_colour(colour, below) for below in ground.colours)
        if ground.is_printed_over or (is_same and len(ground.colours) == 1):
            hidden.append(span)
        elif is_same or ground.is_covered or (ground.has_picture and max(colour) > _MAX_DARK):
            doubtful[id(span)] = ground.is_below_picture
    return hidden, doubtful


def _by_own_look(
    lines: Sequence[dict[str, Any]],
) -> tuple[list[Span], list[Span], dict[int, bool]]:
    """Return the spans that are hidden whatever is around them, the others, and doubtful ones."""
    hidden, plain = [], []
    doubtful: dict[int, bool] = {}
    for line in lines:
        across_page, down_page = map(abs, line["dir"])
        is_aslant = max(across_page, down_page) < _MIN_STRAIGHT
        for span in line["spans"]:
            if not any(map(str.isalnum, span["text"])):
                continue  # accents and the strokes of formulas have no width
            x0, y0, x1, y1 = span["bbox"]
            along, across = (x1 - x0, y1 - y0)
            if down_page > across_page:
                along, across = across, along
            along /= len(span["text"])
            # Its characters' boxes are not where they are.
            is_drawn_font = span["font"].startswith("Type3")
            has_form = not is_aslant and not is_drawn_font
            is_small = span["size"] < _MAX_TINY_SIZE and along * across < _MAX_TINY_AREA
            is_flat = not _MAX_FLAT_RATIO * across < along < across / _MAX_FLAT_RATIO
            if along * across > 0 and (is_small or (is_flat and has_form)):
                hidden.append(span)
            elif span["alpha"] > 0:
                if not is_drawn_font:
                    plain.append(span)
            elif span["char_flags"] & _CLIPPING or is_drawn_font:
                # Browsers print bold glyphs as shapes below invisible ones of such a font.
                doubtful[id(span)] = False
            else:
                hidden.append(span)
    return hidden, plain, doubtful


def _is_light(span: Span) -> bool:
    return is_same_colour(seen_colour(span["color"], span["alpha"]), WHITE)


def _grounds(spans: Sequence[Span], drawn: Sequence[Sequence[Any]]) -> dict[int, _Ground]:
    """Return by a span's number what is below it and over it, of those that a paint touches."""
    import numpy as np

    paints = list(islice(filter(None, map(_paint, count(), drawn)), _MAX_FILLS))
    if not paints or not spans:
        return {}
    boxes = np.array([paint.box for paint in paints])[None]
    texts = np.array([span["bbox"] for span in spans])[:, None]
    # Most spans are far from all the fills of a plot.
    near = np.flatnonzero(
        (texts[..., :2] <= boxes[..., 2:].max(axis=1)).all(axis=(1, 2))
        & (texts[..., 2:] >= boxes[..., :2].min(axis=1)).all(axis=(1, 2))
    )
    texts = texts[near]
    wide = np.minimum(texts[..., 2], boxes[..., 2]) - np.maximum(texts[..., 0], boxes[..., 0])
    high = np.minimum(texts[..., 3], boxes[..., 3]) - np.maximum(texts[..., 1], boxes[..., 1])
    height = texts[..., 3] - texts[..., 1]
    width = (texts[..., 2] - texts[..., 0]) / 2
    touched = (wide >= np.minimum(_MIN_FILL_POINTS, width)) & (high >= _MIN_COVERED_SHARE * height)
    # The frame of a box covers nothing, and is the ground of light text at most.
    is_frame = np.array([paint.is_stroke for paint in paints]) & (
        boxes[..., 3] - boxes[..., 1] > _MAX_LINE_HEIGHTS * height
    )
    is_light = [_is_light(spans[place]) for place in near.tolist()]
    touched &= ~is_frame | np.array(is_light, bool)[:, None]
    found = {}
    rows = np.flatnonzero(touched.any(axis=1)).tolist()
    places = _places([spans[near[row]] for row in rows], drawn)
    for row, place in zip(rows, places, strict=True):
        middle = middle_of(spans[near[row]]["bbox"])
        ground = found[int(near[row])] = _Ground([])
        for number in reversed(np.flatnonzero(touched[row]).tolist()):
            paint = paints[number]
            is_held = _holds(paint.box, middle)
            is_picture = paint.colour is None
            if paint.place < place:
                if is_held:
                    ground.has_picture |= is_picture
                    ground.colours.append(None if paint.is_stroke else paint.colour)
                    if paint.is_box:
                        break
            elif is_picture:
                ground.is_covered |= is_held
                ground.is_below_picture |= is_held
            elif not is_frame[row, number]:
                ground.is_covered = True
                here = [other for other in spans if _holds(other["bbox"], middle)]
                ground.is_printed_over |= paint.is_box and paint.place < max(_places(here, drawn))
        else:
            ground.colours.append(WHITE)
    return found


def _paint(place: int, block: Sequence[Any]) -> _Paint | None:
    """Return what a block paints, None for text and for what is too small to cover a word."""
    x0, y0, x1, y1, _, _, kind = block
    if kind == TEXT_BLOCK or min(x1 - x0, y1 - y0) < _MIN_FILL_POINTS:
        return None
    box = x0, y0, x1, y1
    if kind == PICTURE_BLOCK:
        return _Paint(place, box, None)
    return _Paint(place, box, *paint_of(block))


def _places(spans: Sequence[Span], drawn: Sequence[Sequence[Any]]) -> list[int]:
    """Return when spans were drawn: the place of the block that has a span's text where it is.

    What is drawn within a line divides it; then the block counts that has its first word.
    """
    import numpy as np

    printed = [(place, block) for place, block in enumerate(drawn) if block[6] == TEXT_BLOCK]
    if not spans or not printed:
        return [len(drawn)] * len(spans)
    left, top, right, bottom = np.array([block[:4] for _, block in printed]).T
    x, y0, _, y1 = np.array([span["bbox"] for span in spans]).T[..., None]
    x, y = x + 0.1, (y0 + y1) / 2
    here: list[list[int]] = [[] for _ in spans]
    held = (left <= x) & (x <= right) & (top <= y) & (y <= bottom)
    for row, number in np.argwhere(held).tolist():
        here[row].append(number)
    found = []
    for span, numbers in zip(spans, here, strict=True):
        text = span["text"].strip()
        reads = [(printed[number][1][4], printed[number][0]) for number in numbers]
        fits = [(text in read, text.split()[0] in read, place) for read, place in reads]
        found.append(max(fits)[2] if fits else len(drawn))
    return found


def _without_ink(
    drawn: DrawnPage, spans: Sequence[Span], are_below: dict[int, bool]
) -> dict[int, set[int]]:
    """Return by span the places of its characters that leave no ink on the drawn page.

    Where a character is, the page has one colour. Pictures have many: below one, text shows where
    the page looks otherwise with its text in invisible mode.
    """
    import numpy as np

    unseen: dict[int, set[int]] = {}
    blind = None
    for group in _neighbours(spans):
        area = drawn.around(group)
        if area.is_empty:
            continue
        shown = drawn.picture(area)
        ink = shown[..., 0] < 0
        if any(are_below[id(span)] for span in group):
            blind = blind or _without_text(drawn)
            ink = np.abs(shown - blind.picture(area)).max(axis=2) > SAME_COLOUR
        unclear = [
            span
            for span in group
            if are_below[id(span)] or _has_gap(_part(shown, area, span["bbox"]), span["size"])
        ]
        characters = drawn.characters(unclear) if unclear else {}
        for span in unclear:
            blank = [
                not character["c"].isspace()
                and not (
                    _part(ink, area, character["bbox"], _TRIM_SHARE).any()
                    if are_below[id(span)]
                    else _has_contrast(_part(shown, area, character["bbox"], _TRIM_SHARE))
                )
                for character in characters[id(span)]
            ]
            places = set(_hidden_runs(blank, span["text"])) if blank else set()
            if places:
                unseen[id(span)] = places
    return unseen


def _neighbours(spans: Sequence[Span]) -> Iterator[list[Span]]:
    """Yield spans in groups, from the top to the bottom of the page, as far as gaps part them."""
    group: list[Span] = []
    bottom = 0.0
    for span in sorted(spans, key=lambda span: span["bbox"][1]):
        if group and span["bbox"][1] > bottom + _MAX_GAP_POINTS:
            yield group
            group = []
        bottom = max(bottom, span["bbox"][3]) if group else span["bbox"][3]
        group.append(span)
    if group:
        yield group


def _hidden_runs(blank: Sequence[bool], text: str) -> Iterator[int]:
    """Yield the places of characters that are hidden, not merely thin."""
    run: list[int] = []
    for place in range(len(text) + 1):
        if place < len(text) and (blank[place] or text[place].isspace()):
            run.append(place)
            continue
        if sum(text[one].isalnum() for one in run) >= _MIN_HIDDEN_RUN:
            yield from run
        run = []


def _without_text(drawn: DrawnPage) -> DrawnPage:
    """Return the same page as it is with its text in invisible mode."""
    page = drawn.page
    document = page.parent
    forms = {xref for xref, *_ in page.get_xobjects()}
    for note in page.annots():
        kind, value = document.xref_get_key(note.xref, "AP/N")
        if kind == "xref":
            forms.add(int(value.split()[0]))
    streams = {xref: document.xref_stream(xref) for xref in forms}
    contents = document.xref_get_key(page.xref, "Contents")
    blind = document.get_new_xref()
    document.update_object(blind, "<<>>")
    streams[blind] = _INVISIBLE_MODE + b" Tr\n" + page.read_contents()
    try:
        for xref, stream in streams.items():
            document.update_stream(xref, _TEXT_MODE.sub(_INVISIBLE_MODE, stream))
        page.set_contents(blind)
        return DrawnPage(page, drawn.flags)
    finally:
        for xref in forms:
            document.update_stream(xref, streams[xref])
        document.xref_set_key(page.xref, "Contents", contents[1])


def _part(dots: Any, area: Any, box: Box, trim: float = 0.0) -> Any:
    """Return the dots in the middle of a box, `trim` of its width at both ends left out."""
    x0, x1 = (DOTS_PER_POINT * (edge - area.x0) for edge in (box[0], box[2]))
    y0, y1 = (DOTS_PER_POINT * (edge - area.y0) for edge in (box[1], box[3]))
    wide, high = trim * (x1 - x0), _TRIM_SHARE * (y1 - y0)
    left, top = max(0, round(x0 + wide)), max(0, round(y0 + high))
    return dots[
        top : max(top + 1, round(y1 - high)),
        left : max(left + 1, round(x1 - wide)),
    ]


def _has_contrast(dots: Any) -> bool:
    return bool(dots.size and (dots.max(axis=(0, 1)) - dots.min(axis=(0, 1))).max() > SAME_COLOUR)


def _has_gap(dots: Any, size: float) -> bool:
    """Tell whether a stretch of a span has one colour that is as wide as two narrow characters."""
    import numpy as np

    if not dots.size:
        return True
    if dots.shape[0] > dots.shape[1]:
        dots = dots.transpose(1, 0, 2)
    wide = min(dots.shape[1], max(1, round(DOTS_PER_POINT * _MIN_GAP_SIZES * size)))
    highest, lowest = (
        np.lib.stride_tricks.sliding_window_view(edge, wide, axis=0)
        for edge in (dots.max(axis=0), dots.min(axis=0))
    )
    contrast = (highest.max(axis=-1) - lowest.min(axis=-1)).max(axis=-1)
    return bool((contrast <= SAME_COLOUR).any())


def _remove(content: dict[str, Any], unseen: dict[int, set[int]]) -> list[str]:
    """Take characters out of spans, by the span's identity, and return them line by line."""
    found = []
    for line in lines_of(content["blocks"]):
        taken = ""
        kept = []
        for span in line["spans"]:
            places = unseen.get(id(span), ())
            if places:
                text = span["text"]
                taken += "".join(text[place] for place in sorted(places))
                span["text"] = "".join(
                    " " if place in places else character for place, character in enumerate(text)
                )
            if not places or span["text"].strip():
                kept.append(span)
        if taken.strip():
            found.append(taken.strip())
            line["spans"] = kept
            lefts, tops, rights, bottoms = zip(
                *([span["bbox"] for span in kept] or [line["bbox"]]), strict=True
            )
            line["bbox"] = (min(lefts), min(tops), max(rights), max(bottoms))
    for block in content["blocks"]:
        block["lines"] = [line for line in block["lines"] if line["spans"]]
    content["blocks"] = [block for block in content["blocks"] if block["lines"]]
    return found
