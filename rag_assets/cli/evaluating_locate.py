"""`rag eval locate`: whether the ranking within a cited document finds what was meant."""

from pathlib import Path

import click

from rag_assets.cli.measuring import finish, out_option
from rag_assets.cli.progress import shown_progress


@click.command(
    "locate",
    short_help="How well the passage behind a citation is found.",
    help="Rank the sentences of cited documents for citing sentences, as rag verify-citations "
    "ranks passages: share found among the first 1, 3, 5 and 10, and mean reciprocal rank. DIR "
    "holds NAME.jsonl (citing_sentence, reference_paper_id, cited_ids) and NAME_refs.jsonl.",
)
@click.argument("folder", metavar="DIR", type=click.Path(
    exists=True, file_okay=False, path_type=Path))  # fmt: skip
@out_option
def locate(folder: Path, out: Path | None) -> None:
    """Print the figures of each set."""
    from rag_assets.evaluation.locating import evaluate_locating

    with shown_progress() as progress:
        report = evaluate_locating(folder, progress)
    finish(report, out)
