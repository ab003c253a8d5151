"""Characters of symbol fonts as Unicode."""

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
