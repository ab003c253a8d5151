"""Checks of what belongs to the workspace as a whole."""

from collections.abc import Callable, Sequence
from datetime import date

import dagster as dg

from rag_assets.defs.checks.namespace import judge, record_check
from rag_assets.evidence import packs_without_publication
from rag_assets.model import RagError
from rag_assets.workspace import Workspace

_PACKS, _AUDITS = dg.AssetKey("evidence_packs"), dg.AssetKey("citation_audits")
_ANSWERS = dg.AssetKey("agent_answers")


def build_workspace_checks(workspace: Workspace) -> Sequence[dg.AssetChecksDefinition]:
    """Return the checks over all evidence packs, answers and citation audits."""

    @dg.asset_check(
        asset=_PACKS,
        description="Every pack's publication exists, or the pack's record says it was retired.",
    )
    def packs_cite_a_publication() -> dg.AssetCheckResult:
        return _judge_packs(workspace)

    @dg.asset_check(
        asset=_ANSWERS,
        description="Every statement that an answer to a question of queries/ keeps cites passages "
        "that were found, is judged to be supported by them, and its quote stands in the published "
        "text, word for word. Answers that were seen before and have not changed are not read "
        "again.",
        blocking=True,
    )
    def answers_cite_what_supports_them() -> dg.AssetCheckResult:
        return _judge_answers(workspace)

    @dg.asset_check(
        asset=_ANSWERS,
        description="Every answer to a question of queries/ was made of what is published now; "
        "else which of the documents that it cites have changed. Materializing the question's "
        "partition answers again.",
    )
    def answers_are_current() -> dg.AssetCheckResult:
        return _judge_currency(workspace)

    @dg.asset_check(
        asset=_AUDITS,
        description="Every verdict on a draft in drafts/ judged the text that is published now. "
        "Materializing the draft's partition judges those again that did not.",
    )
    def verdicts_are_current() -> dg.AssetCheckResult:
        return _judge_verdicts(workspace)

    @dg.asset_check(
        asset=_AUDITS,
        description="No citation of a draft in drafts/ is MISSING or ERROR. What a person has "
        "decided counts before the machine's verdict.",
    )
    def citations_are_supported() -> dg.AssetCheckResult:
        return _judge_support(workspace)

    return [
        packs_cite_a_publication,
        answers_cite_what_supports_them,
        answers_are_current,
        verdicts_are_current,
        citations_are_supported,
    ]


def check_packs(workspace: Workspace, instance: dg.DagsterInstance) -> None:
    """Check the packs, of which some were recorded without a run."""
    result = _found(_judge_packs, workspace)
    record_check(instance, _PACKS, "packs_cite_a_publication", result)


def check_answers(workspace: Workspace, instance: dg.DagsterInstance) -> None:
    """Check the answers, of which some were recorded without a run."""
    for _, name, look in _OF_ANSWERS:
        record_check(instance, _ANSWERS, name, _found(look, workspace))


def check_currency(workspace: Workspace, instance: dg.DagsterInstance) -> None:
    """Look whether the answers are of what is published now, and tell it where it is new.

    A publication is made by runs that make no answer, and the check would go on to show what it
    found when that was made.
    """
    result = _found(_judge_currency, workspace)
    key = dg.AssetCheckKey(_ANSWERS, "answers_are_current")
    latest = instance.get_latest_asset_check_evaluation_record(key)
    told = latest.evaluation if latest else None
    before = (told.passed, told.description) if isinstance(told, dg.AssetCheckEvaluation) else None
    if before != (result.passed, result.description):
        record_check(instance, _ANSWERS, key.name, result)


def make_first_checks(workspace: Workspace, instance: dg.DagsterInstance) -> None:
    """Make the checks that no run has made yet.

    Packs and audits may be recorded without a run, and a workspace may have none for long: Dagster
    would draw a green tick beside checks that never ran.
    """
    for asset, name, look in (
        (_PACKS, "packs_cite_a_publication", _judge_packs),
        *_OF_ANSWERS,
        (_AUDITS, "verdicts_are_current", _judge_verdicts),
        (_AUDITS, "citations_are_supported", _judge_support),
    ):
        if instance.get_latest_asset_check_evaluation_record(dg.AssetCheckKey(asset, name)) is None:
            record_check(instance, asset, name, _found(look, workspace))


def _found(
    look: Callable[[Workspace], dg.AssetCheckResult], workspace: Workspace
) -> dg.AssetCheckResult:
    """Return what a check says, also where it cannot look: no run stops for that."""
    try:
        return look(workspace)
    except RagError as error:
        return judge([str(error)])


def _judge_packs(workspace: Workspace) -> dg.AssetCheckResult:
    return judge(packs_without_publication(workspace))


def _judge_answers(workspace: Workspace) -> dg.AssetCheckResult:
    # Imported here, as below: every command loads the checks, few answer.
    from rag_assets.answering.saved import LookedAt, unsupported_answers

    looked = LookedAt()
    found = list(unsupported_answers(Workspace.open(workspace.root), looked))
    return judge(found, passing=f"{looked.answers} looked at, {looked.anew} anew.")


def _judge_currency(workspace: Workspace) -> dg.AssetCheckResult:
    from rag_assets.answering.saved import LookedAt, outdated_answers

    found = outdated_answers(Workspace.open(workspace.root), LookedAt())
    return judge(found, dg.AssetCheckSeverity.WARN)


_OF_ANSWERS = (
    (_ANSWERS, "answers_cite_what_supports_them", _judge_answers),
    (_ANSWERS, "answers_are_current", _judge_currency),
)


def _judge_verdicts(workspace: Workspace) -> dg.AssetCheckResult:
    # Imported here: every command loads the checks, few audit.
    from rag_assets.auditing import stale_verdicts

    fresh = Workspace.open(workspace.root)
    return judge(stale_verdicts(fresh, date.today()), dg.AssetCheckSeverity.WARN)


def _judge_support(workspace: Workspace) -> dg.AssetCheckResult:
    from rag_assets.auditing import unsupported_citations

    found = unsupported_citations(Workspace.open(workspace.root))
    return judge(found, dg.AssetCheckSeverity.WARN)
