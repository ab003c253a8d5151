"""The published JSON Schema of evidence packs, made from their types."""

import dataclasses
import inspect
import re
from typing import Any

from rag_assets.evidence.pack import (
    LAW_FIELDS,
    PLAIN_SCHEMA,
    SCHEMA,
    EvidenceItem,
    EvidencePack,
    ItemLaw,
    PackMatch,
    PackRequest,
    PackSource,
    pack_type,
)
from rag_assets.model import PageBox

_TYPES = (EvidencePack, EvidenceItem, PackSource, PackRequest, PackMatch, ItemLaw, PageBox)
_OPTIONAL = {*LAW_FIELDS, "law", "edited", "is_cut", "row", "repeal"}
_ENTRY = re.compile(r"^ {4}(\w+(?:, \w+)*): ", re.MULTILINE)


def pack_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the JSON of an evidence pack.

    Types and obligations are those of `EvidencePack` and what it holds; descriptions are those of
    their documentation. Unknown fields are not allowed.
    """
    made = pack_type().json_schema(mode="serialization")
    definitions = made.pop("$defs")
    for kind in _TYPES:
        described = made if kind is EvidencePack else definitions[kind.__name__]
        described["description"] = (inspect.getdoc(kind) or "").split("\n\n")[0].replace("\n", " ")
        for name, text in _described_fields(kind).items():
            described["properties"][name]["description"] = text
        # Most of what has a default when a program makes it is always there in a file.
        names = [field.name for field in dataclasses.fields(kind)]
        described["required"] = [name for name in names if name not in _OPTIONAL]
        described["additionalProperties"] = False
    properties = {
        "schema": {
            "enum": [SCHEMA, PLAIN_SCHEMA],
            "description": "which version of this schema a pack follows: the second where no "
            "statute was asked and no passage was edited, and so none of the fields about either "
            "is there",
        },
        **made.pop("properties"),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{SCHEMA.replace('/', ':')}",
        "title": "Evidence pack",
        **{key: value for key, value in made.items() if key not in {"title", "required"}},
        "required": ["schema", *made["required"]],
        "properties": properties,
        "$defs": definitions,
    }


def _described_fields(kind: type) -> dict[str, str]:
    """Return the descriptions that a type's docstring gives to its fields."""
    _, _, arguments = (inspect.getdoc(kind) or "").partition("Args:\n")
    names = {field.name for field in dataclasses.fields(kind)}
    found: dict[str, str] = {}
    parts = _ENTRY.split(arguments)[1:]
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        if name in names:
            found[name] = " ".join(text.split())
    return found
