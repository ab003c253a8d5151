"""Settings of search by entities."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from rag_assets.settings.section import Section

_Spelling = Annotated[str, Field(pattern=r"\w", max_length=80)]
_Name = Annotated[
    list[_Spelling],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    Field(min_length=1),
]


class GraphSettings(Section):
    """Search by entities, beside words and models.

    Args:
        names: the spellings of each, of which the first is its name; one alone may stand as it is.
    """

    enabled: bool
    names: list[_Name]
