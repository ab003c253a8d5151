"""What a run was shown and may cite, and the names that it has in one prompt."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ConfigDict

from rag_assets.agents import drop_marks, find_marks, show_marks
from rag_assets.model import UsageError

_STRICT = ConfigDict(extra="forbid")
_CANONICAL = re.compile(r"[\[【(]?\s*\b((?:kb|mem):[\w.\-]*\w)\s*[\]】)]?")
_ALIAS = re.compile(r"[\[【]?\s*(C\d+)\s*[\]】]?")
# What is meant as marks and is none: [C1-C3], [c2], [C 4].
_MALFORMED = re.compile(r"[\[【]\s*[Cc]\s?\d+(?:[\s,;，；、\-–—~&/]|and|to|[Cc]|\d)*[\]】]")


@dataclass(frozen=True, slots=True)
class Source:
    """A passage or an item of experience as a run was shown it; it carries its text.

    Args:
        citation: `kb:<namespace>__chunk-<hash>` or `mem:<id>`.
        content_hash: SHA-256 of `text`.
        where: in the document: section and pages; of an item its kind.
        base: the namespace, or `experience`.
        document: uid of the document; of an item empty.
        name: DOI of the document, else its file.
        score: of the search that found it; compares sources of one search.
        version: of an item; 0 for a passage.
        taught_by: of an item, the runs whose feedback taught it.
        found_by: ranks, scores and reranking of the search.
    """

    citation: str
    text: str
    content_hash: str
    title: str
    where: str
    base: str
    document: str = ""
    name: str = ""
    chunk_id: str = ""
    score: float = 0.0
    version: int = 0
    taught_by: tuple[str, ...] = ()
    found_by: Mapping[str, Any] = field(default_factory=dict)

    __pydantic_config__ = _STRICT

    @property
    def label(self) -> str:
        """Title and place, as a prompt and a page show it."""
        return ", ".join(part for part in (self.title, self.where) if part)


@dataclass(frozen=True, slots=True)
class Observed:
    """What a tool returned.

    Args:
        sources: that may be cited from now on.
        lines: that only inform.
        notes: on what was done otherwise than asked.
    """

    sources: tuple[Source, ...] = ()
    lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    __pydantic_config__ = _STRICT


def sources_of(events: Iterable[Mapping[str, Any]]) -> dict[str, Source]:
    """Return every source that the looks of a trace found, by citation, as it was shown last."""
    found = {}
    for event in events:
        if event["kind"] == "called" and event["observed"]:
            for values in event["observed"]["sources"]:
                taught_by = tuple(values["taught_by"])
                found[values["citation"]] = Source(**{**values, "taught_by": taught_by})
    return found


class TurnAliases:
    """The names of sources in one prompt: `C1`, `C2`, … They hold for the answer to it alone.

    Args:
        bound: by citation, all that the run was shown so far.
    """

    def __init__(self, bound: Mapping[str, Source]) -> None:
        self._bound = bound
        self._names: dict[str, str] = {}

    @property
    def mapping(self) -> dict[str, str]:
        """The citation by alias."""
        return {alias: citation for citation, alias in self._names.items()}

    def name(self, citation: str) -> str:
        """Return the alias of a source, giving it one where it has none."""
        return self._names.setdefault(citation, f"C{len(self._names) + 1}")

    def mark(self, citations: Iterable[str]) -> str:
        """Return citations as a prompt shows them: ` [C1, C3]`; nothing for none."""
        names = [self.name(citation) for citation in citations]
        return f" {show_marks(names)}" if names else ""

    def resolve(self, named: str) -> str:
        """Return the citation that an answer names.

        Raises:
            UsageError: nothing of that name was shown.
        """
        alias = _ALIAS.fullmatch(named.strip())
        if alias is not None:
            found = self.mapping.get(alias[1])
            if found is None:
                raise UsageError(f"[{alias[1]}] names nothing that is shown now ({self._known()}).")
            return found
        canonical = _CANONICAL.fullmatch(named.strip())
        if canonical is None or canonical[1] not in self._bound:
            raise UsageError(
                f"'{named}' is no source that this run was shown ({self._known()}). Cite by the "
                "marks that stand before sources."
            )
        return canonical[1]

    def take(self, text: str, named: Sequence[str] = ()) -> tuple[str, tuple[str, ...]]:
        """Return a text without its marks, and the citations of both text and list.

        Raises:
            UsageError: one of them names nothing that was shown, or is no proper mark.
        """
        citations = [self.resolve(alias) for alias in (*named, *find_marks(text))]
        plain = drop_marks(text)
        wrong = _MALFORMED.search(plain)
        if wrong is not None:
            raise UsageError(f"write marks as [C1] or [C1, C2], got {wrong[0]}.")
        citations += [self.resolve(found[1]) for found in _CANONICAL.finditer(plain)]
        plain = " ".join(_CANONICAL.sub(" ", plain).split())
        if not plain:
            raise UsageError("a text is needed beside its marks.")
        return plain, tuple(dict.fromkeys(citations))

    def _known(self) -> str:
        return f"there are C1 to C{len(self._names)}" if self._names else "nothing is shown"
