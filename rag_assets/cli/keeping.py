"""`rag gc`, `rag ui`, `rag doctor`: keep a workspace in order."""

import dataclasses
from typing import Any

import click

from rag_assets.cli.failing import DONE, FAILED
from rag_assets.cli.options import (
    json_option,
    namespace_option,
    open_with_models,
    open_workspace,
    print_json,
)
from rag_assets.model import StorageError, UsageError, count_of


@click.command(
    help="Remove what nothing refers to: rows of long removed files, vectors of models that are "
    "no longer configured, parses without a record, "
    "retired publications, unfinished files of dead processes, old run history."
)
@namespace_option
@click.option(
    "--runs-older-than",
    "days",
    type=click.FloatRange(0),
    default=30,
    show_default=True,
    metavar="DAYS",
    help="Remove finished runs from Dagster's history after so many days.",
)
@json_option
def gc(names: tuple[str, ...], days: float, as_json: bool) -> None:
    """Collect garbage in each namespace, then in the run history."""
    from rag_assets.evidence import mark_retired
    from rag_assets.publishing import collect_garbage
    from rag_assets.running import prune_runs
    from rag_assets.workspace import read_inventory

    workspace = open_workspace()
    report, runs = {}, 0
    refused: list[str] = []
    for namespace, models in open_with_models(names):
        try:
            if not names and read_inventory(namespace) is None:
                click.echo(f"{namespace.name}: nothing is built yet (`rag ingest`)", err=True)
                continue
            found = collect_garbage(
                namespace,
                models,
                lambda s: click.echo(s, err=True),
            )
            mark_retired(workspace, namespace.name, found.publications)
        except StorageError as error:
            refused.append(
                f"{namespace.name} could not be looked through to the end: {error.problem}"
            )
            continue
        report[namespace.name] = dataclasses.asdict(found)
        if found.refused:
            refused.append(f"{namespace.name}: not all records could be shortened: {found.refused}")
    try:
        runs = prune_runs(workspace, days)
    except StorageError as error:
        refused.append(f"the run history could not be shortened: {error.problem}")
    if as_json:
        print_json({"namespaces": report, "runs": runs, "refused": refused})
    else:
        _print_collected(report, runs)
    for sentence in refused:
        click.echo(f"error: {sentence}", err=True)
    if refused:
        if any("disk" in sentence and "full" in sentence for sentence in refused):
            click.echo(_STILL_FULL.format(outputs=workspace.outputs), err=True)
        click.get_current_context().exit(FAILED)


# `rag gc` must not send anybody to `rag gc`.
_STILL_FULL = (
    "The disk is full even so: remove files from it that are not of the workspace, or older "
    "packs and audits from {outputs}, or enlarge it; then run `rag gc` again."
)


def _print_collected(report: dict[str, dict[str, Any]], runs: int) -> None:
    for name, found_there in report.items():
        click.echo(
            f"{name}: {found_there['bytes'] / 1e6:.1f} MB freed; "
            f"{count_of(found_there['expired_documents'], 'long removed document')}, "
            f"{count_of(found_there['vectors'], 'vector')} of models no longer configured, "
            f"{count_of(found_there['parses'], 'parse')}, "
            f"{count_of(len(found_there['publications']), 'publication')}, "
            f"{count_of(len(found_there['unfinished']), 'unfinished file')}"
        )
    click.echo(f"{count_of(runs, 'run')} removed from the history")


@click.command(help="Open the Dagster UI on the workspace; Ctrl-C ends it.")
@click.option(
    "--port",
    "-p",
    type=click.IntRange(1, 65535),
    default=3000,
    show_default=True,
    help="Port on 127.0.0.1.",
)
@click.option(
    "--sensors",
    is_flag=True,
    help="Watch raw/, queries/ and drafts/, and start a run whenever something changes there.",
)
@click.option(
    "--no-sensors",
    "is_bare",
    is_flag=True,
    help="Only the web server, in half the time: it shows what was made, and no run starts.",
)
def ui(port: int, sensors: bool, is_bare: bool) -> None:
    """Run the web server, with the daemon unless it is not wanted, until interrupted."""
    if sensors and is_bare:
        raise UsageError("--sensors and --no-sensors exclude each other.")
    from rag_assets.running import serve_ui

    workspace = open_workspace()
    ended = serve_ui(
        workspace,
        port,
        with_daemon=not is_bare,
        with_sensors=sensors,
        when_it_answers=lambda: click.echo(
            f"http://127.0.0.1:{port} serves {workspace.root} (Ctrl-C ends it)"
        ),
    )
    click.get_current_context().exit(ended)


@click.command(
    help="Say what is installed, which models work and what each namespace lacks, with the mend. "
    "Exit code 1 when something is wrong."
)
@json_option
def doctor(as_json: bool) -> None:
    """Examine the installation, and the workspace where there is one."""
    from rag_assets.running import examine

    findings = examine(click.get_current_context().find_root().obj)
    if as_json:
        print_json([dataclasses.asdict(finding) for finding in findings])
    else:
        for finding in findings:
            click.echo(f"{'ok ' if finding.is_fine else 'BAD'} {finding.what}: {finding.found}")
            if finding.mend:
                click.echo(f"    mend: {finding.mend}")
    bad = any(not finding.is_fine for finding in findings)
    click.get_current_context().exit(FAILED if bad else DONE)
