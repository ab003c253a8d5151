"""The asset `evidence_packs`: what may be cited to answer each question in queries/."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date

import dagster as dg

from rag_assets.assets.lineage_links import lineage_metadata
from rag_assets.assets.options import OWNERS, signed_work
from rag_assets.assets.reporting import Metadata, table, text_preview
from rag_assets.checks import check_packs, make_first_checks
from rag_assets.evidence import (
    AskOutcome,
    SavedQuestion,
    ask,
    list_questions,
    noted_packs,
    read_question,
)
from rag_assets.model import UsageError
from rag_assets.workspace import Workspace

CODE_VERSION = "2"
QUESTIONS = dg.DynamicPartitionsDefinition(name="questions")


def build_evidence_packs_asset(
    workspace: Workspace, upstream: Sequence[dg.AssetKey]
) -> dg.AssetsDefinition:
    """Return the asset of a workspace; it depends on every namespace's search_index."""

    @dg.asset(
        key="evidence_packs",
        deps=list(upstream),
        group_name="workspace",
        description="An evidence pack for each question: passages that may be cited, where they "
        "stand and how they were found. Numbered files under outputs/: Markdown, JSON, and a page "
        "that shows each quote in its source.",
        kinds={"file", "report"},
        owners=OWNERS,
        code_version=CODE_VERSION,
        partitions_def=QUESTIONS,
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def evidence_packs(context: dg.AssetExecutionContext) -> None:
        # Every run loads this module, few search.
        from rag_assets.retrieval import OpenedLibrary

        fresh = Workspace.open(workspace.root)
        by_key = {saved.key: saved for saved in _readable(fresh, context.log.warning)}
        with OpenedLibrary(fresh) as library:
            for key in context.partition_keys:
                if key not in by_key:
                    raise UsageError(
                        f"no question in {fresh.queries} has the content of '{key}' any more: it "
                        "was edited or removed. Ask the present one: `rag query --file FILE`."
                    )
                with signed_work(context, fresh, CODE_VERSION):
                    outcome = ask(
                        library,
                        by_key[key],
                        html=True,
                        today=date.today(),
                        notify=context.log.info,
                    )
                context.add_asset_metadata(pack_metadata(fresh, outcome), partition_key=key)

    return evidence_packs


def _readable(workspace: Workspace, warn: Callable[[str], None]) -> Iterator[SavedQuestion]:
    """Yield the questions that can be read: one that cannot harms no other."""
    for path in list_questions(workspace):
        try:
            yield read_question(path)
        except UsageError as error:
            warn(f"passed over: {error}")


def record_noted_packs(workspace: Workspace, instance: dg.DagsterInstance) -> None:
    """Make materializations of the packs that commands have made since the last run."""
    was_recorded = False
    for outcome in noted_packs(workspace):
        was_recorded = True
        instance.add_dynamic_partitions(str(QUESTIONS.name), [outcome.key])
        instance.report_runless_asset_event(
            dg.AssetMaterialization(
                asset_key="evidence_packs",
                partition=outcome.key,
                metadata=pack_metadata(workspace, outcome),
            )
        )
    if was_recorded:
        check_packs(workspace, instance)
    make_first_checks(workspace, instance)


def pack_metadata(workspace: Workspace, outcome: AskOutcome) -> Metadata:
    """Return what the UI shows of a pack."""
    pack = outcome.pack
    return {
        "question": pack.question,
        "documents": len(pack.doc_uids),
        "items": len(pack.items),
        "seconds": round(outcome.seconds, 3),
        "is new": outcome.is_new,
        "mode": pack.mode,
        "locator quality": ", ".join(f"{n} {c}" for n, c in pack.locator_quality.items()),
        "file": dg.MetadataValue.path(str(outcome.markdown)),
        **(
            {
                "page": dg.MetadataValue.path(str(outcome.html)),
                "page in a browser": dg.MetadataValue.url(outcome.html.absolute().as_uri()),
            }
            if outcome.html
            else {}
        ),
        "table": table(
            ("rank", "doc_uid", "where", "quote"),
            ((i.rank, i.doc_uid, i.locator, i.exact_quote[:200]) for i in pack.items),
        ),
        **lineage_metadata(
            workspace,
            (
                (source.namespace, source.doc_uid, source.content_hash, str(rank))
                for source in pack.sources
                for rank in source.ranks
            ),
        ),
        "preview": text_preview(outcome.markdown.read_text(encoding="utf-8")[:6000]),
        "publications": ", ".join(f"{n}/{p}" for n, p in pack.publications.items()),
        "digest": pack.query_id,
    }
