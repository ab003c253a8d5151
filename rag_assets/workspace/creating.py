"""Make a workspace, declare a namespace, override metadata."""

import json
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

import yaml

from rag_assets.model import UsageError
from rag_assets.storage import hold_lock, write_text
from rag_assets.workspace.configuration import configs_folder
from rag_assets.workspace.inventory import lock_inventory
from rag_assets.workspace.journal import Override, append_events, mend_journal, read_journal
from rag_assets.workspace.layout import MARKER, Namespace, Workspace, check_namespace_name

FOLDERS = (
    "raw/evidence", "raw/instruction/guidance", "raw/instruction/feedback",
    "raw/instruction/slides", "raw/instruction/exemplars", "queries", "drafts", "namespaces",
    "outputs", "meta/dagster",
)  # fmt: skip
# What `rag meta set` may change: the descriptive fields of a sidecar.
OVERRIDABLE = ("citation_key", "title", "publisher", "url", "doi", "captured_at", "accessed_at",
               "published_date", "year", "language", "citable")  # fmt: skip

_CONFIG = """\
# Settings of this workspace. Every key and its default is explained in the product's
# configs/rag.yaml; what is not set here has that default. Files in namespaces/ set keys for one
# namespace alone.
"""

_AGENT = """\
# For an assistant that works in this folder

- `raw/` belongs to the person: never change, move or remove anything in it.
- `rag ingest` builds, `rag status` says what is stale, `rag documents` lists uids.
- `rag query "…" --json` answers with passages that may be cited; cite as `{#doc_uid}`.
- `rag verify-citations drafts/FILE.md --json` checks a draft; exit code 3 means a wrong uid.
- Quote only what a pack or an audit shows; every item says where it stands.
"""


def create_workspace(folder: Path, template: str) -> tuple[Workspace, list[str]]:
    """Make a workspace, or add what is missing to one; nothing that exists is changed.

    Args:
        template: name of a file in configs/namespaces/; it declares the first namespace.

    Returns:
        The workspace and the paths that were made, relative to it.

    Raises:
        UsageError: the template is unknown, or the folder is a file.
    """
    templates = list_templates()
    if template not in templates:
        raise UsageError(f"unknown template '{template}' (known: {', '.join(templates)}).")
    root = folder.expanduser().absolute()
    if root.exists() and not root.is_dir():
        raise UsageError(f"{root} is a file; name a folder.")
    made = []
    for name in FOLDERS:
        if not (root / name).is_dir():
            (root / name).mkdir(parents=True)
            made.append(f"{name}/")
    contents = {
        "AGENT.md": _AGENT,
        ".env": f"# Found by a bare `dagster` command that is run here.\n"
        f"DAGSTER_HOME={root / 'meta' / 'dagster'}\nRAG_WORKSPACE={root}\n",
        "meta/project.json": _project_json(root),
        MARKER: _CONFIG,
    }
    for name, text in contents.items():
        if not (root / name).exists():
            write_text(root / name, text)
            made.append(name)
    if not (root / "meta/dagster/dagster.yaml").exists():
        shutil.copyfile(shipped_file("dagster.yaml"), root / "meta/dagster/dagster.yaml")
        made.append("meta/dagster/dagster.yaml")
    if not any((root / "namespaces").glob("*.yaml")):
        target = root / "namespaces" / f"{template}.yaml"
        shutil.copyfile(configs_folder() / "namespaces" / f"{template}.yaml", target)
        made.append(f"namespaces/{template}.yaml")
    return Workspace.open(root), made


def _project_json(root: Path) -> str:
    from rag_assets import __version__

    return json.dumps(
        {
            "project_id": re.sub(r"[\W_]+", "-", root.name.lower()).strip("-") or "project",
            "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "tool_version": __version__,
        },
        indent=1,
    )


def list_templates() -> list[str]:
    """Return the names of the shipped namespace templates."""
    return sorted(path.stem for path in (configs_folder() / "namespaces").glob("*.yaml"))


def shipped_file(name: str) -> Path:
    """Return `dagster.yaml` or `workspace.yaml` as shipped, installed or in a checkout."""
    installed = configs_folder() / name
    return installed if installed.is_file() else configs_folder().parent / name


def add_namespace(workspace: Workspace, name: str, raw: tuple[str, ...], template: str) -> Path:
    """Declare a namespace and return its file.

    Raises:
        ConfigurationError: the name cannot be used.
        UsageError: it exists already, or the template is unknown.
    """
    path = workspace.namespace_file(name)
    check_namespace_name(name, path)
    if path.exists():
        raise UsageError(f"namespace '{name}' exists already: edit {path}.")
    if template not in list_templates():
        raise UsageError(f"unknown template '{template}' (known: {', '.join(list_templates())}).")
    text = (configs_folder() / "namespaces" / f"{template}.yaml").read_text(encoding="utf-8")
    folders = list(raw) or [f"raw/{name}"]
    listed = yaml.safe_dump(folders, allow_unicode=True, default_flow_style=True)
    write_text(path, re.sub(r"(?m)^raw:.*\n", lambda _: f"raw: {listed}", text))
    for folder in folders:
        (workspace.root / folder).mkdir(parents=True, exist_ok=True)
    workspace.namespace(name)  # what was written must be readable
    return path


def set_metadata(
    namespace: Namespace, doc_uid: str, field: str, value: str | None, reason: str
) -> None:
    """Override a field of a document in the journal; None takes the override back.

    Raises:
        UsageError: the uid or the field is unknown, or the value cannot be used.
    """
    if field not in OVERRIDABLE:
        raise UsageError(f"'{field}' cannot be set (known: {', '.join(OVERRIDABLE)}).")
    if field == "citable" and value not in {None, "false"}:
        raise UsageError("'citable' can only be set to false: where a file lies decides the rest.")
    if field == "year" and value is not None and not re.fullmatch(r"[1-9]\d{3}", value):
        raise UsageError(f"'year' must be a year of four digits, got {value!r}.")
    with hold_lock(lock_inventory(namespace), f"the journal of {namespace.name}", lambda _: None):
        mend_journal(namespace.journal)
        known = {binding.doc_uid for binding in read_journal(namespace.journal).bindings}
        if doc_uid not in known:
            raise UsageError(
                f"no document '{doc_uid}' in namespace '{namespace.name}'; "
                "`rag documents` lists them."
            )
        append_events(namespace.journal, [Override(doc_uid, field, value, reason)])
