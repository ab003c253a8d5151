"""What passages name, as published: merged over documents, with what stands in one sentence.

Merging happens here and nowhere before: a document that goes, or an edit, leaves nothing behind.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import pyarrow as pa

from rag_assets.graph import mentions_schema, normalise
from rag_assets.publishing.facts import DocumentFacts
from rag_assets.storage import read_rows, rows_of
from rag_assets.workspace import Namespace

# Sentences that name more entities are lists; what stands in a list is not spoken of together.
_MOST_IN_SENTENCE = 12


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
                "mention_key": f"{namespace.name}::{chunk_id}::{row['start']}",
                "namespace": namespace.name,
                "doc_uid": uid,
                "chunk_id": chunk_id,
                "sentence_start": row["sentence_start"],
                "sentence_end": row["sentence_end"],
                "entity": row["entity"],
                "name": row["name"],
                "rule": row["rule"],
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
