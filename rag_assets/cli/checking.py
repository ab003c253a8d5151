"""What a draft or a sentence rests on: `rag check`, `watch`, `verify-citations` and others."""

import getpass
import json
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

import click

from rag_assets.cli.building import bring_texts_up_to_date
from rag_assets.cli.options import (
    DONE,
    FAILED,
    REFUSED,
    OutputPath,
    as_of_option,
    draft_namespace_option,
    json_option,
    now,
    open_with_models,
    open_workspace,
    print_result,
    read_models_ahead,
    warn_of_changes,
    who,
    write_output,
)
from rag_assets.cli.progress import shown_progress
from rag_assets.cli.summaries import (
    full_option,
    summarise_check,
    summarise_citations,
    summarise_claims,
)
from rag_assets.model import Progress, RagError, UsageError, WorkspaceError
from rag_assets.workspace import Workspace, choose_secrets, library_of

if TYPE_CHECKING:
    from rag_assets.auditing import AuditKind, CitationAudit
    from rag_assets.auditing.claims import CounterMode
    from rag_assets.auditing.sarif import FailOn

_draft_argument = click.argument(
    "draft", type=click.Path(path_type=Path, exists=True, dir_okay=False)
)

_sources_argument = click.argument(
    "sources", required=False, type=click.Path(path_type=Path, exists=True)
)
# Seconds between two looks at a draft that is watched.
_PAUSE = 0.3

_fail_on = click.option(
    "--fail-on", type=click.Choice(["unpaired", "missing", "weak"]),
    help="Exit with 3 also where the source does not say it (missing), or for all that is not OK "
    "(weak). Without it, or with unpaired, only for citations that could not be checked.",
)  # fmt: skip


@click.command(
    help="Check the citations of DRAFT and show what needs attention first. SOURCES is the folder "
    "of the cited papers, or a BibTeX, CSL-JSON, RIS or Zotero RDF file that names them; without "
    "it, the library of the workspace. Outside of a workspace the library is kept beside SOURCES, "
    "in .rag/, and reused; only what changed is read again. `rag verify-citations` has more "
    "options. Exit code 3 where a citation could not be checked, and where --fail-on says so."
)
@_draft_argument
@_sources_argument
@click.option("--open", "opens", is_flag=True, help="Review the result in the browser.")
@click.option(
    "--format", "form", type=click.Choice(["text", "markdown", "sarif"]), default="text",
    show_default=True, help="Print a summary, the whole report, or SARIF for editors.",
)  # fmt: skip
@_fail_on
@json_option
def check(
    draft: Path, sources: Path | None, opens: bool, form: str, fail_on: "FailOn | None",
    as_json: bool,
) -> None:  # fmt: skip
    """Bring the library up to date as far as a check reads it, judge, and print."""
    from rag_assets.auditing import CITATIONS, audit_to_json
    from rag_assets.auditing.sarif import failing

    with shown_progress() as progress:
        made = _prepare(draft, sources, progress)
        outcome = CITATIONS.make(
            made.workspace, made.draft, namespaces=made.names, as_of=date.today(),
            on_progress=progress,
        )  # fmt: skip
    if outcome.is_new:
        from rag_assets.running import record_audit

        record_audit(made.workspace, outcome)
    found = outcome.audit
    text = {
        "text": lambda: summarise_check(found, made.keys, made.where, made.unread, made.notes),
        "markdown": lambda: outcome.markdown.read_text(encoding="utf-8"),
        "sarif": lambda: _as_sarif(found, draft),
    }[form]()
    value = {
        "library": str(made.workspace.root), "report": str(outcome.html), "unread": made.unread,
        "notes": made.notes, "audit": audit_to_json(found),
    }  # fmt: skip
    print_result(as_json, value, text)
    review = "" if opens else "\nreview:  the same command with --open, in the browser"
    click.echo(f"library: {made.workspace.root}\nreport:  {outcome.html}{review}", err=True)
    if opens:
        _review(made.workspace, made.draft)
    is_refused = found.errors or (fail_on and failing(found, fail_on))
    click.get_current_context().exit(REFUSED if is_refused else DONE)


@click.command(
    help="Check DRAFT, and again each time you save it, and show the citations whose verdict is "
    "new. SOURCES as for `rag check`. Ctrl-C ends it."
)
@_draft_argument
@_sources_argument
def watch(draft: Path, sources: Path | None) -> None:
    """Judge with the library and the models open; verdicts of unchanged sentences are stored."""
    from rag_assets.auditing import judge_draft, read_draft
    from rag_assets.retrieval import OpenedLibrary

    with shown_progress() as progress:
        made = _prepare(draft, sources, progress)
    seen: set[tuple[str, str, str, str]] = set()
    with OpenedLibrary(made.workspace) as library:
        for saved_at in saves(made.draft):
            try:
                read = read_draft(made.draft, made.names)
                found = judge_draft(library, read, as_of=date.today())
            except RagError as error:  # a draft that is half written; the next save may be whole
                click.echo(f"{saved_at:%H:%M:%S} {error}", err=True)
                continue
            rows = {(row.claim, row.cites, row.status, row.reason): row for row in found.rows}
            fresh = replace(found, rows=tuple(rows[key] for key in rows.keys() - seen))
            click.echo(f"{saved_at:%H:%M:%S} {len(fresh.rows)} of {len(found.rows)} are new.")
            if fresh.rows:
                notes, unread = ((), ()) if seen else (made.notes, made.unread)
                click.echo(summarise_check(fresh, made.keys, made.where, unread, notes))
            seen = {*rows}


def saves(path: Path) -> Iterator[datetime]:
    """Yield now, and each time that a file has been saved."""
    saved = 0
    while True:
        if path.exists() and (now := path.stat().st_mtime_ns) != saved:
            saved = now
            yield datetime.now()
        time.sleep(_PAUSE)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A library that is up to date for a check.

    Args:
        draft: as it is in the library.
        names: namespaces that it may cite; all if none.
        keys: citation keys by namespace and uid.
        where: the place of new sources, as it is shown.
        unread: files that could not be read, each with the reason.
    """

    workspace: Workspace
    draft: Path
    names: tuple[str, ...]
    keys: dict[tuple[str, str | None], str]
    where: str
    unread: list[str]
    notes: list[str]


def _prepare(draft: Path, sources: Path | None, shown: Progress) -> _Prepared:
    """Find or make the library of a draft, and bring its texts up to date."""
    from rag_assets.auditing import read_draft

    place = draft.absolute()
    read_draft(place)  # what is wrong with it is said before a library is made
    workspace, names = _library_for(place, sources and sources.absolute())
    click.get_current_context().find_root().obj = workspace.root
    choose_secrets(workspace)
    read_models_ahead(workspace)
    notes = _import_bibliography(workspace, names, sources)

    def progress(what: str, done: int, total: int) -> None:
        if total:  # else it is news of the build
            shown(what, done, total)

    lines = [
        line
        for namespace, models in open_with_models(names)
        for line in bring_texts_up_to_date(namespace, models, progress)
    ]
    if sources is not None and not any(line.status == "published" for line in lines):
        raise UsageError(f"{sources}: nothing there could be read. Put the cited papers there.")
    root = sources or workspace.root / "raw"
    where = f"{root.name}/evidence/" if (root / "evidence").is_dir() else f"{root.name}/"
    unread = [line for line in lines if line.status in {"failed", "withheld", "refused"}]
    return _Prepared(
        workspace, _link(workspace, place), names,
        {(line.namespace, line.doc_uid): line.citation_key or "" for line in lines},
        where if root.is_dir() else f"the library of {root.name}",
        [f"{', '.join(one.paths)}: {one.message}" for one in unread], notes,
    )  # fmt: skip


def _as_sarif(audit: "CitationAudit", draft: Path) -> str:
    """Return an audit as SARIF; the draft's place is relative to the current folder."""
    from rag_assets.auditing.sarif import audit_to_sarif

    here, place = Path.cwd(), draft.resolve()
    uri = place.relative_to(here) if place.is_relative_to(here) else place
    return json.dumps(audit_to_sarif(audit, quote(uri.as_posix())), indent=1, ensure_ascii=False)


def _library_for(draft: Path, sources: Path | None) -> tuple[Workspace, tuple[str, ...]]:
    """Return the workspace to check a draft in, and the namespaces that it may cite; all if none.

    Raises:
        UsageError: no sources are given, and there is no workspace.
    """
    given = click.get_current_context().find_root().obj
    here: Workspace | None
    try:
        here = Workspace.find(given)
    except WorkspaceError:
        if given is not None:
            raise
        here = Workspace.around(draft)
    if sources is None:
        # A library that this command made: beside the draft, or of the folder that it is in.
        own = draft.parent.parent / ".rag" / draft.parent.name
        made = [each for each in (own, *draft.parent.glob(".rag/*")) if each.is_dir()]
        if here is None and len(made) == 1:
            here = Workspace.open(made[0])
        if here is None:
            raise UsageError(
                "no workspace is here, so name the folder of the cited papers: "
                f"`rag check {draft.name} papers/`."
            )
        return here, ()
    for workspace in filter(None, (here, Workspace.around(sources))):
        for namespace in workspace.sound_namespaces()[0]:
            if any(sources.is_relative_to(root) for root in namespace.roots):
                return workspace, (namespace.name,)
    if given is not None:
        raise UsageError(
            f"{given} does not read {sources}. `rag --workspace {given} namespace add NAME --raw "
            f"{sources}` lets it; without --workspace the library is kept beside {sources.name}."
        )
    namespace = library_of(sources, draft)
    return namespace.workspace, (namespace.name,)


def _import_bibliography(
    workspace: Workspace, names: tuple[str, ...], sources: Path | None
) -> list[str]:
    """Import the bibliography that was given, with its files, and return what is missing.

    Of a folder as Zotero exports it the bibliography lies beside the files.
    """
    if sources is None or len(names) != 1:
        return []
    from rag_assets.knowledge.importing import import_bibliographies

    if sources.is_file():
        into = workspace.namespace(names[0])
        found = import_bibliographies(workspace, [sources], files_into=into)
        return [sentence for one in found for sentence in one.missing]
    beside = [path for suffix in ("bib", "ris", "rdf") for path in sources.glob(f"*.{suffix}")]
    if beside:
        import_bibliographies(workspace, sorted(beside))
    return []


def _link(workspace: Workspace, draft: Path) -> Path:
    """Return the draft as a file of `drafts/`, which is what the desk shows: a link, so that an
    edit there is an edit of the draft. Where links are not allowed, return the draft.
    """
    if draft.is_relative_to(workspace.drafts):
        return draft
    for name in (draft.name, f"{draft.parent.name}/{draft.name}"):
        link = workspace.drafts / name
        try:
            link.parent.mkdir(parents=True, exist_ok=True)
            if not link.exists():
                link.unlink(missing_ok=True)
                link.symlink_to(draft)
        except OSError:  # on Windows and some disks links need a right that few have
            return draft
        if link.resolve() == draft.resolve():
            return link
    return draft


def _review(workspace: Workspace, draft: Path) -> None:
    """Serve the desk and show a draft in the browser, until it is interrupted."""
    from rag_assets.desk import serve_desk

    def begin(address: str) -> None:
        click.echo(f"{address}\nCtrl-C ends it.")
        # Some browsers return when they are closed, and the desk is not serving yet.
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    inside = draft.relative_to(workspace.drafts) if draft.is_relative_to(workspace.drafts) else ""
    serve_desk(
        workspace, host="127.0.0.1", port=0, further_hosts=(), person=getpass.getuser(),
        now=datetime.now, begin=begin, first=f"/review/{quote(str(inside))}",
    )  # fmt: skip


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
    "--comments", type=OutputPath(), metavar="FILE",
    help="Write a copy of DRAFT (.docx) with a Word comment at every sentence whose citation is "
    "not OK: verdict, reason, the source's words and their place. Its text stays as it is.",
)  # fmt: skip
@click.option("--comment-all", is_flag=True, help="With --comments: comment on OK citations too.")
@_fail_on
@click.option(
    "--sarif", type=OutputPath(), metavar="FILE",
    help="Write what is not OK as SARIF 2.1.0, for code scanning and editors (docs/ci.md).",
)  # fmt: skip
@draft_namespace_option
@as_of_option
@full_option
@json_option
def verify_citations(
    draft: Path | None, sentence: str | None, cited: str | None, comments: Path | None,
    comment_all: bool, fail_on: "FailOn | None", sarif: Path | None, names: tuple[str, ...],
    as_of: datetime | None, is_full: bool, as_json: bool,
) -> None:  # fmt: skip
    """Audit as the asset does; a draft in `drafts/` by a run, one elsewhere recorded without."""
    is_whole = (draft is None) != (sentence is None) and (sentence is None) == (cited is None)
    if not is_whole:
        raise click.UsageError("give a DRAFT, or --sentence with --doc.")
    if comments is None and comment_all:
        raise click.UsageError("--comment-all needs --comments FILE.")
    if comments is not None and (draft is None or draft.suffix.lower() != ".docx"):
        raise click.UsageError("--comments needs a Word draft (.docx).")
    if comments is not None and draft is not None and comments.resolve() == draft.resolve():
        raise click.UsageError("--comments writes a copy: give it another name than the draft's.")
    if sentence is not None and cited is not None:
        from rag_assets.auditing import audit_sentence, audit_to_json

        with shown_progress() as progress:
            found = audit_sentence(open_workspace(), sentence, cited, on_progress=progress)
        print_result(as_json, audit_to_json(found), summarise_citations(found, is_draft=False))
        click.get_current_context().exit(REFUSED if found.errors else DONE)
    if draft is None:
        return
    from rag_assets.auditing import CITATIONS
    from rag_assets.auditing.sarif import failing

    found = _audit(
        CITATIONS, draft, names, as_of, {}, summarise_citations, is_full=is_full, as_json=as_json
    )  # fmt: skip
    if sarif is not None:
        write_output(sarif, f"{_as_sarif(found, draft)}\n".encode())
    if comments is not None:
        from rag_assets.auditing.word_comments import comment_draft
        from rag_assets.model import count_of

        copy, count = comment_draft(
            draft.name, draft.read_bytes(), found.rows, comment_all=comment_all
        )
        write_output(comments, copy)
        click.echo(f"comments: {comments} ({count_of(count, 'comment')})", err=True)
    is_refused = found.errors or (fail_on and failing(found, fail_on))
    click.get_current_context().exit(REFUSED if is_refused else DONE)


@click.command(
    help="Find the strong assertions of DRAFT (Markdown, text, LaTeX, Word) that cite nothing: "
    "causes, comparisons, figures, superlatives, claims about all, recommendations. Say which "
    "documents of the library could be cited for each, judged as `rag verify-citations` judges "
    "citations; and where the draft contradicts itself. Exit code 3 where a citation at the end "
    "of an assertion's paragraph cannot be judged."
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
    text = markdown.read_text(encoding="utf-8") if is_full else summarise(found)
    print_result(as_json, audit_to_json(found), text)
    click.echo(f"saved: {markdown}\npage:  {markdown.with_suffix('.html')}", err=True)
    return found


@click.command(
    help="Check the reference list of DRAFT: which document of the library each entry means, with "
    "reason and certainty; what is cited and not listed, listed and not cited, listed twice, "
    "retracted, or differs from the document in year, title, authors, DOI or pages. Tables of "
    "Retraction Watch in retractions/ are read. Nothing leaves this machine without --online. Exit "
    "code 3 where something must be fixed.",
)
@_draft_argument
@click.option(
    "--settle", "settled", multiple=True, metavar="ENTRY=UID",
    help="Say which document an entry means, for good and for every draft. ENTRY is its number or "
    "key, or the row that the report prints; UID `none`: not in the library, `open`: take it back. "
    "May be repeated.",
)  # fmt: skip
@click.option(
    "--online", "is_online", is_flag=True,
    help="Also look the entries up at Crossref and OpenAlex: does the work exist, with this title "
    "and year, and was it retracted? What leaves this machine is printed first.",
)  # fmt: skip
@click.option(
    "--mailto", default="", metavar="EMAIL", help="Sent to both; they answer faster then."
)
@click.option(
    "--crossref", metavar="URL", help="Ask this address; default: https://api.crossref.org."
)
@click.option(
    "--openalex", metavar="URL", help="Ask this address; default: https://api.openalex.org."
)
@draft_namespace_option
@json_option
def references(
    draft: Path,
    settled: tuple[str, ...],
    is_online: bool,
    mailto: str,
    crossref: str | None,
    openalex: str | None,
    names: tuple[str, ...],
    as_json: bool,
) -> None:
    """Settle what is given, then check and print."""
    from rag_assets.auditing.reference_check import (
        check_references,
        references_to_json,
        render_references,
        settle_reference,
    )

    workspace = open_workspace()
    for one in settled:
        entry, mark, meant = one.rpartition("=")
        if not (mark and entry.strip() and meant.strip()):
            raise click.BadParameter(f"write ENTRY=UID, got '{one}'.", param_hint="--settle")
        settle_reference(
            workspace, draft, entry, meant.strip(), names, by=who(None), at=now(),
            notify=lambda sentence: click.echo(sentence, err=True),
        )  # fmt: skip
    found = check_references(workspace, draft, names)
    if is_online:
        from rag_assets.auditing.online import (
            CROSSREF,
            OPENALEX,
            Services,
            describe_requests,
            look_up_online,
        )

        services = Services(crossref or CROSSREF, openalex or OPENALEX, mailto)
        click.echo(describe_requests(found, services), err=True)
        with shown_progress() as progress:
            found = look_up_online(found, services, on_progress=progress)
    for warning in found.warnings:
        click.echo(f"warning: {warning}", err=True)
    print_result(as_json, references_to_json(found), render_references(found))
    click.get_current_context().exit(REFUSED if found.must_fix else DONE)


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
    first = f"One of them whole: rag trace '{chains[0].name}'"
    shown = (
        [render_chain(chains[0])] if len(chains) == 1 else [render_overview(chains), first]
    )  # fmt: skip
    print_result(as_json, [chain_to_json(chain) for chain in chains], *shown)
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
    print_result(as_json, {"file": str(found.path), "todo": list(found.todo)}, found.text)
    click.echo(f"saved: {found.path}", err=True)
    click.get_current_context().exit(FAILED if found.todo else DONE)
