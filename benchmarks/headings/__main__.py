"""`python -m benchmarks.headings`: how well headings, titles and abstracts of papers are read."""

from pathlib import Path

import click

from benchmarks.headings.measuring import (
    describe_document,
    describe_misses,
    evaluate_headings,
)
from benchmarks.headings.readers import stored_reader
from rag_assets.cli.evaluating import config_option, finish, out_option
from rag_assets.cli.options import ExplainedErrors
from rag_assets.cli.progress import shown_progress
from rag_assets.model import UsageError
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
@click.option(
    "--compare", "compared", multiple=True, metavar="NAME=FILE",
    help="Another reader's stored readings, scored on the rows that it has read; may be repeated.",
)  # fmt: skip
@click.option("--misses", is_flag=True, help="List every missed and false heading, by document.")
@click.option(
    "--show", "shown", multiple=True, metavar="TEXT",
    help="Print all about the documents whose file name holds TEXT; may be repeated.",
)  # fmt: skip
def headings(
    files: tuple[Path, ...],
    out: Path | None,
    config: Path | None,
    compared: tuple[str, ...],
    misses: bool,
    shown: tuple[str, ...],
) -> None:
    """Print the figures and the documents, the worst first."""
    readers = []
    for pair in compared:
        name, equals, file = pair.partition("=")
        if not (name and equals and file):
            raise UsageError(f"--compare: write NAME=FILE, got {pair!r}.")
        readers.append(stored_reader(name, Path(file)))
    with shown_progress() as progress:
        outcome = evaluate_headings(files, shipped_settings(config), readers, progress)
    wanted = [score for score in outcome.scores if any(text in score.row.name for text in shown)]
    if shown and not wanted:
        raise UsageError(f"--show: no document's name holds {' or '.join(map(repr, shown))}.")
    for score in wanted:
        click.echo(f"{describe_document(score)}\n")
    if misses:
        for score in sorted(outcome.scores, key=lambda each: each.row.name):
            click.echo(f"{describe_misses(score)}\n")
    finish(outcome.report, out)


if __name__ == "__main__":
    headings()
