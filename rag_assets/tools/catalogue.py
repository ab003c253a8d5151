"""The tools by name, each with the JSON Schema of its arguments."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import getdoc
from typing import Any  # Any: functions of any signature, JSON schemas

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ArgsKwargs

from rag_assets.model import UsageError
from rag_assets.retrieval import OpenedLibrary
from rag_assets.tools.reading import evidence_pack, fetch_parent, search
from rag_assets.tools.statutes import law_article, law_search
from rag_assets.tools.tracing import trace


@dataclass(frozen=True, slots=True)
class LibraryTool:
    """A function whose first parameter is an open library; the others have a schema.

    Args:
        function: returns values that JSON knows; raises what a person or a model can act on.
    """

    function: Callable[..., Any]

    @property
    def name(self) -> str:
        """Return what the tool is called."""
        return self.function.__name__

    @property
    def description(self) -> str:
        """Return what it does, for the one who chooses a tool."""
        return getdoc(self.function) or ""

    def bind(self, library: OpenedLibrary) -> Callable[..., Any]:
        """Return the function without its first parameter."""
        return partial(self.function, library)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments, without the library."""
        without_library: Any = partial(self.function, _NOT_OPENED)
        found = TypeAdapter(without_library).json_schema()
        return {**found, "title": self.name}

    def call(self, library: OpenedLibrary, arguments: Mapping[str, Any]) -> Any:
        """Call the tool with arguments as a model writes them.

        Raises:
            UsageError: an argument is missing, unknown, or not what the schema says.
        """
        bound: Any = self.bind(library)
        try:
            return TypeAdapter(bound).validate_python(ArgsKwargs((), dict(arguments)))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise UsageError(f"{self.name}: {where}: {first['msg']}.") from error


# A schema needs no library; binding something keeps the parameter out of it.
_NOT_OPENED: Any = None

_FUNCTIONS: tuple[Callable[..., Any], ...] = (
    search,
    fetch_parent,
    evidence_pack,
    law_search,
    law_article,
    trace,
)
TOOLS = {tool.name: tool for tool in map(LibraryTool, _FUNCTIONS)}
