"""Documents cut into chunks, and operations on them, without files."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.editing.folding import Cut, Edited, Piece, fold
from rag_assets.editing.operations import Kind, Numbered, Operation, ParentTarget, Target

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


def target(cut: Cut, piece: Piece) -> Target:
    """Return a chunk as an operation names it."""
    return Target(cut.print.place(*piece.span), piece.edited)


def shown(cut: Cut, piece: Piece) -> str:
    """Return the text that a chunk has."""
    return cut.print.slice(*piece.span) if piece.edited is None else piece.edited


KINDS: tuple[Kind, ...] = (
    "edit_text", "split_at", "merge_with_next", "move_before", "move_after", "reparent",
    "enable", "disable",
)  # fmt: skip


def random_operation(draw: random.Random, cut: Cut, edited: Edited, number: int) -> Numbered:
    """Return an operation that can be done to what stands there now."""
    while True:
        index = draw.randrange(len(edited.pieces))
        piece = edited.pieces[index]
        kind = draw.choice(KINDS)
        if kind == "edit_text":
            made = Operation(kind, target(cut, piece), text=f"{shown(cut, piece)} [{number}]")
        elif kind == "split_at":
            at = (piece.last - piece.first) // 2
            made = Operation(kind, target(cut, piece), shown_at=at, printed_at=at)
        elif kind == "merge_with_next":
            if index + 1 == len(edited.pieces):
                continue
            made = Operation(kind, target(cut, piece), target(cut, edited.pieces[index + 1]))
        elif kind in {"move_before", "move_after"}:
            other = edited.pieces[draw.randrange(len(edited.pieces))]
            made = Operation(kind, target(cut, piece), target(cut, other))
        elif kind == "reparent":
            parent = draw.choice(cut.parents)
            opening = cut.print.place(parent.first, min(parent.last, parent.first + 120))
            above = ParentTarget(parent.label, parent.hash, opening)
            made = Operation(kind, target(cut, piece), parent=above)
        else:
            made = Operation(kind, target(cut, piece))
        return Numbered(number, made)


def random_operations(seed: int, cut: Cut, count: int) -> list[Numbered]:
    """Return operations that were all applied when they were done."""
    draw = random.Random(seed)
    done: list[Numbered] = []
    edited = fold(cut, done)
    while len(done) < count:
        each = random_operation(draw, cut, edited, len(done) + 1)
        after = fold(cut, [*done, each])
        if not after.conflicts:
            done.append(each)
            edited = after
    return done
