"""The published JSON Schema of claim audits, made from their types."""

import dataclasses
from typing import Any

from rag_assets.auditing.claims.record import SCHEMA, ClaimAudit

# Pairs in Python, objects in JSON: name → what its values are.
_OBJECTS = {"exempt": "integer", "publications": "string", "scorer_fingerprints": "string"}
_NOT_STORED = ("searched_now", "judged_now")


def claims_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the JSON of a claim audit.

    Types and obligations are those of `ClaimAudit` and what it holds; unknown fields are not
    allowed.
    """
    from pydantic import TypeAdapter

    made = TypeAdapter(ClaimAudit).json_schema(mode="serialization")
    definitions = made.pop("$defs")
    for kind in definitions.values():
        if "properties" in kind:
            # What has a default when a program makes it is always there in a file.
            kind["required"] = list(kind["properties"])
            kind["additionalProperties"] = False
    properties = {
        field.name: made["properties"][field.name]
        for field in dataclasses.fields(ClaimAudit)
        if field.name not in _NOT_STORED
    }
    for name, value in _OBJECTS.items():
        properties[name] = {"type": "object", "additionalProperties": {"type": value}}
    text = {"type": "string"}
    properties["sources_used"] = {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"cite": text, "title": text},
            "required": ["cite", "title"],
            "additionalProperties": False,
        },
    }
    properties = {
        "schema": {"const": SCHEMA},
        "audit_id": text,
        **properties,
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{SCHEMA.replace('/', ':')}",
        "title": "Claim audit",
        "description": "The strong assertions of a draft, and what there is to support them.",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        "$defs": definitions,
    }
