"""Laws that a law repeals: “《个体工商户条例》同时废止”. Their own texts do not say so."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rag_assets.law.structure import LawText

# The last articles say what ends when the law begins.
_LAST = 3
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
    for unit in law.units if is_decision else articles[-_LAST:]:
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
