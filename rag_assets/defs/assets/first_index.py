"""The asset `first_index`: what can be asked while the vectors are still being made."""

import dagster as dg

from rag_assets.defs.assets.reporting import OWNERS, progress_reporter, publishers, signed_work
from rag_assets.defs.assets.reporting import reopen_namespace as reopen
from rag_assets.defs.assets.stage import stage_before
from rag_assets.embedding import embedding_models
from rag_assets.evidence import mark_retired
from rag_assets.publishing import PUBLISHING_VERSION, count_lacking, loses_vectors, publish
from rag_assets.workspace import Namespace

# A run with this tag needs texts and no vectors, as a check of a draft.
FOR_TEXTS = "rag/for_texts"
# Fewer vectors than these are made in a few seconds: one publication serves.
_FEWEST = 200


def build_first_index_asset(declared: Namespace) -> dg.AssetsDefinition:
    """Return the asset of one namespace."""

    @dg.asset(
        key=[declared.name, "first_index"],
        deps=stage_before(declared, "first_index"),
        group_name=declared.name,
        description="A publication before the vectors are there, where many are to be made: new "
        "passages are found by their words, others as before. `search_index` replaces it.",
        kinds={"duckdb", "table"},
        owners=OWNERS,
        code_version=str(PUBLISHING_VERSION),
        backfill_policy=dg.BackfillPolicy.single_run(),
        pool=publishers(declared.name),
        # Before `embeddings`, which takes minutes and may begin at the same time.
        op_tags={"dagster/priority": "1"},
    )
    def first_index(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        namespace = reopen(declared.workspace, declared.name, declared.settings.hex_digits)
        models = embedding_models(namespace.settings.embed)
        lacking = count_lacking(namespace, [model.fingerprint for model in models])
        is_few = lacking < _FEWEST and FOR_TEXTS not in context.run.tags
        if is_few or loses_vectors(namespace):
            return dg.MaterializeResult(
                metadata={"vectors to come": lacking, "published": False},
                data_version=dg.DataVersion("none"),
            )
        with signed_work(context, namespace, str(PUBLISHING_VERSION)):
            outcome = publish(namespace, models, context.log.info)
        mark_retired(namespace.workspace, namespace.name, outcome.retired)
        report = progress_reporter.get()
        if report:
            news = (
                f"You can query {namespace.name} now; {lacking} vectors are still to be built, and "
                "until then new passages are found by their words only"
            )
            report(news, 0, 0)
        return dg.MaterializeResult(
            metadata={
                "documents": outcome.counts["documents"],
                "vectors to come": lacking,
                "seconds": round(outcome.seconds, 3),
                **{name: n for name, n in outcome.counts.items() if name != "documents"},
                "published": True,
                "publication": outcome.publication,
            },
            data_version=dg.DataVersion(outcome.publication),
        )

    return first_index
