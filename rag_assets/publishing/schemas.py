"""Arrow schemas of the published tables.

Every field says in its metadata whether it is `content` (a function of files, configuration and
identity journal; digests cover it) or `provenance` (times, seconds, counts of attempts, last bits
of vectors), and what it holds. A schema's own metadata names its table, the key that is unique
in it and the order of its rows.

The tables hold at least the fields that spec 001 lists, and `rag sql` shows them under its names
(`rag_assets.tracing.knowledge_views`). Names that differ: `content` of
`knowledge_chunks` is `text`; `source_spans` of its metadata are the columns `char_start` …
`page_end` with `boxes`, `attachments_ref` is `attachment_ids`; keys are `namespace::doc_uid` and
`namespace::chunk_id`, since the uid and not the text's hash names a document here;
`sparse_vector` is there for each sparse encoder, words stand in the text index of the Lance
table. Times are UTC without a zone.
"""

from collections.abc import Collection, Sequence

import pyarrow as pa

from rag_assets.chunking import articles_type, boxes_type

CONTENT = "content"
PROVENANCE = "provenance"
_STRINGS = pa.list_(pa.string())
_TIME = pa.timestamp("us")
_DAY = pa.date32()


def _field(name: str, kind: pa.DataType, description: str, role: str = CONTENT) -> pa.Field:
    return pa.field(name, kind, metadata={"role": role, "description": description})


def _text(name: str, description: str, role: str = CONTENT) -> pa.Field:
    return _field(name, pa.string(), description, role)


def _count(name: str, description: str, role: str = CONTENT) -> pa.Field:
    return _field(name, pa.int64(), description, role)


def _schema(
    table: str, key: str, order: Sequence[str], description: str, fields: Sequence[pa.Field]
) -> pa.Schema:
    metadata = {"table": table, "key": key, "order": ",".join(order), "description": description}
    return pa.schema(fields, metadata=metadata)


_NAMESPACE = _text("namespace", "the namespace that published the row")
_TIMES = (
    _field("created_at", _TIME, "when the row's subject was first seen, UTC", PROVENANCE),
    _field("updated_at", _TIME, "when it last changed, UTC", PROVENANCE),
)
_PLACE = (
    _count("char_start", "first code point in the document's clean text"),
    _count("char_end", "one past the last code point"),
    _count("page_start", "first page, from 1; null without pages"),
    _count("page_end", "last page, from 1; null without pages"),
    _field("section_path", _STRINGS, "headings from the outermost to the nearest"),
)

SOURCES = _schema(
    "sources",
    "source_key",
    ["path", "source_key"],
    "One row for each file in raw/, also for those that could not be published.",
    [
        _text("source_key", "namespace::source_id; of further files of one source with `::file`"),
        _NAMESPACE,
        _text("source_id", "SHA-256 of namespace, source type, URI and metadata (spec 001)"),
        _text("doc_uid", "document that the file is a source of; null when it has none"),
        _text("name", "file name"),
        _text("source_type", "evidence, instruction, … : decided by where the file lies"),
        _text("source_subtype", "guidance, feedback, slides, exemplars; null without"),
        _text("source_uri", "where it was read from: its sidecar's `source_uri`, else `file`"),
        _text("file", "root name and path of the file in raw/"),
        _text("path", "path below its root, POSIX"),
        _text("content_hash", "SHA-256 of the file's bytes"),
        _field("citable", pa.bool_(), "whether this file may be cited"),
        _field("tags", _STRINGS, "tags of the sidecar"),
        _text("metadata", "JSON: what else the sidecar says"),
        _text("status", "published, archived, withheld, refused or failed"),
        _text("reason_code", "short stable word when not published"),
        _text("message", "what is wrong and what to do, when not published"),
        *_TIMES,
    ],
)

DOCUMENTS = _schema(
    "documents",
    "doc_key",
    ["doc_uid"],
    "One row for each published document.",
    [
        _text("doc_key", "namespace::doc_uid"),
        _NAMESPACE,
        _text("doc_uid", "what a person cites; unique in its namespace"),
        _text("doc_id", "SHA-256 of the normalised text (spec 001)"),
        _text("source_id", "the source that names the document: the first in path order"),
        _text("source_uri", "where that was read from: a URI, else root name and path in raw/"),
        _text("title", "title; of a retracted or corrected document it begins with that"),
        _text("standing", "retracted, concern or corrected, as its publisher says; else null"),
        _count("version", "how many contents the uid has had", PROVENANCE),
        _text("status", "published or archived"),
        _text("language", "language code; null when unknown"),
        _text("content_hash", "SHA-256 of the bytes"),
        _text("content_ref", "where the parse lies, below data/"),
        _text("citation_key", "what people cite it by, as lee2021: the sidecar's, else made"),
        _text("source_type", "evidence, instruction, …"),
        _text("source_subtype", "null without"),
        _field("citable", pa.bool_(), "whether the document may be cited as evidence"),
        _count("year", "year of publication; the sidecar's, else as printed"),
        _text("publisher", "publisher"),
        _text("url", "where it can be read"),
        _text("doi", "digital object identifier"),
        _text(
            "journal", "journal or proceedings; the sidecar's, else as printed, as are those below"
        ),
        _text("volume", "volume of the journal"),
        _text("issue", "issue of the volume"),
        _text("page_range", "first and last page there, or the number of the article"),
        _text("abstract", "as the document prints it; null without"),
        _text("published_date", "as the sidecar gives it"),
        _text("captured_at", "as the sidecar gives it"),
        _text("accessed_at", "as the sidecar gives it"),
        _field("authors", _STRINGS, "authors in order; the sidecar's, else as printed"),
        _field("tags", _STRINGS, "tags"),
        _text("law_level", "rank of a statute: constitution, law, …; null where not known"),
        _text("issuer", "who passed or amended the statute last"),
        _text("region", "province or city of a local statute; null without"),
        _field("passed_on", _DAY, "when the statute was first passed or published"),
        _field("amended_on", _DAY, "when it was last amended, as its text says"),
        _field("effective_on", _DAY, "since when this wording holds, as its text says"),
        _field("repealed_on", _DAY, "when it was repealed, as its text says"),
        _field("version_date", _DAY, "the day of this wording, by its text or its file's name"),
        _text(
            "metadata",
            "JSON: mime_type, parser, source_info, what else the sidecar keeps; of statutes `laws` "
            "with the origin of each fact",
        ),
        _count("pages", "pages; 0 for formats without"),
        _field(
            "page_labels",
            _STRINGS,
            "the number that each page bears in print; empty where they are those of the sheets; "
            "`(text recognised by OCR)` behind it, or alone, where the page is a scan",
        ),
        _count("chunks", "chunks in the search table"),
        _field("same_text_as", _STRINGS, "uids of documents with the same normalised text"),
        *_TIMES,
    ],
)

ARCHIVED_DOCUMENTS = _schema(
    "archived_documents",
    "doc_key",
    ["doc_uid"],
    "One row for each document that a person has taken out of the library (`archived=true`).",
    list(DOCUMENTS),
)

PARSE_REPORTS = _schema(
    "parse_reports",
    "content_hash",
    ["content_hash"],
    "How the parse of each living content went.",
    [
        _text("content_hash", "SHA-256 of the bytes"),
        _text("doc_uid", "document of that content; null when it has none"),
        _text("status", "ok or failed"),
        _text("reason_code", "short stable word for a failure"),
        _text("message", "what is wrong and what to do"),
        _text("kind", "deterministic or resource"),
        _text("parser", "parser"),
        _text("parser_version", "its version"),
        _text("media_type", "as sniffed"),
        _count("pages", "pages; 0 for formats without"),
        _count("characters", "code points of clean text"),
        _count("blocks", "blocks"),
        _count("headings", "headings"),
        _count("sections", "sections of the section tree"),
        _count("tables", "tables"),
        _count("figures", "figures"),
        # `references` alone is a word of SQL.
        _count("reference_entries", "entries of the list of references"),
        _count("attachments", "figures, images and tables"),
        _count("textless_pages", "pages without text"),
        _count("replacement_characters", "U+FFFD in the text"),
        _text("language", "language code"),
        _field("removed_templates", _STRINGS, "repeated heads and feet that were dropped"),
        _field("warnings", _STRINGS, "sentences a person can act on"),
        _field("seconds", pa.float64(), "wall time of the parse", PROVENANCE),
        _count("attempts", "how often it was tried", PROVENANCE),
    ],
)

PARENTS = _schema(
    "parents",
    "parent_id",
    ["doc_uid", "order"],
    "Passages that are shown whole: pages, sections or the document.",
    [
        _text("parent_id", "doc_uid:label"),
        _NAMESPACE,
        _text("doc_uid", "document"),
        _text("label", "p003 for page 3, s012 for a section, d000 for the document"),
        _count("order", "position in the document, from 0"),
        *_PLACE,
        _text("text", "that slice of the clean text"),
        _text("hash", "SHA-256 of the text"),
    ],
)

CHUNKS = _schema(
    "chunks",
    "chunk_key",
    ["doc_uid", "chunk_index"],
    "Passages that are searched.",
    [
        _text("chunk_key", "namespace::chunk_id"),
        _NAMESPACE,
        _text("chunk_id", "doc_uid:chunk_index"),
        _text("doc_id", "SHA-256 of the document's normalised text"),
        _text("doc_uid", "document"),
        _text("source_id", "source of the document"),
        _text("parent_id", "parent that contains the chunk"),
        _count("chunk_index", "position in the document, from 0"),
        *_PLACE,
        _text("section_title", "heading of its section as printed; empty before the first"),
        _text("parent_section", "heading of the section around that one; null for a chapter"),
        _count("hierarchy_level", "depth of its section, 0 for a chapter (spec 002)"),
        _count(
            "section_category",
            "0 abstract, 1 introduction, 2 method, 3 evaluation, 4 conclusion, 5 other, "
            "6 related work (spec 002)",
        ),
        _text("section_subtype", "references, appendix or acknowledgements; null for body text"),
        _text("kind", "what most of it is: text, table, list, code, reference, qa, …"),
        _text("text", "that slice of the clean text: what is printed, also of an edited chunk"),
        _text("edited", "what a person wrote in its place (`rag draft`); null where nobody did"),
        _text("context", "what the model is told before the text: headings, header row"),
        _text("question", "what is embedded in place of the text; null but for pairs"),
        _count("token_count", "of the text by the namespace's model, without special tokens"),
        _count("input_tokens", "of what the model is given, counted the same way"),
        _field("boxes", boxes_type(), "rectangles around its lines on the pages, in points"),
        _field("attachment_ids", _STRINGS, "figures and tables that it holds or captions"),
        _text("chunk_type", "child"),
        _text("status", "published"),
        _count("version", "version of the document", PROVENANCE),
        _text("content_hash", "SHA-256 of the text (chunk_hash)"),
        _text("input_hash", "SHA-256 of the string given to the model"),
        _text("citation_id", "kb:<namespace>__chunk-<hash16>: outlives edits (spec 004)"),
        _field("citable", pa.bool_(), "whether the chunk may be cited as evidence"),
        _text("source_type", "evidence, instruction, …"),
        _text("source_subtype", "references for entries of a bibliography, else the file's"),
        _text("language", "language code"),
        _count("year", "year of publication"),
        _text("doc_title", "title of the document"),
        _text("citation_key", "what people cite the document by"),
        _text("metadata", "JSON: of a statute `meta_info` with path and source (spec 003)"),
        _field("is_cut", pa.bool_(), "whether a sentence over the limit was cut inside"),
        _text("law_title", "of the law within the file, as its text has it; null but for statutes"),
        _field(
            "articles",
            articles_type(),
            "articles of a law that it holds or is a part of, with the span of the whole article",
        ),
        *_TIMES,
    ],
)

CHUNK_EDITS = _schema(
    "chunk_edits",
    "edit_key",
    ["doc_uid", "number"],
    "One row for each published edit of a chunk that nothing has undone (`rag draft`).",
    [
        _text("edit_key", "namespace::doc_uid::number"),
        _NAMESPACE,
        _text("doc_uid", "document"),
        _count("number", "of the operation in the journal of the document's edits"),
        _text("kind", "edit_text, split_at, merge_with_next, move_before, move_after, reparent, "
              "enable or disable"),
        _text("status", "applied, or waiting where what was seen is not there now"),
        _text("waits_because", "why it waits; null where it is applied"),
        _text("seen", "the text that the person saw"),
        _text("now", "what stands there, of one that waits"),
        _field("citation_ids", _STRINGS, "passages that it made what they are"),
        _field("disabled_ids", _STRINGS, "those of them that no search finds"),
        _text("edited_by", "who", PROVENANCE),
        _text("edited_at", "when (ISO 8601)", PROVENANCE),
        _text("edited_because", "why, as the person said", PROVENANCE),
    ],
)  # fmt: skip

_MENTIONED = (
    _NAMESPACE,
    _text("doc_uid", "document"),
    _text("chunk_id", "passage"),
    _count("sentence_start", "where the sentence begins in the passage as it is read"),
    _count("sentence_end", "one past its last code point"),
)

ENTITIES = _schema(
    "entities",
    "entity_key",
    ["entity"],
    "One row for each entity that passages name; only where `graph` is switched on.",
    [
        _text("entity_key", "namespace::entity"),
        _NAMESPACE,
        _text("entity", "normalised name; of a defined abbreviation the long form's"),
        _text("name", "as it is written most often"),
        _field("forms", _STRINGS, "all its normalised spellings, abbreviations included"),
        _field("rules", _STRINGS, "rules that found it"),
        _count("mentions", "how often it is named"),
        _count("chunks", "in how many passages"),
        _count("documents", "in how many documents"),
    ],
)
MENTIONS = _schema(
    "mentions",
    "mention_key",
    ["doc_uid", "chunk_id", "char_start"],
    "One row for each place where a passage names an entity.",
    [
        _text("mention_key", "namespace::chunk_id::char_start"),
        *_MENTIONED,
        _text("entity", "entity"),
        _text("name", "as it is written there"),
        _text("rule", "rule that found it"),
        _count("char_start", "first code point in the passage as it is read"),
        _count("char_end", "one past the last"),
    ],
)
RELATIONS = _schema(
    "relations",
    "relation_key",
    ["doc_uid", "chunk_id", "sentence_start", "first", "second"],
    "One row for each two entities in one sentence that names few.",
    [
        _text("relation_key", "JSON list of namespace, chunk_id, sentence_start, first, second"),
        *_MENTIONED,
        _text("first", "entity; the lesser of the two names"),
        _text("second", "entity"),
    ],
)


def schema_entry(schema: pa.Schema, name: str) -> str:
    """Return `table`, `key`, `order` or `description` from a published schema's metadata."""
    return str((schema.metadata or {})[name.encode()].decode())


def _by_name(*schemas: pa.Schema) -> dict[str, pa.Schema]:
    return {schema_entry(schema, "table"): schema for schema in schemas}


# Published besides, where `graph` is switched on.
GRAPH_SCHEMAS = _by_name(ENTITIES, MENTIONS, RELATIONS)
PUBLISHED_SCHEMAS = _by_name(
    SOURCES, DOCUMENTS, ARCHIVED_DOCUMENTS, PARSE_REPORTS, PARENTS, CHUNKS, CHUNK_EDITS
)


def vector_column(position: int) -> str:
    """Return the name of the search table's column for the model at `position`, from 0."""
    return "vector" if position == 0 else f"vector_{position + 1}"


def vector_columns(are_sparse: Sequence[bool]) -> list[str]:
    """Return the column of each model, dense and sparse ones counted each for themselves.

    Args:
        are_sparse: whether each model is a sparse encoder, in the models' order.
    """
    places = [are_sparse[:place].count(kind) for place, kind in enumerate(are_sparse)]
    return [
        f"sparse_{vector_column(place)}" if is_sparse else vector_column(place)
        for place, is_sparse in zip(places, are_sparse, strict=True)
    ]


# Words of a sparse encoder's vocabulary by their place, rising, with what they weigh.
SPARSE_VECTOR = pa.list_(pa.struct([("token", pa.int32()), ("weight", pa.float32())]))


def search_schema(dimensions: Sequence[int], sparse: int = 0) -> pa.Schema:
    """Return the schema of the Lance table: chunks, what is indexed, a vector of each model.

    What the catalogue does not hold is provenance. Of vectors a batch changes the last bits:
    `input_hash` stands for them; the text's hash, the documents' titles and tags for the rest.

    Args:
        dimensions: length of each dense model's vectors, in the models' order; all zeros stand
            for a chunk that a model cannot read.
        sparse: how many sparse encoders there are; an empty list stands for such a chunk.
    """
    columns = [
        _text("search_text", "what the text index holds: headings, then the text, preprocessed",
              PROVENANCE),
        _text("search_heading", "what its index of headings holds: title, sections, context",
              PROVENANCE),
        _field("tags", _STRINGS, "tags of the document", PROVENANCE),
        _text("passage_language", "zh, en or other, by the chunk's own script", PROVENANCE),
        *(
            _field(vector_column(position), pa.list_(pa.float32(), dimension),
                   "of the model's input", PROVENANCE)
            for position, dimension in enumerate(dimensions)
        ),
        *(
            _field(f"sparse_{vector_column(position)}", SPARSE_VECTOR,
                   "weights of words, by a sparse encoder", PROVENANCE)
            for position in range(sparse)
        ),
    ]  # fmt: skip
    schema = CHUNKS
    for column in columns:
        schema = schema.append(column)
    return schema


def schemas_of(tables: Collection[str]) -> dict[str, pa.Schema]:
    """Return the schemas that a publication with these tables must have."""
    return PUBLISHED_SCHEMAS | (GRAPH_SCHEMAS if GRAPH_SCHEMAS.keys() & set(tables) else {})


def row_order(schema: pa.Schema) -> list[str]:
    """Return the columns that a published table's rows are sorted by."""
    return schema_entry(schema, "order").split(",")
