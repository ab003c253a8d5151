"""Audit the claims of a draft of the workspace and store the audit under `outputs/audits/`."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rag_assets.auditing.claims.causal_model import CausalReader, open_causes
from rag_assets.auditing.claims.making import make_claim_audit
from rag_assets.auditing.claims.record import ClaimAudit, CounterMode, claims_to_json
from rag_assets.auditing.claims.report import render_claims
from rag_assets.auditing.claims.searching import PublishedIndex, Searcher, open_searches
from rag_assets.auditing.drafts.draft import Draft, read_draft
from rag_assets.auditing.published import PublishedLibrary
from rag_assets.auditing.storing import draft_key, keep_audit, scorer_maker
from rag_assets.auditing.verdict_store import open_verdicts
from rag_assets.model import Progress, PublicationError
from rag_assets.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ClaimOutcome:
    """A claim audit and where it lies. `is_new` is False where the same stood there already."""

    audit: ClaimAudit = field(repr=False)
    markdown: Path
    json: Path
    html: Path
    is_new: bool
    key: str
    seconds: float


def audit_claims(
    workspace: Workspace,
    draft_path: Path,
    *,
    counterevidence: CounterMode | None = None,
    namespaces: Sequence[str] = (),
    notify: Callable[[str], None] = lambda sentence: None,
    on_progress: Progress | None = None,
) -> ClaimOutcome:
    """Audit the claims of a draft and store the audit as `<draft>_claims_v###`.

    What was judged or searched before for the same sentence over the same publications is not
    judged or searched again. The same findings on the same draft are the same audit: then nothing
    is written.

    Args:
        counterevidence: off, soft or strict; else `audit.counterevidence` of the settings.
        namespaces: in place of those that the draft's front matter names: citations mean their
            documents, and they are asked for suggestions and counter-evidence.

    Raises:
        UsageError: the draft cannot be read, its front matter is wrong, or there is no such
            namespace.
        PublicationError: nothing is published.
    """
    # Imported here: the templates of the page cost time that no other command needs.
    from rag_assets.auditing.pages.claims import render_claims_html

    started = time.monotonic()
    draft = read_draft(draft_path, namespaces)
    settings = workspace.settings.audit
    if counterevidence is not None:
        settings = settings.model_copy(update={"counterevidence": counterevidence})
    with PublishedLibrary(workspace) as library:
        publications = _choose(workspace, library, draft)
        with PublishedIndex(workspace, publications) as index:
            searches, causes = open_searches(workspace), open_causes(workspace)
            verdicts = open_verdicts(workspace)
            audit = make_claim_audit(
                draft, library, library.encoders(), Searcher(index, searches),
                workspace.settings.verify, settings, namespaces=list(publications),
                store=verdicts, causes=CausalReader(causes), make_scorer=scorer_maker(workspace),
                on_progress=on_progress,
            )  # fmt: skip
    for store in (verdicts, searches, causes):
        store.save(notify)
    key, audit_id = draft_key(draft_path), audit.audit_id
    kept = keep_audit(
        workspace, claims_stem(workspace, draft_path), audit_id,
        f"claims of {draft.name} ({key})",
        lambda: {
            ".md": render_claims(audit, audit_id),
            ".html": render_claims_html(draft, audit, audit_id),
            ".json": json.dumps(claims_to_json(audit, audit_id), indent=1, ensure_ascii=False)
            + "\n",
        },
        notify,
    )  # fmt: skip
    files = kept.files
    return ClaimOutcome(
        audit, files[".md"], files[".json"], files[".html"], kept.is_new, key,
        time.monotonic() - started,
    )  # fmt: skip


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


def claims_stem(workspace: Workspace, draft: Path) -> str:
    """Return how the claim audits of a draft are called, without version and suffix."""
    return f"{workspace.draft_stem(draft)}_claims"
