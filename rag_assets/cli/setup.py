"""`rag init`, `rag namespace`, `rag meta`: set a workspace up."""

from pathlib import Path

import click

from rag_assets.cli.options import json_option, open_workspace, print_json
from rag_assets.model import UsageError


@click.command(
    help="Make a workspace in DIR, or add what is missing to one. Nothing that exists is changed."
)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--template",
    default="thesis",
    show_default=True,
    metavar="NAME",
    help="The first namespace: thesis (raw/evidence is citable) or papers (all of raw/).",
)
@json_option
def init(folder: Path, template: str, as_json: bool) -> None:
    """Make the folders and files of a workspace."""
    from rag_assets.workspace import create_workspace

    workspace, made = create_workspace(folder, template)
    if as_json:
        print_json({"workspace": str(workspace.root), "made": made})
        return
    for name in made:
        click.echo(f"made {name}")
    click.echo(
        f"{workspace.root} is a workspace"
        + ("." if made else " already; nothing was changed.")
        + f"\nNext: put files into {workspace.root / 'raw' / 'evidence'}, then "
        f"`rag --workspace {workspace.root} ingest`."
    )


@click.group(help="Declare namespaces: libraries with settings and publications of their own.")
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
    help="Where its settings start from: thesis or papers.",
)
@json_option
def namespace_add(name: str, raw: tuple[str, ...], template: str, as_json: bool) -> None:
    """Write namespaces/NAME.yaml."""
    from rag_assets.workspace import add_namespace

    path = add_namespace(open_workspace(), name, raw, template)
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
    found = open_workspace().namespaces()
    if as_json:
        print_json([{"namespace": n.name, "raw": [str(r) for r in n.roots]} for n in found])
        return
    for each in found:
        click.echo(f"{each.name}\t{', '.join(each.settings.raw)}")


@click.group(help="Override metadata of documents, without touching raw/.")
def meta() -> None:
    """Group of the commands about metadata."""


@meta.command(
    "set",
    help="Set FIELD=VALUE of a document (citation_key, title, publisher, url, doi, year, language, "
    "accessed_at, captured_at, published_date, citable=false). `FIELD=` takes an override back.",
)
@click.argument("doc_uid")
@click.argument("assignments", nargs=-1, required=True, metavar="FIELD=VALUE...")
@click.option(
    "--namespace",
    "-n",
    "name",
    metavar="NAME",
    help="The namespace; needed where there are several.",
)
@click.option("--reason", required=True, help="Why; it stands in the journal.")
@json_option
def meta_set(
    doc_uid: str, assignments: tuple[str, ...], name: str | None, reason: str, as_json: bool
) -> None:
    """Append overrides to the identity journal."""
    from rag_assets.workspace import set_metadata

    workspace = open_workspace()
    names = workspace.namespace_names
    if name is None and len(names) != 1:
        raise UsageError(f"name one of the namespaces with --namespace: {', '.join(names)}.")
    chosen = workspace.namespace(name or names[0])
    pairs = [assignment.partition("=") for assignment in assignments]
    if wrong := next((a for a, p in zip(assignments, pairs, strict=True) if not p[1]), None):
        raise UsageError(f"write FIELD=VALUE, got {wrong!r}.")
    for field, _, value in pairs:
        set_metadata(chosen, doc_uid, field, value or None, reason)
    if as_json:
        print_json({"doc_uid": doc_uid, "set": {f: v or None for f, _, v in pairs}})
        return
    click.echo(f"noted for '{doc_uid}'. `rag index --namespace {chosen.name}` publishes it.")
