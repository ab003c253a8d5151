"""Join living rows with identity: the tables of a publication, and their digests."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.chunking import PATH_SEPARATOR, locate_pages, parents_schema
from rag_assets.chunking.editing import Passages, count_passages, passages_schema, read_histories
from rag_assets.embedding import EmbeddingModel
from rag_assets.embedding.sparse_encoder import token_weights
from rag_assets.embedding.stage import CHUNK_INPUTS, chunk_input, embeddings_schema
from rag_assets.law.structure import PATH_SEPARATOR as LEVEL_SEPARATOR
from rag_assets.model import RecordsMovedError, hash_text
from rag_assets.publishing.content_words import passage_language
from rag_assets.publishing.facts import (
    DocumentFacts,
    document_row,
    document_year,
    source_id,
    source_row,
    tell_sources_apart,
)
from rag_assets.publishing.graph import mentions_schema, normalise
from rag_assets.publishing.records import RecordState
from rag_assets.publishing.schemas import (
    ARCHIVED_DOCUMENTS,
    CHUNK_EDITS,
    CHUNKS,
    CONTENT,
    DOCUMENTS,
    ENTITIES,
    MENTIONS,
    PARENTS,
    PARSE_REPORTS,
    PROVENANCE,
    RELATIONS,
    SOURCES,
    SPARSE_VECTOR,
    row_order,
    schema_entry,
    search_schema,
    vector_columns,
)
from rag_assets.storage import read_rows, rows_of
from rag_assets.workspace import Inventory, Namespace

# Sentences that name more entities are lists; what stands in a list is not spoken of together.
_MOST_IN_SENTENCE = 12
# A column of Arrow's `string` addresses so many bytes; taking rows makes one array of it. A million
# passages of 2,100 bytes have more.
_MAX_BYTES = 2**31 - 1
# Bytes of it that are taken at once where it is longer, by the mean of its texts: so a slice stays
# below that even where its texts are sixteen times as long as the others.
_SLICE_BYTES = 2**27


def join_tables(
    namespace: Namespace,
    inventory: Inventory,
    records: RecordState,
    models: Sequence[EmbeddingModel],
) -> dict[str, pa.Table]:
    """Return the tables by name; `chunks` with its vectors, rows in each table's order.

    Args:
        models: the configured ones; one vector column each, in this order. Chunks have no vector
            of a model that has not looked at them.

    Raises:
        RecordsMovedError: chunks and vectors do not belong together.
    """
    facts, made = records.facts, records.made
    published = {f.content_hash: f for f in facts if f.status == "published"}
    counts = {content: count_passages(made[content]) for content in published}
    parents = _parents(namespace, published)
    chunks = _chunks(namespace, published, models, records.encoded, records.passages)
    if len(chunks) != sum(counts.values()):
        raise RecordsMovedError(
            f"{namespace.records}: the passages are others than they were a moment ago: another "
            "run is replacing them. Run `rag ingest` again."
        )
    by_content = {f.content_hash: f for f in facts}
    same = _same_texts(published)
    rows: dict[str, tuple[pa.Schema, Iterable[Mapping[str, Any]]]] = {
        "sources": (
            SOURCES,
            tell_sources_apart(
                [
                    source_row(namespace, source, by_content.get(source.content_hash))
                    for source in inventory.sources
                ]
            ),
        ),
        "documents": (
            DOCUMENTS,
            (document_row(namespace, f, counts[c], same[c]) for c, f in published.items()),
        ),
        "archived_documents": (
            ARCHIVED_DOCUMENTS,
            (
                document_row(namespace, f, 0, [])
                for f in facts
                if f.status == "archived" and f.report and f.report["status"] == "ok"
            ),
        ),
        "parse_reports": (
            PARSE_REPORTS,
            (
                {
                    **{name: f.report.get(name) for name in PARSE_REPORTS.names},
                    "doc_uid": f.doc_uid,
                    "reference_entries": f.report.get("references"),
                }
                for f in facts
                if f.report
            ),
        ),
        "chunk_edits": (CHUNK_EDITS, _edit_rows(namespace, published, records)),
    }
    if records.named is not None:
        known = {content: own for content, own in published.items() if content in records.named}
        mentions = _table(mention_rows(namespace, known), MENTIONS)
        rows["mentions"] = MENTIONS, rows_of(mentions)
        rows["entities"] = ENTITIES, entity_rows(namespace, mentions)
        rows["relations"] = RELATIONS, relation_rows(namespace, mentions)
    tables = {name: _table(found, schema) for name, (schema, found) in rows.items()}
    return {**tables, "parents": parents, "chunks": chunks}


def join_passages(
    namespace: Namespace, published: Mapping[str, DocumentFacts], passages: Passages
) -> tuple[pa.Table, pa.Table]:
    """Return the tables `parents` and `chunks` of some contents, without vectors."""
    chunks = _chunks(namespace, published, (), {}, passages)
    return _parents(namespace, published), chunks.select(CHUNKS.names)


def _table(rows: Iterable[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    return _in_order(pa.Table.from_pylist(list(rows), schema=schema), schema)


def _in_order(table: pa.Table, schema: pa.Schema) -> pa.Table:
    return sort_rows(table, row_order(schema)).select(schema.names).cast(schema)


def _same_texts(published: Mapping[str, DocumentFacts]) -> dict[str, list[str]]:
    """Return, by content, the uids of the other documents with the same text."""
    by_text: dict[str, list[DocumentFacts]] = {}
    for facts in published.values():
        by_text.setdefault(str((facts.report or {})["doc_id"]), []).append(facts)
    return {
        facts.content_hash: sorted(
            str(other.doc_uid) for other in group if other.content_hash != facts.content_hash
        )
        for group in by_text.values()
        for facts in group
    }


def _gathered(
    namespace: Namespace,
    schema: pa.Schema,
    contents: Mapping[str, DocumentFacts],
    read: Callable[[str, list[str]], pa.Table],
) -> pa.Table:
    """Return what `read` gives of contents over all partitions, by content and order."""
    wanted: dict[str, list[str]] = {}
    for content in contents:
        wanted.setdefault(namespace.partition_of(content), []).append(content)
    tables = [schema.empty_table(), *(read(partition, own) for partition, own in wanted.items())]
    return sort_rows(pa.concat_tables(tables), ["content_hash", "order"])


def _parents(namespace: Namespace, published: Mapping[str, DocumentFacts]) -> pa.Table:
    schema = parents_schema()
    rows = _gathered(
        namespace,
        schema,
        published,
        lambda p, c: read_rows(namespace.record("parents", p), schema, c),
    )
    # Texts stay in their column: as dictionaries they would be held twice more.
    places = pa.Table.from_pylist(
        [
            _parent_place(namespace, str(published[row["content_hash"]].doc_uid), row)
            for row in rows_of(rows.drop_columns(["text"]))
        ],
        schema=pa.schema([field for field in PARENTS if field.name != "text"]),
    )
    return _in_order(places.append_column("text", rows["text"]), PARENTS)


def _parent_place(namespace: Namespace, uid: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is published of a parent beside its text."""
    starts = [(pair["page"], pair["start"]) for pair in row["page_starts"]]
    pages = locate_pages(starts, row["char_start"], row["char_end"])
    return {
        **row,
        "parent_id": f"{uid}:{row['label']}",
        "namespace": namespace.name,
        "doc_uid": uid,
        "page_start": pages[0],
        "page_end": pages[1],
    }


def _chunks(
    namespace: Namespace,
    published: Mapping[str, DocumentFacts],
    models: Sequence[EmbeddingModel],
    encoded: Mapping[str, Collection[str]],
    passages: Passages,
) -> pa.Table:
    chunks = _gathered(namespace, passages_schema(), published, passages.rows)
    schema = embeddings_schema()
    embedded = _gathered(
        namespace,
        schema,
        published if models else {},
        lambda p, c: read_rows(namespace.record("embeddings", p), schema, c),
    )
    by_model = [
        _vectors_of_model(
            namespace, embedded, model, chunks,
            [content for content in published if model.fingerprint in encoded[content]],
        )
        for model in models
    ]  # fmt: skip
    are_sparse = [model.settings.is_sparse for model in models]
    contents = pa.array(list(published), pa.string())
    # For each chunk the place of its document in `facts`.
    rows = pc.index_in(chunks["content_hash"], value_set=contents).combine_chunks()
    facts = list(published.values())
    strings = pa.string()

    def spread(values: Sequence[Any], kind: pa.DataType = strings) -> pa.Array:
        return pa.array(values, kind).take(rows)

    uids = spread([f.doc_uid for f in facts])
    order = chunks["order"].combine_chunks().cast(pa.int64())
    headings = pa.array(_search_headings(chunks, [f.title for f in facts], rows), strings)
    prepared = pc.coalesce(chunks["prepared"], chunks["text"])
    chunk_ids = _join(uids, ":", order.cast(strings))
    size = len(chunks)
    columns: dict[str, Any] = {
        "chunk_key": _join(pa.repeat(namespace.name, size), "::", chunk_ids),
        "namespace": pa.repeat(namespace.name, size),
        "chunk_id": chunk_ids,
        "doc_id": spread([(f.report or {})["doc_id"] for f in facts]),
        "doc_uid": uids,
        "source_id": spread([source_id(namespace, f.living.first) for f in facts]),
        "parent_id": _join(uids, ":", chunks["parent_label"].combine_chunks()),
        "chunk_index": order,
        "chunk_type": pa.repeat("child", size),
        "status": pa.repeat("published", size),
        "version": spread([f.version for f in facts], pa.int64()),
        "content_hash": chunks["chunk_hash"],
        "input_hash": pa.array(
            [hash_text(chunk_input(row)) for row in rows_of(chunks.select(CHUNK_INPUTS))], strings
        ),
        "citation_id": pa.array(
            citation_ids(namespace.name, uids.to_pylist(), chunks["chunk_hash"].to_pylist()),
            strings,
        ),
        "citable": spread([f.citable for f in facts], pa.bool_()),
        "source_type": spread([f.living.first.source_type for f in facts]),
        "source_subtype": pc.if_else(
            pc.fill_null(pc.equal(chunks["section_subtype"].combine_chunks(), "references"), False),
            "references",
            spread([f.living.first.source_subtype or None for f in facts]),
        ),
        "language": spread([f.language for f in facts]),
        "year": spread([document_year(f) for f in facts], pa.int64()),
        "doc_title": spread([f.title for f in facts]),
        "citation_key": spread([f.citation_key for f in facts]),
        "metadata": pa.array(_metadata(chunks), strings),
        "created_at": spread([f.created_at for f in facts], pa.timestamp("us")),
        "updated_at": spread([f.updated_at for f in facts], pa.timestamp("us")),
        # The headings, then the text as it was preprocessed.
        "search_text": pc.if_else(
            pc.equal(headings, ""), prepared, _join(headings, "\n", prepared)
        ),
        "search_heading": headings,
        "tags": spread([list(f.fields.get("tags") or []) for f in facts], pa.list_(strings)),
        "passage_language": [
            passage_language(row["text"], language)
            for row, language in zip(
                rows_of(chunks.select(["text"])),
                spread([f.language for f in facts]).to_pylist(),
                strict=True,
            )
        ],
        **{
            column: sparse_array(found)
            if model.settings.is_sparse
            else _vectors(found, model.dimension)
            for column, found, model in zip(
                vector_columns(are_sparse), by_model, models, strict=True
            )
        },
    }
    dimensions = [model.dimension for model in models if not model.settings.is_sparse]
    published_schema = search_schema(dimensions, sum(are_sparse))
    names = published_schema.names
    table = pa.table({name: columns[name] if name in columns else chunks[name] for name in names})
    return sort_rows(table, row_order(CHUNKS)).cast(published_schema)


def _vectors_of_model(
    namespace: Namespace,
    embedded: pa.Table,
    model: EmbeddingModel,
    chunks: pa.Table,
    contents: Sequence[str],
) -> pa.Array:
    """Return a model's vectors in the order of the chunks, null where a chunk has none.

    Args:
        contents: those whose chunks it has looked at.
    """
    of_contents = pa.array(contents, pa.string())
    found = embedded.filter(
        pc.and_(
            pc.equal(embedded["model"], model.fingerprint),
            pc.is_in(embedded["content_hash"], value_set=of_contents),
        )
    )
    is_encoded = pc.is_in(chunks["content_hash"], value_set=of_contents).combine_chunks()
    keys = ["content_hash", "order"]
    if not chunks.select(keys).filter(is_encoded).equals(found.select(keys)):
        raise RecordsMovedError(
            f"{namespace.records}: chunks and the vectors of {model.name} do not belong together: "
            "another run is replacing them. Run `rag ingest` again."
        )
    places = pc.subtract(pc.cumulative_sum(is_encoded.cast(pa.int64())), 1)
    wanted = pc.if_else(is_encoded, places, pa.scalar(None, pa.int64()))
    return found["vector"].combine_chunks().take(wanted)


def _vectors(column: pa.Array, dimension: int) -> pa.Array:
    """Return vectors in a column of fixed size, all zeros where a chunk has none."""
    matrix = np.zeros((len(column), dimension), np.float32)
    present = pc.is_valid(column).to_numpy(zero_copy_only=False)
    matrix[present] = column.flatten().to_numpy().reshape(-1, dimension)
    return pa.FixedSizeListArray.from_arrays(pa.array(matrix.reshape(-1)), dimension)


def _search_headings(chunks: pa.Table, titles: Sequence[str], rows: pa.Array) -> list[str]:
    """Return the words around each chunk, each line once: title, sections, what its model is told.

    The context may tell the same headings on one line, as a path.
    """
    lines: list[str] = []
    paths, contexts = chunks["section_path"].to_pylist(), chunks["context"].to_pylist()
    for row, path, context in zip(rows.to_pylist(), paths, contexts, strict=True):
        told = [part for line in context.split("\n") for part in line.split(PATH_SEPARATOR)]
        parts = [titles[row] or "", *(path or ()), *told]
        lines.append("\n".join(dict.fromkeys(part for part in parts if part)))
    return lines


def _metadata(chunks: pa.Table) -> list[str]:
    """Return what `metadata` holds: of a statute its path and its law (spec 003, `meta_info`)."""
    told = []
    columns = (chunks[name].to_pylist() for name in ("section_path", "law_title", "articles"))
    for path, title, articles in zip(*columns, strict=True):
        info = {"path": LEVEL_SEPARATOR.join(path or ()), "source": title}
        told.append(
            json.dumps({"meta_info": info}, ensure_ascii=False) if title or articles else "{}"
        )
    return told


def _join(left: Any, separator: str, right: Any) -> Any:
    return pc.binary_join_element_wise(left, right, separator)


def sparse_array(column: pa.Array) -> pa.Array:
    """Return a record's pairs (`token_weights`) as a column of the search table.

    A chunk without a vector has an empty list.
    """
    tokens, weights = token_weights(column.flatten().to_numpy())
    sizes = pc.fill_null(pc.list_value_length(column), 0).to_numpy() // 2
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    values = pa.StructArray.from_arrays(
        [pa.array(tokens), pa.array(weights)], fields=list(SPARSE_VECTOR.value_type)
    )
    return pa.ListArray.from_arrays(pa.array(offsets), values)


def _edit_rows(
    namespace: Namespace, published: Mapping[str, DocumentFacts], records: RecordState
) -> Iterator[dict[str, Any]]:
    """Yield a row for each edit of the published documents: what people did to chunks."""
    passages = records.passages
    edited = {c: edits for c, edits in passages.edited.items() if c in published}
    histories = read_histories(namespace) if edited else {}
    for content, (uid, operations) in edited.items():
        events = {event.number: event for event in histories[uid].events}
        waiting = {each["number"]: each for each in records.made[content].note["waiting"]}
        enabled, disabled = _ids_by_edit(namespace, passages, content, uid)
        for each in operations:
            waits, event = waiting.get(each.number, {}), events[each.number]
            yield {
                "edit_key": f"{namespace.name}::{uid}::{each.number}",
                "namespace": namespace.name,
                "doc_uid": uid,
                "number": each.number,
                "kind": each.operation.kind,
                "status": "waiting" if waits else "applied",
                "waits_because": waits.get("reason"),
                "seen": each.operation.seen,
                "now": waits.get("now"),
                "citation_ids": [*enabled[each.number], *disabled[each.number]],
                "disabled_ids": disabled[each.number],
                "edited_by": event.by,
                "edited_at": event.at,
                "edited_because": event.reason,
            }


def _ids_by_edit(
    namespace: Namespace, passages: Passages, content: str, uid: str
) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    """Return the citation ids of the passages that each operation made, found and disabled."""
    partition = namespace.partition_of(content)
    columns = ["chunk_hash", "edited_by", "is_enabled"]
    rows = [
        row
        for read in (passages.rows, passages.disabled)
        for row in read(partition, [content]).select(columns).to_pylist()
    ]
    ids = citation_ids(namespace.name, [uid] * len(rows), [row["chunk_hash"] for row in rows])
    enabled, disabled = defaultdict[int, list[str]](list), defaultdict[int, list[str]](list)
    for row, citation_id in zip(rows, ids, strict=True):
        for number in row["edited_by"] or ():
            (enabled if row["is_enabled"] else disabled)[number].append(citation_id)
    return enabled, disabled


@dataclass(slots=True)
class _Entity:
    names: Counter[str] = field(default_factory=Counter)
    rules: set[str] = field(default_factory=set)
    chunks: set[str] = field(default_factory=set)
    documents: set[str] = field(default_factory=set)


def mention_rows(
    namespace: Namespace, published: Mapping[str, DocumentFacts]
) -> Iterator[dict[str, Any]]:
    """Yield a row of the table `mentions` for each mention in the published documents.

    Args:
        published: by content, those whose entities are found.
    """
    for partition in namespace.partition_keys:
        wanted = [c for c in published if namespace.partition_of(c) == partition]
        if not wanted:
            continue
        record = namespace.record("entities", partition)
        for row in rows_of(read_rows(record, mentions_schema(), wanted)):
            uid = published[row["content_hash"]].doc_uid
            chunk_id = f"{uid}:{row['order']}"
            yield {
                **row,
                "mention_key": f"{namespace.name}::{chunk_id}::{row['start']}",
                "namespace": namespace.name,
                "doc_uid": uid,
                "chunk_id": chunk_id,
                "char_start": row["start"],
                "char_end": row["end"],
            }


def entity_rows(namespace: Namespace, mentions: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield a row of the table `entities` for each entity of some mentions.

    A question may name one by a spelling of `graph.names` that no passage has.
    """
    listed: dict[str, set[str]] = {}
    for spellings in namespace.settings.graph.names:
        listed.setdefault(normalise(spellings[0]), set()).update(map(normalise, spellings))
    found: dict[str, _Entity] = defaultdict(_Entity)
    for row in rows_of(mentions.select(["entity", "name", "rule", "chunk_id", "doc_uid"])):
        entity = found[row["entity"]]
        entity.names[row["name"]] += 1
        entity.rules.add(row["rule"])
        entity.chunks.add(row["chunk_id"])
        entity.documents.add(row["doc_uid"])
    for key, entity in found.items():
        yield {
            "entity_key": f"{namespace.name}::{key}",
            "namespace": namespace.name,
            "entity": key,
            "name": min(entity.names, key=lambda name: (-entity.names[name], name)),
            "forms": sorted({key, *map(normalise, entity.names), *listed.get(key, ())}),
            "rules": sorted(entity.rules),
            "mentions": entity.names.total(),
            "chunks": len(entity.chunks),
            "documents": len(entity.documents),
        }


def relation_rows(namespace: Namespace, mentions: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield a row of the table `relations` for each two entities of one sentence."""
    places = ("chunk_id", "doc_uid", "sentence_start", "sentence_end")
    sentences: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    for row in rows_of(mentions.select([*places, "entity"])):
        sentences[tuple(row[place] for place in places)].add(row["entity"])
    for place, entities in sentences.items():
        if len(entities) > _MOST_IN_SENTENCE:
            continue
        for first, second in combinations(sorted(entities), 2):
            key = [namespace.name, place[0], place[2], first, second]
            yield {
                "relation_key": json.dumps(key, ensure_ascii=False),
                "namespace": namespace.name,
                **dict(zip(places, place, strict=True)),
                "first": first,
                "second": second,
            }


def sort_rows(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Return the rows of a table sorted by some columns, rising, with the same schema."""
    order = pc.sort_indices(table, sort_keys=[(name, "ascending") for name in keys])
    long = [column.nbytes for column in table.columns if _is_long(column)]
    if not long:
        return table.take(order)
    wide = pa.table(
        [pc.cast(each, pa.large_string()) if _is_long(each) else each for each in table.columns],
        names=table.column_names,
    )
    rows = max(1, _SLICE_BYTES * len(table) // max(long))
    slices = [
        wide.take(order.slice(start, rows)).cast(table.schema)
        for start in range(0, len(order), rows)
    ]
    return pa.concat_tables(slices)


def _is_long(column: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_string(column.type)) and int(column.nbytes) > _MAX_BYTES


def citation_ids(namespace: str, uids: Sequence[str], hashes: Sequence[str]) -> list[str]:
    """Return an id for each passage: of uid, text hash and which of equal texts it is.

    Args:
        uids: of its document.
        hashes: SHA-256 of what is printed there.
    """
    seen: Counter[tuple[str, str]] = Counter()
    ids = []
    for uid, text_hash in zip(uids, hashes, strict=True):
        nth = seen[uid, text_hash]
        seen[uid, text_hash] += 1
        digest = hashlib.sha256(f"{uid}\n{text_hash}\n{nth}".encode()).hexdigest()
        ids.append(f"kb:{namespace}__chunk-{digest[:16]}")
    return ids


def content_columns(schema: pa.Schema) -> list[str]:
    """Return the names of the columns that digests cover, in the schema's order.

    Raises:
        ValueError: a field is marked neither content nor provenance.
    """
    names = []
    for column in schema:
        role = (column.metadata or {}).get(b"role", b"").decode()
        if role not in {CONTENT, PROVENANCE}:
            raise ValueError(
                f"column '{column.name}' must be marked content or provenance in its metadata "
                f"(b'role'), got {role!r}; build the table with a schema of this module."
            )
        if role == CONTENT:
            names.append(column.name)
    return names


def digest_table(table: pa.Table) -> str:
    """Return the SHA-256 over the content columns of a published table's rows, sorted by key.

    Neither the order of the rows nor how Arrow has cut them into pieces matters; null, empty text
    and empty list differ.

    Args:
        table: with one of the published schemas, its keys unique (`write_catalogue` checks it).

    Raises:
        ValueError: a field has no role.
    """
    schema = table.schema
    order = pc.sort_indices(table.column(schema_entry(schema, "key")))
    total = hashlib.sha256()
    for name in content_columns(schema):
        kind, column = schema.field(name).type, table.column(name)
        if pa.types.is_string(kind):  # offsets beyond 2 GiB, which a million passages may have
            column = column.cast(pa.large_string())
        column = column.take(order)
        total.update(f"{name}\n{kind}\n{len(column)}\n".encode())
        if column.num_chunks:
            _digest_column(total, pa.concat_arrays(column.chunks))
    return total.hexdigest()


def _digest_column(total: Any, column: Any) -> None:
    total.update(_numbers(pc.is_null(column)))
    if pa.types.is_list(column.type):
        total.update(_numbers(pc.fill_null(pc.list_value_length(column), 0)))
        _digest_column(total, pc.list_flatten(column))
    elif pa.types.is_struct(column.type):
        for values in column.flatten():
            _digest_column(total, values)
    elif pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        filled = pc.fill_null(column, "").cast(pa.large_binary())
        lengths = pc.binary_length(filled)
        total.update(_numbers(lengths))
        if pc.sum(lengths).as_py():
            # The values one after another, without a copy.
            _, offsets, values = filled.buffers()
            ends = pa.Int64Array.from_buffers(
                pa.int64(), len(filled) + 1, [None, offsets], offset=filled.offset
            )
            total.update(memoryview(values)[ends[0].as_py() : ends[-1].as_py()])
    elif pa.types.is_date32(column.type):
        _digest_column(total, column.cast(pa.int32()))
    else:
        filled = pc.fill_null(column, pa.scalar(0).cast(column.type))
        total.update(_numbers(filled))


def _numbers(column: Any) -> bytes:
    """Return numbers or truth values as bytes that do not depend on the machine's byte order."""
    kind = "<f8" if pa.types.is_floating(column.type) else "<i8"
    return bytes(column.to_numpy(zero_copy_only=False).astype(kind).tobytes())
