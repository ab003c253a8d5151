"""The passages of a namespace as they are embedded and published: as cut, or as edited.

Law 2 says that a stage is a function of content, settings and code, and that who a document is
joins where ids are made. Edits belong to a document, not to bytes: they hold for the next version
of a file, so they are found by uid. The record `chunk_edits` is the one place before a publication
that asks for it, and only of documents that have published edits: what every other document is
made of stays a function of its bytes. It stands before the vectors, so that an edited passage has
its vector as every other has: looked up by what the model is given, and made where nobody has.
"""

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from rag_assets.chunking import chunks_schema
from rag_assets.editing.journal import published_edits
from rag_assets.editing.operations import Numbered
from rag_assets.editing.rows import AS_CUT, passages_schema
from rag_assets.storage import Entry, read_entries, read_rows
from rag_assets.workspace import Inventory, Namespace, current_identities

if TYPE_CHECKING:
    import pyarrow as pa

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
