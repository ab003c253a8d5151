"""The asset of a laboratory: its runs, made from request files and from the queue.

Desk and commands make runs, feedback and experience in the laboratory's own store. The asset works
on what waits, and shows in Dagster what the store holds.
"""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import dagster as dg

from rag_assets.defs.assets.reporting import OWNERS, Metadata, table, text_preview
from rag_assets.model import UsageError
from rag_assets.workspace import Workspace

# The laboratory is imported where it is used: every command loads the definitions, few have one.
if TYPE_CHECKING:
    from rag_assets.lab.laboratory import Laboratory

RUNS_ASSET = dg.AssetKey(["lab", "recipe_runs"])
# Another process may be working on the queue; a run takes minutes.
_PATIENCE_SECONDS = 3600.0


def build_lab_assets(
    workspace: Workspace, upstream: Sequence[dg.AssetKey]
) -> list[dg.AssetsDefinition]:
    """Return the asset of a workspace that has a laboratory.

    Args:
        upstream: the search indexes of its two knowledge bases.
    """

    @dg.asset(
        key=RUNS_ASSET,
        deps=upstream,
        group_name="lab",
        description="The recipes of the laboratory's runs. Materializing it makes the runs that "
        "files in requests/ ask for, and those that wait in the queue.",
        kinds={"sqlite", "report"},
        owners=OWNERS,
        code_version="2",
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def recipe_runs(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        from rag_assets.lab.queue import queue_files, work
        from rag_assets.lab.runs import read_run

        lab = opened_lab(workspace)
        troubles: list[str] = []
        keys = queue_files(lab, troubles, at=_now(), by="dagster")
        for trouble in troubles:
            context.log.warning(f"passed over: {trouble}")
        work(
            lab, now=_now, clock=time.monotonic, notify=context.log.info,
            patience=_PATIENCE_SECONDS,
        )  # fmt: skip
        with lab.store.reading() as reading:
            asked = [read_run(reading, key)[0] for key in keys]
        failed = [run for run in asked if run.state != "done"]
        if failed:
            said = "; ".join(f"run {run.id} is {run.state}: {run.reason}" for run in failed)
            raise UsageError(said)
        return dg.MaterializeResult(metadata=_metadata(lab))

    return [recipe_runs]


def opened_lab(workspace: Workspace) -> "Laboratory":
    """Open the laboratory as it is at this moment, not as it was when the code was loaded."""
    from rag_assets.lab.laboratory import open_laboratory

    return open_laboratory(Workspace.open(workspace.root))


def record_laboratory(lab: "Laboratory", instance: dg.DagsterInstance) -> bool:
    """Show what commands and the desk did since the last materialization; say whether they did."""
    with lab.store.reading() as reading:
        head = reading.head()
    event = instance.get_latest_materialization_event(RUNS_ASSET)
    shown = event.asset_materialization if event is not None else None
    if head == (shown.metadata["changes"].value if shown is not None else 0):
        return False
    instance.report_runless_asset_event(
        dg.AssetMaterialization(RUNS_ASSET, metadata=_metadata(lab))
    )
    return True


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _metadata(lab: "Laboratory") -> Metadata:
    """Return every run with its recipes and score, and the page of the one made last."""
    from rag_assets.lab.experience import list_items
    from rag_assets.lab.feedback import list_feedback
    from rag_assets.lab.recipes import formula
    from rag_assets.lab.runs import list_runs
    from rag_assets.lab.showing import render_run, view_run

    with lab.store.reading() as reading:
        runs = [run for run, _ in list_runs(reading) if run.kind != "imported"]
        scores = {one.run_id: one.score for one in list_feedback(reading)}
        items = list_items(reading, status="active")
        head = reading.head()
    rows = [
        (run.id, run.state, "; ".join(map(formula, run.recipes)) or run.reason,
         f"{scores[run.id]:g}" if run.id in scores else "")
        for run in reversed(runs)
    ]  # fmt: skip
    done = [run for run in runs if run.state == "done"]
    page = ""
    if done:
        view = view_run(lab, done[-1].id)
        page = render_run(view.run, view.events, view.fault)
    return {
        "runs": len(runs),
        "done": len(done),
        "feedback": len(scores),
        "experience": len(items),
        "table": table(("run", "state", "recipes", "score"), rows),
        "preview": text_preview(page[:8000]),
        "changes": head,
    }
