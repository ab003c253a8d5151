"""The published JSON Schema of citation audits, made from their types."""

import dataclasses
from typing import Any

from rag_assets.auditing.record import SCHEMA, CitationAudit

# Pairs in Python, objects in JSON.
_OBJECTS = ("publications", "encoders")
_NOT_STORED = ("judged_now",)


def citations_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the JSON of a citation audit.

    Types and obligations are those of `CitationAudit` and what it holds; unknown fields are not
    allowed.
    """
    from pydantic import TypeAdapter

    made = TypeAdapter(CitationAudit).json_schema(mode="serialization")
    definitions = made.pop("$defs")
    for kind in definitions.values():
        # What has a default when a program makes it is always there in a file.
        kind["required"] = list(kind["properties"])
        kind["additionalProperties"] = False
    properties: dict[str, Any] = {
        field.name: made["properties"][field.name]
        for field in dataclasses.fields(CitationAudit)
        if field.name not in _NOT_STORED
    }
    for name in _OBJECTS:
        properties[name] = {"type": "object", "additionalProperties": {"type": "string"}}
    count = {"type": "object", "additionalProperties": {"type": "integer"}}
    properties = {"schema": {"const": SCHEMA}, **properties, "counts": count}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{SCHEMA.replace('/', ':')}",
        "title": "Citation audit",
        "description": "A verdict on every citation of a draft, with what was looked at.",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        "$defs": definitions,
    }
