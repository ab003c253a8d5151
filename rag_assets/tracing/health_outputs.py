"""What the health report says of packs and audits: the newest audit of each draft there is."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from rag_assets.auditing import list_drafts, outdated_drafts, unit_of
from rag_assets.model import PublicationError, code_span, count_of, escape_prose
from rag_assets.tracing.page import ReportPage
from rag_assets.tracing.querying import open_sql
from rag_assets.tracing.stored import read_named_rows
from rag_assets.workspace import Workspace

_PACKS = "SELECT count(DISTINCT output) AS with_items FROM ends WHERE kind = 'item'"
# The newest audit of each draft: what was judged before has been judged again. A claim has a row
# for each document that it cites.
_JUDGED = """
    SELECT kind, made_from, output,
        regexp_replace(output, '_(citations|claims)_v\\d+$', '') AS stem, number, line, status,
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
            _describe_citations(page, draft, judged, [] if output in before_edit else current)
        else:
            _describe_claims(page, draft, judged, [] if output in before_edit else judged)
    _describe_others(page, elsewhere)


def _by_output(rows: Sequence[_Row]) -> dict[str, list[_Row]]:
    found: dict[str, list[_Row]] = {}
    for row in rows:
        found.setdefault(row["output"], []).append(row)
    return found


def _describe_citations(
    page: ReportPage, draft: str, verdicts: Sequence[_Row], current: Sequence[_Row]
) -> None:
    """Count all verdicts of an audit, and name those that hold of what there is now."""
    page.add_list([f"Citations of {_counted(draft, verdicts)}"])
    to_mend = _to_mend(current)
    if to_mend:
        verb = "is" if len(to_mend) == 1 else "are"
        page.todo.append(f"{draft}: {count_of(len(to_mend), 'citation')} {verb} not OK (below).")
        page.add_list([
            f"{unit_of(draft)} {row['line']}, {code_span(row['doc_uid'] or '')}: {row['status']} "
            f"({row['reason_code']}): {row['claim'][:_MOST_OF_A_CLAIM]}"
            for row in to_mend
        ], "  ")  # fmt: skip


def _describe_claims(
    page: ReportPage, draft: str, claims: Sequence[_Row], current: Sequence[_Row]
) -> None:
    page.add_list([f"Strong assertions of {_counted(draft, claims)}"])
    to_mend = _to_mend(current)
    if to_mend:
        verb = "is" if len(to_mend) == 1 else "are"
        page.todo.append(
            f"{draft}: {count_of(len(to_mend), 'strong assertion')} {verb} not supported (below)."
        )
        page.add_list([
            f"{unit_of(draft)} {row['line']}: {row['status']}: {row['claim'][:_MOST_OF_A_CLAIM]}"
            for row in to_mend
        ], "  ")  # fmt: skip


def _describe_others(page: ReportPage, audits: dict[str, list[_Row]]) -> None:
    """Name audits of what is not in drafts/; they ask for nothing."""
    if audits:
        page.add(
            "\nAudits of drafts that are not in drafts/ (removed, renamed, or kept elsewhere); "
            "nothing is asked for them:\n"
        )
        page.add_list([_counted(rows[0]["made_from"], rows) for rows in audits.values()])


def _to_mend(rows: Sequence[_Row]) -> list[_Row]:
    return [row for row in rows if row["status"] not in _SETTLED]


def _counted(draft: str, rows: Sequence[_Row]) -> str:
    return f"{draft} ({code_span(rows[0]['output'])}): {', '.join(_counts(rows))}"


def _counts(rows: Sequence[_Row]) -> Iterator[str]:
    counts = Counter(row["status"] for row in rows)
    yield from (f"{count} {status}" for status, count in sorted(counts.items()))
