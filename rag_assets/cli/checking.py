"""`rag verify-citations`, `audit`, `trace`, `health`: what a draft, or a sentence, rests on."""

import json
from collections.abc import Callable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

import click

from rag_assets.cli.options import (
    DONE,
    FAILED,
    REFUSED,
    OutputPath,
    as_of_option,
    draft_namespace_option,
    json_option,
    open_workspace,
    print_json,
    read_models_ahead,
    warn_of_changes,
    write_output,
)
from rag_assets.cli.progress import shown_progress
from rag_assets.cli.summaries import full_option, summarise_citations, summarise_claims

if TYPE_CHECKING:
    from rag_assets.auditing import AuditKind
    from rag_assets.auditing.claims import CounterMode
    from rag_assets.auditing.sarif import FailOn

_draft_argument = click.argument(
    "draft", type=click.Path(path_type=Path, exists=True, dir_okay=False)
)


@click.command(
    "verify-citations",
    help="Check every sentence of DRAFT (Markdown, text, Word, LaTeX) that cites: does the cited "
    "document support it, and where? Citations are read as printed, (Lee, 2021) or [3], through "
    "the reference list, and as {#doc_uid}, [@key], \\cite{key} or [law > chapter > article]. "
    "Quotations are compared word for word. Sentences judged before are not judged again. With "
    "--sentence and --doc one sentence is checked against one document, and nothing is stored but "
    "the verdict. Exit code 3 where a citation could not be checked, or nothing was found to "
    "check, and where --fail-on says so.",
)
@click.argument(
    "draft", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
@click.option("--sentence", metavar="TEXT", help="Check this sentence instead of a draft.")
@click.option(
    "--doc", "cited", metavar="UID",
    help="The document of --sentence, as `rag documents` names it; NAMESPACE:UID where several "
    "have it.",
)  # fmt: skip
@click.option(
    "--fail-on", type=click.Choice(["unpaired", "missing", "weak"]),
    help="Exit with 3 also where the source does not say it (missing), or for all that is not OK "
    "(weak). Without it, or with unpaired, only for citations that could not be checked.",
)  # fmt: skip
@click.option(
    "--sarif", type=OutputPath(), metavar="FILE",
    help="Write what is not OK as SARIF 2.1.0, for code scanning and editors (docs/ci.md).",
)  # fmt: skip
@draft_namespace_option
@as_of_option
@full_option
@json_option
def verify_citations(
    draft: Path | None, sentence: str | None, cited: str | None, fail_on: "FailOn | None",
    sarif: Path | None, names: tuple[str, ...], as_of: datetime | None, is_full: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Audit as the asset does; a draft in `drafts/` by a run, one elsewhere recorded without."""
    is_whole = (draft is None) != (sentence is None) and (sentence is None) == (cited is None)
    if not is_whole:
        raise click.UsageError("give a DRAFT, or --sentence with --doc.")
    if sentence is not None and cited is not None:
        from rag_assets.auditing import audit_sentence, audit_to_json

        with shown_progress() as progress:
            found = audit_sentence(open_workspace(), sentence, cited, on_progress=progress)
        if as_json:
            print_json(audit_to_json(found))
        else:
            click.echo(summarise_citations(found, is_draft=False))
        click.get_current_context().exit(REFUSED if found.errors else DONE)
    if draft is None:
        return
    from rag_assets.auditing import CITATIONS
    from rag_assets.auditing.sarif import audit_to_sarif, failing

    found = _audit(
        CITATIONS, draft, names, as_of, {}, summarise_citations, is_full=is_full, as_json=as_json
    )  # fmt: skip
    if sarif is not None:
        here = Path.cwd()
        place = draft.resolve()
        uri = place.relative_to(here) if place.is_relative_to(here) else place
        log = audit_to_sarif(found, quote(uri.as_posix()))
        write_output(sarif, f"{json.dumps(log, indent=1, ensure_ascii=False)}\n".encode())
    is_refused = found.errors or (fail_on and failing(found, fail_on))
    click.get_current_context().exit(REFUSED if is_refused else DONE)


@click.command(
    help="Find the strong assertions of DRAFT (Markdown, text or docx) that cite nothing: causes, "
    "comparisons, figures, superlatives, claims about all, recommendations. Say which documents of "
    "the library could be cited for each, judged as `rag verify-citations` judges citations; and "
    "where the draft contradicts itself. "
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
    from rag_assets.auditing.storing import CLAIMS

    found = _audit(
        CLAIMS, draft, names, as_of, options, summarise_claims, is_full=is_full, as_json=as_json
    )
    click.get_current_context().exit(REFUSED if found.errors else DONE)


def _audit(
    kind: "AuditKind[Any]",
    draft: Path,
    names: tuple[str, ...],
    as_of: datetime | None,
    options: Mapping[str, Any],
    summarise: Callable[[Any], str],
    *,
    is_full: bool,
    as_json: bool,
) -> Any:
    """Make an audit, print it and return it. What a run cannot be told is done without one."""
    workspace = open_workspace()
    read_models_ahead(workspace)
    from rag_assets.auditing import audit_to_json, check_draft, draft_key, find_drafts
    from rag_assets.running import audit_file, materialize_partition, record_audit

    path = draft.absolute()
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
    return found


@click.command(
    help="Trace NAME back to the bytes: verdict, claim, item, passage, parent, parse, file, each "
    "checked again and shown with the run, code and configuration that made it. NAME is an "
    "audit or pack with its row (chapter_citations_v001#3), a draft with a line "
    "(drafts/chapter.md:12), one of them alone for a line each, a citation id (kb:…), a chunk "
    "id, or a run of the laboratory with a recipe (RUN#1), for each of its grounds. Exit code 1 "
    "when a step no longer holds."
)
@click.argument("name")
@json_option
def trace(name: str, as_json: bool) -> None:
    """Print the chains that NAME names."""
    from rag_assets.tracing import chain_to_json, render_chain, render_overview
    from rag_assets.tracing import trace as trace_name

    chains = trace_name(open_workspace(), name)
    if as_json:
        print_json([chain_to_json(chain) for chain in chains])
    elif len(chains) == 1:
        click.echo(render_chain(chains[0]))
    else:
        click.echo(render_overview(chains))
        click.echo(f"One of them whole: rag trace '{chains[0].name}'")
    holds = all(chain.holds for chain in chains)
    click.get_current_context().exit(DONE if holds else FAILED)


@click.command(
    help="Write and print meta/health_report.md: documents that failed, what is stale, conflicts, "
    "citations and strong assertions that are not supported, settings changed without a decision, "
    "disk, versions. Exit code 1 when there is something to look at."
)
@json_option
def health(as_json: bool) -> None:
    """Write the report and print it."""
    from rag_assets.embedding import model_fingerprints
    from rag_assets.tracing import write_health_report

    found = write_health_report(
        open_workspace(), lambda namespace: model_fingerprints(namespace.settings.embed)
    )
    if as_json:
        print_json({"file": str(found.path), "todo": list(found.todo)})
    else:
        click.echo(found.text)
        click.echo(f"saved: {found.path}", err=True)
    click.get_current_context().exit(FAILED if found.todo else DONE)
