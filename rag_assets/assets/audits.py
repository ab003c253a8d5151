"""The assets of drafts: one for each kind of audit, partitioned by the draft's content."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import dagster as dg

from rag_assets.assets.citation_audits import citations_metadata
from rag_assets.assets.claim_audits import claims_metadata
from rag_assets.assets.options import OWNERS, progress_reporter, signed_work
from rag_assets.assets.reporting import Metadata, copies_metadata
from rag_assets.workspace import Workspace

# Every run loads this module, few audit: what audits is imported where it is used.
if TYPE_CHECKING:
    from rag_assets.auditing import AuditKind, AuditOutcome

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
