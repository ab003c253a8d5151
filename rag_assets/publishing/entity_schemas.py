"""Arrow schemas of the tables of entities, which are published where `graph` is switched on."""

from collections.abc import Collection

import pyarrow as pa

from rag_assets.publishing.schemas import (
    _NAMESPACE,
    _STRINGS,
    PUBLISHED_SCHEMAS,
    _count,
    _field,
    _schema,
    _text,
)

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

# Published besides, where `graph` is switched on.
GRAPH_SCHEMAS: dict[str, pa.Schema] = {
    "entities": ENTITIES,
    "mentions": MENTIONS,
    "relations": RELATIONS,
}


def schemas_of(tables: Collection[str]) -> dict[str, pa.Schema]:
    """Return the schemas that a publication with these tables must have."""
    return PUBLISHED_SCHEMAS | (GRAPH_SCHEMAS if GRAPH_SCHEMAS.keys() & set(tables) else {})
