"""What an agent has found: passages under short names, which its answer must cite."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic import ConfigDict

# `[C1]`, `[C2, C3]`, `[C2; C3]`; full-width brackets and commas too, as they are typed in Chinese.
_MARK = re.compile(r"[\[【]\s*(C\d+(?:\s*[,;，；、]\s*C\d+)*)\s*[\]】]")
_ALIAS = re.compile(r"C\d+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that a tool returned; it carries its text, so that a record needs no index.

    Args:
        content_hash: SHA-256 of `text`.
        citation_id: a citation that outlives edits elsewhere in the document.
        page_start: from 1; None without pages. `page_end` likewise.
        char_start: where `text` stands in the document's clean text; half-open.
        score: of the search that found it; compares passages of one search. 0.0 where none did.
        authors: of the document, as printed.
    """

    namespace: str
    doc_uid: str
    chunk_id: str
    citation_id: str
    content_hash: str
    title: str | None
    section_path: tuple[str, ...]
    section_category: int | None
    page_start: int | None
    page_end: int | None
    char_start: int
    char_end: int
    text: str
    score: float = 0.0
    authors: tuple[str, ...] = ()
    year: int | None = None

    __pydantic_config__ = ConfigDict(extra="forbid")

    @property
    def chunk_key(self) -> str:
        """`namespace::chunk_id`, unique in the workspace."""
        return f"{self.namespace}::{self.chunk_id}"


class AliasRegistry:
    """Gives each passage one name of a run, `C1`, `C2`, …, in the order of finding."""

    def __init__(self) -> None:
        self._passages: dict[str, Passage] = {}
        self._aliases: dict[str, str] = {}

    @property
    def passages(self) -> Mapping[str, Passage]:
        """The passages by alias, in the order of finding."""
        return dict(self._passages)

    def register(self, passage: Passage) -> tuple[str, bool]:
        """Return the alias of a passage, and whether it was given now."""
        known = self._aliases.get(passage.chunk_key)
        if known is not None:
            return known, False
        alias = f"C{len(self._passages) + 1}"
        self._aliases[passage.chunk_key] = alias
        self._passages[alias] = passage
        return alias, True


def find_marks(text: str) -> tuple[str, ...]:
    """Return the aliases that a text cites, in order, each once."""
    named = (alias for mark in _MARK.finditer(text) for alias in _ALIAS.findall(mark[1]))
    return tuple(dict.fromkeys(named))


def drop_marks(text: str) -> str:
    """Return a text without its citations; the white space before each goes with it."""
    return re.sub(rf"\s*{_MARK.pattern}", "", text).strip()


def drop_last_marks(line: str) -> tuple[str, tuple[str, ...]]:
    """Return a line without the one citation at its end, and the aliases of that."""
    found = [*_MARK.finditer(line)]
    if not found or found[-1].end() != len(line):
        return line, ()
    return line[: found[-1].start()].rstrip(), tuple(_ALIAS.findall(found[-1][1]))


def show_marks(aliases: Iterable[str]) -> str:
    """Return aliases as an answer cites them: `[C1, C3]`."""
    return f"[{', '.join(aliases)}]"
