"""What a publication knows of each document, so that the next one finds what changed.

A row of a search table, or of `parents`, is a function of its document alone: of who it is, of the
parse, the passages and the vectors that its records hold. The key is the digest of all of them.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rag_assets.editing import count_passages
from rag_assets.embedding import EmbeddingModel
from rag_assets.model import DamagedFileError, hash_fields
from rag_assets.publishing.entity_schemas import GRAPH_SCHEMAS
from rag_assets.publishing.facts import DocumentFacts
from rag_assets.publishing.record_state import RecordState
from rag_assets.publishing.schemas import PUBLISHED_SCHEMAS
from rag_assets.settings import deciding_fields
from rag_assets.storage import Entry, read_parquet, write_parquet
from rag_assets.workspace import Namespace

KEYS_NAME = "document_keys.parquet"
# Counts as code: raise it when a table must not grow from one that was made before.
SEGMENTS_VERSION = 1

# Stages whose rows become rows of the publication; of the passages `made` says which.
_STAGES = ("parents", "embeddings")
# Of a parse, what no row is made of.
_PROVENANCE = {"seconds", "attempts"}


@dataclass(frozen=True, slots=True)
class DocumentKey:
    """The digest of all that a document's rows are made of, and how many there are."""

    digest: str
    rows: int


@dataclass(frozen=True, slots=True)
class Growth:
    """What makes one publication from another.

    Args:
        before: name of the publication to grow from.
        gone: documents whose rows go, changed ones too.
        added: contents whose rows come, changed ones too.
        kept: rows that stay.
    """

    before: str
    gone: Sequence[str] = field(repr=False)
    added: Collection[str] = field(repr=False)
    kept: int


def document_keys(records: RecordState) -> dict[str, DocumentKey]:
    """Return the key of each document that can be published, by its uid."""
    return {
        str(facts.doc_uid): DocumentKey(
            _digest(facts, records), count_passages(records.made[facts.content_hash])
        )
        for facts in records.facts
        if facts.status == "published"
    }


def _digest(facts: DocumentFacts, records: RecordState) -> str:
    content, first = facts.content_hash, facts.living.first
    report = {k: v for k, v in (facts.report or {}).items() if k not in _PROVENANCE}
    entries = [_held(records.entries[stage].get(content)) for stage in _STAGES]
    return hash_fields(
        content,
        facts.doc_uid,
        facts.citable,
        [first.source_uri, first.source_type, first.source_subtype, first.sidecar],
        _plain(facts.fields),
        _plain(report),
        facts.version,
        [str(facts.created_at), str(facts.updated_at)],
        entries,
        records.made[content].digest,
        sorted(records.encoded.get(content, ())),
    )


def _held(entry: Entry | None) -> str | None:
    return entry.digest if entry else None


def _plain(value: Any) -> Any:
    """Return what a sidecar or a report holds as JSON has it: days and the like as text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def table_key(namespace: Namespace, models: Sequence[EmbeddingModel], versions: Any) -> str:
    """Return the digest of what all rows of a table share: one grows only from such another.

    Args:
        versions: of the code that makes a publication.
    """
    import lance

    schemas = PUBLISHED_SCHEMAS | GRAPH_SCHEMAS
    return hash_fields(
        SEGMENTS_VERSION,
        versions,
        # Files of another version of the library can be read, but not always be added to.
        lance.__version__,
        namespace.name,
        namespace.settings.publish.ann_rows,
        namespace.settings.graph.enabled,
        [(m.fingerprint, m.dimension, deciding_fields(m.settings)) for m in models],
        {name: schema.to_string() for name, schema in schemas.items()},
    )


def write_document_keys(folder: Path, keys: Mapping[str, DocumentKey]) -> None:
    """Write the keys into the folder of a publication that is being built."""
    import pyarrow as pa

    columns = {
        "doc_uid": pa.array(keys, pa.string()),
        "digest": pa.array([key.digest for key in keys.values()], pa.string()),
        "rows": pa.array([key.rows for key in keys.values()], pa.int64()),
    }
    table = pa.table(columns)
    write_parquet(folder / KEYS_NAME, table.schema, [table])


def read_document_keys(folder: Path) -> dict[str, DocumentKey]:
    """Return the keys of a publication.

    Raises:
        DamagedFileError: the file is not there, or not what was written.
    """
    import pyarrow as pa

    try:
        table = read_parquet(folder / KEYS_NAME)
        columns = [table.column(name).to_pylist() for name in ("doc_uid", "digest", "rows")]
    except (OSError, KeyError, pa.ArrowException) as error:
        raise DamagedFileError(f"{folder / KEYS_NAME}: cannot be read ({error}).") from error
    return {uid: DocumentKey(digest, rows) for uid, digest, rows in zip(*columns, strict=True)}


def compare_documents(
    before: str, held: Mapping[str, DocumentKey], now: Mapping[str, DocumentKey],
    contents: Mapping[str, str],
) -> Growth:  # fmt: skip
    """Return what makes a publication with the documents of now from one that holds others.

    Args:
        before: name of that publication.
        contents: the content of each document of now.
    """
    kept = {uid for uid, key in now.items() if held.get(uid) == key}
    return Growth(
        before,
        sorted(held.keys() - kept),
        {contents[uid] for uid in now.keys() - kept},
        sum(now[uid].rows for uid in kept),
    )
