"""The trace of a run as a tree: each prompt, answer, look and revision as the program kept it."""

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import Response

from rag_assets.desk.laboratory.shared import LabOf
from rag_assets.desk.rendering import page
from rag_assets.lab.showing import view_run
from rag_assets.lab.trace import SECTIONS

router = APIRouter(prefix="/runs/{run_id}/trace")


@router.get("")
def show(request: Request, open_lab: LabOf, run_id: str) -> Response:
    """Show the tree; each step leads to all that was recorded of it."""
    open_lab.run(run_id)
    view = view_run(open_lab.lab, run_id)
    return page(request, "lab/trace.html", run=view.run, view=view)


@router.get("/{seq}")
def show_step(request: Request, open_lab: LabOf, run_id: str, seq: int) -> Response:
    """Show one step whole, with the note as it stood then."""
    open_lab.run(run_id)
    view = view_run(open_lab.lab, run_id)
    event = next((one for one in view.events if one["seq"] == seq), None)
    if event is None:
        raise HTTPException(404, f"the trace of run {run_id} has no step {seq}.")
    return page(
        request, "lab/trace_step.html", run=view.run, event=event, note=view.note_at(seq),
        note_sections=SECTIONS, last_seq=view.events[-1]["seq"],
    )  # fmt: skip
