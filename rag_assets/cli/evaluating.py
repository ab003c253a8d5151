"""`rag eval`: measure a stage on data of known truth. Needs no workspace, stores nothing."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_assets.cli.failing import DONE, FAILED
from rag_assets.cli.options import shown_progress
from rag_assets.model import UsageError

if TYPE_CHECKING:
    from rag_assets.evaluation import EvaluationReport
    from rag_assets.workspace import Settings

_out_option = click.option(
    "--json", "out", type=click.Path(dir_okay=False, path_type=Path), metavar="OUT",
    help="Write the figures to this file as JSON.",
)  # fmt: skip
_config_option = click.option(
    "--config", "config", type=click.Path(dir_okay=False, exists=True, path_type=Path),
    metavar="FILE", help="Settings over the shipped ones, as in a workspace's config.yaml.",
)  # fmt: skip


@click.group(
    "eval",
    help="Measure parsing and chunking on data of known truth. Needs no workspace and stores "
    "nothing. Exit code 1 when a parser crashed or a file was lost.",
)
def eval() -> None:  # noqa: A001 - named as the command is
    """Group of the evaluations."""


@eval.command(
    help="Compare the headings, title, abstract and number of references of papers with the truth "
    "in FILES: one JSON object a line with pdf (relative to its file), title, headings, abstract, "
    "n_references, optional."
)
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
)  # fmt: skip
@_out_option
@_config_option
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
    _finish(outcome.report, out)


@eval.command(
    help="Parse every file below DIR in worker processes under the limits of the settings; count "
    "what became of them by status, reason, media type and, where a manifest.jsonl says so, kind. "
    "Exit code 1 when a parser crashed or a file has no report."
)
@click.argument("folder", metavar="DIR", type=click.Path(
    exists=True, file_okay=False, path_type=Path))  # fmt: skip
@_out_option
@_config_option
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
    _finish(report, out)


@eval.command(
    help="Chunk the texts in DIR/corpora, search them for each question in DIR/questions.jsonl "
    "and score the characters of its references that the five best chunks hold, beside "
    "fixed-size, recursive and word-window splitters."
)
@click.argument("folder", metavar="DIR", type=click.Path(
    exists=True, file_okay=False, path_type=Path))  # fmt: skip
@_out_option
@_config_option
@click.option(
    "--cache", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
    help="Keep vectors here by hash, so that a second run encodes only what is new.",
)  # fmt: skip
def chunking(folder: Path, out: Path | None, config: Path | None, cache: Path | None) -> None:
    """Print the figures by splitter and by corpus."""
    from rag_assets.evaluation import evaluate_chunking

    with shown_progress() as progress:
        report = evaluate_chunking(folder, _settings(config), cache=cache, on_progress=progress)
    _finish(report, out)


def _settings(config: Path | None) -> "Settings":
    from rag_assets.workspace import shipped_settings

    return shipped_settings(config)


def _finish(report: "EvaluationReport", out: Path | None) -> None:
    """Print a report, write it where it is wanted, and leave with its exit code."""
    import json

    from rag_assets.storage import write_text

    if out is not None:
        write_text(out, json.dumps(report.to_json(), ensure_ascii=False, indent=1) + "\n")
    click.echo(report.render())
    click.get_current_context().exit(FAILED if report.failures else DONE)
