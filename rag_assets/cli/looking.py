"""`rag documents`, `status`, `settings`, `sql`: look, change nothing."""

import dataclasses
import json
import math
from datetime import UTC, date, datetime
from typing import Any

import click

from rag_assets.cli.failing import DONE, FAILED, has_trouble
from rag_assets.cli.options import (
    json_option,
    namespace_option,
    open_namespaces,
    open_with_models,
    open_workspace,
    print_json,
)
from rag_assets.model import UsageError, count_of


@click.command(help="List documents: uid, status, whether they may be cited, and why not.")
@namespace_option
@click.option(
    "--status",
    "wanted",
    type=click.Choice(
        ["published", "archived", "pending", "failed", "withheld", "refused", "removed"]
    ),
    help="Only documents of this status.",
)
@json_option
def documents(names: tuple[str, ...], wanted: str | None, as_json: bool) -> None:
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
    for line in lines:
        mark = "citable" if line.citable else "-"
        uid = f"{line.namespace}:{line.doc_uid or '?'}"
        click.echo(f"{uid:<44} {line.status:<10} {mark:<8} {_one_line(', '.join(line.paths))}")
        if line.reason_code:
            click.echo(f"    {line.reason_code}: {_folded(line.message or '')}")
        for note in (*line.notes, *line.warnings):
            click.echo(f"    note: {_folded(note)}")


def _folded(sentence: str) -> str:
    """Return a sentence on one line: a line break in a name must not begin a line of its own."""
    return " ".join(sentence.split())


def _one_line(text: str) -> str:
    """Return a file's name without the line breaks and control characters that it may hold."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


@click.command(
    help="List what can be read: media types with the parser that reads them and its version, "
    "parsers of your own (entry points) included."
)
@json_option
def parsers(as_json: bool) -> None:
    """Print one line a media type."""
    from rag_assets.parsing import describe_parsers

    described = describe_parsers()
    if as_json:
        print_json([dataclasses.asdict(line) for line in described])
        return
    for line in described:
        extensions = f" (.{', .'.join(line.extensions)})" if line.extensions else ""
        click.echo(f"{line.parser:<18} {line.media_type}{extensions}")
        click.echo(f"    {line.origin}, version {line.version}")


@click.command(
    help="Say what is built, what is stale and what failed, in raw/ and, without --namespace, of "
    "the audits of drafts/; each with the command that mends it. Exit code 1 when something "
    "is stale, or a file cannot be searched that nobody has archived."
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
        click.echo(f"  amiss        {_folded(sentence)}")
    click.echo(f"  next         {state['mend'] or _nothing_to_build(state)}")


def _nothing_to_build(state: dict[str, Any]) -> str:
    return "nothing to build; look at what is amiss" if state["amiss"] else "nothing to do"


def _print_policy() -> None:
    from rag_assets.workspace import changes_since_decision

    if changes := changes_since_decision(open_workspace()):
        click.echo(
            f"settings\n  changed      {len(changes)} since the last decision: `rag decide` lists "
            'them, `rag decide "…" --reason "…"` notes why'
        )


@click.command(
    help="Say which settings hold in each namespace, and which file says so: KEY, or all below it. "
    "What configs/rag.yaml does not decide is shown with what it says."
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
    help="Ask the catalogues of all namespaces in SQL. Tables: sources, documents, parse_reports, "
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
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
        return
    click.echo("\t".join(columns))
    for row in rows:
        click.echo("\t".join(_cell(value) for value in row))


def _cell(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return "" if value is None else " ".join(str(value).split())
