"""What a namespace may be called."""

import fnmatch
import re
import sys
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any  # Any: YAML before it is checked

from rag_assets.model import ConfigurationError, hash_fields
from rag_assets.model.settings import Settings

NAMESPACE_PATTERN = r"[a-z][a-z0-9_]{0,39}"
# Names that Dagster, Lance or our own workspace assets use.
RESERVED_NAMES = frozenset(
    {
        "workspace",
        "evidence_packs",
        "agent_answers",
        "citation_audits",
        "claim_audits",
        "parse_quality_report",
        "instruction_briefs",
        "law_curation",
        "lab",
        "default",
        "temp",
    }
)


def check_namespace_name(name: str, where: Path) -> None:
    """Refuse a name that Dagster, Lance or DuckDB could not use.

    Raises:
        ConfigurationError: names the rule.
    """
    if not re.fullmatch(NAMESPACE_PATTERN, name) or name in RESERVED_NAMES:
        raise ConfigurationError(
            f"{where}: '{name}' cannot be a namespace: lower-case letters, digits and _ only, "
            f"a letter first, at most 40, and none of {', '.join(sorted(RESERVED_NAMES))}."
        )


def is_text(name: str) -> bool:
    """Say whether a name can be written as UTF-8."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def is_ignored(name: str, settings: Settings) -> bool:
    """Say whether the settings leave out files of that name."""
    return _ignored_names(tuple(settings.ignore)).match(name.lower()) is not None


@lru_cache(maxsize=8)
def _ignored_names(patterns: tuple[str, ...]) -> re.Pattern[str]:
    # One expression: the sensor asks it of every file every few seconds.
    return re.compile("|".join(fnmatch.translate(p.lower()) for p in patterns) or r"(?!)")


_PACKAGE = Path(__file__).parents[1]


@cache
def code_digest() -> str:
    """Return the SHA-256 of the names, sizes and times of this package's files, and of the names
    and versions of all installed packages.

    Where it is the same, the same input gives the same output. Where it differs, nothing need.
    """
    files = sorted(
        path for path in _PACKAGE.rglob("*") if path.suffix in {".py", ".md", ".tex", ".txt"}
    )
    own = [(path.as_posix(), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    # A folder beside each installed package says its name and version: reading it costs more.
    folders = (Path(place) for place in sys.path)
    others = {one.name for folder in folders if folder.is_dir() for one in folder.glob("*-info")}
    return hash_fields(own, sorted(others))


_Location = tuple[str, ...]

# Where a key of a file's first level, or of its sections `rerank` and `embedding`, is written here.
_PLAIN: Mapping[str, _Location] = {
    "verify_citations_k": ("verify", "k"),
    "verify_citations_threshold_T": ("verify", "threshold"),
    "counterevidence_mode": ("audit", "counterevidence"),
    "enable_agentic_rag": ("answer", "agentic"),
    "max_iterations": ("answer", "max_iterations"),
}
_RERANK: Mapping[str, _Location] = {
    "enabled": ("retrieve", "rerank", "mode"),
    "provider": ("retrieve", "rerank", "provider"),
    "model": ("retrieve", "rerank", "model"),
    "candidate_k": ("retrieve", "pool_k"),
    "topN": ("retrieve", "top_k"),
}
_EMBEDDING: Mapping[str, _Location] = {
    "provider": ("embed", "kind"),
    "model": ("embed", "model"),
    "output_dim": ("embed", "dimension"),
    "concurrency": ("embed", "concurrency"),
    "backoff": ("embed", "backoff_seconds"),
    "timeout": ("embed", "timeout_seconds"),
}
# What a model is asked for: a property of its kind here, and no setting.
TASK_TYPES = {"document": "RETRIEVAL_DOCUMENT", "query": "RETRIEVAL_QUERY"}
# Rerankers of one cloud, whose names say whose they are.
_VERTEX_RERANKERS = "semantic-ranker-"


def translate_names(path: Path, values: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a file's settings with the names of spec 000 written as ours.

    Args:
        path: of the file, for errors.
        values: as the file holds them.

    Raises:
        ConfigurationError: a setting stands there under both names, or a section of that name has
            a key that spec 000 does not know.
    """
    found: dict[Any, Any] = {}
    moved: list[tuple[str, _Location, Any]] = []
    for key, value in values.items():
        if key in _PLAIN:
            moved.append((key, _PLAIN[key], value))
        elif key == "rerank":
            moved += _rerank(path, value)
        elif key == "embedding":
            moved += _embedding(path, value)
        else:
            found[key] = value
    for name, location, value in moved:
        _place(path, found, name, location, value)
    return found


def _rerank(path: Path, section: Any) -> list[tuple[str, _Location, Any]]:
    moved = _section(path, "rerank", section, _RERANK)
    values = {name: value for name, _, value in moved}
    if "rerank.enabled" in values:
        is_on = values["rerank.enabled"]
        if not isinstance(is_on, bool):
            raise ConfigurationError(f"{path}: 'rerank.enabled' must be true or false.")
        moved = [
            (name, location, ("model" if is_on else "off") if name == "rerank.enabled" else value)
            for name, location, value in moved
        ]
    is_vertex = str(values.get("rerank.model", "")).startswith(_VERTEX_RERANKERS)
    if is_vertex and "rerank.provider" not in values:
        moved.append(("rerank.model", _RERANK["provider"], "vertex"))
    return moved


def _embedding(path: Path, section: Any) -> list[tuple[str, _Location, Any]]:
    if isinstance(section, dict) and "task_type" in section:
        if section["task_type"] != TASK_TYPES:
            raise ConfigurationError(
                f"{path}: 'embedding.task_type' must be {TASK_TYPES}: passages and questions are "
                "always told apart so. Leave the key out."
            )
        section = {key: value for key, value in section.items() if key != "task_type"}
    return _section(path, "embedding", section, _EMBEDDING)


def _section(
    path: Path, name: str, section: Any, known: Mapping[str, _Location]
) -> list[tuple[str, _Location, Any]]:
    if not isinstance(section, dict):
        raise ConfigurationError(f"{path}: '{name}': expected `key: value` lines below it.")
    unknown = next((key for key in section if key not in known), None)
    if unknown is not None:
        raise ConfigurationError(
            f"{path}: unknown key '{name}.{unknown}'. Known keys here: {', '.join(sorted(known))}."
        )
    return [(f"{name}.{key}", known[key], value) for key, value in section.items()]


def _place(path: Path, found: dict[Any, Any], name: str, location: _Location, value: Any) -> None:
    at: dict[Any, Any] = found
    for part in location[:-1]:
        inner = at.get(part, {})
        if not isinstance(inner, dict):
            break  # told where the section is checked
        at[part] = dict(inner)
        at = at[part]
    else:
        if location[-1] in at:
            raise ConfigurationError(
                f"{path}: '{name}' and '{'.'.join(location)}' are one setting: keep one of them."
            )
        at[location[-1]] = value
