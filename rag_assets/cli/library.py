"""`rag library`: bibliographies of the user, and the files that they name."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_assets.cli.options import json_option, open_workspace, print_result
from rag_assets.model import count_of

if TYPE_CHECKING:
    from rag_assets.knowledge.importing import ImportedBibliography

# Entries without a document that are printed; `--json` has all of them.
_SHOWN = 20


@click.group(help="Import bibliographies and the files that their entries name.")
def library() -> None:
    """Group of the commands about bibliographies."""


@library.command(
    "import",
    help="Copy BibTeX, CSL-JSON, RIS or Zotero RDF files into bibliographies/, so that drafts can "
    "cite their keys, and say which entries have a document. FILE may be the folder that Zotero "
    "makes with “Export Files”. A file of the same name is replaced.",
)
@click.argument(
    "paths", metavar="FILE...", nargs=-1, required=True,
    type=click.Path(path_type=Path, exists=True),
)  # fmt: skip
@click.option(
    "--files", "with_files", is_flag=True,
    help="Also copy the file that each entry names into raw/, with a sidecar (title, authors, "
    "year, DOI, citation key). `rag ingest` makes them part of the library.",
)  # fmt: skip
@click.option(
    "--namespace", "-n", "name", metavar="NAME",
    help="The namespace that gets the files; needed where there are several.",
)  # fmt: skip
@json_option
def library_import(
    paths: tuple[Path, ...], with_files: bool, name: str | None, as_json: bool
) -> None:
    """Import, and print what pairs."""
    from rag_assets.knowledge.importing import import_bibliographies

    workspace = open_workspace()
    into = None
    if with_files:
        names = [name] if name else workspace.namespace_names
        if len(names) != 1:
            raise click.UsageError(
                f"name the namespace that gets the files: --namespace {' or '.join(names)}."
            )
        into = workspace.namespace(names[0])
    found = import_bibliographies(workspace, paths, files_into=into)
    lines = (line for one in found for line in _lines(one))
    print_result(as_json, [_to_json(one) for one in found], *lines)


def _lines(one: "ImportedBibliography") -> Iterator[str]:
    count = len(one.entries)
    noun = "entry" if count == 1 else "entries"
    replaced = ", replaced" if one.is_replaced else ""
    yield f"{one.source.name}: {count} {noun}, copied to {one.path}{replaced}"
    states = Counter(pairing.state for _, pairing in one.entries if pairing is not None)
    if not states:
        yield "  nothing is published yet: run `rag ingest`, then `rag references DRAFT`"
    else:
        yield (
            f"  {states['paired']} have a document, {states['unsure']} are unsure, "
            f"{states['unpaired']} are not in the library"
        )
    rest = [(entry, pairing) for entry, pairing in one.entries if pairing and not pairing.document]
    for entry, pairing in rest[:_SHOWN]:
        why = f" ({pairing.reason})" if pairing and pairing.reason else ""
        yield f"    {entry.label}  {entry.text[:100]}{why}"
    if len(rest) > _SHOWN:
        yield f"    … and {len(rest) - _SHOWN} more: --json"
    if one.added or one.known or one.missing:
        yield (
            f"  {count_of(len(one.added), 'file')} copied into raw/, {len(one.known)} there "
            f"already, {len(one.missing)} not copied"
        )
        yield from (f"    {sentence}" for sentence in one.missing)
    if one.added:
        yield "  Next: rag ingest"


def _to_json(one: "ImportedBibliography") -> dict[str, object]:
    return {
        "source": str(one.source),
        "file": str(one.path),
        "is_replaced": one.is_replaced,
        "entries": [
            {"key": entry.label, "text": entry.text, "pairing": pairing and asdict(pairing)}
            for entry, pairing in one.entries
        ],
        "added": [str(path) for path in one.added],
        "known": [str(path) for path in one.known],
        "missing": list(one.missing),
    }
