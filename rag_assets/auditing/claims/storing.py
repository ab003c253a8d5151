"""Audit the claims of a draft of the workspace and store the audit under `outputs/audits/`."""

import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

from rag_assets.auditing.claims.making import make_claim_audit
from rag_assets.auditing.claims.record import ClaimAudit, CounterMode
from rag_assets.auditing.claims.report import render_claims
from rag_assets.auditing.claims.searching import PublishedIndex, Searcher, open_searches
from rag_assets.auditing.drafts.draft import Draft, draft_of_text, read_draft
from rag_assets.auditing.judgements import judgements_of
from rag_assets.auditing.published import PublishedLibrary, open_published
from rag_assets.auditing.storing import AuditKind, AuditOutcome, keep_audit, scorer_maker
from rag_assets.auditing.verdict_store import open_verdicts
from rag_assets.evidence import chat_model_of
from rag_assets.model import Progress, PublicationError
from rag_assets.retrieval import Asked, Retriever, open_library, workspace_of
from rag_assets.settings import AuditSettings
from rag_assets.workspace import Workspace


def _claims_page(draft: Draft, audit: ClaimAudit) -> str:
    # Imported here: the templates of the page cost time that no other command needs.
    from rag_assets.auditing.pages.claims import render_claims_html

    return render_claims_html(draft, audit)


def audit_claims(
    asked: Asked,
    draft_path: Path,
    *,
    counterevidence: CounterMode | None = None,
    namespaces: Sequence[str] = (),
    as_of: date | None = None,
    notify: Callable[[str], None] = lambda sentence: None,
    on_progress: Progress | None = None,
) -> AuditOutcome[ClaimAudit]:
    """Audit the claims of a draft and store the audit as `<draft>_claims_v###`.

    What was judged or searched before for the same sentence over the same publications is not
    judged or searched again. The same findings on the same draft are the same audit: then nothing
    is written.

    Args:
        counterevidence: off, soft or strict; else `audit.counterevidence` of the settings.
        namespaces: in place of those that the draft's front matter names: citations mean their
            documents, and they are asked for suggestions and counter-evidence.
        as_of: the day on which the wordings of cited statutes have to hold; without it none can be
            judged.

    Raises:
        UsageError: the draft cannot be read, its front matter is wrong, or there is no such
            namespace.
        PublicationError: nothing is published.
    """
    started = time.monotonic()
    workspace = workspace_of(asked)
    draft = read_draft(draft_path, namespaces)
    settings = workspace.settings.audit
    if counterevidence is not None:
        settings = settings.model_copy(update={"counterevidence": counterevidence})
    audit = _audit(asked, draft, settings, as_of, notify, on_progress)
    return keep_audit(CLAIMS, workspace, draft_path, draft, audit, started, notify)


CLAIMS = AuditKind(ClaimAudit, "claims", "claim_audits", audit_claims, render_claims, _claims_page)


def claims_of_text(
    asked: Asked,
    text: str,
    *,
    namespaces: Sequence[str] = (),
    as_of: date | None = None,
    notify: Callable[[str], None] = lambda sentence: None,
    on_progress: Progress | None = None,
) -> ClaimAudit:
    """Audit the claims of a text that lies in no file, Markdown; no audit is stored.

    Raises:
        UsageError, PublicationError: as `audit_claims`.
    """
    draft = draft_of_text(text, namespaces)
    return _audit(asked, draft, workspace_of(asked).settings.audit, as_of, notify, on_progress)


def _audit(
    asked: Asked,
    draft: Draft,
    settings: AuditSettings,
    as_of: date | None,
    notify: Callable[[str], None],
    on_progress: Progress | None,
) -> ClaimAudit:
    workspace = workspace_of(asked)
    searches, verdicts = open_searches(workspace), open_verdicts(workspace)
    with open_library(asked) as opened, open_published(opened, as_of) as library:
        publications = _choose(workspace, library, draft)
        model = chat_model_of(workspace)
        with Retriever(opened, llm=model, publications=publications) as retriever:
            audit = make_claim_audit(
                draft, library, library.encoders(), Searcher(PublishedIndex(retriever), searches),
                workspace.settings.verify, settings, namespaces=list(publications),
                store=verdicts, make_scorer=scorer_maker(workspace),
                on_progress=on_progress, as_of=as_of, judgements=judgements_of(workspace),
            )  # fmt: skip
    for store in (verdicts, searches):
        store.save(notify)
    return audit


def _choose(workspace: Workspace, library: PublishedLibrary, draft: Draft) -> dict[str, str]:
    """Return the publications that are asked, by namespace: those that the library has open."""
    names = draft.namespaces or tuple(library.publications)
    missing = [name for name in names if name not in library.publications]
    for name in missing:
        workspace.namespace(name)  # says so where there is no such namespace
    if missing or not names:
        raise PublicationError(
            f"nothing is published in {', '.join(missing) or workspace.root}. Run `rag ingest` "
            "first."
        )
    return {name: library.publications[name] for name in names}
