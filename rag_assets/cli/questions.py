"""`rag query`: a question becomes an evidence pack."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_assets.cli.options import json_option, open_workspace, print_json
from rag_assets.model import UsageError

if TYPE_CHECKING:
    from rag_assets.evidence import EvidencePack


@click.command(
    help="Answer QUESTION with an evidence pack: passages that may be cited, and where they stand."
)
@click.argument("question", required=False)
@click.option(
    "--file",
    "file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Ask the question of this file (YAML with `question:`, or plain text).",
)
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
    "--explain",
    "explains",
    is_flag=True,
    help="Say of every item which searcher found it, and why.",
)
@json_option
def query(
    question: str | None,
    file: Path | None,
    names: tuple[str, ...],
    top_k: int | None,
    filters: tuple[str, ...],
    explains: bool,
    as_json: bool,
) -> None:
    """Make the pack, print it, then record it as a materialization of `evidence_packs`."""
    from rag_assets.evidence import Question, ask, pack_to_json, read_question

    workspace = open_workspace()
    for name in names:
        workspace.namespace(name)
    if (question is None) == (file is None):
        raise click.UsageError("give a QUESTION or --file, one of the two.")
    if file is not None and (names or top_k or filters):
        raise UsageError(f"{file}: with --file, namespaces, top_k and filters stand in the file.")
    asked = (
        read_question(file)
        if file is not None
        else Question(question=question or "", namespaces=names, top_k=top_k, filters=filters)
    )
    outcome = ask(workspace, asked, notify=lambda sentence: click.echo(sentence, err=True))
    if as_json:
        print_json({"file": str(outcome.markdown), **pack_to_json(outcome.pack)})
    else:
        click.echo(outcome.markdown.read_text(encoding="utf-8"))
        if explains:
            click.echo(_explained(outcome.pack))
        click.echo(f"saved: {outcome.markdown}", err=True)
    # The pack is on the screen by now: Dagster's import is paid for after the answer.
    from rag_assets.running import record_pack

    record_pack(workspace, outcome)


def _explained(pack: "EvidencePack") -> str:
    from rag_assets.retrieval.explaining import explain

    blocks = []
    for item in pack.items:
        lines = explain(item.explanation).splitlines()
        blocks.append(
            "\n".join([f"{item.rank}. {item.chunk_id}", *(f"   {line}" for line in lines)])
        )
    return "\n".join(blocks)
