"""Documents cut into chunks, and operations on them, without files."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.chunking.editing.folding import Cut

_WORDS = (
    "roof", "light", "albedo", "street", "tree", "stomata", "leaf", "night", "heat", "island",
    "wall", "water", "rain", "white", "cheap", "dark", "surface", "measure", "degree", "summer",
    "calm", "dry", "air", "contract", "duty", "party", "屋顶", "叶片", "气孔", "违约", "责任",
)  # fmt: skip
# Occur many times in a document, as headings and cells do.
REPEATED = ("Results", "Total", "See the notes below.", "Method and data")


@dataclass(frozen=True)
class Text:
    """A document's sentences, each with what is printed behind it."""

    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        """The clean text."""
        return "\n\n".join(self.sentences)

    def cut(self, sizes: int, parents: int = 12) -> Cut:
        """Return chunks of so many sentences and parents of so many."""
        spans, start = [], 0
        for sentence in self.sentences:
            spans.append((start, start + len(sentence)))
            start += len(sentence) + 2
        above = [
            (f"p{number:03d}", group[0][0], group[-1][1])
            for number, group in enumerate(_groups(spans, parents), start=1)
        ]
        chunks = [
            (group[0][0], group[-1][1], next(p[0] for p in above if p[1] <= group[0][0] < p[2]))
            for group in _groups(spans, sizes)
        ]
        return Cut.make(self.text, chunks, above)


def _groups(spans: Sequence[tuple[int, int]], size: int) -> list[Sequence[tuple[int, int]]]:
    return [spans[start : start + size] for start in range(0, len(spans), size)]


def make_text(seed: int, sentences: int = 90) -> Text:
    """Return a document in which some sentences occur many times."""
    draw = random.Random(seed)
    made = []
    for number in range(sentences):
        if draw.random() < 0.12:
            made.append(draw.choice(REPEATED))
        else:
            words = [draw.choice(_WORDS) for _ in range(draw.randint(6, 18))]
            made.append(f"{' '.join(words)} {number % 7}.")
    return Text(tuple(made))
