"""What comes out of a review: the list of sources that stand, and the report."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rag_assets.auditing import CITATIONS, CitationAudit
from rag_assets.evidence.bibliography import ExportedSources, export_references
from rag_assets.model import UsageError, count_of
from rag_assets.reviewing.items import Review
from rag_assets.storage import Notify
from rag_assets.workspace import Workspace

Standing = Literal["stands", "open", "falls", "uncited"]


@dataclass(frozen=True, slots=True)
class CitedSource:
    """A document that a draft cites.

    Args:
        namespace: None where the citation means no document.
        standing: stands where one of its citations is OK; open where none is and one is WEAK; falls
            where all are MISSING or ERROR; uncited where it stands in the list of sources alone.
        lines: of the draft that cite it.
        places: in the document, of the citations that are OK, as they are named.
    """

    namespace: str | None
    doc_uid: str
    title: str | None
    standing: Standing
    lines: tuple[int, ...]
    places: tuple[str, ...]


def cited_sources(audit: CitationAudit) -> list[CitedSource]:
    """Return the documents that a draft cites in the order in which it cites them."""
    rows: dict[tuple[str | None, str], list[int]] = {}
    for place, row in enumerate(audit.rows):
        rows.setdefault((row.namespace, row.doc_uid), []).append(place)
    found = []
    for (namespace, uid), places in rows.items():
        own = [audit.rows[place] for place in places]
        statuses = {row.status for row in own}
        standing: Standing = (
            "stands" if "OK" in statuses else "open" if "WEAK" in statuses else "falls"
        )
        named = dict.fromkeys(row.hint for row in own if row.status == "OK" and row.hint)
        lines = dict.fromkeys(row.line for row in own)
        title = next((row.title for row in own if row.title), None)
        found.append(CitedSource(namespace, uid, title, standing, tuple(lines), tuple(named)))
    listed = (
        CitedSource(one.namespace, one.doc_uid, one.title, "uncited", (one.line,), ())
        for one in audit.listed
        if (one.namespace, one.doc_uid) not in rows
    )
    return [*found, *listed]


def export_standing(
    workspace: Workspace, review: Review, notify: Notify = lambda sentence: None
) -> ExportedSources:
    """Write the references of the sources that stand, in the order of citing.

    Raises:
        UsageError: none stands, or a document is not known any more.
    """
    sources = cited_sources(review.audit)
    pairs = [
        ((one.namespace, one.doc_uid), place)
        for one in sources
        if one.standing == "stands" and one.namespace is not None
        for place in one.places or ("",)
    ]
    notes = list(_left_out(sources))
    if not pairs:
        raise UsageError(
            f"{review.name}: no source stands yet. {' '.join(notes) or 'It cites nothing.'}"
        )
    return export_references(workspace, review.draft.name, pairs, notes=notes, notify=notify)


def kept_report(workspace: Workspace, review: Review) -> Path | None:
    """Return the newest stored page of a draft's present content, None where there is none."""
    return CITATIONS.newest_file(workspace, workspace.drafts / review.name, ".html")


def _left_out(sources: list[CitedSource]) -> Iterator[str]:
    why = {
        "open": "left out, since no citation of it is OK yet",
        "falls": "left out, since no citation of it holds",
        "uncited": "left out, since only the list of sources names it",
    }
    for one in sources:
        if one.standing in why:
            lines = ", ".join(map(str, one.lines))
            noun = count_of(len(one.lines), "line").split(" ", 1)[1]
            yield f"`{one.doc_uid}` ({noun} {lines}) is {why[one.standing]}."
