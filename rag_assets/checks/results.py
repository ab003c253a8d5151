"""What a check found as Dagster's result, in a run or without one."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import dagster as dg

from rag_assets.model.markdown import escape_inline

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
