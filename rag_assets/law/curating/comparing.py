"""Rules that compare files: equal texts, wordings, repeals."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from rag_assets.law.curating.rules import (
    Files,
    Finding,
    FindingKind,
    LawFile,
    articles_by_law,
    is_stub,
    law_name,
    quotes_articles,
)
from rag_assets.law.metadata import MADE, find_repeals, read_facts
from rag_assets.law.versions import Wording, describe_wording, named_day
from rag_assets.model import hash_text


@dataclass(frozen=True, slots=True)
class Repeal:
    """A law that another one repeals: its name, and the line that says so."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class LawCard:
    """What is remembered of a file once it was read.

    Args:
        told_on: the day of this wording by its text; `named_on` by the file's name.
        holds_from: since when it holds: by its text, where `is_stated`, else since it was made.
        first: number of the first article and of the last one; None without articles.
        is_compared: whether it has text enough to be compared, and is a law's own.
        is_kept: a person has said that it is not repealed.
        digest: of the text without white space and marks.
    """

    file: str
    copies: tuple[str, ...]
    name: str
    told_on: date | None
    named_on: date | None
    holds_from: date | None
    is_stated: bool
    repealed_on: date | None
    first: int | None
    last: int | None
    is_compared: bool
    digest: str
    repeals_from: date | None
    repeals: tuple[Repeal, ...]
    is_kept: bool

    @property
    def made_on(self) -> date | None:
        """The day of this wording, by its text or the file's name, the later of the two."""
        return max(filter(None, (self.told_on, self.named_on)), default=None)


def make_card(file: LawFile) -> LawCard:
    """Return what the comparing rules need to know of a file."""
    plain = re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", file.text))
    laws = articles_by_law(file)
    facts = read_facts(file.text, file.laws[0]) if file.laws else None
    wording = describe_wording(facts, [file.file]) if facts else Wording(None)
    told = [one.day for one in facts.dates if one.kind in MADE] if facts else []
    return LawCard(
        file.file,
        file.copies,
        law_name(file.title or file.stem),
        max(told, default=None),
        named_day(file.file),
        wording.holds_from,
        wording.effective_on is not None,
        wording.repealed_on,
        laws[0][0].number[0] if laws else None,
        laws[-1][-1].number[0] if laws else None,
        not quotes_articles(file) and not is_stub(file),
        hash_text(plain),
        wording.repeals_from,
        tuple(
            Repeal(law_name(one.law), file.line_at(one.start))
            for law in file.laws
            for one in find_repeals(file.text, law)
        ),
        file.is_kept,
    )


@dataclass(frozen=True, slots=True)
class LibraryRule:
    """A rule that compares files.

    Args:
        id, kind, advice: as of `FileRule`.
        fires: texts by path among which it fires; `silent` among which it does not.
        check: file, line, sentence and the files compared with, of what it finds on a day.
    """

    id: str
    kind: FindingKind
    advice: str
    fires: Files
    silent: Files
    check: "Callable[[Sequence[LawCard], date], Iterator[_Compared]]"

    def apply(self, cards: Sequence[LawCard], as_of: date) -> Iterator[Finding]:
        """Yield what it finds among files."""
        for file, line, why, others in self.check(cards, as_of):
            yield Finding(self.kind, self.id, file, line, None, why, self.advice, tuple(others))


_Compared = tuple[str, int | None, str, Sequence[str]]


def _find_equal(cards: Sequence[LawCard], _as_of: date) -> Iterator[_Compared]:
    for group in _equal_groups(cards):
        for copy in group[0].copies:
            yield copy, None, "It holds the same bytes as another file.", (group[0].file,)
        for card in group[1:]:
            yield (
                card.file, None, "Its text equals another file's but for white space and marks.",
                (group[0].file,),
            )  # fmt: skip


def _equal_groups(cards: Sequence[LawCard]) -> list[list[LawCard]]:
    groups: dict[str, list[LawCard]] = defaultdict(list)
    for card in cards:
        groups[card.digest].append(card)
    return list(groups.values())


def _are_wordings(one: LawCard, other: LawCard) -> bool:
    """Say whether two files hold one law as it was on different days.

    A day in one file's name alone parts it from no other file that tells the same day.
    """
    if one.name != other.name:
        return False
    if one.named_on and other.named_on and one.named_on != other.named_on:
        return True
    if one.told_on and other.told_on:
        return one.told_on != other.told_on
    return one.made_on != other.made_on


def _find_newer(cards: Sequence[LawCard], as_of: date) -> Iterator[_Compared]:
    by_name: dict[str, list[LawCard]] = defaultdict(list)
    for card in cards:
        if card.made_on is not None and card.is_compared:
            by_name[card.name].append(card)
    for wordings in by_name.values():
        holding = [card for card in wordings if card.holds_from and card.holds_from <= as_of]
        newest = max(holding, key=lambda card: card.made_on or date.min, default=None)
        for card in wordings:
            if newest is None or card.made_on is None or newest.made_on is None:
                continue
            is_older = card.made_on < newest.made_on and _are_wordings(card, newest)
            if is_older and not _is_another_book(card, newest):
                since = (
                    f"holds since {newest.holds_from}"
                    if newest.is_stated
                    else "does not say since when it holds"
                )
                yield (
                    card.file, None,
                    f"There is one of {newest.made_on}, which {since}; here is {card.made_on}.",
                    (newest.file,),
                )  # fmt: skip


def _is_another_book(one: LawCard, other: LawCard) -> bool:
    """Say whether two files hold different articles of one code."""
    if one.first is None or one.last is None or other.first is None or other.last is None:
        return False
    return one.first > other.last or other.first > one.last


def _find_repealed(cards: Sequence[LawCard], as_of: date) -> Iterator[_Compared]:
    by_name: dict[str, list[LawCard]] = defaultdict(list)
    for card in cards:
        if card.is_kept:
            continue
        by_name[card.name].append(card)
        if card.repealed_on is not None and card.repealed_on <= as_of:
            yield card.file, None, f"Its head says that it was repealed on {card.repealed_on}.", ()
    for later in cards:
        since = later.repeals_from
        if since is None or since > as_of:
            continue
        for repeal in later.repeals:
            for card in by_name.get(repeal.name, ()):
                if (card.made_on or date.min) < since and card is not later:
                    yield (
                        card.file, None,
                        f"Line {repeal.line} of the other file repeals it on {since}.",
                        (later.file,),
                    )  # fmt: skip


def _law_text(title: str, day: str, effect: str = "", words: str = "养犬") -> str:
    articles = "".join(
        f"第{number}条 {words}应当向第{number}号所在区主管部门登记，并遵守第{number}项规则。\n\n"
        for number in "一二三四五"
    )
    last = f"第六条 本条例自{day}起施行。{effect}\n"
    return f"# {title}\n\n{day} 甲市人民代表大会通过\n\n{articles}{last}"


_OLD, _NEW = _law_text("甲市养犬条例", "2010年5月1日"), _law_text("甲市养犬条例", "2020年5月1日")
_OTHER = _law_text("甲市供热条例", "2020年5月1日", words="供热用户和单位")
_PAIR = {"甲/甲市养犬条例(2010-05-01).md": _OLD, "甲/甲市供热条例.md": _OTHER}
_LEAVE_ONE = "Keep one of them."

COMPARING_RULES = (
    LibraryRule(
        "equal-text", FindingKind.EQUAL, _LEAVE_ONE,
        {"甲/甲市养犬条例.md": _NEW, "乙/养犬.md": _NEW.replace("\n\n", "\n")}, _PAIR, _find_equal,
    ),
    LibraryRule(
        "newer-wording", FindingKind.SUPERSEDED,
        "Keep it for questions about the past; it is marked as superseded.",
        {"甲/甲市养犬条例(2010-05-01).md": _OLD, "甲/甲市养犬条例(2020-05-01).md": _NEW}, _PAIR,
        _find_newer,
    ),
    LibraryRule(
        "repealed", FindingKind.SUPERSEDED,
        "It counts as repealed. Keep it for questions about the past, or take it out; where it is "
        "not repealed, say so: `rag meta set UID repealed=false`.",
        {**_PAIR, "乙/甲市动物条例.md": _law_text(
            "甲市动物条例", "2022年5月1日", "《甲市养犬条例》同时废止。", "动物")},
        {**_PAIR, "乙/甲市动物条例.md": _law_text(
            "甲市动物条例", "2022年5月1日", "《甲市养犬条例》第三条同时废止。", "动物")},
        _find_repealed,
    ),
)  # fmt: skip
