"""`rag query`: a question becomes an evidence pack, or a list of papers."""

from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_assets.cli.answers import answer_file, file_option, print_answer, question_or_file
from rag_assets.cli.options import (
    as_of_option,
    json_option,
    open_workspace,
    print_json,
    project_option,
    read_models_ahead,
)
from rag_assets.cli.summaries import full_option, summarise_pack
from rag_assets.model import UsageError

if TYPE_CHECKING:
    from rag_assets.evidence import EvidencePack, Mode


@click.command(
    help="Answer QUESTION with an evidence pack: passages that may be cited, and where they stand."
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
@click.option("--top-k", type=click.IntRange(1, 1000), help="Items at most; else retrieve.top_k.")
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="CONDITION",
    help="Search only what meets this: year>=2020, year=2019..2021, source_type=…, "
    "source_subtype=…, doc_uid=a,b, section_category=method, tag=…, language=zh; may be repeated.",
)
@click.option(
    "--mode",
    type=click.Choice(["evidence", "papers"]),
    default="evidence",
    show_default=True,
    help="evidence: passages. papers: the hits of the last pack of this question grouped by "
    "document, without a search.",
)
@as_of_option
@click.option(
    "--all-versions",
    is_flag=True,
    help="Of laws also find wordings in whose place another is in force; marked as such.",
)
@click.option(
    "--html",
    "page",
    is_flag=True,
    help="Also write the pack as a page that shows each quote on its page of the source.",
)
@click.option(
    "--json-schema",
    "shows_schema",
    is_flag=True,
    help="Print the JSON Schema of a pack's JSON, and ask nothing.",
)
@click.option(
    "--explain",
    "explains",
    is_flag=True,
    help="Say of every item which searcher found it, and why.",
)
@project_option
@full_option
@json_option
def query(
    question: str | None,
    file: Path | None,
    names: tuple[str, ...],
    top_k: int | None,
    filters: tuple[str, ...],
    mode: "Mode",
    as_of: datetime | None,
    all_versions: bool,
    page: bool,
    shows_schema: bool,
    explains: bool,
    is_full: bool,
    as_json: bool,
) -> None:
    """Make the pack and print it; the next run makes a materialization of it."""
    if shows_schema:
        from rag_assets.evidence import pack_schema

        print_json(pack_schema())
        return
    workspace = open_workspace()
    text, file = question_or_file(question, file)
    from rag_assets.desk import DeskClient

    desk = DeskClient.find(workspace) if file is None else None
    if desk is None:
        read_models_ahead(workspace)
    from rag_assets.evidence import Question, ask, note_pack, pack_to_json, read_question

    for name in names:
        workspace.namespace(name)
    if file is not None and (
        names or top_k or filters or mode != "evidence" or as_of or all_versions
    ):
        raise UsageError(
            f"{file}: with --file, namespaces, top_k, filters, mode, as_of and all_versions stand "
            "in the file."
        )
    saved = read_question(file) if file is not None else None
    if saved is not None and saved.question.mode == "answer":
        if page or explains:
            raise UsageError(f"{file}: asks for an answer; --html and --explain are of packs.")
        answered = answer_file(workspace, saved)
        print_answer(answered, shows_route=False, is_full=is_full, as_json=as_json)
        return
    asked = (
        saved
        if saved is not None
        else Question(
            question=text,
            namespaces=names,
            top_k=top_k,
            filters=filters,
            mode=mode,
            as_of=as_of.date() if as_of is not None else None,
            all_versions=all_versions,
        )
    )
    if desk is not None and isinstance(asked, Question):
        fields = asked.model_dump(include=set(DeskClient.OF_PACKS))
        outcome = desk.query(_tell, html=page, **fields)
    else:
        outcome = ask(workspace, asked, html=page, today=date.today(), notify=_tell)
    for sentence in outcome.told:
        click.echo(f"warning: {' '.join(sentence.split())}", err=True)
    if as_json:
        print_json(pack_to_json(outcome.pack))
    else:
        shows_all = is_full or outcome.pack.mode == "papers"
        click.echo(
            outcome.markdown.read_text(encoding="utf-8")
            if shows_all
            else summarise_pack(outcome.pack, outcome.told)
        )
        if explains:
            click.echo(_explained(outcome.pack))
    files = [outcome.markdown, *([outcome.html] if outcome.html else [])]
    click.echo(f"saved: {', '.join(map(str, files))}", err=True)
    note_pack(workspace, outcome)


def _tell(sentence: str) -> None:
    click.echo(sentence, err=True)


def _explained(pack: "EvidencePack") -> str:
    from rag_assets.retrieval import explain

    blocks = []
    for item in pack.items:
        lines = explain(item.explanation).splitlines()
        blocks.append(
            "\n".join([f"{item.rank}. {item.chunk_id}", *(f"   {line}" for line in lines)])
        )
    return "\n".join(blocks)
