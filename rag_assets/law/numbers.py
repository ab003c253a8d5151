"""Numbers of articles: 三百零五, 305, ３０５ and, digit by digit, 三〇五."""

import unicodedata

NUMBER = r"[〇零一二两三四五六七八九十百千\d]{1,10}"
_DIGITS = "零一二三四五六七八九"
_UNITS = {"十": 10, "百": 100, "千": 1000}
_LARGEST = 9999


def read_number(text: str) -> int:
    """Return the value of a number that `NUMBER` matches."""
    value, digits = 0, ""
    for character in unicodedata.normalize("NFKC", text).replace("〇", "零").replace("两", "二"):
        if character in _UNITS:
            value += int(digits or 1) * _UNITS[character]
            digits = ""
        else:
            digits += character if character.isdecimal() else str(_DIGITS.index(character))
    return value + int(digits or 0)


def write_number(value: int) -> str:
    """Return 1234 as statutes write it, 一千二百三十四; beyond 1 to 9999 in digits."""
    if not 0 < value <= _LARGEST:
        return str(value)
    shown, is_gap = "", False
    for character, size in reversed(_UNITS.items()):
        digit, value = divmod(value, size)
        if digit:
            shown += ("零" if is_gap else "") + _DIGITS[digit] + character
        is_gap = bool(shown) and not digit
    if value:
        shown += ("零" if is_gap else "") + _DIGITS[value]
    return shown.removeprefix("一") if shown.startswith("一十") else shown
