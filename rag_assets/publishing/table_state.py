"""The state of a publication's search table: the check `table_health` and `rag doctor` tell it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rag_assets.model import count_of
from rag_assets.publishing.search_reading import TABLE_NAME, damage_explained, new_session
from rag_assets.publishing.segments import MAX_DELETED, MAX_PARTS, count_deleted
from rag_assets.storage import LocalStore, current_folder
from rag_assets.workspace import Namespace

# What a search opens one by one. 10⁷ rows need 10 full fragments and 64 small ones; a table that
# has more than this has not been compacted for long.
MAX_FRAGMENTS = 1_000
# A fresh table has four, one that grew has one or two: more are left behind by an interrupted hand.
MAX_VERSIONS = 10
# Bytes a row beside its vectors, which the column and an index hold: texts three times, words.
# 10,000 passages of 200 tokens take some 3,000; small tables are all overhead.
MAX_BYTES_A_ROW = 40_000
_SMALL_ROWS = 10_000
_VECTOR_COPIES = 2
_FLOAT_BYTES = 4
_MEND = (
    "delete {folder} and run `rag index --namespace {namespace}`: it is built again from the "
    "records, as a fresh table"
)


@dataclass(frozen=True, slots=True)
class TableHealth:
    """The search table of a namespace's current publication.

    Args:
        fragments: pieces that its rows lie in.
        versions: of the table that are kept.
        parts: of its index with most parts.
        unindexed_rows: that an index does not know; the largest number of any index.
        deleted_rows: that lie in its files still.
        bytes: of its files. Those that other publications have too are counted here as well.
        vector_bytes: that a row's vectors take.
        mend: what helps where something is amiss.
    """

    namespace: str
    publication: str
    rows: int
    fragments: int
    versions: int
    parts: int
    unindexed_rows: int
    deleted_rows: int
    bytes: int
    vector_bytes: int
    mend: str

    @property
    def deleted_share(self) -> float:
        """Deleted rows as a share of all that lie in the files, in [0, 1]."""
        physical = self.rows + self.deleted_rows
        return self.deleted_rows / physical if physical else 0.0

    @property
    def bytes_a_row(self) -> int:
        """Bytes of the files for each row that can be found."""
        return self.bytes // self.rows if self.rows else 0

    @property
    def sentence(self) -> str:
        """All figures in one line."""
        return (
            f"{count_of(self.rows, 'row')} in {count_of(self.fragments, 'fragment')}, "
            f"{count_of(self.versions, 'version')}, indexes in {count_of(self.parts, 'part')}, "
            f"{self.unindexed_rows} unindexed, {self.deleted_rows} deleted "
            f"({self.deleted_share:.1%}), {self.bytes_a_row} bytes a row"
        )

    def troubles(self) -> Iterator[str]:
        """Yield a sentence for each figure that is beyond its bound."""
        allowed = MAX_BYTES_A_ROW + _VECTOR_COPIES * self.vector_bytes
        bounds = (
            ("fragments", self.fragments, MAX_FRAGMENTS),
            ("versions", self.versions, MAX_VERSIONS),
            ("parts of an index", self.parts, 2 * MAX_PARTS),
            ("unindexed rows", self.unindexed_rows, 0),
            ("bytes a row", self.bytes_a_row if self.rows >= _SMALL_ROWS else 0, allowed),
        )
        for name, found, most in bounds:
            if found > most:
                yield f"{self.publication}: {found} {name}, more than {most}: {self.mend}"
        if self.deleted_share > 2 * MAX_DELETED:
            yield (
                f"{self.publication}: {self.deleted_share:.1%} of the rows in its files are "
                f"deleted, more than {2 * MAX_DELETED:.0%}: {self.mend}"
            )


def table_health(namespace: Namespace) -> TableHealth:
    """Return the state of the search table that readers of a namespace see.

    Raises:
        PublicationError: nothing is published.
        DamagedFileError: the table cannot be read.
    """
    folder = current_folder(namespace.publications, namespace.name)
    mend = _MEND.format(folder=folder, namespace=namespace.name)
    return look_at_table(folder, namespace.name, mend)


def look_at_table(folder: Path, namespace: str, mend: str) -> TableHealth:
    """Return the state of the search table of one publication."""
    import lance

    path = folder / TABLE_NAME
    with damage_explained(path):
        dataset = lance.dataset(str(path), session=new_session())
        indexes = dataset.describe_indices()
        unindexed = [
            int(dataset.stats.index_stats(each.name)["num_unindexed_rows"]) for each in indexes
        ]
        floats = [getattr(field.type, "list_size", 0) for field in dataset.schema]
        return TableHealth(
            namespace=namespace,
            publication=folder.name,
            rows=dataset.count_rows(),
            fragments=len(dataset.get_fragments()),
            versions=len(dataset.versions()),
            parts=max((len(each.segments) for each in indexes), default=0),
            unindexed_rows=max(unindexed, default=0),
            deleted_rows=count_deleted(dataset),
            bytes=LocalStore(folder).used(TABLE_NAME),
            vector_bytes=_FLOAT_BYTES * sum(floats),
            mend=mend,
        )
