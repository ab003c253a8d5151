"""What searching again brings, and what the citations of answers are worth."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

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
from rag_assets.model import UsageError

if TYPE_CHECKING:
    from rag_assets.workspace import Settings


@click.command(
    "eval_agent",
    cls=ExplainedErrors,
    short_help="What the agent of `rag ask` finds and cites, beside one search.",
    help="Build a library of each set in PATH, ask its questions once and by the agent of `rag "
    "ask`, and print what each finds, with 95 % intervals and paired differences: of papers "
    "(papers.jsonl, evidence by paragraph) nDCG@10 and R@5; of a "
    "BEIR set whose questions need several documents how often all of them stand in the first "
    "ten. Beside them steps, seconds, and citations that are looked up, not judged: whether the "
    "words stand at the cited place, and whether that is evidence. Rules search and answer; with "
    "--live the language model of `llm`, which may cost money. Exit code 1 where a quote does not "
    "stand where it is cited.",
)
@click.argument("path", metavar="PATH", type=click.Path(exists=True, path_type=Path))
@click.option("--live", is_flag=True, help="Ask the configured language model (llm, role agent).")
@click.option(
    "--workspace", "folder", metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Take the settings, of the language model too, from this workspace, not from --config.",
)  # fmt: skip
@out_option
@config_option
@limit_option
@cache_option
@no_cache_option
def eval_agent(
    path: Path, live: bool, folder: Path | None, out: Path | None, config: Path | None,
    limit: int | None, cache: Path | None, is_forgotten: bool,
) -> None:  # fmt: skip
    """Print the figures."""
    from benchmarks.evaluating.agent import evaluate_agent, open_live_model

    settings = _settings(folder, config)
    model = open_live_model(settings) if live else None
    notify(f"asked: {model.name if model is not None else 'rules; no language model is asked'}")
    with shown_progress() as progress:
        report = evaluate_agent(
            path,
            settings,
            limit=limit,
            cache=chosen_cache(cache, is_forgotten),
            model=model,
            notify=notify,
            on_progress=progress,
        )
    finish(report, out)


def _settings(folder: Path | None, config: Path | None) -> "Settings":
    from rag_assets.workspace import Workspace, shipped_settings

    if folder is None:
        return shipped_settings(config)
    if config is not None:
        raise UsageError("--config and --workspace: give one of the two.")
    return Workspace.open(folder).settings


if __name__ == "__main__":
    eval_agent()
