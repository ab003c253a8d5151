"""What commands that measure share: their options, and how they end."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_assets.cli.failing import DONE, FAILED
from rag_assets.cli.options import OutputPath, write_output
from rag_assets.model import UsageError

if TYPE_CHECKING:
    from rag_assets.evaluation import EvaluationReport

out_option = click.option(
    "--json", "out", type=OutputPath(), metavar="OUT",
    help="Write the figures to this file as JSON.",
)  # fmt: skip
config_option = click.option(
    "--config", "--namespace-config", "config", metavar="FILE",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="Settings over the shipped ones, as in a workspace's config.yaml.",
)  # fmt: skip

cache_option = click.option(
    "--cache", "cache", type=OutputPath(is_folder=True), metavar="FOLDER",
    help="Keep built workspaces and vectors here; else in RAG_EVALUATION_CACHE, else in the "
    "user's cache folder.",
)  # fmt: skip
no_cache_option = click.option(
    "--no-cache", "is_forgotten", is_flag=True,
    help="Build everything anew in a temporary folder, and keep nothing.",
)  # fmt: skip
limit_option = click.option(
    "--limit", type=click.IntRange(1), metavar="N",
    help="Ask only the first N questions of a set; its corpus stays whole.",
)  # fmt: skip


def chosen_cache(given: Path | None, is_forgotten: bool) -> Path | None:
    """Return the folder that `--cache` and `--no-cache` ask for, None where nothing is kept.

    Raises:
        UsageError: both were given, or the folder is one of a workspace's own.
    """
    from rag_assets.evaluation import default_cache
    from rag_assets.workspace import require_free_place

    if is_forgotten and given is not None:
        raise UsageError("--cache and --no-cache: give one of the two.")
    if is_forgotten:
        return None
    chosen = given or default_cache()
    require_free_place(chosen)  # also one that the environment names
    return chosen.absolute()


def notify(sentence: str) -> None:
    """Tell what is being built, beside the figures."""
    click.echo(sentence, err=True)


def finish(report: "EvaluationReport", out: Path | None) -> None:
    """Print a report, write it where it is wanted, and leave with its exit code."""
    if out is not None:
        written = json.dumps(report.to_json(), ensure_ascii=False, indent=1)
        write_output(out, f"{written}\n".encode())
    click.echo(report.render())
    click.get_current_context().exit(FAILED if report.failures else DONE)
