"""Assets of a laboratory: the runs that requests ask for, the experience that runs read.

Recipes → feedback → experience → recipes is a circle, and assets may have none: experience is an
external asset. Each run observes what it read of it, and `lab/experience_index` reports it anew.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import dagster as dg

from rag_assets.assets.options import OWNERS
from rag_assets.assets.reporting import Metadata, table, text_preview
from rag_assets.model import RagError, UsageError
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.lab import Laboratory, Run

RECIPE_RUNS = dg.DynamicPartitionsDefinition(name="recipe_runs")
RUNS_ASSET = dg.AssetKey(["lab", "recipe_runs"])
EXPERIENCE_ASSET = dg.AssetKey(["lab", "experience"])
REQUESTS_ASSET = dg.AssetKey(["lab", "requests"])
GROUP = "lab"
BY = "dagster"
# Another process may be working on the queue; a run takes minutes.
_PATIENCE_SECONDS = 3600.0


def build_run_assets(
    workspace: Workspace, upstream: Sequence[dg.AssetKey]
) -> list[dg.AssetsDefinition | dg.AssetSpec]:
    """Return runs and experience.

    Args:
        upstream: the search indexes of its two knowledge bases.
    """

    @dg.asset(
        key=RUNS_ASSET,
        deps=[*upstream, REQUESTS_ASSET, EXPERIENCE_ASSET],
        group_name=GROUP,
        description="The recipes of each run with their grounds. Trace, calls and result lie below "
        "data/lab/runs/; one that is done is not made again.",
        kinds={"file", "report"},
        owners=OWNERS,
        code_version="1",
        partitions_def=RECIPE_RUNS,
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def recipe_runs(context: dg.AssetExecutionContext) -> None:
        with opened_lab(workspace) as lab:
            for key in context.partition_keys:
                _observe(context, lab)
                run = _make(context, lab, key)
                context.add_asset_metadata(run_metadata(lab, run), partition_key=key)

    experience = dg.AssetSpec(
        EXPERIENCE_ASSET,
        group_name=GROUP,
        description="What feedback taught, as runs read it. `rag lab experience` shows it.",
        kinds={"sqlite"},
        owners=OWNERS,
    )
    return [experience, recipe_runs]


@contextmanager
def opened_lab(workspace: Workspace) -> "Iterator[Laboratory]":
    """Open the laboratory as it is at this moment, not as it was when the code was loaded."""
    # Imported here, as below: every command loads the definitions, few have a laboratory.
    from rag_assets.lab import open_laboratory

    lab = open_laboratory(Workspace.open(workspace.root))
    try:
        yield lab
    finally:
        lab.store.close()


def now() -> str:
    """Return the time, ISO 8601 with zone."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _make(context: dg.AssetExecutionContext, lab: "Laboratory", key: str) -> "Run":
    from rag_assets.lab import read_run
    from rag_assets.lab.queueing import queue_key, work

    if queue_key(lab, key, at=now(), by=BY).state != "done":
        work(
            lab, now=now, clock=time.monotonic, notify=context.log.info, only=key,
            patience=_PATIENCE_SECONDS,
        )  # fmt: skip
    with lab.store.reading() as reading:
        run, _ = read_run(reading, key)
    if run.state != "done":
        raise UsageError(f"run {key} is {run.state}: {run.reason}")
    return run


def _observe(context: dg.AssetExecutionContext, lab: "Laboratory") -> None:
    """Say which experience the next run can read."""
    context.log_event(dg.AssetObservation(EXPERIENCE_ASSET, metadata=experience_metadata(lab)))


def experience_metadata(lab: "Laboratory") -> Metadata:
    """Return what the UI shows of experience as it stands: how many items, and their digest."""
    from rag_assets.lab import experience_digest, list_items

    with lab.store.reading() as reading:
        items = list_items(reading, status="active")
    return {"items": len(items), "digest": experience_digest(items)}


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
