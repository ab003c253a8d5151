"""`rag eval`: measure search on data of known truth."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_assets.cli.options import (
    DONE,
    FAILED,
    OutputPath,
    RenamedGroup,
    json_option,
    print_json,
    say,
    write_output,
)
from rag_assets.cli.progress import shown_progress
from rag_assets.model import UsageError

if TYPE_CHECKING:
    from rag_assets.evaluation import EvaluationReport
    from rag_assets.llm import ChatModel
    from rag_assets.workspace import Settings

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
    help="Keep built workspaces here; else in RAG_EVALUATION_CACHE, else in the "
    "user's cache folder.",
)  # fmt: skip
no_cache_option = click.option(
    "--no-cache", "is_forgotten", is_flag=True,
    help="Build in a temporary folder and keep nothing.",
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


_MOVED = "Run `python -m benchmarks.eval_{name}` in a checkout."


@click.group(
    "eval",
    cls=RenamedGroup,
    renamed={name: _MOVED.format(name=name) for name in ("agent", "claims", "law")},
    help="Measure how well a library is searched, on questions with known answers, to choose "
    "settings. `sets` asks the questions in evaluations/ of your workspace; `retrieval` and "
    "`evalset` build a separate library in a cache and change no workspace. docs/evaluation.md "
    "describes the data.",
)
def eval() -> None:  # noqa: A001 - named as the command is
    """Group of the evaluations."""


@eval.command(
    short_help="Measure how well a search finds the documents of BEIR sets.",
    help="Build a library of each BEIR set in DIR (corpus.jsonl, queries.jsonl, qrels/test.tsv; or "
    "a folder of such sets) with the real stages, ask its questions, and print nDCG@10, recall, "
    "MRR and hits by document with 95 % intervals, each searcher alone beside the whole, and "
    "latencies.",
)
@click.argument("folder", metavar="DIR", type=click.Path(
    exists=True, file_okay=False, path_type=Path))  # fmt: skip
@out_option
@config_option
@limit_option
@cache_option
@no_cache_option
def retrieval(
    folder: Path,
    out: Path | None,
    config: Path | None,
    limit: int | None,
    cache: Path | None,
    is_forgotten: bool,
) -> None:
    """Print the figures of each set."""
    from rag_assets.evaluation import evaluate_retrieval
    from rag_assets.workspace import shipped_settings

    settings = shipped_settings(config)
    with shown_progress() as progress:
        report = evaluate_retrieval(
            folder, settings, limit=limit, cache=chosen_cache(cache, is_forgotten),
            llm=_chat_model(settings), notify=notify, on_progress=progress,
        )  # fmt: skip
    finish(report, out)


@eval.command(
    short_help="Measure how well a search answers one set in a JSON file.",
    help="Build the documents of the evaluation set in FILE (JSON: documents, queries with "
    "expected_doc_ids, expected_chunk_ids and relevance, k_values), ask its queries, and print "
    "Hit, Recall, MRR and nDCG at each k by document and by chunk, and how the texts are cut.",
)
@click.argument("file", metavar="FILE", type=click.Path(
    exists=True, dir_okay=False, path_type=Path))  # fmt: skip
@out_option
@config_option
@cache_option
@no_cache_option
def evalset(
    file: Path, out: Path | None, config: Path | None, cache: Path | None, is_forgotten: bool
) -> None:
    """Print the figures of one evaluation set."""
    from rag_assets.evaluation import evaluate_evalset, load_eval_set
    from rag_assets.workspace import shipped_settings

    loaded, settings = load_eval_set(file), shipped_settings(config)
    with shown_progress() as progress:
        report = evaluate_evalset(
            loaded, settings, chosen_cache(cache, is_forgotten), notify=notify, on_progress=progress
        )
    finish(report, out)


@eval.command(
    short_help="Measure how well your own questions are answered.",
    help="Evaluate the sets in the workspace's evaluations/ folder (all of them, or those named) "
    "with its settings, and print the figures of each.",
)
@click.argument("names", nargs=-1, metavar="[NAME...]")
@json_option
def sets(names: tuple[str, ...], as_json: bool) -> None:
    """Print the figures of each set."""
    from rag_assets.cli.options import open_workspace
    from rag_assets.evaluation import (
        evaluate_evalset,
        evaluate_retrieval,
        load_eval_set,
        sets_in,
    )

    workspace = open_workspace()
    known = sets_in(workspace.evaluations)
    unknown = [name for name in names if name not in known]
    if unknown or not known:
        raise UsageError(
            f"{workspace.evaluations} holds {', '.join(known) or 'no set'}"
            f"{f', not {unknown[0]}' if unknown else ''}. Put a folder in the layout of BEIR or a "
            "JSON evaluation set there."
        )
    settings, cache = workspace.settings, workspace.meta / "evaluations"
    exit_code, reports = DONE, {}
    for name in names or known:
        with shown_progress() as progress:
            report = (
                evaluate_retrieval(
                    known[name], settings, cache=cache, llm=_chat_model(settings), notify=notify,
                    on_progress=progress,
                )
                if known[name].is_dir()
                else evaluate_evalset(
                    load_eval_set(known[name]), settings, cache, notify=notify,
                    on_progress=progress,
                )
            )  # fmt: skip
        reports[name] = report.to_json()
        say(f"{name}\n{report.render()}\n", quiet=as_json)
        exit_code = FAILED if report.failures else exit_code
    if as_json:
        print_json(reports)
    click.get_current_context().exit(exit_code)


def _chat_model(settings: "Settings") -> "ChatModel | None":
    """Return the model that rewrites questions, None where the settings name none."""
    chosen = settings.llm.for_role("rewrite")
    if chosen.kind == "none":
        return None
    from rag_assets.llm import load_chat_model

    return load_chat_model(chosen)
