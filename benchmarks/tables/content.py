"""Random tables of known cells, by style: what a table says, and how it is to look."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.tables.scoring import ABOVE, LEFT, TrueTable

_NOUNS = {
    "en": "soil canopy sediment river catchment membrane sensor cohort polymer glacier kernel "
    "alloy pasture enzyme reservoir turbine orchard isotope ligament vaccine aerosol lattice "
    "harbour seedling electrode pathogen aquifer boiler market household corpus encoder",
    "zh": "土壤 河流 样品 膜层 冠层 水库 合金 催化剂 牧场 冰川 传感器 电极 疫苗 气溶胶 晶格 港口 "
    "幼苗 病原体 含水层 锅炉 市场 农户 语料 编码器 轴承 涂层 湿地 果园 岩芯 纤维",
}
_MEASURES = {
    "en": "Yield Depth Density Uptake Growth Accuracy Loss Cost Porosity Albedo Runtime Recovery "
    "Strain Intake Coverage Salinity Height Pressure Error Slope Rate",
    "zh": "产量 深度 密度 吸收量 增长率 准确率 损失 成本 孔隙率 反照率 耗时 回收率 应变 摄入量 "
    "覆盖度 盐度 高度 压力 误差 坡度 速率",
}
NOUNS = {language: words.split() for language, words in _NOUNS.items()}
MEASURES = {language: words.split() for language, words in _MEASURES.items()}
UNITS = ("mg", "mm", "kg", "s", "m", "K", "kPa", "cm", "mol", "h", "ha")
_VERBS = {
    "en": ("was measured with", "depends on", "was compared with", "follows", "limits", "exceeds"),
    "zh": ("与之相比影响了", "取决于", "明显高于", "限制了", "改变了", "反映了"),
}  # fmt: skip


@dataclass(slots=True)
class Sheet:
    """A table to be drawn with the text around it.

    Args:
        grid: cells from the header down; "^" and "<" for merged ones, `^x` in a text is raised.
        head: how many rows are the header.
        rules: "booktabs", "grid", "lines", "zebra", "boxes", "bars" or "none".
        layout: "plain", "columns", "left" and "right" (sideways), "rotate" (a page with /Rotate),
            "repeated", "continued" and "bare" (over pages).
        width: of a column in millimetres where cells are to wrap.
    """

    style: str
    producer: str
    language: str
    seed: int
    grid: list[list[str]]
    head: int = 1
    rules: str = "booktabs"
    layout: str = "plain"
    width: float | None = None
    is_caption_below: bool = False
    notes: list[str] = field(default_factory=list)
    title: str = ""
    heading: str = ""
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    caption: str = ""

    @property
    def label(self) -> str:
        """What the caption begins with."""
        return "表 2" if self.language == "zh" else "Table 2."

    @property
    def name(self) -> str:
        """Name of its files."""
        return f"{self.style}-{self.producer}-{self.language}-{self.seed}"

    def truth(self) -> TrueTable:
        """Return the table as it is scored."""
        names = []
        for column in range(len(self.grid[0])):
            parts = []
            for row in range(self.head):
                k = column
                while self.grid[row][k] == LEFT:
                    k -= 1
                if self.grid[row][k] not in {"", ABOVE}:
                    parts.append(self.grid[row][k])
            names.append(" / ".join(parts))
        return TrueTable(self.name, names, self.grid[self.head :])

    def spans(self, row: int, column: int) -> tuple[int, int] | None:
        """Return over how many rows and columns a cell goes; None for a merged one."""
        if self.grid[row][column] in {ABOVE, LEFT}:
            return None
        width = 1
        while column + width < len(self.grid[0]) and self.grid[row][column + width] == LEFT:
            width += 1
        height = 1
        while row + height < len(self.grid) and self.grid[row + height][column] == ABOVE:
            height += 1
        return height, width


class Writer:
    """Random words and cells of a language."""

    def __init__(self, rng: random.Random, language: str) -> None:
        self.rng, self.language = rng, language

    def noun(self) -> str:
        """Return a noun; capital in English."""
        return self.rng.choice(NOUNS[self.language]).capitalize()

    def paragraph(self, sentences: int = 5) -> str:
        """Return running text."""
        pick, nouns, measures = self.rng.choice, NOUNS[self.language], MEASURES[self.language]
        verbs, trials = _VERBS[self.language], self.rng.randint(2, 40)
        if self.language == "zh":
            made = [
                f"{pick(nouns)}的{pick(measures)}{pick(verbs)}{pick(nouns)}的{pick(measures)},"
                f"并且在第{trials}次试验中{pick(nouns)}没有变化。"
                for _ in range(sentences)
            ]
            return "".join(made).replace(",", "\uff0c")
        made = [
            f"The {pick(measures).lower()} of the {pick(nouns)} {pick(verbs)} the {pick(nouns)} of "
            f"each {pick(nouns)}, and in {trials} trials the {pick(nouns)} did not change."
            for _ in range(sentences)
        ]
        return " ".join(made)

    def cell(self, kind: str) -> str:
        """Return a cell of a column of this kind; values are now and then empty or a dash."""
        rng, nouns = self.rng, NOUNS[self.language]
        is_english = self.language == "en"
        if kind not in {"name", "code", "long", "wide"} and rng.random() < 0.08:
            return rng.choice(("", "–", "—"))
        if kind == "long":
            words = [rng.choice(nouns) for _ in range(rng.randint(5, 12))]
            return " ".join(words).capitalize() if is_english else "".join(words)
        made = {
            "name": lambda: self.noun() + " " * is_english + rng.choice(nouns),
            "code": lambda: (
                f"{rng.choice('ABKMT')}{rng.choice(('-', '', 'X'))}{rng.randint(10, 999)}"
            ),
            "decimal": lambda: (
                f"{rng.choice(('', '', '−'))}{rng.uniform(0.1, 99):.{rng.choice('12')}f}"
            ),
            "spread": lambda: f"{rng.uniform(1, 99):.1f} ± {rng.uniform(0.1, 5):.1f}",
            "power": lambda: (
                f"{rng.uniform(1, 9.9):.1f} × 10^{rng.choice(('−', ''))}{rng.randint(2, 9)}"
            ),
            "percent": lambda: f"{rng.uniform(0, 100):.1f}%",
            "wide": lambda: f"{rng.randint(10**6, 10**9):,}",
            "count": lambda: f"{rng.randint(1, 9999):,}",
        }
        return made[kind]()

    def columns(self, count: int, first: str = "name", kinds: Sequence[str] = ()) -> list[str]:
        """Return the kinds of so many columns."""
        usual = kinds or ("decimal", "spread", "power", "percent", "count", "code", "decimal")
        return [first, *(self.rng.choice(usual) for _ in range(count - 1))]

    def heads(self, kinds: Sequence[str], with_units: bool = True) -> list[str]:
        """Return a name for each column, no two alike."""
        measures = self.rng.sample(MEASURES[self.language], len(kinds))
        names = []
        for kind, name in zip(kinds, measures, strict=True):
            if kind in {"name", "code", "long"}:
                names.append(name)
            elif kind == "percent":
                names.append(f"{name} (%)" if self.rng.random() < 0.3 else name)
            else:
                has_unit = with_units and self.rng.random() < 0.5
                names.append(f"{name} ({self.rng.choice(UNITS)})" if has_unit else name)
        return names

    def body(self, kinds: Sequence[str], rows: int) -> list[list[str]]:
        """Return rows of cells."""
        return [[self.cell(kind) for kind in kinds] for _ in range(rows)]


Maker = Callable[[Writer], dict[str, object]]


def _simple(columns: tuple[int, int], rows: tuple[int, int], **look: object) -> Maker:
    def make(writer: Writer) -> dict[str, object]:
        kinds = writer.columns(writer.rng.randint(*columns))
        body = writer.body(kinds, writer.rng.randint(*rows))
        return {"grid": [writer.heads(kinds), *body], **look}

    return make


def _two_heads(writer: Writer, **look: object) -> dict[str, object]:
    """Years or groups over the same two or three names."""
    groups, below = writer.rng.randint(2, 3), 2
    year = writer.rng.randint(1990, 2019)
    lower = writer.rng.sample(MEASURES[writer.language], below + 1)
    top, low = [lower.pop()], [ABOVE]
    for group in range(groups):
        top += [str(year + group), *[LEFT] * (below - 1)]
        low += lower
    kinds = writer.columns(1 + groups * below, kinds=("decimal", "percent", "count", "spread"))
    return {"grid": [top, low, *writer.body(kinds, writer.rng.randint(5, 10))], "head": 2, **look}


def _three_heads(writer: Writer) -> dict[str, object]:
    words = ("处理前", "处理后") if writer.language == "zh" else ("Before", "After treatment")
    year = writer.rng.randint(1990, 2019)
    lower = writer.rng.sample(MEASURES[writer.language], 3)
    grid = [[lower.pop()], [ABOVE], [ABOVE]]
    for word in words:
        grid[0] += [word, LEFT, LEFT, LEFT]
        grid[1] += [str(year), LEFT, str(year + 1), LEFT]
        grid[2] += lower * 2
    kinds = writer.columns(9, "code", ("decimal", "percent", "count"))
    return {"grid": [*grid, *writer.body(kinds, writer.rng.randint(5, 9))], "head": 3}


def _units(writer: Writer) -> dict[str, object]:
    kinds = writer.columns(5, kinds=("decimal", "spread", "power", "count"))
    units = ["", *(f"({writer.rng.choice(UNITS)})" for _ in kinds[1:])]
    grid = [writer.heads(kinds, False), units, *writer.body(kinds, writer.rng.randint(5, 10))]
    return {"grid": grid, "head": 2}


def _merged(writer: Writer) -> dict[str, object]:
    """Row names over two or three rows, a value over two columns, a head over two columns."""
    kinds = ["name", "code", "decimal", "percent", "count"]
    names = writer.heads(kinds, False)
    group = writer.noun()
    top = [names[0], names[1], group, LEFT, names[4]]
    body = []
    for _ in range(writer.rng.randint(3, 4)):
        rows = writer.body(kinds, writer.rng.randint(2, 3))
        for row in rows[1:]:
            row[0] = ABOVE
        body += rows
    wide = writer.rng.choice(body)
    wide[2:4] = [writer.cell("wide"), LEFT]
    grid = [top, [ABOVE, ABOVE, *names[2:4], ABOVE], *body]
    return {"grid": grid, "head": 2, "rules": "grid"}


def _groups(writer: Writer) -> dict[str, object]:
    kinds = writer.columns(5)
    grid = [writer.heads(kinds)]
    for letter in "ABC"[: writer.rng.randint(2, 3)]:
        word = f"{letter}组:{writer.noun()}" if writer.language == "zh" else ""
        grid.append([word or f"Panel {letter}. {writer.noun()} {writer.cell('code')}", *[LEFT] * 4])
        grid += writer.body(kinds, writer.rng.randint(2, 4))
    return {"grid": grid}


def _wrapped(writer: Writer, **look: object) -> dict[str, object]:
    kinds = ["code", "long", "decimal", "long"]
    grid = [writer.heads(kinds, False), *writer.body(kinds, writer.rng.randint(4, 7))]
    return {"grid": grid, "width": 34.0, **look}


def _footnotes(writer: Writer) -> dict[str, object]:
    kinds = writer.columns(5, kinds=("decimal", "percent", "count"))
    grid = [writer.heads(kinds), *writer.body(kinds, writer.rng.randint(6, 9))]
    full = [(i, k) for i in range(1, len(grid)) for k in range(1, 5) if len(grid[i][k]) > 1]
    for mark, (i, k) in zip("abab", writer.rng.sample(full, 4), strict=True):
        grid[i][k] += f"^{mark}"
    if writer.language == "zh":
        return {"grid": grid, "notes": ["^a 估计值。", "^b 不含第一年。"]}
    return {"grid": grid, "notes": ["^a Estimated from two samples.", "^b Without the first year."]}


_TEX, _WEB, _WORD, _STORY, _LAB = "latex", "chromium", "word", "story", "reportlab"

# Style: what is drawn, and by which producers in which languages.
STYLES: Mapping[str, tuple[Maker, Sequence[tuple[str, str]]]] = {
    "booktabs": (_simple((4, 6), (5, 12)), ((_TEX, "en"), (_WEB, "en"), (_WORD, "en"))),
    "two head rows": (_two_heads, ((_TEX, "en"), (_WEB, "en"), (_TEX, "zh"))),
    "three head rows": (_three_heads, ((_TEX, "en"), (_WEB, "zh"))),
    "unit row": (_units, ((_TEX, "en"), (_WEB, "en"), (_LAB, "zh"))),
    "ruled grid": (
        lambda w: _wrapped(w, rules="grid", width=25.0),
        ((_TEX, "en"), (_WEB, "en"), (_LAB, "en")),
    ),
    "rules between rows": (
        _simple((4, 6), (5, 10), rules="lines"),
        ((_TEX, "en"), (_WEB, "en"), (_LAB, "en")),
    ),
    "Word grid": (_simple((4, 6), (5, 12), rules="grid"), ((_WORD, "en"), (_WORD, "zh"))),
    "Word merged": (_merged, ((_WORD, "en"), (_WORD, "zh"))),
    "merged grid": (_merged, ((_TEX, "en"), (_WEB, "en"), (_STORY, "en"))),
    "zebra": (
        _simple((4, 6), (6, 12), rules="zebra"),
        ((_WEB, "en"), (_LAB, "en"), (_STORY, "en")),
    ),
    "boxes in one path": (_simple((4, 6), (5, 10), rules="boxes"), ((_LAB, "en"), (_LAB, "zh"))),
    "no rules": (
        _simple((4, 6), (5, 12), rules="none"),
        ((_TEX, "en"), (_WEB, "en"), (_STORY, "en")),
    ),
    "wrapped cells": (_wrapped, ((_TEX, "en"), (_WEB, "en"), (_WORD, "zh"))),
    "wrapped cells, lines": (
        lambda w: _wrapped(w, rules="lines"), ((_TEX, "en"), (_WEB, "zh"))
    ),
    "pages, header repeated": (
        _simple((4, 6), (70, 110), layout="repeated"),
        ((_TEX, "en"), (_WEB, "en"), (_WORD, "en"), (_LAB, "zh")),
    ),
    "pages, continued": (
        _simple((4, 6), (70, 110), layout="continued"), ((_TEX, "en"), (_WEB, "zh"))
    ),
    "pages, no header": (
        _simple((4, 6), (70, 110), layout="bare"), ((_TEX, "en"), (_WEB, "en"), (_WORD, "zh"))
    ),
    "sideways left": (
        _simple((5, 7), (6, 14), layout="left"), ((_TEX, "en"), (_WEB, "en"), (_WEB, "zh"))
    ),
    "sideways right": (_simple((5, 7), (6, 14), layout="right"), ((_TEX, "en"), (_WEB, "en"))),
    "rotated page": (_simple((5, 7), (6, 14), layout="rotate"), ((_TEX, "en"), (_WEB, "en"))),
    "in two columns": (
        _simple((3, 4), (5, 9), layout="columns"), ((_TEX, "en"), (_WEB, "en"), (_WEB, "zh"))
    ),
    "group rows": (_groups, ((_TEX, "en"), (_WEB, "en"), (_WORD, "zh"))),
    "three-line, Chinese": (_simple((4, 6), (5, 12)), ((_TEX, "zh"), (_WEB, "zh"), (_WORD, "zh"))),
    "ruled, Chinese": (
        lambda w: _wrapped(w, rules="grid", width=25.0),
        ((_TEX, "zh"), (_WEB, "zh"), (_LAB, "zh")),
    ),
    "bars between wide numbers": (
        lambda w: _simple((5, 6), (5, 10), rules="bars")(_Wide(w.rng, w.language)),
        ((_TEX, "en"), (_WEB, "en")),
    ),
    "notes": (_footnotes, ((_TEX, "en"), (_WEB, "en"), (_WORD, "en"), (_WEB, "zh"))),
    "caption below": (
        _simple((4, 6), (5, 10), is_caption_below=True), ((_TEX, "en"), (_WEB, "zh"))
    ),
}  # fmt: skip


class _Wide(Writer):
    """All columns but the first hold long numbers."""

    def columns(self, count: int, first: str = "name", kinds: Sequence[str] = ()) -> list[str]:
        return super().columns(count, first, kinds or ("wide",))


def make_sheets(seeds: int, only: str | None = None) -> list[Sheet]:
    """Return each style by each of its producers for so many seeds; the same ones every time."""
    sheets = []
    for style, (make, variants) in STYLES.items():
        if only and only not in style:
            continue
        for producer, language in variants:
            for seed in range(seeds):
                rng = random.Random(f"{style} {producer} {language} {seed}")
                writer = Writer(rng, language)
                words, more = ([writer.noun() for _ in range(3)] for _ in range(2))
                is_chinese = language == "zh"
                sheets.append(
                    Sheet(
                        style, producer, language, seed,
                        before=[writer.paragraph() for _ in range(2)],
                        after=[writer.paragraph() for _ in range(2)],
                        title=f"{'对'.join(more)}的影响研究"
                        if is_chinese
                        else f"{' and '.join(more)} under changing conditions",
                        heading="3 结果" if is_chinese else "3 Results",
                        caption=f"{'与'.join(words)}"
                        if is_chinese
                        else f"{words[0]} and {words[1].lower()} by {words[2].lower()}",
                        **make(writer),  # type: ignore[arg-type]
                    )
                )  # fmt: skip
    return sheets
