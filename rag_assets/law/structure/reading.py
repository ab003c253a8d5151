"""The laws of a file: where one ends and the next begins, what each is called, its units."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise

from rag_assets.law.articles import NUMBER, article_key
from rag_assets.model import HAN_RANGES

PATH_SEPARATOR = " > "
"""Stands between the levels of a path: in headers, metadata and citations."""


class UnitKind(StrEnum):
    """What a unit is."""

    PREAMBLE = "preamble"  # all before the first article or anchor; Chunk 0
    LEVELS = "levels"  # level lines, of a table of contents too: in no path's text, never found
    ARTICLE = "article"
    ITEM = "item"  # of a text without articles
    TEXT = "text"
    ANCHOR = "anchor"
    ANNEX = "annex"


@dataclass(frozen=True, slots=True)
class ArticleMark:
    """An article of a law.

    Args:
        key: number, and for 之一 that behind a hyphen: `20`, `133-1`.
        shown: as the law writes it: 第一百三十三条之一.
        start: [start, end) of its text.
    """

    key: str
    shown: str
    start: int
    end: int

    @property
    def number(self) -> tuple[int, int]:
        """Return the number and that behind 之, 0 without, for sorting."""
        return _number(self.key)


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of a law; the units of a law, in order, are its text.

    Args:
        start: [start, end) in the text of the file.
        path: labels of its levels, the highest first.
        article: what it is, or is a part of.
        part: of a unit that was too long its place, from 1; 0 for a whole one.
    """

    start: int
    end: int
    kind: UnitKind
    path: tuple[str, ...] = ()
    article: ArticleMark | None = None
    part: int = 0


def articles_of(units: Sequence[Unit]) -> tuple[ArticleMark, ...]:
    """Return the articles that some units hold or are parts of, each once."""
    return tuple(dict.fromkeys(unit.article for unit in units if unit.article is not None))


class LineKind(StrEnum):
    """The kinds of lines that the state machine tells apart."""

    BLANK = "blank"
    LEVEL = "level"  # 第一编, 第一分编, 第一章, 第一节, 第一目, 附则
    ARTICLE = "article"  # 第一条, 第一百三十三条之一
    ANCHOR = "anchor"  # 【裁判要旨】
    ANNEX = "annex"  # 附：, 附件一, 附表 2
    HEADING = "heading"  # another heading of the first or second rank
    ITEM = "item"  # 一、 or 1.
    TEXT = "text"


LEVELS = ("编", "分编", "章", "节", "目")
"""Levels from the highest to the lowest; a line's rank is its place here."""
_CHAPTER = LEVELS.index("章")

# White space, and what is as empty: zero-width spaces and the mark of byte order.
_MARKS = re.compile(
    r"^(?P<marks>[#>*_\s\u200b\ufeff]*)(?P<rest>.*?)[*_#\s\u200b\ufeff]*$", re.DOTALL
)
# “第十二条规定的” speaks of an article, “第十二条　” and “第十二条【标题】” begin one.
_ARTICLE = re.compile(
    rf"第\s?(?P<number>{NUMBER})\s?条(?:\s?之\s?(?P<part>{NUMBER}))?(?=[^之的规和与及至或、，,项款第所中]|$)"
)
_LEVEL = re.compile(rf"第\s?(?P<number>{NUMBER})\s?(?P<level>分编|[编章节目])(?P<rest>.*)$")
_CLOSING_CHAPTER = re.compile(r"附\s*则$")
_ANCHOR = re.compile(r"【[^】]+】")
# A word behind it that goes on makes a sentence: 附加刑也可以, 附件三所列全国性法律.
_ANNEX = re.compile(r"附\s?[件录表图注]?\s?[一二三四五六七八九十\d]*(?:$|[\s：:（(、].*)")
_ITEM = re.compile(r"(?:[一二三四五六七八九十百]+、|\d{1,3}\s?(?:[.．](?!\d)|、))")
_ENDS_A_SENTENCE = re.compile(r"[。；;：:，,]$")
# A line may break before 第…条. What leads to a reference goes on there, and so does a sentence
# without an end, unless the number is the next one.
_LEADS_TO_REFERENCE = re.compile(
    r"(?:[依按参]照|根据|依据|违反|适用|[按依]|本(?:法|条例|办法|规定|细则|解释|决定)|[、，,和与及或至])$"
)
_ENDS_A_LINE = re.compile(r"[。；;：:！？!?）)】》”’」』…|]$")
# A title that breaks behind 、 or before 及 goes on; of other titles the second line may be a
# section without a number, so that a space stays between them.
_BREAKS_INSIDE = re.compile(r"[、，,和与及的]\n|\n[和与及]")
_BODY = frozenset({LineKind.TEXT, LineKind.ARTICLE, LineKind.ITEM})
# A level that is neither marked as a heading nor parted from its title is a sentence beyond this.
_LONGEST_BARE_LEVEL = 30
_LONGEST_LABEL = 40


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its end.

    Args:
        start: [start, end) in the text, the line's end included.
        text: without Markdown marks at either side.
        rank: of a heading in Markdown from 1, 0 for none.
        key: of an article; `20`, `276-1`.
        level: of a level its place in `LEVELS`.
        label: of a level or an anchor as it stands in a path; of an article as it is written.
    """

    start: int
    end: int
    kind: LineKind
    text: str
    rank: int = 0
    key: str = ""
    level: int = -1
    label: str = ""


def read_lines(text: str, start: int = 0) -> list[Line]:
    """Return the lines of a text; together they are the text.

    Args:
        start: offset of the text's first character.
    """
    lines: list[Line] = []
    last: tuple[int, int] | None = None
    for written in re.findall(r"[^\n]*\n|[^\n]+$", text):
        line = _read(written, start)
        if line.kind is LineKind.ARTICLE and lines and _goes_on(lines[-1], line, last):
            line = Line(line.start, line.end, LineKind.TEXT, line.text, line.rank)
        if line.kind is LineKind.ARTICLE:
            last = _number(line.key)
        lines.append(line)
        start += len(written)
    return _join_levels(lines)


def _join_levels(lines: list[Line]) -> list[Line]:
    """Return lines of which the second of a level's title belongs to the level.

    第五章 县长、 and 副县长的选举 behind it are one title.
    """
    seen = [place for place, line in enumerate(lines) if line.kind is not LineKind.BLANK]
    for above, place, below in zip(seen, seen[1:], seen[2:], strict=False):
        level, line = lines[above], lines[place]
        if (
            level.kind is LineKind.LEVEL
            and lines[below].kind in {LineKind.LEVEL, LineKind.ARTICLE}
            and line.kind is LineKind.TEXT
            and not (line.rank or level.label.endswith("附则"))
            and len(line.text) <= _LONGEST_BARE_LEVEL
            and not _ENDS_A_LINE.search(line.text)
        ):
            gap = "" if _BREAKS_INSIDE.search(f"{level.label}\n{line.text}") else " "
            label = f"{level.label}{gap}{_close_up(line.text)}"
            lines[place] = replace(line, kind=LineKind.LEVEL, level=level.level, label=label)
    return lines


def _goes_on(before: Line, line: Line, last: tuple[int, int] | None) -> bool:
    """Say whether a line that begins like an article goes on with the sentence before it.

    Args:
        last: number of the article before, and that behind its 之; None where there is none.
    """
    if before.kind not in _BODY or line.rank or _ENDS_A_LINE.search(before.text):
        return False
    if _LEADS_TO_REFERENCE.search(before.text):
        return True
    number = _number(line.key)
    # An article 1 may begin a further law, whose title ends no sentence.
    if last is None or number == (1, 0):
        return False
    return number not in {(last[0] + 1, 0), (last[0], last[1] + 1)}


def _number(key: str) -> tuple[int, int]:
    number, _, part = key.partition("-")
    return int(number), int(part or 0)


def _read(written: str, start: int) -> Line:
    end = start + len(written)
    match = _MARKS.match(written)
    marks, rest = (match["marks"], match["rest"]) if match else ("", written)
    rank = marks.count("#")
    if not rest:
        return Line(start, end, LineKind.BLANK, "", rank)
    article = _ARTICLE.match(rest)
    if article:
        key = article_key(article["number"], article["part"]).replace(".", "-")
        shown = f"第{article['number']}条" + (f"之{article['part']}" if article["part"] else "")
        return Line(start, end, LineKind.ARTICLE, rest, rank, key, label=shown)
    level = _read_level(rest, is_heading=rank > 0)
    if level is not None:
        return Line(start, end, LineKind.LEVEL, rest, rank, level=level[0], label=level[1])
    kind, label = _read_other(rest, rank)
    return Line(start, end, kind, rest, rank, label=label)


def _read_level(rest: str, *, is_heading: bool) -> tuple[int, str] | None:
    """Return the place in `LEVELS` and the label of a level line."""
    if _CLOSING_CHAPTER.match(rest):
        return _CHAPTER, "附则"
    match = _LEVEL.match(rest)
    if match is None or _ENDS_A_SENTENCE.search(rest):
        return None
    title = match["rest"]
    is_parted = not title or title[0].isspace()
    if not (is_heading or is_parted) and len(rest) > _LONGEST_BARE_LEVEL:
        return None
    name = f"第{match['number']}{match['level']}"
    return LEVELS.index(match["level"]), f"{name} {_close_up(title)}".strip()


def _read_other(rest: str, rank: int) -> tuple[LineKind, str]:
    anchor = _ANCHOR.match(rest)
    if anchor:
        return LineKind.ANCHOR, anchor.group()
    if _ANNEX.fullmatch(rest):
        return LineKind.ANNEX, _close_up(rest)[:_LONGEST_LABEL].rstrip("：: ")
    if rank in {1, 2}:
        return LineKind.HEADING, ""
    return (LineKind.ITEM if _ITEM.match(rest) else LineKind.TEXT), ""


def _close_up(title: str) -> str:
    """Return a title without the white space that sets its characters apart: 总　则."""
    return re.sub(r"(?<=[^\x00-\x7f])\s+(?=[^\x00-\x7f])", "", " ".join(title.split()))


class State(StrEnum):
    """Where in a law the machine stands."""

    PREAMBLE = "preamble"
    CONTENTS = "contents"
    BODY = "body"
    BETWEEN = "between"


class Event(StrEnum):
    """What a line is to the machine. Which kind of line is an ENTITY, the cascade decides."""

    LEVEL = "level"
    ENTITY = "entity"  # an article; in a law without one a list item; without either, text
    ANCHOR = "anchor"
    ANNEX = "annex"
    OTHER = "other"
    BLANK = "blank"


# Ranks in a path besides those of `LEVELS`: an annex stands above all, an anchor below all.
_ANNEX_RANK, _ANCHOR_RANK = -1, 99

_Path = tuple[tuple[int, str], ...]


@dataclass(slots=True)
class _Work:
    """What the machine has in hand: the path, the levels that wait, and the unit that is open."""

    entity: UnitKind
    start: int
    path: _Path = ()
    pending: _Path = ()
    # A level came twice with nothing between them: what waits may be a table of contents.
    is_contents: bool = False
    kind: UnitKind = UnitKind.PREAMBLE
    article: tuple[str, str] | None = None
    units: list[Unit] = field(default_factory=list)

    def close(self, at: int) -> None:
        """End the open unit before an offset."""
        if at <= self.start:
            return
        article = ArticleMark(*self.article, self.start, at) if self.article else None
        is_level = self.kind is UnitKind.LEVELS
        path = () if is_level else tuple(label for _, label in self.path)
        self.units.append(Unit(self.start, at, self.kind, path, article))
        self.start = at

    def open(self, line: Line, kind: UnitKind, path: _Path, pending: _Path = ()) -> None:
        """End the open unit and begin one with a line."""
        self.close(line.start)
        self.kind, self.path, self.pending = kind, path, pending
        self.article = (line.key, line.label) if line.kind is LineKind.ARTICLE else None
        self.is_contents = self.is_contents and bool(pending)

    @property
    def settled(self) -> _Path:
        """The path once what waits becomes part of it: levels above the highest of them stay."""
        if not self.pending:
            return self.path
        highest = self.pending[0][0]
        return (*(one for one in self.path if one[0] < highest), *self.pending)


def _extend(work: _Work, line: Line) -> None:
    """Let the line belong to the unit that is open."""


def _push(work: _Work, line: Line) -> None:
    """Let a level wait; equal and deeper ones that wait go."""
    work.is_contents |= any(rank == line.level for rank, _ in work.pending)
    kept = tuple(one for one in work.pending if one[0] < line.level)
    if work.kind is not UnitKind.LEVELS:
        work.open(line, UnitKind.LEVELS, work.path, work.pending)
    work.pending = (*kept, (line.level, line.label))


def _begin_entity(work: _Work, line: Line) -> None:
    """Make what waits the path, and begin an article; without articles an item, or text."""
    work.open(line, work.entity, work.settled)


def _begin_anchor(work: _Work, line: Line) -> None:
    """Make what waits the path, the anchor's own label below it, and begin what it heads."""
    above = tuple(one for one in work.settled if one[0] != _ANCHOR_RANK)
    work.open(line, UnitKind.ANCHOR, (*above, (_ANCHOR_RANK, line.label)))


def _begin_annex(work: _Work, line: Line) -> None:
    """Begin an annex: it stands below no chapter, and its own levels below it."""
    work.open(line, UnitKind.ANNEX, ((_ANNEX_RANK, line.label),))


def _introduce(work: _Work, line: Line) -> None:
    """Begin text that stands between a level and its first article."""
    work.open(line, UnitKind.TEXT, work.settled)


def _go_on_before(work: _Work, line: Line) -> None:
    """Go on with the preamble; the levels of a table of contents before it are forgotten."""
    work.open(line, UnitKind.PREAMBLE, (), () if work.is_contents else work.pending)


_Action = Callable[[_Work, Line], None]

TRANSITIONS: dict[tuple[State, Event], tuple[State, _Action]] = {
    # Chunk 0: everything before the first anchor or level (2.1.2-1).
    (State.PREAMBLE, Event.OTHER): (State.PREAMBLE, _extend),
    (State.PREAMBLE, Event.BLANK): (State.PREAMBLE, _extend),
    (State.PREAMBLE, Event.LEVEL): (State.CONTENTS, _push),
    (State.PREAMBLE, Event.ENTITY): (State.BODY, _begin_entity),
    (State.PREAMBLE, Event.ANCHOR): (State.BODY, _begin_anchor),
    (State.PREAMBLE, Event.ANNEX): (State.BODY, _begin_annex),
    # A level changes no path; only what it leads to does (2.1.2-2).
    (State.CONTENTS, Event.LEVEL): (State.CONTENTS, _push),
    (State.CONTENTS, Event.BLANK): (State.CONTENTS, _extend),
    (State.CONTENTS, Event.OTHER): (State.PREAMBLE, _go_on_before),
    (State.CONTENTS, Event.ENTITY): (State.BODY, _begin_entity),
    (State.CONTENTS, Event.ANCHOR): (State.BODY, _begin_anchor),
    (State.CONTENTS, Event.ANNEX): (State.BODY, _begin_annex),
    # Articles and anchors go on until the next one (2.1.2-4).
    (State.BODY, Event.OTHER): (State.BODY, _extend),
    (State.BODY, Event.BLANK): (State.BODY, _extend),
    (State.BODY, Event.LEVEL): (State.BETWEEN, _push),
    (State.BODY, Event.ENTITY): (State.BODY, _begin_entity),
    (State.BODY, Event.ANCHOR): (State.BODY, _begin_anchor),
    (State.BODY, Event.ANNEX): (State.BODY, _begin_annex),
    (State.BETWEEN, Event.LEVEL): (State.BETWEEN, _push),
    (State.BETWEEN, Event.BLANK): (State.BETWEEN, _extend),
    (State.BETWEEN, Event.OTHER): (State.BODY, _introduce),
    (State.BETWEEN, Event.ENTITY): (State.BODY, _begin_entity),
    (State.BETWEEN, Event.ANCHOR): (State.BODY, _begin_anchor),
    (State.BETWEEN, Event.ANNEX): (State.BODY, _begin_annex),
}


def run(lines: Sequence[Line], entity: UnitKind, entities: frozenset[LineKind]) -> list[Unit]:
    """Return the units of one law, in order; together they are its text.

    Args:
        lines: of the law.
        entity: what its text is cut into; `entities` are the lines that begin one.
    """
    if not lines:
        return []
    work, state = _Work(entity, lines[0].start), State.PREAMBLE
    for line in lines:
        state, act = TRANSITIONS[state, _event(line, entities)]
        act(work, line)
    work.close(lines[-1].end)
    return work.units


_EVENTS = {
    LineKind.BLANK: Event.BLANK,
    LineKind.LEVEL: Event.LEVEL,
    LineKind.ANCHOR: Event.ANCHOR,
    LineKind.ANNEX: Event.ANNEX,
}


def _event(line: Line, entities: frozenset[LineKind]) -> Event:
    if line.kind in entities:
        return Event.ENTITY
    return _EVENTS.get(line.kind, Event.OTHER)


# Lines with text, levels not counted, that are looked at upwards from an article 1 (2.1.2-3).
_LOOK_BEHIND = 20
_LONGEST_TITLE = 60
_LONGEST_LAW_TITLE = 120
_STOPS = re.compile(r"[。；，：]")
_ENDS_SENTENCE = tuple("。；;！!？?：:，,）)>")
_CONTENTS = re.compile(r"目\s*[录次]")
_COMMENT = re.compile(r"\s*<!--.*?-->\s*")
_BRACKETS = r"(?:\s*[（(][^（）()]*[）)])*$"
# How a title ends, with （试行）, （二） or （1999年） behind it.
_LAW_TITLE = re.compile(
    r"(?:法|法典|条例|办法|规定|决定|决议|解释|细则|规则|规程|修正案|意见|批复|答复|复函|通知|公告|标准"
    rf"|规范|目录|公约|协定|纲要|方案|安排|制度|章程|守则|准则){_BRACKETS}"
)
_NOTICE = re.compile(rf"(?:公告|通知){_BRACKETS}")
_AMENDMENT = re.compile(rf"(?:决定|修正案){_BRACKETS}")
# 主席令, 第七十七号 and 总理 李克强 stand above a title and are no part of it.
_ABOVE_TITLE = re.compile(
    r"[令号日]$|(?:主席|总理|部长|省长|市长|州长|县长|主任|院长|检察长|局长|署长|行长)\s*\S{2,4}$"
)
_BOOK = re.compile(r"\S{2,8}编")  # of a code, in a file of its own
# 甲市人民政府 stands above 甲市养犬办法; with 关于加强养犬管理的决定 it is one title.
# A line that dates a law: 2020年5月1日 …通过, （2020年5月1日…）, 根据2021年….
_DATED = re.compile(
    rf"[（(]?\s*(?:根据|自)?\s*(?:{NUMBER}|\d{{4}})\s*年|[（(].*(?:通过|公布|发布|修订|修正)"
)
# 中华人民共和国各级人民代表大会 is no issuer: it is the first line of a title.
_ISSUER = re.compile(
    r"^(?!中华人民共和国.*(?:大会|政府|银行)$).*"
    r"(?:委员会|人民政府|人民代表大会|法院|检察院|国务院|部|局|总署|银行)$"
)
# 关于 and what follows may have its issuer on the line above.
_BEGINS_TITLE = re.compile(
    rf"中华人民共和国|全国人民|最高人民|国务院|[{HAN_RANGES}]{{2,10}}?(?:省|市|自治区|自治州|自治县|县)"
)
_GOES_ON = ("若干", "问题", "的")  # how no title begins
# Cascade (2.1.2-5): a law is cut into the first of these that it has.
_CASCADE = (
    (UnitKind.ARTICLE, frozenset({LineKind.ARTICLE})),
    (UnitKind.ITEM, frozenset({LineKind.ITEM})),
    (UnitKind.TEXT, frozenset[LineKind]()),
)


@dataclass(frozen=True, slots=True)
class LawText:
    """A law within a file.

    Args:
        title: as it was read from the text; None where nothing looks like one.
        start: [start, end) in the text of the file, its preamble included.
        units: in order; together they are its text.
    """

    title: str | None
    start: int
    end: int
    units: tuple[Unit, ...]


def read_laws(text: str) -> list[LawText]:
    """Return the laws of a file in order; together they are its text. None for an empty one."""
    lines = read_lines(text)
    if not lines:
        return []
    # A further law begins with the title above an article 1 that comes again, or with this article
    # where it has none; with the title below a decision that amends the law; and with a title that
    # is a heading of the first rank, or that of a decision or an amendment with its day below,
    # behind the text of another law.
    found: list[int] = []
    # The last article, or the line above the law; whether it has text; its title before that.
    last, has_text, title = -1, False, ""
    for index, line in enumerate(lines):
        if line.kind is LineKind.ARTICLE:
            if line.key == "1" and last >= 0 and lines[last].kind is LineKind.ARTICLE:
                above = _title(lines[last + 1 : index], index - last - 1)
                found.append(last + 1 + above if above is not None else index)
            last, has_text = index, True
        elif has_text and _begins_law(lines, index, title):
            first = index if line.rank else _first_of_bare_title(lines, index)
            found.append(first)
            last, has_text, title = first - 1, False, line.text
        elif not has_text and _is_title(line) and not _NOTICE.search(line.text):
            title = title or line.text
        elif line.kind is LineKind.ITEM or (line.kind is LineKind.TEXT and not line.rank):
            has_text |= not (_is_short(line.text) or _DATED.match(line.text))
    cuts = [0, *sorted(set(found)), len(lines)]
    laws = [lines[start:end] for start, end in pairwise(cuts)]
    return [_read_law(law) for law in laws]


def _read_law(lines: Sequence[Line]) -> LawText:
    entity, entities = next(
        (kind, wanted)
        for kind, wanted in _CASCADE
        if not wanted or any(line.kind in wanted for line in lines)
    )
    title = _title(lines, _first_entity(lines), is_first=True)
    return LawText(
        _full_title(lines, title) if title is not None else None,
        lines[0].start,
        lines[-1].end,
        tuple(run(_with_closing_part(lines), entity, entities)),
    )


def _with_closing_part(lines: Sequence[Line]) -> Sequence[Line]:
    """Return the lines of a law, its 附则 beside its 编 where that is what the source says.

    It stands beside them where its heading has their rank or none: a chapter of the last 编 has a
    number, and where it has none the rank of one.
    """
    parts = [line for line in lines if line.kind is LineKind.LEVEL and line.level == 0]
    if not parts:
        return lines
    return [
        replace(line, level=0)
        if line.kind is LineKind.LEVEL
        and line.label == "附则"
        and line.rank <= parts[-1].rank
        and line.start > parts[-1].start
        else line
        for line in lines
    ]


def _first_entity(lines: Sequence[Line]) -> int:
    """Return the index of the first article, level or list item; of a late line without one."""
    for wanted in (LineKind.ARTICLE, LineKind.LEVEL, LineKind.ITEM):
        found = next((index for index, line in enumerate(lines) if line.kind is wanted), None)
        if found is not None:
            return found
    return min(len(lines), _LOOK_BEHIND)


def _begins_law(lines: Sequence[Line], index: int, title: str) -> bool:
    """Say whether a line behind the text of a law is the title of the next one.

    Args:
        title: of the law whose text stands above it; "" where that has none, as a decree by which
            a law is made public: it belongs to that law.
    """
    line = lines[index]
    if not title or not _is_title(line):
        return False
    if line.rank == 1:
        return True
    if not (is_amendment(line.text) or is_amendment(title)):
        return False
    below = next((one for one in lines[index + 1 :] if one.kind is not LineKind.BLANK), None)
    return below is not None and (
        below.key == "1"
        or (below.kind is LineKind.LEVEL and below.label.startswith("第一"))
        or _DATED.match(below.text) is not None
        or _CONTENTS.fullmatch(below.text) is not None
    )


def is_amendment(title: str) -> bool:
    """Say whether a title is that of a decision or an amendment: 关于修改《甲法》的决定."""
    return _AMENDMENT.search(title) is not None


def _is_title(line: Line) -> bool:
    """Say whether a line is named as laws are, and is no sentence and no note."""
    text = _COMMENT.sub("", line.text)
    return (
        line.kind in {LineKind.HEADING, LineKind.TEXT}
        and len(text) <= _LONGEST_LAW_TITLE
        and _LAW_TITLE.search(text) is not None
        and not _STOPS.search(text)
        and text.count("《") == text.count("》")
        and _CONTENTS.fullmatch(text) is None
        and not _DATED.match(text)
    )


def _title(lines: Sequence[Line], below: int, *, is_first: bool = False) -> int | None:
    """Return the line that names the law, looking upwards from a line that belongs to it.

    The nearest heading of the first rank, else of the second, else the nearest line that is named
    as laws are, else the nearest short line that is no sentence, date or note; levels are passed
    over.

    Args:
        is_first: the lines begin with the law; of short lines the first one is its title then.
    """
    passed_over = {LineKind.BLANK, LineKind.LEVEL}
    above = [i for i in range(below - 1, -1, -1) if lines[i].kind not in passed_over]
    # A heading of the first rank between two laws is a title, however long the preamble is.
    for rank, window in ((1, above), (2, above[:_LOOK_BEHIND])):
        for index in window:
            if _is_heading(lines[index], rank):
                return _first_of_title(lines, index)
    texts = [i for i in above[:_LOOK_BEHIND] if lines[i].kind is LineKind.TEXT]
    named = next((i for i in texts if _is_title(lines[i])), None)
    if named is None and is_first:
        texts = [i for i in above if lines[i].kind is LineKind.TEXT]
        named = next((i for i in reversed(texts) if _is_title(lines[i])), None)
    if named is not None:
        return _first_of_bare_title(lines, named)
    short = [i for i in texts if _is_short(lines[i].text)]
    return short[-1 if is_first else 0] if short else None


def _first_of_bare_title(lines: Sequence[Line], last: int) -> int:
    """Return the first line of a title without marks that goes over several lines."""
    first = last
    for index in range(last - 1, -1, -1):
        line = lines[index]
        if _BEGINS_TITLE.match(lines[first].text):
            break
        if line.kind is LineKind.BLANK:
            continue
        is_part = line.kind is LineKind.TEXT and (
            lines[first].text.startswith(_GOES_ON) or (not _is_title(line) and _is_short(line.text))
        )
        is_issuer = _ISSUER.search(line.text) and not (
            line.text.startswith("关于") or lines[first].text.startswith("关于")
        )
        if not is_part or is_issuer or _ABOVE_TITLE.search(line.text):
            break
        first = index
    return first


def _first_of_title(lines: Sequence[Line], last: int) -> int:
    """Return the first of the headings of one rank that a title is written in."""
    first = last
    for index in range(last - 1, -1, -1):
        if _is_heading(lines[index], lines[last].rank):
            first = index
        elif lines[index].kind is not LineKind.BLANK:
            break
    return first


def _full_title(lines: Sequence[Line], first: int) -> str:
    """Return the title that begins with a line: headings of one rank, or lines without marks."""
    rank, parts = lines[first].rank, [lines[first].text]
    is_named = _is_title(lines[first])
    for line in lines[first + 1 :]:
        if line.kind is LineKind.BLANK:
            continue
        if rank:
            goes_on = _is_heading(line, rank)
        elif is_named:
            goes_on = parts[-1].endswith("法典") and _BOOK.fullmatch(line.text) is not None
        else:
            is_named = _is_title(line)
            goes_on = line.kind is LineKind.TEXT and (is_named or _is_short(line.text))
        if not goes_on:
            break
        parts.append(line.text)
    if not (rank or is_named):
        parts = parts[:1]
    return _COMMENT.sub("", "".join(parts)).strip()


def _is_heading(line: Line, rank: int) -> bool:
    return line.rank == rank and line.kind not in {LineKind.LEVEL, LineKind.ARTICLE}


def _is_short(text: str) -> bool:
    is_note = text.startswith(("<", "（", "(")) or any(c.isdigit() for c in text)
    is_note = is_note or _CONTENTS.fullmatch(text) is not None
    return len(text) <= _LONGEST_TITLE and not text.endswith(_ENDS_SENTENCE) and not is_note


SOFT_LIMIT = 1200
FALLBACK = (500, 1000)
# Groups that are searched may pass the soft limit while they have less than a full one's share of
# it: by a limit of 1,200 characters they have 1,000 to 1,500 (2.1.2-4).
FULL_AND_MOST = (5 / 6, 5 / 4)
_CLOSERS = r"[”’」』）)]*"
_OF_NUMBER_OR_WORD = r"[0-9A-Za-z.,，、：:%％〇零一二两三四五六七八九十百千万亿]"
# Where a line that is too long is cut: behind sentences; in one that is too long itself behind
# clauses, and so on to where no number, word or character falls apart. 1,000 and 12：30 are whole.
_INNER_ENDS = (
    re.compile(rf"[。！？!?]+{_CLOSERS}"),
    re.compile(rf"[；;]+{_CLOSERS}"),
    re.compile(rf"(?:[，、：,:](?!\d)|(?<!\d)[，、：,:]){_CLOSERS}"),
    re.compile(r"\s+"),
    re.compile(
        rf"(?:(?<!{_OF_NUMBER_OR_WORD})|(?!{_OF_NUMBER_OR_WORD}))(?<!\u200d)(?![\u0300-\u036f\u200d\ufe0f])"
    ),
)
_NUMBERED = re.compile(rf"[(（]\s?{NUMBER}\s?[)）]")
# Chunk 0 stands alone, and level lines are not shown.
_ALONE = frozenset({UnitKind.PREAMBLE, UnitKind.LEVELS})


@dataclass(frozen=True, slots=True)
class Group:
    """Units that are shown together: of one path, of one law, to about the soft limit.

    Args:
        units: at least one, in order.
    """

    units: tuple[Unit, ...]

    @property
    def start(self) -> int:
        """Return where it begins in the text of the file."""
        return self.units[0].start

    @property
    def end(self) -> int:
        """Return the offset behind its last character."""
        return self.units[-1].end

    @property
    def path(self) -> tuple[str, ...]:
        """Return the path that its units share."""
        return self.units[0].path

    @property
    def kind(self) -> UnitKind:
        """Return the kind of its first unit."""
        return self.units[0].kind

    @property
    def articles(self) -> tuple[ArticleMark, ...]:
        """Return the articles that it holds or is a part of."""
        return articles_of(self.units)


def merge_units(
    text: str,
    units: Sequence[Unit],
    *,
    soft_limit: int = SOFT_LIMIT,
    fallback: tuple[int, int] = FALLBACK,
    is_searched: bool = False,
) -> list[Group]:
    """Return the units of one law in groups; a unit that is too long is cut before.

    Args:
        text: of the file.
        units: of one law, in order.
        soft_limit: characters of a group; the next unit that would pass it begins a new one.
        fallback: characters of a part of what is too long, at least and at most; whole lines where
            a line is not longer than that. What is neither article nor list item is cut above it.
        is_searched: groups are what is searched: one that is not full takes a further unit that
            passes the limit by no more than a quarter.
    """
    shares = FULL_AND_MOST if is_searched else (0, 1)
    full, most = (soft_limit * share for share in shares)
    groups: list[Group] = []
    held: list[Unit] = []
    for unit in units:
        parts = list(_cut(text, unit, int(most), fallback))
        if len(parts) > 1 or unit.kind in _ALONE:
            _put_out(groups, held)
            groups += [Group((part,)) for part in parts]
            continue
        if held:
            limit = most if unit.start - held[0].start < full else soft_limit
            if unit.end - held[0].start > limit or held[-1].path != unit.path:
                _put_out(groups, held)
        held.append(unit)
    _put_out(groups, held)
    return groups


def _put_out(groups: list[Group], held: list[Unit]) -> None:
    if held:
        groups.append(Group(tuple(held)))
        held.clear()


def _cut(text: str, unit: Unit, limit: int, fallback: tuple[int, int]) -> Iterator[Unit]:
    """Yield a unit, or its parts where it is longer than the limit."""
    longest = limit if unit.kind in {UnitKind.ARTICLE, UnitKind.ITEM} else min(limit, fallback[1])
    if unit.end - unit.start <= longest or unit.kind is UnitKind.LEVELS:
        yield unit
        return
    start, ends = unit.start, list(_ends(text, unit, fallback[1]))
    visible = start + len(text[start : unit.end].rstrip())
    for part, end in enumerate(_pack(start, ends, visible, *fallback), start=1):
        yield replace(unit, start=start, end=end, part=part)
        start = end


_End = tuple[int, bool, bool]
"""(offset, whether a list item begins there, whether a sentence ends there)."""


def _ends(text: str, unit: Unit, most: int) -> Iterator[_End]:
    """Yield where a unit can be cut: behind lines, and inside of lines that are too long."""
    lines = read_lines(text[unit.start : unit.end], unit.start)
    is_sentence = False
    for line, following in zip(lines, [*lines[1:], None], strict=True):
        if line.end - line.start > most:
            inner = _inner_ends(text, line.start, line.end, most)
            yield from ((end, False, is_end) for end, is_end in inner)
        if line.kind is not LineKind.BLANK:
            is_sentence = line.rank == 0 and _ENDS_A_LINE.search(line.text) is not None
        is_item = following is not None and _begins_item(following)
        yield line.end, is_item, is_sentence


def _begins_item(line: Line) -> bool:
    return line.kind is LineKind.ITEM or _NUMBERED.match(line.text) is not None


def _inner_ends(
    text: str, start: int, end: int, most: int, place: int = 0
) -> Iterator[tuple[int, bool]]:
    """Yield where a span that is too long can be cut, and whether a sentence ends there.

    Args:
        place: of the marks that are looked for, in `_INNER_ENDS`.
    """
    if end - start <= most:
        return
    if place == len(_INNER_ENDS):
        yield from ((at, False) for at in range(start + most, end, most))
        return
    for match in _INNER_ENDS[place].finditer(text, start + 1, end - 1):
        yield from _inner_ends(text, start, match.end(), most, place + 1)
        yield match.end(), place == 0
        start = match.end()
    yield from _inner_ends(text, start, end, most, place + 1)


def _pack(start: int, ends: Sequence[_End], last: int, least: int, most: int) -> Iterator[int]:
    """Yield the ends of parts: before a list item once there is enough, at the latest when full.

    A part ends with a sentence where one ends, and neither it nor what is left is shorter than
    `least` where that can be.

    Args:
        last: offset behind the last visible character.
    """
    place = 0
    while last - start > most:
        stop = place + 1
        while ends[stop][0] - start <= most:
            stop += 1
        fitting = ends[place:stop]
        enough = [one for one in fitting if one[0] - start >= least and last - one[0] >= least]
        chosen = next((one for one in enough if one[1]), None)
        for some in (enough, fitting):
            chosen = chosen or next((one for one in reversed(some) if one[2]), None)
            chosen = chosen or (some[-1] if some else None)
        start = chosen[0] if chosen else ends[place][0]
        yield start
        while ends[place][0] <= start:
            place += 1
    yield ends[-1][0]
