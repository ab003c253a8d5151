"""`rag ask`: a question about papers becomes an answer of which every sentence was checked."""

import time
from typing import TYPE_CHECKING

import click

from rag_assets.cli.options import json_option, open_workspace, print_json, read_models_ahead
from rag_assets.cli.summaries import full_option, summarise_answer

if TYPE_CHECKING:
    from rag_assets.answering import PolicyChoice


@click.command(
    help="Answer QUESTION with sentences that were checked against the passages that they cite. "
    "With a language model (`llm`) it searches, looks and searches again, at most "
    "answer.max_iterations times; without one, sentences of the sources answer, word for word."
)
@click.argument("question")
@click.option(
    "--namespace",
    "-n",
    "names",
    multiple=True,
    metavar="NAME",
    help="Search only this namespace; may be repeated.",
)
@click.option("--doc", "doc_id", metavar="DOC_UID", help="The one paper that is meant.")
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="CONDITION",
    help="Search only what meets this, as for `rag query`: year>=2020, tag=…; may be repeated.",
)
@click.option(
    "--policy",
    type=click.Choice(["rules", "model"]),
    help="Who searches and answers: rules quote, the model of `llm` writes. Else answer.policy.",
)
@click.option("--no-agent", "is_single", is_flag=True, help="Search once, and no further time.")
@full_option
@json_option
def ask(
    question: str,
    names: tuple[str, ...],
    doc_id: str | None,
    filters: tuple[str, ...],
    policy: "PolicyChoice | None",
    is_single: bool,
    is_full: bool,
    as_json: bool,
) -> None:
    """Make the answer, store it and print it."""
    workspace = open_workspace()
    read_models_ahead(workspace)
    from rag_assets.answering import answer_to_json, ask_papers

    outcome = ask_papers(
        workspace, question, clock=time.monotonic, doc_id=doc_id, namespaces=names,
        filters=filters, mode="single" if is_single else "agent", policy=policy,
        notify=lambda sentence: click.echo(sentence, err=True),
    )  # fmt: skip
    if as_json:
        print_json(answer_to_json(outcome.answer))
    elif is_full:
        click.echo(outcome.markdown.read_text(encoding="utf-8"))
    else:
        click.echo(summarise_answer(outcome.answer))
    click.echo(f"saved: {outcome.markdown}", err=True)
