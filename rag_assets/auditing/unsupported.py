"""Citations of drafts that do not hold: by the machine's verdict, or by that of a person."""

from collections.abc import Iterator

from rag_assets.auditing.drafts.draft import read_draft
from rag_assets.auditing.drafts.office import unit_of
from rag_assets.auditing.judgements import join_judgements, judgements_of
from rag_assets.auditing.storing import CITATIONS, list_drafts
from rag_assets.auditing.verdict import CitationVerdict
from rag_assets.workspace import Workspace


def unsupported_citations(workspace: Workspace) -> Iterator[str]:
    """Yield a sentence for every citation of a draft in `drafts/` that is MISSING or ERROR.

    The newest audit of each draft's present content counts, with what people have decided since.
    Drafts whose present content was not audited have none.

    Raises:
        DamagedFileError: an audit or the journal of judgements is not what was written.
    """
    judgements = judgements_of(workspace)
    for path in list_drafts(workspace):
        audit = CITATIONS.newest(workspace, path)
        if audit is None:
            continue
        name = path.relative_to(workspace.root).as_posix()
        for row in join_judgements(audit.rows, judgements, read_draft(path)):
            if row.status in {"MISSING", "ERROR"}:
                yield f"{name}, {unit_of(path.name)} {row.line}: {_told(row)}"


def _told(row: CitationVerdict) -> str:
    return f"`{row.cites}` is {row.status}. {row.reason}"
