"""Settings of search by entities."""

from typing import Annotated

from pydantic import Field

from rag_assets.settings.section import Section

_Spelling = Annotated[str, Field(pattern=r"\w", max_length=80)]


class GraphSettings(Section):
    """Search by entities, beside words and models.

    Args:
        names: each as it is written, or as a list of its spellings, of which the first is its name.
    """

    enabled: bool
    names: list[_Spelling | Annotated[list[_Spelling], Field(min_length=1)]]

    @property
    def spellings(self) -> list[list[str]]:
        """The spellings of each of `names`, in order."""
        return [[name] if isinstance(name, str) else name for name in self.names]
