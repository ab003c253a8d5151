"""Numbers with their units, in English and Chinese, as values that can be compared."""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from rag_assets.judging.words import AT_LEAST, AT_MOST, LESS, MORE, fold, read_words, trend_of

# Numerals as English and Chinese write them: 1,000, .05, 3½, two hundred and five, 三分之二.

# What has more places counts or measures nothing: it is an identifier.
_MOST_PLACES = 60
# As shares are spoken: of “4 in 19” nobody says that it is one.
_SPOKEN = frozenset({2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 20, 100, 1000, 10_000, 100_000})


def _numbered(words: str, first: int, step: int) -> dict[str, float]:
    return {word: float(first + step * place) for place, word in enumerate(words.split())}


_ONES = _numbered("zero one two three four five six seven eight nine", 0, 1)
_TEENS = _numbered(
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen", 10, 1
)
_TENS = _numbered("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10)
_VALUES = _ONES | _TEENS | _TENS
_PARTS = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourth": 4,
    "fourths": 4, "fifth": 5, "fifths": 5, "sixth": 6, "sixths": 6, "seventh": 7, "sevenths": 7,
    "eighth": 8, "eighths": 8, "ninth": 9, "ninths": 9, "tenth": 10, "tenths": 10,
}  # fmt: skip
_VULGAR = {"½": 1 / 2, "⅓": 1 / 3, "⅔": 2 / 3, "¼": 1 / 4, "¾": 3 / 4, "⅕": 1 / 5, "⅛": 1 / 8}
_HAN_VALUES = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}


def _any(words: Iterable[str]) -> str:
    return "(?:" + "|".join(sorted(words, key=lambda word: (-len(word), word))) + ")"


_SMALL = rf"(?:{_any(_TENS)}(?:[\s-]{_any(_ONES)})?|{_any(_TEENS)}|{_any(_ONES)})"
_HUNDREDS = rf"(?:(?:{_SMALL}[\s-])?hundred(?:\s(?:and\s)?{_SMALL})?|{_SMALL})"
_CARDINAL = rf"(?:(?:{_HUNDREDS}[\s-])?thousand(?:,?\s(?:and\s)?{_HUNDREDS})?|{_HUNDREDS})"
_PART = _any(_PARTS)
# 1,234.5 and 1.234,5 and 1'234; 1 234 567, before a word alone: cells of a table look alike, and
# so does a name before a number (tray u46 338);
# 12,5 and 0,450, but no list (1,2,3) and no place of an atom (1,2-).
_DIGITS = (
    r"(?:\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}(?![\d.])"
    r"|\d{1,3}(?:['’]\d{3})+(?:[.,]\d+)?"
    r"|\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,]*\d)"
    r"|(?<!\d )(?<![a-z])\d{1,3}(?: \d{3})+(?:[.,]\d+)?(?=\s?[a-z%°$€£¥]|[.;)](?:\s|$))"
    r"|\d{1,3}(?: 000)+(?!\d)"
    r"|(?<!\d,)(?:0,\d+|\d+,\d{1,2})(?![\d,]|-[a-z])"
    r"|\d+(?:[.·]\d+)?|(?<![\d.])\.\d+)"
)
_COUNTED_BY = "(?:dozen|million|billion|trillion)"
_HAN = "零〇一二两三四五六七八九十百千"
# Without what is counted or measured, a character is more often part of a word: 三峡, 十分.
_HAN_COUNTED = (
    "(?=[万亿个名人次年月日天岁倍成位家项种篇条元点克吨米斤里秒时周度升亩户件台辆艘头座层届款章节例"
    "份组套张页棵株余多]|小时|分钟|公[里斤顷]|[毫厘千][克米升]|平方|立方|[美欧日港]元|英镑)"
)
# 几千 and 上千 name no number; in 三千元以上五千元以下 a new one begins.
_COUNT_BEGINS = "(?:(?<![几数上])|(?<=以上)|(?<=上)(?=[一二两三四五六七八九]))"
_DIGIT_BEFORE = re.compile(r"\d[\s-]$")
# 1 234 567, set with blanks that break no line.
_THIN = re.compile(r"(?<=\d)[\u00a0\u2007\u2009\u202f](?=\d{3}(?!\d))")
# 25，48 are two numbers: no decimals stand behind the comma of a Chinese list.
_HAN_LIST = re.compile(r"(?<=\d)，(?=\d{1,2}(?!\d))")
_TIMES = r"(?:\\,|\s)*(?:[×x·*]|\\times|\\cdot)(?:\\,|\s)*"
# A text layer that lost the raising has 2.3 × 105 for 2.3 × 10⁵.
_POWER = rf"{_TIMES}1(?:0\s?(?:\^\s?\{{?|(?=[-−\d]))|e)(?P<exponent>[-−]?\d+)\}}?"
_SPAN = "(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|decades?|percent|million|billion)"


# What is measured by one; what is counted is more often meant as “a”.
_ONE_OF = re.compile(
    "年|个月|[日天](?!常|益|子|空|气|然)|个?小时|周岁|分钟|倍|[万亿]?元|公[里斤顷]|吨|个百分点"
)


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number as it is written, before its scale and unit.

    Args:
        value: without scale and unit; of 百分之 and 千分之 in percent.
        step: of the last written place.
        is_word: written in words, or as a fraction, which is rounded more often than not.
        is_share: its unit is percent: 百分之五, 半数, 九成八.
        is_ordinal: 第三; it answers no cardinal.
        end: where scale and unit may stand.
    """

    value: float
    step: float
    is_word: bool
    is_share: bool
    is_ordinal: bool
    start: int
    end: int


_Read = tuple[float, float] | None
_NO_NUMBER = (math.nan, math.nan)


def read_numerals(text: str) -> list[Numeral]:
    """Return the numerals of a text in their order; digits inside a name are left out."""
    folded = _with_powers(text)
    found: list[Numeral] = []
    taken = bytearray(len(folded))
    for pattern, read, is_word, is_share in _FORMS:
        for match in pattern.finditer(folded):
            start, end = match.span()
            if any(taken[start:end]):
                continue
            result = read(match)
            if result is None:
                continue
            taken[start:end] = b"\1" * (end - start)
            if result is _NO_NUMBER:
                continue
            is_ordinal = folded[start] == "第" or folded.endswith("第", 0, start)
            found.append(Numeral(*result, is_word, is_share, is_ordinal, start, end))
    return sorted(found, key=lambda numeral: numeral.start)


def _with_powers(text: str) -> str:
    """Return `text` folded, with 10⁵ as 1e5; other raised digits are marks of notes."""

    def raised(match: re.Match[str]) -> str:
        power = fold(match[2])
        return f"1e{power}" if match[1] == "10" else match[1] + " " * len(power)

    # A power's sign and digits are folded one by one, so that every place stays what it was.
    text = _HAN_LIST.sub("；", _THIN.sub("'", text))
    return fold(re.sub(r"(?<![\d.,])(\d+)([⁻⁰¹²³⁴-⁹]+)", raised, text))


def _digits(match: re.Match[str]) -> _Read:
    written = _plain(match["number"])
    exponent = int((match.groupdict().get("exponent") or "0").replace("−", "-")[:_MOST_PLACES])
    if max(len(written), abs(exponent)) > _MOST_PLACES:
        return _NO_NUMBER
    if match.string.endswith("零下", 0, match.start()):
        written = f"-{written}"
    step = 10.0 ** -len(written.partition(".")[2])
    return float(written) * 10.0**exponent, step * 10.0**exponent


def _plain(number: str) -> str:
    """Return a number as Python writes it: the last of two marks is that of decimals."""
    number = number.replace("−", "-").replace("·", ".")
    number = re.sub("[ '’]", "", number)
    if "," not in number:
        return number.replace(".", "") if number.count(".") > 1 else number
    if "." in number and number.rindex(",") > number.rindex("."):
        return number.replace(".", "").replace(",", ".")
    groups = number.lstrip("-").split(",")
    is_thousands = len(groups) > 1 and all(len(g.split(".")[0]) == 3 for g in groups[1:])
    if "." in number or (is_thousands and groups[0] != "0"):
        return number.replace(",", "")
    return number.replace(",", ".")


def _power_of_ten(match: re.Match[str]) -> _Read:
    exponent = int(match["exponent"].replace("−", "-"))
    if abs(exponent) > _MOST_PLACES:
        return _NO_NUMBER
    places = len((match["mantissa"] or "").partition(".")[2])
    return float(match["mantissa"] or 1) * 10.0**exponent, 10.0 ** (exponent - places)


def _vulgar(match: re.Match[str]) -> _Read:
    return float(match["whole"] or 0) + _VULGAR[match["part"]], 1.0


def _slashed(match: re.Match[str]) -> _Read:
    top, bottom = float(match["top"]), float(match["bottom"])
    return (top / bottom, 1.0) if top < bottom else None


def _one_in(match: re.Match[str]) -> _Read:
    top, bottom = (_either(match[name].replace(",", "")) for name in ("top", "bottom"))
    if top is None or bottom is None or not 0 < top < bottom or bottom not in _SPOKEN:
        return None
    # “12 out of 20” gives both numbers.
    return (top / bottom, 1.0) if top == 1 or match["top"].isalpha() else None


def _either(text: str) -> float | None:
    return float(text) if text.isdigit() else read_number_words(text)


def _fraction(match: re.Match[str]) -> _Read:
    top = read_number_words(match["top"] or "one")
    return None if top is None else (top / _PARTS[match["part"]], 1.0)


def _and_part(match: re.Match[str]) -> _Read:
    whole = _either(match["whole"])
    parts = 3 if match["three"] else 1
    return None if whole is None else (whole + parts / _PARTS[match["part"]], 1.0)


def _cardinal(match: re.Match[str]) -> _Read:
    words = match["words"]
    if words == "one" and not re.match(rf"\s{_COUNTED_BY}|fold", match.string[match.end() :]):
        return None  # more often a pronoun
    if words.startswith(("hundred", "thousand")) and _DIGIT_BEFORE.search(
        match.string, 0, match.start()
    ):
        return None  # the scale of that number
    value = read_number_words(words)
    return None if value is None else (value, 1.0)


def _constant(value: float) -> Callable[[re.Match[str]], _Read]:
    return lambda _: (value, 1.0)


def _han(match: re.Match[str]) -> _Read:
    # 一种, 一个: an article more often than a number; 一年, 第一 is one.
    is_article = match["han"] == "一" and not (
        match.group().startswith("第") or _ONE_OF.match(match.string, match.end())
    )
    value = None if is_article else read_han_number(match["han"])
    return None if value is None else (-value if match["minus"] else value, 1.0)


def _han_tenths(match: re.Match[str]) -> _Read:
    whole, part = _HAN_VALUES[match["whole"]], match["part"]
    rest = 5 if part == "半" else _HAN_VALUES[part] if part else 0
    return 10.0 * whole + rest, 1.0


def _han_share(factor: float) -> Callable[[re.Match[str]], _Read]:
    def read(match: re.Match[str]) -> _Read:
        value = read_han_number(match["han"])
        return None if value is None else (value * factor, factor)

    return read


def _han_fraction(match: re.Match[str]) -> _Read:
    top, bottom = (read_han_number(match[name]) for name in ("top", "bottom"))
    return (top / bottom, 1.0) if top and bottom and top < bottom else None


def _han_and_half(match: re.Match[str]) -> _Read:
    value = read_han_number(match["han"])
    return None if value is None else (value + 0.5, 1.0)


def _clock(match: re.Match[str]) -> _Read:
    return int(match["hour"]) + int(match["minute"]) / 60, 1 / 60


# The first form that takes a character has it; the longer ones stand first.
_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], _Read], bool, bool], ...] = (
    (re.compile(r"(?<![\d:.])(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?![\d:])"), _clock,
     False, False),
    (re.compile(rf"(?P<number>(?<![\w.%)\]–−-])[-−]{_DIGITS}|(?<![\d.]){_DIGITS})(?P<power>{_POWER})"),
     _digits, False, False),
    (re.compile(rf"百分之(?P<han>[\d.]+|[{_HAN}]+(?:点[{_HAN}]+)?)"), _han_share(1), True, True),
    (re.compile(rf"千分之(?P<han>[\d.]+|[{_HAN}]+(?:点[{_HAN}]+)?)"), _han_share(0.1), True, True),
    (re.compile(rf"(?<!十)万分之(?P<han>[\d.]+|[{_HAN}]+(?:点[{_HAN}]+)?)"), _han_share(0.01),
     True, True),
    (re.compile(rf"十万分之(?P<han>[\d.]+|[{_HAN}]+(?:点[{_HAN}]+)?)"), _han_share(0.001),
     True, True),
    (re.compile(rf"(?P<bottom>[{_HAN}]+)分之(?P<top>[{_HAN}]+)"), _han_fraction, True, False),
    (re.compile("(?P<whole>[一二两三四五六七八九])成(?P<part>[一二三四五六七八九半])?(?![功员果本立为长熟份分就不])"),
     _han_tenths, True, True),
    (re.compile("一半|半数"), _constant(50), True, True),
    (re.compile(rf"(?<![\d.几数第])(?P<han>\d+|[{_HAN}]+)(?=个?(?:年|小时|月|天)半)"),
     _han_and_half, True, False),
    (re.compile("半(?=年|个?小时|个月|天)"), _constant(0.5), True, False),
    (re.compile(rf"(?P<minus>零下)?{_COUNT_BEGINS}第?(?P<han>[{_HAN}]+(?:亿[{_HAN}]+万[{_HAN}]*"
                rf"|[万亿][{_HAN}]+)){_HAN_COUNTED}"), _han, True, False),
    (re.compile(rf"(?P<minus>零下)?{_COUNT_BEGINS}第?(?P<han>[{_HAN}]+(?:点[{_HAN}]+)?){_HAN_COUNTED}"),
     _han, True, False),
    # Nor does a longer one need it: 由五百增至一千二百.
    (re.compile(rf"(?<![几数上{_HAN}])(?P<minus>)第?(?P<han>[一二两三四五六七八九][百千十][{_HAN}]*)"
                r"(?![几多余来年月日个万亿分])"), _han, True, False),
    (re.compile(r"(?<![\w.])(?P<whole>\d{1,3})?\s?(?P<part>[½⅓⅔¼¾⅕⅛])"), _vulgar, True, False),
    (re.compile(r"(?<![\w/.])(?P<top>[1-9])/(?P<bottom>[2-9]|10)(?=\sof\b)"),
     _slashed, True, False),
    (re.compile(rf"(?<![\w.%$)-])(?P<top>{_SMALL}|\d{{1,2}})\s(?:in|out\sof)\s(?:every\s)?"
                rf"(?P<bottom>{_SMALL}|\d{{1,3}}(?:,000)?|\d{{4,6}})(?![\w%-]|\.\d|\s{_SPAN}\b)"),
     _one_in, True, False),
    (re.compile(rf"(?<![\w.])(?P<whole>{_CARDINAL}|\d+)\sand\s(?:an?\s|one\s|(?P<three>three)\s)"
                rf"(?P<part>half|third|quarters?)(?![\w-])"), _and_part, True, False),
    (re.compile(rf"(?<![a-z])(?P<top>{_CARDINAL})[\s-](?P<part>{_PART})(?![\w-])"),
     _fraction, True, False),
    (re.compile(rf"(?<![a-z])(?P<top>)an?\s(?P<part>{_PART})(?=\sof\b)"), _fraction, True, False),
    (re.compile(rf"(?<=\bby\s)(?P<top>)an?\s(?P<part>{_PART})(?![\w-])"), _fraction, True, False),
    (re.compile(r"(?<![a-z])(?<!and a )half\san?\s(?=[a-z])"), _constant(0.5), True, False),
    (re.compile(r"(?<![a-z])(?<!and a )half(?![a-z])"
                r"(?!-(?!hour|day|year|century|million|billion))"),
     _constant(0.5), True, False),
    (re.compile(rf"(?<![a-z])an?\s(?={_COUNTED_BY}(?![a-z]))"), _constant(1), True, False),
    (re.compile(rf"(?<![a-z])(?P<words>{_CARDINAL})(?![a-z])"), _cardinal, True, False),
    (re.compile(rf"(?<![a-z])(?P<words>{_CARDINAL})(?=fold\b)"), _cardinal, True, False),
    (re.compile(r"(?<![\w.])(?P<mantissa>\d+(?:\.\d+)?)e(?P<exponent>[-−]?\d{1,3})(?!\w)"),
     _power_of_ten, False, False),
    (re.compile(r"(?<![\w.,])(?P<mantissa>)10(?:\s?\^\s?\{?|(?=−))(?P<exponent>[-−]?\d{1,3})\}?(?!\w)"),
     _power_of_ten, False, False),
    (re.compile(rf"(?P<number>(?<![\w.%)\]–−-])[-−]{_DIGITS}|(?<![\d.]){_DIGITS})(?P<power>)"),
     _digits, False, False),
)  # fmt: skip


def read_han_number(text: str) -> float | None:
    """Return the value of Chinese numerals (三十五, 二〇一九) or of digits; None of others."""
    if re.fullmatch(r"[\d.]+", text):
        return float(text) if text.count(".") <= 1 and text != "." else None
    for scale, factor in (("亿", 1e8), ("万", 1e4)):
        more, is_more, rest = text.partition(scale)
        if is_more:
            high, low = read_han_number(more), read_han_number(rest) if rest else 0.0
            return None if high is None or low is None else high * factor + low
    whole, _, part = text.partition("点")
    if not any(c in "十百千" for c in whole):
        digits = [_HAN_VALUES[c] for c in whole if c in _HAN_VALUES]
        value = float("".join(map(str, digits))) if digits else 0.0
    else:
        value, digit = 0.0, 0
        for c in whole:
            if c in _HAN_VALUES:
                digit = _HAN_VALUES[c]
            else:
                value += (digit or 1) * {"十": 10, "百": 100, "千": 1000}[c]
                digit = 0
        value += digit
    decimals = "".join(str(_HAN_VALUES[c]) for c in part if c in _HAN_VALUES)
    return value + (float(f"0.{decimals}") if decimals else 0.0)


def read_number_words(text: str) -> float | None:
    """Return the value of an English cardinal (twenty-five, two hundred); None of others."""
    total, below = 0.0, 0.0
    words = [word for word in re.split(r"[\s,-]+", text) if word and word != "and"]
    for word in words:
        if word in _VALUES:
            below += _VALUES[word]
        elif word == "hundred":
            below = (below or 1) * 100
        elif word == "thousand":
            total, below = total + (below or 1) * 1000, 0.0
        else:
            return None
    return total + below if words else None


# Units of measure, scales and number words, in English and Chinese.

_SI_PREFIXES = {
    "f": 1e-15, "p": 1e-12, "n": 1e-9, "u": 1e-6, "μ": 1e-6, "m": 1e-3, "c": 1e-2, "d": 1e-1,
    "h": 1e2, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15,
}  # fmt: skip
_PREFIX_WORDS = {
    "f": ("femto", "飞"), "p": ("pico", "皮"), "n": ("nano", "纳"), "μ": ("micro", "微"),
    "m": ("milli", "毫"), "c": ("centi", "厘"), "d": ("deci", "分"), "k": ("kilo", "千"),
    "M": ("mega", "兆"), "G": ("giga", "吉"), "T": ("tera", "太"),
}  # fmt: skip
_SCALES = {
    "dozen": 12.0, "hundred": 100.0,
    "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "mn": 1e6, "bn": 1e9,
    "千": 1e3, "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "万亿": 1e12,
}  # fmt: skip


_SCALE = re.compile(
    r"[\s-]?(?P<scale>" + "|".join(sorted(_SCALES, key=len, reverse=True)) + r")(?![a-z])"
)
# 100k, $5M, 175B parameters; the letters are units, too.
_SUFFIXES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_SUFFIX = re.compile(r"[kmbt](?![a-z0-9])")
_COUNTED = re.compile(
    r"\s(?!(?:under|for|and|in|at|with|to|by|from|on|of|over)\b)(?:[a-z-]+\s){0,2}[a-z-]{3,}s\b"
)
# So many metres or moles a litre are not written with a capital.
_MILLIONS = 20


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit.

    Args:
        name: as a reader would write it.
        kind: what it measures; two of a kind can be converted. Empty: not known.
        factor: of one unit in the base unit of its kind.
        per: of a unit by another (mg/kg) the factor of the other; its kind is “mass per mass”.
    """

    name: str
    kind: str
    factor: float
    per: float = 1.0


def _currencies() -> dict[str, Unit]:
    table = {
        "dollars": "$ us$ usd", "euros": "€ eur", "sterling": "£ gbp", "yuan": "¥ rmb cny",
        "yen": "jpy", "hong kong dollars": "hk$ hkd", "australian dollars": "a$ au$ aud",
        "canadian dollars": "c$ ca$ cad", "new zealand dollars": "nz$ nzd",
        "singapore dollars": "s$ sgd", "taiwan dollars": "nt$ twd", "reais": "r$ brl",
        "rupees": "₹ inr", "francs": "chf", "won": "₩ krw",
    }  # fmt: skip
    return {sign: Unit(kind, kind, 1) for kind, signs in table.items() for sign in signs.split()}


# Before a number.
CURRENCIES = _currencies()
# Beside a number these letters are more often a word or a name than a unit.
_NO_UNITS = frozenset({"a", "s", "x", "A", "B", "S"})
_ONE_SIGN = str.maketrans({"\N{MICRO SIGN}": "μ", "\N{OHM SIGN}": "Ω"})
# Of a word or name: Gram-positive, 4J27.
_NO_PART = r"(?![A-Za-z\d]|-(?:positive|negative)|(?<=升)[到至高])"
_BEFORE_A_UNIT = r"(?P<gap>\\[,;: ]|[\s~-]|\\)?"


@lru_cache(maxsize=1)
def _units() -> tuple[dict[str, tuple[str, float]], dict[str, tuple[str, float]]]:
    """Return kind and factor of symbols as they are written, and of names in any letters."""
    words = read_words()
    symbols: dict[str, tuple[str, float]] = {}
    names: dict[str, tuple[str, float]] = {}
    for row in words["units"]:
        for name in row["names"].split():
            names[name.replace("-", " ")] = names[name] = (row["kind"], float(row["factor"]))
    for row in words["symbols"]:
        for prefix in ("", *row["prefixes"].split()):
            unit = row["kind"], _SI_PREFIXES.get(prefix, 1.0)
            symbols[prefix + row["symbol"]] = unit
            # MG is a mg; of mw the likelier stands first in the file. A small b is a mark.
            if prefix or len(row["symbol"]) > 1:
                names.setdefault((prefix + row["symbol"]).casefold(), unit)
            latin, han = _PREFIX_WORDS.get(prefix, ("", ""))
            if latin or not prefix:
                for word in row.get("en", "").split():
                    names.setdefault(latin + word, unit)
                    names.setdefault(f"{latin}{word}s", unit)
                for word in row.get("zh", "").split():
                    names.setdefault(han + word, unit)
    return symbols, names


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return what finds a symbol behind a number, a name, and a Chinese name before others."""
    symbols, names = (sorted(each, key=lambda name: (-len(name), name)) for each in _units())
    han = "|".join(re.escape(name) for name in names if not name.isascii())
    # A unit by another: mg/kg, mmol l-1, m s⁻¹. The second part names the kind, and must be equal.
    inverse = r"(?:\^?\{?[-−]1\}?|⁻¹)"
    by_another = (
        r"(?:(?P<per>\s?/\s?|\sper\s|每|\san?\s(?=(?:hour|day|week|month|year)\b)"
        rf"|[\s·⋅]?(?=[A-Za-z]{{1,3}}{inverse}))"
        rf"(?P<other>[A-Za-zμΩ]{{1,12}}[23²³]?|{han}){inverse}?)?"
    )
    # m2 and m^2 are one.
    listed = (
        "|".join(re.sub(r"([23])$", r"\\^?\1", re.escape(name)) for name in each)
        for each in (symbols, names)
    )
    either = (rf"{_BEFORE_A_UNIT}(?P<unit>{one}){by_another}{_NO_PART}" for one in listed)
    symbol, name = map(re.compile, either)
    return symbol, name, re.compile(rf"\s?(?P<unit>{han})(?!(?<=升)[到至高])")


def read_scale(
    text: str, folded: str, at: int, value: float, *, is_money: bool
) -> tuple[float, int]:
    """Return what a number is multiplied by (million, 万, k) and where that ends; 1 for nothing.

    Args:
        folded: `text` in lower case.
        at: where the number ends.
    """
    match = _SCALE.match(folded, at)
    if match:
        return _SCALES[match["scale"]], match.end()
    if not _SUFFIX.match(folded, at):
        return 1.0, at
    letter, is_small = folded[at], text[at].islower()
    is_counted = not is_small and bool(_COUNTED.match(folded, at + 1))
    is_many = text[at] == "M" and value >= _MILLIONS
    if is_money or is_counted or is_many or text[at] == "k":
        return _SUFFIXES[letter], at + 1
    return 1.0, at


def read_unit(text: str, folded: str, at: int) -> tuple[Unit | None, int]:
    """Return the unit that stands at an offset and where it ends.

    Args:
        folded: `text` in lower case; as it is written mM is no mm, and MW no mW.
    """
    symbol, name, han = _patterns()
    written = symbol.match(text.translate(_ONE_SIGN), at)
    match = name.match(folded, at) or han.match(folded, at)
    if written and (match is None or written.end("unit") >= match.end("unit")):
        match = written
    if match is None:
        return None, at
    groups = match.groupdict()
    found, other = match["unit"], groups.get("other")
    per = find_unit(other) if other else None
    if found in _NO_UNITS and groups.get("gap") and per is None:
        return None, at
    base = find_unit(found.replace("^", ""))
    if base is None:
        raise AssertionError(f"{found} is listed")
    if per is None:
        # "45 mg per sample" is 45 mg.
        return base, match.end("unit")
    kind, factor = f"{base.kind} per {per.kind}", base.factor / per.factor
    if kind == "amount per volume":
        kind = "molar"
    return Unit(match.group().strip("-~\\,;: "), kind, factor, per.factor), match.end()


def find_unit(name: str) -> Unit | None:
    """Return the unit of a name or symbol; None where there is none."""
    symbols, names = _units()
    found = symbols.get(name) or names.get(name.casefold())
    return None if found is None else Unit(name, *found)


# Numbers with their units, in English and Chinese, as values that can be compared.

_KEPT_TEXTS = 20_000
NEAR = 30  # characters before a number in which "no more than about" is looked for
_CLAUSE = 60  # and those in which “rose … to” is
_NEAR_P = 32
_EXACT_AGE = 120
# Below, 三年 is a time; above, 98日 is one.
_FIRST_YEAR = 1000
_LAST_DAY = 31

# 第二十条第（二）项, 第三章: where it stands, and nothing that it says.
_ADDRESS = re.compile(
    "第[零〇一二两三四五六七八九十百千\\d]+[条款项章节编目](?:之[一二三四五六七八九十]+)?"
    "|第?[（(][一二三四五六七八九十\\d]+[)）]项?"
)
# [12], [3, 7-9]: a citation, no number of the sentence.
_MARK = re.compile(r"\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]")
# 12%^6–8, m^2: the marks of notes and the powers of units; of 10^5 the number begins before.
_RAISED = re.compile(r"\^\{?[-−+]?\d+(?:\s?[,–-]\s?\d+)*\}?")
_BEFORE_NAME = re.compile(r"[a-z]\d*[-_/]?$")
_CURRENCY = re.compile(
    rf"(?<![a-z])(?:{'|'.join(sorted(map(re.escape, CURRENCIES), key=len, reverse=True))})\s?$"
)
# $10^6$ is no sum of money.
_FORMULA = re.compile(r"[^\s$]{0,12}\$")
_IS_LATIN = re.compile(r"[a-z]")
_DECADE = re.compile(r"['’]?s(?![a-z])")
_AGED = re.compile(r"\b(?:aged?|ages)(?:\s\w+){0,2}\s?$")
_NAMED = re.compile(
    r"\b(?P<what>day|week|grade|stage|phase|step|level|order)s?\s(?:\d+\s(?:and|or|to)\s)?$"
)
_PH = re.compile(r"\bph\b[^.;,]{0,25}$")
_P = re.compile(
    r"(?<![a-z])p(?:[\s-]?values?)?(?:\s(?:was|were|is|are|of|at))*\s?"
    r"(?:[=<>≤≥]|(?:less|greater|smaller|larger|lower|higher) than|below|above|under|over)?\s?$"
)
_FACTOR = re.compile(r"\bfactor of\s$")
_ROUGHLY = r"(?:about|approximately|around|roughly|some|[~≈约])"
_ABOUT = re.compile(
    r"(about|around|approximately|roughly|nearly|almost|some|~|≈|c\.|circa|约|大约|近|将近|大概)[占为达有]?\s*$"
)
_AFTER_AT_LEAST = re.compile(
    r"\s?((?:or|and)\s(?:more|above|over|greater|higher|longer|older|later)|以上|多|余|\+)"
)
_AFTER_AT_MOST = re.compile(
    r"\s?((?:or|and)\s(?:less|fewer|below|under|lower|shorter|younger|earlier)"
    r"|以下|[以之]?内(?![容部科蒙心]))"
)
# “Given over 27 days” says how long; “for over a year” is a limit.
_DURING = re.compile(r"(?<!\bfor\s)(?<!\blittle\s)(?<!\bjust\s)(?<!\bwell\s)\bover\s$")
_SINCE = re.compile(r"\b(?:after|since)\s*$")
_UNTIL = re.compile(r"\b(?:before|until)\s*$")
# By how much something changed or differs, to what, and of what a share is one.
_BY = re.compile(
    rf"(?:\bby|\b(?:increase|decrease|reduction|rise|drop|decline|fall|gain|growth)\sof)\s"
    rf"(?:an?\s|only\s|average\sof\s|as\s\w+\sas\s|{_ROUGHLY}\s|(?:at\sleast|at\smost|{MORE}\sthan|up\sto)\s)*$"
    r"|(?:提高|增加|增长|上升|下降|降低|减少|缩短|延长|升高|上涨|下跌|[高低多少])[了出]?[近约]?\s?$"
)
_AFTER_BY = re.compile(
    rf"\s(?:{MORE}|{LESS}|faster|slower|better|worse|warmer|cooler|heavier|lighter|apart|increase|decrease|reduction|rise|drop|decline)\b"
)
_CHANGED = (
    r"(?:rose|rises?|rising|risen|f[ae]ll\w*|grew|grows?|grown|increas\w+|decreas\w+|declin\w+|"
    r"dropp?\w*|reduc\w+|rais\w+|lower\w*|climb\w+|improv\w+|went|up|down)"
)
_LEVEL = re.compile(
    rf"\b{_CHANGED}\b[^.;,]*\b(?:to|from)\s(?:{_ROUGHLY}\s)?$"
    r"|(?:提高|增加|增长|上升|下降|降低|减少|上涨|下跌|[升增降减])[到至为]了?[近约]?$"
)
_AFTER_LEVEL = re.compile(r"(?:\s?±\s?[\d.]+)?\sof\b")
_CLAUSE_END = re.compile(r"[.;,:()，。；：（）]\s?")
_IS_SPAN = re.compile("(?:以上|以下|[以之]?内|届满|期满|之?[后前]|的|起|拘留|行政)")
_ODD_HAN = re.compile("[多余](?=[万亿个名人次年月天岁倍家项种篇元克吨米斤公小平立])")
# “5–10 mg”, “3.4 ± 0.2 mg”, “5, 7 and 9 mg”: the unit stands once for all.
_RANGE = re.compile(r"\s?[-–—~～至到]{1,3}\s?|\sto\s")
_LISTED = re.compile(
    r"\s?(?:±|\+/-|\\pm)\s?|,\s|[、/]|,?\s(?:and|or|versus|vs\.?)\s|\s?[和与及或]\s?"
)
_AGE = Unit("years old", "age", 1)
_SHARE = Unit("%", "share", 1)
_ORDINAL = Unit("第", "ordinal", 1)
_P_VALUE = Unit("p", "p value", 1)
_PH_VALUE = Unit("pH", "pH", 1)
_FRACTION = Unit("", "share", 1)
TIMES = Unit("times", "times", 1)
# “Two and three times” may be two of something else.
_UNSHARED = frozenset({"persons", "occasions", "times", "ordinal", "p value", "pH", "month"})
_DAYS = frozenset({"日", "号"})
_YEARS = frozenset({"year", "years", "yr", "yrs"})


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it stands in a text.

    Args:
        value: in the base unit of its kind (grams, metres, seconds, months …).
        raw: as written, before scale and unit.
        unit: what it counts; an empty name where that is not known.
        step: of the last written place, in the same unit: 0.1 for 44.8.
        bound: 1 for "more than", -1 for "less than", 0 for the number itself.
        is_about: whether the text says that it is rounded.
        is_word: written as an English or Chinese word, or as a fraction.
        role: “by” (rose by 5), “level” (rose to 5, 5 % of), or empty where neither is said.
        trend: 1 for what rose or is higher by it, -1 for what fell, 0 where that is not said.
        text: as it stands, with its bound and unit.
    """

    value: float
    raw: float
    unit: Unit
    step: float
    bound: int
    is_about: bool
    is_word: bool
    text: str
    start: int
    end: int
    role: Literal["", "by", "level"] = ""
    trend: int = 0


@lru_cache(maxsize=_KEPT_TEXTS)
def read_quantities(text: str) -> tuple[Quantity, ...]:
    """Return the numbers of a text in their order.

    Digits inside a name (`COVID-19`, `TiO2`, `p53`) are part of the name and left out, and so are
    citation marks (`[12]`) and raised numbers.
    """
    folded = fold(text)
    marks = [match.span() for p in (_MARK, _RAISED, _ADDRESS) for match in p.finditer(folded)]
    found: list[Quantity] = []
    for numeral in read_numerals(text):
        if any(start <= numeral.start < end for start, end in marks):
            continue
        if found and numeral.start < found[-1].end:
            continue  # part of a unit: m/s2, 百分点
        quantity = _read(folded, text, numeral)
        if quantity is not None:
            found.append(quantity)
    return tuple(_with_shared_units(found, folded))


def _read(folded: str, text: str, numeral: Numeral) -> Quantity | None:
    start, end = numeral.start, numeral.end
    currency = None if numeral.is_word else _CURRENCY.search(folded, 0, start)
    if currency is not None and _FORMULA.match(folded, end):
        currency = None
    if not numeral.is_word and currency is None and _BEFORE_NAME.search(folded[:start]):
        return None
    scale, behind = read_scale(text, folded, end, numeral.value, is_money=currency is not None)
    behind += bool(is_odd := _ODD_HAN.match(folded, behind))
    if currency is not None:
        unit, last = CURRENCIES[currency.group().strip()], behind
        start = currency.start()
    elif numeral.is_share or numeral.is_ordinal:
        unit, last = _SHARE if numeral.is_share else _ORDINAL, behind
    else:
        unit, last = _unit(text, folded, numeral, behind)
    if not unit.name and not numeral.is_word and behind == end and _IS_LATIN.match(folded, end):
        return None  # 3D, 5HT: a name
    before, after = folded[max(0, start - NEAR) : start], folded[last : last + 10]
    # From and to when, and no limit of how long something takes.
    is_date = unit.kind not in {"time", "months"}
    at_least = None if not is_date and _DURING.search(before) else AT_LEAST.search(before)
    least = (at_least or (is_date and _SINCE.search(before)) or None,
             _AFTER_AT_LEAST.match(after))  # fmt: skip
    most = (AT_MOST.search(before) or (is_date and _UNTIL.search(before)) or None,
            _AFTER_AT_MOST.match(after))  # fmt: skip
    bound = int(bool(is_odd) or any(least)) - int(any(most))
    first = (
        start
        - len(before)
        + min((m.start() for m in (least[0], most[0]) if m), default=len(before))
    )
    role, trend = _role(folded, first, start, last)
    last += max((match.end() for match in (least[1], most[1]) if match), default=0)
    factor = scale * unit.factor
    value = numeral.value
    if not unit.name and numeral.is_word and 0 < value < 1 and factor == 1:
        unit, value = _FRACTION, 100 * value  # a third of them
    return Quantity(
        value * factor, value, unit, numeral.step * factor,
        bound, bool(_ABOUT.search(before)), numeral.is_word,
        text[first:last].strip(), start, last, role, trend,
    )  # fmt: skip


def _role(folded: str, first: int, start: int, end: int) -> tuple[Literal["", "by", "level"], int]:
    """Return whether a number says by how much something changed, and whether upwards."""
    before, after = folded[max(0, start - _CLAUSE) : start], folded[end : end + 12]
    is_by = _BY.search(before) or _BY.search(folded[:first]) or _AFTER_BY.match(after)
    if not is_by:
        is_level = (
            _LEVEL.search(before) or _LEVEL.search(folded[:first]) or _AFTER_LEVEL.match(after)
        )
        return ("level" if is_level else ""), 0
    clause = _CLAUSE_END.split(before)[-1] + folded[start:end]
    clause += _CLAUSE_END.split(folded[end : end + NEAR])[0]
    return "by", trend_of(clause)


def _unit(text: str, folded: str, numeral: Numeral, at: int) -> tuple[Unit, int]:
    """Return the unit at an offset and where it ends; one without a name where there is none."""
    raw = numeral.value
    decade = _DECADE.match(folded, at)
    if decade and not numeral.is_word and raw % 10 == 0 and (raw >= 1000 or raw < 100):
        return Unit(decade.group(), "decade", 1), decade.end()  # 1990s, not seconds
    unit, last = read_unit(text, folded, at)
    if unit is None:
        return _unit_before(folded, numeral), at
    if unit.name in _YEARS and raw <= _EXACT_AGE and _AGED.search(_before(folded, numeral, NEAR)):
        unit = _AGE
    elif unit.name == "年" and raw < _FIRST_YEAR:
        unit = Unit("年", "months", 12)
    elif unit.name in _DAYS and _is_span_of_days(folded, numeral, last):
        unit = Unit(unit.name, "time", 86400)
    return unit, last


def _is_span_of_days(folded: str, numeral: Numeral, end: int) -> bool:
    """Say whether 五日 is how long something takes, and no day of a month."""
    if numeral.value > _LAST_DAY:
        return True
    is_date = folded.endswith(("月", "月的"), 0, numeral.start) or folded[end - 1] == "号"
    return not is_date and (numeral.is_word or _IS_SPAN.match(folded, end) is not None)


def _unit_before(folded: str, numeral: Numeral) -> Unit:
    """Return what a number without a unit is by the words before it: aged 63, p = 0.03."""
    before = _before(folded, numeral, NEAR)
    if numeral.value <= _EXACT_AGE and _AGED.search(before):
        return _AGE
    if 0 <= numeral.value <= 1 and _P.search(_before(folded, numeral, _NEAR_P)):
        return _P_VALUE
    if _PH.search(before):
        return _PH_VALUE
    if named := _NAMED.search(before):
        return Unit("", f"number of a {named['what']}", 1)
    return TIMES if _FACTOR.search(before) else Unit("", "", 1)


def _before(folded: str, numeral: Numeral, count: int) -> str:
    return folded[max(0, numeral.start - count) : numeral.start]


def _with_shared_units(found: list[Quantity], folded: str) -> list[Quantity]:
    """Give all numbers of a range or list the unit that stands behind the last: “5–10 mg”."""
    for place in range(len(found) - 2, -1, -1):
        first, second = found[place : place + 2]
        between = folded[first.end : second.start]
        is_range = _RANGE.fullmatch(between) is not None
        if not is_range and not _LISTED.fullmatch(between):
            continue
        if is_range and not second.role:
            found[place + 1] = replace(second, role=first.role, trend=first.trend)
        if is_range and first.unit == _AGE and not second.unit.name:
            found[place + 1] = replace(second, unit=_AGE)
        if first.unit.name or is_year(first) or first.unit.kind:
            continue
        if second.unit.name and second.raw and second.unit.kind not in {"year", "decade"}:
            if not is_range and second.unit.kind in _UNSHARED:
                continue
            factor = second.value / second.raw
            found[place] = replace(
                first, value=first.raw * factor, step=first.step * factor, unit=second.unit,
                text=f"{first.text} {second.unit.name}",
            )  # fmt: skip
    return found


def is_year(quantity: Quantity) -> bool:
    """Say whether a number looks like a year."""
    return (
        quantity.unit.kind in {"", "year"}
        and quantity.step == 1
        and 1500 <= quantity.raw <= 2100
        and "," not in quantity.text
    )
