"""`rag eval assertions`: whether strong assertions are told from others."""

import json
from pathlib import Path

import click

from rag_assets.cli.failing import DONE, FAILED
from rag_assets.cli.options import OutputPath, write_output
from rag_assets.cli.progress import shown_progress


@click.command(
    short_help="How well causal and comparing sentences are told.",
    help="Type the sentences in FILES (JSON lines with sentence, label, set) and compare: F1 of "
    "causal detection (CAUSAL and CONDITIONAL_CAUSAL against the rest) and of comparisons (BETTER "
    "and WORSE against the rest), and the share of hedged sentences that are flagged as strong.",
)
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
)  # fmt: skip
@click.option(
    "--json", "out", type=OutputPath(), metavar="OUT",
    help="Write the figures to this file as JSON.",
)  # fmt: skip
def assertions(files: tuple[Path, ...], out: Path | None) -> None:
    """Print the figures of each set."""
    from rag_assets.evaluation.assertions import evaluate_assertions

    with shown_progress() as progress:
        report = evaluate_assertions(files, progress)
    if out is not None:
        written = json.dumps(report.to_json(), ensure_ascii=False, indent=1)
        write_output(out, f"{written}\n".encode())
    click.echo(report.render())
    click.get_current_context().exit(FAILED if report.failures else DONE)
