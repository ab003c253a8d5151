"""Whether a person's edits of chunks outlive another parse, another cut and an edited source.

    python -m benchmarks.edited_chunks [--papers DIR] [--documents 20] [--operations 100] [--seed 1]

Takes the first papers of a folder (`$RAG_SHARED_DATA/papers` without one), parses and cuts each as
a build does, and does random operations of all kinds to its chunks, each of which can be done when
it is done. Then it folds them over the same document otherwise: with all offsets shifted by a new
beginning and other white space, as a newer parser might; cut to other sizes and parents; and with
some sentences changed, as an edited source. Prints for each: operations; the share that is applied
again, of all and of those whose passages, and those of the operations that they build on, are
printed as before; those that wait without a reason or the text that was seen; those that are
neither applied nor waiting; edited texts that stand where nobody put them.
"""

import argparse
import json
import os
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rag_assets.chunking import chunk_document
from rag_assets.chunking.editing.folding import (
    Cut,
    Folder,
    Kind,
    Numbered,
    Operation,
    ParentTarget,
    Piece,
    Target,
    fold,
    visible,
)
from rag_assets.embedding import joint_tokenizer
from rag_assets.knowledge.previewing import PreviewSource
from rag_assets.model import Chunk, Parent, ParseFailure
from rag_assets.workspace import Settings, shipped_settings

KINDS: tuple[Kind, ...] = (
    "edit_text", "split_at", "merge_with_next", "move_before", "move_after", "reparent",
    "enable", "disable",
)  # fmt: skip
# As another splitter might: smaller passages, in parents of another kind and size.
OTHER_CUT = {"target_tokens": 110, "min_tokens": 40, "max_tokens": 160, "parent_tokens": 500}
# Of the sentences, how many an edited source changes.
_CHANGED = 0.05
_OPENING = 120
_BEGINNING = "A line that the newer parser has found above the title.\n\n"


def target(cut: Cut, piece: Piece) -> Target:
    """Return a chunk as an operation names it."""
    return Target(cut.print.place(*piece.span), piece.edited)


def shown(cut: Cut, piece: Piece) -> str:
    """Return the text that a chunk has."""
    return cut.print.slice(*piece.span) if piece.edited is None else piece.edited


def random_operation(draw: random.Random, cut: Cut, pieces: Sequence[Piece]) -> Operation | None:
    """Return an operation on one of the chunks, None where the kind drawn does not fit it."""
    index = draw.randrange(len(pieces))
    piece, kind = pieces[index], draw.choice(KINDS)
    made = Operation(kind, target(cut, piece))
    match kind:
        case "edit_text":
            return replace(made, text=f"{shown(cut, piece)} [{draw.randrange(10**6)}]")
        case "split_at":
            # Of an edited text the same share as of the printed one.
            size, printed = len(visible(shown(cut, piece))), piece.last - piece.first
            return replace(made, shown_at=size // 2, printed_at=printed // 2)
        case "merge_with_next":
            following = [target(cut, other) for other in pieces[index + 1 : index + 2]]
            return replace(made, other=following[0]) if following else None
        case "move_before" | "move_after":
            return replace(made, other=target(cut, draw.choice(pieces)))
        case "reparent":
            parent = draw.choice(cut.parents)
            opening = cut.print.place(parent.first, min(parent.last, parent.first + _OPENING))
            return replace(made, parent=ParentTarget(parent.label, parent.hash, opening))
    return made


def random_operations(seed: int, cut: Cut, count: int) -> list[Numbered]:
    """Return operations that could all be done when they were done."""
    draw, folder = random.Random(seed), Folder(cut)
    done: list[Numbered] = []
    while len(done) < count:
        made = random_operation(draw, cut, folder.pieces)
        if made is not None and folder.do(each := Numbered(len(done) + 1, made)) is None:
            done.append(each)
    return done


def built_on(cut: Cut, operations: Sequence[Numbered]) -> dict[int, set[int]]:
    """Return the operations that each builds on: those that made the chunks it speaks of."""
    folder, found = Folder(cut), dict[int, set[int]]()
    for each in operations:
        spans = {
            cut.print.find(t.place) for t in (each.operation.target, each.operation.other) if t
        }
        direct = {n for p in folder.pieces if p.span in spans for n in p.by}
        found[each.number] = direct.union(*(found[number] for number in direct))
        folder.do(each)
    return found


def unchanged(cut: Cut, operations: Sequence[Numbered], other: Cut) -> set[int]:
    """Return the operations whose passages, and those they build on, are printed in another cut."""
    printed = {
        each.number
        for each in operations
        if all(visible(text) in other.print.visible for text in _passages(each.operation))
    }
    return {
        number
        for number, below in built_on(cut, operations).items()
        if number in printed and below <= printed
    }


def _passages(operation: Operation) -> Iterator[str]:
    yield operation.target.place.printed
    if operation.other is not None:
        yield operation.other.place.printed
    if operation.parent is not None:
        yield operation.parent.opening.printed


def edited_pairs(cut: Cut, pieces: Sequence[Piece]) -> set[tuple[str, str]]:
    """Return what is printed and what stands in its place, of every edited chunk."""
    return {
        (cut.print.visible[piece.first : piece.last], visible(piece.edited))
        for piece in pieces
        if piece.edited is not None
    }


def measure(cut: Cut, operations: Sequence[Numbered], other: Cut) -> Counter[str]:
    """Return what became of operations in another cut of their document."""
    folder, meant = Folder(cut), set[tuple[str, str]]()
    for each in operations:
        folder.do(each)
        meant |= edited_pairs(cut, folder.pieces)
    after, kept = fold(other, operations), unchanged(cut, operations, other)
    told = {*after.applied, *(conflict.number for conflict in after.conflicts)}
    return Counter(
        operations=len(operations),
        applied=len(after.applied),
        unchanged=len(kept),
        unchanged_applied=len(kept & set(after.applied)),
        unexplained=sum(not (each.reason and each.seen) for each in after.conflicts),
        lost=sum(each.number not in told for each in operations),
        misplaced=len(edited_pairs(other, after.pieces) - meant),
    )


def cut_of(text: str, chunks: Sequence[Chunk], parents: Sequence[Parent]) -> Cut:
    """Return a document as it was cut."""
    return Cut.make(
        text,
        [(chunk.char_start, chunk.char_end, chunk.parent_label) for chunk in chunks],
        [(parent.label, parent.char_start, parent.char_end) for parent in parents],
    )


def mapped(cut: Cut, text: str, place: dict[int, int]) -> Cut:
    """Return a cut over another text, in which each visible character has its place."""

    def span(first: int, last: int) -> tuple[int, int]:
        return place[first], place[last - 1] + 1

    return Cut.make(
        text,
        [(*span(piece.first, piece.last), piece.parent) for piece in cut.chunks],
        [(parent.label, *span(parent.first, parent.last)) for parent in cut.parents],
    )


def shifted(cut: Cut) -> Cut:
    """Return the cut with a new beginning, and lines that break at every blank."""
    text = _BEGINNING + re.sub(r"\s+", "\n", cut.print.text)
    skipped = len(visible(_BEGINNING))
    places = [n for n, character in enumerate(text) if not character.isspace()]
    return mapped(cut, text, dict(enumerate(places[skipped:])))


def rewritten(cut: Cut, seed: int) -> Cut:
    """Return the cut with some sentences that say something else, each as long as before."""
    draw = random.Random(seed)
    text = re.sub(
        r"[^.。]+[.。]",
        lambda found: found[0] if draw.random() >= _CHANGED else re.sub(r"\w", "x", found[0]),
        cut.print.text,
    )
    places = [n for n, character in enumerate(text) if not character.isspace()]
    return mapped(cut, text, dict(enumerate(places)))


def cuts_of(path: Path, settings: Settings) -> dict[str, Cut]:
    """Return a paper as it is cut by the settings, and cut to other sizes."""
    document = PreviewSource(path).parse(settings)
    tokenizer = joint_tokenizer(settings.embed)
    other = settings.chunk.model_copy(update=OTHER_CUT)
    cuts = {}
    for name, chosen in (("own", settings.chunk), ("other", other)):
        parents, chunks = chunk_document(document, chosen, tokenizer)
        cuts[name] = cut_of(document.text, chunks, parents)
    return cuts


def main() -> None:
    """Measure papers one by one and print the sums."""
    shared = Path(os.environ.get("RAG_SHARED_DATA", "../shared/data"))
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--papers", type=Path, default=shared / "papers", metavar="DIR")
    parser.add_argument("--documents", type=int, default=20)
    parser.add_argument("--operations", type=int, default=100, help="of each document")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="OUT")
    given = parser.parse_args()
    totals: dict[str, Counter[str]] = {}
    taken = 0
    for path in sorted(given.papers.glob("*.pdf")):
        if taken == given.documents:
            break
        try:
            cuts = cuts_of(path, shipped_settings())
        except ParseFailure as failure:
            print(f"{path.name}: not read ({failure.reason_code})")
            continue
        own, seed = cuts["own"], given.seed + taken
        operations = random_operations(seed, own, given.operations)
        for name, other in (
            ("shifted offsets", shifted(own)),
            ("another cut", cuts["other"]),
            ("an edited source", rewritten(own, seed)),
        ):
            totals.setdefault(name, Counter()).update(measure(own, operations, other))
        taken += 1
        print(f"{taken:>3} {path.name}: {len(own.chunks)} chunks", flush=True)
    for name, sums in totals.items():
        share = sums["unchanged_applied"] / max(sums["unchanged"], 1)
        print(
            f"{name}: {sums['operations']} operations, {sums['applied']} applied again; of "
            f"{sums['unchanged']} on unchanged text {share:.4f}; unexplained "
            f"{sums['unexplained']}, lost {sums['lost']}, misplaced {sums['misplaced']}"
        )
    if given.json:
        given.json.write_text(json.dumps(totals, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
