"""What each line of a Chinese statute is, by what stands at its beginning below Markdown marks."""

import re
from dataclasses import dataclass
from enum import StrEnum

from rag_assets.law.articles import article_key
from rag_assets.law.numbers import NUMBER


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
_ENDS_A_LINE = re.compile(r"[。；;：:！？!?）)】》”’」』…]$")
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
            last = _number(line)
        lines.append(line)
        start += len(written)
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
    number = _number(line)
    # An article 1 may begin a further law, whose title ends no sentence.
    if last is None or number == (1, 0):
        return False
    return number not in {(last[0] + 1, 0), (last[0], last[1] + 1)}


def _number(line: Line) -> tuple[int, int]:
    number, _, part = line.key.partition("-")
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
