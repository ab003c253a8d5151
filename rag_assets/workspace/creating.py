"""Make a workspace, declare a namespace."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from rag_assets.model import StorageError, UsageError
from rag_assets.storage import explained_errors, write_private, write_text
from rag_assets.workspace.configuration import configs_folder
from rag_assets.workspace.environment_file import (
    ENVIRONMENT_FILE,
    environment_of,
    require_outside_raw,
)
from rag_assets.workspace.layout import MARKER, Namespace, Workspace
from rag_assets.workspace.naming import check_namespace_name
from rag_assets.workspace.policy import config_hash, written_settings

FOLDERS = (
    "raw/evidence", "raw/instruction/guidance", "raw/instruction/feedback",
    "raw/instruction/slides", "raw/instruction/exemplars", "queries", "drafts", "namespaces",
    "outputs", "meta/dagster",
)  # fmt: skip

# The folder of libraries that `rag check` makes beside folders of sources.
HIDDEN = ".rag"
# Beside papers they are lists of them.
_BIBLIOGRAPHIES = ("*.bib", "*.ris", "*.rdf")

# The knowledge bases of a laboratory, each with its own raw folder, and no other namespace.
LAB = "lab"
_BASES = ("kb_principles", "kb_modulation")
_LAB_FOLDERS = ("requests", "outputs", "namespaces", "meta/dagster")

_CONFIG = """\
# Settings of this workspace. Every key and its default is explained in the product's
# configs/rag.yaml; what is not set here has that default. Files in namespaces/ set keys for one
# namespace alone. `rag settings` shows what holds, and which file says so.
"""

# `dg` asks for a module of its folder, from which it imports nothing here.
_DG = """\
# Found by Dagster's `dg` when it is run here: it loads what `rag ui` shows.
directory_type = "project"

[project]
root_module = "namespaces"
defs_module = "namespaces"
code_location_name = "rag_assets"
code_location_target_module = "rag_assets.definitions"
"""

# Factors by folder, as a template has them.
_FACTORS = re.compile(r"(?m)^(?P<indent> +)path: (?P<factors>\{.*\})$")

_AGENT = """\
# For an assistant that works in this folder

`raw/` belongs to the person: never change, move or remove anything in it. `outputs/` is numbered:
never edit a file there, make the next one. Everything takes `--json`; exit codes: 0 done, 1 a run
or check failed, 2 wrong usage or settings, 3 an input was refused.

## The golden path

1. Files lie in `raw/evidence/` (citable) and below `raw/instruction/` (guidance, feedback,
   slides, exemplars: never citable). `rag documents` says what each is called (its uid).
2. `rag parse`: text and places; read `meta/parse_quality_report.md`, `meta/instruction_brief.md`
   (what is asked for) and `meta/style_brief.md` (how the exemplars are written).
3. `rag chunk`, `rag embed`: passages; vectors and a publication. `rag ingest` is all of
   1 to 3; only what changed is computed. `rag build-bm25` shows the text index that is part of it.
4. `rag query "…"`: an evidence pack, `outputs/evidence_pack_v###.md`: only citable passages, each
   with its place and a verbatim quote. `--mode papers` groups the same hits by document.
5. Write `drafts/NAME.md`; cite each sentence as `{#doc_uid}`. Quote only what a pack shows.
6. `rag audit drafts/NAME.md`: claims that need evidence. `rag verify-citations drafts/NAME.md`:
   does each cited document support its sentence; exit code 3 means a wrong uid.
7. `rag export-used-sources`: the sources for Zotero (Markdown, CSL-JSON, BibTeX, RIS).
8. `rag trace drafts/NAME.md:12`: from the verdicts on line 12 back to the bytes. `rag replay PACK`
   makes a pack again from its publication.

`rag status` says what is stale, `rag health` what a person has to look at before handing in.
Wrong metadata: `rag meta set UID year=2020 --reason "…"`, never by editing a file in `raw/`.
A change of settings is noted with `rag decide "…" --reason "…"`.
"""

_AGENT_LAB = """
## The laboratory

Papers lie in `raw/kb_principles/` (how the reaction works) and `raw/kb_modulation/` (what is
changed, and what that does); all of them are citable. `rag lab request "…"`, `rag lab run` and
`rag lab show RUN` propose recipes with their grounds; `rag lab feedback RUN` takes what a person
measured. Never give feedback that nobody measured.
"""

_REQUEST = """\
# A form for a request. Remove the # before the last lines, or save a copy as another .yaml file
# here: Dagster makes its runs (asset lab/recipe_runs). `rag lab request` asks without a file.
#
# text: A recipe for ethylene from CO2, with high selectivity.
# n: 1                  # runs, 1 to 5; each has the same input
# recipes_per_run: 1    # 1 to 3
# policy: collect       # or model; without it as lab.recipes.policy says
"""

_AGENT_LAW = """
## Statutes

`rag law search "…"` lists articles for a question, `rag law article 刑法133之一` prints one,
`rag law versions 刑法` lists the wordings of a law, `rag ask --law "…"` shows the articles that
answer. Over MCP the tools are `law_search` and `law_article`.

- Cite every statement about law as `[文件 > 章节 > 条款]`, for instance
  `[刑法 > 第二编 分则 > 第二章 危害公共安全罪 > 第一百三十三条之一]`, letter for letter as a
  command printed it. Name the paragraph or item where you mean one: `第一款`, `第二项`.
- Read the article to its end before you cite it: exceptions (但是, 除外, 另有规定) and conditions
  belong to what you say.
- Use wordings in force on the day that is asked about (`--as-of`). Say so where a wording is
  superseded, repealed or not yet in force.
- Where provisions conflict, the higher rank prevails: constitution, law, administrative regulation,
  then local regulations and department rules; within one rank the newer.
- Say that the vault has no answer where the commands find none. Do not cite from memory.
"""


def create_workspace(
    folder: Path, template: str, *, for_team: bool = False
) -> tuple[Workspace, list[str]]:
    """Make a workspace, or add what is missing to one; nothing that exists is changed.

    Args:
        template: name of a file in configs/namespaces/; it declares the first namespace. `lab`
            declares the two knowledge bases of a laboratory.
        for_team: Dagster's history lies in Postgres. The file for one machine gives way to that
            for a team, unless somebody has edited it.

    Returns:
        The workspace and the paths that were made, relative to it.

    Raises:
        UsageError: the template is unknown, the folder is a file, it lies among raw files, or its
            file for Dagster was edited and is not for a team.
        StorageError: nothing can be written there.
    """
    templates = [*list_templates(), LAB]
    if template not in templates:
        raise UsageError(f"unknown template '{template}' (known: {', '.join(templates)}).")
    root = folder.expanduser().absolute()
    _require_place(root)
    require_outside_raw(root)
    made = []
    is_lab = template == LAB
    for name in _LAB_FOLDERS if is_lab else FOLDERS:
        if not (root / name).is_dir():
            make_folder(root / name)
            made.append(f"{name}/")
    contents = {
        "AGENT.md": _AGENT + {"law": _AGENT_LAW, LAB: _AGENT_LAB}.get(template, ""),
        ENVIRONMENT_FILE: "# Found by a bare `dagster` command that is run here.\n"
        + "".join(f"{name}={value}\n" for name, value in environment_of(Workspace(root)).items()),
        MARKER: _CONFIG,
        "dg.toml": _DG,
    } | ({"requests/example.yaml": _REQUEST} if is_lab else {})
    for name, text in contents.items():
        if not (root / name).exists():
            write = write_private if name == ENVIRONMENT_FILE else write_text
            write(root / name, text)
            made.append(name)
    made += _choose_instance(root, for_team=for_team)
    has_namespace = any((root / "namespaces").glob("[!.]*.yaml"))
    if is_lab and not has_namespace:
        for name in _BASES:
            add_namespace(Workspace.open(root), name, (), name)
            made += [f"namespaces/{name}.yaml", f"raw/{name}/"]
    elif not has_namespace:
        with explained_errors(root):
            text = (configs_folder() / "namespaces" / f"{template}.yaml").read_text("utf-8")
            text = _for_folders(text, [root / "raw"])
        write_text(root / "namespaces" / f"{template}.yaml", text)
        made.append(f"namespaces/{template}.yaml")
    workspace = Workspace.open(root)
    if not (root / "meta/project.json").exists():
        write_text(root / "meta/project.json", _project_json(workspace))
        made.append("meta/project.json")
    return workspace, made


def library_of(sources: Path, draft: Path) -> Namespace:
    """Return the library of a folder of sources outside of any workspace, made at the first call.

    It is kept beside the folder, in `.rag/NAME`, and reads the files where they are, without the
    drafts among them. Of a bibliography file, `.rag/STEM` gets copies of the files that its entries
    name.

    Raises:
        StorageError: nothing can be written beside the folder.
    """
    is_folder = sources.is_dir()
    root = sources.parent / HIDDEN / (sources.name if is_folder else sources.stem)
    if not (root / MARKER).is_file():
        create_workspace(root, "papers")
        write_text(root.parent / ".gitignore", "*\n")
    workspace = Workspace.open(root)
    file = workspace.namespace_file("papers")
    values: dict[str, Any] = yaml.safe_load(file.read_bytes())
    ignored = dict.fromkeys([*workspace.namespace("papers").settings.ignore, *_BIBLIOGRAPHIES])
    if draft.is_relative_to(sources):
        ignored |= {draft.name: None}
    # The folder may have been moved, together with its library.
    wanted = values | {"raw": [str(sources) if is_folder else "raw"], "ignore": [*ignored]}
    if wanted != values:
        write_text(file, yaml.safe_dump(wanted, allow_unicode=True))
    return workspace.namespace("papers")


def _choose_instance(root: Path, *, for_team: bool) -> list[str]:
    """Write Dagster's own file where there is none, or where another one of ours is wanted."""
    name = "meta/dagster/dagster.yaml"
    wanted = shipped_file("dagster-team.yaml" if for_team else "dagster.yaml")
    if (root / name).exists():
        present = (root / name).read_bytes()
        # What a team adds to its file, such as a run launcher, leaves it one for a team.
        if not for_team or _storage_of(present) == _storage_of(wanted.read_bytes()):
            return []
        if present != shipped_file("dagster.yaml").read_bytes():
            raise UsageError(
                f"{root / name} is not the one that ships for one machine: it was edited, or is of "
                "another release. Move it away and run the command again for the one for a team, "
                "or take what you need from "
                f"{wanted}."
            )
    with explained_errors(root / name):
        write_text(root / name, wanted.read_text(encoding="utf-8"))
    return [name]


def _storage_of(data: bytes) -> object:
    """Return where a file of Dagster's keeps the history; None where it does not say."""
    try:
        loaded = yaml.safe_load(data)
    except yaml.YAMLError:  # Dagster itself says what is wrong with it
        return None
    return loaded.get("storage") if isinstance(loaded, dict) else None


def _require_place(root: Path) -> None:
    for folder in (root, *root.parents):
        if folder.is_dir():
            return
        if folder.exists():
            beside = "" if folder == root else f": {root} cannot lie in it"
            raise UsageError(f"{folder} is a file{beside}; name a folder.")


def make_folder(folder: Path) -> None:
    """Make a folder of the workspace, with those around it.

    Raises:
        StorageError: it cannot be made there; the text says why.
    """
    with explained_errors(folder):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileNotFoundError, FileExistsError, NotADirectoryError) as error:  # as in /proc
            raise StorageError(
                f"{folder}: this folder cannot be made ({error.strerror}). Name a place on a disk "
                "where this user may write."
            ) from error


def _for_folders(text: str, roots: Sequence[Path]) -> str:
    """Return a template with its factors by folder for the folders that are there.

    Where none of them is yet, all stay.

    Args:
        text: of the template.
        roots: folders of the namespace; they need not exist.
    """
    written = _FACTORS.search(text)
    if written is None:
        return text
    factors: dict[str, float] = yaml.safe_load(written["factors"])
    names = {path.name for root in roots for path in root.rglob("*") if path.is_dir()}
    there = [f"{name}: {by}" for name, by in factors.items() if name in names]
    absent = [f"{name}: {by}" for name, by in factors.items() if name not in names]
    if not (there and absent):
        return text
    indent = written["indent"]
    line = (
        f"{indent}path: {{{', '.join(there)}}}\n"
        f"{indent}# No such folder yet; add its factor above with the folder: {', '.join(absent)}"
    )
    return text[: written.start()] + line + text[written.end() :]


def _project_json(workspace: Workspace) -> str:
    from rag_assets import __version__

    root = workspace.root

    return json.dumps(
        {
            "project_id": re.sub(r"[\W_]+", "-", root.name.lower()).strip("-") or "project",
            "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "tool_version": __version__,
            # What `changes_since_decision` compares with until there is a decision.
            "config_hash": config_hash(workspace),
            "settings": written_settings(workspace),
        },
        indent=1,
        ensure_ascii=False,
    )


def list_templates() -> list[str]:
    """Return the names of the shipped namespace templates."""
    return sorted(path.stem for path in (configs_folder() / "namespaces").glob("*.yaml"))


def shipped_file(name: str) -> Path:
    """Return `dagster.yaml` or another file of Dagster's as shipped, or as in a checkout."""
    installed = configs_folder() / name
    return installed if installed.is_file() else configs_folder().parent / name


def add_namespace(workspace: Workspace, name: str, raw: tuple[str, ...], template: str) -> Path:
    """Declare a namespace and return its file.

    Raises:
        ConfigurationError: the name or the folders cannot be used; nothing was made.
        UsageError: it exists already, or the template is unknown.
    """
    path = workspace.namespace_file(name)
    check_namespace_name(name, path)
    workspace.check_namespace_file(name)
    if path.exists():
        raise UsageError(f"namespace '{name}' exists already: edit {path}.")
    if template not in list_templates():
        raise UsageError(f"unknown template '{template}' (known: {', '.join(list_templates())}).")
    text = (configs_folder() / "namespaces" / f"{template}.yaml").read_text(encoding="utf-8")
    folders = list(raw) or [f"raw/{name}"]
    text = _for_folders(text, [workspace.root / folder for folder in folders])
    listed = yaml.safe_dump(folders, allow_unicode=True, default_flow_style=True)
    text = re.sub(r"(?m)^raw:.*\n", lambda _: f"raw: {listed}", text)
    workspace.declared_namespace(name, text.encode("utf-8"))  # what is written must be readable
    # The file last: a crash between the two must not leave a namespace without its folders.
    for folder in folders:
        make_folder(workspace.root / folder)
    write_text(path, text)
    return path


def overlapping_folders(namespace: Namespace) -> list[tuple[str, Path]]:
    """Return the folders that another namespace reads too, each with that one's name, sorted."""
    roots = [root.resolve() for root in namespace.roots]
    found = set()
    for other in namespace.workspace.sound_namespaces()[0]:
        if other.name == namespace.name:
            continue
        for theirs in (root.resolve() for root in other.roots):
            found |= {(other.name, ours) for ours in roots if ours.is_relative_to(theirs)}
            found |= {(other.name, theirs) for ours in roots if theirs.is_relative_to(ours)}
    return sorted(found)
