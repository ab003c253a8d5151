"""What a citation names: the passage as a run read it, and where it stands in its file."""

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from rag_assets.desk.laboratory.shared import LabOf
from rag_assets.desk.passages import read_passage
from rag_assets.desk.rendering import page
from rag_assets.lab.experience import CITATION
from rag_assets.lab.showing import view_run
from rag_assets.model import PublicationError, UsageError

router = APIRouter()


@router.get("/passages/{citation}")
def show(request: Request, open_lab: LabOf, citation: str, run: str = "") -> Response:
    """Show a passage: as the run read it, and as it stands in the publication of now."""
    if citation.startswith(CITATION):
        return RedirectResponse(f"/lab/experience/{citation}", 303)
    shown = None
    if run:
        open_lab.run(run)
        shown = view_run(open_lab.lab, run).sources.get(citation)
    found, trouble = None, ""
    try:
        found = read_passage(open_lab.desk, citation)
    except (UsageError, PublicationError) as error:
        trouble = str(error)
    status = 404 if found is None and shown is None else 200
    return page(
        request, "lab/passage.html", status, citation=citation, shown=shown, found=found,
        trouble=trouble, run=run,
    )  # fmt: skip
