"""The published JSON Schema of claim audits."""

from typing import Any

from rag_assets.auditing.claims.record import SCHEMA, ClaimAudit
from rag_assets.auditing.schema import audit_schema, object_of


def claims_schema() -> dict[str, Any]:
    """Return the JSON Schema of the JSON of a claim audit."""
    text = {"type": "string"}
    source = {
        "type": "object",
        "properties": {"cite": text, "title": text},
        "required": ["cite", "title"],
        "additionalProperties": False,
    }
    return audit_schema(
        ClaimAudit,
        SCHEMA,
        "Claim audit",
        "The strong assertions of a draft that cite nothing, and what speaks of them.",
        {
            "audit_id": text,
            "exempt": object_of("integer"),
            "publications": object_of("string"),
            "scorer_fingerprints": object_of("string"),
            "sources_used": {"type": "array", "items": source},
        },
    )
