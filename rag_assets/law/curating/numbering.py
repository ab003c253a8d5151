"""Rules about the numbers of articles and levels."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from rag_assets.law.curating.findings import FileRule, FindingKind, Found, LawFile
from rag_assets.law.numbers import NUMBER, read_number, write_number
from rag_assets.law.structure import ArticleMark, LawText, Line, LineKind

_Number = tuple[int, int]
# A line that begins so without having been read as an article, or a sentence's end before it.
_RUN_IN = r"(?:^|(?<=[。；;：:！？\s]))[^\S\n]*[第笫]\s?{number}\s?条(?!\s?之)"
# Of another article is spoken: 第十六条规定的, 第十六条、第十七条.
_SPOKEN_OF = re.compile(r"第|的|之|规定|和|与|及|至|或|、|，|,|款|项")
_LEVEL = re.compile(rf"第(?P<number>{NUMBER})(?P<level>分编|[编章节目])")


def articles_by_law(file: LawFile) -> list[list[ArticleMark]]:
    """Return the articles of each law of a file.

    What begins again at 第一条 without a title of its own belongs to the law before.
    """
    found: list[list[ArticleMark]] = []
    for law in file.laws:
        marks = list(_own(file.text, law))
        if found and law.title is None:
            found[-1] += marks
        else:
            found.append(marks)
    return [marks for marks in found if marks]


def _own(text: str, law: LawText) -> Iterator[ArticleMark]:
    """Yield the articles of a law; those within quotation marks, of the law that it amends, not."""
    start = law.start
    for unit in law.units:
        mark = unit.article
        if mark is None:
            continue
        if text.rfind("“", start, mark.start) > text.rfind("”", start, mark.start):
            continue
        start = mark.start
        yield mark


def quotes_articles(file: LawFile) -> bool:
    """Say whether articles in a file are those of other laws: a report of a case quotes them."""
    laws = articles_by_law(file)
    return bool(laws) and not file.is_named_as_statute and laws[0][0].number != (1, 0)


def _numbered(file: LawFile) -> Iterator[tuple[list[ArticleMark], list[ArticleMark]]]:
    """Yield for each law the articles whose numbers ascend, as many as can be, and the others."""
    if quotes_articles(file):
        return
    for marks in articles_by_law(file):
        rising = _longest_rising([mark.number for mark in marks])
        rising_set = frozenset(rising)
        others = [mark for at, mark in enumerate(marks) if at not in rising_set]
        yield [marks[at] for at in rising], others


def _longest_rising(numbers: Sequence[_Number]) -> list[int]:
    """Return the places of a longest strictly ascending subsequence.

    One number that is off then speaks against itself, and not against all that follow it.
    """
    tails: list[_Number] = []
    last: list[int] = []
    before: list[int | None] = []
    for at, number in enumerate(numbers):
        size = bisect_left(tails, number)
        before.append(last[size - 1] if size else None)
        if size == len(tails):
            tails.append(number)
            last.append(at)
        else:
            tails[size], last[size] = number, at
    places: list[int] = []
    at_last = last[-1] if last else None
    while at_last is not None:
        places.append(at_last)
        at_last = before[at_last]
    return places[::-1]


def _missing(before: _Number, after: _Number) -> list[_Number]:
    """Return the numbers that ought to stand between two articles."""
    if before[0] == after[0]:
        return [(after[0], part) for part in range(before[1] + 1, after[1])]
    whole = [(number, 0) for number in range(before[0] + 1, after[0] + (after[1] > 0))]
    return whole + [(after[0], part) for part in range(1, after[1])]


def _written(number: _Number) -> str:
    return f"第{write_number(number[0])}条" + (f"之{write_number(number[1])}" if number[1] else "")


def _gaps(file: LawFile) -> Iterator[tuple[ArticleMark, ArticleMark, list[_Number]]]:
    """Yield neighbours of a law between which numbers are missing that it has nowhere."""
    for rising, others in _numbered(file):
        elsewhere = {mark.number for mark in others}
        for before, after in pairwise(rising):
            missing = [n for n in _missing(before.number, after.number) if n not in elsewhere]
            if missing:
                yield before, after, missing


def _run_in(file: LawFile, start: int, end: int, number: _Number) -> int | None:
    """Return where an article begins that stands within another one's text."""
    if number[1]:
        return None
    either = rf"(?:{number[0]}|{write_number(number[0])})"
    pattern = re.compile(_RUN_IN.format(number=either), re.MULTILINE)
    for match in pattern.finditer(file.text, start, end):
        line_start = file.text.rfind("\n", 0, match.end()) + 1
        is_at_line = not file.text[line_start : match.start()].strip()
        if is_at_line or not _SPOKEN_OF.match(file.text, match.end()):
            return match.end() - len(match.group().lstrip())
    return None


def _find_run_in(file: LawFile) -> Iterator[Found]:
    for before, after, missing in _gaps(file):
        found = {n: _run_in(file, before.start + 1, after.start, n) for n in missing}
        held = [number for number in missing if found[number] is not None]
        if held:
            which, one = _listed(held)
            yield Found(
                f"{which} {'is' if one else 'are'} not read as such: "
                f"{'it stands' if one else 'they stand'} in the text of {before.shown}.",
                found[held[0]], _written(held[0]),
            )  # fmt: skip


def _listed(numbers: Sequence[_Number]) -> tuple[str, bool]:
    """Return how to speak of some articles, and whether it is one."""
    first, last = _written(numbers[0]), _written(numbers[-1])
    if len(numbers) == 1:
        return first, True
    return f"{first} to {last} ({len(numbers)} articles)", False


def _find_missing(file: LawFile) -> Iterator[Found]:
    for before, after, missing in _gaps(file):
        gone = [n for n in missing if _run_in(file, before.start + 1, after.start, n) is None]
        if gone:
            which, one = _listed(gone)
            yield Found(
                f"{before.shown} is followed by {after.shown}: {which} {'is' if one else 'are'} "
                "missing.",
                after.start, after.shown,
            )  # fmt: skip


def _find_repeated(file: LawFile) -> Iterator[Found]:
    for rising, others in _numbered(file):
        first = {mark.number: mark for mark in reversed(rising)}
        for mark in others:
            other = first.get(mark.number)
            if other is not None:
                yield Found(
                    f"{mark.shown} stands twice in one law, in line {file.line_at(other.start)} "
                    "too.", mark.start, mark.shown,
                )  # fmt: skip


def _find_back(file: LawFile) -> Iterator[Found]:
    for rising, others in _numbered(file):
        known = {mark.number for mark in rising}
        for mark in others:
            if mark.number not in known:
                nearest = max((m for m in rising if m.start < mark.start), default=None,
                              key=lambda m: m.start)  # fmt: skip
                behind = f"behind {nearest.shown}" if nearest else "before the first article"
                yield Found(f"{mark.shown} stands {behind}.", mark.start, mark.shown)


def _levels(file: LawFile, start: int, end: int) -> list[Line]:
    """Return the numbered levels of a law's body, those of a table of contents left out.

    Levels that follow each other without text are a table of contents where they stand before the
    first article and do not only go deeper.
    """
    lines = [
        line for line in file.lines if start <= line.start < end and line.kind is not LineKind.BLANK
    ]
    runs = [(is_level, list(run)) for is_level, run in groupby(
        lines, key=lambda line: line.kind is LineKind.LEVEL)]  # fmt: skip
    body: list[Line] = []
    is_before = True
    for is_level, run in runs:
        if not is_level:
            if is_before and any(line.kind is LineKind.ARTICLE for line in run):
                is_before = False
            continue
        tail = len(run) - 1
        while tail and run[tail - 1].level < run[tail].level:
            tail -= 1
        if is_before:
            body = []
        body += run[tail:] if is_before else run
    return [line for line in body if _LEVEL.match(line.label)]


def _find_level_numbers(file: LawFile) -> Iterator[Found]:
    if quotes_articles(file):
        return
    laws = file.laws
    bounds = [law.start for law in laws if law is laws[0] or law.title is not None]
    for start, end in pairwise([*bounds, len(file.text)]):
        yield from _level_numbers(_levels(file, start, end))


def _level_numbers(levels: Sequence[Line]) -> Iterator[Found]:
    reached: dict[int, tuple[int, str]] = {}
    may_restart: set[int] = set()
    for line in levels:
        match = _LEVEL.match(line.label)
        if match is None:
            continue
        number, shown = read_number(match["number"]), match.group()
        before = reached.get(line.level)
        is_first = before is None or line.level in may_restart
        if before is None and number > 1 and not reached:
            pass  # a book of a code in a file of its own
        elif not ((is_first and number == 1) or (before is not None and number == before[0] + 1)):
            told = f"behind {before[1]}" if before is not None else "as the first of its level"
            yield Found(f"{shown} stands {told}.", line.start)
        reached[line.level] = number, shown
        may_restart.discard(line.level)
        may_restart |= {level for level in reached if level > line.level}


_HEAD = "# 甲市养犬条例\n\n"


def _law(*numbers: str) -> str:
    return _HEAD + "".join(f"第{number}条 养犬应当登记。\n\n" for number in numbers)


_NAME = "甲市养犬条例.md"
_SOUND = (_NAME, _law("一", "二", "二", "三").replace("二条 ", "二条之一 ").replace("之一", "", 1))
_RUN_IN_LAW = _law("一", "三").replace("登记。\n\n第三", "登记。 第二条养犬人应当拴绳。\n\n第三")
_BODY = "## 第一章 总则\n\n第一条 甲。\n\n## 第{}章 罚则\n\n第二条 乙。\n"

NUMBERING_RULES = (
    FileRule(
        "article-run-in",
        FindingKind.STRUCTURE,
        "Give the article a line of its own, with 第 and white space behind its number.",
        (_NAME, _RUN_IN_LAW),
        _SOUND,
        _find_run_in,
    ),
    FileRule(
        "article-missing",
        FindingKind.STRUCTURE,
        "Compare with the published text and put in what is missing.",
        (_NAME, _law("一", "二", "四")),
        _SOUND,
        _find_missing,
    ),
    FileRule(
        "article-repeated",
        FindingKind.STRUCTURE,
        "Compare both; correct the number, take the copy out, or give the second law its title.",
        (_NAME, _law("一", "二", "二", "三")),
        _SOUND,
        _find_repeated,
    ),
    FileRule(
        "article-out-of-order",
        FindingKind.STRUCTURE,
        "Correct the number, or put the article where it belongs.",
        (_NAME, _law("一", "三", "二", "四")),
        _SOUND,
        _find_back,
    ),
    FileRule(
        "level-number",
        FindingKind.STRUCTURE,
        "Look for a level that is missing or numbered twice.",
        (_NAME, _HEAD + _BODY.format("三")),
        (_NAME, f"{_HEAD}第一章 总则\n第二章 罚则\n\n{_BODY.format('二')}"),
        _find_level_numbers,
    ),
)  # fmt: skip
