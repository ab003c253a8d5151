"""Checks of a namespace. Each reads its whole state and is a statement that can fail."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

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
    troubled_documents,
    uncitable_evidence,
)
from rag_assets.workspace import Namespace, Workspace, require_inventory

# Says of a namespace, and of the partitions that a run has made, what is wrong.
Statement = Callable[[Namespace, Sequence[str]], dg.AssetCheckResult]


class _Check(NamedTuple):
    stage: str
    description: str
    statement: Statement
    blocking: bool = False


def build_namespace_checks(declared: Namespace) -> Sequence[dg.AssetChecksDefinition]:
    """Return the checks of one namespace. Those that guard publishing block it."""
    stages = dict.fromkeys(check.stage for check in _CHECKS.values())

    def reopen() -> Namespace:
        return Workspace.open(declared.workspace.root).namespace(declared.name)

    return [
        *(_build_checks(declared, stage, reopen) for stage in stages),
        *build_law_checks(declared, reopen),
    ]


def _build_checks(
    declared: Namespace, stage: str, reopen: Callable[[], Namespace]
) -> dg.AssetChecksDefinition:
    """Return the checks of one stage as one step: each step costs a run more than most checks."""

    @dg.multi_asset_check(
        name=dg.AssetKey([declared.name, stage]).to_python_identifier("checks"),
        specs=[
            dg.AssetCheckSpec(
                name,
                asset=[declared.name, stage],
                description=check.description,
                blocking=check.blocking,
            )
            for name, check in _CHECKS.items()
            if check.stage == stage
        ],
        can_subset=True,
    )
    def checks(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        namespace = reopen()
        partitions = _partitions_of(context.run, namespace)
        for name in sorted(key.name for key in context.selected_asset_check_keys):
            yield _CHECKS[name].statement(namespace, partitions)._replace(check_name=name)

    return checks


def _partitions_of(run: dg.DagsterRun, namespace: Namespace) -> Sequence[str]:
    """Return the partitions that a run makes; all where it names none."""
    keys = namespace.partition_keys
    one = run.tags.get("dagster/partition")
    first = one or run.tags.get("dagster/asset_partition_range_start", keys[0])
    last = one or run.tags.get("dagster/asset_partition_range_end", keys[-1])
    return [key for key in keys if first <= key <= last]


def _conflicts(namespace: Namespace, _: Sequence[str]) -> dg.AssetCheckResult:
    found = citability_conflicts(require_inventory(namespace))
    return judge(found, dg.AssetCheckSeverity.WARN)


def _troubled(namespace: Namespace, _: Sequence[str]) -> dg.AssetCheckResult:
    return judge(troubled_documents(namespace))


def _uncovered(namespace: Namespace, partitions: Sequence[str]) -> dg.AssetCheckResult:
    return judge(uncovered_parents(namespace, require_inventory(namespace), partitions))


def _oversized(namespace: Namespace, partitions: Sequence[str]) -> dg.AssetCheckResult:
    limit = joint_tokenizer(namespace.settings.embed).limit
    return judge(oversized_chunks(namespace, require_inventory(namespace), partitions, limit))


def _differences(namespace: Namespace, _: Sequence[str]) -> dg.AssetCheckResult:
    return judge(index_differences(namespace, model_fingerprints(namespace.settings.embed)))


def _uncitable(namespace: Namespace, _: Sequence[str]) -> dg.AssetCheckResult:
    return judge(uncitable_evidence(namespace))


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


# By its name.
_CHECKS: Mapping[str, _Check] = {
    "no_citability_conflicts": _Check(
        "inventory",
        "No bytes lie both where evidence lies and where it does not.",
        _conflicts,
    ),
    "no_documents_failed": _Check(
        "parse_reports",
        "Every file of raw/ could be read, parsed and named, or a person has archived it.",
        _troubled,
    ),
    "chunks_cover_their_parent": _Check(
        "chunks",
        "Every character of a parent that is not white space is in a chunk of it. A run looks at "
        "the partitions that it makes.",
        _uncovered,
        blocking=True,
    ),
    "no_chunk_exceeds_the_model": _Check(
        "chunks",
        "No chunk has more tokens than any of the embedding models reads. A run looks at the "
        "partitions that it makes.",
        _oversized,
        blocking=True,
    ),
    "index_matches_chunks": _Check(
        "search_index",
        "The publication holds exactly the chunks of the living documents.",
        _differences,
        blocking=True,
    ),
    "evidence_is_citable": _Check(
        "search_index",
        "Everything published as citable lies where evidence lies.",
        _uncitable,
        blocking=True,
    ),
    "publication_is_fresh": _Check(
        "search_index",
        "What readers see is what raw/, the settings and the overrides hold: nothing has changed "
        "since it was published. An unchanged library stays fresh, however old it is.",
        lambda namespace, _: judge_freshness(namespace),
    ),
}


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
