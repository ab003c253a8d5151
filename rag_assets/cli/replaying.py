"""`rag replay`: make an evidence pack again from its publication, or an answer from its record."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_assets.cli.failing import DONE, FAILED
from rag_assets.cli.options import json_option, open_workspace, print_json

if TYPE_CHECKING:
    from rag_assets.evidence import Replay

# How the files of `rag ask` are called, and those of `rag ask --law`.
_ANSWERS, _LAW_ANSWERS = "answer_v", "law_answer_v"


@click.command(
    help="Make the evidence pack PACK (.md or .json) again from the publication that it names, and "
    "compare Markdown and JSON byte for byte; an answer of `rag ask` from its own record, without "
    "a model or a search. Exit code 0: the same; 1: it says which field or line differs; 3: it "
    "cannot be made again, and why."
)
@click.argument("pack", type=click.Path(path_type=Path))
@json_option
def replay(pack: Path, as_json: bool) -> None:
    """Print whether the pack is the same."""
    found = _made_again(pack)
    if as_json:
        print_json({**dataclasses.asdict(found), "same": found.is_same})
    elif found.is_same:
        asked = ", ".join(found.publications)
        click.echo(f"{found.pack}: the same, byte for byte, Markdown and JSON; made from {asked}.")
    else:
        click.echo(f"{found.pack}: not the same.")
        for sentence in found.differences:
            click.echo(f"  {sentence}")
    click.get_current_context().exit(DONE if found.is_same else FAILED)


def _made_again(path: Path) -> "Replay":
    if path.name.startswith(_ANSWERS):
        from rag_assets.answering import replay_stored

        return replay_stored(path)
    if path.name.startswith(_LAW_ANSWERS):
        from rag_assets.answering.law import replay_stored_law

        return replay_stored_law(path)
    from rag_assets.evidence import replay as make_again

    return make_again(open_workspace(), path)
