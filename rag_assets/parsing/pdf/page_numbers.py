"""The numbers that pages bear in print, beside their place in the file."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median_low

from rag_assets.parsing.pdf.lines import Line, Page
from rag_assets.parsing.pdf.order import line_template

# Numbers in heads and feet that rise by one from sheet to sheet, and the labels of the file.

# So many sheets must agree: a number that stands by chance does not go on with the next sheets.
_LEAST_RUN = 3
# At least this share of the sheets from the first to the last of a run bear its number.
_LEAST_SHARE = 0.4
# Parts of a page in which its number stands, as shares of its height.
_TOP, _BOTTOM = 0.14, 0.84
_MOST_PAGES, _MOST_ROMAN, _MOST_ROWS = 20_000, 99, 3
# A head keeps its height to within a line on all pages.
_MOST_DRIFT = 12.0
# The number of a volume's page counts before one that is only that of the sheet.
_PREFERRED = 1.6
_ROMAN = r"m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})"
# The whole line: 457, – 457 –, e14, S. 457, 第 457 页, Page 457 of 470, 3 / 14, xii.
_ALONE = re.compile(
    r"[\W_]*(?:pages?|pag\.|pp?\.|seite|s\.|стр\.|第)?\s*(?P<number>[eELS]?\d{1,5}|"
    rf"(?=[ivxlcdm]){_ROMAN})\s*(?:页|頁)?[\W_]*(?:(?:of|von|de|sur|/|共)\s*\d{{1,5}}\s*(?:页|頁)?[\W_]*)?",
    re.IGNORECASE,
)
# Beside a running head: 458 SMITH ET AL., Smith et al. 459, … Page 2 of 8.
_BESIDE_HEAD = (
    re.compile(r"^(?P<number>[eELS]?\d{1,5})(?=[\s|·•–—]+\D)"),
    re.compile(r"(?<=\D)[\s|·•–—]+(?P<number>[eELS]?\d{1,5})\.?$"),
    re.compile(r"\b(?:page|p\.)\s?(?P<number>\d{1,5})(?: of \d{1,5})?\b", re.IGNORECASE),
)
_LABEL = re.compile(
    rf"(?P<letter>[A-Za-z]?)-?(?P<number>\d{{1,5}})|(?=[ivxlcdm]){_ROMAN}", re.IGNORECASE
)
_HEX = re.compile(r"<FEFF((?:[0-9A-F]{4})*)>", re.IGNORECASE)
_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}


@dataclass(frozen=True, slots=True)
class _Number:
    """A number that a page bears: `letter` before it (`e14`), or `roman` for front matter."""

    letter: str
    value: int

    def shown(self) -> str:
        return _roman(self.value) if self.letter == "roman" else f"{self.letter}{self.value}"


@dataclass(frozen=True, slots=True)
class PrintedNumber:
    """A number on a sheet: how high it stands, and the text beside it with digits as `#`."""

    sheet: int
    number: _Number
    region: str
    height: float
    template: str


def read_numbers(pages: Sequence[Page]) -> tuple[PrintedNumber, ...]:
    """Return all that may be numbers of pages, before heads and feet are taken out."""
    return tuple(one for page in pages for one in _numbers(page))


def page_labels(
    sheets: int,
    numbers: Sequence[PrintedNumber],
    labels: Sequence[str],
    page_range: tuple[int, int] | None,
) -> tuple[str, ...]:
    """Return the number that each page bears in print, empty where it is not known.

    What is printed counts where it rises by one over at least three sheets, or agrees with the
    range of pages that the paper states of itself. Elsewhere the labels in the file count, unless
    they only number the sheets.

    Args:
        sheets: pages of the document.
        numbers: of `read_numbers`.
        labels: of the file, one a page; empty without any.
        page_range: first and last page of the paper, as its first page prints them.

    Returns:
        One for each page; nothing where all that are known are those of the sheets.
    """
    found = _runs(numbers, page_range)
    stated = _stated(labels)
    if not _contradicts(stated, found):
        found = {**stated, **found}
    if page_range is not None and found.get(2) == _Number("", page_range[0] + 1):
        found.setdefault(1, _Number("", page_range[0]))
    shown = [found[sheet].shown() if sheet in found else "" for sheet in range(1, sheets + 1)]
    is_other = any(label not in ("", str(sheet)) for sheet, label in enumerate(shown, start=1))
    return tuple(shown) if is_other else ()


def _runs(
    numbers: Sequence[PrintedNumber], page_range: tuple[int, int] | None
) -> dict[int, _Number]:
    """Return the numbers of sheets that belong to a run, and of those between them."""
    seen: dict[tuple[str, int], list[PrintedNumber]] = defaultdict(list)
    for one in numbers:
        seen[one.number.letter, one.number.value - one.sheet].append(one)
    runs: list[tuple[float, str, int, list[int]]] = []
    for (letter, offset), printed in seen.items():
        places = sorted({one.sheet for one in printed})
        is_stated = page_range is not None and (letter, offset) == ("", page_range[0] - 1)
        is_dense = len(places) >= _LEAST_SHARE * (places[-1] - places[0] + 1)
        if is_stated or (is_dense and _is_steady(printed)):
            # Where a page bears two, as "458" and "Page 2 of 8", it is not cited by the latter.
            runs.append((len(places) * (_PREFERRED if offset else 1.0), letter, offset, places))
    runs.sort(key=lambda run: (-run[0], run[1], run[2]))
    found: dict[int, _Number] = {}
    for _, letter, offset, places in runs:
        for sheet in places:
            found.setdefault(sheet, _Number(letter, sheet + offset))
    for _, letter, offset, places in runs:
        for sheet in range(places[0], places[-1] + 1):
            found.setdefault(sheet, _Number(letter, sheet + offset))
    return found


def _is_steady(printed: Sequence[PrintedNumber]) -> bool:
    """Tell whether numbers stand at one height on three sheets: alone, or in a running head.

    "2 Methods" at the head of a page is a heading; a running head occurs again.
    """
    templates = Counter(one.template for one in printed)
    for region in ("top", "bottom"):
        own = [
            one
            for one in printed
            if one.region == region and (not one.template or templates[one.template] > 1)
        ]
        if own:
            middle = median_low([one.height for one in own])
            steady = {one.sheet for one in own if abs(one.height - middle) <= _MOST_DRIFT}
            if len(steady) >= _LEAST_RUN:
                return True
    return False


def _numbers(page: Page) -> Iterator[PrintedNumber]:
    """Yield each number in the head and the foot of a page."""
    upright = [line for block in page.blocks for line in block if line.upright]
    for region, line in _outer(upright, page.height):
        match = _ALONE.fullmatch(line.text)
        if match is not None:
            beside = [one.text for one in upright if one is not line and line.shares_row(one)]
            found, template = [match], line_template(" ".join(sorted(beside)))
        else:
            found = [m for form in _BESIDE_HEAD if (m := form.search(line.text)) is not None]
            template = line_template(line.text)
        for number in {one for match in found for one in _read(match["number"])}:
            yield PrintedNumber(page.number, number, region, line.box[1], template)


def _outer(lines: Sequence[Line], height: float) -> Iterator[tuple[str, Line]]:
    """Yield the lines of the first and last three rows that stand in the head or foot of a page."""
    if not lines:
        return
    top = [line for line in lines if line.box[3] <= _TOP * height]
    bottom = [line for line in lines if line.box[1] >= _BOTTOM * height]
    top.sort(key=lambda line: line.box[1])
    bottom.sort(key=lambda line: -line.box[3])
    for region, group in (("top", top), ("bottom", bottom)):
        rows = 0
        for before, line in pairwise([None, *group]):
            if line is None:
                continue
            rows += before is None or not before.shares_row(line)
            if rows > _MOST_ROWS:
                break
            yield region, line


def _read(text: str) -> Iterator[_Number]:
    match = re.fullmatch(r"([eELS]?)(\d+)", text)
    if match is not None:
        if 0 < int(match[2]) <= _MOST_PAGES:
            yield _Number(match[1], int(match[2]))
    elif (text.islower() or text.isupper()) and _value(text) <= _MOST_ROMAN:
        yield _Number("roman", _value(text))


def _stated(labels: Sequence[str]) -> Mapping[int, _Number]:
    """Return the labels of a file that number pages, where each occurs once and they rise."""
    found: dict[int, _Number] = {}
    for sheet, label in enumerate(labels, start=1):
        plain = _HEX.sub(lambda match: bytes.fromhex(match[1]).decode("utf-16-be"), label).strip()
        match = _LABEL.fullmatch(plain)
        if match is None or not plain:
            continue
        number = match["number"]
        found[sheet] = (
            _Number(match["letter"], int(number)) if number else _Number("roman", _value(plain))
        )
    if len(set(found.values())) < len(found):
        return {}
    steps = [
        found[sheet + 1].value - found[sheet].value
        for sheet in found
        if sheet + 1 in found and found[sheet + 1].letter == found[sheet].letter
    ]
    return found if all(step == 1 for step in steps) else {}


def _contradicts(stated: Mapping[int, _Number], printed: Mapping[int, _Number]) -> bool:
    return any(stated[sheet] != number for sheet, number in printed.items() if sheet in stated)


def _value(roman: str) -> int:
    values = [_VALUES[letter] for letter in roman.lower()]
    return sum(-a if a < b else a for a, b in pairwise([*values, 0]))


def _roman(value: int) -> str:
    shown = ""
    for size, letters in (
        (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
        (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
    ):  # fmt: skip
        count, value = divmod(value, size)
        shown += letters * count
    return shown
