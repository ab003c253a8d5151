"""`rag eval assertions`: whether strong assertions are told from others."""

from pathlib import Path

import click

from rag_assets.cli.measuring import finish, out_option
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
@out_option
def assertions(files: tuple[Path, ...], out: Path | None) -> None:
    """Print the figures of each set."""
    from rag_assets.evaluation.assertions import evaluate_assertions

    with shown_progress() as progress:
        report = evaluate_assertions(files, progress)
    finish(report, out)
