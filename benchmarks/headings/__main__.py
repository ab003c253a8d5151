"""`python -m benchmarks.headings`: how well headings, titles and abstracts of papers are read."""

from pathlib import Path

import click

from benchmarks.headings.measuring import describe_misses, evaluate_headings
from rag_assets.cli.evaluating import config_option, finish, out_option
from rag_assets.cli.options import ExplainedErrors
from rag_assets.cli.progress import shown_progress
from rag_assets.workspace import shipped_settings


@click.command(
    cls=ExplainedErrors,
    help="Compare the headings, title, abstract and number of references of papers with the truth "
    "in FILES: one JSON object a line with pdf (relative to its file), title, headings, abstract, "
    "n_references, optional.",
)
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
)  # fmt: skip
@out_option
@config_option
@click.option("--misses", is_flag=True, help="List every missed and false heading, by document.")
def headings(
    files: tuple[Path, ...],
    out: Path | None,
    config: Path | None,
    misses: bool,
) -> None:
    """Print the figures and the documents, the worst first."""
    with shown_progress() as progress:
        outcome = evaluate_headings(files, shipped_settings(config), progress)
    if misses:
        for score in sorted(outcome.scores, key=lambda each: each.row.name):
            click.echo(f"{describe_misses(score)}\n")
    finish(outcome.report, out)


if __name__ == "__main__":
    headings()
