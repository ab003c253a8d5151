"""Numbers as office files hold them, and as lists print them."""

from collections.abc import Callable

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
