"""Wordings of statutes: what is known of each, from where, and which of them holds on a day."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from pathlib import PurePosixPath
from typing import Any, Literal, TypeVar

from rag_assets.law.metadata import MADE, DateKind, LawDate, LawFacts, LawLevel, StatedRepeal
from rag_assets.law.names import mark_name, plain_name

Standing = Literal["in_force", "not_yet_in_force", "superseded", "repealed", "unknown"]
"""How a wording stands on a day; unknown where neither text nor file say since when it is one."""

_T = TypeVar("_T")
_NAMED_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
# What a collector calls his folders; the whole name, so that 司法解释汇编说明 is none.
_LEVEL_FOLDERS = {
    "宪法": LawLevel.CONSTITUTION,
    "法律": LawLevel.LAW,
    "行政法规": LawLevel.ADMINISTRATIVE,
    "司法解释": LawLevel.INTERPRETATION,
    "地方性法规": LawLevel.LOCAL,
    "部门规章": LawLevel.DEPARTMENT,
}
_REGION_FOLDERS = frozenset([
    "北京", "天津", "河北", "山西", "内蒙古", "辽宁", "吉林", "黑龙江", "上海", "江苏", "浙江",
    "安徽", "福建", "江西", "山东", "河南", "湖北", "湖南", "广东", "广西", "海南", "重庆", "四川",
    "贵州", "云南", "西藏", "陕西", "甘肃", "青海", "宁夏", "新疆", "香港", "澳门", "台湾",
])  # fmt: skip
UNSTATED_DAYS = 365
"""Days after which a wording is taken to hold though its text does not say since when.

Of the 1,916 wordings of the law vault whose texts tell both, 99 % hold within 246 days of the day
on which they were made, and 8 after more than 365.
"""
# Where a text holds from its publication, and its head has the day on which it was passed alone: of
# the 848 days in the vault's names of files that are at most this many days later than that of the
# head, 658 are so by a month; local statutes wait for their approval.
_PUBLISHED_WITHIN = 90
DAYS = ("passed_on", "amended_on", "effective_on", "repealed_on", "version_date")
"""The days of a `Wording`."""
LAW_COLUMNS = ("law_level", "issuer", "region", *DAYS)
"""The fields of a `Wording` that a published document has as columns."""
LAWS_KEY = "laws"
"""What a record's note and a document's metadata call what is known of each law of a file."""
_TITLE, _FILE_NAME, _FOLDER = "title", "file name", "folder"


@dataclass(frozen=True, slots=True)
class Wording:
    """One wording of a law, as one document holds it. What is not known is None.

    Args:
        title: of the law within the file.
        articles: how many it has.
        law_level: its rank; `issuer` who made it last; `region` where it holds, if not everywhere.
        passed_on: first; `amended_on` last.
        version_date: the day of this wording: it was last passed, amended or published, by its
            text or its file's name, the later of the two.
        effective_on: since when this wording holds, as the text says; None where it does not, as in
            an amended law whose last article still gives the day of its first wording.
        dates: all that its text gives.
        origins: of each field that is known, where from: `[start, end]` in the clean text,
            `title`, `file name` or `folder`.
        repeals: other laws that its text says it repeals.
        is_kept: a person has said that it is not repealed, whatever a text says.
    """

    title: str | None
    articles: int = 0
    law_level: LawLevel | None = None
    issuer: str | None = None
    region: str | None = None
    passed_on: date | None = None
    amended_on: date | None = None
    effective_on: date | None = None
    repealed_on: date | None = None
    version_date: date | None = None
    dates: tuple[LawDate, ...] = ()
    origins: Mapping[str, Any] | None = None
    repeals: tuple[StatedRepeal, ...] = ()
    is_kept: bool = False

    @property
    def is_statute(self) -> bool:
        """Whether anything says that it is one: articles, a rank, or the day that it was made."""
        return bool(self.articles or self.law_level or self.version_date)

    @property
    def holds_from(self) -> date | None:
        """Since when it holds: the day that its text gives, else that of its wording."""
        return self.effective_on or self.version_date

    @property
    def repeals_from(self) -> date | None:
        """Since when it repeals others: when it took effect first, amended as it may be since."""
        stated = [one.day for one in self.dates if one.kind is DateKind.EFFECTIVE]
        return max(stated, default=None) or self.version_date

    def to_record(self) -> dict[str, Any]:
        """Return it as values that JSON knows."""
        record = {field.name: getattr(self, field.name) for field in fields(self)}
        days = {name: record[name].isoformat() for name in DAYS if record[name] is not None}
        dates = [[one.kind, one.day.isoformat(), one.start, one.end] for one in self.dates]
        repeals = [[one.law, one.sentence, one.start] for one in self.repeals]
        return record | days | {
            "dates": dates, "origins": dict(self.origins or {}), "repeals": repeals,
        }  # fmt: skip

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Wording":
        """Return what `to_record` has written."""
        days = {name: date.fromisoformat(record[name]) for name in DAYS if record[name] is not None}
        level = LawLevel(record["law_level"]) if record["law_level"] else None
        dates = tuple(
            LawDate(DateKind(kind), date.fromisoformat(day), start, end)
            for kind, day, start, end in record["dates"]
        )
        repeals = tuple(StatedRepeal(*one) for one in record.get("repeals", ()))
        return cls(**{**record, **days, "law_level": level, "dates": dates, "repeals": repeals})


def describe_wording(facts: LawFacts, paths: Sequence[str], *, is_alone: bool = True) -> Wording:
    """Return what text, file name and folders tell of a law.

    Text goes before folders; of several paths the first that tells something counts.

    Args:
        paths: of the files that hold the text, POSIX.
        is_alone: False where the file holds several laws: its name then dates none of them.
    """
    origins: dict[str, Any] = {}

    def last_of(name: str, kinds: Iterable[DateKind], *, first: bool = False) -> date | None:
        found = [one for one in facts.dates if one.kind in kinds]
        if not found:
            return None
        chosen = (min if first else max)(found, key=lambda one: one.day)
        origins[name] = [chosen.start, chosen.end]
        return chosen.day

    passed = last_of("passed_on", {DateKind.PASSED, DateKind.PUBLISHED}, first=True)
    amended = last_of("amended_on", {DateKind.AMENDED})
    repealed = last_of("repealed_on", {DateKind.REPEALED})
    version = made = last_of("version_date", MADE)
    named = next(filter(None, map(named_day, paths)), None) if is_alone else None
    if named is not None and (version is None or named > version):
        version, origins["version_date"] = named, _FILE_NAME
    effective = last_of("effective_on", {DateKind.EFFECTIVE})
    if effective is not None and version is not None and effective < version:
        is_published_then = effective == made and (version - effective).days <= _PUBLISHED_WITHIN
        effective = version if is_published_then else None
        if effective is None:  # it is of an earlier wording
            del origins["effective_on"]
    if repealed is not None and version is not None and repealed < version:
        # Before this wording was made: it was another one that was repealed.
        repealed = None
        del origins["repealed_on"]
    level: LawLevel | None = facts.level
    if level is None:
        level = _by_folder(paths, _LEVEL_FOLDERS, origins, "law_level")
    elif facts.level_from is None:
        origins["law_level"] = _TITLE
    else:
        origins["law_level"] = [facts.level_from.start, facts.level_from.end]
    region = facts.region.text if facts.region is not None else None
    if facts.region is not None:
        origins["region"] = [facts.region.start, facts.region.end]
    else:
        region = _by_folder(paths, {one: one for one in _REGION_FOLDERS}, origins, "region")
    if facts.issuer is not None:
        origins["issuer"] = [facts.issuer.start, facts.issuer.end]
    return Wording(
        facts.title,
        facts.articles,
        level,
        facts.issuer.text if facts.issuer is not None else None,
        region,
        passed,
        amended,
        effective,
        repealed,
        version,
        facts.dates,
        origins,
        facts.repeals,
    )


def describe_laws(
    records: Sequence[Mapping[str, Any]], paths: Sequence[str], *, is_kept: bool = False
) -> list[Wording]:
    """Return what is known of each law of a file.

    Args:
        records: of what its text says, `LawFacts.to_record`.
        paths: of the files that hold the text, POSIX.
        is_kept: a person has said that these are not repealed.
    """
    wordings = (
        describe_wording(LawFacts.from_record(record), paths, is_alone=len(records) == 1)
        for record in records
    )
    return [replace(one, is_kept=is_kept) for one in wordings]


def common_value(wordings: Sequence[Wording], name: str) -> Any:
    """Return what a field of all laws of a file is, None where they differ."""
    values = {getattr(wording, name) for wording in wordings}
    return values.pop() if len(values) == 1 else None


def named_day(path: str) -> date | None:
    """Return the day in a file's name, `行政复议法(2023-09-01).md`; None without one."""
    found = _NAMED_DAY.search(PurePosixPath(path).stem)
    try:
        return date.fromisoformat(found.group()) if found else None
    except ValueError:
        return None


def _by_folder(
    paths: Sequence[str], known: Mapping[str, _T], origins: dict[str, Any], name: str
) -> _T | None:
    for path in paths:
        for folder in PurePosixPath(path).parts[:-1]:
            if folder in known:
                origins[name] = _FOLDER
                return known[folder]
    return None


@dataclass(frozen=True, slots=True)
class Repeal:
    """By what a wording is repealed.

    Args:
        since: the day.
        law: title of the law that says so; `sentence` its words. Both are empty where the wording's
            own head says it.
    """

    since: date
    law: str = ""
    sentence: str = ""

    @property
    def quoted(self) -> str | None:
        """The law and the words that repeal it, in no language of ours; None of its own head."""
        return f"{mark_name(plain_name(self.law))}: “{self.sentence}”" if self.law else None

    @property
    def shown(self) -> str:
        """The repeal in words."""
        by = f" by {self.quoted}" if self.law else ", as its own text says"
        return f"repealed on {self.since}{by}"


@dataclass(frozen=True, slots=True)
class Judged:
    """How a wording stands on a day.

    Args:
        holds_from: since when it holds, by what is known of it and of the files that hold the same
            wording with it; None where nothing is.
        is_stated: whether a text says so, rather than the day of its wording stands for it.
        repeal: by what it is repealed; None of every other standing.
    """

    standing: Standing
    holds_from: date | None
    is_stated: bool
    repeal: Repeal | None = None


def find_repeal(
    wording: Wording, stated: Sequence[tuple[Wording, StatedRepeal]], day: date
) -> Repeal | None:
    """Return by what a wording is repealed on a day, the earliest repeal; None where by nothing.

    A law that was made after the repeal is not the one that was meant.

    Args:
        stated: what other laws say of this one, each with the wording that says so.
    """
    if wording.is_kept:
        return None
    made = wording.version_date or date.min
    found = [
        Repeal(since, one.title or "", repeal.sentence)
        for one, repeal in stated
        if (since := one.repeals_from) is not None and made < since <= day
    ]
    if wording.repealed_on is not None and wording.repealed_on <= day:
        found.append(Repeal(wording.repealed_on))
    return min(found, key=lambda one: (one.since, one.law), default=None)


def judge_wordings(
    wordings: Sequence[Wording], day: date, stated: Sequence[tuple[Wording, StatedRepeal]] = ()
) -> list[Judged]:
    """Return how the wordings of one law stand on a day, in the order given.

    Of those that hold the newest is in force, unless it was repealed; older ones are superseded.
    Files that are made on one day, or state one day of effect, hold one wording, as the books of a
    code do: the day that one of them states holds for all. Where none states it, a wording is in
    force `UNSTATED_DAYS` after it was made; until then it is not known which of it and those before
    it holds.

    Args:
        stated: what other laws say to repeal this one, each with the wording that says so.
    """
    judged: dict[int, Judged] = {}
    # What a newer wording leaves of those before it: they hold, may hold, or are superseded.
    left: Standing = "in_force"
    for same in _same_wordings(wordings):
        told = min(filter(None, (wordings[i].effective_on for i in same)), default=None)
        newer = left
        for place in same:
            wording = wordings[place]
            since = wording.effective_on or told or wording.version_date
            is_stated = bool(wording.effective_on or told)
            repeal = find_repeal(wording, stated, day)
            if repeal is not None and repeal.law and newer == "superseded":
                repeal = None  # of the newest wording alone
            standing: Standing = (
                "repealed" if repeal else _standing(since, day, is_stated=is_stated)
            )
            if standing == "in_force":
                left = "superseded"
                standing = newer
            elif standing == "repealed":
                left = "superseded"
            elif standing == "unknown" and since is not None and left == "in_force":
                left = "unknown"
            judged[place] = Judged(standing, since, is_stated, repeal)
    return [judged[place] for place in range(len(wordings))]


def _standing(since: date | None, day: date, *, is_stated: bool) -> Standing:
    """Return how a wording that is not repealed stands on a day by itself."""
    if since is None:
        return "unknown"
    if since > day:
        return "not_yet_in_force"
    is_sure = is_stated or (day - since).days >= UNSTATED_DAYS
    return "in_force" if is_sure else "unknown"


def _same_wordings(wordings: Sequence[Wording]) -> list[list[int]]:
    """Return the places of the files that hold one wording, the newest wording first."""
    newest_first = sorted(range(len(wordings)), key=lambda i: _age(wordings[i]), reverse=True)
    found: list[list[int]] = []
    for place in newest_first:
        wording = wordings[place]
        for same in found:
            if any(_is_same(wordings[other], wording) for other in same):
                same.append(place)
                break
        else:
            found.append([place])
    return found


def _is_same(one: Wording, other: Wording) -> bool:
    pairs = ((one.version_date, other.version_date), (one.effective_on, other.effective_on))
    return any(first is not None and first == second for first, second in pairs)


def _age(wording: Wording) -> date:
    return wording.version_date or wording.effective_on or date.min
