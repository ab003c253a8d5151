"""`rag calibrate`: measure a reader on sentences of known truth and keep its thresholds."""

from pathlib import Path

import click

from rag_assets.cli.measuring import config_option, finish, out_option
from rag_assets.cli.progress import shown_progress
from rag_assets.judging.calibrating import MOST_WRONG


@click.command(
    short_help="Fit a reader's thresholds on labelled sentences.",
    help="Ask the reader of verify.scorer about the sentences in FILE (drafts with known truth, as "
    "`rag eval claims` reads them), fit curve and thresholds by folds over the sources, and keep "
    "them for all workspaces of this machine. Needs no workspace.",
)
@click.argument(
    "file", metavar="FILE", type=click.Path(dir_okay=False, exists=True, path_type=Path)
)
@click.option(
    "--scorer", type=click.Choice(["reader", "llm"]), help="In the place of verify.scorer."
)
@click.option(
    "--sources", multiple=True, metavar="PLACE", type=click.Path(exists=True, path_type=Path),
    help="A folder, or an archive (tar), with the cited files; may be repeated: show the reader "
    "what is found of them, as an audit does, and not the quotations.",
)  # fmt: skip
@click.option(
    "--wrong", type=click.FloatRange(0, 1), default=MOST_WRONG, show_default=True,
    metavar="SHARE", help="Of the unsupported sentences at most so many may come out OK.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Print the figures; keep nothing.")
@config_option
@out_option
def calibrate(
    file: Path, scorer: str | None, sources: tuple[Path, ...], wrong: float, dry_run: bool,
    config: Path | None, out: Path | None,
) -> None:  # fmt: skip
    """Print the figures and say where they are kept."""
    from typing import cast

    from rag_assets.evaluation import calibrate as measure
    from rag_assets.evaluation import with_scorer
    from rag_assets.judging import keep_fit
    from rag_assets.settings import ScorerName
    from rag_assets.workspace import shipped_settings

    settings = with_scorer(shipped_settings(config), cast("ScorerName | None", scorer))
    with shown_progress() as progress:
        found = measure(file, settings, sources, wrong, progress)
    if not dry_run:
        click.echo(f"kept: {keep_fit(found.fit)}")
    finish(found.report, out)
