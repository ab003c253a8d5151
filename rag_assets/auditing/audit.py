"""What every kind of audit of a draft has: a schema, an id, rows, and JSON that gives it back."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, ClassVar, Protocol, TypeVar

from rag_assets.model import UsageError


class Audit(Protocol):
    """What was found in one revision of a draft: a frozen dataclass.

    Fields that are left out of comparisons say how the audit came to be, not what it found; they
    are not stored.

    Args:
        schema: name of its JSON; `title` and `about` describe it there.
        command: makes it.
        audit_id: of the draft and what was found, and of no clock.
        publications: that were looked at, by namespace.
        counts: rows by status.
    """

    schema: ClassVar[str]
    command: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]

    @property
    def draft_name(self) -> str:
        """Return the name of the draft's file."""
        ...

    @property
    def draft_digest(self) -> str:
        """Return the SHA-256 of the draft's bytes."""
        ...

    @property
    def audit_id(self) -> str:
        """Return what tells it from another."""
        ...

    @property
    def publications(self) -> Mapping[str, str]:
        """Return the publications that were looked at, by namespace."""
        ...

    @property
    def rows(self) -> Sequence[Any]:
        """Return what was found, in the order of the draft."""
        ...

    @property
    def counts(self) -> Mapping[Any, int]:
        """Return how many rows have each status."""
        ...

    @property
    def judged_now(self) -> int:
        """Return how many judgements were made for it."""
        ...

    @property
    def errors(self) -> tuple[str, ...]:
        """Return why citations cannot be judged at all."""
        ...


Found = TypeVar("Found", bound=Audit)


def audit_to_json(audit: Audit) -> dict[str, Any]:
    """Return an audit as values that JSON knows: `schema`, its fields, `counts` (status → rows).

    The same audit always gives the same object.
    """
    content = asdict(audit)  # type: ignore[call-overload]  # a protocol cannot ask for a dataclass
    stored = {name: plain(content[name]) for name in stored_fields(type(audit))}
    return {"schema": audit.schema, **stored, "counts": dict(audit.counts)}


def audit_from_json(kind: type[Found], data: Mapping[str, Any]) -> Found:
    """Return the audit that `audit_to_json` wrote.

    Raises:
        UsageError: it is of another schema, or not what was written.
    """
    from pydantic import TypeAdapter, ValidationError

    again = f"Make it again with `{kind.command}`."
    if data.get("schema") != kind.schema:
        raise UsageError(
            f"This is not an audit of schema {kind.schema} but {data.get('schema')!r}. {again}"
        )
    try:
        audit = TypeAdapter(kind).validate_python(
            {name: value for name, value in data.items() if name not in {"schema", "counts"}}
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise UsageError(
            f"This audit was changed: {_place(first['loc'])}: {first['msg'].lower()}. {again}"
        ) from error
    if audit_to_json(audit) != data:
        raise UsageError(
            f"This audit does not say what its rows hold: it was changed or cut off. {again}"
        )
    return audit


def audit_schema(kind: type[Audit]) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a kind of audit.

    Types and obligations are those of its fields and what they hold; unknown fields are not
    allowed.
    """
    from pydantic import TypeAdapter

    made = TypeAdapter(kind).json_schema(mode="serialization")
    definitions = made.pop("$defs")
    for each in definitions.values():
        if "properties" in each:
            # What has a default when a program makes it is always there in a file.
            each["required"] = list(each["properties"])
            each["additionalProperties"] = False
    properties = {
        "schema": {"const": kind.schema},
        **{name: made["properties"][name] for name in stored_fields(kind)},
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{kind.schema.replace('/', ':')}",
        "title": kind.title,
        "description": kind.about,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        "$defs": definitions,
    }


def stored_fields(kind: type[Audit]) -> list[str]:
    """Return the fields of an audit that its JSON holds, in order."""
    return [each.name for each in fields(kind) if each.compare]  # type: ignore[arg-type]


def plain(value: Any) -> Any:
    """Return a value with lists for tuples, as JSON gives it back."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def _place(location: tuple[int | str, ...]) -> str:
    if len(location) > 1 and location[0] == "rows" and isinstance(location[1], int):
        return f"row {location[1] + 1} {'.'.join(map(str, location[2:]))}".strip()
    return ".".join(map(str, location))
