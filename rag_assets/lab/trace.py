"""What a run keeps: the RunNote (spec 004 §4.3), the sources it was shown, its trace (§4.4)."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import ConfigDict

from rag_assets.answering.agents import drop_marks, find_marks, show_marks
from rag_assets.model import DamagedFileError, UsageError, count_of

Role = Literal["orchestrator", "mof_expert", "tio2_expert"]
Section = Literal["constraints", "decisions", "candidates", "evidence", "risks", "questions"]
SECTIONS: tuple[Section, ...] = get_args(Section)
Operation = Literal["append", "replace", "upsert"]


@dataclass(frozen=True, slots=True)
class NoteEntry:
    """One line; `key` is unique in its section, `by` as of its revision."""

    key: str
    text: str
    citations: tuple[str, ...] = ()
    by: str = ""

    @property
    def is_own_words(self) -> bool:
        """Whether a model wrote it: nobody has held it against what it cites."""
        return self.by in get_args(Role)


@dataclass(frozen=True, slots=True)
class Revision:
    """A change of the note.

    Args:
        op: `append` a new entry; `replace` one that is there; `upsert` either.
        by: the role that made it, or `program`.
    """

    op: Operation
    section: Section
    key: str
    text: str
    citations: tuple[str, ...]
    by: str


@dataclass(frozen=True, slots=True)
class RunNote:
    """The note as it stands; `revision` counts its changes."""

    sections: Mapping[Section, tuple[NoteEntry, ...]] = field(default_factory=dict)
    revision: int = 0

    def entries(self, section: Section) -> tuple[NoteEntry, ...]:
        """Return the lines of a section, in order."""
        return self.sections.get(section, ())

    def next_key(self, section: Section) -> str:
        """Return a key that is free: `e3` in `evidence`."""
        taken = {entry.key for entry in self.entries(section)}
        number = len(taken) + 1
        while f"{section[0]}{number}" in taken:
            number += 1
        return f"{section[0]}{number}"

    def revise(self, change: Revision) -> "RunNote":
        """Return the note after a change.

        Raises:
            UsageError: what is to be replaced is not there, or what is appended is.
        """
        entries = list(self.entries(change.section))
        place = next((i for i, one in enumerate(entries) if one.key == change.key), None)
        if change.op == "replace" and place is None:
            known = ", ".join(one.key for one in entries) or "none"
            raise UsageError(f"note: '{change.section}' has no '{change.key}' (there is {known}).")
        if change.op == "append" and place is not None:
            raise UsageError(
                f"note: '{change.section}' has a '{change.key}' already; upsert changes it."
            )
        entry = NoteEntry(change.key, change.text, change.citations, change.by)
        if place is None:
            entries.append(entry)
        else:
            entries[place] = entry
        return RunNote({**self.sections, change.section: tuple(entries)}, self.revision + 1)

    def to_json(self) -> dict[str, Any]:
        """Return the note as values that JSON knows: entries by section."""
        return {name: [asdict(one) for one in self.entries(name)] for name in SECTIONS}


def fold_note(events: Iterable[Mapping[str, Any]], until: int | None = None) -> RunNote:
    """Return the note that the events of a trace make.

    Args:
        until: number of the last event that counts; all without.
    """
    note = RunNote()
    for event in events:
        if until is not None and event["seq"] > until:
            break
        if event["kind"] == "noted":
            keys = ("op", "section", "key", "text", "by")
            values = {key: event[key] for key in keys}
            note = note.revise(Revision(**values, citations=tuple(event["citations"])))
    return note


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


SCHEMA = "rag-assets/recipe-run/1"
# Beside a trace: for each event the seconds since its run began, a line each.
TIMES = "times.txt"


class TraceWriter:
    """Numbers events and writes each as one line.

    Args:
        sink: is given each line as soon as it is there.
    """

    def __init__(self, sink: Callable[[str], object]) -> None:
        self._sink = sink
        self._count = 0

    @property
    def next_seq(self) -> int:
        """The number that the next event will have, from 1."""
        return self._count + 1

    def add(self, kind: str, **values: Any) -> int:
        """Write an event; return its number. No clock is in it, so that it can be made again."""
        self._count += 1
        event = {"seq": self._count, "kind": kind, **values}
        self._sink(json.dumps(event, ensure_ascii=False, allow_nan=False) + "\n")
        return self._count


def read_trace(path: Path) -> list[dict[str, Any]]:
    """Return the events of a trace.

    Raises:
        DamagedFileError: it is missing, not what was written, or of another schema.
    """
    if not path.is_file():
        raise DamagedFileError(f"{path}: the trace of this run is gone. Run it again.")
    return list(parse_trace(path.read_text(encoding="utf-8"), str(path)))


def parse_trace(text: str, where: str) -> Iterator[dict[str, Any]]:
    """Yield the events of a trace.

    Raises:
        DamagedFileError: as `read_trace`.
    """
    for number, line in enumerate(text.split("\n")[:-1], start=1):
        try:
            event = json.loads(line)
        except ValueError as error:
            raise DamagedFileError(f"{where}: line {number} is no JSON: {error}.") from error
        if not isinstance(event, dict) or event.get("seq") != number:
            raise DamagedFileError(f"{where}: line {number} is not event {number} of a trace.")
        if number == 1 and event.get("schema") != SCHEMA:
            raise DamagedFileError(
                f"{where}: this is no trace of schema {SCHEMA} but of {event.get('schema')!r}: "
                "another version of rag-assets made it."
            )
        yield event


def step_title(event: Mapping[str, Any]) -> str:  # noqa: C901, PLR0911, PLR0912 - a line each
    """Return an event as one line for a reader."""
    match event["kind"]:
        case "begun":
            return f"begun: {event['job']['text']}"
        case "task":
            return f"task {event['number']} for {event['role']}: {event['text']}"
        case "asked":
            wrong = event["turn"]["error"] or event["turn"]["fault"]
            return f"{event['role']} was asked{f'; not usable: {wrong}' if wrong else ''}"
        case "planned":
            return f"next: {event['first']}. {event['thought']}"
        case "called" | "repeated":
            said = ", ".join(f'"{value}"' for value in event["arguments"].values() if value != "")
            if event["kind"] == "repeated":
                return f"{event['tool']} {said}: not made again, as at step {event['first']}"
            observed = event["observed"]
            if observed is None:
                return f"{event['tool']} {said}: failed: {event['error']}"
            found = count_of(len(observed["sources"]) + len(observed["lines"]), "result")
            return f"{event['tool']} {said}: {found}"
        case "noted":
            return f"note: {event['op']} {event['key']} in {event['section']}: {event['text']}"
        case "proposed":
            return f"{event['by']} proposed {event['key']}"
        case "task_ended":
            return f"task {event['number']} ended: {event['thought']}"
        case "task_failed":
            return f"task {event['number']} failed: {event['why']}"
        case "stopped":
            return f"stopped: {event['why']}"
        case "weighed":
            counted = Counter(one["verdict"].replace("_", " ") for one in event["verdicts"])
            told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counted.items()))
            return f"grounds were held against their sources: {told}"
        case _:
            reason = f": {event['reason']}" if event["reason"] else ""
            return f"ended by {event['ended_by']}{reason}"


def clock_time(seconds: float) -> str:
    """Return a duration as minutes and seconds: `3:07`."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02d}"
