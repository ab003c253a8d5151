"""The laboratory's pages of the desk, under `/lab`; imported only where the workspace has one.

Each module has a `router` and its templates in `templates/lab/`. A handler gathers, calls one
function of `rag_assets.lab`, and renders. What must not be lost when it cannot be stored, a form
that a person has filled, is shown again with what is wrong.
"""

from fastapi import FastAPI

from rag_assets.desk.laboratory import experience, feedback, runs, settings, suggesting
from rag_assets.desk.laboratory.shared import OpenLab
from rag_assets.desk.state import Desk


def add_laboratory(application: FastAPI, desk: Desk) -> None:
    """Add the pages, and go on with what waits in the queue; all of it ends with the desk."""
    application.state.laboratory = opened = OpenLab(desk)
    desk.at_end.append(opened.close)
    opened.begin()
    for router in (
        runs.queue_router, runs.router, runs.traces_router, feedback.router,
        feedback.reports_router, feedback.history_router, suggesting.router,
        experience.router,
        runs.passages_router, settings.router,
    ):  # fmt: skip
        application.include_router(router, prefix="/lab")
