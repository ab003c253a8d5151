"""`python -m benchmarks.chunking`: how well chunks hold the passages that answer questions."""

from pathlib import Path

import click

from benchmarks.chunking.measuring import evaluate_chunking
from rag_assets.cli.evaluating import config_option, finish, out_option
from rag_assets.cli.options import ExplainedErrors, OutputPath
from rag_assets.cli.progress import shown_progress
from rag_assets.workspace import shipped_settings


@click.command(
    cls=ExplainedErrors,
    help="Chunk the texts in DIR/corpora, search them for each question in DIR/questions.jsonl "
    "and score the characters of its references that the five best chunks hold, beside "
    "fixed-size, recursive and word-window splitters.",
)
@click.argument("folder", metavar="DIR", type=click.Path(
    exists=True, file_okay=False, path_type=Path))  # fmt: skip
@out_option
@config_option
@click.option(
    "--cache", type=OutputPath(is_folder=True), metavar="FOLDER",
    help="Keep vectors here by hash, so that a second run encodes only what is new.",
)  # fmt: skip
def chunking(folder: Path, out: Path | None, config: Path | None, cache: Path | None) -> None:
    """Print the figures by splitter and by corpus."""
    settings = shipped_settings(config)
    with shown_progress() as progress:
        report = evaluate_chunking(folder, settings, cache=cache, on_progress=progress)
    finish(report, out)


if __name__ == "__main__":
    chunking()
