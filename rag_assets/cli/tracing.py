"""`rag trace`: from a verdict or an item back to the bytes."""

import click

from rag_assets.cli.failing import DONE, FAILED
from rag_assets.cli.options import json_option, open_workspace, print_json


@click.command(
    help="Lead from NAME back to the bytes: verdict, claim, item, passage, parent, parse, file, "
    "each with the run, code and configuration that made it, and looked at again. NAME is an "
    "audit or pack with its row (chapter_citations_v001#3), a draft with a line "
    "(drafts/chapter.md:12), one of them alone for a line each, a citation id (kb:…), a chunk "
    "id, or a run of the laboratory with a recipe (RUN#1), for each of its grounds. Exit code 1 "
    "when a step no longer holds."
)
@click.argument("name")
@json_option
def trace(name: str, as_json: bool) -> None:
    """Print the chains that NAME names."""
    from rag_assets.tracing import chain_to_json, render_chain, render_overview
    from rag_assets.tracing import trace as trace_name

    chains = trace_name(open_workspace(), name)
    if as_json:
        print_json([chain_to_json(chain) for chain in chains])
    elif len(chains) == 1:
        click.echo(render_chain(chains[0]))
    else:
        click.echo(render_overview(chains))
        click.echo(f"One of them whole: rag trace '{chains[0].name}'")
    holds = all(chain.holds for chain in chains)
    click.get_current_context().exit(DONE if holds else FAILED)
