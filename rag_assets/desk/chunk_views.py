"""What the chunk editor shows of a document: its list, the chosen chunk, what waits, its source."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any  # values of templates

from rag_assets.chunking import split_sentences
from rag_assets.desk.drawing import DrawnPages
from rag_assets.editing import ChunkDraft, Conflict, DraftChunk, DraftEditor, Event, Numbered
from rag_assets.model import PageBox

# Of a chunk in the list, characters that are shown; of a parent in the choice of one.
_SHOWN = 96
_PARENT_SHOWN = 60
# Of a text without pages, characters before and behind the chunk that are shown with it.
_AROUND = 1500
# Of what was done, how many of the last are listed.
_MOST_DONE = 60
# More rows than any list has.
_ALL = 10**9
# What a person's choice can be done with the chunk that stands there now.
_RETAKEN = ("edit_text", "enable", "disable")


@dataclass(frozen=True, slots=True)
class Row:
    """A chunk in the list.

    Args:
        begins: the label of its parent where it is the first of it.
    """

    key: str
    text: str
    page: int | None
    is_edited: bool
    is_enabled: bool
    begins: str


@dataclass(frozen=True, slots=True)
class Splice:
    """What another list differs by: from `first` on, `count` rows are replaced by `rows`."""

    first: int
    count: int
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Waiting:
    """An operation that waits.

    Args:
        wanted: the text that it puts; None where it puts none.
        chunk: that stands there now, where that is one.
        can_take: whether it can be done with that chunk as it is.
    """

    conflict: Conflict
    wanted: str | None
    chunk: DraftChunk | None
    can_take: bool


@dataclass(frozen=True, slots=True)
class Changed:
    """An operation that a publication adds or takes back."""

    event: Event
    kind: str
    seen: str
    wanted: str | None


def list_rows(draft: ChunkDraft, first: int = 0, behind: int | None = None) -> list[Row]:
    """Return the rows of a draft, of all its chunks or of those from `first` to before `behind`."""
    rows = []
    for chunk, (*_, begins) in zip(
        draft.chunks[first:behind], _looks(draft)[first:behind], strict=True
    ):
        text = " ".join(chunk.text[: 2 * _SHOWN].split())[:_SHOWN]
        rows.append(Row(chunk.key, text, chunk.page, chunk.is_edited, chunk.is_enabled, begins))
    return rows


def _looks(draft: ChunkDraft) -> list[tuple[str, str, bool, str]]:
    """Return what decides what each row looks like: a key tells where its chunk is printed."""
    looks, before = [], ""
    for chunk in draft.chunks:
        begins = chunk.parent_label if chunk.parent_label != before else ""
        before = chunk.parent_label
        looks.append((chunk.key, chunk.text, chunk.is_enabled, begins))
    return looks


def splice(before: ChunkDraft | None, after: ChunkDraft) -> Splice:
    """Return what a list changed by: the rows between those that are equal at both ends.

    Args:
        before: None for one that is not known: all of it is replaced.
    """
    if before is None:
        return Splice(0, _ALL, list_rows(after))
    old, new = _looks(before), _looks(after)
    shorter = min(len(old), len(new))
    first = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    behind = next(
        (n for n in range(shorter - first) if old[-1 - n] != new[-1 - n]), shorter - first
    )
    rows = list_rows(after, first, len(new) - behind)
    return Splice(first, len(old) - first - behind, rows)


def choose(draft: ChunkDraft, key: str, order: int = 0) -> DraftChunk | None:
    """Return the chunk of a key; else that of an order, or the last; None where there is none."""
    found = next((chunk for chunk in draft.chunks if chunk.key == key), None)
    if found is None and draft.chunks:
        found = draft.chunks[min(max(order, 0), len(draft.chunks) - 1)]
    return found


def find(draft: ChunkDraft, sought: str, after: int) -> DraftChunk | None:
    """Return the chunk of a number, or the next behind `after` that holds a text, in any case."""
    if sought.isdecimal() and len(sought) < 8:
        return choose(draft, "", int(sought))
    folded = sought.casefold()
    turned = [*draft.chunks[after + 1 :], *draft.chunks[: after + 1]]
    return next((chunk for chunk in turned if folded in chunk.text.casefold()), None)


def list_waiting(editor: DraftEditor, draft: ChunkDraft) -> list[Waiting]:
    """Return what waits, with what it wants and what it could be done with."""
    if not draft.conflicts:
        return []
    operations = {each.number: each.operation for each in editor.history.drafted}
    by_text: dict[str, list[DraftChunk]] = {}
    for chunk in draft.chunks:
        by_text.setdefault(chunk.text, []).append(chunk)
    waiting = []
    for conflict in draft.conflicts:
        standing = by_text.get(conflict.now, [])
        now = standing[0] if len(standing) == 1 else None
        can_take = now is not None and conflict.kind in _RETAKEN
        waiting.append(Waiting(conflict, operations[conflict.number].text, now, can_take))
    return waiting


def list_changed(editor: DraftEditor) -> tuple[list[Changed], list[Changed]]:
    """Return the operations that a publication of the draft adds, and those it takes back."""
    history = editor.history
    drafted, published = history.drafted, history.published
    before, after = {each.number for each in published}, {each.number for each in drafted}

    def shown(operations: Sequence[Numbered], other: set[int]) -> list[Changed]:
        return [
            Changed(
                history.events[each.number - 1],
                each.operation.kind,
                each.operation.seen,
                each.operation.text,
            )
            for each in operations
            if each.number not in other
        ]

    return shown(drafted, before), shown(published, after)


def list_done(editor: DraftEditor) -> list[tuple[Event, bool, bool]]:
    """Return (event, whether it holds, whether it can be undone) of what was done last, new first.

    An undoing that holds can be undone too: what it took back is done again.
    """
    history = editor.history
    undone: set[int] = set()
    held: set[int] = set()
    for event in reversed(history.listed):
        if event.number not in undone:
            held.add(event.number)
            if event.undoes is not None:
                undone.add(event.undoes)
    latest = list(reversed(history.listed))[:_MOST_DONE]
    return [(event, event.number in held, history.is_open) for event in latest]


def split_places(chunk: DraftChunk) -> list[tuple[str, int | None]]:
    """Return the sentences of a chunk, and where it can be cut behind each."""
    spans = list(split_sentences(chunk.text))
    ends = [start for start, _ in spans[1:]]
    return [
        (chunk.text[start:end], cut) for (start, end), cut in zip(spans, [*ends, None], strict=True)
    ]


def shown_parents(editor: DraftEditor) -> list[tuple[str, str]]:
    """Return label and first words of each parent."""
    return [(label, " ".join(opening.split())[:_PARENT_SHOWN]) for label, opening in editor.parents]


def show_source(editor: DraftEditor, chunk: DraftChunk, pages: DrawnPages) -> dict[str, Any]:
    """Return the source around a chunk: `pages` with their boxes, or `before`, `printed`, `after`.

    A page is (number, what `DrawnPages.draw` says, boxes).
    """
    held = editor.held
    boxes = held.find_boxes(chunk.start, chunk.end)
    if boxes:
        name = editor.namespace.name
        return {
            "pages": [
                (number, pages.draw(name, held.content_hash, number), found)
                for number, found in _by_page(boxes)
            ]
        }
    text = held.made.document.text
    before = text[max(0, chunk.start - _AROUND) : chunk.start]
    after = text[chunk.end : chunk.end + _AROUND]
    return {
        "pages": [],
        # From a line's beginning, to a line's end, where there are such.
        "before": before if chunk.start <= _AROUND else before.partition("\n")[2] or before,
        "printed": text[chunk.start : chunk.end],
        "after": after.rpartition("\n")[0] or after,
    }


def _by_page(boxes: Sequence[PageBox]) -> Iterator[tuple[int, list[PageBox]]]:
    for number in sorted({box.page for box in boxes}):
        yield number, [box for box in boxes if box.page == number]
