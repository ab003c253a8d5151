"""Join living rows with identity: the tables of a publication."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.chunking import PATH_SEPARATOR, locate_pages, parents_schema
from rag_assets.editing import Passages, count_passages, passages_schema
from rag_assets.embedding import CHUNK_INPUTS, EmbeddingModel, chunk_input, embeddings_schema
from rag_assets.law.structure import PATH_SEPARATOR as LEVEL_SEPARATOR
from rag_assets.model import RecordsMovedError, hash_text
from rag_assets.publishing.edit_rows import edit_rows
from rag_assets.publishing.entity_rows import entity_rows, mention_rows, relation_rows
from rag_assets.publishing.entity_schemas import ENTITIES, MENTIONS, RELATIONS
from rag_assets.publishing.facts import (
    DocumentFacts,
    document_row,
    document_year,
    source_id,
    source_row,
    tell_sources_apart,
)
from rag_assets.publishing.languages import passage_language
from rag_assets.publishing.lasting_ids import citation_ids
from rag_assets.publishing.ordering import sort_rows
from rag_assets.publishing.schemas import (
    ARCHIVED_DOCUMENTS,
    CHUNK_EDITS,
    CHUNKS,
    DOCUMENTS,
    PARENTS,
    PARSE_REPORTS,
    SOURCES,
    row_order,
    search_schema,
    vector_columns,
)
from rag_assets.publishing.sparse_columns import sparse_array
from rag_assets.storage import Entry, read_rows, rows_of
from rag_assets.workspace import Inventory, Namespace


def join_tables(
    namespace: Namespace,
    inventory: Inventory,
    facts: Sequence[DocumentFacts],
    models: Sequence[EmbeddingModel],
    encoded: Mapping[str, Collection[str]],
    passages: Passages,
    made: Mapping[str, Entry],
    named: Collection[str] | None = None,
    added: Collection[str] | None = None,
) -> dict[str, pa.Table]:
    """Return the tables by name; `chunks` with its vectors, rows in each table's order.

    Args:
        models: the configured ones; one vector column each, in this order.
        encoded: by content, which of them have looked at its chunks. Chunks have no vector of the
            others.
        passages: reads the chunks.
        made: the entry of each content's passages.
        named: contents whose entities are known; None for no tables of entities.
        added: contents that `parents` and `chunks` are limited to; None for all.

    Raises:
        RecordsMovedError: chunks and vectors do not belong together.
    """
    published = {f.content_hash: f for f in facts if f.status == "published"}
    joined = {c: own for c, own in published.items() if added is None or c in added}
    parents = _parents(namespace, joined)
    chunks = _chunks(namespace, joined, models, encoded, passages)
    counts = {own.doc_uid: count_passages(made[c]) for c, own in published.items()}
    if len(chunks) != sum(counts[own.doc_uid] for own in joined.values()):
        raise RecordsMovedError(
            f"{namespace.records}: the passages are others than they were a moment ago: another "
            "run is replacing them. Run `rag index` again."
        )
    by_content = {f.content_hash: f for f in facts}
    same = _same_texts(published)
    entities: dict[str, pa.Table] = {}
    if named is not None:
        known = {content: own for content, own in published.items() if content in named}
        mentions = _table(mention_rows(namespace, known), MENTIONS)
        entities = {
            "entities": _table(entity_rows(namespace, mentions), ENTITIES),
            "mentions": mentions,
            "relations": _table(relation_rows(namespace, mentions), RELATIONS),
        }
    return {
        "sources": _table(
            tell_sources_apart(
                [
                    source_row(namespace, s, by_content.get(s.content_hash))
                    for s in inventory.sources
                ]
            ),
            SOURCES,
        ),
        "documents": _table(
            [
                document_row(namespace, f, counts[f.doc_uid], same[f.content_hash])
                for f in published.values()
            ],
            DOCUMENTS,
        ),
        "archived_documents": _table(
            [
                document_row(namespace, f, 0, [])
                for f in facts
                if f.status == "archived" and f.report and f.report["status"] == "ok"
            ],
            ARCHIVED_DOCUMENTS,
        ),
        "parse_reports": _table(
            [
                {
                    **{name: f.report.get(name) for name in PARSE_REPORTS.names},
                    "doc_uid": f.doc_uid,
                    "reference_entries": f.report.get("references"),
                }
                for f in facts
                if f.report
            ],
            PARSE_REPORTS,
        ),
        "parents": parents,
        "chunks": chunks,
        "chunk_edits": _table(list(edit_rows(namespace, published, passages, made)), CHUNK_EDITS),
        **entities,
    }


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


def _record_rows(
    namespace: Namespace, stage: str, schema: pa.Schema, contents: Mapping[str, DocumentFacts]
) -> pa.Table:
    """Return the rows of published contents over all partitions, by content and order."""
    return _gathered(
        namespace,
        schema,
        contents,
        lambda partition, wanted: read_rows(namespace.record(stage, partition), schema, wanted),
    )


def _gathered(
    namespace: Namespace,
    schema: pa.Schema,
    contents: Mapping[str, DocumentFacts],
    read: Callable[[str, list[str]], pa.Table],
) -> pa.Table:
    wanted: dict[str, list[str]] = {}
    for content in contents:
        wanted.setdefault(namespace.partition_of(content), []).append(content)
    tables = [schema.empty_table(), *(read(key, own) for key, own in wanted.items())]
    return sort_rows(pa.concat_tables(tables), ["content_hash", "order"])


def _spread(table: pa.Table, published: Mapping[str, DocumentFacts]) -> pa.Array:
    """Return, for each row, the index of its document in `published`."""
    contents = pa.array(list(published), pa.string())
    return pc.index_in(table["content_hash"], value_set=contents).combine_chunks()


def _parents(namespace: Namespace, published: Mapping[str, DocumentFacts]) -> pa.Table:
    rows = _record_rows(namespace, "parents", parents_schema(), published)
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
        "parent_id": f"{uid}:{row['label']}",
        "namespace": namespace.name,
        "doc_uid": uid,
        "label": row["label"],
        "order": row["order"],
        "char_start": row["char_start"],
        "char_end": row["char_end"],
        "page_start": pages[0],
        "page_end": pages[1],
        "section_path": row["section_path"],
        "hash": row["hash"],
    }


def _chunks(
    namespace: Namespace,
    published: Mapping[str, DocumentFacts],
    models: Sequence[EmbeddingModel],
    encoded: Mapping[str, Collection[str]],
    passages: Passages,
) -> pa.Table:
    chunks = _gathered(namespace, passages_schema(), published, passages.rows)
    encoded_ones = published if models else {}
    embedded = _record_rows(namespace, "embeddings", embeddings_schema(), encoded_ones)
    by_model = [
        _vectors_of_model(
            namespace, embedded, model, chunks,
            [content for content in published if model.fingerprint in encoded[content]],
        )
        for model in models
    ]  # fmt: skip
    are_sparse = [model.settings.is_sparse for model in models]
    rows = _spread(chunks, published)
    facts = list(published.values())
    strings = pa.string()

    def spread(values: Sequence[Any], kind: pa.DataType = strings) -> pa.Array:
        return pa.array(values, kind).take(rows)

    uids = spread([f.doc_uid for f in facts])
    order = chunks["order"].combine_chunks().cast(pa.int64())
    headings = pa.array(_search_headings(chunks, [f.title for f in facts], rows), strings)
    chunk_ids = _join(uids, ":", order.cast(strings))
    size = len(chunks)
    columns: dict[str, Any] = {
        "chunk_key": _join(_same(namespace.name, size), "::", chunk_ids),
        "namespace": _same(namespace.name, size),
        "chunk_id": chunk_ids,
        "doc_id": spread([(f.report or {})["doc_id"] for f in facts]),
        "doc_uid": uids,
        "source_id": spread([source_id(namespace, f.living.first) for f in facts]),
        "parent_id": _join(uids, ":", chunks["parent_label"].combine_chunks()),
        "chunk_index": order,
        "chunk_type": _same("child", size),
        "status": _same("published", size),
        "version": spread([f.version for f in facts], pa.int64()),
        "content_hash": chunks["chunk_hash"],
        "input_hash": pa.array(
            [hash_text(chunk_input(row)) for row in rows_of(chunks.select(CHUNK_INPUTS))],
            strings,
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
        "citation_key": spread([f.fields.get("citation_key") for f in facts]),
        "metadata": pa.array(_metadata(chunks), strings),
        "created_at": spread([f.created_at for f in facts], pa.timestamp("us")),
        "updated_at": spread([f.updated_at for f in facts], pa.timestamp("us")),
        "search_text": _search_texts(chunks, headings),
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
    schema = search_schema(dimensions, sum(are_sparse))
    for name in set(schema.names) - columns.keys():
        columns[name] = chunks[name]
    table = pa.table({name: columns[name] for name in schema.names})
    return sort_rows(table, row_order(CHUNKS)).cast(schema)


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
            "another run is replacing them. Run `rag index` again."
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


def _search_texts(chunks: pa.Table, headings: pa.Array) -> pa.Array:
    """Return what the text index holds: the headings, then the text as it was preprocessed."""
    texts = pc.coalesce(chunks["prepared"], chunks["text"])
    return pc.if_else(pc.equal(headings, ""), texts, _join(headings, "\n", texts))


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


def _same(value: str, size: int) -> pa.Array:
    return pa.repeat(value, size)


def _join(left: Any, separator: str, right: Any) -> Any:
    return pc.binary_join_element_wise(left, right, separator)
