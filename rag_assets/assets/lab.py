"""Assets of a laboratory: requests, the runs that they ask for, the experience that runs read.

Recipes → feedback → experience → recipes is a circle, and assets may have none: experience is an
external asset, of which each run observes what it read.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import dagster as dg

from rag_assets.assets.options import OWNERS
from rag_assets.assets.reporting import Metadata, table, text_preview
from rag_assets.model import RagError, UsageError, hash_fields
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.lab import Laboratory, Run

RECIPE_RUNS = dg.DynamicPartitionsDefinition(name="recipe_runs")
RUNS_ASSET = dg.AssetKey(["lab", "recipe_runs"])
EXPERIENCE_ASSET = dg.AssetKey(["lab", "experience"])
REQUESTS_ASSET = dg.AssetKey(["lab", "requests"])
_GROUP = "lab"
_BY = "dagster"
# Another process may be working on the queue; a run takes minutes.
_PATIENCE_SECONDS = 3600.0


def build_lab_assets(
    workspace: Workspace, upstream: Sequence[dg.AssetKey]
) -> list[dg.AssetsDefinition | dg.AssetSpec]:
    """Return the assets of a workspace that has a laboratory.

    Args:
        upstream: the search indexes of its two knowledge bases.
    """

    @dg.asset(
        key=REQUESTS_ASSET,
        group_name=_GROUP,
        description="The files in requests/, each key of which is one run: materializing it makes "
        "them partitions of lab/recipe_runs.",
        kinds={"file"},
        owners=OWNERS,
        code_version="1",
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def requests(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        # Imported here: every command loads the definitions, few have a laboratory.
        from rag_assets.lab.queueing import requested_keys

        troubles: list[str] = []
        found = list(requested_keys(Workspace.open(workspace.root), troubles))
        for trouble in troubles:
            context.log.warning(f"passed over: {trouble}")
        context.instance.add_dynamic_partitions(str(RECIPE_RUNS.name), [key for key, _ in found])
        return dg.MaterializeResult(
            metadata={
                "runs": len(found),
                "table": table(("run", "file"), ((key, path.name) for key, path in found)),
            }
        )

    @dg.asset(
        key=RUNS_ASSET,
        deps=[*upstream, REQUESTS_ASSET, EXPERIENCE_ASSET],
        group_name=_GROUP,
        description="The recipes of each run with their grounds. Trace, calls and result lie below "
        "data/lab/runs/; one that is done is not made again.",
        kinds={"file", "report"},
        owners=OWNERS,
        code_version="1",
        partitions_def=RECIPE_RUNS,
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def recipe_runs(context: dg.AssetExecutionContext) -> None:
        with _opened(workspace) as lab:
            for key in context.partition_keys:
                _observe(context, lab)
                run = _make(context, lab, key)
                context.add_asset_metadata(run_metadata(lab, run), partition_key=key)

    experience = dg.AssetSpec(
        EXPERIENCE_ASSET,
        group_name=_GROUP,
        description="What feedback taught, as runs read it. `rag lab experience` shows it.",
        kinds={"sqlite"},
        owners=OWNERS,
    )
    return [requests, experience, recipe_runs]


@contextmanager
def _opened(workspace: Workspace) -> "Iterator[Laboratory]":
    from rag_assets.lab import open_laboratory

    lab = open_laboratory(Workspace.open(workspace.root))
    try:
        yield lab
    finally:
        lab.store.close()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _make(context: dg.AssetExecutionContext, lab: "Laboratory", key: str) -> "Run":
    from rag_assets.lab import read_run
    from rag_assets.lab.queueing import queue_key, work

    if queue_key(lab, key, at=_now(), by=_BY).state != "done":
        work(
            lab, now=_now, clock=time.monotonic, notify=context.log.info, only=key,
            patience=_PATIENCE_SECONDS,
        )  # fmt: skip
    with lab.store.reading() as reading:
        run, _ = read_run(reading, key)
    if run.state != "done":
        raise UsageError(f"run {key} is {run.state}: {run.reason}")
    return run


def _observe(context: dg.AssetExecutionContext, lab: "Laboratory") -> None:
    """Say which experience the next run can read."""
    from rag_assets.lab import list_items

    with lab.store.reading() as reading:
        items = list_items(reading, status="active")
    digest = hash_fields([(item.id, item.version) for item in items])
    context.log_event(
        dg.AssetObservation(EXPERIENCE_ASSET, metadata={"items": len(items), "digest": digest})
    )


def record_done_runs(workspace: Workspace, instance: dg.DagsterInstance) -> int:
    """Make materializations of the runs that were made elsewhere; return how many."""
    from rag_assets.lab import list_runs

    made = instance.get_materialized_partitions(RUNS_ASSET)
    with _opened(workspace) as lab:
        with lab.store.reading() as reading:
            done = [run for run, _ in list_runs(reading, "done") if run.kind != "imported"]
        new = [run for run in done if run.id not in made]
        for run in new:
            instance.add_dynamic_partitions(str(RECIPE_RUNS.name), [run.id])
            instance.report_runless_asset_event(
                dg.AssetMaterialization(
                    asset_key=RUNS_ASSET, partition=run.id, metadata=run_metadata(lab, run)
                )
            )
    return len(new)


def run_metadata(lab: "Laboratory", run: "Run") -> Metadata:
    """Return what the UI shows of a run that is done."""
    from rag_assets.lab.orchestrating import read_trace
    from rag_assets.lab.queueing import render_run, trace_file
    from rag_assets.lab.recipes import formula

    path = trace_file(lab.workspace, run)
    try:
        page = render_run(run, read_trace(path))
    except RagError as error:  # its check says so too; the recipes are shown without sources
        page = f"{error}\n\n{render_run(run, ())}"
    cited = [c for recipe in run.recipes for ground in recipe.grounds for c in ground.citations]
    return {
        "request": str(run.request.get("text", "")),
        "policy": run.kind,
        "recipes": len(run.recipes),
        "citations": len(set(cited)),
        "ended by": str(run.snapshot.get("ended_by", "")),
        "table": table(
            ("rank", "recipe", "why"),
            ((recipe.rank, formula(recipe), recipe.why_ranked) for recipe in run.recipes),
        ),
        "trace": dg.MetadataValue.path(str(path)),
        "preview": text_preview(page[:8000]),
        "digest": run.trace or "",
    }
