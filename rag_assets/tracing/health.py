"""`meta/health_report.md`: what somebody has to look at before handing in, on one page."""

import importlib.metadata
import platform
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rag_assets import __version__
from rag_assets.auditing import list_drafts, outdated_drafts, place_in
from rag_assets.model import PublicationError, RagError, code_span, count_of, escape_prose
from rag_assets.publishing import DocumentLine, describe_namespace, list_documents
from rag_assets.storage import is_pinned, list_publications, put, read_manifest, read_pointer
from rag_assets.tracing.querying import open_sql, read_named_rows
from rag_assets.workspace import (
    Namespace,
    Workspace,
    changes_since_decision,
    config_hash,
    read_decisions,
)

# What a person reads of a list on a page; the commands named list all.
_MOST_SHOWN = 30


@dataclass
class ReportPage:
    """The page as it grows; `todo` are the sentences that ask for something."""

    todo: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def add(self, *lines: str) -> None:
        """Add lines to the page."""
        self.lines += lines

    def add_list(self, sentences: Sequence[str], margin: str = "") -> None:
        """Add a list, its beginning where it is long; `margin` sets it below another point."""
        self.lines += [f"{margin}- {escape_prose(s)}" for s in sentences[:_MOST_SHOWN]]
        if len(sentences) > _MOST_SHOWN:
            self.lines.append(f"{margin}- … and {len(sentences) - _MOST_SHOWN} more")


_PACKS = "SELECT count(DISTINCT output) AS with_items FROM ends WHERE kind = 'item'"
# The newest audit of each draft: what was judged before has been judged again. A claim has a row
# for each document that it cites.
_JUDGED = """
    SELECT kind, made_from, output,
        regexp_replace(output, '_(citations|claims)_v\\d+$', '') AS stem, number, line, draft_file,
        status,
        reason_code, doc_uid, claim
    FROM lineage WHERE kind IN ('verdict', 'claim')
    QUALIFY dense_rank() OVER (
        PARTITION BY regexp_replace(output, '_v\\d+$', '')
        ORDER BY regexp_extract(output, '_v(\\d+)$', 1)::BIGINT DESC
    ) = 1 AND (kind = 'verdict' OR row_number() OVER (PARTITION BY output, number) = 1)
    ORDER BY kind DESC, stem, number
"""
_SETTLED = frozenset({"OK", "SUPPORTED"})
_MOST_OF_A_CLAIM = 120  # characters
_Row = dict[str, Any]


def describe_outputs(page: ReportPage, workspace: Workspace, names: Sequence[str]) -> None:
    """Add packs and audits to the page.

    Args:
        names: of the namespaces that can be read.
    """
    page.add("\n## Packs and audits\n")
    try:
        with open_sql(workspace, names, has_knowledge=False) as connection:
            with_items = read_named_rows(connection, _PACKS)[0]["with_items"]
            rows = read_named_rows(connection, _JUDGED)
    except PublicationError as error:
        page.add(escape_prose(str(error)))
        return
    packs = len(list(workspace.outputs.glob("evidence_pack_v*.json")))
    empty = f", {packs - with_items} without any passage" if packs > with_items else ""
    page.add(f"- Evidence packs: {packs}{empty}")
    drafts = {
        workspace.draft_stem(path): path.relative_to(workspace.drafts).as_posix()
        for path in list_drafts(workspace)
    }
    # Drafts may cite every namespace: where one cannot be read they cannot be compared.
    is_whole = set(names) == set(workspace.namespace_names)
    outdated = list(outdated_drafts(workspace)) if is_whole else []
    for each in outdated:
        mend = "; ".join(f"`{command}`" for command in each.mend)
        page.todo += [f"{told} {mend}" for told in each.sentences]
    before_edit = frozenset(output for each in outdated for output in each.edited)
    stale = {each.name: each.rows for each in outdated}
    elsewhere: dict[str, list[_Row]] = {}
    for output, judged in _by_output(rows).items():
        draft = drafts.get(judged[0]["stem"])
        if draft is None:
            elsewhere[output] = judged
        elif judged[0]["kind"] == "verdict":
            about = stale.get(f"{workspace.drafts.name}/{draft}", frozenset())
            current = [row for row in judged if row["number"] not in about]
            _describe_judged(page, draft, judged, [] if output in before_edit else current)
        else:
            _describe_judged(page, draft, judged, [] if output in before_edit else judged)
    _describe_others(page, elsewhere)


def _by_output(rows: Sequence[_Row]) -> dict[str, list[_Row]]:
    found: dict[str, list[_Row]] = {}
    for row in rows:
        found.setdefault(row["output"], []).append(row)
    return found


def _describe_judged(
    page: ReportPage, draft: str, judged: Sequence[_Row], current: Sequence[_Row]
) -> None:
    """Count all verdicts of an audit, and name those that hold of what there is now."""
    is_verdict = judged[0]["kind"] == "verdict"
    noun, wanted = ("citation", "OK") if is_verdict else ("strong assertion", "supported")
    page.add_list([f"{noun.capitalize()}s of {_counted(draft, judged)}"])
    to_mend = [row for row in current if row["status"] not in _SETTLED]
    if to_mend:
        verb = "is" if len(to_mend) == 1 else "are"
        page.todo.append(f"{draft}: {count_of(len(to_mend), noun)} {verb} not {wanted} (below).")
        told = []
        for row in to_mend:
            place, status = place_in(draft, row["line"], row["draft_file"] or ""), row["status"]
            if is_verdict:
                place += f", {code_span(row['doc_uid'] or '')}"
                status += f" ({row['reason_code']})"
            told.append(f"{place}: {status}: {row['claim'][:_MOST_OF_A_CLAIM]}")
        page.add_list(told, "  ")


def _describe_others(page: ReportPage, audits: dict[str, list[_Row]]) -> None:
    """Name audits of what is not in drafts/; they ask for nothing."""
    if audits:
        page.add(
            "\nAudits of drafts that are not in drafts/ (removed, renamed, or kept elsewhere); "
            "nothing is asked for them:\n"
        )
        page.add_list([_counted(rows[0]["made_from"], rows) for rows in audits.values()])


def _counted(draft: str, rows: Sequence[_Row]) -> str:
    return f"{draft} ({code_span(rows[0]['output'])}): {', '.join(_counts(rows))}"


def _counts(rows: Sequence[_Row]) -> Iterator[str]:
    counts = Counter(row["status"] for row in rows)
    yield from (f"{count} {status}" for status, count in sorted(counts.items()))


HEALTH_REPORT = "meta/health_report.md"
_FOLDERS = ("raw", "data", "index", "meta", "outputs")
_PACKAGES = ("dagster", "duckdb", "pylance", "pyarrow", "pymupdf", "torch")

_PLACES = """
    SELECT namespace, count(*) AS chunks, count(*) FILTER (page_start IS NULL) AS pageless,
        count(*) FILTER (page_start IS NULL AND char_end <= char_start) AS placeless
    FROM chunks WHERE citable GROUP BY namespace
"""


@dataclass(frozen=True, slots=True)
class Health:
    """The report and its path. `todo` is empty where nothing has to be looked at."""

    path: Path
    text: str
    todo: tuple[str, ...]


def write_health_report(
    workspace: Workspace, fingerprints: Callable[[Namespace], Sequence[str]]
) -> Health:
    """Write the report on a workspace as it is now.

    A namespace that cannot be read is named with the reason; the others are reported.

    Args:
        fingerprints: gives those of a namespace's configured models.
    """
    report = ReportPage()
    readable = []
    for name in workspace.namespace_names:
        report.add(f"\n## Namespace {name}\n")
        try:
            namespace = workspace.namespace(name)
            _describe(report, namespace, fingerprints(namespace))
            readable.append(name)
        except RagError as error:
            report.todo.append(f"{name}: {error}")
            report.add(f"It cannot be read: {escape_prose(str(error))}")
    # Here: a build imports this room for its manifest, and audits nothing.

    describe_outputs(report, workspace, readable)
    _describe_policy(report, workspace)
    _describe_machine(report, workspace)
    at = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    head = ["# Health of the library", "", f"Made by `rag health`, {at}.", ""]
    if report.todo:
        head += [f"**{count_of(len(report.todo), 'thing')} to look at:**", ""]
        head += [
            f"{number}. {escape_prose(todo)}" for number, todo in enumerate(report.todo, start=1)
        ]
    else:
        head.append("**Nothing to do.**")
    text = "\n".join([*head, *report.lines]) + "\n"
    put(workspace.store, HEALTH_REPORT, text.encode())
    return Health(workspace.store.place(HEALTH_REPORT), text, tuple(report.todo))


def _describe(report: ReportPage, namespace: Namespace, models: Sequence[str]) -> None:
    state = describe_namespace(namespace, models)
    name = namespace.name
    report.todo += [f"{name}: {stale}. `{state['mend']}`" for stale in state["stale"]]
    shown = ", ".join(f"{n} {status}" for status, n in state["documents"].items() if n)
    report.add(f"- Files in raw/: {state['files']}; documents: {shown or 'none'}")
    if state["counts"]:
        counts = state["counts"]
        report.add(
            f"- Searchable: {count_of(counts['chunks'], 'chunk')} in "
            f"{count_of(counts['parents'], 'parent')}"
        )
    report.add(*_publications(namespace))
    lines = list_documents(namespace, models)
    troubled = [line for line in lines if line.status in {"failed", "withheld", "refused"}]
    if troubled:
        report.todo.append(
            f"{name}: {count_of(len(troubled), 'document')} could not be used (below; "
            "`rag documents` lists all)."
        )
        report.add("\n### Documents that could not be used\n")
        report.add_list([_sentence(line) for line in troubled])
    conflicts = [f"{_title(line)}: {note}" for line in lines for note in line.notes]
    if conflicts:
        needed = f"{count_of(len(conflicts), 'conflict')} for you to decide (below)"
        report.todo.append(f"{name}: {needed}.")
        report.add("\n### Conflicts and oddities\n")
        report.add_list(conflicts)
    doubtful = [f"{_title(line)}: {each}" for line in lines for each in line.warnings]
    if doubtful:
        report.add("\n### Documents that were read, with something to look at\n")
        report.add_list(doubtful)
    report.add("\n### Places\n")
    _describe_places(report, namespace)


def _sentence(line: DocumentLine) -> str:
    return f"{_title(line)}: {line.status}, {line.reason_code}: {line.message}"


def _title(line: DocumentLine) -> str:
    return code_span(line.doc_uid or (line.paths[0] if line.paths else "?"))


def _publications(namespace: Namespace) -> Iterator[str]:
    pointer = read_pointer(namespace.publications)
    if pointer is None:
        yield "- Publications: none"
        return
    manifest = read_manifest(namespace.publications / pointer.current)
    models = ", ".join(f"{m['model']} ({m['fingerprint'][:12]})" for m in manifest["embedders"])
    yield f"- Models: {escape_prose(models)}"
    workspace = namespace.workspace
    for name in list_publications(namespace.publications):
        marks = ["current"] if name == pointer.current else []
        if is_pinned(namespace.publications, name):
            marks.append("pinned")
        more = f" ({', '.join(marks)})" if marks else ""
        size = _megabytes(workspace, workspace.key_of(namespace.publications / name))
        yield f"- Publication {name}{more}: {size}"


def _describe_places(report: ReportPage, namespace: Namespace) -> None:
    if read_pointer(namespace.publications) is None:
        return
    with open_sql(namespace.workspace, [namespace.name], has_knowledge=False) as connection:
        rows = read_named_rows(connection, _PLACES)
    row = next((row for row in rows if row["namespace"] == namespace.name), None)
    if row is None:
        return
    report.add(
        f"- Citable chunks without a page, located by characters: {row['pageless']} of "
        f"{row['chunks']}"
    )
    if row["placeless"]:
        report.todo.append(
            f"{namespace.name}: citable chunks without any place: {row['placeless']}. Run "
            "`rag ingest`; if it stays, please report it."
        )


def _describe_policy(report: ReportPage, workspace: Workspace) -> None:
    report.add("\n## Settings and decisions\n")
    try:
        digest, decisions = config_hash(workspace), read_decisions(workspace)
        changes = changes_since_decision(workspace)
    except RagError as error:
        if not any(str(error) in todo for todo in report.todo):
            report.todo.append(str(error))
        return
    report.add(f"- config_hash: {digest}")
    report.add_list([f"{d.number:04d}, {d.at[:10]}: {d.text}" for d in decisions])
    if changes:
        verb = "was" if len(changes) == 1 else "were"
        report.todo.append(
            f"{count_of(len(changes), 'setting')} {verb} changed without a decision (below). "
            '`rag decide "…" --reason "…"` notes why.'
        )
        report.add("\nChanged since the last decision:\n")
        report.add_list(changes)


def _describe_machine(report: ReportPage, workspace: Workspace) -> None:
    report.add("\n## Disk and versions\n")
    report.add(*(f"- {name}/: {_megabytes(workspace, name)}" for name in _FOLDERS))
    versions = [f"rag-assets {__version__}", f"Python {platform.python_version()}"]
    for name in _PACKAGES:
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{name} (not installed)")
    report.add(f"- {', '.join(versions)}")


def _megabytes(workspace: Workspace, prefix: str) -> str:
    size = workspace.store.used(prefix)
    return f"{size / 1e6:.1f} MB"
