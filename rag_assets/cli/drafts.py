"""`rag verify-citations`: a verdict for every cited sentence."""

from pathlib import Path
from typing import cast

import click

from rag_assets.cli.failing import DONE, FAILED, REFUSED
from rag_assets.cli.options import (
    draft_namespace_option,
    json_option,
    open_workspace,
    print_json,
    warn_of_changes,
)
from rag_assets.cli.progress import shown_progress
from rag_assets.cli.summaries import full_option, summarise_citations
from rag_assets.storage import read_json


def _print_schema(context: click.Context, _: click.Parameter, is_wanted: bool) -> None:
    if not is_wanted or context.resilient_parsing:
        return
    from rag_assets.auditing.schema import citations_schema

    print_json(citations_schema())
    context.exit(DONE)


@click.command(
    "verify-citations",
    help="Check every sentence of DRAFT (Markdown, text, Word) that cites {#doc_uid}, [@key] or "
    "\\cite{key}: does the cited document support it, and where? Quotations are compared word for "
    "word. Sentences judged before are not judged again. Exit code 3 where a citation is unknown, "
    "ambiguous or not citable.",
)
@click.argument("draft", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@draft_namespace_option
@full_option
@json_option
@click.option(
    "--json-schema", is_flag=True, is_eager=True, expose_value=False, callback=_print_schema,
    help="Print the JSON Schema that every citation audit follows.",
)  # fmt: skip
def verify_citations(draft: Path, names: tuple[str, ...], is_full: bool, as_json: bool) -> None:
    """Audit as the asset does; a draft in `drafts/` by a run, one elsewhere recorded without."""
    from rag_assets.auditing import audit_citations, check_draft, draft_key, find_drafts, from_json
    from rag_assets.running import audit_file, materialize_partition, record_audit

    workspace = open_workspace()
    path = draft.absolute()
    # What is wrong with the draft is said before a run is started.
    check_draft(workspace, path, names)
    # What a run cannot be told is done without one.
    if path.is_relative_to(workspace.drafts.absolute()) and not names:
        key = draft_key(path)
        find_drafts(workspace, key)  # a file that is no draft is refused before a run
        with shown_progress() as progress:
            run = materialize_partition(workspace, "citation_audits", key, on_progress=progress)
        if not run.is_success:
            for error in run.errors:
                click.echo(f"error: {error}", err=True)
            click.get_current_context().exit(FAILED)
        markdown = audit_file(workspace, run, "citation_audits", key, path)
    else:
        with shown_progress() as progress:
            outcome = audit_citations(workspace, path, namespaces=names, on_progress=progress)
        record_audit(workspace, outcome)
        markdown = outcome.markdown
    stored = read_json(markdown.with_suffix(".json"), "citation audit")
    warn_of_changes(workspace, cast("dict[str, str]", stored["publications"]))
    found = from_json(stored)
    if as_json:
        print_json(stored)
    elif is_full:
        click.echo(markdown.read_text(encoding="utf-8"))
    else:
        click.echo(summarise_citations(found))
    click.echo(f"saved: {markdown}\npage:  {markdown.with_suffix('.html')}", err=True)
    click.get_current_context().exit(REFUSED if found.has_errors else DONE)


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
    from rag_assets.auditing import audit_sentence, to_json

    with shown_progress() as progress:
        audit = audit_sentence(open_workspace(), sentence, cited, on_progress=progress)
    if as_json:
        print_json(to_json(audit))
    else:
        click.echo(summarise_citations(audit, is_draft=False))
    click.get_current_context().exit(REFUSED if audit.has_errors else DONE)
