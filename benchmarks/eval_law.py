"""`python -m benchmarks.eval_law`: whether the articles of a vault of laws are found."""

from datetime import datetime
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
from rag_assets.cli.options import ExplainedErrors, as_of_option
from rag_assets.cli.progress import shown_progress
from rag_assets.model import UsageError

if TYPE_CHECKING:
    from rag_assets.workspace import Namespace

_TEMPLATE = "law"


@click.command(
    "eval_law",
    cls=ExplainedErrors,
    short_help="How well articles of laws are found, by number and by question.",
    help="Build a library of the Markdown files in VAULT with the template `law`, ask it what lies "
    "in --queries, and print the share of the articles asked for that are there, how often a "
    "look-up has its article first and how often a wrong one is given as the one that it names, "
    "and Recall, nDCG and MRR by article with 95 % intervals, each searcher alone beside the "
    "whole. Exit code 1 where articles are missing or a wrong one is given as named.",
)
@click.argument("vault", required=False, metavar="VAULT", type=click.Path(
    exists=True, file_okay=False, path_type=Path))  # fmt: skip
@click.option(
    "--queries", required=True, metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with stard/ (queries.jsonl, qrels/test.tsv, alternatives.tsv), lookups.jsonl, or "
    "both; articles are named path.md#第X条.",
)  # fmt: skip
@click.option(
    "--exclude", multiple=True, metavar="GLOB",
    help="Files that are neither searched nor asked for, such as 'DLC/**'; may be repeated.",
)  # fmt: skip
@as_of_option
@click.option(
    "--workspace", "folder", metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A workspace that holds the vault already, asked with its own settings: no VAULT then.",
)  # fmt: skip
@click.option(
    "--namespace", "-n", "name", metavar="NAME",
    help="Which namespace of that workspace; where it has but one, that.",
)  # fmt: skip
@out_option
@config_option
@limit_option
@cache_option
@no_cache_option
def eval_law(
    vault: Path | None, queries: Path, exclude: tuple[str, ...], as_of: datetime | None,
    folder: Path | None, name: str | None, out: Path | None, config: Path | None,
    limit: int | None, cache: Path | None, is_forgotten: bool,
) -> None:  # fmt: skip
    """Print the figures."""
    from benchmarks.evaluating.law import evaluate_law
    from rag_assets.workspace import shipped_settings

    if folder is not None and config is not None:
        raise UsageError("--config and --workspace: a workspace is asked with its own settings.")
    with shown_progress() as progress:
        report = evaluate_law(
            vault,
            queries,
            shipped_settings(config, _TEMPLATE),
            library=_library(folder, name) if folder is not None else None,
            exclude=exclude,
            as_of=as_of.date() if as_of is not None else None,
            limit=limit,
            cache=chosen_cache(cache, is_forgotten),
            notify=notify,
            on_progress=progress,
        )
    finish(report, out)


def _library(folder: Path, name: str | None) -> "Namespace":
    """Return the namespace that is asked.

    Raises:
        UsageError: it has several, and none is named.
    """
    from rag_assets.workspace import Workspace

    workspace = Workspace.open(folder)
    if name is not None:
        return workspace.namespace(name)
    names = workspace.namespace_names
    if len(names) != 1:
        raise UsageError(
            f"{folder} has the namespaces {', '.join(names)}: name one by --namespace."
        )
    return workspace.namespace(names[0])


if __name__ == "__main__":
    eval_law()
