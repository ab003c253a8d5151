"""Sound laws that are made up, and faults that are planted into any."""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath

from rag_assets.law import write_number
from rag_assets.law.curating import FindingKind, LawFile

_ARTICLE = re.compile(r"(?m)^第[一二三四五六七八九十百零]+条[ \u3000].*$")
_CHAPTER = re.compile(r"(?m)^#+ 第[一二三四五六七八九十百]+章.*$")
_TITLE = re.compile(r"(?m)^# .*$")
_WORDS = re.findall(
    r"\S+",
    "登记 许可 检查 处罚 备案 公示 审核 信用 培训 标准 档案 经费 规划 评估 应急 设施 服务 应当 "
    "养犬人 经营者 居委会 物业服务人 主管部门 县级人民政府 监督机构 行业协会 社会组织 个人 可以 "
    "不得 及时 依法 定期 按照规定 在十日内 在三个月内 书面 向社会 会同有关部门 逐级 每年 单位",
)
_SUBJECTS = re.findall("..", "供热绿化停车养犬节水消防垃圾噪声湿地档案集市渡口古树灯光井盖电梯")
_PLACES = [f"{a}{b}市" for a in "临平安永新长东南" for b in "川阳江山河"]

Planted = tuple[list[LawFile], str]
"""The files after planting, and the file that is at fault now."""
Plant = Callable[[LawFile, LawFile, random.Random], Planted]


def make_laws(count: int, seed: int) -> list[LawFile]:
    """Return sound laws of 12 to 40 articles in chapters, no two alike."""
    draw = random.Random(seed)
    names = draw.sample([(p, s) for p in _PLACES for s in _SUBJECTS], count)
    return [_make(*name, draw) for name in names]


def _make(place: str, subject: str, draw: random.Random) -> LawFile:
    year, title = draw.randrange(2001, 2020), f"{place}{subject}管理条例"
    chapters = draw.randrange(2, 6)
    lines = [f"# {title}", f"{year}年3月1日 {place}人民代表大会常务委员会通过"]
    number = 0
    for chapter in range(1, chapters + 1):
        lines.append(f"## 第{write_number(chapter)}章 {draw.choice(_WORDS)}")
        for _ in range(draw.randrange(5, 9)):
            number += 1
            said = "".join(draw.choice(_WORDS) for _ in range(draw.randrange(12, 30)))
            lines.append(f"第{write_number(number)}条 {subject}{said}。")
    lines.append(f"第{write_number(number + 1)}条 本条例自{year}年6月1日起施行。")
    return LawFile(f"raw/{place}/{title}({year}-03-01).md", "\n\n".join(lines) + "\n")


def _with(file: LawFile, text: str, name: str | None = None) -> LawFile:
    return LawFile(str(PurePosixPath(file.file).with_name(name)) if name else file.file, text)


def _replaced(change: Callable[[str, random.Random], str]) -> Plant:
    """Return what plants a change of a file's text."""

    def plant(file: LawFile, _other: LawFile, draw: random.Random) -> Planted:
        text = change(file.text, draw)
        assert text != file.text, "nothing was planted"
        return [_with(file, text)], file.file

    return plant


def _copied(name: str, change: Callable[[str], str]) -> Plant:
    """Return what plants a copy beside a file."""

    def plant(file: LawFile, _other: LawFile, draw: random.Random) -> Planted:
        number = draw.randrange(10**6)
        copy = _with(file, change(file.text), name.format(stem=file.stem, number=number))
        return [file, copy], copy.file

    return plant


def _head(text: str) -> str:
    """Return what stands before the first chapter or article."""
    first = min(m.start() for m in (_ARTICLE.search(text), _CHAPTER.search(text)) if m)
    return text[:first]


def _titled(title: str) -> Plant:
    return _replaced(lambda text, _draw: _TITLE.sub(f"# {title}", text, count=1))


def _articles(text: str) -> list[re.Match[str]]:
    return list(_ARTICLE.finditer(text))


def _inner(text: str, draw: random.Random) -> int:
    return draw.randrange(3, len(_articles(text)) - 3)


def _swap(text: str, at: int) -> str:
    one, two = _articles(text)[at : at + 2]
    between = text[one.end() : two.start()]
    return text[: one.start()] + two.group() + between + one.group() + text[two.end() :]


def _drop(text: str, at: int) -> str:
    one = _articles(text)[at]
    return text[: one.start()] + text[one.end() :]


def _twice(text: str, at: int, further: int) -> str:
    marks = _articles(text)
    place = marks[at + further].end()
    return text[:place] + "\n\n" + marks[at].group() + text[place:]


def _run_in(text: str, at: int) -> str:
    one, two = _articles(text)[at : at + 2]
    if text[one.end() : two.start()].strip():
        return _run_in(text, at + 1)
    return f"{text[: one.end()]} {two.group().replace('条 ', '条', 1)}{text[two.end() :]}"


def _renumber(text: str, at: int) -> str:
    one = _articles(text)[at]
    return text[: one.start()] + "第九百条 " + one.group().split(maxsplit=1)[1] + text[one.end() :]


def _later(file: LawFile, _other: LawFile, _draw: random.Random) -> Planted:
    """Plant a wording of 2023 beside a law."""
    head = _head(file.text)
    text = f"{head}2023年5月1日 常务委员会修订\n\n{file.text[len(head) :]}"
    name = re.sub(r"\(\d{4}-\d\d-\d\d\)$", "", file.stem) + "(2023-05-01).md"
    return [file, _with(file, text, name)], file.file


def _repealed(file: LawFile, _other: LawFile, draw: random.Random) -> Planted:
    """Plant a law that repeals another."""
    title = f"新区{draw.randrange(10**6)}号综合条例"
    own = _make("某某市", "综合", draw)
    text = re.sub("(?m)^# .*", f"# {title}", own.text).rstrip() + f"《{file.title}》同时废止。\n"
    text = re.sub(r"(?m)^\d{4}年3月1日", "2024年3月1日", text)
    text = re.sub(r"自\d{4}年6月1日", "自2024年6月1日", text)
    return [file, _with(file, text, f"{title}.md")], file.file


FAULTS: dict[FindingKind, Sequence[Plant]] = {
    FindingKind.EMPTY: [
        _replaced(lambda text, _: _head(text)),
        _replaced(lambda text, _: _head(text) + "（内容待补充）\n"),
        _replaced(lambda text, _: _TITLE.findall(text)[0] + "\n"),
        _replaced(lambda text, _: _head(text) + "第一条 略。\n"),
        _replaced(lambda text, _: _head(text) + "\n".join(_CHAPTER.findall(text)) + "\n"),
    ],
    FindingKind.EQUAL: [
        _copied("复本{number}.md", lambda text: text.replace("\n\n", "\n \n")),
        _copied("{stem}副本.md", lambda text: text.replace("，", ",").replace("。", ".")),
        _copied("{stem}-1.md", lambda text: "\ufeff" + text),
    ],
    FindingKind.SUPERSEDED: [_later, _repealed],
    FindingKind.NO_ARTICLES: [
        _replaced(lambda text, _: re.sub("(?m)^第.+?条", "", text)),
        _replaced(lambda text, _: re.sub("(?m)^第.+?条", "（一）", text)),
        _replaced(lambda text, _: re.sub("(?m)^第(.+?)条", r"\1、", text)),
        _replaced(lambda text, _: re.sub("(?m)^第(.+?)条", r"第\1款", text)),
        _replaced(lambda text, _: re.sub("(?m)^第(.+?)条", r"条\1", text)),
    ],
    FindingKind.STRUCTURE: [
        _replaced(lambda text, draw: _drop(text, _inner(text, draw))),
        _replaced(lambda text, draw: _twice(text, _inner(text, draw), 0)),
        _replaced(lambda text, draw: _swap(text, _inner(text, draw))),
        _replaced(lambda text, draw: _run_in(text, _inner(text, draw) - 2)),
        _replaced(lambda text, draw: _renumber(text, _inner(text, draw))),
        _replaced(lambda text, draw: _twice(text, 0, _inner(text, draw))),
        _replaced(lambda text, draw: _twice(text, 2, _inner(text, draw) - 2)),
        _replaced(lambda text, draw: _drop(_drop(text, (at := _inner(text, draw))), at)),
    ],
    FindingKind.TITLE: [
        _replaced(lambda text, _: _TITLE.sub("", text, count=1)),
        _titled("目　录"),
        _titled("2019年7月1日"),
        _titled("law_2019_final.docx"),
        _titled("附件"),
        _titled("第一章 总则"),
        lambda file, other, draw: _titled(f"{file.title}(2019-07-01)")(file, other, draw),
        _titled("20190701"),
    ],
}


def plant_faults(
    files: Sequence[LawFile], each: int, seed: int
) -> Iterator[tuple[FindingKind, int, Planted]]:
    """Yield for `each` faults of every kind: the kind, which of its faults, and what it gives.

    Every fault is planted into a file of its own, in the order of `files`.
    """
    draw = random.Random(seed)
    hosts = iter(files)
    for kind, faults in FAULTS.items():
        for number in range(each):
            plant = faults[number % len(faults)]
            yield kind, number % len(faults), plant(next(hosts), files[-1], draw)
