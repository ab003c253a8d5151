"""Evaluations of what the package decides: `python -m benchmarks.evaluations agent|claims|law`."""

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
from rag_assets.cli.options import ExplainedErrors, OutputPath, as_of_option
from rag_assets.cli.progress import shown_progress
from rag_assets.model import UsageError

if TYPE_CHECKING:
    from rag_assets.workspace import Namespace, Settings


@click.command(
    "agent",
    short_help="What the agent of `rag ask` finds and cites, beside one search.",
    help="Build a library of each set in PATH, ask its questions once and by the agent of `rag "
    "ask`, and print what each finds, with 95 % intervals and paired differences: of papers "
    "(papers.jsonl, evidence by paragraph) nDCG@10 and R@5, beside the track of one paper; of a "
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
def agent(
    path: Path, live: bool, folder: Path | None, out: Path | None, config: Path | None,
    limit: int | None, cache: Path | None, is_forgotten: bool,
) -> None:  # fmt: skip
    """Print the figures."""
    from rag_assets.evaluation import evaluate_agent, open_live_model

    settings = _agent_settings(folder, config)
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


def _agent_settings(folder: Path | None, config: Path | None) -> "Settings":
    from rag_assets.workspace import Workspace, shipped_settings

    if folder is None:
        return shipped_settings(config)
    if config is not None:
        raise UsageError("--config and --workspace: give one of the two.")
    return Workspace.open(folder).settings


@click.command(
    "claims",
    short_help="How well supported sentences are told from others.",
    help="Judge the sentences in FILES and compare with their labels, at the shipped threshold. "
    "Of drafts with known truth (one JSON object a line: id, paper, language, sentence, label, "
    "kind, evidence) the audit itself judges each against the source that it cites: tables by "
    "language and kind of error, and of thresholds on folds by source. Of claims with their "
    "evidence (claim, evidence, label) the scorer alone does. What was judged is kept: a run that "
    "was stopped goes on.",
)
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
)  # fmt: skip
@click.option(
    "--scorer", type=click.Choice(["auto", "reader", "facts", "similarity", "llm"]),
    help="In the place of verify.scorer.",
)  # fmt: skip
@click.option(
    "--sources", multiple=True, metavar="PLACE", type=click.Path(exists=True, path_type=Path),
    help="A folder, or an archive (tar), with the sources of drafts; may be repeated. Else those "
    "beside FILE.",
)  # fmt: skip
@click.option(
    "--alone", is_flag=True,
    help="Leave out what stands beside drafts: similarity, and the sentence alone.",
)  # fmt: skip
@out_option
@config_option
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help="Judge only N rows of a file, drawn with a seed.",
)
@click.option(
    "--cache", type=OutputPath(is_folder=True), metavar="FOLDER",
    help="Keep sources and verdicts of drafts here; else in RAG_EVALUATION_CACHE, else in the "
    "user's cache folder.",
)  # fmt: skip
def claims(
    files: tuple[Path, ...], scorer: str | None, sources: tuple[Path, ...], alone: bool,
    out: Path | None, config: Path | None, limit: int | None, cache: Path | None,
) -> None:  # fmt: skip
    """Print the figures of drafts and, as further tables, of claims with their evidence."""
    from typing import cast

    from rag_assets.evaluation import (
        default_cache,
        evaluate_claims,
        evaluate_drafts,
        is_draft_file,
        joined,
    )
    from rag_assets.settings import ScorerName
    from rag_assets.workspace import shipped_settings

    settings, name = shipped_settings(config), cast("ScorerName | None", scorer)
    drafts = [file for file in files if is_draft_file(file)]
    others = [file for file in files if file not in drafts]
    reports = []
    with shown_progress() as progress:
        if drafts:
            reports.append(
                evaluate_drafts(
                    drafts, settings, name, sources=sources, limit=limit,
                    cache=(cache or default_cache()).absolute() / "drafts", beside=not alone,
                    on_progress=progress,
                )
            )  # fmt: skip
        if others:
            reports.append(evaluate_claims(others, settings, name, limit, progress))
    finish(joined(*reports) if len(reports) > 1 else reports[0], out)


_TEMPLATE = "law"


@click.command(
    "law",
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
def law(
    vault: Path | None, queries: Path, exclude: tuple[str, ...], as_of: datetime | None,
    folder: Path | None, name: str | None, out: Path | None, config: Path | None,
    limit: int | None, cache: Path | None, is_forgotten: bool,
) -> None:  # fmt: skip
    """Print the figures."""
    from rag_assets.evaluation import evaluate_law
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


@click.group(cls=ExplainedErrors)
def evaluations() -> None:
    """Group of the evaluations."""


for _command in (agent, claims, law):
    evaluations.add_command(_command)


if __name__ == "__main__":
    evaluations()
