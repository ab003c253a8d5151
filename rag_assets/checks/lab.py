"""Checks of a laboratory: of its runs, of feedback, of what its store says."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import dagster as dg

from rag_assets.checks.results import judge, record_check
from rag_assets.model import RagError
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.lab import Laboratory

_RUNS, _REPORTS, _EXTRACTIONS = (
    dg.AssetKey(["lab", name]) for name in ("recipe_runs", "feedback_reports", "memory_extractions")
)


# What is looked at is imported there: every command loads the checks, few have a laboratory.


def _broken_rules(lab: "Laboratory") -> Iterable[str]:
    from rag_assets.lab.queueing import broken_rules

    return broken_rules(lab)


def _lost_citations(lab: "Laboratory") -> Iterable[str]:
    from rag_assets.lab.queueing import lost_citations

    return lost_citations(lab)


def _lost_reports(lab: "Laboratory") -> Iterable[str]:
    from rag_assets.lab import lost_reports

    return lost_reports(lab)


def _altered_rows(lab: "Laboratory") -> Iterable[str]:
    from rag_assets.lab import altered_rows

    return altered_rows(lab.store)


@dataclass(frozen=True, slots=True)
class _Check:
    asset: dg.AssetKey
    name: str
    description: str
    look: "Callable[[Laboratory], Iterable[str]]"
    severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR
    blocking: bool = False


_CHECKS = (
    _Check(
        _RUNS,
        "recipes_follow_the_rules",
        "Every recipe follows the rules of the system and of its run: two metals, a "
        "ratio, a modifier with –COOH, BTB, and as many recipes as were wanted.",
        _broken_rules,
    ),
    _Check(
        _RUNS,
        "citations_of_runs_resolve",
        "Every citation of a recipe was shown to its run, whose trace has its words, "
        "and every item of experience opens.",
        _lost_citations,
    ),
    _Check(
        _REPORTS,
        "every_feedback_has_its_report",
        "Every feedback, as it stands now, was compared, and its report is of its values.",
        _lost_reports,
        dg.AssetCheckSeverity.WARN,
    ),
    _Check(
        _EXTRACTIONS,
        "experience_equals_its_events",
        "The tables of the laboratory, experience among them, are what its events make. Else no "
        "experience is published.",
        _altered_rows,
        blocking=True,
    ),
)


def build_lab_checks(workspace: Workspace) -> Sequence[dg.AssetChecksDefinition]:
    """Return the checks of a workspace that has a laboratory."""
    return [_build(workspace, check) for check in _CHECKS]


def check_runs(workspace: Workspace, instance: dg.DagsterInstance) -> None:
    """Check the runs, of which some were recorded without a run of Dagster."""
    _record(workspace, instance, (_RUNS,))


def check_feedback(workspace: Workspace, instance: dg.DagsterInstance) -> None:
    """Check reports and experience, of which some were recorded without a run of Dagster."""
    _record(workspace, instance, (_REPORTS, _EXTRACTIONS))


def _build(workspace: Workspace, check: _Check) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=check.asset, name=check.name, description=check.description, blocking=check.blocking
    )
    def found() -> dg.AssetCheckResult:
        return _judge(workspace, check)

    return found


def _record(
    workspace: Workspace, instance: dg.DagsterInstance, assets: Sequence[dg.AssetKey]
) -> None:
    for check in _CHECKS:
        if check.asset in assets:
            try:
                result = _judge(workspace, check)
            except RagError as error:  # it cannot look; nothing stops for that
                result = judge([str(error)], check.severity)
            record_check(instance, check.asset, check.name, result)


def _judge(workspace: Workspace, check: _Check) -> dg.AssetCheckResult:
    from rag_assets.lab import open_laboratory

    lab = open_laboratory(Workspace.open(workspace.root))
    try:
        return judge(check.look(lab), check.severity)
    finally:
        lab.store.close()
