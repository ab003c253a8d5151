"""`python -m benchmarks.qasper`: how well evidence is found within a paper (QASPER)."""

from pathlib import Path

import click

from benchmarks.qasper.measuring import evaluate_qasper
from rag_assets.cli.evaluating import (
    cache_option,
    chosen_cache,
    config_option,
    finish,
    limit_option,
    no_cache_option,
    notify,
    out_option,
)
from rag_assets.cli.options import ExplainedErrors
from rag_assets.cli.progress import shown_progress
from rag_assets.workspace import shipped_settings


@click.command(
    cls=ExplainedErrors,
    help="Build a library of the papers in FILE (one JSON object a line: paper_id, title, "
    "abstract, sections, questions with evidence), put each question to its own paper, and score "
    "the paragraphs found; beside it with section filters, with heading context and by each "
    "searcher alone.",
)
@click.argument("file", metavar="FILE", type=click.Path(
    exists=True, dir_okay=False, path_type=Path))  # fmt: skip
@out_option
@config_option
@limit_option
@cache_option
@no_cache_option
def qasper(
    file: Path,
    out: Path | None,
    config: Path | None,
    limit: int | None,
    cache: Path | None,
    is_forgotten: bool,
) -> None:
    """Print the figures of each way to search."""
    settings = shipped_settings(config)
    with shown_progress() as progress:
        report = evaluate_qasper(
            file, settings, limit=limit, cache=chosen_cache(cache, is_forgotten),
            notify=notify, on_progress=progress,
        )  # fmt: skip
    finish(report, out)


if __name__ == "__main__":
    qasper()
