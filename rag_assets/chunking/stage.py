"""The stages `parents` and `chunks`: passages of every parsed content, partition by partition."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rag_assets.chunking.chunks import CHUNKING_VERSION, each_chunk
from rag_assets.chunking.context import PREPROCESS_VERSION
from rag_assets.chunking.dividing import batches
from rag_assets.chunking.modes import chunk_key, mode_of, parent_key
from rag_assets.chunking.parents import PARENTS_VERSION
from rag_assets.chunking.rows import (
    chunk_row,
    chunks_schema,
    digested_fields,
    parent_row,
    parents_schema,
    restore_parent,
)
from rag_assets.chunking.sentences import Tokenizer
from rag_assets.model import Progress, StageOutcome, combine_digests, hash_fields
from rag_assets.model.settings import ChunkSettings
from rag_assets.parsing import read_parsed
from rag_assets.storage import Computed, Entry, Notify, read_entries, read_rows, rows_of, split_rows
from rag_assets.workspace import Inventory, Namespace
from rag_assets.workspace.stages import DocumentStage, parsed_contents

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_AT_ONCE = 500


def refresh_parents(
    namespace: Namespace,
    inventory: Inventory,
    partitions: Sequence[str],
    tokenizer: Tokenizer,
    notify: Notify,
    *,
    on_progress: Progress | None = None,
) -> dict[str, StageOutcome]:
    """Make the parents of every parsed content whose parse or rules changed."""
    settings = namespace.settings.chunk
    rule = _parents_rule(settings, tokenizer)

    def compute(partition: str, stale: Sequence[str]) -> Iterable[Computed]:
        parses = parsed_contents(namespace, inventory, partition)
        for content in stale:
            name = parses[content].note["parsed_file"]
            document, _ = read_parsed(namespace.parsed_folder(partition) / name)
            mode = mode_of(settings)
            parents = mode.parents(mode.outline(document), settings, tokenizer.count)
            upstream = parses[content].digest
            # The chunks read the parse too: where it changes, so does what they are made of.
            digest, rows = _digested_table(
                parents_schema(), (parent_row(content, parent) for parent in parents), [upstream]
            )
            note = {"of": upstream, "parsed_file": name}
            yield content, Entry(hash_fields(rule, upstream), digest, len(rows), note), rows

    def wanted(partition: str) -> dict[str, str]:
        parses = parsed_contents(namespace, inventory, partition)
        return {content: hash_fields(rule, entry.digest) for content, entry in parses.items()}

    stage = DocumentStage("parents", parents_schema(), wanted, compute)
    return stage.refresh(namespace, inventory, partitions, notify, on_progress)


def refresh_chunks(
    namespace: Namespace,
    inventory: Inventory,
    partitions: Sequence[str],
    tokenizer: Tokenizer,
    notify: Notify,
    *,
    on_progress: Progress | None = None,
) -> dict[str, StageOutcome]:
    """Cut every content whose parse, parents or rules changed into chunks.

    A content whose parents are those of an earlier parse waits for its parents.
    """
    settings = namespace.settings.chunk
    rule, mode = _chunks_rule(settings, tokenizer), mode_of(settings)

    def compute(partition: str, stale: Sequence[str]) -> Iterable[Computed]:
        parses = parsed_contents(namespace, inventory, partition)
        upstream = read_entries(namespace.record("parents", partition))
        path = namespace.record("parents", partition)
        parents = split_rows(read_rows(path, parents_schema(), stale))
        for content in stale:
            # Another parser may have made the same parse since, in a file of another name.
            parse = parses[content]
            is_same = parse.digest == upstream[content].note["of"]
            name = (parse if is_same else upstream[content]).note["parsed_file"]
            document, _ = read_parsed(namespace.parsed_folder(partition) / name)
            # None where nothing of a document is visible.
            held = rows_of(parents[content]) if content in parents else ()
            outline = mode.outline(document)
            chunks = each_chunk(outline, map(restore_parent, held), settings, tokenizer)
            digest, rows = _digested_table(
                chunks_schema(), (chunk_row(content, chunk) for chunk in chunks)
            )
            facts = mode.facts(outline)
            if facts:
                digest = combine_digests([digest, hash_fields(facts)])
            of = upstream[content].digest
            entry = Entry(hash_fields(rule, of), digest, len(rows), {"of": of, **facts})
            yield content, entry, rows

    def wanted(partition: str) -> dict[str, str]:
        parses = parsed_contents(namespace, inventory, partition)
        parents = read_entries(namespace.record("parents", partition))
        return {
            content: hash_fields(rule, parents[content].digest)
            for content, parse in parses.items()
            if content in parents and parents[content].note["of"] == parse.digest
        }

    stage = DocumentStage("chunks", chunks_schema(), wanted, compute)
    return stage.refresh(namespace, inventory, partitions, notify, on_progress)


def _digested_table(
    schema: "pa.Schema", rows: Iterable[Mapping[str, Any]], before: Sequence[str] = ()
) -> "tuple[str, pa.Table]":
    """Return the digest of a content's rows and their table; as dictionaries few rows are held.

    Args:
        before: digests of what the rows are made of besides.
    """
    import pyarrow as pa

    tables, digests = [schema.empty_table()], list(before)
    for some in batches(rows, _ROWS_AT_ONCE):
        digests += [hash_fields(*digested_fields(row)) for row in some]
        tables.append(pa.Table.from_pylist(some, schema=schema))
    return combine_digests(digests), pa.concat_tables(tables)


def has_stale_chunks(namespace: Namespace, inventory: Inventory, tokenizer: Tokenizer) -> bool:
    """Say whether `refresh_parents` or `refresh_chunks` would make anything. Reads no document.

    Raises:
        DamagedFileError: a record is not what was written.
    """
    settings = namespace.settings.chunk
    rules = {
        "parents": _parents_rule(settings, tokenizer),
        "chunks": _chunks_rule(settings, tokenizer),
    }
    for partition in namespace.partition_keys:
        above = parsed_contents(namespace, inventory, partition)
        for stage, rule in rules.items() if above else ():
            held = read_entries(namespace.record(stage, partition))
            for content, entry in above.items():
                fingerprint = hash_fields(rule, entry.digest)
                if content not in held or held[content].fingerprint != fingerprint:
                    return True
            above = {content: held[content] for content in above}
    return False


def _parents_rule(settings: ChunkSettings, tokenizer: Tokenizer) -> str:
    return hash_fields(PARENTS_VERSION, *parent_key(settings), tokenizer.fingerprint)


def _chunks_rule(settings: ChunkSettings, tokenizer: Tokenizer) -> str:
    return hash_fields(
        CHUNKING_VERSION, PREPROCESS_VERSION, *chunk_key(settings), tokenizer.fingerprint
    )
