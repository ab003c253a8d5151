"""Checks of a namespace. Each reads its whole state and is a statement that can fail."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from rag_assets.checks.laws import build_law_checks
from rag_assets.checks.results import judge, record_check
from rag_assets.chunking import oversized_chunks, uncovered_parents
from rag_assets.embedding import joint_tokenizer, model_fingerprints
from rag_assets.model import count_of
from rag_assets.publishing import (
    citability_conflicts,
    describe_namespace,
    index_differences,
    table_health,
    troubled_documents,
    uncitable_evidence,
)
from rag_assets.workspace import Namespace, Workspace, require_inventory

Statement = Callable[[], dg.AssetCheckResult]


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

    @check(
        "parse_reports",
        "Every file of raw/ could be read, parsed and named, or a person has archived it.",
    )
    def no_documents_failed() -> dg.AssetCheckResult:
        namespace = reopen()
        return judge(troubled_documents(namespace, model_fingerprints(namespace.settings.embed)))

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

    @check(
        "search_index",
        "What readers see is what raw/, the settings and the overrides hold: nothing has changed "
        "since it was published. An unchanged library stays fresh, however old it is.",
    )
    def publication_is_fresh() -> dg.AssetCheckResult:
        return judge_freshness(reopen())

    @check(
        "search_index",
        "The search table is in order: fragments, versions, rows that no index knows, deleted rows "
        "and bytes a row are within their bounds.",
    )
    def table_health() -> dg.AssetCheckResult:
        return judge_table(reopen())

    return [
        no_citability_conflicts,
        no_documents_failed,
        chunks_cover_their_parent,
        no_chunk_exceeds_the_model,
        index_matches_chunks,
        evidence_is_citable,
        publication_is_fresh,
        table_health,
        *build_law_checks(declared, reopen),
    ]


def judge_table(namespace: Namespace) -> dg.AssetCheckResult:
    """Say in what state the search table is that readers see."""
    health = table_health(namespace)
    return judge(
        health.troubles(),
        dg.AssetCheckSeverity.WARN,
        passing=health.sentence,
        shown={
            "rows": health.rows,
            "fragments": health.fragments,
            "versions": health.versions,
            "parts of an index": health.parts,
            "unindexed rows": health.unindexed_rows,
            "deleted share": health.deleted_share,
            "bytes a row": health.bytes_a_row,
        },
    )


def judge_freshness(namespace: Namespace) -> dg.AssetCheckResult:
    """Look at raw/ and say what has changed since the publication, and when it was looked at."""
    state = describe_namespace(namespace, model_fingerprints(namespace.settings.embed))
    looked, published = datetime.now(UTC), state["published_at"]
    shown: dict[str, Any] = {"files": state["files"]}
    if state["mend"]:
        shown["mend"] = state["mend"]
    shown["raw/ looked at"] = dg.MetadataValue.timestamp(looked)
    if published is not None:
        shown["published"] = dg.MetadataValue.timestamp(datetime.fromtimestamp(published, UTC))
    passing = (
        f"Nothing has changed: raw/ held {count_of(state['files'], 'file')} when it was looked at "
        f"on {looked:%Y-%m-%d at %H:%M:%S} UTC."
    )
    return judge(state["stale"], dg.AssetCheckSeverity.WARN, passing=passing, shown=shown)


def record_stale(namespace: Namespace, instance: dg.DagsterInstance, reason: str) -> None:
    """Tell that a publication has become stale, once, where no run can tell it.

    A run that fails before it publishes does not check the publication, and the check would go on
    to show what it found when that was new.
    """
    key = dg.AssetCheckKey(dg.AssetKey([namespace.name, "search_index"]), "publication_is_fresh")
    latest = instance.get_latest_asset_check_evaluation_record(key)
    told = latest.evaluation if latest else None  # or a plan, where a run ended before it
    if not isinstance(told, dg.AssetCheckEvaluation) or told.passed:
        result = judge([reason], dg.AssetCheckSeverity.WARN)
        record_check(instance, key.asset_key, key.name, result)
