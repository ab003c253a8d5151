"""The lines of a page: read or recognised, their styles, the numbers beside them."""

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby, pairwise
from typing import Any

from rag_assets.model import Box
from rag_assets.parsing.cleaning import clean_line
from rag_assets.parsing.pdf.direction import in_logical_order
from rag_assets.parsing.pdf.drawn import (
    CAPTION_START,
    DrawnPage,
    Graphic,
    drop_hidden,
    join_bars,
    lines_of,
    middle_of,
    read_graphics,
)
from rag_assets.parsing.pdf.opening import load_pymupdf

# Printed lines of a PDF page, as PyMuPDF finds them, in native order.

# Bit of PyMuPDF's span flags; fonts without it say so in their name (CMBX is TeX's bold).
_BOLD_FLAG = 16
_ITALIC_FLAG = 2
_RAISED_FLAG = 1
# An exponent, or the mark of a note behind a number: either way no digits of that number.
_RAISED_NUMBER = re.compile(r"\s*[+\-−–]?\d{1,3}(?:[,–-]\d{1,3})*[\s.,;:)\]*∗†‡§¶]*")
_NO_POWER = re.compile(r"[5-9]|\d\d")
# Behind a short word 1 to 4 may be the power of a unit, which stays with it: m2, s−1.
_BEFORE_MARK = re.compile(r"[^\W\d_]{4}\Z|[%‰.,;:!?)\]}”’\"»。，；：！？）]\Z")
_RAISED_MARK = re.compile(r"[\w*∗†‡§¶#,]")
# The codes of Adobe's ZapfDingbats, which forms use for ticks; those above are seldom used.
_DINGBATS = {code: 0x26E0 + code for code in range(0x21, 0x7F)} | {
    0x25: "☎", 0x2A: "☛", 0x2B: "☞", 0x48: "★", 0x6C: "●", 0x6E: "■", 0x73: "▲", 0x74: "▼",
    0x75: "◆", 0x77: "◗",
}  # fmt: skip
# Small capitals are set at 70 to 85 % of the size of the capitals.
_MAX_SMALL_CAPS_RATIO = 1.45
# Fewer characters in a font of their own are a symbol or a number, not a heading.
_MIN_RUN_IN = 3
# A formula or a name of a species inside of a heading.
_MAX_INSERTION = 16
# The number of a heading is often set in another font than its words.
_IS_NUMBER = re.compile(r"\s*(?:\d+(?:\.\d+)*|[A-Z](?:\.\d+)*|[IVX]+)[.)]?\s*")
_BOLD_NAME = re.compile(
    r"bold|black|heavy|demi|cmbx|-bd|medi\b|\.B$|[.-]BI?$|TimesB|simhei|heiti|黑", re.IGNORECASE
)
_ITALIC_NAME = re.compile(
    r"ital|obli|slanted|[.-]B?I$|-It$|LtIt$|CondIt$|TimesB?I$|cmti|cmsl", re.IGNORECASE
)

# A page of so much sideways text is a wide table or figure: it is read as its reader turns it.
_CLOCKWISE, _COUNTERCLOCKWISE = 90, 270
_MIN_SIDEWAYS, _MIN_SIDEWAYS_SHARE, _MIN_SIDEWAYS_CHARACTERS = 0.9, 0.6, 40

# Raised characters of a sideways line, in the size of its font.
_MAX_RAISED_SIZE, _MIN_RAISED = 0.9, 0.15

# A shadow is no further from its text.
_SAME_PLACE_POINTS = 1.5

# White between two words, by the height of their characters.
_MIN_WORD_GAP = 0.15

# Of recognised text: the gutter of two columns is wider than any space of a justified line.
_GUTTER_IN_SIZES = 1.5
# What stands in it to the eyes of a text recognition that takes its shadow for a sign.
_GUTTER_MARKS = {"", "|", "_"}


@dataclass(slots=True)
class Line:
    """One printed line, empty ones and those of white space left out.

    Args:
        text: cleaned.
        printed: the same characters as the file has them.
        box: on the page as shown.
        size: of its main font in points; `bold`, `italic` and `font` are that font's too. Small
            capitals have the size of the capitals that begin their words.
        upright: False for sideways and vertical lines.
        run_in: the beginning that is set in another font, and the rest: a heading that its
            paragraph follows on the same line looks so. None for a line in one font.
        level_parts: the text between its raised characters (marks of notes and affiliations);
            None where nothing is raised.
    """

    text: str
    printed: str
    box: Box
    size: float
    bold: bool
    italic: bool
    font: str
    upright: bool
    run_in: "tuple[Line, Line] | None" = None
    level_parts: tuple[str, ...] | None = None

    def shares_row(self, other: "Line") -> bool:
        """Tell whether both stand on one base line (cells of a row, a number and its heading)."""
        middle = (other.box[1] + other.box[3]) / 2
        return self.box[1] < middle < self.box[3]


ANOTHER_PROGRAM = "another program"


@dataclass(slots=True)
class Page:
    """The blocks of a page, each a list of lines. `number` counts from 1.

    Args:
        graphics: images, drawings and rules.
        rules: its horizontal rules from the top down, pieces on one height from the left.
        bars: its vertical rules from left to right, pieces joined.
        recognised_by: the program that read its text from its picture, empty where none did.
            `ANOTHER_PROGRAM`: the file brings the text along.
        hidden: texts of the file that nobody sees on the page; no line has them.
        turn: by how many degrees it was turned so that its lines run from left to right: 90 or 270
            for a page whose lines are sideways, 270 for one with lines from top to bottom.
    """

    number: int
    width: float
    height: float
    blocks: list[list[Line]]
    graphics: list[Graphic] = field(default_factory=list)
    rules: list[Box] = field(default_factory=list)
    bars: list[Box] = field(default_factory=list)
    columns: list[float] = field(default_factory=list)
    text_bounds: tuple[float, float] = (0.0, 0.0)
    recognised_by: str = ""
    hidden: tuple[str, ...] = ()
    turn: int = 0


def read_page(page: Any, recognised: dict[str, Any] | None = None, recognised_by: str = "") -> Page:
    """Return the text lines of a pymupdf page, empty ones left out.

    Args:
        page: a `pymupdf.Page`.
        recognised: what was read from its picture, in the form of `get_text("dict")`, taken instead
            of its own text.
        recognised_by: the program that read it.

    Raises:
        RuntimeError: MuPDF cannot read the page.
    """
    pymupdf = load_pymupdf()
    # No images: reading them takes as long again. No CID for unknown characters: a glyph number
    # is not what is printed; U+FFFD is counted and reported.
    flags = (
        pymupdf.TEXT_PRESERVE_WHITESPACE
        | pymupdf.TEXT_PRESERVE_LIGATURES
        | pymupdf.TEXT_MEDIABOX_CLIP
        | pymupdf.TEXT_CLIP
    )
    drawn = DrawnPage(page, flags)
    content = recognised or drawn.content()
    hidden, has_layer = ([], False) if recognised else drop_hidden(content, drawn)
    if not recognised:
        _drop_repeated(content["blocks"])
    matrix = page.rotation_matrix if page.rotation else None
    width, height = page.rect.width, page.rect.height
    turn = 0 if recognised else _sideways_turn(content["blocks"], matrix)
    if turn:
        own = (0, 1, -1, 0, height, 0) if turn == _CLOCKWISE else (0, -1, 1, 0, 0, width)
        matrix = (matrix or pymupdf.Identity) * pymupdf.Matrix(*own)
        width, height = height, width
    graphics = read_graphics(drawn, matrix, width, height)
    rules = sorted(
        (graphic.box for graphic in graphics if graphic.kind == "rule"),
        key=lambda box: (round(box[1]), box[0]),
    )
    bars = join_bars(graphics, rules)
    if bars and not recognised and matrix is None:
        bars = _split_at_bars(content["blocks"], bars, drawn)
    blocks = [
        lines
        for block in content["blocks"]
        if (
            lines := [
                line
                for raw in block["lines"]
                for piece in ([raw] if recognised is None else _split_at_gutters(raw))
                if (line := _read_line(piece, matrix))
            ]
        )
    ]
    return Page(
        page.number + 1,
        width,
        height,
        blocks,
        graphics,
        rules,
        bars,
        recognised_by=ANOTHER_PROGRAM if has_layer else recognised_by,
        turn=turn,
        hidden=tuple(map(clean_line, hidden)),
    )


def _drop_repeated(blocks: Sequence[dict[str, Any]]) -> None:
    """Drop spans that are printed again in the same place, as a shadow or to look bold, in place.

    MuPDF's own way, TEXT_COLLECT_STYLES, takes the second f of `eff` and zeros of `1000` for that.
    """
    seen: dict[str, list[tuple[float, float]]] = {}
    repeated: set[int] = set()
    for line in lines_of(blocks):
        for span in line["spans"]:
            text, (x, y) = span["text"], span["origin"]
            places = seen.get(text)
            if places is None:
                seen[text] = [(x, y)]
            elif len(text) > 1 and any(
                abs(x - left) <= _SAME_PLACE_POINTS and abs(y - base) <= _SAME_PLACE_POINTS
                for left, base in places
            ):
                repeated.add(id(span))
            else:
                places.append((x, y))
    if not repeated:
        return
    for line in lines_of(blocks):
        line["spans"] = [span for span in line["spans"] if id(span) not in repeated]
    for block in blocks:
        block["lines"] = [line for line in block.get("lines", ()) if line["spans"]]


def _sideways_turn(blocks: Sequence[dict[str, Any]], matrix: Any) -> int:
    """Return by how many degrees a page has to be turned for most of its text to be upright."""
    counts = {0: 0, _CLOCKWISE: 0, _COUNTERCLOCKWISE: 0}
    for raw in lines_of(blocks):
        x, y = raw["dir"]
        if matrix is not None:
            x, y = x * matrix.a + y * matrix.c, x * matrix.b + y * matrix.d
        turn = 0 if raw["wmode"] or abs(y) < _MIN_SIDEWAYS else _CLOCKWISE
        turn = _COUNTERCLOCKWISE if turn and y > 0 else turn
        counts[turn] += sum(len(span["text"]) for span in raw["spans"])
    turn = max(counts, key=lambda degrees: counts[degrees])
    is_most = counts[turn] >= _MIN_SIDEWAYS_SHARE * sum(counts.values())
    return turn if is_most and counts[turn] >= _MIN_SIDEWAYS_CHARACTERS else 0


def _split_at_gutters(raw: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a recognised line in pieces, cut where it runs on from one column into the next.

    Tesseract gives each word, and the space between two, a span of its own; a gutter is a wide
    space, or a space with the bar that it took the gutter's edge for.
    """
    pieces: list[list[dict[str, Any]]] = [[]]
    gap = 0.0
    for span in raw["spans"]:
        text = span["text"].strip()
        if text in _GUTTER_MARKS:
            gap += span["bbox"][2] - span["bbox"][0]
            pieces[-1].append(span)
            continue
        if gap > _GUTTER_IN_SIZES * span["size"] and any(s["text"].strip() for s in pieces[-1]):
            pieces.append([])
        pieces[-1].append(span)
        gap = 0.0
    if len(pieces) == 1:
        return [raw]
    cut = []
    for spans in pieces:
        while spans[-1]["text"].strip() in _GUTTER_MARKS:
            spans.pop()
        left, top, right, bottom = zip(*(span["bbox"] for span in spans), strict=True)
        box = (min(left), min(top), max(right), max(bottom))
        cut.append(raw | {"spans": spans, "bbox": box})
    return cut


def _split_at_bars(
    blocks: Sequence[dict[str, Any]], bars: Sequence[Box], drawn: DrawnPage
) -> list[Box]:
    """Cut the lines of blocks where a vertical rule runs between two of their words, in place.

    Returns the rules without those that run through words more often: they belong to plots.
    """
    places = [(bar[0] + bar[2]) / 2 for bar in bars]
    crossed: dict[int, list[int]] = {}
    for raw in lines_of(blocks):
        left, top, right, bottom = raw["bbox"]
        middle = (top + bottom) / 2
        near = range(bisect_left(places, left + 1), bisect_left(places, right - 1))
        cuts = [at for at in near if bars[at][1] <= middle <= bars[at][3]]
        is_caption = CAPTION_START.match("".join(span["text"] for span in raw["spans"]).lstrip())
        if cuts and raw["dir"][0] > 0.9 and not is_caption:
            crossed[id(raw)] = cuts
    lines = [raw for raw in lines_of(blocks) if id(raw) in crossed]
    spans = [span for raw in lines for span in raw["spans"]]
    characters = drawn.characters(spans) if spans else {}
    votes = [0] * len(bars)
    for raw in lines:
        read = [one for span in raw["spans"] for one in characters[id(span)]]
        boxes = [one["bbox"] for one in read if not one["c"].isspace()]
        fits = {at: _is_between_words(places[at], boxes) for at in crossed[id(raw)]}
        is_known = boxes and all(characters[id(span)] for span in raw["spans"])
        crossed[id(raw)] = [at for at, fit in fits.items() if fit and is_known]
        for at, fit in fits.items():
            votes[at] += 1 if fit else -1
    for block in blocks if crossed else ():
        pieces: list[dict[str, Any]] = []
        for raw in block["lines"]:
            cuts = [at for at in crossed.get(id(raw), ()) if votes[at] >= 0]
            pieces += _split_at(raw, [places[at] for at in cuts], characters) if cuts else [raw]
        block["lines"] = pieces
    return [bar for bar, vote in zip(bars, votes, strict=True) if vote >= 0]


def _split_at(
    raw: dict[str, Any], cuts: Sequence[float], characters: Mapping[int, Sequence[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Return a line in pieces."""
    pieces: list[list[dict[str, Any]]] = [[] for _ in range(len(cuts) + 1)]
    for span in raw["spans"]:
        runs = groupby(
            zip(span["text"], characters[id(span)], strict=True),
            key=lambda pair: sum(cut <= middle_of(pair[1]["bbox"])[0] for cut in cuts),
        )
        for place, run in runs:
            letters = list(run)
            text = "".join(letter for letter, _ in letters)
            boxes = [one["bbox"] for letter, one in letters if text.isspace() or letter.strip()]
            pieces[place].append(span | {"text": text, "bbox": surrounding_box(boxes)})
    return [
        raw | {"spans": spans, "bbox": _box_of(spans)}
        for spans in pieces
        if any(span["text"].strip() for span in spans)
    ]


def _is_between_words(place: float, boxes: Sequence[Box]) -> bool:
    """Tell whether the characters beside a vertical rule are as far from each other as words."""
    before = max((box[2] for box in boxes if box[0] + box[2] <= 2 * place), default=-math.inf)
    after = min((box[0] for box in boxes if box[0] + box[2] > 2 * place), default=math.inf)
    height = max((box[3] - box[1] for box in boxes), default=0.0)
    is_beside = before <= place + 1 and after >= place - 1
    return is_beside and after - before >= _MIN_WORD_GAP * height


def _read_line(raw: dict[str, Any], matrix: Any) -> Line | None:
    spans = raw["spans"]
    for span in spans:
        if "Dingbats" in span["font"]:
            span["text"] = span["text"].translate(_DINGBATS)
    if abs(raw["dir"][1]) > _MIN_SIDEWAYS:
        _mark_raised(spans, raw["dir"])
    spans = in_logical_order(spans)
    main = spans[0] if len(spans) == 1 else _main_span(spans)
    printed, text = _read_spans(spans)
    if not text:
        return None
    box, direction = raw["bbox"], raw["dir"]
    if matrix is not None:
        box, direction = _turn(box, direction, matrix)
    upright = raw["wmode"] == 0 and direction[0] > 0.9
    line = _make_line(main, text, printed, box, upright)
    if len(spans) > 1 and upright:
        if any(span["flags"] & _RAISED_FLAG for span in spans):
            line.level_parts = _level_parts(spans)
        if text.isupper():
            line.size = _capitals_size(spans, main)
        elif matrix is None:
            line.run_in = _read_run_in(spans)
    return line


def _mark_raised(spans: Sequence[dict[str, Any]], direction: tuple[float, float]) -> None:
    """Give raised spans of a sideways line their flag, which MuPDF gives to upright ones alone."""
    main, (x, y) = _main_span(spans), direction
    for span in spans:
        right, down = (a - b for a, b in zip(span["origin"], main["origin"], strict=True))
        is_small = span["size"] < _MAX_RAISED_SIZE * main["size"]
        if is_small and right * y - down * x > _MIN_RAISED * main["size"]:
            span["flags"] |= _RAISED_FLAG


def _read_spans(spans: Sequence[dict[str, Any]]) -> tuple[str, str]:
    """Return the characters of some spans, as printed and cleaned: 10⁵ is 10^5 and not 105."""
    if len(spans) == 1:
        printed = spans[0]["text"]
        return printed, clean_line(printed)
    printed = "".join([span["text"] for span in spans])
    if not any(span["flags"] & _RAISED_FLAG for span in spans):
        return printed, clean_line(printed)
    text = ""
    for is_raised, run in groupby(spans, key=lambda span: bool(span["flags"] & _RAISED_FLAG)):
        part = "".join([span["text"] for span in run])
        base = text.rstrip()
        if (
            is_raised
            and _RAISED_NUMBER.fullmatch(part)
            # A blank may stand before an exponent (`10 5`), not before the mark of a note.
            and (
                (base[-1:].isdecimal() and len(text) - len(base) <= 1)
                or _BEFORE_MARK.search(text)
                or (text[-1:].isalpha() and _NO_POWER.match(part))
            )
        ):
            text, part = f"{base}^", part.lstrip()
        text += part
    return printed, clean_line(text)


def _make_line(
    main: dict[str, Any], text: str, printed: str, box: Sequence[float], upright: bool
) -> Line:
    font, flags = main["font"], main["flags"]
    return Line(
        text=text,
        printed=printed,
        box=(box[0], box[1], box[2], box[3]),
        size=main["size"],
        bold=bool(flags & _BOLD_FLAG) or is_bold_name(font),
        italic=bool(flags & _ITALIC_FLAG) or is_italic_name(font),
        font=font,
        upright=upright,
    )


def _capitals_size(spans: Sequence[dict[str, Any]], main: dict[str, Any]) -> float:
    """Return the size of the first letters where the other letters are small capitals."""
    size: float = main["size"]
    largest = max(
        (span["size"] for span in spans if span["font"] == main["font"] and span["text"].strip()),
        default=size,
    )
    return largest if size < largest <= _MAX_SMALL_CAPS_RATIO * size else size


def _read_run_in(spans: Sequence[dict[str, Any]]) -> tuple[Line, Line] | None:
    """Return a line's beginning in one font and its rest, None where that is not one change."""
    first = next((span for span in spans if span["text"].strip()), spans[0])
    font = first["font"]
    if font == spans[-1]["font"] and len({span["font"] for span in spans}) == 1:
        return None
    end = _end_of_font(spans, 0, font)
    if end < len(spans) and _IS_NUMBER.fullmatch("".join([span["text"] for span in spans[:end]])):
        end = _end_of_font(spans, end, spans[end]["font"])
    end = _past_insertions(spans, end)
    lead, rest = spans[:end], spans[end:]
    if not rest:
        return None
    (lead_printed, lead_text), (rest_printed, rest_text) = _read_spans(lead), _read_spans(rest)
    if len(lead_text) < _MIN_RUN_IN or not rest_text:
        return None
    return (
        _make_line(_main_span(lead), lead_text, lead_printed, _box_of(lead), True),
        _make_line(_main_span(rest), rest_text, rest_printed, _box_of(rest), True),
    )


def _past_insertions(spans: Sequence[dict[str, Any]], end: int) -> int:
    """Return the end of a beginning that goes on in its font after a symbol or a name."""
    while 0 < end < len(spans):
        before = "".join([span["text"] for span in spans[:end]]).rstrip()
        if before.endswith((".", ":")):
            break
        font = next(span["font"] for span in reversed(spans[:end]) if span["text"].strip())
        length = 0
        for index in range(end, len(spans)):
            if spans[index]["font"] == font and spans[index]["text"].strip():
                break
            length += len(spans[index]["text"])
        else:
            break
        if length > _MAX_INSERTION:
            break
        end = _end_of_font(spans, index, font)
    return end


def _end_of_font(spans: Sequence[dict[str, Any]], start: int, font: str) -> int:
    """Return the index of the first span from `start` on that is printed in another font."""
    for index in range(start, len(spans)):
        if spans[index]["font"] != font and spans[index]["text"].strip():
            return index
    return len(spans)


def _level_parts(spans: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Return the text before, between and behind raised characters; accents belong to letters."""
    parts = [""]
    for span in spans:
        text = span["text"]
        if span["flags"] & _RAISED_FLAG and _RAISED_MARK.search(text):
            parts.append("")
        else:
            parts[-1] += text
    return tuple(part for part in map(clean_line, parts) if part)


def _box_of(spans: Sequence[dict[str, Any]]) -> Box:
    """Return the box around spans of one line, blanks at its ends left out."""
    boxes = [span["bbox"] for span in spans if span["text"].strip()]
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )


@cache
def is_bold_name(font: str) -> bool:
    """Tell whether a font's name says that it is bold."""
    return _BOLD_NAME.search(font) is not None


@cache
def is_italic_name(font: str) -> bool:
    """Tell whether a font's name says that it is slanted."""
    return _ITALIC_NAME.search(font) is not None


def _main_span(spans: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return a span in the font and size of most characters: words may be spans of their own."""
    lengths: dict[tuple[str, float], int] = {}
    for span in spans:
        key = span["font"], span["size"]
        lengths[key] = lengths.get(key, 0) + len(span["text"].strip())
    font, size = max(lengths, key=lambda key: lengths[key])
    return next(span for span in spans if span["font"] == font and span["size"] == size)


def _turn(box: Box, direction: tuple[float, float], matrix: Any) -> tuple[Box, tuple[float, float]]:
    pymupdf = load_pymupdf()
    turned = pymupdf.Rect(box) * matrix
    x, y = direction
    return (
        (turned.x0, turned.y0, turned.x1, turned.y1),
        (x * matrix.a + y * matrix.c, x * matrix.b + y * matrix.d),
    )


def surrounding_box(boxes: Sequence[Box]) -> Box:
    """Return the smallest box around `boxes`, to a tenth of a point."""
    if len(boxes) == 1:
        left, top, right, bottom = boxes[0]
    else:
        lefts, tops, rights, bottoms = zip(*boxes, strict=True)
        left, top, right, bottom = min(lefts), min(tops), max(rights), max(bottoms)
    return round(left, 1), round(top, 1), round(right, 1), round(bottom, 1)


# Fonts of a PDF's text: which one its sentences are set in, and what stands out from it.

# A font with so many of the characters sets running text, whatever its name.
_MIN_TEXT_FONT_SHARE = 0.1
# Hinting and scaling move sizes by a few tenths of a point.
_SIZE_STEPS_PER_POINT = 2
_LARGER_POINTS = 0.9
_MATHEMATICAL = re.compile(
    r"CMMI|CMSY|CMEX|CMBSY|MSAM|MSBM|EUFM|EUSM|Math|Symbol|Dingbat|MT-Extra|MTSY|rsfs|wasy"
    r"|stmary|txsy|pxsy|eufm",
    re.IGNORECASE,
)
# An acronym has fewer letters, and a symbol of an element may stand among the capitals.
_MIN_CAPITALS, _MIN_CAPITAL_SHARE = 6, 0.75
# The first words tell; sentences are long.
_LOOKED_AT = 40

Style = tuple[float, str, bool]
"""Size to half a point, font, whether in capitals."""


@dataclass(frozen=True, slots=True)
class BodyStyle:
    """What most of a document is set in.

    Args:
        size: in points, to half a point.
        text_fonts: sizes and fonts that set a good part of the text (Latin letters in Chinese
            text).
    """

    size: float
    font: str
    bold: bool
    italic: bool
    text_fonts: frozenset[tuple[float, str]]

    def is_emphasised(self, line: Line) -> bool:
        """Tell whether a line's font stands out: larger, bold, slanted, or hardly used."""
        if (line.bold and not self.bold) or line.size >= self.size + _LARGER_POINTS:
            return True
        if is_mathematical(line.font):
            return False
        if line.italic and not self.italic:
            return True
        return (half_points(line.size), line.font) not in self.text_fonts or is_all_capitals(
            line.text
        )


@cache
def is_mathematical(font: str) -> bool:
    """Tell whether a font's name is that of symbols."""
    return _MATHEMATICAL.search(font) is not None


def find_body_style(pages: Sequence[Page]) -> BodyStyle:
    """Return the style of most characters of `pages`, of at least one line."""
    sizes: Counter[tuple[float, str, bool, bool]] = Counter()
    for page in pages:
        for block in page.blocks:
            for line in block:
                length = len(line.text)
                sizes[half_points(line.size), line.font, line.bold, line.italic] += length
    if not sizes:
        return BodyStyle(0.0, "", False, False, frozenset())
    size, font, bold, italic = max(sizes, key=lambda style: sizes[style])
    least = _MIN_TEXT_FONT_SHARE * sizes.total()
    fonts: Counter[tuple[float, str]] = Counter()
    for (own_size, own_font, _, _), count in sizes.items():
        for step in (-0.5, 0.0, 0.5):
            fonts[own_size + step, own_font] += count
    text_fonts = {style for style, count in fonts.items() if count >= least}
    text_fonts |= {(size + step, font) for step in (-0.5, 0.0, 0.5)}
    return BodyStyle(size, font, bold, italic, frozenset(text_fonts))


def half_points(size: float) -> float:
    """Return a font's size to half a point."""
    return round(size * _SIZE_STEPS_PER_POINT) / _SIZE_STEPS_PER_POINT


def style_of(line: Line) -> Style:
    """Return what a heading's line shares with the other headings of its rank."""
    return half_points(line.size), line.font, is_all_capitals(line.text)


def is_all_capitals(text: str) -> bool:
    """Tell whether nearly all letters of a text are capitals: `SOLID Mg CONDUCTORS`, not `EEG`."""
    text = text[:_LOOKED_AT]
    capitals = sum(map(str.isupper, text))
    return capitals >= _MIN_CAPITALS and capitals >= _MIN_CAPITAL_SHARE * sum(
        map(str.isalpha, text)
    )


# Numbers in the margin that count the lines of a manuscript.

TEMPLATE = "# (line numbers)"

_NUMBER = re.compile(r"\d{1,4}")
# PyMuPDF joins a large line, such as a title, with the number before it.
_NUMBER_AND_TEXT = re.compile(r"(\d{1,4})\s+(?=\S)")
# Reviewers' numbers count every line or every fifth; fewer on a page are cells of a table.
_MIN_NUMBERS = 5
_STEPS = (1, 5)
_MIN_STEADY_SHARE = 0.8
_SAME_EDGE_POINTS = 12.0
# Formulas and two columns make some more rows than lines; an entry of a list has two or three.
_MAX_ROWS_A_NUMBER = 1.5


def remove_line_numbers(pages: Sequence[Page]) -> tuple[str, ...]:
    """Take line numbers out of the margins of `pages`, in place.

    On a page they stand outside of the text, below each other, and ascend by one or by five.
    Pages with little text have few: there the edge counts that the other pages have shown.

    Returns:
        The template that was removed, empty where there are none.
    """
    joined = [_joined_numbers(page) for page in pages]
    margins = [(page, *_margins(page, found)) for page, found in zip(pages, joined, strict=True)]
    edges = [
        edge
        for page, *sides in margins
        for side in sides
        if (edge := _edge_of_numbers(side)) is not None and _counts_rows(page, side)
    ]
    if not edges:
        return ()
    for (page, *sides), found in zip(margins, joined, strict=True):
        doomed = {
            id(line)
            for side in sides
            for line in side
            if any(abs(line.box[2] - edge) <= _SAME_EDGE_POINTS for edge in edges)
        }
        for line, number in found:
            if id(number) in doomed:
                _cut_number(line, number.text, _left_edge(page, found))
        if doomed:
            kept = [[line for line in block if id(line) not in doomed] for block in page.blocks]
            page.blocks = [block for block in kept if block]
    return (TEMPLATE,)


def _joined_numbers(page: Page) -> list[tuple[Line, Line]]:
    """Return the lines that begin with the number of their row, each with that number.

    It is the one that the numbers above and below it leave open, and begins where they do.
    """
    lines = [line for block in page.blocks for line in block if line.upright]
    numbers = sorted(filter(_is_number, lines), key=lambda line: line.box[1])
    if len(numbers) < _MIN_NUMBERS:
        return []
    joined = []
    for line in lines:
        found = _NUMBER_AND_TEXT.match(line.text)
        if not found:
            continue
        value = int(found[1])
        before = [number for number in numbers if number.box[1] < line.box[1]][-1:]
        after = [number for number in numbers if number.box[1] > line.box[1]][:1]
        steps = {value - int(number.text) for number in before}
        steps |= {int(number.text) - value for number in after}
        if (
            len(steps) == 1
            and steps <= set(_STEPS)
            and all(abs(near.box[0] - line.box[0]) <= _SAME_EDGE_POINTS for near in before + after)
        ):
            edge = (before or after)[0].box[2]
            box = (line.box[0], line.box[1], edge, line.box[3])
            joined.append((line, replace(line, text=found[1], printed=found[1], box=box)))
    return joined


def _cut_number(line: Line, number: str, left: float) -> None:
    """Take its number off a line, in place, which then begins at `left`."""
    line.text = line.text.removeprefix(number).lstrip()
    line.printed = line.printed.lstrip().removeprefix(number).lstrip()
    line.box = (left, *line.box[1:])
    if line.level_parts:
        first = line.level_parts[0].removeprefix(number).lstrip()
        line.level_parts = tuple(part for part in (first, *line.level_parts[1:]) if part)
    if line.run_in:
        lead = line.run_in[0]
        _cut_number(lead, number, left)
        if len(lead.text) < _MIN_RUN_IN:
            line.run_in = None


def _is_number(line: Line) -> bool:
    return len(line.text) <= 4 and _NUMBER.fullmatch(line.text) is not None


def _left_edge(page: Page, joined: Sequence[tuple[Line, Line]]) -> float:
    """Return where the text of a page begins; `joined` lines begin with their number."""
    ids = {id(line) for line, _ in joined}
    return min(
        (
            line.box[0]
            for block in page.blocks
            for line in block
            if len(line.text) > 4 and line.upright and id(line) not in ids
        ),
        default=page.width,
    )


def _margins(page: Page, joined: Sequence[tuple[Line, Line]]) -> tuple[list[Line], list[Line]]:
    """Return the numbers that stand left and right of a page's text, from the top."""
    numbers = [number for _, number in joined]
    left, right = _left_edge(page, joined), 0.0
    for block in page.blocks:
        for line in block:
            if _is_number(line):
                numbers.append(line)
            elif len(line.text) > 4 and line.upright:
                right = max(right, line.box[2])
    numbers.sort(key=lambda line: line.box[1])
    return (
        [line for line in numbers if line.box[2] <= left + 1],
        [line for line in numbers if line.box[0] >= right - 1],
    )


def _counts_rows(page: Page, numbers: Sequence[Line]) -> bool:
    """Tell whether the numbers count rows; those of a list of references count entries."""
    first, last = numbers[0], numbers[-1]
    middles = sorted(
        (line.box[1] + line.box[3]) / 2
        for block in page.blocks
        for line in block
        if len(line.text) > 4
        and line.upright
        and first.box[1] <= (line.box[1] + line.box[3]) / 2 <= last.box[3]
    )
    rows = 1 + sum(after - before > first.size / 2 for before, after in pairwise(middles))
    counted = int(last.text) - int(first.text) + 1
    return rows <= _MAX_ROWS_A_NUMBER * counted


def _edge_of_numbers(lines: Sequence[Line]) -> float | None:
    """Return the right edge that line numbers share, None where `lines` are none."""
    if len(lines) < _MIN_NUMBERS:
        return None
    steps = [int(after.text) - int(line.text) for line, after in pairwise(lines)]
    edges = [line.box[2] for line in lines]
    if max(edges) - min(edges) > _SAME_EDGE_POINTS:
        return None
    if max(steps.count(step) for step in _STEPS) < _MIN_STEADY_SHARE * len(steps):
        return None
    return max(edges)
