"""`rag query`, `ask`, `desk`, `replay`, `export-used-sources`, `mcp`: questions to a library."""

import getpass
import json
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
    project_option,
    read_models_ahead,
)
from rag_assets.cli.summaries import (
    full_option,
    print_replay,
    summarise_answer,
    summarise_law_answer,
    summarise_pack,
)
from rag_assets.model import UsageError, count_of

if TYPE_CHECKING:
    from rag_assets.answering import AnswerOutcome, PolicyChoice
    from rag_assets.evidence import EvidencePack, Mode, SavedQuestion
    from rag_assets.workspace import Workspace

file_option = click.option(
    "--file",
    "file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Ask the question of this file (YAML with `question:`, or plain text); the same as giving "
    "the file's name as QUESTION.",
)

_namespace_option = click.option(
    "--namespace", "-n", "names", multiple=True, metavar="NAME",
    help="Search only this namespace; may be repeated.",
)  # fmt: skip


@click.command(
    help="Answer QUESTION with sentences checked against the passages they cite. With a language "
    "model (`llm`) it searches up to answer.max_iterations times; without one it quotes the "
    "sources. --law answers from the statutes of the library: points with whole articles, "
    "conflicting provisions and ranks; without a model, the articles themselves."
)
@click.argument("question", required=False)
@file_option
@_namespace_option
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
                f"{file}: with a file, set namespaces, doc, filters, policy and agentic in the "
                "file."
            )
        from rag_assets.evidence import read_question

        outcome = answer_file(workspace, read_question(file))
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
    """Print an answer, and its path."""
    from rag_assets.answering import answer_to_json

    if shows_route and not as_json:
        click.echo(json.dumps(outcome.answer.route.to_json(), ensure_ascii=False))
        click.echo(f"decided by {outcome.answer.route.origin}")
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


@click.command(
    help="Answer QUESTION with an evidence pack: passages that you may cite, with their places."
)
@click.argument("question", required=False)
@file_option
@_namespace_option
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
    help="Also find superseded wordings of laws, marked as such.",
)
@click.option(
    "--html",
    "page",
    is_flag=True,
    help="Also write the pack as a page that shows each quote on its page of the source.",
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
    explains: bool,
    is_full: bool,
    as_json: bool,
) -> None:
    """Make the pack and print it; the next run makes a materialization of it."""
    workspace = open_workspace()
    text, file = question_or_file(question, file)
    read_models_ahead(workspace)
    from rag_assets.evidence import Question, ask, note_pack, pack_to_json, read_question

    for name in names:
        workspace.namespace(name)
    if file is not None and (
        names or top_k or filters or mode != "evidence" or as_of or all_versions
    ):
        raise UsageError(
            f"{file}: with --file, set namespaces, top_k, filters, mode, as_of and all_versions in "
            "the file."
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


def _explained(pack: "EvidencePack") -> str:
    from rag_assets.retrieval import explain

    blocks = []
    for item in pack.items:
        lines = explain(item.explanation).splitlines()
        blocks.append(
            "\n".join([f"{item.rank}. {item.chunk_id}", *(f"   {line}" for line in lines)])
        )
    return "\n".join(blocks)


# How the files of `rag ask` are called, and those of `rag ask --law`.
_ANSWERS = ("answer_v", "law_answer_v")


@click.command(
    help="Make the evidence pack PACK (.md or .json) again from the publication that it names, and "
    "compare Markdown and JSON byte for byte; an answer of `rag ask` from its own record, without "
    "a model or a search. Exit code 0: the same; 1: different, with the field or line; 3: "
    "impossible, with the reason."
)
@click.argument("pack", type=click.Path(path_type=Path))
@json_option
def replay(pack: Path, as_json: bool) -> None:
    """Print whether the pack is the same."""
    if pack.name.startswith(_ANSWERS):
        from rag_assets.answering import replay_stored

        found = replay_stored(pack)
    else:
        from rag_assets.evidence import replay as make_again

        found = make_again(open_workspace(), pack)
    print_replay(found, as_json)


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

    if file is not None and _is_draft(file):
        from rag_assets.auditing import export_cited_sources

        done = export_cited_sources(
            workspace, file, formats=formats, as_of=date.today(), notify=_tell
        )
    else:
        done = export(workspace, file, formats=formats, notify=_tell)
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


@click.command(
    help="Open the desk: one web page for reading, checking, editing and asking. Serves until "
    "Ctrl-C."
)
@click.option(
    "--port", "-p", type=click.IntRange(0, 65535), default=8765, show_default=True,
    help="Port; 0 for any that is free.",
)  # fmt: skip
@click.option(
    "--host", default="127.0.0.1", show_default=True,
    help="Address to listen on. With another address than this machine's, anyone with the token "
    "can use the desk: put a TLS server in front.",
)  # fmt: skip
@click.option(
    "--allow-host", "further", multiple=True, metavar="NAME[:PORT]",
    help="Also answer to this host name, behind another server; may be repeated.",
)  # fmt: skip
@click.option("--person", help="Who sits here, for journals; else the name of this account.")
def desk(port: int, host: str, further: tuple[str, ...], person: str | None) -> None:
    """Serve the desk."""
    from rag_assets.desk import serve_desk

    serve_desk(
        open_workspace(),
        host=host,
        port=port,
        further_hosts=further,
        person=person or getpass.getuser(),
        now=datetime.now,
        begin=lambda address: click.echo(f"{address}\nCtrl-C ends the desk."),
    )


@click.command(
    help="Serve the workspace to an AI agent (MCP over stdio). The agent searches, reads, checks "
    "drafts and records its judgements of citations; it changes nothing else."
)
@click.option("--read-only", is_flag=True, help="Leave out record_verdict, which records them.")
def mcp(read_only: bool) -> None:
    """Answer on standard input and output until the client closes them."""
    from rag_assets.desk.mcp_server import serve_stdio

    serve_stdio(open_workspace(), read_only=read_only)
