"""What an agent found and did, step by step: enough to do it again."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import ConfigDict

from rag_assets.llm import Usage

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
        page_labels: the numbers that its pages bear in print, from `page_start`.
        context: headings above it; its last line is the header of its table.
        citation_key: what people cite its document by; empty where it has none.
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
    page_labels: tuple[str, ...] = ()
    context: str = ""
    citation_key: str = ""

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


_STRICT = ConfigDict(extra="forbid")

TurnError = Literal["failed", "tokens", "seconds"]
EndedBy = Literal["finish", "steps", "calls", "repairs", "failed", "tokens", "seconds"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may take.

    Args:
        steps: actions, the one that finishes among them.
        calls: of the language model.
        repairs: answers of the model that cannot be used and are asked for again, in all.
        tokens: of all prompts and answers; None for no limit.
        seconds: from the beginning; None for no limit.
    """

    steps: int
    calls: int
    repairs: int
    tokens: int | None = None
    seconds: float | None = None

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """One call of a language model.

    Args:
        request: SHA-256 of what was asked (`rag_assets.llm.contract.request_key`).
        text: as it came back, also where it cannot be used.
        fault: why it cannot be used; None where it can.
        error: why nothing came back; `error_kind` says which limit, or that the call failed.
    """

    request: str
    text: str = ""
    usage: Usage = field(default_factory=lambda: Usage(0, 0))
    fault: str | None = None
    error: str | None = None
    error_kind: TurnError | None = None

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class ObservedLine:
    """A line that a tool returned. `is_new` where its passage was never shown before."""

    label: str
    alias: str | None = None
    chunk_key: str | None = None
    content_hash: str | None = None
    is_new: bool = False

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class Observation:
    """What an action led to; `error` where the tool refused it."""

    lines: tuple[ObservedLine, ...] = ()
    notes: tuple[str, ...] = ()
    error: str | None = None

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class Step:
    """One decision of a policy.

    Args:
        number: from 1.
        by: name of the policy.
        action: name of the tool; None where the policy came to no decision, and `note` says why.
        arguments: as the policy wrote them.
        observation: None for the step that finishes, and where there is no action.
        turns: of the language model, those that could not be used too.
    """

    number: int
    by: str
    thought: str = ""
    action: str | None = None
    arguments: Mapping[str, Any] | None = None
    observation: Observation | None = None
    turns: tuple[ModelTurn, ...] = ()
    note: str | None = None

    __pydantic_config__ = _STRICT

    @property
    def tokens(self) -> int:
        """Tokens of prompts and answers."""
        return sum(turn.usage.total for turn in self.turns)


@dataclass(frozen=True, slots=True)
class Trace:
    """A whole run.

    Args:
        policy: what decided: kind, model or rules, their settings.
        passages: what was found, by alias, in the order of finding.
        ended_by: `finish`, or the limit at which it was made to finish.
        answered_by: name of the policy, or of the rules, that wrote `result`.
        result: arguments of the tool that finishes.
    """

    question: str
    brief: str
    policy: Mapping[str, str | int | float]
    limits: Limits
    tools: tuple[str, ...]
    steps: tuple[Step, ...]
    passages: Mapping[str, Passage]
    ended_by: EndedBy
    answered_by: str
    result: Mapping[str, Any]

    __pydantic_config__ = _STRICT

    @property
    def tokens(self) -> int:
        """Tokens of all calls."""
        return sum(step.tokens for step in self.steps)

    @property
    def calls(self) -> int:
        """How often the language model was asked."""
        return sum(len(step.turns) for step in self.steps)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what went otherwise than it should, in order."""
        return tuple(step.note for step in self.steps if step.note is not None)


def show_observation(observation: Observation, passages: Mapping[str, Passage]) -> str:
    """Return an observation as the policy reads it: a passage is told once."""
    if observation.error is not None:
        return f"Error: {observation.error}"
    lines = []
    for line in observation.lines:
        if line.alias is None:
            lines.append(line.label)
            continue
        text = " ".join(passages[line.alias].text.split())
        said = f'"{text}"' if line.is_new else "(shown above)"
        mark = show_marks([line.alias])
        # A label of the layout of spec 002 §3.3 stands before its mark.
        is_laid_out = line.label.startswith("> ")
        lines.append(
            f"{line.label} {mark} {said}" if is_laid_out else f"- {mark} {line.label} {said}"
        )
    return "\n".join(
        [*(lines or ["Nothing was found."]), *(f"Note: {n}" for n in observation.notes)]
    )
