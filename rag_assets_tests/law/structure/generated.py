"""Generated laws with everything that laws have; what must be found in each is known."""

from dataclasses import dataclass, field
from random import Random

from rag_assets.law import write_number

LETTERS = "应当依法予以管理保护监督检查处罚批准公民法人组织机关人员河道"
LEVELS = ("编", "分编", "章", "节", "目")
# Which levels a law has, the highest first.
_SHAPES = ((), ("章",), ("章", "节"), ("编", "章"), ("编", "分编", "章", "节"), ("章", "节", "目"))
_MOST_CONTENTS = 15


@dataclass
class GeneratedArticle:
    """An article: where it begins in the law's text, and ends."""

    path: tuple[str, ...]
    key: str
    start: int
    end: int = 0


@dataclass
class GeneratedLaw:
    """A law and what must be found in it.

    Args:
        paths: all that text may stand below.
    """

    title: str
    text: str = ""
    articles: list[GeneratedArticle] = field(default_factory=list)
    paths: set[tuple[str, ...]] = field(default_factory=set)


def make_law(chance: Random, number: int) -> GeneratedLaw:
    """Return a law whose structure, marks and lengths are drawn."""
    return _Writer(chance, GeneratedLaw(f"甲乙市第{write_number(number + 1)}条例")).write()


class _Writer:
    def __init__(self, chance: Random, law: GeneratedLaw) -> None:
        self._chance, self._law = chance, law
        self._is_markdown = chance.random() < 0.6
        self._gap = "\n\n" if self._is_markdown or chance.random() < 0.6 else "\n"
        self._shape = chance.choice(_SHAPES)
        self._number = 0
        self._counts = dict.fromkeys(LEVELS, 0)

    def write(self) -> GeneratedLaw:
        plan = self._plan(0, ())
        self._line(self._law.title, "# " if self._is_markdown else "")
        self._preamble()
        contents = [label for path, _ in plan for label in path]
        if 1 < len(contents) <= _MOST_CONTENTS and self._chance.random() < 0.5:
            self._contents(plan)
        self._law.paths.add(())
        above: tuple[str, ...] = ()
        for path, articles in plan:
            new = next(
                (n for n, (a, b) in enumerate(zip(path, above, strict=False)) if a != b), None
            )
            for level in path[len(above) if new is None else new :]:
                self._line(self._spaced(level), "## " if self._is_markdown else "")
            above = path
            self._law.paths.add(path)
            for _ in range(articles):
                self._article(path)
        if self._chance.random() < 0.3:
            self._annex()
        self._law.text += "\n"
        last = self._law.articles[-1]
        last.end += last.end == len(self._law.text) - 1
        return self._law

    def _plan(self, depth: int, above: tuple[str, ...]) -> list[tuple[tuple[str, ...], int]]:
        """Return the lowest levels in order, each with the number of its articles."""
        if depth == len(self._shape):
            return [(above, self._chance.choice([1, 1, 2, 2, 3, 4, 20]))]
        found = []
        level = self._shape[depth]
        # Chapters are numbered through the law or through each part.
        if self._chance.random() < 0.5:
            self._counts[level] = 0
        for _ in range(self._chance.randint(1, 3)):
            self._counts[level] += 1
            label = f"第{write_number(self._counts[level])}{level} {self._words(2, 8)}"
            found += self._plan(depth + 1, (*above, label))
        return found

    def _words(self, least: int, most: int) -> str:
        return "".join(self._chance.choices(LETTERS, k=self._chance.randint(least, most)))

    def _line(self, text: str, mark: str = "") -> None:
        self._law.text += f"{mark}{text}{self._gap}"

    def _spaced(self, label: str) -> str:
        """Write 总则 as 总　则, as many do."""
        name, _, title = label.partition(" ")
        return f"{name}　{title[0]}　{title[1]}" if len(title) == 2 else label

    def _preamble(self) -> None:
        if self._chance.random() < 0.8:
            self._line("（2021年3月1日甲乙市人民代表大会常务委员会第三次会议通过）")
        for _ in range(self._chance.randint(0, 3)):
            self._line(self._words(10, 80) + "。")

    def _contents(self, plan: list[tuple[tuple[str, ...], int]]) -> None:
        if self._chance.random() < 0.5:
            self._line("目　录")
        above: tuple[str, ...] = ()
        for path, _ in plan:
            for place, level in enumerate(path):
                if path[: place + 1] != above[: place + 1]:
                    self._line(level)
            above = path
        if self._chance.random() < 0.3:
            self._line(self._words(10, 60) + "。")

    def _article(self, path: tuple[str, ...]) -> None:
        self._number += 1
        self._one_article(path, f"{self._number}", f"第{write_number(self._number)}条")
        if self._chance.random() < 0.15:
            shown = f"第{write_number(self._number)}条之一"
            self._one_article(path, f"{self._number}-1", shown)

    def _one_article(self, path: tuple[str, ...], key: str, shown: str) -> None:
        chance = self._chance
        begin = len(self._law.text)
        self._law.articles.append(GeneratedArticle(path, key, begin))
        written = f"**{shown}** " if self._is_markdown and chance.random() < 0.3 else f"{shown}　"
        kind = chance.random()
        if kind < 0.03:  # far beyond every limit, without a place to cut it at
            self._line(written + self._words(2500, 4000) + "。")
        elif kind < 0.06:
            self._line(written + "".join(self._words(10, 60) + "；" for _ in range(90)) + "。")
        elif kind < 0.25:
            self._line(written + self._words(4, 20) + "：")
            for item in range(chance.choice([2, 3, 4, 60])):
                self._line(f"（{write_number(item + 1)}）{self._words(4, 60)}；")
        else:
            self._line(written + self._words(6, 120) + "。")
        if chance.random() < 0.3:
            reference = write_number(chance.randint(1, self._number))
            begin_of_line = chance.choice([f"第{reference}条规定的期限", f"依照第{reference}条"])
            self._line(f"{begin_of_line}，{self._words(6, 60)}。")
        if chance.random() < 0.1:
            self._line(f"附加刑也可以{self._words(4, 30)}。")
        self._law.articles[-1].end = len(self._law.text)

    def _annex(self) -> None:
        label = self._chance.choice(["附件一", "附表", "附录"])
        self._line(label)
        self._law.paths.add((label,))
        for _ in range(self._chance.randint(1, 40)):
            self._line(self._words(4, 60) + "。")
