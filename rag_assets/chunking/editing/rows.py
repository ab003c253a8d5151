"""Edited chunks as rows of their record: what a splitter would say of them, and what was edited."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
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
from rag_assets.chunking.editing.folding import Cut, Edited, Numbered, Piece
from rag_assets.chunking.editing.journal import published_edits
from rag_assets.model import Parent, ParsedDocument
from rag_assets.model.settings import ChunkSettings
from rag_assets.storage import Entry, read_entries, read_rows
from rag_assets.workspace import Inventory, Namespace, current_identities

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


STAGE = "chunk_edits"


def count_passages(entry: Entry) -> int:
    """Return how many passages of a content are published, by its entry in `Passages.entries`."""
    return int(entry.note.get("enabled", entry.rows))


class Passages:
    """What is embedded and published of the contents of one inventory.

    Args:
        namespace: whose records are read, each time anew.
        inventory: what lives.
    """

    def __init__(self, namespace: Namespace, inventory: Inventory) -> None:
        self._namespace, self._inventory = namespace, inventory

    @cached_property
    def edited(self) -> dict[str, tuple[str, tuple[Numbered, ...]]]:
        """Uid and published operations of the living contents whose document has any."""
        edits = published_edits(self._namespace)
        if not edits:
            return {}
        uids = current_identities(self._namespace, self._inventory).uids
        return {content: (uid, edits[uid]) for content, uid in uids.items() if uid in edits}

    def edit_entries(self, partition: str) -> dict[str, Entry]:
        """Return the entries of edited contents that fit the chunks as they are cut now."""
        own = [c for c in self.edited if self._namespace.partition_of(c) == partition]
        if not own:
            return {}
        held = read_entries(self._namespace.record(STAGE, partition))
        chunks = read_entries(self._namespace.record("chunks", partition))
        return {
            content: held[content]
            for content in own
            if content in held
            and content in chunks
            and held[content].note["doc_uid"] == self.edited[content][0]
            and held[content].note["of"] == chunks[content].digest
        }

    def entries(self, partition: str) -> dict[str, Entry]:
        """Return the entry of each content's passages; one whose edits wait to be applied to its
        chunks has none.
        """
        chunks = read_entries(self._namespace.record("chunks", partition))
        plain = {content: entry for content, entry in chunks.items() if content not in self.edited}
        return plain | self.edit_entries(partition)

    def rows(
        self, partition: str, contents: Collection[str], columns: Sequence[str] | None = None
    ) -> "pa.Table":
        """Return the enabled passages of some contents by content and order.

        Args:
            columns: of `passages_schema`; all without.
        """
        return self._rows(partition, contents, columns, are_enabled=True)

    def disabled(self, partition: str, contents: Collection[str]) -> "pa.Table":
        """Return the passages of some contents that no search may find."""
        return self._rows(partition, contents, None, are_enabled=False)

    def _rows(
        self,
        partition: str,
        contents: Collection[str],
        columns: Sequence[str] | None,
        *,
        are_enabled: bool,
    ) -> "pa.Table":
        import pyarrow as pa
        import pyarrow.compute as pc

        schema = passages_schema()
        names = list(columns) if columns is not None else schema.names
        plain = [content for content in contents if content not in self.edited]
        edited = [content for content in contents if content in self.edited]
        tables = [pa.schema([schema.field(name) for name in names]).empty_table()]
        if plain and are_enabled:
            own = [name for name in names if name in chunks_schema().names]
            read = read_rows(
                self._namespace.record("chunks", partition), chunks_schema(), plain, own
            )
            for name in names:
                if name in AS_CUT:
                    value = pa.scalar(AS_CUT[name], schema.field(name).type)
                    read = read.append_column(schema.field(name), pa.repeat(value, len(read)))
            tables.append(read.select(names))
        if edited:
            wanted = [*dict.fromkeys([*names, "is_enabled"])]
            read = read_rows(self._namespace.record(STAGE, partition), schema, edited, wanted)
            chosen = pc.equal(read["is_enabled"], are_enabled)
            tables.append(read.filter(chosen).select(names))
        return pa.concat_tables(tables)
