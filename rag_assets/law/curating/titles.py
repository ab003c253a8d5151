"""Rules about what a file holds as a whole, and about its title."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from rag_assets.law.curating.findings import (
    WORDING,
    FileRule,
    FindingKind,
    Found,
    LawFile,
    law_name,
    names_a_statute,
)
from rag_assets.law.curating.numbering import articles_by_law, quotes_articles
from rag_assets.law.structure import LineKind
from rag_assets.model import HAN

# Visible characters of sentences; the shortest decision of a vault of 3,504 files has 75.
_STUB_CHARACTERS = 60
_DIGIT = r"[\d〇○零一二三四五六七八九十]"
_DATED = re.compile(rf"[(（]?\s*{_DIGIT}{{2,4}}\s*年\s*{_DIGIT}{{1,3}}\s*月")
_CONTENTS = re.compile(r"(?:总\s*)?目\s*[录次]|contents|table of contents", re.IGNORECASE)
_NO_NAME = re.compile(r"(?:总则|附则|前言|正文|序言|附件|附录|公告|通知|说明|无标题)\d*")
_LEVEL = re.compile(r"第\s?[一二三四五六七八九十百\d]+\s?(?:编|分编|章|节|目|条)(?:\s|$)")
_FILE_NAME = re.compile(r"\.(?:md|markdown|txt|docx?|pdf|html?|wps)$|[^\W_]_[^\W_]", re.IGNORECASE)
# Names are alike that differ in a particle or one character of ten.
_ALIKE = 90
_SHORTEST_NAME = 3


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


def _find_missing(file: LawFile) -> Iterator[Found]:
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
    if _NO_NAME.fullmatch(_plain(file.title)) or _LEVEL.match(file.title):
        yield Found(f"“{file.title}” names a part, not a law.", _title_at(file))


def _find_file_name(file: LawFile) -> Iterator[Found]:
    if file.title and (_FILE_NAME.search(file.title) or WORDING.search(file.title)):
        is_own = "the file's own" if law_name(file.title) == law_name(file.stem) else "a file's"
        yield Found(f"“{file.title}” is {is_own} name rather than a title.", _title_at(file))


def _find_unlike(file: LawFile) -> Iterator[Found]:
    title, name = law_name(file.title), law_name(file.stem)
    folder = law_name(PurePosixPath(file.file).parent.name)
    is_told = names_a_statute(file.title) or names_a_statute(file.stem)
    if not is_told or not HAN.search(name) or not title or _is_alike(title, name, folder):
        return
    yield Found(f"The title “{file.title}” is not what the file's name says.", _title_at(file))


def _is_alike(title: str, name: str, folder: str) -> bool:
    """Say whether a file's name can stand for a title: whole, shortened, or below its folder."""
    from rapidfuzz import fuzz

    for one in (name, folder + name):
        shorter, longer = sorted((title, one), key=len)
        if len(shorter) >= _SHORTEST_NAME and _leaves_out(longer, shorter):
            return True
    return fuzz.ratio(title, name) >= _ALIKE


def _leaves_out(longer: str, shorter: str) -> bool:
    """Say whether a name is another one with characters left out: 民诉法解释."""
    rest = iter(longer)
    return all(character in rest for character in shorter)


_TEXT = "第一条 为了规范养犬行为，保障公民健康和人身安全，维护市容和社会公共秩序，制定本条例。\n\n"
_LAW = f"{_TEXT}第二条 本市行政区域内养犬以及相关的管理活动，适用本条例，军用犬、警用犬除外。\n"
_NAME = "甲市养犬条例.md"
_ITEMS = _LAW.replace("第一条", "一、").replace("第二条", "二、")
_QUOTED = _LAW.replace("第一条", "第八条").replace("第二条", "第九条")
_SOUND = (_NAME, f"# 甲市养犬条例\n\n2020年5月1日 甲市人民代表大会通过\n\n{_LAW}")

EMPTY_RULES = (
    FileRule(
        "stub",
        FindingKind.EMPTY,
        "Fill the file with the published text, or take it out.",
        (_NAME, "# 甲市养犬条例\n\n2020年5月1日 甲市人民代表大会通过\n\n（内容待补充）\n"),
        _SOUND,
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
        _SOUND,
        _find_no_articles,
    ),
    FileRule(
        "quoted-articles",
        FindingKind.NO_ARTICLES,
        "Keep reports of cases in a namespace of their own.",
        ("甲诉乙案.md", f"# 甲诉乙案\n\n{_QUOTED}"),
        _SOUND,
        _find_quotes,
    ),
)  # fmt: skip


def _titled(title: str, name: str = _NAME) -> tuple[str, str]:
    return name, f"# {title}\n\n{_LAW}"


_RENAME = "Give the law its title as a heading of the first rank."
TITLE_RULES = (
    FileRule(
        "title-missing", FindingKind.TITLE, _RENAME,
        (_NAME, f"2020年5月1日 甲市人民代表大会通过\n\n{_LAW}"), _SOUND, _find_missing,
    ),
    FileRule(
        "title-is-contents", FindingKind.TITLE, _RENAME,
        _titled("目 录"), _SOUND, _find_contents,
    ),
    FileRule(
        "title-is-date", FindingKind.TITLE, _RENAME,
        _titled("2020年5月1日"), _SOUND, _find_date,
    ),
    FileRule(
        "title-is-part", FindingKind.TITLE, _RENAME,
        _titled("附件"), _SOUND, _find_no_name,
    ),
    FileRule(
        "title-is-file-name", FindingKind.TITLE, _RENAME,
        _titled("甲市养犬条例(2020-05-01)", "甲市养犬条例(2020-05-01).md"), _SOUND, _find_file_name,
    ),
    FileRule(
        "title-unlike-file-name", FindingKind.TITLE,
        "Look which law it is; correct the title, or rename the file.",
        _titled("甲市供热条例"), _titled("甲市养犬管理条例"), _find_unlike,
    ),
)  # fmt: skip
