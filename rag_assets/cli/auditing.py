"""`rag audit`: the strong assertions of a draft that cite nothing, and what could be cited."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from rag_assets.cli.failing import DONE, FAILED, REFUSED
from rag_assets.cli.options import (
    draft_namespace_option,
    json_option,
    open_workspace,
    print_json,
    read_models_ahead,
    warn_of_changes,
)
from rag_assets.cli.progress import shown_progress
from rag_assets.cli.summaries import full_option, summarise_claims
from rag_assets.storage import read_json

if TYPE_CHECKING:
    from rag_assets.auditing.claims.record import CounterMode
    from rag_assets.workspace import Workspace


def _print_schema(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from rag_assets.auditing.claims import claims_schema

        print_json(claims_schema())
        ctx.exit()


@click.command(
    help="Find the strong assertions of DRAFT (Markdown, text or docx) that cite nothing: causes, "
    "comparisons, figures, superlatives, claims about all, recommendations. Say which documents of "
    "the library could be cited for each, judged as `rag verify-citations` judges citations. "
    "Exit code 3 where a citation at the end of an assertion's paragraph cannot be judged."
)
@click.argument("draft", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--counterevidence",
    type=click.Choice(["off", "soft", "strict"]),
    help="Whether other sources that say otherwise are listed (soft) and count (strict); else "
    "audit.counterevidence.",
)
@draft_namespace_option
@full_option
@json_option
@click.option(
    "--json-schema", is_flag=True, is_eager=True, expose_value=False, callback=_print_schema,
    help="Print the JSON Schema that every claim audit follows.",
)  # fmt: skip
def audit(
    draft: Path,
    counterevidence: str | None,
    names: tuple[str, ...],
    is_full: bool,
    as_json: bool,
) -> None:
    """Audit as the asset does; a draft in `drafts/` by a run, one elsewhere recorded without."""
    workspace = open_workspace()
    read_models_ahead(workspace)
    from rag_assets.auditing import check_draft

    path = draft.absolute()
    # What is wrong with the draft or the names is said before a run is started.
    check_draft(workspace, path, names)
    mode = cast("CounterMode | None", counterevidence)
    markdown = _make(workspace, path, mode, names)
    stored = read_json(markdown.with_suffix(".json"), "claim audit")
    warn_of_changes(workspace, cast("dict[str, str]", stored["publications"]))
    if as_json:
        print_json(stored)
    elif is_full:
        click.echo(markdown.read_text(encoding="utf-8"))
    else:
        click.echo(summarise_claims(stored))
    click.echo(f"saved: {markdown}\npage:  {markdown.with_suffix('.html')}", err=True)
    click.get_current_context().exit(REFUSED if _has_errors(stored) else DONE)


def _make(
    workspace: "Workspace", path: Path, mode: "CounterMode | None", names: tuple[str, ...]
) -> Path:
    """Return the Markdown of the audit. What a run cannot be told is done without one."""
    from rag_assets.auditing import draft_key, find_drafts
    from rag_assets.auditing.claims import audit_claims
    from rag_assets.running import audit_file, materialize_partition, record_claims

    if path.is_relative_to(workspace.drafts.absolute()) and mode is None and not names:
        key = draft_key(path)
        find_drafts(workspace, key)  # a file that is no draft is refused before a run
        with shown_progress() as progress:
            run = materialize_partition(workspace, "claim_audits", key, on_progress=progress)
        if not run.is_success:
            for error in run.errors:
                click.echo(f"error: {error}", err=True)
            click.get_current_context().exit(FAILED)
        return audit_file(workspace, run, "claim_audits", key, path)
    with shown_progress() as progress:
        outcome = audit_claims(
            workspace, path, counterevidence=mode, namespaces=names, on_progress=progress
        )
    record_claims(workspace, outcome)
    return outcome.markdown


def _has_errors(stored: "dict[str, object]") -> bool:
    rows = cast("list[dict[str, list[dict[str, dict[str, str]]]]]", stored["rows"])
    return any(
        evidence["verdict"]["status"] == "ERROR"
        for row in rows
        for evidence in row["linked_evidence"]
    )
