"""`rag export parsed|chunks|tables`: folders of what was made, for other programs."""

from pathlib import Path

import click

from rag_assets.cli.options import (
    OutputPath,
    namespace_option,
    open_namespaces,
    open_workspace,
)
from rag_assets.model import count_of

_folder = click.argument("folder", required=False, type=OutputPath(is_folder=True))


@click.group(help="Write folders and tables of what was made, for other programs.")
def export() -> None:
    """Hold the commands of this group."""


@export.command(
    help="Write Markdown, JSON and figures of every parsed document, a folder each. FOLDER, in "
    "which each namespace has one of its own, is by default `parsed` in the workspace."
)
@_folder
@namespace_option
def parsed(folder: Path | None, names: tuple[str, ...]) -> None:
    """Export the parses of each namespace."""
    from rag_assets.publishing import export_parsed, readable_folder

    for namespace in open_namespaces(names):
        place = folder / namespace.name if folder else readable_folder(namespace, "parsed")
        count, problems = export_parsed(namespace, place)
        for problem in problems:
            click.echo(problem, err=True)
        click.echo(f"{namespace.name}: {count_of(count, 'document')} in {place}")


@export.command(
    help="Write parents.jsonl, chunks.jsonl and chunk_manifest.json. FOLDER, in which each "
    "namespace has one of its own, is by default `chunks` in the workspace."
)
@_folder
@namespace_option
def chunks(folder: Path | None, names: tuple[str, ...]) -> None:
    """Export the parents and chunks of each namespace."""
    from rag_assets.publishing import export_chunks, readable_folder

    for namespace in open_namespaces(names):
        place = folder / namespace.name if folder else readable_folder(namespace, "chunks")
        parents, count = export_chunks(namespace, place)
        click.echo(
            f"{namespace.name}: {count_of(parents, 'parent')} and "
            f"{count_of(count, 'chunk')} in {place}"
        )


@export.command(
    help="Write knowledge_sources, knowledge_docs and knowledge_chunks, as `rag sql` shows them, "
    "as Lance tables that LanceDB opens. FOLDER is new or empty: a copy of what is published and "
    "drafted now."
)
@click.argument("folder", type=OutputPath(is_folder=True))
@namespace_option
def tables(folder: Path, names: tuple[str, ...]) -> None:
    """Export the three tables of a knowledge library."""
    from rag_assets.tracing import export_knowledge

    written = export_knowledge(open_workspace(), folder, names or None)
    for table, rows in written.items():
        click.echo(f"{table}: {count_of(rows, 'row')} in {folder / table}.lance")
