"""`rag route`: what a question asks for, and the papers that it leads to."""

import json
from typing import TYPE_CHECKING, Any

import click

from rag_assets.cli.options import json_option, namespace_option, open_workspace, print_json

if TYPE_CHECKING:
    from rag_assets.retrieval.papers import Route, RoutedPapers


@click.command(
    help="Say what QUESTION asks for, and which papers it leads to. It asks for one paper or for "
    "a topic, and for some sections or for the whole text. A language model decides where `llm` "
    "names one, else rules do."
)
@click.argument("question")
@namespace_option
@json_option
def route(question: str, names: tuple[str, ...], as_json: bool) -> None:
    """Print the route (spec 002) and the papers."""
    from rag_assets.evidence import chat_model_of
    from rag_assets.retrieval import Retriever
    from rag_assets.retrieval.papers import route_papers

    workspace = open_workspace()
    with Retriever(workspace, names) as retriever:
        found = route_papers(retriever, question, llm=chat_model_of(workspace))
    if as_json:
        print_json(_to_json(found))
        return
    print_route(found.route)
    click.echo(_heading(found))
    for paper in found.papers:
        click.echo(f"  {paper}")
    for sentence in found.told:
        click.echo(f"warning: {sentence}", err=True)


def print_route(decided: "Route") -> None:
    """Print what a question asks for (spec 002), and who decided."""
    click.echo(json.dumps(decided.to_json(), ensure_ascii=False))
    click.echo(f"decided by {decided.origin}")


def _heading(found: "RoutedPapers") -> str:
    if found.track == "paper" and found.located is not None:
        return f"the paper that is meant, told by {found.located.by}:"
    if found.track == "undecided":
        return "papers that cannot be told apart:"
    return "the papers nearest to the topic:" if found.papers else "no paper was found"


def _to_json(found: "RoutedPapers") -> dict[str, Any]:
    return {
        "route": found.route.to_json(),
        "origin": found.route.origin,
        "track": found.track,
        "located_by": found.located.by if found.located else None,
        "papers": [
            {
                "namespace": paper.namespace,
                "doc_uid": paper.doc_uid,
                "title": paper.title,
                "year": paper.year,
            }
            for paper in found.papers
        ],
        "warnings": list(found.told),
    }
