"""Settings of search by entities."""

from typing import Annotated, Literal

from pydantic import Field

from rag_assets.settings.section import Section

GraphMode = Literal["local", "global", "mix"]  # as in `retrieval/entity_graph.py`
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
