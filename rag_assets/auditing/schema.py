"""The published JSON Schemas of audits, made from their types."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from rag_assets.auditing.record import SCHEMA, CitationAudit

# They say how an audit came to be, not what it found.
_NOT_STORED = frozenset({"judged_now", "searched_now"})


def audit_schema(
    kind: type, schema: str, title: str, description: str, changed: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a kind of audit.

    Types and obligations are those of `kind` and what it holds; unknown fields are not allowed.

    Args:
        kind: a dataclass; `schema` the name of its JSON.
        changed: schemas of fields that JSON holds otherwise than Python, and of those that it
            has besides.
    """
    from pydantic import TypeAdapter

    made = TypeAdapter(kind).json_schema(mode="serialization")
    definitions = made.pop("$defs")
    for each in definitions.values():
        if "properties" in each:
            # What has a default when a program makes it is always there in a file.
            each["required"] = list(each["properties"])
            each["additionalProperties"] = False
    names = [field.name for field in dataclasses.fields(kind) if field.name not in _NOT_STORED]
    properties = {
        "schema": {"const": schema},
        **{name: made["properties"][name] for name in names},
        **changed,
        "counts": object_of("integer"),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{schema.replace('/', ':')}",
        "title": title,
        "description": description,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        "$defs": definitions,
    }


def object_of(kind: str) -> dict[str, Any]:
    """Return the schema of pairs in Python that are an object in JSON."""
    return {"type": "object", "additionalProperties": {"type": kind}}


def citations_schema() -> dict[str, Any]:
    """Return the JSON Schema of the JSON of a citation audit."""
    return audit_schema(
        CitationAudit,
        SCHEMA,
        "Citation audit",
        "A verdict on every citation of a draft, with what was looked at.",
        {name: object_of("string") for name in ("publications", "encoders")},
    )
