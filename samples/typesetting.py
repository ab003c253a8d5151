"""Words become justified lines: fonts, hyphenation, line breaks in English and Chinese."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pymupdf

# A line of Chinese is not stretched by more than this between two characters: a wider gap
# would be read as a space by whoever extracts the text.
WIDEST_CHINESE_GAP = 1.4

Colour = tuple[float, float, float]
BLACK, GREY, ACCENT, TINT = (0.1, 0.1, 0.1), (0.42, 0.42, 0.42), (0.05, 0.32, 0.36), 0.93

# Where a word may be broken, as TeX's \hyphenation has it.
HYPHENATION = """
Inter-view-ers Man-u-fac-tur-ers ac-cep-tance ad-van-tage af-ter-noon air-port al-be-do
al-ter-nat-ed bal-ance be-tween bi-tu-men build-ing build-ings cal-cu-la-tion cal-cu-lat-ed
car-ried cloud-bursts coat-ing coat-ings com-fort com-fort-able com-pared con-clu-sions
con-fi-dence con-tact con-trast cov-er-age de-cline de-pend-ed de-pends dem-on-stra-tion
dif-fer-ence dif-fer-ent dif-fered dis-tin-guished dis-trict dura-bil-ity ef-fect evap-o-rates
eve-ning ex-clu-sion ex-cluded ex-pec-ta-tion ex-ten-sive fig-ure fore-cast gar-dens heat-ing
height hu-mid-i-ty in-cluded in-hab-i-tants in-stru-ments in-su-la-tion in-su-lat-ed in-ten-sive
in-ter-val in-ter-vals ir-ri-ga-tion ir-ri-gat-ed lit-er-a-ture mea-sure mea-sure-ment
mea-sure-ments mea-sured mem-brane met-ro-pol-i-tan min-er-al mod-er-ate-ly mu-nic-i-pal
ob-ser-va-tions or-di-nary pave-ment pave-ments pe-des-tri-ans per-son plant-ed pres-sure
quan-ti-ty ques-tion-naire ques-tions ra-di-a-tion ra-di-ant ra-di-om-e-ters rain-fall
rain-wa-ter re-cord-ed re-flec-tive re-flect-ed re-gis-ter re-sis-tance re-ten-tion rem-e-dy
res-i-dents sat-u-rat-ed se-lect-ed sen-sors sim-u-la-tions slight-ly state-ments sto-mata
storm-wa-ter sub-sidies sub-strate sum-mer sum-mers sun-light sur-face sur-faces tem-per-a-ture
tem-per-a-tures ther-mal trans-pire treat-ment trol-ley un-treat-ed ven-ti-lat-ed wa-tered
wheth-er
"""
BREAKS = {word.replace("-", ""): word.split("-") for word in HYPHENATION.split()}

# Chinese typesetting: these never begin a line, those never end one.
NOT_FIRST = "，。；：、？！）”》％%°,.;:)]"
NOT_LAST = "（“《(["

_WIDE = "\u2e80-\u9fff\uff00-\uffef\u3000-\u303f“”‘’"
CJK = re.compile(f"[{_WIDE}]")
_CHINESE_PIECE = re.compile(rf"[{_WIDE}]|[^\s{_WIDE}]+|[ \u3000]")
# A number and its degrees stay on one line.
_WORD = re.compile(r"\S+(?: °C\S*)?")
_EDGES = re.compile(r"^(\W*)(.*?)(\W*)$", re.DOTALL)


@dataclass(frozen=True)
class Style:
    """How a paragraph is set."""

    size: float
    leading: float
    face: str = "roman"
    colour: Colour = BLACK
    indent: float = 0.0
    hanging: float = 0.0
    before: float = 0.0
    after: float = 0.0
    justified: bool = True
    centred: bool = False


@dataclass(frozen=True)
class Piece:
    """Glyphs that stay together; `gap` is the white space before them."""

    text: str
    face: str
    width: float
    gap: float


@dataclass
class Line:
    """One line, ready to be drawn at a baseline."""

    pieces: list[Piece]
    style: Style
    offset: float
    is_last: bool = False
    extra: list[float] = field(default_factory=list)


class Fonts:
    """The faces that come with PyMuPDF, with their widths."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._widths: dict[tuple[str, str, float], float] = {}
        self._fonts = {
            "roman": pymupdf.Font("tiro"),
            "bold": pymupdf.Font("tibo"),
            "italic": pymupdf.Font("tiit"),
            "sans": pymupdf.Font("helv"),
        }
        if language == "zh":
            self._fonts["cjk"] = pymupdf.Font("cjk")

    def font(self, face: str, text: str) -> pymupdf.Font:
        """Return the font that draws `text`: Chinese characters have their own."""
        return self._fonts["cjk" if CJK.match(text) else face]

    def width(self, text: str, face: str, size: float) -> float:
        """Return the advance of `text` in points."""
        key = text, face, size
        if key not in self._widths:
            self._widths[key] = float(self.font(face, text).text_length(text, size))
        return self._widths[key]


def split_pieces(text: str, style: Style, fonts: Fonts) -> list[Piece]:
    """Return the words of `text`, or its characters where they are Chinese."""
    pieces: list[Piece] = []
    face = style.face
    space = fonts.width(" ", face, style.size)
    items = (_CHINESE_PIECE if fonts.language == "zh" else _WORD).findall(text)
    gap = 0.0
    for item in items:
        if item in {" ", "\u3000"}:
            gap = space if item == " " else style.size
            continue
        if item.startswith("*"):
            face = "italic"
        closes = item.rstrip(",.").endswith("*")
        word = item.replace("*", "")
        pieces.append(Piece(word, face, fonts.width(word, face, style.size), gap))
        face = style.face if closes else face
        gap = 0.0 if fonts.language == "zh" else space
    return pieces


def hyphenate(piece: Piece, room: float, style: Style, fonts: Fonts) -> tuple[Piece, Piece] | None:
    """Return the two parts of a word of which the first fits into `room`, hyphen included."""
    match = _EDGES.match(piece.text)
    if match is None or match[2] not in BREAKS:
        return None
    syllables = BREAKS[match[2]]
    for count in range(len(syllables) - 1, 0, -1):
        head = match[1] + "".join(syllables[:count]) + "-"
        width = fonts.width(head, piece.face, style.size)
        if piece.gap + width <= room:
            tail = "".join(syllables[count:]) + match[3]
            return (
                Piece(head, piece.face, width, piece.gap),
                Piece(tail, piece.face, fonts.width(tail, piece.face, style.size), 0.0),
            )
    return None


def break_lines(text: str, style: Style, width: float, fonts: Fonts) -> list[Line]:
    """Return `text` as lines of at most `width`, filled greedily."""
    waiting = split_pieces(text, style, fonts)[::-1]
    lines: list[Line] = []
    while waiting:
        offset = style.hanging if lines else style.indent
        room, pieces = width - offset, list[Piece]()
        while waiting:
            piece = waiting[-1]
            gap = piece.gap if pieces else 0.0
            if gap + piece.width <= room or not pieces:
                pieces.append(Piece(piece.text, piece.face, piece.width, gap))
                room -= gap + piece.width
                waiting.pop()
                continue
            parts = hyphenate(piece, room, style, fonts) if style.justified else None
            if parts is not None:
                pieces.append(parts[0])
                waiting[-1] = parts[1]
                room -= parts[0].gap + parts[0].width
            break
        while fonts.language == "zh" and waiting and _must_not_break(pieces[-1], waiting[-1]):
            waiting.append(pieces.pop())
        lines.append(Line(pieces, style, offset, is_last=not waiting))
    for line in lines:
        line.extra = _spread(line, width - line.offset, fonts)
    return lines


def _must_not_break(last: Piece, following: Piece) -> bool:
    return following.text[0] in NOT_FIRST or last.text[-1] in NOT_LAST


def _spread(line: Line, width: float, fonts: Fonts) -> list[float]:
    """Return what each piece is moved right, so that a justified line ends at the margin."""
    count = len(line.pieces)
    slack = width - sum(piece.gap + piece.width for piece in line.pieces)
    if line.style.centred:
        return [slack / 2, *[0.0] * (count - 1)]
    if line.is_last or not line.style.justified or count < 2:
        return [0.0] * count
    share = slack / (count - 1)
    if fonts.language == "zh" and share > WIDEST_CHINESE_GAP:
        return [0.0] * count
    return [0.0, *[share] * (count - 1)]


def split_runs(text: str) -> Iterator[str]:
    """Yield the parts of `text` that one font can draw."""
    run = ""
    for character in text:
        if run and bool(CJK.match(character)) != bool(CJK.match(run[0])):
            yield run
            run = ""
        run += character
    if run:
        yield run
