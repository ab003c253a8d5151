"""`rag verify-citations`, `rag audit`, `rag verify`: what a draft, or a sentence, rests on."""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from rag_assets.cli.failing import DONE, FAILED, REFUSED
from rag_assets.cli.options import (
    as_of_option,
    draft_namespace_option,
    json_option,
    open_workspace,
    print_json,
    read_models_ahead,
    warn_of_changes,
)
from rag_assets.cli.progress import shown_progress
from rag_assets.cli.summaries import full_option, summarise_citations, summarise_claims

if TYPE_CHECKING:
    from rag_assets.auditing import AuditKind
    from rag_assets.auditing.claims import CounterMode

Command = TypeVar("Command", bound=Callable[..., Any])


def _citations() -> "AuditKind[Any]":
    from rag_assets.auditing import CITATIONS

    return CITATIONS


def _claims() -> "AuditKind[Any]":
    from rag_assets.auditing.storing import CLAIMS

    return CLAIMS


def _schema_option(kind: "Callable[[], AuditKind[Any]]", what: str) -> Callable[[Command], Command]:
    def show(context: click.Context, _: click.Parameter, is_wanted: bool) -> None:
        if not is_wanted or context.resilient_parsing:
            return
        from rag_assets.auditing import audit_schema

        print_json(audit_schema(kind().record))
        context.exit(DONE)

    return click.option(
        "--json-schema", is_flag=True, is_eager=True, expose_value=False, callback=show,
        help=f"Print the JSON Schema that every {what} audit follows.",
    )  # fmt: skip


_draft_argument = click.argument(
    "draft", type=click.Path(path_type=Path, exists=True, dir_okay=False)
)


@click.command(
    "verify-citations",
    help="Check every sentence of DRAFT (Markdown, text, Word) that cites {#doc_uid}, [@key], "
    "\\cite{key} or [law > chapter > article]: does the cited document support it, and where? "
    "Quotations are compared word for word. Sentences judged before are not judged again. Exit "
    "code 3 where a citation is unknown, ambiguous or not citable.",
)
@_draft_argument
@draft_namespace_option
@as_of_option
@full_option
@json_option
@_schema_option(_citations, "citation")
def verify_citations(
    draft: Path, names: tuple[str, ...], as_of: datetime | None, is_full: bool, as_json: bool
) -> None:
    """Audit as the asset does; a draft in `drafts/` by a run, one elsewhere recorded without."""
    _audit(
        _citations, draft, names, as_of, {}, summarise_citations, is_full=is_full, as_json=as_json
    )


@click.command(
    help="Find the strong assertions of DRAFT (Markdown, text or docx) that cite nothing: causes, "
    "comparisons, figures, superlatives, claims about all, recommendations. Say which documents of "
    "the library could be cited for each, judged as `rag verify-citations` judges citations. "
    "Exit code 3 where a citation at the end of an assertion's paragraph cannot be judged."
)
@_draft_argument
@click.option(
    "--counterevidence",
    type=click.Choice(["off", "soft", "strict"]),
    help="Whether other sources that say otherwise are listed (soft) and count (strict); else "
    "audit.counterevidence.",
)
@draft_namespace_option
@as_of_option
@full_option
@json_option
@_schema_option(_claims, "claim")
def audit(
    draft: Path,
    counterevidence: str | None,
    names: tuple[str, ...],
    as_of: datetime | None,
    is_full: bool,
    as_json: bool,
) -> None:
    """Audit as the asset does; a draft in `drafts/` by a run, one elsewhere recorded without."""
    mode = cast("CounterMode | None", counterevidence)
    options = {} if mode is None else {"counterevidence": mode}
    _audit(
        _claims, draft, names, as_of, options, summarise_claims, is_full=is_full, as_json=as_json
    )


def _audit(
    find_kind: "Callable[[], AuditKind[Any]]",
    draft: Path,
    names: tuple[str, ...],
    as_of: datetime | None,
    options: Mapping[str, Any],
    summarise: Callable[[Any], str],
    *,
    is_full: bool,
    as_json: bool,
) -> None:
    """Make an audit and print it. What a run cannot be told is done without one."""
    workspace = open_workspace()
    read_models_ahead(workspace)
    from rag_assets.auditing import audit_to_json, check_draft, draft_key, find_drafts
    from rag_assets.running import audit_file, materialize_partition, record_audit

    kind, path = find_kind(), draft.absolute()
    # What is wrong with the draft or the names is said before a run is started.
    check_draft(workspace, path, names)
    day = as_of.date() if as_of is not None else date.today()
    is_plain = not names and not options and as_of is None
    if path.is_relative_to(workspace.drafts.absolute()) and is_plain:
        key = draft_key(path)
        find_drafts(workspace, key)  # a file that is no draft is refused before a run
        with shown_progress() as progress:
            run = materialize_partition(workspace, kind.asset, key, on_progress=progress)
        if not run.is_success:
            for error in run.errors:
                click.echo(f"error: {error}", err=True)
            click.get_current_context().exit(FAILED)
        markdown = audit_file(workspace, run, kind.asset, key, path)
    else:
        with shown_progress() as progress:
            outcome = kind.make(
                workspace, path, namespaces=names, as_of=day, on_progress=progress, **options
            )
        record_audit(workspace, outcome)
        markdown = outcome.markdown
    found = kind.read(markdown.with_suffix(".json"))
    warn_of_changes(workspace, found.publications)
    if as_json:
        print_json(audit_to_json(found))
    elif is_full:
        click.echo(markdown.read_text(encoding="utf-8"))
    else:
        click.echo(summarise(found))
    click.echo(f"saved: {markdown}\npage:  {markdown.with_suffix('.html')}", err=True)
    click.get_current_context().exit(REFUSED if found.errors else DONE)


@click.command(
    help="Check one SENTENCE against one document of the library: does it support the sentence, "
    "and where? Nothing is stored but the verdict itself. Exit code 3 where there is no such "
    "document."
)
@click.argument("sentence")
@click.option(
    "--doc", "cited", required=True, metavar="UID",
    help="The document, as `rag documents` names it; NAMESPACE:UID where several have it.",
)  # fmt: skip
@json_option
def verify(sentence: str, cited: str, as_json: bool) -> None:
    """Judge as `rag verify-citations` does."""
    from rag_assets.auditing import audit_sentence, audit_to_json

    with shown_progress() as progress:
        found = audit_sentence(open_workspace(), sentence, cited, on_progress=progress)
    if as_json:
        print_json(audit_to_json(found))
    else:
        click.echo(summarise_citations(found, is_draft=False))
    click.get_current_context().exit(REFUSED if found.errors else DONE)
