"""What the curator reads and what it finds."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from pathlib import PurePosixPath

from rag_assets.law.articles import write_number
from rag_assets.law.structure import ArticleMark, LawText, Line, LineKind, read_laws, read_lines


class FindingKind(StrEnum):
    """What may be amiss with a file of laws."""

    EMPTY = "empty or stub"
    EQUAL = "equal texts"
    SUPERSEDED = "superseded"
    NO_ARTICLES = "no articles"
    STRUCTURE = "broken structure"
    TITLE = "suspicious title"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something for a person to look at. Nothing is changed.

    Args:
        rule: id in the register.
        file: that it is about; `others` are files that it is compared with.
        line: in the file, from 1; None where it is about the whole.
        article: as the law writes it, where it is about one.
        why: one sentence; `advice` says what one may do.
    """

    kind: FindingKind
    rule: str
    file: str
    line: int | None
    article: str | None
    why: str
    advice: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class LawFile:
    """A file as it was read.

    Args:
        file: path; its last part is the file's name.
        text: clean text.
        line_offset: lines of the file that stand before the text: front matter.
        copies: paths of further files with the same bytes.
        is_kept: a person has said that its laws are not repealed.
    """

    file: str
    text: str
    line_offset: int = 0
    copies: tuple[str, ...] = ()
    is_kept: bool = False

    @cached_property
    def lines(self) -> list[Line]:
        """Its lines, each with what it is."""
        return read_lines(self.text)

    @cached_property
    def laws(self) -> list[LawText]:
        """The laws that it holds, in order."""
        return read_laws(self.text)

    @property
    def title(self) -> str:
        """The title of its first law, "" where none was read."""
        return (self.laws[0].title or "") if self.laws else ""

    @property
    def stem(self) -> str:
        """The file's name without its ending."""
        return PurePosixPath(self.file).stem

    @property
    def is_named_as_statute(self) -> bool:
        """Whether title or file name end as those of statutes do."""
        return names_a_statute(self.title) or names_a_statute(self.stem)

    def line_at(self, offset: int) -> int:
        """Return the number of the line in the file, from 1, that holds a character."""
        return self.text.count("\n", 0, offset) + 1 + self.line_offset


@dataclass(frozen=True, slots=True)
class Found:
    """What a rule says of a file. `offset` is None where it is about the whole."""

    why: str
    offset: int | None = None
    article: str | None = None


@dataclass(frozen=True, slots=True)
class FileRule:
    """A rule that judges a file by itself.

    Args:
        id: stable name, as the register in the docs calls it.
        advice: what one may do where it fires.
        fires: file name and text of which it fires; `silent` of which it does not.
    """

    id: str
    kind: FindingKind
    advice: str
    fires: tuple[str, str]
    silent: tuple[str, str]
    check: Callable[[LawFile], Iterator[Found]]

    def apply(self, file: LawFile) -> Iterator[Finding]:
        """Yield what it finds in a file."""
        for found in self.check(file):
            line = file.line_at(found.offset) if found.offset is not None else None
            yield Finding(
                self.kind, self.id, file.file, line, found.article, found.why, self.advice
            )


Files = Mapping[str, str]
"""Texts by path, as examples of rules that compare files."""

_COUNTRY = "中华人民共和国"
# (2018-12-29), （2012年修正）: a wording. （1988年） tells which of several laws it is.
WORDING = re.compile(
    r"[(（][^()（）]*(?:\d{4}-\d{2}-\d{2}|\d{4}[^()（）]*(?:修正|修订|修改|版|文本))[^()（）]*[)）]"
)
_STATUTE = re.compile(
    r"(?:法|法典|条例|规定|办法|细则|规则|解释|决定|决议|章程|规程|规范|守则|修正案|安排|批复|通知|"
    r"意见|答复|标准|准则|公告|公约|协定|附则|编)$"
)
_REMARK = re.compile(r"[(（][^()（）]*[)）]$")


def law_name(written: str) -> str:
    """Return a law's name for comparing: no wording, country, marks or white space."""
    plain = WORDING.sub("", unicodedata.normalize("NFKC", written))
    return re.sub(r"[\W_]+", "", plain.replace(_COUNTRY, ""))


def names_a_statute(written: str) -> bool:
    """Say whether a title ends as those of statutes do, remarks in brackets left out."""
    name = WORDING.sub("", written).strip()
    while (shorter := _REMARK.sub("", name).strip()) != name:
        name = shorter
    return _STATUTE.search(name) is not None


_Number = tuple[int, int]
# A line that begins so without having been read as an article, or a sentence's end before it.
_RUN_IN = r"(?:^|(?<=[。；;：:！？\s]))[^\S\n]*[第笫]\s?{number}\s?条(?!\s?之)"
# Of another article is spoken: 第十六条规定的, 第十六条、第十七条.
_SPOKEN_OF = re.compile(r"第|的|之|规定|和|与|及|至|或|、|，|,|款|项")


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
                    f"{mark.shown} occurs twice in one law, in line {file.line_at(other.start)} "
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


_HEAD = "# 甲市养犬条例\n\n"


def _law(*numbers: str) -> str:
    return _HEAD + "".join(f"第{number}条 养犬应当登记。\n\n" for number in numbers)


_NAME = "甲市养犬条例.md"
_SOUND = (_NAME, _law("一", "二", "二", "三").replace("二条 ", "二条之一 ").replace("之一", "", 1))
_RUN_IN_LAW = _law("一", "三").replace("登记。\n\n第三", "登记。 第二条养犬人应当拴绳。\n\n第三")

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
)  # fmt: skip

# Visible characters of sentences; the shortest decision of a vault of 3,504 files has 75.
_STUB_CHARACTERS = 60
_DIGIT = r"[\d〇○零一二三四五六七八九十]"
_DATED = re.compile(rf"[(（]?\s*{_DIGIT}{{2,4}}\s*年\s*{_DIGIT}{{1,3}}\s*月")
_CONTENTS = re.compile(r"(?:总\s*)?目\s*[录次]|contents|table of contents", re.IGNORECASE)
_NO_NAME = re.compile(r"(?:总则|附则|前言|正文|序言|附件|附录|公告|通知|说明|无标题)\d*")
_TITLE_LEVEL = re.compile(r"第\s?[一二三四五六七八九十百\d]+\s?(?:编|分编|章|节|目|条)(?:\s|$)")
_FILE_NAME = re.compile(r"\.(?:md|markdown|txt|docx?|pdf|html?|wps)$|[^\W_]_[^\W_]", re.IGNORECASE)


def body_characters(file: LawFile) -> int:
    """Return the visible characters of a file's sentences: no headings, levels, or dated notes."""
    return sum(
        len("".join(line.text.split()))
        for line in file.lines
        if not line.rank
        and line.kind not in {LineKind.BLANK, LineKind.LEVEL}
        and line.text != file.title
        and not _DATED.match(line.text)
    )


def is_stub(file: LawFile) -> bool:
    """Say whether a file holds no more than a law's head."""
    return body_characters(file) < _STUB_CHARACTERS


def _find_stub(file: LawFile) -> Iterator[Found]:
    if is_stub(file):
        count = body_characters(file)
        yield Found(
            f"Below title, dates and headings stand {count} characters of text."
            if count
            else "Nothing stands below title, dates and headings."
        )


def _find_no_articles(file: LawFile) -> Iterator[Found]:
    if not articles_by_law(file) and not is_stub(file):
        items = sum(line.kind is LineKind.ITEM for line in file.lines)
        how = f"it is cut at its {items} items" if items else "it is cut at whole lines"
        what = "" if file.is_named_as_statute else ", nor is it named as a statute"
        yield Found(f"No line begins an article{what}; {how}.")


def _find_quotes(file: LawFile) -> Iterator[Found]:
    if quotes_articles(file):
        first = articles_by_law(file)[0][0]
        yield Found(
            f"It is not named as a statute and begins at {first.shown}: its articles are quoted "
            "from other laws, and will be found as its own.",
            first.start,
            first.shown,
        )


def _title_at(file: LawFile) -> int | None:
    """Return where the title stands."""
    at = file.text.find(file.title) if file.title else -1
    return at if at >= 0 else None


def _plain(title: str) -> str:
    return "".join(title.split())


def _find_missing_title(file: LawFile) -> Iterator[Found]:
    if file.laws and not file.title:
        yield Found("No heading or short line above the first article names the law.")


def _find_contents(file: LawFile) -> Iterator[Found]:
    if _CONTENTS.fullmatch(file.title):
        yield Found(f"“{file.title}” heads a table of contents.", _title_at(file))


def _find_date(file: LawFile) -> Iterator[Found]:
    title = _plain(file.title)
    if title and (_DATED.match(title) or not re.search(r"[^\W\d_]", title.strip("年月日"))):
        yield Found(f"“{file.title}” is a date or number.", _title_at(file))


def _find_no_name(file: LawFile) -> Iterator[Found]:
    if _NO_NAME.fullmatch(_plain(file.title)) or _TITLE_LEVEL.match(file.title):
        yield Found(f"“{file.title}” names a part, not a law.", _title_at(file))


def _find_file_name(file: LawFile) -> Iterator[Found]:
    if file.title and (_FILE_NAME.search(file.title) or WORDING.search(file.title)):
        is_own = "the file's own" if law_name(file.title) == law_name(file.stem) else "a file's"
        yield Found(f"“{file.title}” is {is_own} name rather than a title.", _title_at(file))


_TEXT = "第一条 为了规范养犬行为，保障公民健康和人身安全，维护市容和社会公共秩序，制定本条例。\n\n"
_LAW = f"{_TEXT}第二条 本市行政区域内养犬以及相关的管理活动，适用本条例，军用犬、警用犬除外。\n"
_TITLE_FILE = "甲市养犬条例.md"
_ITEMS = _LAW.replace("第一条", "一、").replace("第二条", "二、")
_QUOTED = _LAW.replace("第一条", "第八条").replace("第二条", "第九条")
_SOUND_TITLE = (_TITLE_FILE, f"# 甲市养犬条例\n\n2020年5月1日 甲市人民代表大会通过\n\n{_LAW}")

EMPTY_RULES = (
    FileRule(
        "stub",
        FindingKind.EMPTY,
        "Fill the file with the published text, or take it out.",
        (_TITLE_FILE, "# 甲市养犬条例\n\n2020年5月1日 甲市人民代表大会通过\n\n（内容待补充）\n"),
        _SOUND_TITLE,
        _find_stub,
    ),
)
ARTICLE_RULES = (
    FileRule(
        "no-articles",
        FindingKind.NO_ARTICLES,
        "Look whether its articles were lost; a decision or report may stay: it is searched by "
        "its items or lines.",
        ("甲市决定.md", f"# 甲市关于养犬的决定\n\n{_ITEMS}"),
        _SOUND_TITLE,
        _find_no_articles,
    ),
    FileRule(
        "quoted-articles",
        FindingKind.NO_ARTICLES,
        "Keep reports of cases in a namespace of their own.",
        ("甲诉乙案.md", f"# 甲诉乙案\n\n{_QUOTED}"),
        _SOUND_TITLE,
        _find_quotes,
    ),
)  # fmt: skip


def _titled(title: str, name: str = _TITLE_FILE) -> tuple[str, str]:
    return name, f"# {title}\n\n{_LAW}"


_RENAME = "Give the law its title as a heading of the first rank."
TITLE_RULES = (
    FileRule(
        "title-missing", FindingKind.TITLE, _RENAME,
        (_TITLE_FILE, f"2020年5月1日 甲市人民代表大会通过\n\n{_LAW}"), _SOUND_TITLE,
        _find_missing_title,
    ),
    FileRule(
        "title-is-contents", FindingKind.TITLE, _RENAME,
        _titled("目 录"), _SOUND_TITLE, _find_contents,
    ),
    FileRule(
        "title-is-date", FindingKind.TITLE, _RENAME,
        _titled("2020年5月1日"), _SOUND_TITLE, _find_date,
    ),
    FileRule(
        "title-is-part", FindingKind.TITLE, _RENAME,
        _titled("附件"), _SOUND_TITLE, _find_no_name,
    ),
    FileRule(
        "title-is-file-name", FindingKind.TITLE, _RENAME,
        _titled("甲市养犬条例(2020-05-01)", "甲市养犬条例(2020-05-01).md"), _SOUND_TITLE,
        _find_file_name,
    ),
)  # fmt: skip
