"""`rag export-used-sources`: what a pack, an audit or a draft uses, for Zotero and others."""

from datetime import date
from pathlib import Path

import click

from rag_assets.cli.options import json_option, open_workspace, print_json
from rag_assets.model import count_of

_FORMATS = ("markdown", "csl", "bibtex", "ris")


@click.command(
    help="Write the references of the documents that FILE uses to outputs/used_sources_v###: "
    "Markdown, CSL-JSON, BibTeX and RIS. FILE: a draft, an evidence pack or an audit; without it "
    "the latest pack."
)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(_FORMATS),
    help="Only this format; may be repeated. Without it: all four.",
)
@json_option
def export_used_sources(file: Path | None, formats: tuple[str, ...], as_json: bool) -> None:
    """Print where the references lie, and what is missing in them."""
    from rag_assets.evidence.bibliography import export_used_sources as export

    workspace = open_workspace()

    def notify(sentence: str) -> None:
        click.echo(sentence, err=True)

    if file is not None and _is_draft(file):
        from rag_assets.auditing import export_cited_sources

        done = export_cited_sources(
            workspace, file, formats=formats, as_of=date.today(), notify=notify
        )
    else:
        done = export(workspace, file, formats=formats, notify=notify)
    if as_json:
        print_json(
            {
                "used_by": done.used_by,
                "is_new": done.is_new,
                "doc_uids": [one.doc_uid for one in done.references],
                "files": [str(path) for path in done.files.values()],
                "notes": list(done.notes),
                "missing": {one.doc_uid: list(one.missing) for one in done.references},
            }
        )
        return
    for note in done.notes:
        click.echo(f"WARN: {note}", err=True)
    for one in done.references:
        if one.missing:
            click.echo(f"{one.doc_uid}: not found: {', '.join(one.missing)}", err=True)
    click.echo(f"{count_of(len(done.references), 'source')} of {done.used_by}:")
    for path in done.files.values():
        click.echo(f"  {path}")


def _is_draft(file: Path) -> bool:
    """Tell a draft from an output: that has its JSON beside it."""
    from rag_assets.auditing import DRAFT_SUFFIXES

    is_output = file.with_suffix(".json").is_file()
    return file.is_file() and file.suffix.lower() in DRAFT_SUFFIXES and not is_output
