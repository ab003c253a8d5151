"""Checks of a namespace. Each reads its whole state and is a statement that can fail."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice

import dagster as dg

from rag_assets.chunking.verifying import oversized_chunks, uncovered_parents
from rag_assets.embedding import joint_tokenizer, model_fingerprints
from rag_assets.model.markdown import escape_inline
from rag_assets.publishing.verifying import (
    citability_conflicts,
    index_differences,
    troubled_documents,
    uncitable_evidence,
)
from rag_assets.workspace import Namespace, Workspace, require_inventory

Statement = Callable[[], dg.AssetCheckResult]

# Sentences shown of a failed check; the rest is counted.
_SHOWN = 50
# Sentences in the check's own line.
_TOLD = 3


def build_namespace_checks(declared: Namespace) -> Sequence[dg.AssetChecksDefinition]:
    """Return the checks of one namespace. Those that guard publishing block it."""

    def reopen() -> Namespace:
        return Workspace.open(declared.workspace.root).namespace(declared.name)

    def check(
        stage: str, description: str, *, blocking: bool = False
    ) -> Callable[[Statement], dg.AssetChecksDefinition]:
        return dg.asset_check(
            asset=dg.AssetKey([declared.name, stage]), description=description, blocking=blocking
        )

    @check("inventory", "No bytes lie both where evidence lies and where it does not.")
    def no_citability_conflicts() -> dg.AssetCheckResult:
        found = citability_conflicts(require_inventory(reopen()))
        return judge(found, dg.AssetCheckSeverity.WARN)

    @check("parse_reports", "Every file of raw/ could be read, parsed and named.")
    def no_documents_failed() -> dg.AssetCheckResult:
        namespace = reopen()
        found = troubled_documents(namespace, model_fingerprints(namespace.settings.embed))
        return judge(found, dg.AssetCheckSeverity.WARN)

    @check(
        "chunks",
        "Every character of a parent that is not white space is in a chunk of it.",
        blocking=True,
    )
    def chunks_cover_their_parent() -> dg.AssetCheckResult:
        namespace = reopen()
        return judge(uncovered_parents(namespace, require_inventory(namespace)))

    @check(
        "chunks", "No chunk has more tokens than any of the embedding models reads.", blocking=True
    )
    def no_chunk_exceeds_the_model() -> dg.AssetCheckResult:
        namespace = reopen()
        limit = joint_tokenizer(namespace.settings.embed).limit
        return judge(oversized_chunks(namespace, require_inventory(namespace), limit))

    @check(
        "search_index",
        "The publication holds exactly the chunks of the living documents.",
        blocking=True,
    )
    def index_matches_chunks() -> dg.AssetCheckResult:
        namespace = reopen()
        return judge(index_differences(namespace, model_fingerprints(namespace.settings.embed)))

    @check(
        "search_index", "Everything published as citable lies where evidence lies.", blocking=True
    )
    def evidence_is_citable() -> dg.AssetCheckResult:
        return judge(uncitable_evidence(reopen()))

    return [
        no_citability_conflicts,
        no_documents_failed,
        chunks_cover_their_parent,
        no_chunk_exceeds_the_model,
        index_matches_chunks,
        evidence_is_citable,
    ]


def judge(
    sentences: Iterable[str],
    severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR,
) -> dg.AssetCheckResult:
    """Return a check's result: passed where there is nothing to say."""
    iterator = iter(sentences)
    shown = list(islice(iterator, _SHOWN))
    more = sum(1 for _ in iterator)
    if not shown:
        return dg.AssetCheckResult(passed=True, severity=severity)
    total = len(shown) + more
    listed = "\n".join(f"- {escape_inline(sentence)}" for sentence in shown)
    told = _sentence(shown, total)
    return dg.AssetCheckResult(
        passed=False,
        severity=severity,
        # The UI renders a description as Markdown; commands print what is told.
        description=escape_inline(told),
        metadata={
            "told": told,
            "count": total,
            "found": dg.MetadataValue.md(listed + (f"\n- … and {more} more" if more else "")),
        },
    )


def _sentence(shown: list[str], total: int) -> str:
    """Return what is read without opening anything: the first findings, and how many there are."""
    told = " · ".join(shown[:_TOLD])
    rest = f" · and {total - _TOLD} more, listed under 'found'" if total > _TOLD else ""
    return told + rest
