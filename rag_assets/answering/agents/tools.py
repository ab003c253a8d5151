"""Typed functions as tools: name, description, JSON Schema of the arguments, a checked call.

The first parameter of the function is what it works on (an open library, a search) and is no part
of the schema; a model, a server or a page gives the others.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from inspect import getdoc
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ArgsKwargs

from rag_assets.answering.agents.trace import Passage
from rag_assets.model import UsageError

_Context = TypeVar("_Context")


@dataclass(frozen=True, slots=True)
class ContextTool(Generic[_Context]):
    """A function whose first parameter is what it works on; the others have a schema.

    Args:
        function: returns values; raises what a person or a model can act on.
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

    def bind(self, context: _Context) -> Callable[..., Any]:
        """Return the function without its first parameter."""
        return partial(self.function, context)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments."""
        # A schema needs nothing to work on; binding something keeps the parameter out of it.
        unbound: Any = partial(self.function, None)
        return {**TypeAdapter(unbound).json_schema(), "title": self.name}

    def call(self, context: _Context, arguments: Mapping[str, Any]) -> Any:
        """Call the tool with arguments as a model writes them.

        Raises:
            UsageError: an argument is missing, unknown, or not what the schema says.
        """
        return self._validated(self.bind(context), arguments)

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments with their defaults, without calling the tool.

        Raises:
            UsageError: as `call`.
        """

        @wraps(self.function)
        def given(_: None, **values: Any) -> dict[str, Any]:
            return values

        found: dict[str, Any] = self._validated(partial(given, None), arguments)
        return found

    def _validated(self, function: Any, arguments: Mapping[str, Any]) -> Any:
        try:
            return TypeAdapter(function).validate_python(ArgsKwargs((), dict(arguments)))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise UsageError(f"{self.name}: {where}: {first['msg']}.") from error


@dataclass(frozen=True, slots=True)
class FoundLine:
    """One line of what a tool of an agent returns.

    Args:
        label: what the line is about, such as `[paper:12]`.
        passage: what may be cited from here on; None for a line that only informs.
    """

    label: str
    passage: Passage | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a tool of an agent returns.

    Args:
        notes: sentences on what was done otherwise than asked.
    """

    lines: tuple[FoundLine, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Toolset(Generic[_Context]):
    """The tools of an agent, by name; `finish` is the one that ends it."""

    tools: Mapping[str, ContextTool[_Context]]
    finish: ContextTool[_Context]

    def __post_init__(self) -> None:
        if self.finish.name in self.tools:
            raise ValueError(f"'{self.finish.name}' ends a run and searches too")

    @property
    def names(self) -> tuple[str, ...]:
        """Return what may be asked for, in order."""
        return (*self.tools, self.finish.name)

    def get(self, name: str) -> ContextTool[_Context]:
        """Return a tool.

        Raises:
            UsageError: there is none of that name.
        """
        if name == self.finish.name:
            return self.finish
        if name not in self.tools:
            raise UsageError(f"there is no tool '{name}'; there are {', '.join(self.names)}.")
        return self.tools[name]
