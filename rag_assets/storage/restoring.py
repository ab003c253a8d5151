"""What was written as JSON becomes the value again that it was, or it is told what was changed."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from rag_assets.model import DamagedFileError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_Value = TypeVar("_Value")


def restore_json(
    kind: "TypeAdapter[_Value]",
    data: Mapping[str, Any],
    what: str,
    schema: str,
    readable: Collection[str] = (),
) -> _Value:
    """Return the value whose fields stand beside `schema` in what was read of a file.

    Args:
        kind: checks and restores the fields.
        what: names the value for a reader: `answer`.
        schema: that this version writes.
        readable: further ones that can be read.

    Raises:
        DamagedFileError: another schema; a field is missing, unknown or of another type.
    """
    from pydantic import ValidationError

    if data.get("schema") not in {schema, *readable}:
        raise DamagedFileError(
            f"this is no {what} of schema {schema} but {data.get('schema')!r}: another version of "
            "rag-assets made it. Ask the question again."
        )
    try:
        return kind.validate_python({k: value for k, value in data.items() if k != "schema"})
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise DamagedFileError(
            f"this {what} was changed: '{field}': {first['msg'].lower()}. Delete the file and ask "
            "the question again."
        ) from error
