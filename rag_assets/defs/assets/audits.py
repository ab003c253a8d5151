"""The assets of drafts: one for each kind of audit, partitioned by the draft's content."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import dagster as dg

from rag_assets.defs.assets.reporting import (
    OWNERS,
    Metadata,
    copies_metadata,
    lineage_metadata,
    progress_reporter,
    signed_work,
    table,
    text_preview,
)
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.auditing import AuditKind, AuditOutcome, CitationAudit
    from rag_assets.auditing.claims import ClaimAudit


def citations_metadata(workspace: Workspace, outcome: "AuditOutcome[CitationAudit]") -> Metadata:
    """Return what the UI shows of an audit."""
    from rag_assets.judging import show_score

    audit = outcome.audit
    return {
        "draft": audit.draft_name,
        **{str(status): count for status, count in audit.counts.items()},
        "seconds": round(outcome.seconds, 3),
        "judged now": outcome.judged,
        "is new": outcome.is_new,
        "file": dg.MetadataValue.path(str(outcome.markdown)),
        "page": dg.MetadataValue.path(str(outcome.html)),
        "table": table(
            ("row", "line", "sentence", "cites", "verdict", "score", "where", "reason"),
            (
                (
                    row.number,
                    row.line,
                    row.claim[:200],
                    row.doc_uid,
                    row.status,
                    "" if row.score is None else show_score(row.score),
                    row.locator or "",
                    row.reason,
                )
                for row in audit.by_urgency
            ),
        ),
        **lineage_metadata(
            workspace,
            (
                (row.namespace, row.doc_uid, row.content_version, str(row.number))
                for row in audit.rows
            ),
        ),
        "preview": text_preview(outcome.markdown.read_text(encoding="utf-8")[:8000]),
        "publications": ", ".join(f"{n}/{p}" for n, p in audit.publications.items()),
        "digest": audit.audit_id,
    }


def claims_metadata(workspace: Workspace, outcome: "AuditOutcome[ClaimAudit]") -> Metadata:
    """Return what the UI shows of a claim audit."""
    audit = outcome.audit
    return {
        "draft": audit.draft_name,
        **{str(status): count for status, count in audit.counts.items()},
        "seconds": round(outcome.seconds, 3),
        "searched": audit.searched_now,
        "judged": audit.judged_now,
        "is new": outcome.is_new,
        "file": dg.MetadataValue.path(str(outcome.markdown)),
        "page": dg.MetadataValue.path(str(outcome.html)),
        "table": table(
            ("claim_id", "line", "claim", "type", "status", "reason"),
            (
                (
                    row.claim_id,
                    row.line,
                    row.claim_text[:200],
                    row.claim_type,
                    row.status,
                    row.reason,
                )
                for row in audit.by_urgency
            ),
        ),
        **lineage_metadata(
            workspace,
            (
                (
                    link.verdict.namespace,
                    link.verdict.doc_uid,
                    link.verdict.content_version,
                    row.claim_id,
                )
                for row in audit.rows
                for link in row.linked_evidence
            ),
        ),
        "preview": text_preview(outcome.markdown.read_text(encoding="utf-8")[:8000]),
        "publications": ", ".join(f"{n}/{p}" for n, p in audit.publications.items()),
        "digest": audit.audit_id,
    }


# Every run loads this module, few audit: what audits is imported where it is used.

DRAFTS = dg.DynamicPartitionsDefinition(name="drafts")


@dataclass(frozen=True, slots=True)
class _Face:
    """What the UI shows of a kind of audit.

    Args:
        kind: imports it.
        code_version: raise it when the same sentence may be judged otherwise.
    """

    asset: str
    kind: "Callable[[], AuditKind[Any]]"
    metadata: "Callable[[Workspace, AuditOutcome[Any]], Metadata]"
    code_version: str
    description: str


def _citations() -> "AuditKind[Any]":
    from rag_assets.auditing import CITATIONS

    return CITATIONS


def _claims() -> "AuditKind[Any]":
    from rag_assets.auditing.storing import CLAIMS

    return CLAIMS


_FACES = (
    _Face(
        "citation_audits",
        _citations,
        citations_metadata,
        "2",
        "For each sentence of a draft that cites {#doc_uid}, [@key] or \\cite{key}: OK, WEAK or "
        "MISSING, with the best passage of that document, where it stands, and what speaks for and "
        "against. What was judged before is not judged again. Numbered files under "
        "outputs/audits/.",
    ),
    _Face(
        "claim_audits",
        _claims,
        claims_metadata,
        "4",
        "The strong assertions of a draft that cite nothing (causal, comparative, superlative, "
        "universal, recommendation, quantitative), and which documents could be cited for each. "
        "Numbered files under outputs/audits/.",
    ),
)


def build_audit_assets(
    workspace: Workspace, upstream: Sequence[dg.AssetKey]
) -> list[dg.AssetsDefinition]:
    """Return the assets of a workspace; they depend on every namespace's search_index."""
    return [_build(workspace, face, upstream) for face in _FACES]


def metadata_of_audit(workspace: Workspace, outcome: "AuditOutcome[Any]") -> Metadata:
    """Return what the UI shows of an audit of any kind."""
    (face,) = (face for face in _FACES if face.asset == outcome.kind.asset)
    return face.metadata(workspace, outcome)


def _build(
    workspace: Workspace, face: _Face, upstream: Sequence[dg.AssetKey]
) -> dg.AssetsDefinition:
    @dg.asset(
        key=face.asset,
        deps=list(upstream),
        group_name="workspace",
        description=face.description,
        kinds={"file", "report"},
        owners=OWNERS,
        code_version=face.code_version,
        partitions_def=DRAFTS,
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def audits(context: dg.AssetExecutionContext) -> None:
        from rag_assets.auditing import find_drafts
        from rag_assets.retrieval import OpenedLibrary

        kind = face.kind()
        fresh, progress = Workspace.open(workspace.root), progress_reporter.get()
        with OpenedLibrary(fresh) as library:
            for key in context.partition_keys:
                with signed_work(context, fresh, face.code_version):
                    outcomes = {
                        path: kind.make(
                            library,
                            path,
                            as_of=date.today(),
                            notify=context.log.info,
                            on_progress=progress,
                        )
                        for path in find_drafts(fresh, key)
                    }
                # Equal copies have equal rows; each has files of its own.
                outcome = next(iter(outcomes.values()))
                files = {path: each.markdown for path, each in outcomes.items()}
                context.add_asset_metadata(
                    {**face.metadata(fresh, outcome), **copies_metadata(fresh, files)},
                    partition_key=key,
                )
                for trouble in outcome.audit.errors:
                    context.log.error(f"{outcome.audit.draft_name}: {trouble}")

    return audits
