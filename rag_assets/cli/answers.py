"""`rag ask`: a question becomes an answer of which every sentence was checked."""

import time
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from rag_assets.cli.options import (
    as_of_option,
    json_option,
    open_workspace,
    print_json,
    read_models_ahead,
)
from rag_assets.cli.routing import print_route
from rag_assets.cli.summaries import full_option, summarise_answer, summarise_law_answer
from rag_assets.model import UsageError

if TYPE_CHECKING:
    from rag_assets.answering import AnswerOutcome, PolicyChoice
    from rag_assets.evidence import SavedQuestion
    from rag_assets.workspace import Workspace

file_option = click.option(
    "--file",
    "file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Ask the question of this file (YAML with `question:`, or plain text); the name of a file "
    "in place of QUESTION does the same.",
)


@click.command(
    help="Answer QUESTION with sentences that were checked against the passages that they cite. "
    "With a language model (`llm`) it searches, looks and searches again, at most "
    "answer.max_iterations times; without one, sentences of the sources answer, word for word. "
    "With --law the statutes of the library answer: points with the articles that say them, each "
    "shown whole, provisions that conflict, and the ranks that apply; without a model the articles "
    "themselves."
)
@click.argument("question", required=False)
@file_option
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
@click.option("--law", "is_law", is_flag=True, help="Answer by statutes, article by article.")
@as_of_option
@click.option("--no-agent", "is_single", is_flag=True, help="Search once, and no further time.")
@click.option(
    "--route",
    "shows_route",
    is_flag=True,
    help="Also print what the question was taken to ask for, and who decided; JSON always has it.",
)
@full_option
@json_option
def ask(
    question: str | None,
    file: Path | None,
    names: tuple[str, ...],
    doc_id: str | None,
    filters: tuple[str, ...],
    policy: "PolicyChoice | None",
    is_law: bool,
    as_of: datetime | None,
    is_single: bool,
    shows_route: bool,
    is_full: bool,
    as_json: bool,
) -> None:
    """Make the answer, store it and print it."""
    if is_law and (doc_id is not None or filters):
        raise UsageError("--doc and --filter are for papers: leave them out with --law.")
    if as_of is not None and not is_law:
        raise UsageError("--as-of is the day of laws: add --law.")
    workspace = open_workspace()
    text, file = question_or_file(question, file)
    from rag_assets.desk import DeskClient

    desk = DeskClient.find(workspace) if file is None and not is_law else None
    if desk is None:
        read_models_ahead(workspace)
    mode: Literal["single", "agent"] = "single" if is_single else "agent"
    if is_law:
        if file is not None:
            raise UsageError(f"{file}: files ask about papers; type the question of --law.")
        # The one place here that knows what day it is.
        day = as_of.date() if as_of is not None else date.today()
        _ask_law(workspace, text, day, names, policy, mode, is_full=is_full, as_json=as_json)
        return
    if file is not None:
        if names or doc_id or filters or policy or is_single:
            raise UsageError(
                f"{file}: with a file, namespaces, doc, filters, policy and agentic stand in it."
            )
        from rag_assets.evidence import read_question

        outcome = answer_file(workspace, read_question(file))
    elif desk is not None:
        outcome = desk.ask(
            _tell, question=text, doc_id=doc_id, namespaces=names, filters=filters, mode=mode,
            policy=policy,
        )  # fmt: skip
    else:
        from rag_assets.answering import ask_papers

        outcome = ask_papers(
            workspace, text, clock=time.monotonic, doc_id=doc_id, namespaces=names,
            filters=filters, mode=mode, policy=policy, notify=_tell,
        )  # fmt: skip
    print_answer(outcome, shows_route=shows_route, is_full=is_full, as_json=as_json)


def answer_file(workspace: "Workspace", saved: "SavedQuestion") -> "AnswerOutcome":
    """Answer the question of a file; the next run makes a materialization of the answer."""
    from rag_assets.answering import answer_saved, note_answer

    outcome = answer_saved(workspace, saved, notify=_tell)
    note_answer(workspace, outcome)
    return outcome


def print_answer(
    outcome: "AnswerOutcome", *, shows_route: bool, is_full: bool, as_json: bool
) -> None:
    """Print an answer, and where it lies."""
    from rag_assets.answering import answer_to_json

    if shows_route and not as_json:
        print_route(outcome.answer.route)
        click.echo("")
    if as_json:
        print_json(answer_to_json(outcome.answer))
    elif is_full:
        click.echo(outcome.markdown.read_text(encoding="utf-8"))
    else:
        click.echo(summarise_answer(outcome.answer))
    click.echo(f"saved: {outcome.markdown}", err=True)


def question_or_file(question: str | None, file: Path | None) -> tuple[str, Path | None]:
    """Return the text of a question, or the file that asks it.

    Raises:
        UsageError: both are given, or neither.
    """
    from rag_assets.evidence.question import SUFFIXES

    if (question is None) == (file is None):
        raise click.UsageError("give a QUESTION or --file, one of the two.")
    if question is not None and question.endswith(SUFFIXES) and Path(question).is_file():
        return "", Path(question)
    return question or "", file


def _ask_law(
    workspace: "Workspace",
    question: str,
    day: date,
    names: tuple[str, ...],
    policy: "PolicyChoice | None",
    mode: Literal["single", "agent"],
    *,
    is_full: bool,
    as_json: bool,
) -> None:
    from rag_assets.answering.law import ask_statutes, law_answer_to_json

    outcome = ask_statutes(
        workspace, question, day, clock=time.monotonic, namespaces=names, mode=mode,
        policy=policy, notify=_tell,
    )  # fmt: skip
    if as_json:
        print_json(law_answer_to_json(outcome.answer))
    elif is_full:
        click.echo(outcome.markdown.read_text(encoding="utf-8"))
    else:
        click.echo(summarise_law_answer(outcome.answer))
    click.echo(f"saved: {outcome.markdown}", err=True)


def _tell(sentence: str) -> None:
    click.echo(sentence, err=True)
