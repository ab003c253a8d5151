"""`rag status`, `documents`, `settings`, `sql`, `doctor`, `gc`, `build-bm25`, `ui`."""

import dataclasses
import json
import math
from datetime import UTC, date, datetime
from typing import Any

import click

from rag_assets.cli.options import (
    DONE,
    FAILED,
    has_trouble,
    json_option,
    namespace_option,
    open_namespaces,
    open_with_models,
    open_workspace,
    print_json,
    print_result,
)
from rag_assets.model import StorageError, UsageError, align, count_of, shorten


@click.command(
    help="List documents: citation key, year, title, status, whether they may be cited and why "
    "not, uid. A draft cites a document by its key or its uid: {#lee2021}, [@lee2021]."
)
@namespace_option
@click.option("--wide", is_flag=True, help="Print whole titles, and the files of each document.")
@click.option(
    "--status",
    "wanted",
    type=click.Choice(
        ["published", "archived", "pending", "failed", "withheld", "refused", "removed"]
    ),
    help="Only documents of this status.",
)
@json_option
def documents(names: tuple[str, ...], wide: bool, wanted: str | None, as_json: bool) -> None:
    """Print one line a document."""
    from rag_assets.publishing import list_documents

    lines = [
        line
        for namespace, models in open_with_models(names)
        for line in list_documents(namespace, models)
        if wanted in {None, line.status}
    ]
    if as_json:
        print_json([dataclasses.asdict(line) for line in lines])
        return
    if not lines and wanted:
        click.echo(f"no documents are {wanted}.")
    elif not lines:
        click.echo("no documents. Put files into raw/ and run `rag ingest`.")
    rows = []
    for line in lines:
        title = _one_line(_folded(line.title)) or "-"
        # Of a document that nobody can search the file says more than the uid.
        files = f"  {', '.join(line.paths)}" if wide or line.status != "published" else ""
        rows.append((
            line.citation_key or "-", str(line.year or "-"),
            title if wide else shorten(title, _TITLE_COLUMNS), line.status,
            "citable" if line.citable else "-",
            f"{line.namespace}:{line.doc_uid or '?'}{_one_line(files)}",
        ))  # fmt: skip
    for row, line in zip(align(rows), lines, strict=True):
        click.echo(row)
        if line.reason_code:
            click.echo(f"    {line.reason_code}: {_folded(line.message or '')}")
        for note in (*line.notes, *line.warnings):
            click.echo(f"    note: {_folded(note)}")


_TITLE_COLUMNS = 48


def _folded(sentence: str) -> str:
    """Return a sentence on one line: a line break in a name must not begin a line of its own."""
    return " ".join(sentence.split())


def _one_line(text: str) -> str:
    """Return a file's name without the line breaks and control characters that it may hold."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


@click.command(
    help="Show what is built, stale or failed in raw/ and, without --namespace, which audits of "
    "drafts/ are outdated, each with the command that fixes it. Exit code 1 if something is "
    "stale, or if a file that is not archived cannot be searched."
)
@namespace_option
@json_option
def status(names: tuple[str, ...], as_json: bool) -> None:
    """Print the state of each namespace, then the drafts whose audits are out of date."""
    from rag_assets.publishing import describe_namespace, lacks_documents

    described = [
        describe_namespace(namespace, models) for namespace, models in open_with_models(names)
    ]
    # Drafts may cite every namespace: where one cannot be read they cannot be compared.
    drafts = [] if names or has_trouble() else _describe_drafts()
    if as_json:
        print_json([*described, *drafts])
    else:
        for state in described:
            _print_state(state)
        if drafts:
            click.echo("drafts")
        for state in drafts:
            _print_stale(state)
        if not has_trouble():  # else the settings cannot be compared
            _print_policy()
    is_stale = any(state["stale"] for state in (*described, *drafts))
    has_failed = is_stale or any(map(lacks_documents, described))
    click.get_current_context().exit(FAILED if has_failed else DONE)


def _describe_drafts() -> list[dict[str, Any]]:
    """Return drafts whose audits are out of date, as namespaces are described."""
    from rag_assets.auditing import outdated_drafts

    return [
        {"draft": one.name, "stale": list(one.sentences), "mend": "; ".join(one.mend)}
        for one in outdated_drafts(open_workspace(), date.today())
    ]


def _print_state(state: dict[str, Any]) -> None:
    click.echo(f"{state['namespace']}")
    if state["publication"]:
        at = datetime.fromtimestamp(state["published_at"], UTC).strftime("%Y-%m-%d %H:%M UTC")
        click.echo(f"  publication  {state['publication']} ({at})")
    shown = ", ".join(f"{count} {name}" for name, count in state["documents"].items() if count)
    if state.get("read_from"):
        click.echo(f"  read from    {state['read_from']}; documents: {shown or 'none yet'}")
    else:
        click.echo(f"  files        {state['files']} in raw/; documents: {shown or 'none'}")
    if state["counts"]:
        click.echo(
            f"  searchable   {count_of(state['counts']['chunks'], 'chunk')} in "
            f"{count_of(state['counts']['parents'], 'parent')}"
        )
    _print_stale(state)


def _print_stale(state: dict[str, Any]) -> None:
    for sentence in state["stale"]:
        click.echo(f"  stale        {_folded(sentence)}")
    for sentence in state.get("amiss", ()):
        click.echo(f"  problem      {_folded(sentence)}")
    click.echo(f"  next         {state['mend'] or _nothing_to_build(state)}")


def _nothing_to_build(state: dict[str, Any]) -> str:
    return "nothing to build; see the problems above" if state["amiss"] else "nothing to do"


def _print_policy() -> None:
    from rag_assets.workspace import changes_since_decision

    if changes := changes_since_decision(open_workspace()):
        click.echo(
            f"settings\n  changed      {len(changes)} since the last decision: `rag decide` lists "
            'them, `rag decide "…" --reason "…"` notes why'
        )


@click.command(
    help="Show the settings of each namespace and the file that sets them: KEY, or all below it. A "
    "setting that differs from configs/rag.yaml is shown with its default."
)
@click.argument("key", required=False)
@namespace_option
@json_option
def settings(key: str | None, names: tuple[str, ...], as_json: bool) -> None:
    """Print one line a setting."""
    workspace = open_workspace()
    found = {
        namespace.name: [
            line
            for line in workspace.settings_of(namespace.name)
            if key is None or f"{line.key}.".startswith(f"{key}.")
        ]
        for namespace in open_namespaces(names)
    }
    if key is not None and not any(found.values()):
        raise UsageError(f"there is no setting '{key}'; `rag settings` lists all.")
    if as_json:
        print_json({name: [dataclasses.asdict(line) for line in each]
                    for name, each in found.items()})  # fmt: skip
        return
    for name, lines in found.items():
        click.echo(name)
        for line in lines:
            is_own = line.origin.is_relative_to(workspace.root)
            place = line.origin.relative_to(workspace.root).as_posix() if is_own else ""
            told = f"    {place}, by default {_value(line.default)}" if is_own else ""
            click.echo(f"  {line.key}: {_value(line.value)}{told}")


def _value(value: Any) -> str:
    """Return a setting's value as a file would have it, on one line."""
    import yaml

    if isinstance(value, str) and not value.isprintable():
        return json.dumps(value, ensure_ascii=False)
    return yaml.safe_dump(
        value, default_flow_style=True, allow_unicode=True, sort_keys=False, width=math.inf
    ).split("\n")[0]


@click.command(
    help="Query the catalogues of all namespaces in SQL. Tables: sources, documents, "
    "parse_reports, "
    "parents, chunks; runs, packs, verdicts, claims; lineage (from a verdict or item to the "
    "bytes), stages, publications, versions; of a laboratory lab_runs, lab_recipes, lab_feedback, "
    "lab_items and the others of its store."
)
@click.argument("statement")
@click.option(
    "--seconds", type=click.FloatRange(0, min_open=True), default=60, show_default=True,
    help="How long the statement may take.",
)  # fmt: skip
@json_option
def sql(statement: str, seconds: float, as_json: bool) -> None:
    """Run one statement on a read-only connection."""
    from rag_assets.tracing import open_sql, run_sql

    with open_sql(open_workspace()) as connection:
        columns, rows = run_sql(connection, statement, seconds)
    found = [dict(zip(columns, row, strict=True)) for row in rows]
    print_result(as_json, found, *align([columns, *(list(map(_cell, row)) for row in rows)]))


def _cell(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return "" if value is None else " ".join(str(value).split())


@click.command(
    "build-bm25",
    help="Name the publication of each namespace: it has the text index (BM25). There is nothing "
    "to build.",
)
@namespace_option
@json_option
def build_bm25(names: tuple[str, ...], as_json: bool) -> None:
    """Print the current publications."""
    from rag_assets.storage import current_folder

    found = {
        each.name: current_folder(each.publications, each.name).name
        for each in open_namespaces(names)
    }
    print_result(
        as_json, found,
        *(f"{name}: publication {each} has its text index" for name, each in found.items()),
        "Nothing to build: the text index is made with each publication.",
    )  # fmt: skip


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
    freed, runs = {}, 0
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
        freed[namespace.name] = dataclasses.asdict(found)
        if found.refused:
            refused.append(f"{namespace.name}: not all records could be shortened: {found.refused}")
    try:
        runs = prune_runs(workspace, days)
    except StorageError as error:
        refused.append(f"the run history could not be shortened: {error.problem}")
    if as_json:
        print_json({"namespaces": freed, "runs": runs, "refused": refused})
    else:
        _print_collected(freed, runs)
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
    help="Check installation, models and namespaces, and print fixes. "
    "Exit code 1 when something is wrong."
)
@json_option
def doctor(as_json: bool) -> None:
    """Examine the installation, and the workspace where there is one."""
    from rag_assets.running import examine

    findings = examine(click.get_current_context().find_root().obj)
    lines = (
        f"{'ok ' if one.is_fine else 'BAD'} {one.what}: {one.found}"
        + (f"\n    fix: {one.mend}" if one.mend else "")
        for one in findings
    )
    print_result(as_json, [dataclasses.asdict(one) for one in findings], *lines)
    bad = any(not finding.is_fine for finding in findings)
    click.get_current_context().exit(FAILED if bad else DONE)
