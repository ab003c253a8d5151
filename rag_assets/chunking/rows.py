"""Parents and chunks as rows of their records."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag_assets.model import Article, Box, Chunk, PageBox, Parent, ParsedDocument, hash_text

if TYPE_CHECKING:
    import pyarrow as pa
# Left out of digests: the key, and the text that its hash stands for.
_NOT_DIGESTED = frozenset({"content_hash", "text"})


def boxes_type() -> "pa.DataType":
    """Return the type of a list of `PageBox`."""
    import pyarrow as pa

    edges = [(name, pa.float64()) for name in ("x0", "y0", "x1", "y1")]
    return pa.list_(pa.struct([("page", pa.int64()), *edges]))


def articles_type() -> "pa.DataType":
    """Return the type of a list of `Article`."""
    import pyarrow as pa

    texts, numbers = pa.string(), pa.int64()
    return pa.list_(
        pa.struct(
            [
                ("key", texts),
                ("number", numbers),
                ("part", numbers),
                ("shown", texts),
                ("char_start", numbers),
                ("char_end", numbers),
            ]
        )
    )


def parents_schema() -> "pa.Schema":
    """Return the schema of the record `parents`: the fields of Parent and the text's hash."""
    import pyarrow as pa

    page_start = pa.struct([("page", pa.int32()), ("start", pa.int64())])
    return pa.schema(
        [
            ("content_hash", pa.string()),
            ("order", pa.int32()),
            ("label", pa.string()),
            ("char_start", pa.int64()),
            ("char_end", pa.int64()),
            ("page_starts", pa.list_(page_start)),
            ("section_path", pa.list_(pa.string())),
            ("text", pa.string()),
            ("hash", pa.string()),
        ]
    )


def chunks_schema() -> "pa.Schema":
    """Return the schema of the record `chunks`: the fields of Chunk and the text's hash."""
    import pyarrow as pa

    strings = pa.list_(pa.string())
    return pa.schema(
        [
            ("content_hash", pa.string()),
            ("order", pa.int32()),
            ("parent_label", pa.string()),
            ("char_start", pa.int64()),
            ("char_end", pa.int64()),
            ("page_start", pa.int32()),
            ("page_end", pa.int32()),
            ("kind", pa.string()),
            ("section_title", pa.string()),
            ("parent_section", pa.string()),
            ("section_path", strings),
            ("hierarchy_level", pa.int32()),
            ("section_category", pa.int32()),
            ("section_subtype", pa.string()),
            ("context", pa.string()),
            ("prepared", pa.string()),
            ("question", pa.string()),
            ("token_count", pa.int32()),
            ("input_tokens", pa.int32()),
            ("boxes", boxes_type()),
            ("attachment_ids", strings),
            ("is_cut", pa.bool_()),
            ("law_title", pa.string()),
            ("articles", articles_type()),
            ("text", pa.string()),
            ("chunk_hash", pa.string()),
        ]
    )


def parent_row(content: str, parent: Parent) -> dict[str, Any]:
    """Return a parent as a row of `parents_schema`."""
    return {
        "content_hash": content,
        "order": parent.order,
        "label": parent.label,
        "char_start": parent.char_start,
        "char_end": parent.char_end,
        "page_starts": [{"page": page, "start": start} for page, start in parent.page_starts],
        "section_path": list(parent.section_path),
        "text": parent.text,
        "hash": hash_text(parent.text),
    }


def restore_parent(row: Mapping[str, Any]) -> Parent:
    """Return the parent that `parent_row` has written."""
    return Parent(
        row["label"],
        row["order"],
        row["char_start"],
        row["char_end"],
        row["text"],
        tuple((pair["page"], pair["start"]) for pair in row["page_starts"]),
        tuple(row["section_path"]),
    )


def chunk_row(content: str, chunk: Chunk) -> dict[str, Any]:
    """Return a chunk as a row of `chunks_schema`."""
    return {
        "content_hash": content,
        "order": chunk.order,
        "parent_label": chunk.parent_label,
        "char_start": chunk.char_start,
        "char_end": chunk.char_end,
        "page_start": chunk.page_start,
        "page_end": chunk.page_end,
        "kind": chunk.kind,
        "section_title": chunk.section_title,
        "parent_section": chunk.parent_section,
        "section_path": list(chunk.section_path),
        "hierarchy_level": chunk.hierarchy_level,
        "section_category": int(chunk.section_category),
        "section_subtype": chunk.section_subtype,
        "context": chunk.context,
        "prepared": chunk.prepared,
        "question": chunk.question,
        "token_count": chunk.token_count,
        "input_tokens": chunk.input_tokens,
        "boxes": [_box_row(box) for box in chunk.boxes],
        "attachment_ids": list(chunk.attachment_ids),
        "is_cut": chunk.is_cut,
        "law_title": chunk.law_title,
        "articles": [_article_row(article) for article in chunk.articles],
        "text": chunk.text,
        "chunk_hash": hash_text(chunk.text),
    }


def _box_row(box: PageBox) -> dict[str, float]:
    return {"page": box.page, "x0": box.x0, "y0": box.y0, "x1": box.x1, "y1": box.y1}


def _article_row(article: Article) -> dict[str, str | int]:
    return {
        "key": article.key,
        "number": article.number,
        "part": article.part,
        "shown": article.shown,
        "char_start": article.char_start,
        "char_end": article.char_end,
    }


def digested_fields(row: Mapping[str, Any]) -> list[Any]:
    """Return the values of a row that the digest of its document covers."""
    return [value for name, value in row.items() if name not in _NOT_DIGESTED]


_GRID = 100  # steps in a point; rounded outwards, so that a box never cuts what it holds


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    end: int
    page: int
    bbox: Box
    block: int


class BoxFinder:
    """Finds the rectangles of passages.

    Args:
        document: with printed lines, or blocks that have a page and a box; without either there
            is nothing to draw.
    """

    def __init__(self, document: ParsedDocument) -> None:
        starts = [block.start for block in document.blocks] if document.lines else []
        self._tables = {
            index for index, block in enumerate(document.blocks) if block.kind == "table"
        }
        self._places = [
            _Place(line.start, line.end, line.page, line.bbox, bisect_right(starts, line.start) - 1)
            for line in document.lines
        ] or [
            _Place(block.start, block.end, block.page, block.bbox, index)
            for index, block in enumerate(document.blocks)
            if block.page is not None and block.bbox is not None
        ]
        self._places.sort(key=lambda place: (place.start, place.end))
        self._starts = [place.start for place in self._places]
        # The furthest end so far: ends ascend even where lines overlap.
        self._reached: list[int] = []
        for place in self._places:
            self._reached.append(max(place.end, self._reached[-1] if self._reached else 0))

    def find(self, start: int, end: int) -> tuple[PageBox, ...]:
        """Return the rectangles around the lines that the span touches, in reading order.

        Lines that follow each other in one column of one block share a rectangle. A line is
        taken whole.

        Args:
            start: first code point in the clean text; `end` is exclusive.
            end: behind the last.
        """
        first = bisect_right(self._reached, start)
        behind = bisect_left(self._starts, end)
        touched = [place for place in self._places[first:behind] if place.end > start]
        return tuple(_box_around(run) for run in _runs(touched, self._tables))


def _runs(places: Sequence[_Place], tables: Collection[int]) -> Iterator[list[_Place]]:
    run: list[_Place] = []
    for place in places:
        if run and not _continues(run[-1], place, tables):
            yield run
            run = []
        run.append(place)
    if run:
        yield run


def _continues(before: _Place, place: _Place, tables: Collection[int]) -> bool:
    """Say whether a line stands beside or below the one before, in the same column and block.

    A table stands in one column whatever its cells do.
    """
    if (before.page, before.block) != (place.page, place.block):
        return False
    if place.block in tables:
        return True
    x0, y0, x1, y1 = before.bbox
    is_beside = place.bbox[1] < y1 and place.bbox[3] > y0
    is_below = place.bbox[1] >= y0 and place.bbox[0] < x1 and place.bbox[2] > x0
    return is_beside or is_below


def _box_around(run: Sequence[_Place]) -> PageBox:
    return PageBox(
        run[0].page,
        math.floor(min(place.bbox[0] for place in run) * _GRID) / _GRID,
        math.floor(min(place.bbox[1] for place in run) * _GRID) / _GRID,
        math.ceil(max(place.bbox[2] for place in run) * _GRID) / _GRID,
        math.ceil(max(place.bbox[3] for place in run) * _GRID) / _GRID,
    )
