"""`rag eval claims`: whether a scorer tells supported claims from others."""

from pathlib import Path

import click

from rag_assets.cli.options import OutputPath, shown_progress


@click.command(
    "claims",
    short_help="How well supported claims are told from others.",
    help="Judge the claims in FILES (one JSON object a line: claim, evidence as a list of texts, "
    "label; SUPPORT and ATTRIBUTABLE are supported, every other label is not) and compare with "
    "their labels, at the shipped threshold. Downloads nothing with the shipped scorers.",
)
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
)  # fmt: skip
@click.option(
    "--scorer", type=click.Choice(["auto", "facts", "similarity", "coverage", "nli", "llm"]),
    help="In the place of verify.scorer.",
)  # fmt: skip
@click.option(
    "--json", "out", type=OutputPath(), metavar="OUT",
    help="Write the figures to this file as JSON.",
)  # fmt: skip
@click.option(
    "--config", "--namespace-config", "config", metavar="FILE",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="Settings over the shipped ones, as in a workspace's config.yaml.",
)  # fmt: skip
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help="Judge only N rows of a file, drawn with a seed.",
)
def claims(
    files: tuple[Path, ...], scorer: str | None, out: Path | None, config: Path | None,
    limit: int | None,
) -> None:  # fmt: skip
    """Print the figures, by set and in all, with the calibration bins."""
    from typing import cast

    from rag_assets.cli.evaluating import _finish
    from rag_assets.evaluation.claims import evaluate_claims
    from rag_assets.workspace import shipped_settings
    from rag_assets.workspace.settings import ScorerName

    with shown_progress() as progress:
        report = evaluate_claims(
            files, shipped_settings(config), cast("ScorerName | None", scorer), limit, progress
        )
    _finish(report, out)
