"""The queue, all runs, and the request for new ones."""

from dataclasses import dataclass

from fastapi import APIRouter, Request
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response

from rag_assets.desk.laboratory.shared import LabOf, OpenLab, number, status_of, whole_number
from rag_assets.desk.rendering import page
from rag_assets.desk.state import FormOf, text_of
from rag_assets.lab.products import list_products
from rag_assets.lab.prompts import ROLES
from rag_assets.lab.queue import (
    MOST_RUNS,
    RecipeRequest,
    choose_policy,
    parse_request,
    submit_request,
)
from rag_assets.lab.recipes import formula
from rag_assets.lab.showing import read_queue
from rag_assets.model import ConfigurationError, RagError

router = APIRouter()
_LATEST = 10


@router.get("")
def front(request: Request, open_lab: LabOf) -> Response:
    """Show what waits and works, the latest runs, and what is to be set up first."""
    queue = read_queue(open_lab.lab)
    asked = [run for run in queue.runs if run.kind != "imported"]
    with open_lab.lab.store.reading() as reading:
        has_products = bool(list_products(reading))
    return page(
        request,
        "lab/front.html",
        waiting=[run for run in asked if run.state in ("queued", "running")],
        latest=[run for run in reversed(asked) if run.state not in ("queued", "running")][:_LATEST],
        worker=queue.worker,
        is_worked_on=queue.is_worked_on,
        formula=formula,
        job=open_lab.worker.job,
        missing_bases=_missing_bases(open_lab),
        has_products=has_products,
    )


@router.post("/work")
def work(open_lab: LabOf) -> Response:
    """Work on what waits."""
    open_lab.worker.wake()
    return RedirectResponse("/lab", 303)


@router.get("/runs")
def list_all(request: Request, open_lab: LabOf, state: str = "", kind: str = "") -> Response:
    """List every run, the newest first."""
    runs = read_queue(open_lab.lab).runs
    shown = [
        run
        for run in reversed(runs)
        if (not state or run.state == state) and (not kind or run.kind == kind)
    ]
    return page(
        request, "lab/runs.html", runs=shown, count=len(runs), state=state, kind=kind,
        states=("queued", "running", "done", "failed", "canceled"),
        kinds=("model", "collect", "imported"), formula=formula,
    )  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """The form of a request as it was typed."""

    text: str = ""
    n: str = "1"
    recipes_per_run: str = "1"
    policy: str = ""
    temperature: str = ""


@router.get("/runs/new")
def new(request: Request, open_lab: LabOf, again: str = "") -> Response:
    """Ask for recipes; `again` names a run whose request is to be changed."""
    values = Asked()
    if again:
        asked = open_lab.run(again).request
        values = Asked(text=str(asked.get("text", "")))
    return _form(request, open_lab, values)


@router.post("/runs/new")
def submit(request: Request, open_lab: LabOf, form: FormOf) -> Response:
    """Queue the runs of a request and begin to work; shown again where it cannot be done."""
    values = _typed(form)
    try:
        asked = _request(values)
        runs = submit_request(open_lab.lab, asked, at=open_lab.now(), by=open_lab.person)
    except RagError as error:
        return _form(request, open_lab, values, str(error), status_of(error))
    open_lab.worker.wake()
    return RedirectResponse(f"/lab/runs/{runs[0].id}" if len(runs) == 1 else "/lab", 303)


def _typed(form: FormData) -> Asked:
    return Asked(**{name: text_of(form, name) for name in Asked.__dataclass_fields__})


def _request(values: Asked) -> RecipeRequest:
    return parse_request(
        {
            "text": values.text,
            "n": whole_number(values.n, "n"),
            "recipes_per_run": whole_number(values.recipes_per_run, "recipes_per_run"),
            "policy": values.policy or None,
            "temperature": number(values.temperature, "temperature")
            if values.temperature.strip()
            else None,
        }
    )


def _form(
    request: Request, open_lab: OpenLab, values: Asked, trouble: str = "", status: int = 200
) -> Response:
    lab = open_lab.lab
    llm = lab.workspace.settings.llm
    try:
        policy = choose_policy(lab, None)
    except ConfigurationError as error:
        policy, trouble = "collect", trouble or str(error)
    return page(
        request,
        "lab/request.html",
        status,
        values=values,
        trouble=trouble,
        policy=policy,
        has_model=all(llm.for_role(role).kind != "none" for role in ROLES),
        temperature=llm.for_role("orchestrator").temperature,
        missing_bases=_missing_bases(open_lab),
        most_runs=MOST_RUNS,
        rules=lab.settings.recipes.rules,
    )


def _missing_bases(open_lab: OpenLab) -> list[str]:
    """Return the namespaces of knowledge bases that are not declared or not published."""
    from rag_assets.storage import read_pointer

    workspace, bases = open_lab.lab.workspace, open_lab.lab.settings.bases
    declared = {one.name for one in workspace.namespaces()}
    return [
        name
        for name in (bases.principles, bases.modulation)
        if name not in declared or read_pointer(workspace.namespace(name).publications) is None
    ]
