"""Edited chunks as rows of their record: what a splitter would say of them, and what was edited."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rag_assets.chunking import (
    ChosenSpan,
    Tokenizer,
    chunk_row,
    chunks_schema,
    describe_spans,
    model_input,
    preprocess,
)
from rag_assets.editing.folding import Cut, Edited, Piece
from rag_assets.model import Parent, ParsedDocument
from rag_assets.settings import ChunkSettings

if TYPE_CHECKING:
    import pyarrow as pa


def passages_schema() -> "pa.Schema":
    """Return the schema of the record `chunk_edits`: a chunk's own, and what was edited.

    `edited` stands in place of `text` wherever a person or a model reads it; null where nobody has
    changed it. `text` and its place are the printed original, always. `edited_by` are numbers of
    operations in the journal of the document's edits, null for a chunk as it was cut.
    """
    import pyarrow as pa

    schema = chunks_schema()
    for name, kind in (
        ("edited", pa.string()),
        ("edited_by", pa.list_(pa.int64())),
        ("is_enabled", pa.bool_()),
    ):
        schema = schema.append(pa.field(name, kind))
    return schema


AS_CUT: Mapping[str, Any] = {"edited": None, "edited_by": None, "is_enabled": True}
"""What these columns hold of a chunk that nobody has edited."""


def cut_of(
    document: ParsedDocument, chunks: Sequence[Mapping[str, Any]], parents: Sequence[Parent]
) -> Cut:
    """Return a document as its records say that it was cut."""
    return Cut.make(
        document.text,
        [(row["char_start"], row["char_end"], row["parent_label"]) for row in chunks],
        [(parent.label, parent.char_start, parent.char_end) for parent in parents],
    )


def edited_rows(
    content: str,
    document: ParsedDocument,
    cut: Cut,
    edited: Edited,
    chunks: Sequence[Mapping[str, Any]],
    parents: Sequence[Parent],
    settings: ChunkSettings,
    tokenizer: Tokenizer,
) -> list[dict[str, Any]]:
    """Return the rows of a document's edited chunks: enabled ones in order, then the others.

    A chunk whose printed span is one that the splitter made has that chunk's row, a new span is
    described as the splitter would.

    Args:
        content: hash of its bytes.
        cut: what `edited` was folded from.
        chunks: rows of `chunks_schema` as they were cut.
        parents: of the document.
        settings: that it was cut with.
        tokenizer: that its sizes are counted with.
    """
    known = {cut.print.span(row["char_start"], row["char_end"]): row for row in chunks}
    by_label = {parent.label: parent for parent in parents}
    new = [piece for piece in edited.pieces if piece.span not in known]
    spans = [_span_of(piece, cut, by_label, known) for piece in new]
    described = describe_spans(document, spans, settings, tokenizer) if spans else []
    made = {
        piece.span: chunk_row(content, chunk) for piece, chunk in zip(new, described, strict=True)
    }
    ordered = sorted(edited.pieces, key=lambda piece: not piece.is_enabled)
    rows = []
    for order, piece in enumerate(ordered):
        row = {**(known.get(piece.span) or made[piece.span])}
        row |= {
            "content_hash": content,
            "order": order,
            "parent_label": piece.parent,
            "edited": piece.edited,
            "edited_by": list(piece.by) or None,
            "is_enabled": piece.is_enabled,
        }
        if piece.edited is not None:
            row |= _given_instead(row, piece.edited, settings, tokenizer)
        rows.append(row)
    return rows


def _span_of(
    piece: Piece,
    cut: Cut,
    parents: Mapping[str, Parent],
    known: Mapping[tuple[int, int], Mapping[str, Any]],
) -> ChosenSpan:
    """Return a new span with the parent and the question of the chunk that it begins in."""
    around: Mapping[str, Any] = next(
        (row for span, row in known.items() if span[0] <= piece.first < span[1]),
        {"parent_label": piece.parent, "question": None},
    )
    start, end = cut.print.offsets(*piece.span)
    return ChosenSpan(parents[around["parent_label"]], start, end, around["question"])


def _given_instead(
    row: Mapping[str, Any], text: str, settings: ChunkSettings, tokenizer: Tokenizer
) -> dict[str, Any]:
    """Return what a model is given of an edited chunk; the context gives way to a long text."""
    prepared = preprocess(text, settings.preprocess)
    asked = prepared if row["question"] is None else row["question"]
    context = row["context"]
    tokens = tokenizer.count([model_input(text, context, asked)])[0]
    if context and tokens > tokenizer.limit:
        context, tokens = "", tokenizer.count([model_input(text, "", asked)])[0]
    return {"prepared": prepared, "context": context, "input_tokens": tokens}
