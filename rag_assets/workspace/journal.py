"""The identity journal: append-only, synced, readable lines. Who was called what, and when."""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from rag_assets.model import DamagedFileError
from rag_assets.storage import append_journal_lines, read_journal_lines, read_once


@dataclass(frozen=True, slots=True)
class Binding:
    """A living content at a path is called `doc_uid`; `pin` where a sidecar asked for it.

    `at` (ISO 8601) is for people to read; it decides nothing.
    """

    event: Literal["bind", "pin"]
    content_hash: str
    path: str
    doc_uid: str
    at: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Override:
    """A field of a document set by a person (`rag meta set`), with the reason."""

    doc_uid: str
    field: str
    value: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class CitationKey:
    """A document is cited as `key` from now on, whatever is added or removed later."""

    doc_uid: str
    key: str


@dataclass(frozen=True, slots=True)
class Journal:
    """All events, oldest first."""

    bindings: tuple[Binding, ...] = ()
    overrides: tuple[Override, ...] = ()
    citation_keys: tuple[CitationKey, ...] = ()

    @property
    def keys(self) -> dict[str, str]:
        """The citation key of each document that was given one, by uid."""
        return {one.doc_uid: one.key for one in self.citation_keys}


def read_journal(path: Path) -> Journal:
    """Return the journal; a missing file is an empty one, a half-written last line is left out.

    Raises:
        DamagedFileError: a line in the middle is not what was written; names the line.
    """
    return read_once([path], "journal", lambda: _read(path))


def _read(path: Path) -> Journal:
    bindings: list[Binding] = []
    overrides: list[Override] = []
    keys: list[CitationKey] = []
    for number, line in enumerate(read_journal_lines(path), start=1):
        try:
            event = json.loads(line)
            kind = event.pop("event")
            at = event.pop("at")
            _check_values(event)
            if kind in {"bind", "pin"}:
                bindings.append(Binding(kind, **event, at=at))
            elif kind == "set":
                overrides.append(Override(**event))
            elif kind == "key":
                keys.append(CitationKey(**event))
            else:
                raise KeyError(kind)  # noqa: TRY301 - told with its line below
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise DamagedFileError(
                f"{path}, line {number}: not a journal event ({error}). Nothing was changed. "
                "Restore the file from a backup, or delete this line: the documents it names may "
                "then get other uids."
            ) from error
    return Journal(tuple(bindings), tuple(overrides), tuple(keys))


def _check_values(event: dict[str, Any]) -> None:
    for key, value in event.items():
        if not isinstance(value, str) and not (key == "value" and value is None):
            raise TypeError(f"'{key}' must be text, got {value!r}")


def append_events(path: Path, events: Sequence[Binding | Override | CitationKey]) -> None:
    """Append events in one synced write; call with the lock held and the journal mended.

    Raises:
        StorageError: the disk is full or refuses the write; the journal is as it was.
    """
    at = datetime.now(UTC).isoformat(timespec="seconds")
    lines = [json.dumps(_as_line(event) | {"at": at}, ensure_ascii=False) for event in events]
    append_journal_lines(path, lines)


def _as_line(event: Binding | Override | CitationKey) -> dict[str, Any]:
    kinds = {Override: {"event": "set"}, CitationKey: {"event": "key"}}
    return kinds.get(type(event), {}) | asdict(event)


def latest_overrides(overrides: Iterable[Override]) -> dict[str, dict[str, str]]:
    """Return the fields that hold now, by uid; a value of None takes an override back."""
    latest: dict[str, dict[str, str]] = {}
    for override in overrides:
        fields = latest.setdefault(override.doc_uid, {})
        if override.value is None:
            fields.pop(override.field, None)
        else:
            fields[override.field] = override.value
    return latest


# Longer stems are cut: a uid is written by hand in drafts.
_MAX_SLUG = 80
_UNWANTED = re.compile(r"[^\w]+|_+")


@dataclass(frozen=True, slots=True)
class Claim:
    """A living content at one path, with the uid its sidecar pins, if any."""

    path: str
    content_hash: str
    pin: str | None = None


@dataclass(frozen=True, slots=True)
class Identities:
    """The outcome of reconciling.

    Args:
        uids: content_hash → doc_uid for every content that can be published.
        withheld: content_hash → sentence that names both claimants of a uid.
        events: to be appended to the journal; empty when nothing changed.
        notes: what a person should know, by content_hash (`renamed_and_edited`, `copy_kept_uid`).
    """

    uids: dict[str, str]
    withheld: dict[str, str] = field(default_factory=dict)
    events: tuple[Binding, ...] = ()
    notes: dict[str, str] = field(default_factory=dict)


def slug(path: str) -> str:
    """Return the uid that a file's stem asks for: NFKC, lower case, CJK kept, words joined by -."""
    text = unicodedata.normalize("NFKC", PurePosixPath(path).stem).lower()
    return _UNWANTED.sub("-", text).strip("-")[:_MAX_SLUG].strip("-") or "document"


class _History:
    """The journal, indexed: the last word on each content, path and uid."""

    def __init__(self, bindings: Iterable[Binding]) -> None:
        self.uid_of_content: dict[str, str] = {}
        self.last_at_path: dict[str, tuple[str, str]] = {}
        self.content_of_uid: dict[str, str] = {}
        self.last_turn: dict[tuple[str, str], int] = {}
        for turn, binding in enumerate(bindings):
            self.uid_of_content[binding.content_hash] = binding.doc_uid
            self.last_at_path[binding.path] = (binding.content_hash, binding.doc_uid)
            self.content_of_uid[binding.doc_uid] = binding.content_hash
            self.last_turn[binding.content_hash, binding.doc_uid] = turn


def reconcile(
    bindings: Sequence[Binding], claims: Iterable[Claim], keys: Mapping[str, str] | None = None
) -> Identities:
    """Give every living content its uid and say which events make that lasting.

    Bytes decide before path: known bytes first, then edits at known paths, then the rest, each
    in path order. Reconciling again with the events appended gives the same uids and no event.

    Args:
        bindings: the journal's, oldest first.
        claims: every living (path, content); a content may stand at several paths.
        keys: citation keys by uid: no other document gets one of them as its uid.
    """
    history = _History(bindings)
    ordered = sorted(claims, key=lambda claim: claim.path)
    pins = _pins(ordered)
    notes: dict[str, str] = {}
    holders = _known_contents(history, ordered)
    _edited_contents(history, ordered, holders, pins)
    # A uid that a pin asks for is not given to a newcomer whose stem happens to spell it.
    taken = set(history.content_of_uid) | set(holders.values()) | set(pins.values())
    taken |= {key.casefold() for key in (keys or {}).values()}
    uids, withheld = _grant_pins(holders, pins, ordered)
    for claim in ordered:
        content = claim.content_hash
        if content not in uids and content not in withheld:
            base = slug(claim.path)
            candidate, number = base, 1
            while candidate in taken:
                number += 1
                candidate = f"{base}-{number}"
            uids[content] = candidate
            taken.add(uids[content])
            _note_newcomer(history, claim, uids, notes)
    return Identities(uids, withheld, _events(history, ordered, uids, pins), notes)


def _pins(ordered: Sequence[Claim]) -> dict[str, str]:
    """The first path with a pin speaks for its content."""
    pins: dict[str, str] = {}
    for claim in ordered:
        if claim.pin is not None:
            pins.setdefault(claim.content_hash, claim.pin)
    return pins


def _known_contents(history: _History, ordered: Sequence[Claim]) -> dict[str, str]:
    """Settle contents that the journal knows. Where two claim a uid, its last holder keeps it."""
    claimants: dict[str, list[str]] = {}
    for claim in ordered:
        uid = history.uid_of_content.get(claim.content_hash)
        if uid is not None and claim.content_hash not in claimants.setdefault(uid, []):
            claimants[uid].append(claim.content_hash)
    return {
        max(contents, key=lambda content: history.last_turn[content, uid]): uid
        for uid, contents in claimants.items()
        if contents
    }


def _edited_contents(
    history: _History, ordered: Sequence[Claim], holders: dict[str, str], pins: Mapping[str, str]
) -> None:
    """Unknown bytes at a known path are an edit and take that path's uid, unless it is held."""
    living = {claim.content_hash for claim in ordered}
    held = set(holders.values()) | {
        pin for content, pin in pins.items() if content in living and content in holders
    }
    for claim in ordered:
        content = claim.content_hash
        if content in history.uid_of_content or content in holders:
            continue
        _, uid = history.last_at_path.get(claim.path, ("", ""))
        if uid and uid not in held:
            holders[content] = uid
            held.add(uid)


def _grant_pins(
    holders: Mapping[str, str], pins: Mapping[str, str], ordered: Sequence[Claim]
) -> tuple[dict[str, str], dict[str, str]]:
    """Grant every pin that collides with nobody; pins may pass uids on among themselves.

    A refused pin leaves its document holding what it had, which can refuse another pin: hence
    the loop, which ends because pins are only ever refused.
    """
    path_of = {claim.content_hash: claim.path for claim in reversed(ordered)}
    granted = dict(pins)
    withheld: dict[str, str] = {}
    while True:
        claimants: dict[str, list[str]] = {}
        for content in sorted({*holders, *granted}, key=lambda content: path_of[content]):
            uid = granted.get(content, holders.get(content))
            if uid is not None:
                claimants.setdefault(uid, []).append(content)
        refused = {}
        for uid, contents in claimants.items():
            # The holder keeps it; where nobody holds it the first path has it.
            keeper = next((c for c in contents if holders.get(c) == uid), contents[0])
            for content in contents:
                if content != keeper:
                    refused[content] = (
                        f"its sidecar pins doc_uid '{uid}', which {path_of[keeper]} holds; "
                        "give one of the two another doc_uid in its sidecar."
                    )
        if not refused:
            break
        for content, sentence in refused.items():
            granted.pop(content, None)
            withheld[content] = f"{path_of[content]}: {sentence}"
    uids = {**holders, **granted}
    return {c: uid for c, uid in uids.items() if c not in withheld}, withheld


def _note_newcomer(
    history: _History, claim: Claim, uids: Mapping[str, str], notes: dict[str, str]
) -> None:
    _, held = history.last_at_path.get(claim.path, ("", ""))
    if held and held in uids.values():
        notes[claim.content_hash] = (
            f"this file was edited after its bytes had been copied: '{held}' stays with the "
            f"untouched copy, this one is '{uids[claim.content_hash]}'. To exchange them pin "
            "doc_uid in both sidecars."
        )


def _events(
    history: _History, ordered: Sequence[Claim], uids: Mapping[str, str], pins: Mapping[str, str]
) -> tuple[Binding, ...]:
    """Return the bindings that are not the journal's last word yet."""
    events: list[Binding] = []
    for claim in ordered:
        content, uid = claim.content_hash, uids.get(claim.content_hash)
        if uid is None:
            continue
        is_last_word = (
            history.last_at_path.get(claim.path) == (content, uid)
            and history.uid_of_content.get(content) == uid
            and history.content_of_uid.get(uid) == content
        )
        if not is_last_word:
            events.append(
                Binding("pin" if pins.get(content) == uid else "bind", content, claim.path, uid)
            )
    return tuple(events)
