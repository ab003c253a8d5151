"""Checks of a namespace. Each reads its whole state and is a statement that can fail."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any, NamedTuple

import dagster as dg

from rag_assets.embedding import model_fingerprints
from rag_assets.model import count_of
from rag_assets.model.markdown import escape_inline
from rag_assets.publishing import (
    citability_conflicts,
    describe_namespace,
    index_differences,
    troubled_documents,
    uncitable_evidence,
)
from rag_assets.workspace import Namespace, Workspace, require_inventory

# Sentences shown of a failed check; the rest is counted.
_SHOWN = 50
# Sentences in the check's own line.
_TOLD = 3


def judge(
    sentences: Iterable[str],
    severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR,
    *,
    passing: str | None = None,
    shown: Mapping[str, Any] | None = None,
) -> dg.AssetCheckResult:
    """Return a check's result: passed where there is nothing to say.

    Args:
        passing: what is said then.
        shown: metadata beside what was found.
    """
    iterator = iter(sentences)
    found = list(islice(iterator, _SHOWN))
    more = sum(1 for _ in iterator)
    if not found:
        # A number from the beginning, so that the UI plots how it went on.
        return dg.AssetCheckResult(
            passed=True,
            severity=severity,
            description=passing,
            metadata={"count": 0, **(shown or {})},
        )
    total = len(found) + more
    listed = "\n".join(f"- {escape_inline(sentence)}" for sentence in found)
    told = _sentence(found, total)
    return dg.AssetCheckResult(
        passed=False,
        severity=severity,
        # The UI renders a description as Markdown; commands print what is told.
        description=escape_inline(told),
        metadata={
            "told": told,
            "count": total,
            "found": dg.MetadataValue.md(listed + (f"\n- … and {more} more" if more else "")),
            **(shown or {}),
        },
    )


def _sentence(found: list[str], total: int) -> str:
    """Return what is read without opening anything: the first findings, and how many there are."""
    told = " · ".join(found[:_TOLD])
    rest = f" · and {total - _TOLD} more, listed under 'found'" if total > _TOLD else ""
    return told + rest


def record_check(
    instance: dg.DagsterInstance, asset: dg.AssetKey, name: str, result: dg.AssetCheckResult
) -> None:
    """Record a check's result without a run.

    Where an asset was materialized without one its checks did not run either; the graph would draw
    a green tick beside them all the same.
    """
    instance.report_runless_asset_event(
        dg.AssetCheckEvaluation(
            asset_key=asset,
            check_name=name,
            passed=result.passed,
            severity=result.severity,
            description=result.description,
            metadata=result.metadata,
        )
    )


# Says of a namespace what is wrong.
Statement = Callable[[Namespace], dg.AssetCheckResult]


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

    return [_build_checks(declared, stage, reopen) for stage in stages]


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
        for name in sorted(key.name for key in context.selected_asset_check_keys):
            yield _CHECKS[name].statement(namespace)._replace(check_name=name)

    return checks


def _conflicts(namespace: Namespace) -> dg.AssetCheckResult:
    found = citability_conflicts(require_inventory(namespace))
    return judge(found, dg.AssetCheckSeverity.WARN)


def _troubled(namespace: Namespace) -> dg.AssetCheckResult:
    return judge(troubled_documents(namespace))


def _differences(namespace: Namespace) -> dg.AssetCheckResult:
    return judge(index_differences(namespace, model_fingerprints(namespace.settings.embed)))


def _uncitable(namespace: Namespace) -> dg.AssetCheckResult:
    return judge(uncitable_evidence(namespace))


def judge_freshness(namespace: Namespace) -> dg.AssetCheckResult:
    """Look at raw/ and say what has changed since the publication, and when it was looked at."""
    state = describe_namespace(namespace, model_fingerprints(namespace.settings.embed))
    looked, published = datetime.now(UTC), state["published_at"]
    shown: dict[str, Any] = {"files": state["files"]}
    if state["mend"]:
        shown["run next"] = state["mend"]
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
        "No file is both in a folder of evidence and outside one.",
        _conflicts,
    ),
    "no_documents_failed": _Check(
        "parse_reports",
        "Every file of raw/ could be read, parsed and named, or a person has archived it.",
        _troubled,
    ),
    "index_matches_chunks": _Check(
        "search_index",
        "The publication holds exactly the chunks of the living documents.",
        _differences,
        blocking=True,
    ),
    "evidence_is_citable": _Check(
        "search_index",
        "Everything published as citable is in a folder of evidence.",
        _uncitable,
        blocking=True,
    ),
    "publication_is_fresh": _Check(
        "search_index",
        "What readers see is what raw/, the settings and the overrides hold: nothing has changed "
        "since it was published. An unchanged library stays fresh, however old it is.",
        judge_freshness,
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
