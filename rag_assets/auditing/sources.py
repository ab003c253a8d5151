"""The references of the documents that a draft cites, whether it was audited or not."""

from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

from rag_assets.auditing.drafts.draft import Draft, read_draft
from rag_assets.auditing.drafts.office import unit_of
from rag_assets.auditing.library import Library
from rag_assets.auditing.published import open_published
from rag_assets.auditing.resolving import FaultyCitation, resolve_citation
from rag_assets.evidence.bibliography import ExportedSources, export_references
from rag_assets.model import UsageError
from rag_assets.storage import Notify
from rag_assets.workspace import Workspace

# Namespace and uid of one.
_Document = tuple[str, str]

# Faulty citations that an error names.
_NAMED = 3


def export_cited_sources(
    workspace: Workspace,
    draft_path: Path,
    *,
    formats: Sequence[str] = (),
    as_of: date | None = None,
    notify: Notify = lambda sentence: None,
) -> ExportedSources:
    """Write the references of the documents that a draft cites, in the order of their citations.

    What its list of sources cites counts too. Nothing is judged. A citation that means no
    document is told in the notes, with its line.

    Args:
        formats: names of `FORMATS`; without, all.
        as_of: the day on which the wordings of cited statutes have to hold.
        notify: is told where another process is writing.

    Raises:
        UsageError: the draft cannot be read, or none of its citations means a document.
    """
    draft = read_draft(draft_path)
    with open_published(workspace, as_of) as library:
        cited = list(_resolve(draft, library))
    pairs = [(found, place) for found, place in cited if not isinstance(found, str)]
    faults = list(dict.fromkeys(found for found, _ in cited if isinstance(found, str)))
    if not pairs:
        why = " ".join(faults[:_NAMED]) or "It cites nothing: write {#doc_uid} behind a sentence."
        raise UsageError(f"{draft_path}: no document is cited that could be exported. {why}")
    return export_references(
        workspace, draft.name, pairs, notes=faults, formats=formats, notify=notify
    )


def _resolve(draft: Draft, library: Library) -> Iterator[tuple[_Document | str, str]]:
    """Yield what each citation means, or what is wrong with it, and the place that it names."""
    cited = sorted((*draft.sentences, *draft.listed), key=lambda sentence: sentence.start)
    for sentence in cited:
        for citation in sentence.citations:
            meant = resolve_citation(citation, library, draft.namespaces)
            if isinstance(meant, FaultyCitation):
                yield f"{draft.name}, {unit_of(draft.name)} {sentence.line}: {meant.reason}", ""
            else:
                hint = citation.hint.text if citation.hint is not None else ""
                place = meant.article.shown if meant.article is not None else hint
                yield (meant.namespace, meant.doc_uid), place
