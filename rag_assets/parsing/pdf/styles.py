"""Fonts of a PDF's text: which one its sentences are set in, and what stands out from it."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from rag_assets.parsing.pdf.lines import Line, Page

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
