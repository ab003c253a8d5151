"""Policy: the settings that a workspace departs from the shipped ones by, and why it does.

A decision is a numbered Markdown file in `decisions/` that a person can read in a year: what was
decided, why, and which settings held from then on. The settings themselves stay in config.yaml
and namespaces/; `changes_since_decision` says what has been changed there without a decision.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import yaml

from rag_assets.model import (
    DamagedFileError,
    UsageError,
    drop_controls,
    hash_fields,
    hide_credentials,
    hide_in,
    require_text,
)
from rag_assets.storage import (
    append_log,
    explained_errors,
    hold_lock,
    mend_journal,
    read_json,
    taken_back_if_failed,
    write_text,
)
from rag_assets.workspace.bounded_yaml import parse_yaml, read_bounded
from rag_assets.workspace.configuration import dotted, read_layer
from rag_assets.workspace.inventory import current_identities, lock_inventory, read_inventory
from rag_assets.workspace.journal import (
    Override,
    append_events,
    latest_overrides,
    read_journal,
    slug,
)
from rag_assets.workspace.layout import MARKER, Namespace, Workspace

# No field of a sidecar: the document is out of the library, and its file stays in raw/.
ARCHIVED = "archived"
# Nor is this: false where a person has found that a law is not repealed, whatever a text says.
REPEALED = "repealed"
# What `rag meta set` may change: the descriptive fields of a sidecar, and that one.
OVERRIDABLE = ("citation_key", "title", "authors", "publisher", "url", "doi", "journal", "volume",
               "issue", "page_range", "captured_at", "accessed_at", "published_date", "year",
               "language", "standing", "tags", "citable", ARCHIVED, REPEALED)  # fmt: skip
# Lists in a sidecar; in the journal, as in every command, one text. What divides them: a name may
# hold a comma (`Family, Given`), a tag that a filter can ask for may not.
_BETWEEN = {"authors": re.compile("[;；\n]"), "tags": re.compile("[;；,，\n]")}
LISTS = tuple(_BETWEEN)
_DATES = ("accessed_at", "captured_at")
# A source may print no more than the year, or year and month, of its publication.
_PARTIAL_DATE = re.compile(r"[1-9]\d{3}(-(0[1-9]|1[0-2]))?")
_FORMS = {
    "year": (r"[1-9]\d{3}", "a year of four digits"),
    "url": (r"https?://\S+", "an address that begins with http:// or https://"),
    "doi": (r"10\.\d{4,9}/\S+", "a DOI such as 10.1000/182, without https://doi.org/"),
    "language": (r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*", "a language code such as en, zh or zh-Hant"),
    "standing": ("none|retracted|concern|corrected", "none, retracted, concern or corrected"),
    # What Pandoc, BibTeX and LaTeX take as a key.
    "citation_key": (r"[^\s{}@,\\\"#%~]+", 'a key without spaces and without {}@,\\"#%~'),
}


def set_metadata(
    namespace: Namespace, doc_uid: str, field: str, value: str | None, reason: str
) -> None:
    """Override one field of a document; None takes the override back. See `override_metadata`."""
    override_metadata(namespace, doc_uid, {field: value}, reason)


def override_metadata(
    namespace: Namespace, doc_uid: str, values: Mapping[str, str | None], reason: str
) -> None:
    """Override fields of a document, all or none; a value of None takes an override back.

    Args:
        doc_uid: its uid or its citation key.

    Raises:
        UsageError: the uid or a field is unknown, or a value cannot be used; nothing was changed.
        StorageError: the disk is full or refuses the write; the journal is as it was.
    """
    values = {
        field: None if value is None else hide_credentials(drop_controls(value))
        for field, value in values.items()
    }
    reason = hide_credentials(reason)
    for field, value in values.items():
        _check(field, value)
    require_text(reason, "'reason'")
    with hold_lock(lock_inventory(namespace), f"the journal of {namespace.name}", lambda _: None):
        mend_journal(namespace.journal)
        journal = read_journal(namespace.journal)
        uid = find_uid(namespace, doc_uid)
        if uid is None:
            raise UsageError(
                f"no document '{doc_uid}' in namespace '{namespace.name}'; "
                "`rag documents` lists them."
            )
        doc_uid = uid
        before = latest_overrides(journal.overrides).get(doc_uid, {})
        with taken_back_if_failed(namespace.journal):  # where the other log cannot be written
            append_events(
                namespace.journal,
                [Override(doc_uid, field, value, reason) for field, value in values.items()],
            )
            _log(namespace, doc_uid, before, values, reason)


def find_uid(namespace: Namespace, name: str) -> str | None:
    """Return the uid of the document that is called so, by its uid or its citation key; None where
    the journal and the sidecars know none.
    """
    journal = read_journal(namespace.journal)
    if any(binding.doc_uid == name for binding in journal.bindings):
        return name
    inventory = read_inventory(namespace)
    uids = current_identities(namespace, inventory).uids if inventory else {}
    overrides = latest_overrides(journal.overrides)
    keys = {
        **journal.keys,
        **{
            uids[content]: living.sidecar["citation_key"]
            for content, living in (inventory.contents if inventory else {}).items()
            if content in uids and "citation_key" in living.sidecar
        },
        **{uid: own["citation_key"] for uid, own in overrides.items() if "citation_key" in own},
    }
    return next((uid for uid, key in keys.items() if key == name), None)


def overridden_fields(overrides: Mapping[str, str]) -> dict[str, Any]:
    """Return overrides in the form of a sidecar's fields: authors and tags as lists.

    Args:
        overrides: of one document, as the journal has them.
    """
    return {
        field: _listed(field, value) if field in _BETWEEN else hide_credentials(value)
        for field, value in overrides.items()
    }


def _listed(field: str, value: str) -> list[str]:
    parts = (" ".join(part.split()) for part in _BETWEEN[field].split(value))
    return list(dict.fromkeys(part for part in parts if part))


def _check(field: str, value: str | None) -> None:
    if field not in OVERRIDABLE:
        raise UsageError(f"'{field}' cannot be set (known: {', '.join(OVERRIDABLE)}).")
    if value is None:
        return
    require_text(value, f"'{field}'")
    if field == "citable" and value != "false":
        raise UsageError("'citable' can only be set to false: the file's folder decides the rest.")
    if field == ARCHIVED and value != "true":
        raise UsageError("'archived' can only be set to true, or taken back with `archived=`.")
    if field == REPEALED and value != "false":
        raise UsageError("'repealed' can only be set to false, or taken back with `repealed=`.")
    form, meant = _FORMS.get(field, (r"(?s).*\S.*", "some text"))
    if not re.fullmatch(form, value):
        raise UsageError(f"'{field}' must be {meant}, got {value!r}.")
    if field in _BETWEEN and not _listed(field, value):
        raise UsageError(
            f"'{field}' must name at least one, several divided by semicolons, got {value!r}."
        )
    if field in _DATES and not _is_date(value):
        raise UsageError(
            f"'{field}' must be a day such as 2026-03-01 that there is, got {value!r}."
        )
    if field == "published_date" and not (_PARTIAL_DATE.fullmatch(value) or _is_date(value)):
        raise UsageError(
            f"'{field}' must be a day, month or year such as 2026-03-01, 2026-03 or 2026, "
            f"got {value!r}."
        )


def _is_date(value: str) -> bool:
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:  # a day that there is not, as 2026-02-30
        return False
    return True


def _log(
    namespace: Namespace,
    doc_uid: str,
    before: Mapping[str, str],
    values: Mapping[str, str | None],
    reason: str,
) -> None:
    workspace = namespace.workspace
    at = datetime.now(UTC).isoformat(timespec="seconds")
    log = workspace.meta / "version_log.jsonl"
    lock = workspace.locks / "outputs.lock"
    with hold_lock(lock, "the version log", lambda _: None), explained_errors(log):
        for field, value in values.items():
            append_log(
                log,
                {
                    "file": namespace.journal.relative_to(workspace.root).as_posix(),
                    "document": f"{namespace.name}:{doc_uid}",
                    "field": field,
                    "from": before.get(field),
                    "to": value,
                    "timestamp": at,
                    "reason": reason,
                },
            )


# A decision's file name: long enough to be told apart in a listing.
_NAME_LETTERS = 60
_FRONT = re.compile(r"\A---\n(.*?)\n---\n\n?# (.*?)\n(.*)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision as its file holds it.

    Args:
        number: from 1.
        settings: what config.yaml and namespaces/ set then, `<where>: <dotted key>` → value.
    """

    number: int
    path: Path
    text: str
    at: str
    config_hash: str
    settings: Mapping[str, Any]


def config_hash(workspace: Workspace) -> str:
    """Return the SHA-256 of all settings of a workspace and its namespaces, as they hold now."""
    each = {each.name: each.settings.model_dump(mode="json") for each in workspace.namespaces()}
    return hash_fields(workspace.settings.model_dump(mode="json"), each)


def written_settings(workspace: Workspace) -> dict[str, Any]:
    """Return what the workspace's own files set: `config.yaml: verify.threshold` → 0.6.

    What is secret in an address is left out: these are kept, and in many places.
    """
    for name in workspace.namespace_names:
        workspace.check_namespace_file(name)
    paths = [workspace.root / MARKER]
    paths += [workspace.namespace_file(name) for name in workspace.namespace_names]
    return {
        f"{path.relative_to(workspace.root).as_posix()}: {key}": hide_in(value)
        for path in paths
        for key, value in dotted(read_layer(path).values)
    }


def record_decision(workspace: Workspace, text: str, reason: str) -> Decision:
    """Write the next file of `decisions/`: what was decided, why, and the settings that hold.

    Raises:
        UsageError: text or reason is empty.
        ConfigurationError: the settings cannot be read.
    """
    title, why = " ".join(drop_controls(text).split()), drop_controls(reason).strip()
    if not title or not why:
        raise UsageError("a decision needs a sentence and a reason: rag decide TEXT --reason WHY.")
    settings, digest = written_settings(workspace), config_hash(workspace)
    with hold_lock(workspace.locks / "decisions.lock", "the decisions", lambda _: None):
        before = read_decisions(workspace)
        number = before[-1].number + 1 if before else 1
        changes = changes_since_decision(workspace)
        name = f"{number:04d}-{slug(title)[:_NAME_LETTERS].rstrip('-')}.md"
        at = datetime.now(UTC).isoformat(timespec="seconds")
        front = {"at": at, "config_hash": digest, "settings": settings}
        written = yaml.safe_dump(front, allow_unicode=True, sort_keys=False)
        listed = "\n".join(f"- {change}" for change in changes) or "- none"
        body = f"{why}\n\n## Settings changed since the decision before\n\n{listed}\n"
        path = workspace.decisions / name
        write_text(path, f"---\n{written}---\n\n# {title}\n\n{body}")
    return Decision(number, path, title, at, digest, settings)


def read_decisions(workspace: Workspace) -> list[Decision]:
    """Return all decisions, oldest first.

    Raises:
        DamagedFileError: a numbered file there is not a decision.
    """
    found = []
    for path in sorted(workspace.decisions.glob("[0-9][0-9][0-9][0-9]-*.md")):
        try:
            match = _FRONT.match(read_bounded(path, path.name).decode("utf-8"))
            if match is None:
                raise ValueError("no front matter and heading")  # noqa: TRY301 - told below
            front = parse_yaml(match[1], path.name, first_line=2)
            decision = Decision(
                int(path.name[:4]), path, match[2], str(front["at"]), str(front["config_hash"]),
                dict(front["settings"] or {}),
            )  # fmt: skip
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedFileError(
                f"{path}: not a decision as `rag decide` writes them ({error}). Mend its front "
                "matter (at, config_hash, settings), or move the file elsewhere."
            ) from error
        found.append(decision)
    return found


def changes_since_decision(workspace: Workspace) -> list[str]:
    """Return a sentence for each setting that changed since the last decision, else since `init`.

    Empty where nothing changed, and in a workspace that never noted what it began with.
    """
    decisions = read_decisions(workspace)
    if decisions:
        before: Mapping[str, Any] | None = decisions[-1].settings
    else:
        path = workspace.meta / "project.json"
        project: Mapping[str, Any] = read_json(path, "project file") if path.is_file() else {}
        before = project.get("settings")
    if before is None:
        return []
    now = written_settings(workspace)
    return [
        f"`{key}`: {_shown(before, key)} → {_shown(now, key)}"
        for key in sorted(before.keys() | now.keys())
        if _shown(before, key) != _shown(now, key)
    ]


def _shown(settings: Mapping[str, Any], key: str) -> str:
    if key not in settings:
        return "not set"
    return yaml.safe_dump(settings[key], default_flow_style=True, allow_unicode=True).split("\n")[0]
