"""Verdicts outlive the text that they judged, and then say so."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rag_assets.auditing.drafts.draft import read_draft
from rag_assets.auditing.library import digest_document
from rag_assets.auditing.published import PublishedLibrary
from rag_assets.auditing.record import CitationAudit, from_json
from rag_assets.auditing.storing import citations_stem, list_drafts
from rag_assets.auditing.verdict import CitationVerdict
from rag_assets.model import UsageError, hash_bytes
from rag_assets.storage import find_versions, read_json
from rag_assets.workspace import Workspace

# (namespace, doc_uid) → digest of the document as published; None where it is not.
_Digests = dict[tuple[str, str], str | None]

_MEND = "`rag verify-citations {draft}` judges it again, and no other."


def stale_verdicts(workspace: Workspace) -> Iterator[str]:
    """Yield a sentence for every verdict whose document is not the one that was judged any more.

    The present revision of each draft in `drafts/` counts, by its newest audit; drafts that were
    never audited have no verdicts.
    """
    with PublishedLibrary(workspace) as library:
        digests: _Digests = {}
        for draft in list_drafts(workspace):
            audit = newest_audit(workspace, draft)
            named = read_draft(draft).namespaces if audit is not None else ()
            for row in audit.rows if audit is not None else ():
                told = _why_stale(row, named, library, digests)
                if told is not None:
                    mend = _MEND.format(draft=draft.relative_to(workspace.root).as_posix())
                    yield f"{draft.name}, line {row.line}: {told} {mend}"


def look_for_stale(workspace: Workspace, drafts: Iterable[Path]) -> Generator[tuple[Path, bool]]:
    """Yield each draft and whether its present content is to be judged again.

    It is where a verdict is stale, or no audit of it is stored. One at a time, so that who asks
    may stop: every cited document is read.
    """
    with PublishedLibrary(workspace) as library:
        digests: _Digests = {}
        for draft in drafts:
            audit = newest_audit(workspace, draft)
            if audit is None:
                yield draft, True
                continue
            named = read_draft(draft).namespaces
            told = (_why_stale(row, named, library, digests) for row in audit.rows)
            yield draft, any(one is not None for one in told)


def newest_audit(workspace: Workspace, draft: Path) -> CitationAudit | None:
    """Return the newest stored audit of a draft's present content, None where there is none."""
    digest = hash_bytes(draft.read_bytes())
    versions = find_versions(
        workspace.outputs / "audits", citations_stem(workspace, draft), ".json"
    )
    for _, path in reversed(versions):
        stored: Mapping[str, Any] = read_json(path, "citation audit")
        if stored.get("draft_digest") == digest:
            try:
                return from_json(stored)
            except UsageError:
                return None  # of an older schema: to be made again, like one that is not there
    return None


def _why_stale(
    row: CitationVerdict, named: Sequence[str], library: PublishedLibrary, digests: _Digests
) -> str | None:
    """Return why a verdict is stale; `named` are the namespaces of the draft, empty for all."""
    if row.status == "ERROR":
        found = library.find(row.doc_uid, row.namespace)
        found = found or library.find_key(row.doc_uid, row.namespace)
        if named and row.namespace is None:
            found = [ref for ref in found if ref.namespace in named]
        is_known = len(found) == 1 and found[0].withheld_reason is None
        told = f"`{row.doc_uid}` names a document that may be cited now; it was an error before."
        return told if is_known else None
    if row.namespace is None or row.text_digest is None:
        return None
    key = (row.namespace, row.doc_uid)
    if key not in digests:
        found = [r for r in library.find(row.doc_uid, row.namespace) if r.withheld_reason is None]
        digests[key] = digest_document(library.load(found[0])) if found else None
    if digests[key] is None:
        return f"`{row.doc_uid}` was judged ({row.status}) and is not published any more."
    if digests[key] == row.text_digest:
        return None
    return f"`{row.doc_uid}` has changed since it was judged ({row.status})."
