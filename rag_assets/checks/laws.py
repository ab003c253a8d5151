"""Checks of a namespace of laws (`chunk.mode: law`), besides those of every namespace."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import dagster as dg

from rag_assets.checks.results import judge
from rag_assets.workspace import Namespace, require_inventory

if TYPE_CHECKING:
    from rag_assets.retrieval.vaults import CutFaults


def build_law_checks(
    declared: Namespace, reopen: Callable[[], Namespace]
) -> Sequence[dg.AssetChecksDefinition]:
    """Return the checks of a namespace of laws; none of another one.

    They stand behind the publication: whoever waits for it does not wait for them.

    Args:
        reopen: returns the namespace with its settings of this moment.
    """
    if declared.settings.chunk.mode != "law":
        return []
    index = dg.AssetKey([declared.name, "search_index"])

    def seen(context: dg.AssetCheckExecutionContext) -> "CutFaults":
        from rag_assets.retrieval.vaults import find_cut_faults

        namespace = reopen()
        return find_cut_faults(namespace, require_inventory(namespace), context.log.info)

    @dg.asset_check(
        asset=index,
        description="Every character of a law that is not white space is in a passage that is "
        "shown.",
    )
    def no_text_of_laws_is_lost(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
        return judge(seen(context).lost)

    @dg.asset_check(
        asset=index,
        description="Every article of a law begins a passage, and its number follows the one "
        "before.",
    )
    def articles_are_whole(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
        return judge(seen(context).broken, dg.AssetCheckSeverity.WARN)

    @dg.asset_check(
        asset=index,
        description="Citations of articles, written for a sample of the publication, lead back to "
        "the text that they were written for.",
    )
    def citations_resolve() -> dg.AssetCheckResult:
        from rag_assets.retrieval.vaults import unresolved_citations

        today = datetime.now(UTC).date()
        return judge(unresolved_citations(reopen(), today), dg.AssetCheckSeverity.WARN)

    return [no_text_of_laws_is_lost, articles_are_whole, citations_resolve]
