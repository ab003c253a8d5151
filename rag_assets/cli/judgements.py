"""`rag judgements`: what people have decided on citations, kept in the journal."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_assets.cli.options import json_option, open_workspace, print_json

if TYPE_CHECKING:
    from rag_assets.auditing.judgements import Judgement


@click.group(
    help="What people have decided on citations: the machine's verdict accepted, or overridden, or "
    "the sentence marked for work. Kept in meta/journal/, shown in every later audit, and out of "
    "date with its sentence or with the content of its source."
)
def judgements() -> None:
    """Group of the commands on judgements."""


@judgements.command(
    "list", help="List the judgements that hold, those of DRAFT alone where one is given."
)
@click.argument("draft", required=False, type=click.Path(path_type=Path))
@click.option("--history", "is_whole", is_flag=True, help="Each that was ever made, in order.")
@json_option
def list_judgements(draft: Path | None, is_whole: bool, as_json: bool) -> None:
    """Print one a line, the oldest first."""
    from rag_assets.auditing.judgements import judgements_of, torn_judgement

    workspace = open_workspace()
    kept = judgements_of(workspace)
    torn = torn_judgement(workspace)
    if torn is not None:
        click.echo(f"warning: {torn}; it is left out.", err=True)
    every = kept.every if is_whole else kept.latest.values()
    chosen = sorted(
        (one for one in every if draft is None or one.draft == draft.name),
        key=lambda one: one.number,
    )
    if as_json:
        print_json([{"number": one.number} | asdict(one) for one in chosen])
        return
    for one in chosen:
        click.echo(_line(one))
    if not chosen:
        of = f" of {draft.name}" if draft is not None else ""
        click.echo(f"no judgement{of} yet: `rag desk` shows drafts and takes judgements.")


def _line(judgement: "Judgement") -> str:
    comment = f" ({' '.join(judgement.comment.split())})" if judgement.comment else ""
    return (
        f"{judgement.number}. {judgement.at[:10]} {judgement.by}: {judgement.decision}, "
        f"{{#{judgement.cites}}} in {judgement.draft}{comment}\n   {judgement.claim}"
    )
