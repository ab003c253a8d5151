"""Numerals as English and Chinese write them: 1,000, .05, 3½, two hundred and five, 三分之二."""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rag_assets.judging.folding import fold

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
