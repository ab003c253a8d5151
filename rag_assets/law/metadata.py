"""What a Chinese statute says of itself: who made it, when, since when it holds, and where.

Every fact has the span that it was read from. What the text does not say stays None.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any

from rag_assets.law.articles import read_number
from rag_assets.law.structure import LawText, Unit, UnitKind
from rag_assets.model import HAN_RANGES

# The last articles say what ends when the law begins.
_LAST_REPEAL = 3
_SENTENCE = re.compile(r"[^。；;\n]+[。；;]?")
# Behind a name only its date, the repeal or further names: 《甲》第三条 is a part of 《甲》.
_REPEALED = re.compile(
    r"(?:\s*[(（][^()（）]*[)）])*"
    r"(?:[、，,]|以及|和|及|与|同时|即行|相应|予以|一并|自|废止|《|\s|[。；;]?$)"
)


@dataclass(frozen=True, slots=True)
class StatedRepeal:
    """A law that another one says it repeals.

    Args:
        law: its title, as written.
        sentence: that says so, with its article before it where it stands in one.
        start: offset of the title in the text of the file.
    """

    law: str
    sentence: str
    start: int


def find_repeals(text: str, law: LawText) -> Iterator[StatedRepeal]:
    """Yield the laws that the last articles of a law repeal; of a decision to repeal, all of it.

    Args:
        text: of the file.
        law: of that file, by `read_laws`.
    """
    title = law.title or ""
    is_decision = "废止" in title and "修改" not in title
    articles = [unit for unit in law.units if unit.article is not None]
    for unit in law.units if is_decision else articles[-_LAST_REPEAL:]:
        for match in _SENTENCE.finditer(text, unit.start, unit.end):
            said = match.group()
            last = said.rfind("废止")
            for name, start, end in _titles(said):
                # 根据《立法法》的规定，决定废止《甲》 repeals 《甲》 alone, a list all that it has.
                is_meant = last >= end or (is_decision and (last < 0 or last < start))
                if is_meant and _REPEALED.match(said, end):
                    shown = unit.article.shown if unit.article is not None else ""
                    sentence = " ".join(said.split())
                    if shown and not sentence.startswith(shown):
                        sentence = f"{shown} {sentence}"
                    yield StatedRepeal(name, sentence, match.start() + start)


def _titles(sentence: str) -> Iterator[tuple[str, int, int]]:
    """Yield the outermost titles in a sentence, each with the span of its marks."""
    depth = start = 0
    for place, character in enumerate(sentence):
        if character == "《":
            start = place if depth == 0 else start
            depth += 1
        elif character == "》" and depth:
            depth -= 1
            if depth == 0:
                yield sentence[start + 1 : place], start, place + 1


class DateKind(StrEnum):
    """What happened on a date."""

    PASSED = "passed"
    AMENDED = "amended"
    PUBLISHED = "published"
    EFFECTIVE = "effective"
    REPEALED = "repealed"


class LawLevel(StrEnum):
    """The rank of a statute, the highest first."""

    CONSTITUTION = "constitution"
    LAW = "law"
    ADMINISTRATIVE = "administrative_regulation"
    INTERPRETATION = "judicial_interpretation"
    LOCAL = "local_regulation"
    DEPARTMENT = "department_rule"


@dataclass(frozen=True, slots=True)
class LawDate:
    """A date of a statute. [start, end) is where it is written in the text of the file."""

    kind: DateKind
    day: date
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Written:
    """Words that a fact was read from. [start, end) is where they stand in the text of the file."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class LawFacts:
    """What the text of a law says of itself.

    Args:
        title: as it was read from the text.
        articles: how many it has.
        dates: all that were read, in the order of the text.
        issuer: who passed or amended it last.
        level: by its title, by the State Council's approval of what a ministry issues, or by its
            issuer; `level_from` are the words that it was read from, None for the title.
        region: province or city of a local one, within `issuer`.
        repeals: other laws that it says it repeals.
    """

    title: str | None
    articles: int
    dates: tuple[LawDate, ...]
    issuer: Written | None
    level: LawLevel | None
    region: Written | None
    level_from: Written | None = None
    repeals: tuple[StatedRepeal, ...] = ()

    def to_record(self) -> dict[str, Any]:
        """Return it as values that JSON knows."""
        return {
            "title": self.title,
            "articles": self.articles,
            "dates": [[one.kind, one.day.isoformat(), one.start, one.end] for one in self.dates],
            "issuer": _parts(self.issuer),
            "level": self.level,
            "region": _parts(self.region),
            "level_from": _parts(self.level_from),
            "repeals": [[one.law, one.sentence, one.start] for one in self.repeals],
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "LawFacts":
        """Return what `to_record` has written."""
        return cls(
            record["title"],
            record["articles"],
            tuple(
                LawDate(DateKind(kind), date.fromisoformat(day), start, end)
                for kind, day, start, end in record["dates"]
            ),
            Written(*record["issuer"]) if record["issuer"] else None,
            LawLevel(record["level"]) if record["level"] else None,
            Written(*record["region"]) if record["region"] else None,
            Written(*record["level_from"]) if record.get("level_from") else None,
            tuple(StatedRepeal(*one) for one in record.get("repeals", ())),
        )


def _parts(written: Written | None) -> list[str | int] | None:
    return [written.text, written.start, written.end] if written is not None else None


# Counts as code: raise it when the same text says otherwise.
LAW_FACTS_VERSION = 4
_NUMBER = r"[〇○零一二三四五六七八九十\d]{1,4}"
_DATE = re.compile(
    rf"(?P<year>{_NUMBER})\s*年\s*(?P<month>{_NUMBER})\s*月\s*(?P<day>{_NUMBER})\s*日"
)
# The first that is found behind a date, before the next one, says what happened on it. Titles of
# decisions and of other laws do not: 《国务院关于修改和废止部分行政法规的决定》 amends.
_KINDS = (
    # 2009年发布的通知同时废止 tells of another one.
    (DateKind.REPEALED, re.compile(r"^[^。；，,的同]{0,12}(?:废止|失效)")),
    (DateKind.EFFECTIVE, re.compile(r"施行|实施|生效")),
    (DateKind.AMENDED, re.compile(r"修订|修正|修改")),
    (DateKind.PASSED, re.compile(r"通过|批准|审议|制定")),
    (DateKind.PUBLISHED, re.compile(r"公布|发布|颁布|印发|公告")),
)
_QUOTED_TITLE = re.compile(r"《[^》]*》?")
# Of an amendment that is a text of its own: 通过的《中华人民共和国宪法修正案》.
_BY_AMENDMENT = re.compile(r"通过的《[^》]*(?:修正案|决定)[^》]*》")
# A line of a law's history begins with a day, or what leads to one, and is no sentence.
_HISTORY = re.compile(rf"[#>*_\s（(]*(?:根据|自)?\s*{_NUMBER}\s*年|[#>*_\s]*[（(]")
_ENDS_A_SENTENCE = ("。", "；", "：", ":", "，")
MADE = frozenset({DateKind.PASSED, DateKind.AMENDED, DateKind.PUBLISHED})
"""What gives a statute its wording."""
# Of this statute, not of another one that its last articles repeal.
_OWN_EFFECT = re.compile(
    r"^\s*起?\s*(?:正式)?(?:施行|实施|生效)|^起?[^。；，,]{0,12}(?:施行|实施|生效)"
)
_AT_ONCE = re.compile(r"自(?:公布|发布|颁布|通过|印发)之日起?(?:施行|实施|生效)")
# A decision amends some articles and leaves the last one, with its day, as it was.
_BY_DECISION = re.compile(r"决定|修正案")
# The last articles say since when the statute holds.
_LAST = 3
_ISSUERS = re.compile(
    rf"全国人民代表大会(?:常务委员会)?|国务院|政务院|最高人民法院|最高人民检察院|中央军事委员会|"
    rf"[{HAN_RANGES}]{{2,12}}?(?:省|自治区|市|自治州|自治县|县)(?:第[一二三四五六七八九十]+届)?"
    rf"人民代表大会(?:常务委员会)?|[{HAN_RANGES}]{{2,12}}?(?:省|自治区|市)人民政府|"
    rf"(?![经由])[{HAN_RANGES}]{{2,14}}?(?:部|总局|委员会|银行|总署|管理局)"
)
# What a ministry issues with the State Council's approval ranks as what that issues.
_APPROVED = re.compile(r"[\s经由]*(?P<by>国务院|政务院)[^\n。《]{0,8}批准")
_SESSION = re.compile(r"第[一二三四五六七八九十]+届")
_REGION = re.compile(rf"^[{HAN_RANGES}]{{2,8}}?(?:省|自治区|市|自治州)")


def read_facts(text: str, law: LawText) -> LawFacts:
    """Return what a law says of itself.

    Args:
        text: of the file.
        law: of that file, by `read_laws`.
    """
    dates = tuple(_dates(text, law))
    issuer = _issuer(text, law, dates)
    level, level_from = _level(text, law, dates, issuer)
    articles = sum(unit.article is not None for unit in law.units)
    repeals = tuple(find_repeals(text, law))
    return LawFacts(law.title, articles, dates, issuer, level, _region(issuer), level_from, repeals)


def _dates(text: str, law: LawText) -> Iterator[LawDate]:
    """Yield the dates of the head, then that of effect in the last articles."""
    heads = [unit for unit in law.units if unit.kind is UnitKind.PREAMBLE]
    history = [found for unit in heads for found in _history(text, unit.start, unit.end)]
    yield from (found for found, _ in history)
    articles = [unit for unit in law.units if unit.kind in {UnitKind.ARTICLE, UnitKind.ITEM}]
    for unit in articles[-_LAST:]:
        yield from _dates_of_effect(text, unit)
        at_once = _AT_ONCE.search(text, unit.start, unit.end)
        last = max(
            (one for one in history if one[0].kind in MADE),
            key=lambda one: one[0].day,
            default=None,
        )
        if at_once and last is not None and not _BY_DECISION.search(last[1]):
            yield LawDate(DateKind.EFFECTIVE, last[0].day, at_once.start(), at_once.end())


def _history(text: str, start: int, end: int) -> Iterator[tuple[LawDate, str]]:
    """Yield the dates of a head, each with what is said behind it in its line."""
    found = list(_DATE.finditer(text, start, end))
    for index, match in enumerate(found):
        line_start = max(start, text.rfind("\n", start, match.start()) + 1)
        line_end = text.find("\n", match.end(), end)
        line_end = line_end if line_end >= 0 else end
        line = text[line_start:line_end].strip()
        if not _HISTORY.match(line) or line.endswith(_ENDS_A_SENTENCE):
            continue
        following = found[index + 1].start() if index + 1 < len(found) else end
        said = text[match.end() : min(following, line_end)]
        day, kind = _day(match), _kind(said)
        if day is not None and kind is not None:
            yield LawDate(kind, day, match.start(), match.end()), said


def _kind(said: str) -> DateKind | None:
    """Return what is said to have happened; a decision's title speaks where nothing else does."""
    if _BY_AMENDMENT.search(said):
        return DateKind.AMENDED
    told = (_QUOTED_TITLE.sub("", said), said.replace("废止", ""))
    return next((kind for text in told for kind, p in _KINDS if p.search(text)), None)


def _dates_of_effect(text: str, unit: Unit) -> Iterator[LawDate]:
    for match in _DATE.finditer(text, unit.start, unit.end):
        said = text[match.end() : min(match.end() + 20, unit.end)]
        before = text[max(unit.start, match.start() - 40) : match.start()]
        day = _day(match)
        if day is not None and _OWN_EFFECT.match(said) and before.rstrip().endswith("自"):
            yield LawDate(DateKind.EFFECTIVE, day, match.start(), match.end())


def _day(match: re.Match[str]) -> date | None:
    """Return a date; None where there is no such day."""
    try:
        year, month, day = (
            read_number(match[part].replace("○", "〇")) for part in ("year", "month", "day")
        )
        return date(year, month, day)
    except ValueError:
        return None


def _issuer(text: str, law: LawText, dates: Sequence[LawDate]) -> Written | None:
    """Return who is named behind the last date on which it was made, as written.

    The number of the session is left out: 甲市第十五届人民代表大会 is 甲市人民代表大会.
    """
    made = [one for one in dates if one.kind in MADE]
    for one in sorted(made, key=lambda d: d.day, reverse=True):
        line_end = text.find("\n", one.end, law.end)
        line_end = line_end if line_end >= 0 else law.end
        sessions = [match.span() for match in _SESSION.finditer(text, one.end, line_end)]
        kept = [i for i in range(one.end, line_end) if not any(a <= i < b for a, b in sessions)]
        found = _ISSUERS.search("".join(text[i] for i in kept))
        if found is not None:
            return Written(found.group(), kept[found.start()], kept[found.end() - 1] + 1)
    return None


_RANKS = (
    (LawLevel.CONSTITUTION, re.compile(r"^(?:中华人民共和国)?宪法")),
    (LawLevel.INTERPRETATION, re.compile(r"^最高人民(?:法院|检察院)")),
)
_BY_ISSUER = (
    (LawLevel.LAW, re.compile(r"^全国人民代表大会")),
    (LawLevel.ADMINISTRATIVE, re.compile(r"^(?:国务院|政务院)$")),
    (LawLevel.INTERPRETATION, re.compile(r"^最高人民(?:法院|检察院)")),
    (LawLevel.LOCAL, re.compile(r"人民代表大会(?:常务委员会)?$|人民政府$")),
    (LawLevel.DEPARTMENT, re.compile(r"(?:部|总局|委员会|银行|总署|管理局)$")),
)


def _level(
    text: str, law: LawText, dates: Sequence[LawDate], issuer: Written | None
) -> tuple[LawLevel | None, Written | None]:
    """Return the rank of a law, and the words that it was read from, None for the title."""
    title = law.title or ""
    by_title = next((level for level, pattern in _RANKS if pattern.search(title)), None)
    if by_title is not None:
        return by_title, None
    by_issuer = (rank for rank, pattern in _BY_ISSUER if issuer and pattern.search(issuer.text))
    level = next(by_issuer, None)
    if level in {None, LawLevel.DEPARTMENT}:
        for one in dates:
            approved = _APPROVED.match(text, one.end, law.end)
            if approved is not None and one.kind is DateKind.PASSED:
                found = Written(approved.group("by"), approved.start("by"), approved.end())
                return LawLevel.ADMINISTRATIVE, found
    return level, issuer if level is not None else None


def _region(issuer: Written | None) -> Written | None:
    if issuer is None or issuer.text.startswith("全国"):
        return None
    found = _REGION.match(issuer.text)
    if found is None:
        return None
    return Written(found.group(), issuer.start, issuer.start + found.end())
