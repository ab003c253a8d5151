"""`rag eval`: measure a stage on data of known truth. Needs no workspace."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_assets.cli.evaluating_assertions import assertions
from rag_assets.cli.evaluating_claims import claims
from rag_assets.cli.evaluating_locate import locate
from rag_assets.cli.failing import DONE, FAILED
from rag_assets.cli.measuring import config_option, finish, out_option
from rag_assets.cli.options import OutputPath
from rag_assets.cli.progress import shown_progress
from rag_assets.model import UsageError

if TYPE_CHECKING:
    from rag_assets.llm import ChatModel
    from rag_assets.workspace import Settings


_cache_option = click.option(
    "--cache", "cache", type=OutputPath(is_folder=True), metavar="FOLDER",
    help="Keep built workspaces and vectors here; else in RAG_EVALUATION_CACHE, else in the "
    "user's cache folder.",
)  # fmt: skip
_no_cache_option = click.option(
    "--no-cache", "is_forgotten", is_flag=True,
    help="Build everything anew in a temporary folder, and keep nothing.",
)  # fmt: skip
_limit_option = click.option(
    "--limit", type=click.IntRange(1), metavar="N",
    help="Ask only the first N questions of a set; its corpus stays whole.",
)  # fmt: skip


@click.group(
    "eval",
    help="Measure how well files are read, cut, searched and judged, on data whose right answers "
    "are known: for choosing settings and for work on the code. `sets` asks the questions that lie "
    "in evaluations/ of your workspace; all others are given files of their own and touch no "
    "workspace (`retrieval`, `evalset` and `qasper` keep what they build in a cache of their own). "
    "docs/evaluation.md says what form such data has.",
)
def eval() -> None:  # noqa: A001 - named as the command is
    """Group of the evaluations."""


eval.add_command(claims)
eval.add_command(assertions)
eval.add_command(locate)


@eval.command(
    short_help="How well headings, titles and abstracts of papers are read.",
    help="Compare the headings, title, abstract and number of references of papers with the truth "
    "in FILES: one JSON object a line with pdf (relative to its file), title, headings, abstract, "
    "n_references, optional.",
)
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
)  # fmt: skip
@out_option
@config_option
@click.option(
    "--compare", "compared", multiple=True, metavar="NAME=FILE",
    help="Another reader's stored readings, scored on the rows that it has read; may be repeated.",
)  # fmt: skip
@click.option("--misses", is_flag=True, help="List every missed and false heading, by document.")
@click.option(
    "--show", "shown", multiple=True, metavar="TEXT",
    help="Print all about the documents whose file name holds TEXT; may be repeated.",
)  # fmt: skip
def headings(
    files: tuple[Path, ...],
    out: Path | None,
    config: Path | None,
    compared: tuple[str, ...],
    misses: bool,
    shown: tuple[str, ...],
) -> None:
    """Print the figures and the documents, the worst first."""
    from rag_assets.evaluation import (
        describe_document,
        describe_misses,
        evaluate_headings,
        stored_reader,
    )

    readers = []
    for pair in compared:
        name, equals, file = pair.partition("=")
        if not (name and equals and file):
            raise UsageError(f"--compare: write NAME=FILE, got {pair!r}.")
        readers.append(stored_reader(name, Path(file)))
    with shown_progress() as progress:
        outcome = evaluate_headings(files, _settings(config), readers, progress)
    wanted = [score for score in outcome.scores if any(text in score.row.name for text in shown)]
    if shown and not wanted:
        raise UsageError(f"--show: no document's name holds {' or '.join(map(repr, shown))}.")
    for score in wanted:
        click.echo(f"{describe_document(score)}\n")
    if misses:
        for score in sorted(outcome.scores, key=lambda each: each.row.name):
            click.echo(f"{describe_misses(score)}\n")
    finish(outcome.report, out)


@eval.command(
    short_help="Whether any file of a folder crashes a parser or is lost.",
    help="Parse every file below DIR in worker processes under the limits of the settings; count "
    "what became of them by status, reason, media type and, where a manifest.jsonl says so, kind. "
    "Exit code 1 when a parser crashed or a file has no report.",
)
@click.argument("folder", metavar="DIR", type=click.Path(
    exists=True, file_okay=False, path_type=Path))  # fmt: skip
@out_option
@config_option
@click.option(
    "--passwords", "use_passwords", is_flag=True,
    help="Give protected files the password that their manifest knows, as a sidecar would.",
)  # fmt: skip
def survival(folder: Path, out: Path | None, config: Path | None, use_passwords: bool) -> None:
    """Print the counts, the kinds and the slowest files."""
    from rag_assets.evaluation import evaluate_survival

    with shown_progress() as progress:
        report = evaluate_survival(
            folder, _settings(config), use_passwords=use_passwords, on_progress=progress
        )
    finish(report, out)


@eval.command(
    short_help="How well chunks hold the passages that answer questions.",
    help="Chunk the texts in DIR/corpora, search them for each question in DIR/questions.jsonl "
    "and score the characters of its references that the five best chunks hold, beside "
    "fixed-size, recursive and word-window splitters.",
)
@click.argument("folder", metavar="DIR", type=click.Path(
    exists=True, file_okay=False, path_type=Path))  # fmt: skip
@out_option
@config_option
@click.option(
    "--cache", type=OutputPath(is_folder=True), metavar="FOLDER",
    help="Keep vectors here by hash, so that a second run encodes only what is new.",
)  # fmt: skip
def chunking(folder: Path, out: Path | None, config: Path | None, cache: Path | None) -> None:
    """Print the figures by splitter and by corpus."""
    from rag_assets.evaluation import evaluate_chunking

    with shown_progress() as progress:
        report = evaluate_chunking(folder, _settings(config), cache=cache, on_progress=progress)
    finish(report, out)


@eval.command(
    short_help="How well a search finds the documents of BEIR sets.",
    help="Build a library of each BEIR set in DIR (corpus.jsonl, queries.jsonl, qrels/test.tsv; or "
    "a folder of such sets) with the real stages, ask its questions, and print nDCG@10, recall, "
    "MRR and hits by document with 95 % intervals, each searcher alone beside the whole, and "
    "latencies.",
)
@click.argument("folder", metavar="DIR", type=click.Path(
    exists=True, file_okay=False, path_type=Path))  # fmt: skip
@out_option
@config_option
@_limit_option
@_cache_option
@_no_cache_option
def retrieval(
    folder: Path,
    out: Path | None,
    config: Path | None,
    limit: int | None,
    cache: Path | None,
    is_forgotten: bool,
) -> None:
    """Print the figures of each set."""
    from rag_assets.evaluation.retrieval import evaluate_retrieval

    settings = _settings(config)
    with shown_progress() as progress:
        report = evaluate_retrieval(
            folder, settings, limit=limit, cache=_cache(cache, is_forgotten),
            llm=_chat_model(settings), notify=_notify, on_progress=progress,
        )  # fmt: skip
    finish(report, out)


@eval.command(
    short_help="How well a search answers one set in a JSON file.",
    help="Build the documents of the evaluation set in FILE (JSON: documents, queries with "
    "expected_doc_ids, expected_chunk_ids and relevance, k_values), ask its queries, and print "
    "Hit, Recall, MRR and nDCG at each k by document and by chunk, and how the texts are cut.",
)
@click.argument("file", metavar="FILE", type=click.Path(
    exists=True, dir_okay=False, path_type=Path))  # fmt: skip
@out_option
@config_option
@_cache_option
@_no_cache_option
def evalset(
    file: Path, out: Path | None, config: Path | None, cache: Path | None, is_forgotten: bool
) -> None:
    """Print the figures of one evaluation set."""
    from rag_assets.evaluation.evalsets import load_eval_set
    from rag_assets.evaluation.knowledge_evaluator import evaluate_evalset

    loaded, settings = load_eval_set(file), _settings(config)
    with shown_progress() as progress:
        report = evaluate_evalset(
            loaded, settings, _cache(cache, is_forgotten), notify=_notify, on_progress=progress
        )
    finish(report, out)


@eval.command(
    short_help="How well evidence is found within a paper (QASPER).",
    help="Build a library of the papers in FILE (one JSON object a line: paper_id, title, "
    "abstract, sections, questions with evidence), put each question to its own paper, and score "
    "the paragraphs found; beside it with section filters, with heading context and by each "
    "searcher alone.",
)
@click.argument("file", metavar="FILE", type=click.Path(
    exists=True, dir_okay=False, path_type=Path))  # fmt: skip
@out_option
@config_option
@_limit_option
@_cache_option
@_no_cache_option
def qasper(
    file: Path,
    out: Path | None,
    config: Path | None,
    limit: int | None,
    cache: Path | None,
    is_forgotten: bool,
) -> None:
    """Print the figures of each way to search."""
    from rag_assets.evaluation.qasper import evaluate_qasper

    with shown_progress() as progress:
        report = evaluate_qasper(
            file, _settings(config), limit=limit, cache=_cache(cache, is_forgotten),
            notify=_notify, on_progress=progress,
        )  # fmt: skip
    finish(report, out)


@eval.command(
    short_help="How well your own questions are answered, beside a baseline.",
    help="Evaluate the sets in the workspace's evaluations/ folder (all of them, or those named) "
    "with its settings, as the asset retrieval_evaluations: reports with history under "
    "outputs/evaluations/. Exit code 1 when a set fell below its baseline by more than chance.",
)
@click.argument("names", nargs=-1, metavar="[NAME...]")
def sets(names: tuple[str, ...]) -> None:
    """Materialize one partition a set, then print its report."""
    from rag_assets.cli.options import open_workspace
    from rag_assets.evaluation.workspace_sets import list_evaluation_sets
    from rag_assets.running import materialize_partition

    workspace = open_workspace()
    known = list_evaluation_sets(workspace)
    unknown = [name for name in names if name not in known]
    if unknown or not known:
        raise UsageError(
            f"{workspace.evaluations} holds {', '.join(known) or 'no set'}"
            f"{f', not {unknown[0]}' if unknown else ''}. Put a folder in the layout of BEIR or a "
            "JSON evaluation set there."
        )
    exit_code = DONE
    for name in names or known:
        with shown_progress() as progress:
            run = materialize_partition(
                workspace, "retrieval_evaluations", name, on_progress=progress
            )
        for error in run.errors:
            click.echo(f"error: {error}", err=True)
        for check in run.checks:
            if not check.passed:
                click.echo(f"{check.name}: {check.description}", err=True)
        if not run.errors:
            markdown = Path(run.metadata["retrieval_evaluations"][name]["file"])
            click.echo(markdown.read_text(encoding="utf-8"))
            click.echo(f"saved: {markdown}", err=True)
        exit_code = exit_code if run.is_success else FAILED
    click.get_current_context().exit(exit_code)


def _cache(given: Path | None, is_forgotten: bool) -> Path | None:
    from rag_assets.evaluation.workspaces import default_cache
    from rag_assets.workspace import require_free_place

    if is_forgotten and given is not None:
        raise UsageError("--cache and --no-cache: give one of the two.")
    if is_forgotten:
        return None
    chosen = given or default_cache()
    require_free_place(chosen)  # also one that the environment names
    return chosen.absolute()


def _chat_model(settings: "Settings") -> "ChatModel | None":
    """Return the model that rewrites questions, None where the settings name none."""
    if settings.llm.kind == "none":
        return None
    from rag_assets.llm import load_chat_model

    return load_chat_model(settings.llm)


def _notify(sentence: str) -> None:
    click.echo(sentence, err=True)


def _settings(config: Path | None) -> "Settings":
    from rag_assets.workspace import shipped_settings

    return shipped_settings(config)
