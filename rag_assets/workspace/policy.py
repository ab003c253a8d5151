"""Policy: the settings that a workspace departs from the shipped ones by, and why it does.

A decision is a numbered Markdown file in `decisions/` that a person can read in a year: what was
decided, why, and which settings held from then on. The settings themselves stay in config.yaml
and namespaces/; `changes_since_decision` says what has been changed there without a decision.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from rag_assets.model import DamagedFileError, UsageError, drop_controls, hash_fields, hide_in
from rag_assets.storage import hold_lock, read_json, write_text
from rag_assets.workspace.bounded_yaml import parse_yaml, read_bounded
from rag_assets.workspace.configuration import dotted, read_layer
from rag_assets.workspace.identity import slug
from rag_assets.workspace.layout import MARKER, Workspace

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
